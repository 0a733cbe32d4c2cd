//! Options of a probe's sockets, by the fields of the plan's [`SocketOptions`].

use std::fmt::Display;
use std::io;
use std::time::Duration;

use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use socket2::{Socket, TcpKeepalive};
use tcplab_plan::point::SocketOptions;

use super::error::Error;
use crate::sys::{self, SockOpt};

/// What must be set before the handshake, since the SYN or SYN-ACK tells it.
///
/// # Errors
/// [`Error::Option`] with the kernel's reason.
pub(super) fn before(socket: &Socket, wanted: &SocketOptions) -> Result<(), Error> {
    if let Some(bytes) = wanted.rcvbuf {
        set(socket, "SO_RCVBUF", SockOpt::RCVBUF, bytes)?;
    }
    if let Some(bytes) = wanted.sndbuf {
        set(socket, "SO_SNDBUF", SockOpt::SNDBUF, bytes)?;
    }
    if let Some(byte) = wanted.tos {
        set(socket, "IP_TOS", SockOpt::TOS, byte.into())?;
    }
    if let Some(bytes) = wanted.maxseg {
        set(socket, "TCP_MAXSEG", SockOpt::MAXSEG, bytes)?;
    }
    if let Some(name) = &wanted.congestion {
        socket
            .set_tcp_congestion(name.as_bytes())
            .map_err(refused("TCP_CONGESTION", name))?;
    }
    Ok(())
}

/// What an accepted socket does not inherit from its listener, or may as well get itself.
///
/// # Errors
/// [`Error::Option`] with the kernel's reason.
pub(super) fn after(socket: &Socket, wanted: &SocketOptions) -> Result<(), Error> {
    if let Some(on) = wanted.nodelay {
        set(socket, "TCP_NODELAY", SockOpt::NODELAY, on.into())?;
    }
    if let Some(bytes) = wanted.rcvlowat {
        set(socket, "SO_RCVLOWAT", SockOpt::RCVLOWAT, bytes)?;
    }
    if let Some(bytes) = wanted.notsent_lowat {
        set(socket, "TCP_NOTSENT_LOWAT", SockOpt::NOTSENT_LOWAT, bytes)?;
    }
    if let Some(ns) = wanted.user_timeout_ns {
        let ms = u32::try_from(ns / 1_000_000).unwrap_or(0);
        set(socket, "TCP_USER_TIMEOUT", SockOpt::USER_TIMEOUT, ms)?;
    }
    if let Some(ns) = wanted.keepalive_ns {
        let time = Duration::from_nanos(u64::try_from(ns).unwrap_or(0));
        let keepalive = TcpKeepalive::new().with_time(time).with_interval(time);
        socket
            .set_tcp_keepalive(&keepalive)
            .map_err(refused("TCP_KEEPIDLE", &format!("{time:?}")))?;
    }
    Ok(())
}

/// Pins the calling thread to a CPU.
///
/// # Errors
/// [`Error::Cpu`] when there is no such CPU or this process may not use it.
pub(super) fn pin(cpu: Option<u32>) -> Result<(), Error> {
    let Some(cpu) = cpu else { return Ok(()) };
    let mut set = CpuSet::new();
    set.set(usize::try_from(cpu).unwrap_or(usize::MAX))
        .and_then(|()| sched_setaffinity(Pid::from_raw(0), &set))
        .map_err(|e| Error::Cpu {
            cpu,
            source: e.into(),
        })
}

fn set(socket: &Socket, name: &'static str, option: SockOpt, value: u32) -> Result<(), Error> {
    i32::try_from(value)
        .map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))
        .and_then(|int| sys::set_int(socket, option, int))
        .map_err(refused(name, &value))
}

fn refused(option: &'static str, value: &impl Display) -> impl FnOnce(io::Error) -> Error {
    let value = value.to_string();
    move |source| Error::Option {
        option,
        value,
        source,
    }
}
