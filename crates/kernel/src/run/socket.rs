//! Sockets of the applications: made, given their options, connected.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockProtocol, SockType, SockaddrStorage, bind, connect,
    getsockname, listen, setsockopt, socket, sockopt,
};
use tcplab_plan::point::{Ip, QuickAck, SocketOptions};

use tcplab_os::options::set;
use tcplab_os::sys::{self, SockOpt};
use tcplab_os::tcp_info::tcp_info;
use tcplab_os::{Context, OsError};

/// What a socket is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Tcp,
    Udp,
    /// ICMP's echoes: a socket for ping, which needs no privilege where `net.ipv4.ping_group_range` has the group.
    Echo,
}

/// A socket in the current network namespace.
pub(crate) fn make(kind: Kind, ip: Ip, options: &SocketOptions) -> Result<OwnedFd, OsError> {
    let (is_tcp, protocol) = (kind == Kind::Tcp, None::<SockProtocol>);
    let (kind, protocol) = match kind {
        Kind::Tcp => (SockType::Stream, protocol),
        Kind::Udp => (SockType::Datagram, protocol),
        Kind::Echo => (
            SockType::Datagram,
            Some(match ip {
                Ip::V4 => SockProtocol::Icmp,
                Ip::V6 => SockProtocol::IcmpV6,
            }),
        ),
    };
    let family = match ip {
        Ip::V4 => AddressFamily::Inet,
        Ip::V6 => AddressFamily::Inet6,
    };
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let fd = socket(family, kind, flags, protocol).tried("cannot make a socket")?;
    if is_tcp {
        // With it two clients that send datagrams may get one port (`udp_lib_get_port()`).
        setsockopt(&fd, sockopt::ReuseAddr, &true).tried("SO_REUSEADDR")?;
    }
    set(&fd, is_tcp, options)?;
    Ok(fd)
}

/// Sets TCP_QUICKACK.
pub(crate) fn quickack(fd: &OwnedFd, value: i32) -> Result<(), OsError> {
    sys::set_int(fd, SockOpt::QUICKACK, value).tried("cannot set TCP_QUICKACK")
}

/// Sets options on a connection that is there.
pub(crate) fn changes(fd: &OwnedFd, options: &SocketOptions) -> Result<(), OsError> {
    set(fd, true, options)?;
    match options.quickack {
        QuickAck::Once(value) => quickack(fd, value),
        QuickAck::Leave | QuickAck::Each(_) => Ok(()),
    }
}

/// A socket that waits for connections (none: for datagrams) on a port of all addresses.
pub(crate) fn listener(
    (ip, port): (Ip, u16),
    backlog: Option<u16>,
    options: &SocketOptions,
) -> Result<OwnedFd, OsError> {
    let kind = match backlog {
        None => Kind::Udp,
        Some(_) => Kind::Tcp,
    };
    let fd = make(kind, ip, options)?;
    bind_to(&fd, ip, port)?;
    if let Some(backlog) = backlog {
        let backlog = Backlog::new(backlog).unwrap_or(Backlog::MAXCONN);
        listen(&fd, backlog).context(|| format!("cannot listen on port {port}"))?;
    }
    Ok(fd)
}

/// Binds a socket to a port of all addresses.
pub(crate) fn bind_to(fd: &OwnedFd, ip: Ip, port: u16) -> Result<(), OsError> {
    let any = match ip {
        Ip::V4 => Ipv4Addr::UNSPECIFIED.into(),
        Ip::V6 => Ipv6Addr::UNSPECIFIED.into(),
    };
    let at = SockaddrStorage::from(SocketAddr::new(any, port));
    bind(fd.as_raw_fd(), &at).context(|| format!("cannot bind to port {port}"))
}

/// Begins to connect; gives the own port.
pub(crate) fn begin(fd: &OwnedFd, to: SocketAddr) -> nix::Result<u16> {
    match connect(fd.as_raw_fd(), &SockaddrStorage::from(to)) {
        Ok(()) | Err(Errno::EINPROGRESS) => {}
        Err(e) => return Err(e),
    }
    getsockname(fd.as_raw_fd()).map(|own| port(&own))
}

/// The port of an address.
fn port(address: &SockaddrStorage) -> u16 {
    let v4 = address.as_sockaddr_in().map(|end| end.port());
    let v6 = || address.as_sockaddr_in6().map(|end| end.port());
    v4.or_else(v6).unwrap_or(0)
}

/// Takes one connection; gives the client's port.
pub(crate) fn accept(listener: &OwnedFd) -> io::Result<Option<(OwnedFd, u16)>> {
    match tcplab_os::accept::accept(listener) {
        Ok((fd, peer)) => Ok(Some((fd, peer.map_or(0, |peer| peer.port())))),
        Err(e) => match e.kind() {
            ErrorKind::WouldBlock | ErrorKind::ConnectionAborted | ErrorKind::Interrupted => {
                Ok(None)
            }
            _ => Err(e),
        },
    }
}

/// Whether its SYN has left, and no answer has come.
pub(crate) fn is_opening(fd: &OwnedFd) -> bool {
    const SYN_SENT: i64 = 2;
    tcp_info(fd).is_ok_and(|info| info.get("tcpi_state") == Some(SYN_SENT))
}

/// The error that a socket has met.
pub(crate) fn error(fd: &OwnedFd) -> Option<Errno> {
    match nix::sys::socket::getsockopt(fd, sockopt::SocketError) {
        Ok(0) => None,
        Ok(e) => Some(Errno::from_raw(e)),
        Err(e) => Some(e),
    }
}
