//! What a far side says of its machine.

use std::fs;
use std::net::IpAddr;
use std::time::Duration;

use nix::sys::utsname::uname;
use nix::unistd::geteuid;
use serde::{Deserialize, Serialize};
use tcplab_guest::build::hash_of_bytes;
use tcplab_os::live::{Error, Live};
use tcplab_os::{cpu, sysctl};

use super::program::SELF;

/// Changes when messages change their meaning.
pub(super) const PROTOCOL: u32 = 2;

/// A machine and the program on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facts {
    /// The program and its messages: `0.1.0/1`.
    pub version: String,
    /// SHA-256 of the program's file there, when it has just been copied.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub program: Option<String>,
    /// The program's file there.
    pub path: String,
    /// The name that the machine has for itself.
    pub name: String,
    /// `uname -r`.
    pub kernel: String,
    /// `uname -m`.
    pub machine: String,
    /// Processors that the program may use.
    pub cpus: usize,
    /// The model of the first processor, where the kernel says it.
    pub cpu_model: Option<String>,
    /// Runs as root.
    pub is_root: bool,
    /// Why it may not capture packets; none: it may.
    pub no_capture: Option<String>,
    /// The address there that the ssh connection arrived at.
    pub address: Option<IpAddr>,
    /// Congestion controls that sockets may choose.
    pub congestion: Vec<String>,
}

/// The version of this program and of its messages.
pub(super) fn version() -> String {
    format!("{}/{PROTOCOL}", env!("CARGO_PKG_VERSION"))
}

/// Looks at this machine.
pub(super) fn look(is_new: bool) -> Facts {
    let (mut name, mut kernel, mut machine) = Default::default();
    if let Ok(this) = uname() {
        let text = |word: &std::ffi::OsStr| word.to_string_lossy().into_owned();
        (name, kernel, machine) = (
            text(this.nodename()),
            text(this.release()),
            text(this.machine()),
        );
    }
    let path = std::env::current_exe().unwrap_or_default();
    let congestion = match geteuid().is_root() {
        true => sysctl::congestion_controls(),
        false => sysctl::words("net.ipv4.tcp_allowed_congestion_control"),
    };
    Facts {
        version: version(),
        program: is_new.then(|| hash_of_bytes(fs::read(SELF).unwrap_or_default())),
        path: path.display().to_string(),
        name,
        kernel,
        machine,
        cpus: cpu::allowed().len(),
        cpu_model: cpu_model(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default()),
        is_root: geteuid().is_root(),
        no_capture: no_capture(),
        address: std::env::var("SSH_CONNECTION")
            .ok()
            .and_then(|text| arrived_at(&text)),
        congestion: congestion.unwrap_or_default(),
    }
}

fn cpu_model(text: &str) -> Option<String> {
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn no_capture() -> Option<String> {
    match Live::open("lo", Duration::from_millis(1)) {
        Ok(_) => None,
        Err(Error::NotAllowed { .. }) => Some("capturing needs root or CAP_NET_RAW there".into()),
        Err(e) => Some(e.to_string()),
    }
}

/// SSH_CONNECTION, ssh(1): address and port of the client, address and port of the server. A scope
/// (`fe80::1%eth0`) means nothing to others.
fn arrived_at(text: &str) -> Option<IpAddr> {
    let word = text.split(' ').nth(2)?;
    let address: IpAddr = word.split('%').next()?.parse().ok()?;
    Some(address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_connection_arrived() {
        for (text, want) in [
            ("10.0.0.9 5000 10.0.0.1 22", Some("10.0.0.1")),
            ("fe80::2%eth0 5000 fe80::1%eth0 22", Some("fe80::1")),
            ("::ffff:10.0.0.9 1 ::ffff:10.0.0.1 22", Some("10.0.0.1")),
            ("UNKNOWN 65535 UNKNOWN 65535", None),
            ("", None),
        ] {
            let want = want.map(|w| w.parse().unwrap());
            assert_eq!(arrived_at(text), want, "{text}");
        }
    }

    #[test]
    fn this_machine() {
        let facts = look(false);
        assert!(!facts.kernel.is_empty() && facts.cpus > 0, "{facts:?}");
        assert!(!facts.congestion.is_empty());
    }
}
