//! Sockets of the applications: made, given their options, connected.

use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockProtocol, SockType, SockaddrIn, accept4, bind, connect,
    getpeername, getsockname, listen, setsockopt, socket, sockopt,
};
use tcplab_plan::point::SocketOptions;

use tcplab_os::options;
use tcplab_os::sys::{self, SockOpt};
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
pub(crate) fn make(kind: Kind, options: &SocketOptions) -> Result<OwnedFd, OsError> {
    let (udp, protocol) = (kind != Kind::Tcp, None::<SockProtocol>);
    let (kind, protocol) = match kind {
        Kind::Tcp => (SockType::Stream, protocol),
        Kind::Udp => (SockType::Datagram, protocol),
        Kind::Echo => (SockType::Datagram, Some(SockProtocol::Icmp)),
    };
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let fd = socket(AddressFamily::Inet, kind, flags, protocol)
        .context(|| "cannot make a socket".into())?;
    if !udp {
        // With it two clients that send datagrams may get one port (`udp_lib_get_port()`).
        setsockopt(&fd, sockopt::ReuseAddr, &true).context(|| "SO_REUSEADDR".into())?;
    }
    prepare(&fd, udp, options)?;
    Ok(fd)
}

/// Sets the options that stand for the whole life of a socket.
pub(crate) fn prepare(fd: &OwnedFd, udp: bool, wanted: &SocketOptions) -> Result<(), OsError> {
    options::set(fd, !udp, wanted).map_err(|e| OsError::Os {
        what: e.what,
        source: e.source,
    })
}

/// Sets TCP_QUICKACK.
pub(crate) fn quickack(fd: &OwnedFd, value: i32) -> Result<(), OsError> {
    sys::set_int(fd, SockOpt::QUICKACK, value).context(|| "cannot set TCP_QUICKACK".into())
}

/// A socket that waits for connections (none: for datagrams) on a port of all addresses.
pub(crate) fn listener(
    port: u16,
    backlog: Option<u16>,
    options: &SocketOptions,
) -> Result<OwnedFd, OsError> {
    let kind = match backlog {
        None => Kind::Udp,
        Some(_) => Kind::Tcp,
    };
    let fd = make(kind, options)?;
    let at = SockaddrIn::from(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port));
    bind(fd.as_raw_fd(), &at).context(|| format!("cannot bind to port {port}"))?;
    if let Some(backlog) = backlog {
        let backlog = Backlog::new(backlog).unwrap_or(Backlog::MAXCONN);
        listen(&fd, backlog).context(|| format!("cannot listen on port {port}"))?;
    }
    Ok(fd)
}

/// Begins to connect; gives the own port.
pub(crate) fn begin(fd: &OwnedFd, to: SocketAddrV4) -> nix::Result<u16> {
    match connect(fd.as_raw_fd(), &SockaddrIn::from(to)) {
        Ok(()) | Err(Errno::EINPROGRESS) => {}
        Err(e) => return Err(e),
    }
    getsockname::<SockaddrIn>(fd.as_raw_fd()).map(|own| own.port())
}

/// Takes one connection; gives the client's port.
pub(crate) fn accept(listener: &OwnedFd) -> nix::Result<Option<(OwnedFd, u16)>> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    match accept4(listener.as_raw_fd(), flags) {
        Ok(fd) => {
            let fd = sys::owned(fd);
            let port = getpeername::<SockaddrIn>(fd.as_raw_fd()).map(|peer| peer.port())?;
            Ok(Some((fd, port)))
        }
        Err(Errno::EAGAIN | Errno::ECONNABORTED | Errno::EINTR) => Ok(None),
        Err(e) => Err(e),
    }
}

/// The error that a socket has met.
pub(crate) fn error(fd: &OwnedFd) -> Option<Errno> {
    match nix::sys::socket::getsockopt(fd, sockopt::SocketError) {
        Ok(0) => None,
        Ok(e) => Some(Errno::from_raw(e)),
        Err(e) => Some(e),
    }
}
