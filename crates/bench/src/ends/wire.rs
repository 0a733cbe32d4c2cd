//! What lies between two ends: made here, given to both as descriptors.

use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use socket2::{Domain, Protocol, SockRef, Socket, Type};

use super::Spec;
use super::workload::{Over, Work};
use tcplab_os::{Context, OsError};

/// The longest wait of a datagram's reader: so late does it see that time is over.
pub(super) const PATIENCE: Duration = Duration::from_millis(100);

/// All of this machine's addresses.
const ANY: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

/// Connections that wait for a server.
const BACKLOG: i32 = 4_096;

/// The descriptors of one end: where it reads and where it writes.
#[derive(Debug)]
pub(super) struct Fds {
    pub(super) reads: OwnedFd,
    pub(super) writes: OwnedFd,
}

/// Both ends, client first, and where the server is when clients connect themselves.
#[derive(Debug)]
pub(super) struct Wire {
    pub(super) ends: [Fds; 2],
    pub(super) server: Option<SocketAddr>,
}

/// Makes what a run needs, in the current network namespace.
pub(super) fn make(spec: &Spec) -> Result<Wire, OsError> {
    match (spec.workload.over, spec.workload.work) {
        (Over::Tcp, Work::Connect) => listening(spec),
        (Over::Tcp, _) => connected(spec),
        (Over::Udp, _) => datagrams().tried("cannot make UDP sockets on loopback"),
        (Over::Unix, _) => unix().tried("cannot make a pair of AF_UNIX sockets"),
        (Over::Pipe, _) => pipes().tried("cannot make pipes"),
    }
}

pub(super) fn both(fd: OwnedFd) -> io::Result<Fds> {
    Ok(Fds {
        writes: fd.try_clone()?,
        reads: fd,
    })
}

/// Listens at a port of this address that the kernel chooses.
pub(super) fn listener(spec: &Spec, address: IpAddr) -> Result<TcpListener, OsError> {
    let at = SocketAddr::from((address, 0));
    let socket = tcp(spec, &at)?;
    let bound = socket
        .bind(&at.into())
        .and_then(|()| socket.listen(BACKLOG));
    bound.context(|| format!("cannot listen at {address}"))?;
    Ok(socket.into())
}

/// A socket for connections with this address.
pub(super) fn tcp(spec: &Spec, to: &SocketAddr) -> Result<Socket, OsError> {
    let socket = Socket::new(Domain::for_address(*to), Type::STREAM, Some(Protocol::TCP));
    let socket = socket.tried("cannot make a TCP socket")?;
    set_congestion(&socket, spec)?;
    Ok(socket)
}

/// TCP_CONGESTION, before the handshake.
fn set_congestion(socket: &Socket, spec: &Spec) -> Result<(), OsError> {
    match &spec.congestion {
        Some(name) => SockRef::from(socket)
            .set_tcp_congestion(name.as_bytes())
            .context(|| format!("cannot use the congestion control {name}")),
        None => Ok(()),
    }
}

/// A connection that stands. Options are the kernel's defaults, as netperf leaves them.
fn connected(spec: &Spec) -> Result<Wire, OsError> {
    let listener = listener(spec, ANY)?;
    let port = listener.local_addr().tried("cannot listen on loopback")?;
    let to = SocketAddr::from((Ipv4Addr::LOCALHOST, port.port()));
    let socket = tcp(spec, &to)?;
    let up = "cannot connect over the loopback device: is it up?";
    socket.connect(&to.into()).tried(up)?;
    let client: TcpStream = socket.into();
    let (server, _) = listener.accept().tried(up)?;
    Ok(Wire {
        ends: [
            both(client.into()).tried(up)?,
            both(server.into()).tried(up)?,
        ],
        server: None,
    })
}

fn listening(spec: &Spec) -> Result<Wire, OsError> {
    let listener = listener(spec, ANY)?;
    let place = listener.local_addr().tried("cannot listen on loopback")?;
    let copy = "cannot copy a descriptor";
    // The client has no use for it: it connects by itself.
    let spare = both(listener.try_clone().tried(copy)?.into()).tried(copy)?;
    Ok(Wire {
        ends: [spare, both(listener.into()).tried(copy)?],
        server: Some(SocketAddr::from((Ipv4Addr::LOCALHOST, place.port()))),
    })
}

fn datagrams() -> io::Result<Wire> {
    let [client, server] = [
        UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?,
        UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?,
    ];
    client.connect(server.local_addr()?)?;
    server.connect(client.local_addr()?)?;
    for socket in [&client, &server] {
        socket.set_read_timeout(Some(PATIENCE))?;
    }
    Ok(Wire {
        ends: [both(client.into())?, both(server.into())?],
        server: None,
    })
}

fn unix() -> io::Result<Wire> {
    let (client, server) = UnixStream::pair()?;
    Ok(Wire {
        ends: [both(client.into())?, both(server.into())?],
        server: None,
    })
}

fn pipes() -> io::Result<Wire> {
    let (there, into) = io::pipe()?;
    let (here, back) = io::pipe()?;
    Ok(Wire {
        ends: [
            Fds {
                reads: here.into(),
                writes: into.into(),
            },
            Fds {
                reads: there.into(),
                writes: back.into(),
            },
        ],
        server: None,
    })
}
