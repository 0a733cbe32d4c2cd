//! What differs between two arms.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::str::FromStr;

use crate::ends::Place;

use crate::error::BenchError;

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arm {
    /// Its name: `before`, `after`.
    pub name: String,
    /// What makes it different.
    pub setting: Setting,
}

/// What makes an arm different. As text: `as-it-is`, `sysctl:NAME=VALUE,NAME=VALUE`, a stack such as `uml:6.1`, two
/// hosts `ssh:A,B`, `setup:COMMAND`, or a shell's command that is measured itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Setting {
    /// The machine as it is.
    AsItIs,
    /// A network namespace with these sysctls.
    Sysctls(BTreeMap<String, String>),
    /// A shell's command that is measured itself ([`super::Commands`]).
    Command(String),
    /// A shell's command that prepares the machine before each run of the arm.
    Setup(String),
    /// Two hosts, client and server, as the user named them: `ssh:A,B`.
    Hosts(String),
    /// A stack, by its name: `uml:6.1`. It runs the suite for stacks ([`super::network`]).
    Stack(String),
}

impl Setting {
    /// In words, as it was given.
    pub fn words(&self) -> String {
        match self {
            Self::AsItIs => "as-it-is".into(),
            Self::Sysctls(sysctls) => {
                let each = sysctls
                    .iter()
                    .map(|(name, value)| format!("{name}={value}"));
                format!("sysctl:{}", each.collect::<Vec<_>>().join(","))
            }
            Self::Command(command) => command.clone(),
            Self::Setup(command) => format!("setup:{command}"),
            Self::Hosts(name) | Self::Stack(name) => name.clone(),
        }
    }
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.is_empty() {
            return Err(
                "an arm is a command, `sysctl:NAME=VALUE,...`, `setup:COMMAND`, `ssh:A,B`, a stack or `as-it-is`".into(),
            );
        }
        if text == "as-it-is" {
            return Ok(Self::AsItIs);
        }
        let is_stack = ["uml:", "qemu:", "model:"]
            .iter()
            .any(|kind| text.starts_with(kind));
        if (is_stack && !text.contains(' ')) || text == "model" {
            return Ok(Self::Stack(text.into()));
        }
        if text.starts_with("ssh:") && !text.contains(' ') {
            return Ok(Self::Hosts(text.into()));
        }
        if let Some(command) = text.strip_prefix("setup:") {
            return match command.trim() {
                "" => {
                    Err("write setup:COMMAND, such as 'setup:tc qdisc add dev lo root fq'".into())
                }
                command => Ok(Self::Setup(command.into())),
            };
        }
        let Some(list) = text.strip_prefix("sysctl:") else {
            return Ok(Self::Command(text.into()));
        };
        let mut sysctls = BTreeMap::new();
        for pair in list.split(',').filter(|pair| !pair.trim().is_empty()) {
            let Some((name, value)) = pair.split_once('=') else {
                return Err(format!(
                    "`{pair}`: write sysctl:NAME=VALUE,NAME=VALUE, such as sysctl:net.ipv4.tcp_sack=0"
                ));
            };
            sysctls.insert(name.trim().to_owned(), value.trim().to_owned());
        }
        Ok(Self::Sysctls(sysctls))
    }
}

impl Arm {
    /// Puts the machine into its state, before the run of this number, from 1.
    pub(super) fn prepare(&self, run: u32) -> Result<(), BenchError> {
        let Setting::Setup(command) = &self.setting else {
            return Ok(());
        };
        let done = Command::new("sh")
            .args(["-c", command])
            .env("TCPLAB_ARM", &self.name)
            .env("TCPLAB_RUN", run.to_string())
            .stdin(Stdio::null())
            .output();
        let failed = |why: String| {
            let name = &self.name;
            BenchError::CannotRun(format!("the command of the arm {name}, `{command}`, {why}"))
        };
        let done = done.map_err(|e| failed(format!("cannot be started: {e}")))?;
        match done.status.success() {
            true => Ok(()),
            false => {
                let words = String::from_utf8_lossy(&done.stderr);
                Err(failed(format!(
                    "failed ({}): {}",
                    done.status,
                    words.trim()
                )))
            }
        }
    }
}

/// Where the runs of each arm are: each in a separate network namespace if any arm has sysctls, so the arms differ
/// only in these. Call it while this process has one thread: without root it moves into a user namespace.
///
/// # Errors
/// What the system refuses; a sysctl that does not exist in a network namespace.
pub fn places(arms: &[Arm]) -> Result<Vec<Place>, BenchError> {
    let has_sysctls = |arm: &Arm| matches!(arm.setting, Setting::Sysctls(_));
    if !arms.iter().any(has_sysctls) {
        return Ok(arms.iter().map(|_| Place::Here).collect());
    }
    let none = BTreeMap::new();
    let place = |arm: &Arm| {
        let sysctls = match &arm.setting {
            Setting::Sysctls(sysctls) => sysctls,
            Setting::AsItIs
            | Setting::Command(_)
            | Setting::Setup(_)
            | Setting::Hosts(_)
            | Setting::Stack(_) => &none,
        };
        let name = &arm.name;
        Place::own(sysctls).map_err(|e| BenchError::CannotRun(format!("the arm {name}: {e}")))
    };
    arms.iter().map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read() {
        assert_eq!("as-it-is".parse(), Ok(Setting::AsItIs));
        assert_eq!("uml:6.1".parse(), Ok(Setting::Stack("uml:6.1".into())));
        let command = "sysctl -w net.ipv4.tcp_sack=0";
        assert_eq!(command.parse(), Ok(Setting::Command(command.into())));
        let setup: Setting = format!("setup: {command}").parse().unwrap();
        assert_eq!(setup, Setting::Setup(command.into()));
        assert_eq!(setup.words().parse(), Ok(setup));
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let sysctls = [
            pair("net.ipv4.tcp_rmem", "4096 1 2"),
            pair("net.ipv4.tcp_sack", "0"),
        ];
        assert_eq!(
            "sysctl:net.ipv4.tcp_sack=0, net.ipv4.tcp_rmem=4096 1 2".parse(),
            Ok(Setting::Sysctls(sysctls.into()))
        );
        assert_eq!("ssh:a,b".parse(), Ok(Setting::Hosts("ssh:a,b".into())));
        assert_eq!("sysctl:".parse(), Ok(Setting::Sysctls(BTreeMap::new())));
        for bad in ["", "sysctl:x", "setup:"] {
            assert!(bad.parse::<Setting>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_command_that_fails_says_what() {
        let arm = |command: &str| Arm {
            name: "after".into(),
            setting: Setting::Setup(command.into()),
        };
        let both = "test $TCPLAB_ARM = after && test $TCPLAB_RUN = 4";
        assert!(arm(both).prepare(4).is_ok());
        let e = arm("echo no such thing >&2; exit 3")
            .prepare(1)
            .unwrap_err();
        let text = e.to_string();
        for part in ["arm after", "no such thing", "3"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
