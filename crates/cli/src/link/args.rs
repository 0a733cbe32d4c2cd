//! The command line of `tcplab link`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueHint};
use tcplab_livelink::End;

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
Ends:
  new:NAME            a network namespace, removed with the link (without root: in a user namespace)
  netns:NAME[/DEVICE] a namespace of `ip netns`
  tap:DEVICE          a TAP device
  if:DEVICE           an interface
  NAME                a namespace or an interface of this name

Append =ADDRESS/PREFIX to set an end's address, or =none. Namespaces default to 10.77.0.1/24 (A) and \
10.77.0.2/24 (B).

WORDS are tc's (docs/qdisc.md), or a table as in an experiment file: { qdisc = \"cake ...\", delay = \"10ms\" }.
A direction without WORDS forwards frames unchanged.

While the link runs, standard input takes one order per line: `a-to-b WORDS` or `b-to-a WORDS` changes a \
direction, `end` ends the link.

Examples:
  tcplab link a b --a-to-b \"cake bandwidth 30mbit ack-filter\" --b-to-a \"netem delay 25ms\"
  tcplab link new:home new:net --run-b 'iperf3 -s -1' --run-a 'iperf3 -c 10.77.0.2' \\
    --a-to-b 'cake bandwidth 1mbit ack-filter' --b-to-a 'cake bandwidth 30mbit'
  tcplab link eth1 eth2 --control /run/lab.sock --json
  tcplab link --change /run/lab.sock --a-to-b 'cake bandwidth 20mbit'")]
pub struct LinkArgs {
    /// First end
    #[arg(value_name = "A", required_unless_present = "change")]
    pub a: Option<End>,
    /// Second end
    #[arg(value_name = "B", required_unless_present = "change")]
    pub b: Option<End>,
    /// Shape frames from A to B [default: forward unchanged]
    #[arg(long, value_name = "WORDS")]
    pub a_to_b: Option<String>,
    /// Shape frames from B to A [default: forward unchanged]
    #[arg(long, value_name = "WORDS")]
    pub b_to_a: Option<String>,
    /// MTU of the devices that the link creates, in bytes [default: 1500]
    #[arg(long, value_name = "BYTES", value_parser = clap::value_parser!(u32).range(68..=65_521))]
    pub mtu: Option<u32>,
    /// Seed for random losses and flow hashes
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Under load, wake at most once per TIME: saves CPU, but frames leave up to TIME late. At most 100ms
    #[arg(long, value_name = "TIME", default_value = "1ms", value_parser = gap)]
    pub gap: Duration,
    /// End after this time: 10s, 500ms, 2m [default: until Ctrl-C or `end`]
    #[arg(long = "for", value_name = "TIME", value_parser = parse_duration)]
    pub duration: Option<Duration>,
    /// Run this shell command in A's namespace; the link ends when the command exits
    #[arg(long, value_name = "COMMAND")]
    pub run_a: Option<String>,
    /// Run this shell command in B's namespace, started before --run-a; without --run-a, the link ends when it exits
    #[arg(long, value_name = "COMMAND")]
    pub run_b: Option<String>,

    /// Print statistics once per this time
    #[arg(long, help_heading = "Output", value_name = "TIME", default_value = "1s", value_parser = parse_duration)]
    pub interval: Duration,
    /// Print one JSON document per line: start, look, changed, end (see `tcplab schema link`)
    #[arg(long, help_heading = "Output")]
    pub json: bool,

    /// Also take orders on this Unix socket, removed when the link ends
    #[arg(long, help_heading = "Control", value_name = "PATH", value_hint = ValueHint::FilePath)]
    pub control: Option<PathBuf>,
    /// Send --a-to-b and --b-to-a to the link that listens on this socket, then exit
    #[arg(long, help_heading = "Control", value_name = "PATH", value_hint = ValueHint::FilePath,
          conflicts_with_all = ["a", "b", "mtu", "seed", "gap", "duration", "run_a", "run_b", "interval", "json", "control"])]
    pub change: Option<PathBuf>,
}
