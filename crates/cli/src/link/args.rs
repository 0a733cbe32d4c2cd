//! The command line of `tcplab link`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};
use tcplab_kernel::link::End;

use crate::args::parse_duration;
use crate::probe::number;

/// The longest `--gap`: orders and the end wait for it.
const LONGEST_GAP: Duration = Duration::from_millis(100);

/// A `--gap`.
fn gap(text: &str) -> Result<Duration, String> {
    match number::pause(text)? {
        gap if gap <= LONGEST_GAP => Ok(gap),
        _ => Err(format!("write at most {LONGEST_GAP:?}")),
    }
}

/// `tcplab link`.
#[derive(Args, Debug)]
#[command(after_help = "\
Ends: new:NAME (a network namespace that goes with the link; without root in a user namespace),
netns:NAME or netns:NAME/DEVICE (of ip netns), tap:DEVICE, if:DEVICE; a bare name is a namespace or
an interface. `=ADDRESS/PREFIX` behind one gives it that address; namespaces get 10.77.0.1/24 (A)
and 10.77.0.2/24 (B) unless another one, or `=none`, is said.
WORDS are those of tc (docs/qdisc.md), or a table { qdisc = \"cake ...\", delay = \"10ms\" } as in an
experiment file. A way without WORDS is a plain forwarder.
While it runs, lines `a-to-b WORDS` and `b-to-a WORDS` on standard input change a way, `end` ends it.

Examples:
  tcplab link a b --a-to-b \"cake bandwidth 30mbit ack-filter\" --b-to-a \"netem delay 25ms\"
  tcplab link new:home new:net --run-b 'iperf3 -s -1' --run-a 'iperf3 -c 10.77.0.2' \\
    --a-to-b 'cake bandwidth 1mbit ack-filter' --b-to-a 'cake bandwidth 30mbit'
  tcplab link eth1 eth2 --control /run/lab.sock --json
  tcplab link --change /run/lab.sock --a-to-b 'cake bandwidth 20mbit'")]
pub struct LinkArgs {
    /// One end
    #[arg(value_name = "A", required_unless_present = "change")]
    pub a: Option<End>,
    /// The other end
    #[arg(value_name = "B", required_unless_present = "change")]
    pub b: Option<End>,
    /// What happens to frames from A to B
    #[arg(long, value_name = "WORDS")]
    pub a_to_b: Option<String>,
    /// What happens to frames from B to A
    #[arg(long, value_name = "WORDS")]
    pub b_to_a: Option<String>,
    /// Bytes of the longest IP packet, set on devices that the link makes
    #[arg(long, value_name = "BYTES", default_value_t = 1500, value_parser = clap::value_parser!(u32).range(68..=65_521))]
    pub mtu: u32,
    /// Where draws of losses and hashes of flows begin
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Under load wake up for frames that are due no more often than this: each time costs CPU, and
    /// lateness up to this is what it saves for
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = gap)]
    pub gap: Duration,
    /// End after this time: 10s, 500ms, 2m
    #[arg(long = "for", value_name = "TIME", value_parser = parse_duration)]
    pub duration: Option<Duration>,
    /// A shell's command to run at A, in its namespace; when it ends, so does the link
    #[arg(long, value_name = "COMMAND")]
    pub run_a: Option<String>,
    /// The same at B; started first, and ended with the link when there is a --run-a
    #[arg(long, value_name = "COMMAND")]
    pub run_b: Option<String>,

    /// Time from one row of statistics to the next
    #[arg(long, help_heading = "Output", value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    pub interval: Duration,
    /// Print one JSON document a line: start, look, changed, end (see `tcplab schema link`)
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Take orders on this Unix socket too; it goes with the link
    #[arg(long, help_heading = "Control", value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub control: Option<PathBuf>,
    /// Give the link that listens on this socket the settings of --a-to-b and --b-to-a, and leave
    #[arg(long, help_heading = "Control", value_name = "PATH", value_hint = ValueHint::FilePath,
          conflicts_with_all = ["a", "b", "control", "duration", "run_a", "run_b"])]
    pub change: Option<PathBuf>,
}
