//! A run whose ends are on two machines: [`serve`] on one, [`ask`] on the other.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use tcplab_base::Duration as Span;
use tcplab_os::Stop;
use tcplab_os::cpu;

use super::Spec;
use super::capture::Capture;
use super::measure::{Side, side};
use super::wire::{self, Fds, both};
use super::workload::{Over, Work};
use tcplab_os::{Context, OsError};

/// The longest that one end waits for the other to come.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often a wait looks whether it shall end.
const LOOK: Duration = Duration::from_millis(100);
/// What the ends of datagrams say to each other before the run.
const HELLO: &[u8] = b"tcplab bench";

/// What an end is asked to do beside its work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beside<'a> {
    /// Ends it early.
    pub(super) stop: &'a Stop,
    /// A file for a capture of the run, and the offset to add to its times.
    pub(super) capture: Option<(&'a Path, Span)>,
}

impl Beside<'_> {
    fn capture(&self, server: SocketAddr, is_client: bool) -> Result<Option<Capture>, OsError> {
        let start = |(path, shift)| Capture::start(server, is_client, shift, path);
        self.capture.map(start).transpose()
    }

    fn side(
        &self,
        spec: &Spec,
        client: Option<Option<SocketAddr>>,
        server: SocketAddr,
        fds: impl FnOnce() -> Result<Option<Fds>, OsError>,
    ) -> Result<Option<Side>, OsError> {
        let capture = self.capture(server, client.is_some())?;
        let found = match fds()? {
            Some(fds) => side(spec, client, fds, self.stop)?,
            None => None,
        };
        capture.map_or(Ok(()), Capture::stop)?;
        Ok(found)
    }
}

/// The server's end: listens at this address, tells the port, and works for the client that comes. `Ok(None)`: the user
/// wants an end.
///
/// # Errors
/// What the system refuses; a workload that needs one machine; no client within ten seconds; what `told` says.
pub(super) fn serve(
    spec: &Spec,
    address: IpAddr,
    beside: Beside<'_>,
    told: impl FnOnce(u16) -> io::Result<()>,
) -> Result<Option<Side>, OsError> {
    let spec = &here(spec);
    let here = format!("at {address}");
    match (spec.workload.over, spec.workload.work) {
        (Over::Tcp, work) => {
            let listener = wire::listener(spec, address)?;
            let place = listener.local_addr().tried(&here)?;
            beside.side(spec, None, place, || {
                told(place.port()).tried(&here)?;
                let fds = match work {
                    Work::Connect => both(listener.into()),
                    Work::Stream | Work::Request => {
                        if !comes(&listener, beside.stop).tried("no client came")? {
                            return Ok(None);
                        }
                        let accepted = listener.accept();
                        accepted.and_then(|(socket, _)| both(socket.into()))
                    }
                };
                fds.map(Some).tried(&here)
            })
        }
        (Over::Udp, _) => {
            let socket = UdpSocket::bind((address, 0)).tried(&here)?;
            let place = socket.local_addr().tried(&here)?;
            beside.side(spec, None, place, || {
                told(place.port()).tried(&here)?;
                if !comes(&socket, beside.stop).tried("no client came")? {
                    return Ok(None);
                }
                greet(&socket).tried("a client's first datagram")?;
                both(socket.into()).map(Some).tried(&here)
            })
        }
        (Over::Unix | Over::Pipe, _) => Err(needs_one_machine(spec)),
    }
}

/// The client's end: connects to the server at `to`. `Ok(None)`: the user wants an end.
///
/// # Errors
/// What the system refuses; a workload that needs one machine; a server that is not to be reached.
pub(super) fn ask(
    spec: &Spec,
    to: SocketAddr,
    beside: Beside<'_>,
) -> Result<Option<Side>, OsError> {
    let spec = &here(spec);
    let there = format!(
        "cannot reach the server at {to} (a firewall between the hosts? `ssh:A=ADDRESS,B=ADDRESS` chooses addresses)"
    );
    let connects = match (spec.workload.over, spec.workload.work) {
        (_, Work::Connect) => Some(to),
        (_, Work::Stream | Work::Request) => None,
    };
    beside.side(spec, Some(connects), to, || {
        let fds = match (spec.workload.over, spec.workload.work) {
            (Over::Tcp, Work::Connect) => {
                // The end connects by itself, and needs a descriptor that nobody uses.
                let spare = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0));
                spare.and_then(|socket| both(socket.into()))
            }
            (Over::Tcp, _) => {
                let socket = wire::tcp(spec, &to)?;
                let connected = socket.connect_timeout(&to.into(), PATIENCE);
                connected.and_then(|()| both(TcpStream::from(socket).into()))
            }
            (Over::Udp, _) => reach(to).and_then(|socket| both(socket.into())),
            (Over::Unix | Over::Pipe, _) => return Err(needs_one_machine(spec)),
        };
        fds.map(Some).tried(&there)
    })
}

/// A processor of this machine for an end that shall be pinned: the second one, as the first takes interrupts.
fn here(spec: &Spec) -> Spec {
    let allowed = cpu::allowed();
    let own = allowed.get(1).or(allowed.first()).copied();
    Spec {
        cpus: spec.cpus.map(|cpu| cpu.and(own)),
        ..spec.clone()
    }
}

fn needs_one_machine(spec: &Spec) -> OsError {
    OsError::Os {
        what: format!("{} between two hosts", spec.workload),
        source: io::Error::new(
            io::ErrorKind::Unsupported,
            "pipes and AF_UNIX sockets stay within one machine; only TCP and UDP work between two",
        ),
    }
}

/// Waits for a client. False: the user wants an end.
fn comes(socket: &impl AsFd, stop: &Stop) -> io::Result<bool> {
    let mut left = PATIENCE;
    while !left.is_zero() {
        if stop.wanted() {
            return Ok(false);
        }
        let mut wait = [PollFd::new(socket.as_fd(), PollFlags::POLLIN)];
        let timeout = PollTimeout::try_from(LOOK).map_err(io::Error::other)?;
        if poll(&mut wait, timeout)? > 0 {
            return Ok(true);
        }
        left = left.saturating_sub(LOOK);
    }
    Err(io::ErrorKind::TimedOut.into())
}

/// The first datagram says who the client is.
fn greet(socket: &UdpSocket) -> io::Result<()> {
    let mut room = [0; 64];
    let (n, client) = socket.recv_from(&mut room)?;
    if room.get(..n) != Some(HELLO) {
        return Err(io::Error::other(format!(
            "{client} is no end of a workload"
        )));
    }
    socket.connect(client)?;
    // The client waits for one of them.
    for _ in 0..3 {
        socket.send(HELLO)?;
    }
    socket.set_read_timeout(Some(wire::PATIENCE))
}

/// A socket whose datagrams the server takes.
fn reach(to: SocketAddr) -> io::Result<UdpSocket> {
    let any: IpAddr = match to {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0))?;
    socket.connect(to)?;
    let step = PATIENCE / 50;
    socket.set_read_timeout(Some(step))?;
    let mut room = [0; 64];
    for _ in 0..50 {
        // Both may be lost.
        socket.send(HELLO)?;
        match socket.recv(&mut room) {
            Ok(n) if room.get(..n) == Some(HELLO) => {
                socket.set_read_timeout(Some(wire::PATIENCE))?;
                return Ok(socket);
            }
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {}
            Err(e) => return Err(e),
        }
    }
    Err(io::ErrorKind::TimedOut.into())
}
