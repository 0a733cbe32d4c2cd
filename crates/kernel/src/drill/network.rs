//! The network of one script: a namespace with a TUN device, addresses and a route, as packetdrill
//! sets them up.

use std::collections::BTreeMap;
use std::fs;

use nix::sched::{CloneFlags, unshare};
use tcplab_drill::Network;

use super::device::{Device, NAME};
use crate::run::netlink::Netlink;
use crate::run::{Context, RunError, sysctl_path};

/// Nothing but the script's packets: no link-local address, no router solicitations, no duplicate
/// address detection. A kernel without IPv6 lacks the files.
const QUIET: [(&str, &str); 6] = [
    ("net.ipv6.conf.default.addr_gen_mode", "1"),
    ("net.ipv6.conf.default.router_solicitations", "0"),
    ("net.ipv6.conf.default.accept_ra", "0"),
    ("net.ipv6.conf.default.accept_dad", "0"),
    ("net.ipv4.conf.all.rp_filter", "0"),
    ("net.ipv4.conf.default.rp_filter", "0"),
];

/// What a machine of a usual size has; the default follows the memory.
const BUFFERS: [(&str, &str); 2] = [
    ("net.ipv4.tcp_rmem", "4096 131072 6291456"),
    ("net.ipv4.tcp_wmem", "4096 16384 4194304"),
];

/// The namespace of this thread, for one script.
pub(super) struct Net {
    pub(super) netlink: Netlink,
    pub(super) device: Device,
    /// Sysctls that the script has changed, with what was there before.
    saved: BTreeMap<String, String>,
}

impl Net {
    /// Moves this thread into a new namespace and sets it up.
    pub(super) fn new(network: &Network) -> Result<Self, RunError> {
        unshare(CloneFlags::CLONE_NEWNET).context(|| "cannot make a network namespace".into())?;
        for (key, value) in QUIET.into_iter().chain(BUFFERS) {
            // Without one of them a script may fail, and says so.
            let _ = fs::write(sysctl_path(key), value);
        }
        let device = Device::new(network.gso_size)?;
        let netlink = Netlink::open().context(|| "cannot open a netlink socket".into())?;
        let net = Self {
            netlink,
            device,
            saved: BTreeMap::new(),
        };
        net.set_up(network)?;
        Ok(net)
    }

    fn set_up(&self, network: &Network) -> Result<(), RunError> {
        let ask = &self.netlink;
        ask.up("lo").context(|| "cannot bring up lo".into())?;
        ask.set_mtu(NAME, network.mtu)
            .context(|| format!("cannot set the MTU {} of {NAME}", network.mtu))?;
        ask.up(NAME).context(|| format!("cannot bring up {NAME}"))?;
        let (local, prefix) = (network.local, network.prefix);
        ask.add_address(NAME, local, prefix)
            .context(|| format!("cannot give {NAME} the address {local}/{prefix}"))?;
        ask.add_route(NAME, network.remote, Some(network.gateway), Vec::new())
            .context(|| {
                format!(
                    "no route to {} by way of {}",
                    network.remote, network.gateway
                )
            })
    }

    /// Sets a sysctl and remembers what was there.
    pub(super) fn sysctl(&mut self, key: &str, value: &str) -> Result<(), String> {
        let path = sysctl_path(key);
        if !key.starts_with("net.") || key.contains('/') || key.contains("..") {
            return Err(format!("only sysctls of the network can be set, not {key}"));
        }
        let before = fs::read_to_string(&path).map_err(|e| format!("sysctl {key}: {e}"))?;
        self.saved
            .entry(key.to_owned())
            .or_insert_with(|| before.trim_end().to_owned());
        fs::write(&path, value).map_err(|e| format!("sysctl {key} = {value}: {e}"))
    }

    /// Puts all sysctls back.
    pub(super) fn restore_sysctls(&mut self) -> Result<(), String> {
        for (key, value) in std::mem::take(&mut self.saved) {
            fs::write(sysctl_path(&key), &value)
                .map_err(|e| format!("sysctl {key} = {value}: {e}"))?;
        }
        Ok(())
    }
}
