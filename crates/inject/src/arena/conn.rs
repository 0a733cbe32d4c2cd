//! Connections to the host under test: made, looked after, asked whether they are well.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

use socket2::SockRef;
use tcplab_base::Seq;
use tcplab_os::tcp_info::{TcpInfo, tcp_info};
use tcplab_wire::Endpoint;
use tcplab_wire::malformed::{Family, question};

use super::inspect::is_of_link;
use super::sniff::endpoint;
use super::{Arena, PATIENCE, Service, inside};

/// What a check of a connection carries, bytes each way.
const LOAD: usize = 3_000;
/// Delayed ACKs have left after it (TCP_DELACK_MAX is 200 ms).
const SETTLE: Duration = Duration::from_millis(250);
/// linux/tcp_states.h.
const ESTABLISHED: i64 = 1;
const CLOSE_WAIT: i64 = 8;

/// A connection.
#[derive(Debug)]
pub(crate) struct Conn {
    peer: TcpStream,
    /// The host's end, when it is ours.
    host: Option<TcpStream>,
    /// The peer's end.
    pub(super) end: Endpoint,
    /// The host's end.
    at: Endpoint,
    /// What the host expected next when it was made.
    expects: Seq,
}

/// How a connection is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Standing {
    /// Both ends are ESTABLISHED.
    Open,
    /// The host's program has closed it in order, having read nothing.
    Closed,
    /// It is gone, or was closed after the host had taken bytes that nobody had sent.
    Gone,
}

impl Arena {
    /// A new connection from the peer.
    ///
    /// # Errors
    /// It is not made in time.
    pub(crate) fn connect(&mut self, family: Family) -> Result<Conn, String> {
        let address = self.listens(family)?;
        self.connect_to(address)
    }

    pub(super) fn connect_to(&mut self, address: SocketAddr) -> Result<Conn, String> {
        let peer = inside(&self.peer, || {
            TcpStream::connect_timeout(&address, PATIENCE)
        })?;
        let peer = peer.map_err(|e| format!("a new connection is not made: {e}"))?;
        let from = peer.local_addr().map_err(|e| e.to_string())?;
        let host = match &self.service {
            Service::Own(listeners) => Some(accept(listeners, address, from)?),
            Service::Other => None,
        };
        for socket in [Some(&peer), host.as_ref()].into_iter().flatten() {
            let set = || {
                socket.set_nodelay(true)?;
                socket.set_read_timeout(Some(PATIENCE))?;
                socket.set_write_timeout(Some(PATIENCE))
            };
            set().map_err(|e| e.to_string())?;
        }
        self.listen();
        let end = endpoint(from);
        if !self.sniffed.keep(end) {
            return Err(format!(
                "the answers of {address} do not come over {}: the route there is another",
                self.from
            ));
        }
        let flow = self.sniffed.flow(end);
        let flow = flow.ok_or("the host does not answer on a new connection")?;
        Ok(Conn {
            peer,
            host,
            end,
            at: flow.dst,
            expects: flow.seq,
        })
    }

    /// Whether a connection works, and how long it took to find out: data goes both ways; when the host's program is not ours,
    /// its TCP answers to a byte that it has had.
    ///
    /// # Errors
    /// It does not.
    pub(crate) fn carry(&mut self, conn: &Conn) -> Result<Duration, String> {
        let begin = Instant::now();
        let Some(host) = &conn.host else {
            self.ask(conn)?;
            return Ok(begin.elapsed());
        };
        let mut back = vec![0; LOAD];
        for (from, to) in [(&conn.peer, host), (host, &conn.peer)] {
            let (mut from, mut to) = (from, to);
            let sent = vec![0x42; LOAD];
            from.write_all(&sent)
                .map_err(|e| format!("a write fails: {e}"))?;
            to.read_exact(&mut back)
                .map_err(|e| format!("data does not arrive: {e}"))?;
            if back != sent {
                return Err("the received data differs from the data sent".into());
            }
        }
        let took = begin.elapsed();
        thread::sleep(SETTLE);
        self.listen();
        Ok(took)
    }

    /// RFC 9293 3.10.7.4: old data is answered with an ACK, which says what the host expects; nothing else has changed.
    fn ask(&mut self, conn: &Conn) -> Result<(), String> {
        let flow = self
            .flow(conn)
            .ok_or("the host does not answer on the connection")?;
        let before = self.sniffed.heard(conn.end);
        self.send(&question(&flow))?;
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            self.listen();
            if self.sniffed.heard(conn.end) == before {
                thread::sleep(Duration::from_micros(100));
                continue;
            }
            return match self.sniffed.flow(conn.end) {
                Some(now) if now.seq == conn.expects => Ok(()),
                Some(now) => Err(format!(
                    "the host expects {}, not {}: it has taken bytes that nobody sent",
                    now.seq.0, conn.expects.0
                )),
                None => Err("the host does not answer on the connection".into()),
            };
        }
        Err("the host does not answer".into())
    }

    /// What the kernel shows of the host's end of a connection.
    ///
    /// # Errors
    /// It shows none.
    pub(crate) fn state(&self, conn: &Conn) -> io::Result<TcpInfo> {
        match (&conn.host, &self.diag) {
            (Some(host), _) => tcp_info(host.as_fd()),
            (None, Some(diag)) => {
                let index = match is_of_link(&conn.at.ip) {
                    true => self.index,
                    false => 0,
                };
                diag.find(conn.at, conn.end, index)
            }
            (None, None) => Err(io::Error::other("sock_diag(7) is not there")),
        }
    }

    /// How a connection is.
    pub(crate) fn standing(&mut self, conn: &Conn) -> Standing {
        let state = |socket: &TcpStream| tcp_info(socket.as_fd()).ok()?.get("tcpi_state");
        let ends = [Some(&conn.peer), conn.host.as_ref()];
        let states: Vec<_> = ends.into_iter().flatten().map(state).collect();
        if states.iter().all(|state| *state == Some(ESTABLISHED)) {
            return Standing::Open;
        }
        let expects = self.flow(conn).map(|flow| flow.seq);
        let is_in_order = conn.host.is_none() && states == [Some(CLOSE_WAIT)];
        match is_in_order && expects == Some(conn.expects) {
            true => Standing::Closed,
            false => Standing::Gone,
        }
    }

    /// Forgets a connection that may be hurt: both ends reset it, so ports are free at once.
    pub(crate) fn abort(&mut self, conn: Conn) {
        for socket in [Some(&conn.peer), conn.host.as_ref()].into_iter().flatten() {
            let _ = SockRef::from(socket).set_linger(Some(Duration::ZERO));
        }
        self.sniffed.forget(conn.end);
    }

    /// Closes a connection that is well; a program of somebody else sees its end in order.
    pub(crate) fn close(&mut self, conn: Conn) {
        match conn.host {
            Some(_) => self.abort(conn),
            None => self.sniffed.forget(conn.end),
        }
    }
}

/// The host's end of the connection from there; what frames have opened before it is closed.
fn accept(
    listeners: &[TcpListener],
    address: SocketAddr,
    from: SocketAddr,
) -> Result<TcpStream, String> {
    let fits = |of: &&TcpListener| of.local_addr().is_ok_and(|is| is.ip() == address.ip());
    let listener = listeners.iter().find(fits);
    let listener = listener.ok_or("nobody listens there")?;
    let set = listener.set_nonblocking(true);
    set.map_err(|e| e.to_string())?;
    let end = Instant::now() + PATIENCE;
    while Instant::now() < end {
        match listener.accept() {
            Ok((socket, at)) if at.port() == from.port() => {
                let set = socket.set_nonblocking(false);
                return set.map(|()| socket).map_err(|e| e.to_string());
            }
            // Reset, or its port would stay taken for a minute.
            Ok((socket, _)) => {
                let _ = SockRef::from(&socket).set_linger(Some(Duration::ZERO));
            }
            Err(_) => thread::sleep(Duration::from_millis(1)),
        }
    }
    Err("a new connection is not accepted".into())
}
