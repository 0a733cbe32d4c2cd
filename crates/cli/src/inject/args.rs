//! The command line of `tcplab inject`.

use std::time::Duration;

use clap::Args;

use crate::args::parse_duration;
use crate::failure::Failure;

/// `tcplab inject`.
#[derive(Args, Debug)]
#[command(after_help = "\
Frames come in numbered groups (--list), CAQM tags first; the same seed gives the same frames. After each group \
tcplab checks that an open connection still carries data and that a new connection can be opened. It also checks \
that nothing else changed: the endpoint field by field, the analyser's report, the kernel's log. A crash of a uml:
kernel counts as harm.

Exit codes: 0 no harm; 1 harm (the output lists the frames and the commands that repeat them); 2 wrong usage; \
4 cannot run here; 130 interrupted (Ctrl-C or SIGTERM).

Examples:
  tcplab inject                                    20,000 frames: parser, analyser, our endpoint
  tcplab inject --count 500000 --json              500,000 frames, one JSON document
  sudo tcplab inject --target kernel --count 50000 this machine's kernel, in two temporary namespaces
  tcplab inject --target uml:6.1                   a kernel built here, in virtual time
  sudo tcplab inject --into red:eth0 --port 22     an interface of the namespace red, where sshd listens
  sudo tcplab inject --into lo                     this machine's loopback interface
  tcplab inject --only option-lengths              one group, up to --count frames
  tcplab inject --only cut:314 --target endpoint   one frame")]
pub struct InjectArgs {
    /// Targets of the frames, separated by commas [default: parser,analyser,endpoint]
    ///
    /// parser: the capture parser; analyser: the analyser, mixed with a live connection; endpoint: tcplab's own TCP, with
    /// CAQM on; kernel: this machine's kernel, in two temporary namespaces; uml:NAME: a kernel built here
    /// (`tcplab kernel list`), in virtual time.
    #[arg(long, value_name = "TARGET", value_parser = parse_target, value_delimiter = ',')]
    pub target: Vec<Into>,
    /// Send the frames into this interface: lo, or a veth device in a namespace of ip-netns(8)
    #[arg(long, value_name = "NAMESPACE:IF", value_parser = parse_spot)]
    pub into: Option<Spot>,
    /// Send from this interface, the peer of --into [default: detected]
    #[arg(long, value_name = "[NAMESPACE:]IF", value_parser = parse_spot, requires = "into")]
    pub from: Option<Spot>,
    /// Port of a TCP listener there [default: the first one found, or else a listener of tcplab's own]
    #[arg(long, value_name = "N", requires = "into", value_parser = clap::value_parser!(u16).range(1..))]
    pub port: Option<u16>,
    /// Allow interfaces whose frames may reach other machines, such as eth0
    #[arg(long, requires = "into")]
    pub allow_any_target: bool,
    /// Total number of frames: all frames of small groups, an equal share of each large group [default: 20000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub count: Option<u64>,
    /// Seed for the choice of frames
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Send only this group, or one frame of the group by its number
    #[arg(long, value_name = "GROUP[:NUMBER]", value_parser = parse_only)]
    pub only: Option<Only>,
    /// Send at most N frames per second to a kernel [default: no limit]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub rate: Option<u64>,
    /// End after this time: 10s, 2m [default: no limit]
    #[arg(long = "for", value_name = "TIME", value_parser = parse_duration)]
    pub duration: Option<Duration>,

    /// List the groups and their frame counts without sending
    #[arg(long, help_heading = "Output", conflicts_with_all = ["target", "into", "count", "seed", "rate", "duration"])]
    pub list: bool,
    /// Print one JSON document (see `tcplab schema inject`)
    #[arg(long, help_heading = "Output")]
    pub json: bool,
}

impl InjectArgs {
    /// What the rules of the parser cannot say.
    pub fn check(&self) -> Result<(), Failure> {
        let is_kernel = |target: &Into| matches!(target, Into::Kernel | Into::Stack(_));
        if self.rate.is_some() && self.into.is_none() && !self.target.iter().any(is_kernel) {
            return Err(Failure::usage(
                "--rate limits frames into a kernel: add --target kernel, --target uml:NAME or --into, or leave it out",
            ));
        }
        match &self.only {
            Some(Only {
                group,
                number: Some(number),
            }) if self.count.is_some() => Err(Failure::usage(format!(
                "--only {group}:{number} is one frame: leave --count out, or write --only {group}"
            ))),
            _ => Ok(()),
        }
    }
}

/// A word of `--target`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Into {
    /// The parser of captures
    Parser,
    /// The analyser, beside a live connection's packets
    Analyser,
    /// Our own TCP, with CAQM on
    Endpoint,
    /// This machine's kernel, in two namespaces made for it
    Kernel,
    /// A kernel in a guest, by its stack's name
    Stack(String),
}

fn parse_target(text: &str) -> Result<Into, String> {
    Ok(match text {
        "parser" => Into::Parser,
        "analyser" => Into::Analyser,
        "endpoint" => Into::Endpoint,
        "kernel" => Into::Kernel,
        _ if text.contains(':') => Into::Stack(text.into()),
        _ => {
            return Err(
                "write parser, analyser, endpoint, kernel, or a stack such as uml:6.1 (`tcplab stacks`)"
                    .into(),
            );
        }
    })
}

/// The value of `--only`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Only {
    /// The group.
    pub group: String,
    /// A frame of it.
    pub number: Option<u64>,
}

/// An interface of a namespace.
#[cfg(target_os = "linux")]
pub use tcplab_inject::Spot;
/// Linux has namespaces.
#[cfg(not(target_os = "linux"))]
pub type Spot = String;

fn parse_spot(text: &str) -> Result<Spot, <Spot as std::str::FromStr>::Err> {
    text.parse()
}

fn parse_only(text: &str) -> Result<Only, String> {
    let (group, number) = match text.split_once(':') {
        None => (text, None),
        Some((group, number)) => {
            let number = number.parse().map_err(|_| {
                format!("`{number}` is not a frame number; write GROUP:NUMBER, such as cut:314")
            })?;
            (group, Some(number))
        }
    };
    Ok(Only {
        group: group.into(),
        number,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_and_frames() {
        let only = |text| parse_only(text).map(|only| (only.group, only.number));
        assert_eq!(only("cut"), Ok(("cut".into(), None)));
        assert_eq!(only("cut:7"), Ok(("cut".into(), Some(7))));
        assert!(only("cut:x").unwrap_err().contains("cut:314"));
    }
}
