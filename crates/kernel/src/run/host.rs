//! A host: a network namespace with its sysctls, and the kernel's counters in it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;

use nix::unistd::getegid;
use tcplab_os::counters::{self, Counters};
use tcplab_os::namespaces::{NO_LINK_LOCAL, OWN_NET, QUIET_IPV6, enter_net, new_net};
use tcplab_os::sysctl;
use tcplab_os::{Context, OsError};
use tcplab_plan::point::{Host, Ip};
use tcplab_plan::{Point, Refusal};

use super::refusal::leave_out;
use crate::buffers::host_sysctls;

/// Ways there and back may differ where several are equally short.
pub(crate) const WAYS: [(&str, &str); 2] = [
    ("net.ipv4.conf.all.rp_filter", "0"),
    ("net.ipv4.conf.default.rp_filter", "0"),
];

/// A router's.
const FORWARD: (&str, &str) = ("net.ipv4.ip_forward", "1");
const FORWARD_IPV6: (&str, &str) = ("net.ipv6.conf.all.forwarding", "1");

/// What new connections use.
pub(crate) const CONGESTION: &str = "net.ipv4.tcp_congestion_control";

/// Groups that may make sockets for ping.
const PING_GROUPS: &str = "net.ipv4.ping_group_range";

/// Nothing but the experiment is on the link.
const NO_IPV6: &str = "net.ipv6.conf.default.disable_ipv6";

/// A namespace of this process.
#[derive(Debug)]
pub(crate) struct HostNet {
    /// None: the namespace that this process has found.
    namespace: Option<File>,
    before: Counters,
}

impl HostNet {
    /// Makes the namespace and enters it.
    pub(crate) fn new(host: &Host, ip: Ip, sysctls: &mut Sysctls<'_>) -> Result<Self, OsError> {
        let name = &host.name;
        new_net().context(|| format!("cannot make a network namespace for the host {name}"))?;
        let namespace = File::open(OWN_NET).tried(OWN_NET)?;
        let has_ipv6 = sysctl::path(NO_IPV6).exists();
        match ip {
            Ip::V4 if has_ipv6 => sysctls.set(name, NO_IPV6, "1")?,
            Ip::V4 => {}
            Ip::V6 if !has_ipv6 => {
                return Err(OsError::Cannot(
                    "run.ip = \"ipv6\": this kernel has no IPv6".into(),
                ));
            }
            Ip::V6 => {
                for (key, value) in [NO_LINK_LOCAL].into_iter().chain(QUIET_IPV6) {
                    sysctls.set(name, key, value)?;
                }
            }
        }
        let router = (host.forward && ip == Ip::V4).then_some(FORWARD);
        for (key, value) in host_sysctls().into_iter().chain(WAYS).chain(router) {
            sysctls.set(name, key, value)?;
        }
        for (key, value) in &host.sysctl {
            sysctls.set(name, key, value)?;
        }
        Ok(Self {
            namespace: Some(namespace),
            before: Counters::default(),
        })
    }

    /// Makes it a router of IPv6, once its devices are there: one that is made in a router tells all about its groups.
    pub(crate) fn routes_ipv6(&self, name: &str, sysctls: &mut Sysctls<'_>) -> Result<(), OsError> {
        self.enter()?;
        let (key, value) = FORWARD_IPV6;
        sysctls.set(name, key, value)
    }

    /// The machine as it is.
    pub(crate) fn here() -> Self {
        Self {
            namespace: None,
            before: Counters::default(),
        }
    }

    /// Makes this thread's new sockets belong to this host.
    pub(crate) fn enter(&self) -> Result<(), OsError> {
        let Some(namespace) = &self.namespace else {
            return Ok(());
        };
        enter_net(namespace).tried("cannot enter a network namespace")
    }

    /// From now on this process may send ICMP echoes from this host (icmp(7)).
    pub(crate) fn allow_echoes(&self) -> Result<(), OsError> {
        self.enter()?;
        let group = getegid();
        fs::write(sysctl::path(PING_GROUPS), format!("{group} {group}"))
            .context(|| format!("cannot set {PING_GROUPS}, which ICMP pings need"))
    }

    /// The namespace's descriptor, to make a device in it.
    pub(crate) fn namespace(&self) -> Option<&File> {
        self.namespace.as_ref()
    }

    /// Remembers the counters.
    pub(crate) fn begin(&mut self) -> Result<(), OsError> {
        self.enter()?;
        self.before = counters::read().tried("cannot read the kernel's counters")?;
        Ok(())
    }

    /// The counters since [`HostNet::begin`]: all of TCP and UDP, of the others those that moved
    /// (`measure::is_left_out_at_zero` in plan).
    pub(crate) fn counters(&self) -> Result<BTreeMap<String, i64>, OsError> {
        self.enter()?;
        let now = counters::read().tried("cannot read the kernel's counters")?;
        let mut moved = counters::difference(&self.before, &now);
        moved.retain(|name, value| *value != 0 || is_transport(name));
        Ok(moved)
    }
}

/// TCP's and UDP's over IPv4.
fn is_transport(name: &str) -> bool {
    name.starts_with("Tcp") || (name.starts_with("Udp") && !name.contains('6'))
}

/// Sets the sysctls of a point's hosts: one that the kernel refuses ends the run, unless the point tolerates it.
pub(crate) struct Sysctls<'a> {
    point: &'a Point,
    /// What was left out, with the reason.
    pub(crate) left_out: Vec<String>,
}

impl<'a> Sysctls<'a> {
    pub(crate) fn new(point: &'a Point) -> Self {
        Self {
            point,
            left_out: Vec::new(),
        }
    }

    pub(crate) fn set(&mut self, host: &str, key: &str, value: &str) -> Result<(), OsError> {
        let wrote = fs::write(sysctl::path(key), value);
        wrote.or_else(|e| self.refused(host, (key, value), &e))
    }

    /// The kernel did not take a value: why, or that it was left out.
    pub(crate) fn refused(
        &mut self,
        host: &str,
        (key, value): (&str, &str),
        error: &io::Error,
    ) -> Result<(), OsError> {
        let why = match error.kind() {
            io::ErrorKind::NotFound if !sysctl::path(key).exists() => {
                format!(
                    "{value} was not set: this kernel does not have the sysctl in network namespaces"
                )
            }
            io::ErrorKind::NotFound if key == CONGESTION => format!(
                "{value} was not set: this kernel has {}",
                sysctl::congestion_controls().unwrap_or_default().join(", ")
            ),
            _ => format!("{value} was not set: the kernel says {error}"),
        };
        let remedy = match (key, error.kind()) {
            (CONGESTION, io::ErrorKind::PermissionDenied) => {
                "this machine keeps it from namespaces (tcp_allowed_congestion_control); as root write it as an option of \
                 sockets, socket = { congestion = \"NAME\" }"
            }
            _ => "leave it out",
        };
        let place = format!("host.{host}.sysctl.\"{key}\"");
        let refusal = Refusal::new(place, why, remedy).tolerable(key);
        leave_out(self.point, &refusal, &mut self.left_out)
    }
}
