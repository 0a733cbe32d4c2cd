//! Names to addresses, and sockets that listen or connect. IPv4 and IPv6.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs};

use nix::errno::Errno;
use nix::poll::PollFlags;
use socket2::{Domain, Protocol, Socket, Type};
use tcplab_os::options;
use tcplab_plan::point::SocketOptions;

use super::error::Error;
use super::run::{Probe, Waited};

/// Which addresses of a name count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Family {
    /// All, in the resolver's order.
    #[default]
    Any,
    /// IPv4 only.
    V4,
    /// IPv6 only.
    V6,
}

impl Family {
    fn takes(self, address: &SocketAddr) -> bool {
        match self {
            Self::Any => true,
            Self::V4 => address.is_ipv4(),
            Self::V6 => address.is_ipv6(),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Any => "IP",
            Self::V4 => "IPv4",
            Self::V6 => "IPv6",
        }
    }
}

/// Where a server listens.
#[derive(Clone, Debug)]
pub struct Listen {
    /// An address or name of this host; none: all of them.
    pub address: Option<String>,
    /// The port.
    pub port: u16,
    /// Which addresses.
    pub family: Family,
}

/// Whom a client connects to.
#[derive(Clone, Debug)]
pub struct Target {
    /// An address or a name.
    pub host: String,
    /// The port.
    pub port: u16,
    /// Which addresses.
    pub family: Family,
}

/// What carries an application.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    Tcp,
    Udp,
    /// ICMP's echoes: a socket for ping.
    Echo,
}

impl Transport {
    fn socket(self, address: &SocketAddr) -> io::Result<Socket> {
        let (kind, protocol) = match self {
            Self::Tcp => (Type::STREAM, Protocol::TCP),
            Self::Udp => (Type::DGRAM, Protocol::UDP),
            Self::Echo if address.is_ipv6() => (Type::DGRAM, Protocol::ICMPV6),
            Self::Echo => (Type::DGRAM, Protocol::ICMPV4),
        };
        let socket = Socket::new(Domain::for_address(*address), kind, Some(protocol))?;
        // All waiting is done in poll(2), so that Ctrl-C and times are seen.
        socket.set_nonblocking(true)?;
        Ok(socket)
    }
}

fn resolve(host: &str, port: u16, family: Family) -> Result<Vec<SocketAddr>, Error> {
    // `[::1]` is how addresses with ports are written.
    let bare = host
        .strip_prefix('[')
        .and_then(|h| h.strip_suffix(']'))
        .unwrap_or(host);
    let found = (bare, port)
        .to_socket_addrs()
        .map_err(|source| Error::Resolve {
            host: host.into(),
            source,
        })?;
    let found: Vec<_> = found.filter(|a| family.takes(a)).collect();
    match found.is_empty() {
        true => Err(Error::NoAddress {
            host: host.into(),
            family: family.word(),
        }),
        false => Ok(found),
    }
}

/// The addresses of a server.
pub(super) fn addresses(target: &Target) -> Result<Vec<SocketAddr>, Error> {
    resolve(&target.host, target.port, target.family)
}

/// A socket that is bound to the server's port; a TCP socket listens.
pub(super) fn listen(
    place: &Listen,
    transport: Transport,
    wanted: &SocketOptions,
) -> Result<Socket, Error> {
    let any = |ip: IpAddr| SocketAddr::new(ip, place.port);
    let v6 = any(Ipv6Addr::UNSPECIFIED.into());
    let v4 = any(Ipv4Addr::UNSPECIFIED.into());
    let addresses = match (&place.address, place.family) {
        (Some(host), family) => resolve(host, place.port, family)?,
        (None, Family::V4) => vec![v4],
        (None, Family::V6) => vec![v6],
        // One socket for both where there is IPv6.
        (None, Family::Any) => vec![v6, v4],
    };
    let only_v6 = place.family == Family::V6;
    let mut last = None;
    for address in addresses {
        match listen_on(address, transport, only_v6, wanted) {
            Err(Error::Listen { address, source }) => {
                let no_ipv6 = matches!(
                    source.raw_os_error().map(Errno::from_raw),
                    Some(Errno::EAFNOSUPPORT | Errno::EADDRNOTAVAIL)
                );
                last = Some(Error::Listen { address, source });
                if !no_ipv6 {
                    break;
                }
            }
            other => return other,
        }
    }
    Err(last.unwrap_or(Error::NoAddress {
        host: place.address.clone().unwrap_or_default(),
        family: place.family.word(),
    }))
}

fn listen_on(
    address: SocketAddr,
    transport: Transport,
    only_v6: bool,
    wanted: &SocketOptions,
) -> Result<Socket, Error> {
    let refused = |source| Error::Listen { address, source };
    let socket = transport.socket(&address).map_err(refused)?;
    if address.is_ipv6() {
        socket.set_only_v6(only_v6).map_err(refused)?;
    }
    if transport == Transport::Tcp {
        socket.set_reuse_address(true).map_err(refused)?;
    }
    options::set(&socket, transport == Transport::Tcp, wanted)?;
    socket.bind(&address.into()).map_err(refused)?;
    if transport == Transport::Tcp {
        socket.listen(1024).map_err(refused)?;
    }
    Ok(socket)
}

/// A connected socket; `None` when the user wanted an end first.
pub(super) fn connect(
    probe: &Probe,
    target: &Target,
    transport: Transport,
    wanted: &SocketOptions,
) -> Result<Option<Socket>, Error> {
    let mut tried = Vec::new();
    for address in resolve(&target.host, target.port, target.family)? {
        match connect_to(probe, address, transport, wanted) {
            Ok(done) => return Ok(done),
            Err(Error::Os { source, .. }) => tried.push((address, source)),
            Err(e) => return Err(e),
        }
    }
    Err(Error::Connect {
        host: target.host.clone(),
        port: (transport != Transport::Echo).then_some(target.port),
        tried,
    })
}

fn connect_to(
    probe: &Probe,
    address: SocketAddr,
    transport: Transport,
    wanted: &SocketOptions,
) -> Result<Option<Socket>, Error> {
    let refused = |source| Error::Os {
        what: "connect",
        source,
    };
    let socket = transport.socket(&address).map_err(|e| match transport {
        Transport::Echo => Error::Echo(e),
        Transport::Tcp | Transport::Udp => refused(e),
    })?;
    options::set(&socket, transport == Transport::Tcp, wanted)?;
    let until = (probe.settings.idle_timeout).map(|patience| probe.now() + patience);
    match socket.connect(&address.into()) {
        Ok(()) => return Ok(Some(socket)),
        Err(e) if e.raw_os_error() == Some(Errno::EINPROGRESS as i32) => {}
        Err(e) => return Err(refused(e)),
    }
    match probe
        .wait(&socket, PollFlags::POLLOUT, until)
        .map_err(refused)?
    {
        Waited::Ready => match socket.take_error().map_err(refused)? {
            None => Ok(Some(socket)),
            Some(e) => Err(refused(e)),
        },
        Waited::Late => Err(refused(Errno::ETIMEDOUT.into())),
        Waited::Stopped => Ok(None),
    }
}
