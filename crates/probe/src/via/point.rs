//! The point that the endpoint runs: itself, and a second host that stands for all others.

use std::net::IpAddr;

use nix::time::ClockId;
use tcplab_plan::Point;
use tcplab_plan::app::AppKind;
use tcplab_plan::point::{By, Direction, Host, Ip, Link, SocketOptions};
use tcplab_plan::profile::{Profile, named};
use tcplab_sim::Live;
use tcplab_tcp::{Sysctl, Unread, congestion_controls};

use super::{Via, cannot};
use crate::error::Error;
use crate::point::{self, HERE};
use crate::run::Probe;

/// Connections that a server without `--clients` serves: the limit of a report.
const MOST: u64 = 10_000;

/// After the last application's end: FINs are sent again meanwhile, when they are lost. Whoever waits for nothing
/// any more leaves sooner.
const LINGER_NS: i64 = 5_000_000_000;

/// `net.ipv6.conf.*.hop_limit`.
const HOPS: u8 = 64;

/// The name of its host.
pub(super) const HOST: &str = "endpoint";

/// What the endpoint is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Server { port: u16, clients: Option<u64> },
    Client { server: IpAddr, port: u16 },
}

/// The endpoint's host: checked, before anything is made.
#[derive(Debug)]
pub(super) struct Planned {
    host: Host,
    pub(super) profile: Profile,
    /// The EtherType of CAQM's tag; none: it does not know it.
    pub(super) ethertype: Option<u16>,
    pub(super) ip: Ip,
    /// Time to live of what it sends.
    pub(super) ttl: u8,
}

/// What the endpoint shall be.
pub(super) fn plan(socket: &SocketOptions, via: &Via) -> Result<Planned, Error> {
    let host = Host {
        sysctl: via.sysctl.clone(),
        offload: via.offload,
        behaviour: via.behaviour.clone(),
        name: HOST.into(),
        socket: socket.clone(),
        ..Host::default()
    };
    let profile = named(&via.profile).ok_or_else(|| {
        let name = &via.profile;
        cannot(format!(
            "--profile {name}: unknown profile; `tcplab stacks --profiles` lists the profiles"
        ))
    })?;
    let profile = profile
        .of_host(&host)
        .map_err(|e| cannot(format!("--behaviour: {e}")))?;
    let sysctl = sysctls(via, &profile)?;
    let ip = match via.address.0 {
        IpAddr::V4(_) => Ip::V4,
        IpAddr::V6(_) => Ip::V6,
    };
    if let Some(name) = &socket.congestion
        && !congestion_controls().any(|known| known == name)
    {
        let known: Vec<&str> = congestion_controls().collect();
        return Err(cannot(format!(
            "--congestion {name}: tcplab's own TCP supports {}",
            known.join(", ")
        )));
    }
    Ok(Planned {
        host,
        profile,
        ethertype: sysctl.sysctl_caqm_enable.then_some(sysctl.sysctl_caqm_tpid),
        ip,
        ttl: match ip {
            Ip::V4 => sysctl.ip_default_ttl,
            Ip::V6 => HOPS,
        },
    })
}

/// Makes the endpoint.
pub(super) fn make(
    probe: &Probe,
    role: Role,
    app: &AppKind,
    planned: &Planned,
    seed: Option<u64>,
    mtu: u32,
) -> Result<Live, Error> {
    let (is_client, port, clients) = match role {
        Role::Server { port, clients } => (false, port, clients.unwrap_or(MOST).min(MOST)),
        Role::Client { port, .. } => (true, port, 1),
    };
    let mut bare = point::point(probe, &planned.host.socket, is_client, app, port);
    bare.hosts[HERE] = planned.host.clone();
    bare.apps[0].connections = clients as u32;
    let point = Point {
        seed: seed.unwrap_or(bare.seed),
        links: vec![Link {
            a: 0,
            b: 1,
            by: By::Tcplab,
            mtu,
            a_to_b: Direction::default(),
            b_to_a: Direction::default(),
        }],
        ip: planned.ip,
        boot_ns: Some(since_boot()),
        linger_ns: LINGER_NS,
        tcp_info_every_ns: probe.settings.tcp_info_every.map(|every| every.as_nanos()),
        tcp_info: true,
        log: probe.settings.keeps_log && probe.settings.log_lines > 0,
        ..bare
    };
    Live::new(&point, &planned.profile).map_err(|e| cannot(e.to_string()))
}

/// All sysctls as the endpoint will have them; one that it does not know is an error here.
fn sysctls(via: &Via, profile: &Profile) -> Result<Sysctl, Error> {
    let mut sysctl = Sysctl::default();
    for (name, value) in profile.sysctl {
        let _ = sysctl.set(name, value);
    }
    for (name, value) in &via.sysctl {
        let set = sysctl.set(name, value);
        set.map_err(|e| cannot(format!("--sysctl {name}={value}: {e}")))?;
        if let Some(unread) = Unread::of(name, value) {
            return Err(cannot(format!(
                "--sysctl {name}={value} changes nothing: tcplab's own TCP acts as with {} ({})",
                unread.acts_as,
                unread.does()
            )));
        }
    }
    Ok(sysctl)
}

/// Time stamps go on where those of an earlier endpoint ended, as on a host that stays up: a peer may remember them.
fn since_boot() -> i64 {
    tcplab_os::clock::read(ClockId::CLOCK_BOOTTIME).as_nanos()
}
