//! Options of the applications' sockets, by the fields of the plan's [`SocketOptions`].

use std::fmt::Display;
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use socket2::{Domain, SockRef, TcpKeepalive};
use tcplab_plan::point::SocketOptions;

use crate::sys::{self, SockOpt};

/// The kernel refused an option of a socket.
#[derive(Debug, thiserror::Error)]
#[error("{what}: {source}")]
pub struct Refused {
    /// The option by its name in socket(7) or tcp(7), and what was asked for.
    pub what: String,
    /// What the kernel said.
    pub source: io::Error,
}

/// Sets the options that stand for the whole life of a socket. Those of a listener go into its SYN-ACKs: it has them too.
///
/// # Errors
/// The first one that the kernel refuses.
pub fn set(fd: &impl AsFd, is_tcp: bool, wanted: &SocketOptions) -> Result<(), Refused> {
    let int = |option, name, value: Option<u32>| match value {
        None => Ok(()),
        Some(n) => sys::set_int(fd, option, i32::try_from(n).unwrap_or(i32::MAX))
            .map_err(refused(name, &n)),
    };
    int(SockOpt::RCVBUF, "SO_RCVBUF", wanted.rcvbuf)?;
    int(SockOpt::SNDBUF, "SO_SNDBUF", wanted.sndbuf)?;
    int(SockOpt::RCVLOWAT, "SO_RCVLOWAT", wanted.rcvlowat)?;
    let (tos, name) = match SockRef::from(fd).domain() {
        Ok(Domain::IPV6) => (SockOpt::TCLASS, "IPV6_TCLASS"),
        _ => (SockOpt::TOS, "IP_TOS"),
    };
    int(tos, name, wanted.tos.map(u32::from))?;
    if !is_tcp {
        return Ok(());
    }
    let nodelay = wanted.nodelay.map(u32::from);
    int(SockOpt::NODELAY, "TCP_NODELAY", nodelay)?;
    let lowat = wanted.notsent_lowat;
    int(SockOpt::NOTSENT_LOWAT, "TCP_NOTSENT_LOWAT", lowat)?;
    int(SockOpt::MAXSEG, "TCP_MAXSEG", wanted.maxseg)?;
    let cork = wanted.cork.map(u32::from);
    int(SockOpt::CORK, "TCP_CORK", cork)?;
    let linger2 = (wanted.linger2_ns).map(|ns| (ns / 1_000_000_000).max(1) as u32);
    int(SockOpt::LINGER2, "TCP_LINGER2", linger2)?;
    int(SockOpt::SYNCNT, "TCP_SYNCNT", wanted.syncnt)?;
    let clamp = wanted.window_clamp;
    int(SockOpt::WINDOW_CLAMP, "TCP_WINDOW_CLAMP", clamp)?;
    if let Some(seconds) = wanted.linger {
        let set = SockRef::from(fd).set_linger(Some(Duration::from_secs(seconds.into())));
        set.map_err(refused("SO_LINGER", &seconds))?;
    }
    if let Some(bps) = wanted.max_pacing_rate_bps {
        let bytes = (bps / 8).max(1);
        sys::set_bytes(fd, SockOpt::MAX_PACING_RATE, &bytes.to_ne_bytes())
            .map_err(refused("SO_MAX_PACING_RATE", &bytes))?;
    }
    let timeout = (wanted.user_timeout_ns).map(|ns| (ns / 1_000_000).max(1) as u32);
    int(SockOpt::USER_TIMEOUT, "TCP_USER_TIMEOUT", timeout)?;
    let us = |ns: i64| u32::try_from(ns / 1_000).unwrap_or(u32::MAX);
    int(
        SockOpt::RTO_MIN_US,
        "TCP_RTO_MIN_US (two ticks of the kernel to 200 ms)",
        wanted.rto_min_ns.map(us),
    )?;
    int(
        SockOpt::DELACK_MAX_US,
        "TCP_DELACK_MAX_US (two ticks of the kernel to 200 ms)",
        wanted.delack_max_ns.map(us),
    )?;
    if let Some(ns) = wanted.keepalive_ns {
        let time = Duration::from_secs((ns / 1_000_000_000).max(1).cast_unsigned());
        let keepalive = TcpKeepalive::new().with_time(time).with_interval(time);
        let set = SockRef::from(fd).set_tcp_keepalive(&keepalive);
        set.map_err(refused("TCP_KEEPIDLE", &time.as_secs()))?;
    }
    if let Some(name) = &wanted.congestion {
        let set = SockRef::from(fd).set_tcp_congestion(name.as_bytes());
        set.map_err(|source| Refused {
            what: format!(
                "this kernel does not have the congestion control {name} (it has {})",
                available()
            ),
            source,
        })?;
    }
    Ok(())
}

/// The congestion controls of this kernel.
fn available() -> String {
    let text = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    text.map_or_else(
        |_| "an unknown list".to_owned(),
        |text| text.trim().replace(' ', ", "),
    )
}

fn refused(option: &'static str, value: &impl Display) -> impl FnOnce(io::Error) -> Refused {
    let what = format!("cannot set {option} to {value}");
    move |source| Refused { what, source }
}
