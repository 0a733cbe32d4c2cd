//! Stack names: which TCP an experiment runs on, and where its kernel lies.
//!
//! - `host`: this machine. `ssh:A,B`: two machines. `qemu:IMAGE`: a virtual machine.
//! - `model:PROFILE[@HZ]`: the model. `model` alone is `model:linux-6.1`, and `model@1000` the same
//!   with another HZ.
//! - `uml:NAME`: a kernel that tcplab built. NAME is a version (`6.1`), a version with edits in any
//!   order (`6.1+mss-boundary`), with its HZ (`6.1@1000`; the default is 250), an edit on the
//!   newest 6.1 (`mss-boundary`), or the name that `--name` gave.

#[cfg(target_os = "linux")]
mod host;

use std::fmt;

#[cfg(target_os = "linux")]
pub use host::{Host, HostError};

use crate::edit::Edit;
use crate::words::{did_you_mean, is_version, is_word, nearest};

/// The version that a bare edit name stands on.
pub const DEFAULT_VERSION: &str = "6.1";

/// Timer frequency if a name gives none: the one of Debian's kernels.
pub const DEFAULT_HZ: u32 = 250;

/// The profile of `model` alone.
const DEFAULT_PROFILE: &str = "linux-6.1";

/// Timer frequencies that a kernel can be built with.
pub const HZ_CHOICES: [u32; 4] = [100, 250, 300, 1000];

const KINDS: [&str; 6] = ["uml:", "host", "qemu:", "model:", "model", "ssh:"];

/// A stack, as `--on` and experiment files name it. It is not yet said that it is there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StackName {
    /// This machine's kernel.
    Host,
    /// A kernel that we build, as User-Mode Linux in virtual time.
    Uml(UmlName),
    /// A distribution's kernel in QEMU.
    Qemu(String),
    /// The simulator.
    Model(String),
    /// Two machines, reached through ssh.
    #[cfg(target_os = "linux")]
    Ssh(Vec<Host>),
}

/// The name of a kernel for `uml:`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UmlName {
    /// A version (`6.1`, `6.1.192`) or a given name.
    pub base: String,
    /// Names of edits, sorted, each once.
    pub edits: Vec<String>,
    /// Timer frequency.
    pub hz: u32,
}

/// A name that is no stack's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// The word before the colon is unknown.
    #[error(
        "no stack `{name}`{}; write model, model:PROFILE, uml:NAME, host, ssh:A,B or qemu:IMAGE",
        did_you_mean(nearest)
    )]
    Kind {
        /// What was written.
        name: String,
        /// The most similar name.
        nearest: Option<String>,
    },
    /// Nothing after the colon.
    #[error("`{0}` lacks the {1}: write {0}{2}")]
    Empty(&'static str, &'static str, &'static str),
    /// A part of a kernel's name has characters that names do not have.
    #[error("`{part}` in `{name}` is not a name: letters, digits, `.`, `_` and `-` only")]
    Word {
        /// What was written.
        name: String,
        /// The part that is wrong.
        part: String,
    },
    /// Not two hosts.
    #[error("`{0}` must name two hosts: {1}")]
    Hosts(String, String),
    /// Not a timer frequency.
    #[error("`@{text}` in `{name}` is not a timer frequency: write @100, @250, @300 or @1000")]
    Hz {
        /// What was written.
        name: String,
        /// What stands after the `@`.
        text: String,
    },
}

impl StackName {
    /// Reads a name.
    ///
    /// # Errors
    /// When it is no stack's name, with the nearest one that is.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        if text == "host" {
            return Ok(Self::Host);
        }
        if let Some(hz) = text.strip_prefix("model")
            && (hz.is_empty() || hz.starts_with('@'))
        {
            return Ok(Self::Model(format!("{DEFAULT_PROFILE}{hz}")));
        }
        match text.split_once(':') {
            #[cfg(target_os = "linux")]
            Some(("ssh", hosts)) => match Host::list(hosts) {
                Ok(hosts) if hosts.len() == 2 => Ok(Self::Ssh(hosts)),
                Ok(_) => Err(NameError::Hosts(text.to_owned(), "write ssh:A,B".into())),
                Err(e) => Err(NameError::Hosts(text.to_owned(), e.to_string())),
            },
            Some(("uml", "")) => Err(NameError::Empty("uml:", "kernel", "6.1")),
            Some(("uml", name)) => UmlName::parse(name).map(Self::Uml),
            Some(("qemu", "")) => Err(NameError::Empty("qemu:", "image", "IMAGE")),
            Some(("qemu", image)) => Ok(Self::Qemu(image.to_owned())),
            Some(("model", "")) => Err(NameError::Empty("model:", "profile", "PROFILE")),
            Some(("model", profile)) => Ok(Self::Model(profile.to_owned())),
            _ => Err(NameError::Kind {
                name: text.to_owned(),
                nearest: Self::guess(text),
            }),
        }
    }

    /// Whether a file may choose it. Only the simulator and our kernels in a guest qualify: a guest sees nothing of
    /// this machine. A real machine runs what its user names, and an image may have to be fetched.
    pub fn may_be_chosen_by_a_file(&self) -> bool {
        matches!(self, Self::Model(_) | Self::Uml(_))
    }

    /// The probable name if its kind is missing or misspelt.
    fn guess(text: &str) -> Option<String> {
        if let Some((kind, rest)) = text.split_once(':') {
            let kind = nearest(&format!("{kind}:"), KINDS)?;
            let rest = if kind.ends_with(':') { rest } else { "" };
            return Some(format!("{kind}{rest}"));
        }
        let looks_like_kernel = UmlName::parse(text)
            .is_ok_and(|n| n.is_version() || Edit::shipped_names().contains(&n.base.as_str()));
        if looks_like_kernel {
            return Some(format!("uml:{text}"));
        }
        nearest(text, KINDS)
    }
}

impl fmt::Display for StackName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => f.write_str("host"),
            #[cfg(target_os = "linux")]
            Self::Ssh(hosts) => {
                let hosts: Vec<String> = hosts.iter().map(Host::to_string).collect();
                write!(f, "ssh:{}", hosts.join(","))
            }
            Self::Uml(name) => write!(f, "uml:{name}"),
            Self::Qemu(image) => write!(f, "qemu:{image}"),
            Self::Model(profile) => write!(f, "model:{profile}"),
        }
    }
}

impl UmlName {
    /// Reads what stands after `uml:`. A bare edit name becomes that edit on [`DEFAULT_VERSION`].
    ///
    /// # Errors
    /// When a part is empty or has other characters than names have.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        let (names, hz) = match text.rsplit_once('@') {
            None => (text, DEFAULT_HZ),
            Some((names, hz)) => (names, parse_hz(text, hz)?),
        };
        let mut parts = Vec::new();
        for part in names.split('+') {
            if !is_word(part) && !is_version(part) {
                return Err(NameError::Word {
                    name: text.to_owned(),
                    part: part.to_owned(),
                });
            }
            parts.push(part.to_owned());
        }
        let starts_with_edit = parts
            .first()
            .is_some_and(|p| Edit::shipped_names().contains(&p.as_str()));
        let base = if starts_with_edit {
            DEFAULT_VERSION.to_owned()
        } else {
            parts.remove(0)
        };
        Ok(Self::new(base, parts, hz))
    }

    /// From its parts; edits in any order.
    pub fn new(base: String, mut edits: Vec<String>, hz: u32) -> Self {
        edits.sort();
        edits.dedup();
        Self { base, edits, hz }
    }

    /// Whether the base is a version of Linux and not a given name.
    pub fn is_version(&self) -> bool {
        is_version(&self.base)
    }

    /// The command that builds it, for messages.
    pub fn build_command(&self) -> String {
        let mut command = "tcplab kernel build".to_owned();
        if self.is_version() {
            command.push_str(&format!(" {}", self.base));
        } else {
            command.push_str(&format!(" --source DIR --name {}", self.base));
        }
        for edit in &self.edits {
            command.push_str(&format!(" --edit {edit}"));
        }
        if self.hz != DEFAULT_HZ {
            command.push_str(&format!(" --hz {}", self.hz));
        }
        command
    }
}

impl fmt::Display for UmlName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)?;
        for edit in &self.edits {
            write!(f, "+{edit}")?;
        }
        if self.hz != DEFAULT_HZ {
            write!(f, "@{}", self.hz)?;
        }
        Ok(())
    }
}

fn parse_hz(name: &str, text: &str) -> Result<u32, NameError> {
    let hz = text.parse().ok().filter(|hz| HZ_CHOICES.contains(hz));
    hz.ok_or_else(|| NameError::Hz {
        name: name.to_owned(),
        text: text.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(text: &str) -> String {
        match StackName::parse(text) {
            Ok(name) => name.to_string(),
            Err(e) => format!("error: {e}"),
        }
    }

    #[test]
    fn names_have_one_normal_form() {
        for (text, form) in [
            ("host", "host"),
            ("uml:6.1", "uml:6.1"),
            ("uml:6.1@250", "uml:6.1"),
            ("uml:6.1@1000", "uml:6.1@1000"),
            ("uml:6.1.192", "uml:6.1.192"),
            ("uml:mss-boundary", "uml:6.1+mss-boundary"),
            ("uml:quickack-6.1.56@100", "uml:6.1+quickack-6.1.56@100"),
            (
                "uml:6.1+quickack-count+mss-boundary",
                "uml:6.1+mss-boundary+quickack-count",
            ),
            ("uml:6.1+mss-boundary+mss-boundary", "uml:6.1+mss-boundary"),
            (
                "uml:quickack-count+mss-boundary",
                "uml:6.1+mss-boundary+quickack-count",
            ),
            ("uml:my-patch", "uml:my-patch"),
            ("uml:6.12.0-rc3+mine", "uml:6.12.0-rc3+mine"),
            ("qemu:debian-12", "qemu:debian-12"),
            ("model:linux-6.1", "model:linux-6.1"),
            ("model", "model:linux-6.1"),
            ("model@1000", "model:linux-6.1@1000"),
            ("ssh:me@a,b=10.0.0.1", "ssh:me@a,b=10.0.0.1"),
        ] {
            assert_eq!(normal(text), form, "{text}");
            assert_eq!(normal(form), form, "{form}");
        }
    }

    #[test]
    fn a_wrong_name_gets_the_nearest_one() {
        for (text, guess) in [
            ("uml6.1", None),
            ("6.1", Some("uml:6.1")),
            ("mss-boundary", Some("uml:mss-boundary")),
            ("ulm:6.1", Some("uml:6.1")),
            ("hots", Some("host")),
            ("kemu:x", Some("qemu:x")),
            ("modle:linux", Some("model:linux")),
            ("modell", Some("model")),
            ("freebsd", None),
        ] {
            match StackName::parse(text) {
                Err(NameError::Kind { nearest, .. }) => {
                    assert_eq!(nearest.as_deref(), guess, "{text}");
                }
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn invalid_name_parts_are_refused() {
        for text in [
            "uml:",
            "qemu:",
            "model:",
            "uml:6.1+",
            "uml:+x",
            "uml:6.1++x",
            "uml:6.1@",
            "uml:6.1@50",
            "uml:6.1@1000@100",
            "uml:../x",
            "uml:a b",
            "uml:6",
            "uml:6.1+x/y",
            "uml:-x",
            "ssh:a",
            "ssh:a,b,c",
            "ssh:,b",
            "",
        ] {
            assert!(StackName::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_command_that_builds_a_kernel() {
        for (name, command) in [
            ("6.1", "tcplab kernel build 6.1"),
            (
                "mss-boundary@1000",
                "tcplab kernel build 6.1 --edit mss-boundary --hz 1000",
            ),
            ("mine", "tcplab kernel build --source DIR --name mine"),
        ] {
            assert_eq!(UmlName::parse(name).unwrap().build_command(), command);
        }
    }
}
