//! Options of the applications' sockets, by the fields of the plan's [`SocketOptions`].

use std::os::fd::AsFd;
use std::time::Duration;

use socket2::{Domain, SockRef, TcpKeepalive};
use tcplab_plan::buffer_limits::Limits;
use tcplab_plan::point::SocketOptions;

use crate::sys::{self, SockOpt};
use crate::{Context, OsError, sysctl};

/// Sets the options that stand for the whole life of a socket. Those of a listener go into its SYN-ACKs: it has them too.
///
/// # Errors
/// The first one that the kernel refuses.
pub fn set(fd: &impl AsFd, is_tcp: bool, wanted: &SocketOptions) -> Result<(), OsError> {
    let (tos, name) = match SockRef::from(fd).domain() {
        Ok(Domain::IPV6) => (SockOpt::TCLASS, "IPV6_TCLASS"),
        _ => (SockOpt::TOS, "IP_TOS"),
    };
    set_ints(
        fd,
        [
            (SockOpt::RCVBUF, "SO_RCVBUF", wanted.rcvbuf),
            (SockOpt::SNDBUF, "SO_SNDBUF", wanted.sndbuf),
            (SockOpt::RCVLOWAT, "SO_RCVLOWAT", wanted.rcvlowat),
            (tos, name, wanted.tos.map(u32::from)),
        ],
    )?;
    match is_tcp {
        true => set_tcp(fd, wanted).and_then(|()| set_times(fd, wanted)),
        false => Ok(()),
    }
}

/// What the kernel let this socket have of the buffers and of SO_RCVLOWAT that it was asked for ([`set`]); no limit where it was asked for none.
pub fn limits(fd: &impl AsFd, wanted: &SocketOptions) -> Limits {
    // SO_RCVBUF and SO_SNDBUF give the doubled value (socket(7)).
    let half = |option, wanted: Option<u32>| {
        let got = wanted.and_then(|_| sys::get_int(fd, option).ok());
        got.map_or(u32::MAX, |got| u32::try_from(got / 2).unwrap_or(0))
    };
    let lowat = wanted
        .rcvlowat
        .and_then(|_| sys::get_int(fd, SockOpt::RCVLOWAT).ok());
    Limits {
        rcvlowat: lowat.map_or(u32::MAX, |got| u32::try_from(got).unwrap_or(0)),
        rcvbuf: half(SockOpt::RCVBUF, wanted.rcvbuf),
        sndbuf: half(SockOpt::SNDBUF, wanted.sndbuf),
    }
}

fn seconds(ns: i64) -> u32 {
    (ns / 1_000_000_000).max(1) as u32
}

fn set_tcp(fd: &impl AsFd, wanted: &SocketOptions) -> Result<(), OsError> {
    set_ints(
        fd,
        [
            (
                SockOpt::NODELAY,
                "TCP_NODELAY",
                wanted.nodelay.map(u32::from),
            ),
            (
                SockOpt::NOTSENT_LOWAT,
                "TCP_NOTSENT_LOWAT",
                wanted.notsent_lowat,
            ),
            (SockOpt::MAXSEG, "TCP_MAXSEG", wanted.maxseg),
            (SockOpt::CORK, "TCP_CORK", wanted.cork.map(u32::from)),
            (
                SockOpt::LINGER2,
                "TCP_LINGER2",
                wanted.linger2_ns.map(seconds),
            ),
            (SockOpt::SYNCNT, "TCP_SYNCNT", wanted.syncnt),
            (
                SockOpt::WINDOW_CLAMP,
                "TCP_WINDOW_CLAMP",
                wanted.window_clamp,
            ),
        ],
    )?;
    if let Some(seconds) = wanted.linger {
        let set = SockRef::from(fd).set_linger(Some(Duration::from_secs(seconds.into())));
        set.context(|| format!("cannot set SO_LINGER to {seconds}"))?;
    }
    if let Some(bps) = wanted.max_pacing_rate_bps {
        let bytes = (bps / 8).max(1);
        sys::set_bytes(fd, SockOpt::MAX_PACING_RATE, &bytes.to_ne_bytes())
            .context(|| format!("cannot set SO_MAX_PACING_RATE to {bytes}"))?;
    }
    Ok(())
}

/// Times, and the congestion control.
fn set_times(fd: &impl AsFd, wanted: &SocketOptions) -> Result<(), OsError> {
    let ms = |ns: i64| (ns / 1_000_000).max(1) as u32;
    let us = |ns: i64| u32::try_from(ns / 1_000).unwrap_or(u32::MAX);
    set_ints(
        fd,
        [
            (
                SockOpt::USER_TIMEOUT,
                "TCP_USER_TIMEOUT",
                wanted.user_timeout_ns.map(ms),
            ),
            (
                SockOpt::RTO_MIN_US,
                "TCP_RTO_MIN_US (two ticks of the kernel to 200 ms)",
                wanted.rto_min_ns.map(us),
            ),
            (
                SockOpt::DELACK_MAX_US,
                "TCP_DELACK_MAX_US (two ticks of the kernel to 200 ms)",
                wanted.delack_max_ns.map(us),
            ),
        ],
    )?;
    if let Some(ns) = wanted.keepalive_ns {
        let time = Duration::from_secs(seconds(ns).into());
        let keepalive = TcpKeepalive::new().with_time(time).with_interval(time);
        let set = SockRef::from(fd).set_tcp_keepalive(&keepalive);
        set.context(|| format!("cannot set TCP_KEEPIDLE to {}", time.as_secs()))?;
    }
    if let Some(name) = &wanted.congestion {
        let set = SockRef::from(fd).set_tcp_congestion(name.as_bytes());
        set.context(|| {
            let available = match sysctl::congestion_controls() {
                Ok(all) => all.join(", "),
                Err(_) => "an unknown list".into(),
            };
            format!("this kernel does not have the congestion control {name} (it has {available})")
        })?;
    }
    Ok(())
}

/// Sets those that have a value, in this order.
fn set_ints<const N: usize>(
    fd: &impl AsFd,
    options: [(SockOpt, &str, Option<u32>); N],
) -> Result<(), OsError> {
    for (option, name, value) in options {
        if let Some(n) = value {
            sys::set_int(fd, option, i32::try_from(n).unwrap_or(i32::MAX))
                .context(|| format!("cannot set {name} to {n}"))?;
        }
    }
    Ok(())
}
