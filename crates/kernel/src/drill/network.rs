//! The network of one script: a namespace with a TUN device, addresses and a route, as packetdrill
//! sets them up.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::{fs, io};

use tcplab_drill::Network;
use tcplab_os::clock::Pace;
use tcplab_os::namespaces::{NO_LINK_LOCAL, QUIET_IPV6, new_net};
use tcplab_os::netlink::{Netlink, wait_for_address};
use tcplab_os::sysctl;
use tcplab_os::{Context, OsError};

use super::device::{Device, NAME};
use crate::buffers::host_sysctls;
use crate::run::{CONGESTION, WAYS};

/// Of what the hosts of runs have, the buffers: scripts say the rest.
const BUFFERS: [&str; 2] = ["net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"];

/// Parameters of modules hang on the machine, not on a namespace.
const MODULES: &str = "/sys/module/";

/// The namespace of this thread, for one script.
pub(super) struct Net {
    pub(super) netlink: Netlink,
    pub(super) device: Device,
    /// Sysctls that the script has changed, with what was there before.
    saved: BTreeMap<PathBuf, String>,
    pace: Pace,
}

impl Net {
    /// Moves this thread into a new namespace and sets it up.
    pub(super) fn new(network: &Network, pace: Pace) -> Result<Self, OsError> {
        new_net().tried("cannot make a network namespace")?;
        let buffers = host_sysctls().into_iter();
        let buffers = buffers.filter(|(key, _)| BUFFERS.contains(key));
        // Nothing but the script's packets is on the device.
        let quiet = [NO_LINK_LOCAL].into_iter().chain(QUIET_IPV6).chain(WAYS);
        for (key, value) in quiet.chain(buffers) {
            // A kernel without IPv6 lacks some. Without one of them a script may fail, and says so.
            let _ = fs::write(sysctl::path(key), value);
        }
        let device = Device::new(network.gso_size)?;
        let netlink = Netlink::opened()?;
        let net = Self {
            netlink,
            device,
            saved: BTreeMap::new(),
            pace,
        };
        net.set_up(network)?;
        Ok(net)
    }

    fn set_up(&self, network: &Network) -> Result<(), OsError> {
        let ask = &self.netlink;
        ask.up("lo").tried("cannot bring up lo")?;
        ask.set_mtu(NAME, network.mtu)
            .context(|| format!("cannot set the MTU {} of {NAME}", network.mtu))?;
        ask.up(NAME).context(|| format!("cannot bring up {NAME}"))?;
        let (local, prefix) = (network.local, network.prefix);
        ask.add_address(NAME, local, prefix)
            .context(|| format!("cannot give {NAME} the address {local}/{prefix}"))?;
        wait_for_address(local).context(|| format!("cannot use the address {local} of {NAME}"))?;
        ask.route(
            NAME,
            (None, network.remote),
            Some(network.gateway),
            Vec::new(),
        )
        .context(|| {
            format!(
                "no route to {} by way of {}",
                network.remote, network.gateway
            )
        })
    }

    /// Sets a sysctl, or in a guest a module's parameter, and remembers what was there. False: this kernel does not have it.
    pub(super) fn sysctl(&mut self, key: &str, value: &str) -> Result<bool, String> {
        let path = file_of(key, self.pace)?;
        let before = match fs::read_to_string(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
            other => other.map_err(|e| format!("sysctl {key}: {e}"))?,
        };
        self.saved
            .entry(path.clone())
            .or_insert_with(|| before.trim_end().to_owned());
        match fs::write(&path, value) {
            // A congestion control that this machine keeps from namespaces (tcp_allowed_congestion_control):
            // a shell goes on too, and the script shows whether it matters.
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied && key == CONGESTION => Ok(true),
            done => done
                .map(|()| true)
                .map_err(|e| format!("sysctl {key} = {value}: {e}")),
        }
    }

    /// Puts all sysctls back.
    pub(super) fn restore_sysctls(&mut self) -> Result<(), String> {
        for (path, value) in std::mem::take(&mut self.saved) {
            fs::write(&path, &value).map_err(|e| format!("{} = {value}: {e}", path.display()))?;
        }
        Ok(())
    }
}

/// The file of a setting; `..` and the like lead nowhere.
fn file_of(key: &str, pace: Pace) -> Result<PathBuf, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let is_clean = |rest: &str, more: &str| {
        !rest.contains("..") && rest.chars().all(|c| is_plain(c) || more.contains(c))
    };
    match key.strip_prefix(MODULES) {
        Some(rest) if is_clean(rest, "/") => match pace {
            Pace::Virtual => Ok(PathBuf::from(key)),
            Pace::Real => Err(format!(
                "{key} applies to the whole machine: run on uml: instead"
            )),
        },
        None if key.starts_with("net.") && is_clean(key, "") => Ok(sysctl::path(key)),
        _ => Err(format!("only sysctls of the network can be set, not {key}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_network_can_be_set() {
        let of = |key| file_of(key, Pace::Virtual).map(|p| p.display().to_string());
        assert_eq!(
            of("net.ipv4.tcp_sack").unwrap(),
            "/proc/sys/net/ipv4/tcp_sack"
        );
        let cubic = "/sys/module/tcp_cubic/parameters/hystart";
        assert_eq!(of(cubic).unwrap(), cubic);
        assert!(file_of(cubic, Pace::Real).is_err());
        for key in [
            "kernel.hostname",
            "net.ipv4/../x",
            "net...kernel.x",
            "/sys/module/../x",
            "/etc/passwd",
        ] {
            assert!(of(key).is_err(), "{key}");
        }
    }
}
