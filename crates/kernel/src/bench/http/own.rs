//! Our own server, where nginx is not installed: one thread, one epoll(7), the same answer to every GET.

use std::io::{self, Read};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use rustls::ServerConfig;

use super::channel::{Channel, Flow, Rooms};
use super::request::{Came, Requests};
use super::tls::{self, Identity};
use super::{Ready, phase};
use crate::bench::end::{Tally, Task};
use crate::bench::measure::EndReport;
use crate::bench::workload::Over;
use crate::tcp_info::tcp_info;

/// Marks of events that are no connection's.
const LISTENER: u64 = u64::MAX;
const CONTROL: u64 = u64::MAX - 1;
/// Events of a wait.
const EVENTS: usize = 256;
/// The longest wait, milliseconds.
const WAIT: u16 = 20;

/// Serves until standard input ends.
pub(super) fn serve(task: &Task, listener: TcpListener) -> io::Result<EndReport> {
    let address = listener.local_addr()?;
    let mut server = Server::new(task, listener)?;
    Ready::say(address)?;
    let phase = phase(&task.spec)?;
    let mut tally = None;
    let mut report = None;
    while !server.is_over {
        server.turn()?;
        if phase.counts() && tally.is_none() {
            server.count = Count::default();
            tally = Some(Tally::begin());
        }
        if let (true, Some(tally), None) = (phase.is_over(), &tally, &report) {
            let count = server.count;
            let mut found = tally.end(count.bytes, count.calls, count.transactions);
            found.connections = count.connections;
            found.handshakes = count.handshakes;
            found.tcp_info = server.info();
            report = Some(found);
        }
    }
    Ok(report.unwrap_or_default())
}

/// What is counted.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    transactions: u64,
    bytes: u64,
    calls: u64,
    connections: u64,
    handshakes: u64,
}

/// A client's connection.
struct Peer {
    channel: Channel,
    requests: Requests,
    /// What it is being told: which answer, and how much of it is written.
    telling: Option<(bool, usize)>,
    is_up: bool,
}

struct Server {
    epoll: Epoll,
    listener: TcpListener,
    tls: Option<Arc<ServerConfig>>,
    rooms: Rooms,
    peers: Vec<Option<Peer>>,
    free: Vec<usize>,
    /// The answer on a connection that stays, and the one behind which it ends.
    answers: [Vec<u8>; 2],
    count: Count,
    is_over: bool,
}

impl Server {
    fn new(task: &Task, listener: TcpListener) -> io::Result<Self> {
        let tls = match task.spec.workload.over {
            Over::Https => Some(Identity::make()?.server(task.spec.http.resume)?),
            _ => None,
        };
        listener.set_nonblocking(true)?;
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        epoll.add(&listener, EpollEvent::new(EpollFlags::EPOLLIN, LISTENER))?;
        epoll.add(io::stdin(), EpollEvent::new(EpollFlags::EPOLLIN, CONTROL))?;
        let size = task.spec.workload.size;
        Ok(Self {
            epoll,
            listener,
            tls,
            rooms: Rooms::new(),
            peers: Vec::new(),
            free: Vec::new(),
            answers: [answer(size, "keep-alive"), answer(size, "close")],
            count: Count::default(),
            is_over: false,
        })
    }

    fn turn(&mut self) -> io::Result<()> {
        let mut events = [EpollEvent::empty(); EVENTS];
        let n = match self.epoll.wait(&mut events, EpollTimeout::from(WAIT)) {
            Ok(n) => n,
            Err(Errno::EINTR) => 0,
            Err(e) => return Err(e.into()),
        };
        for event in &events[..n] {
            match event.data() {
                LISTENER => self.accept()?,
                CONTROL => self.is_over |= io::stdin().read(&mut [0; 64])? == 0,
                at => {
                    let ends = EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLHUP | EpollFlags::EPOLLERR;
                    self.on(at as usize, event.events().intersects(ends));
                }
            }
        }
        Ok(())
    }

    fn accept(&mut self) -> io::Result<()> {
        loop {
            match self.listener.accept() {
                Ok((socket, _)) => self.welcome(socket)?,
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                // The client is gone again.
                Err(e) if e.kind() == io::ErrorKind::ConnectionAborted => {}
                Err(e) => return Err(e),
            }
        }
    }

    fn welcome(&mut self, socket: TcpStream) -> io::Result<()> {
        socket.set_nonblocking(true)?;
        // As nginx.
        socket.set_nodelay(true)?;
        let tls = self.tls.as_ref().map(tls::accepted).transpose()?;
        let at = self.free.pop().unwrap_or(self.peers.len());
        if at == self.peers.len() {
            self.peers.push(None);
        }
        let flags = EpollFlags::EPOLLIN
            | EpollFlags::EPOLLOUT
            | EpollFlags::EPOLLRDHUP
            | EpollFlags::EPOLLET;
        self.epoll.add(&socket, EpollEvent::new(flags, at as u64))?;
        self.peers[at] = Some(Peer {
            channel: Channel::new(socket, tls),
            requests: Requests::default(),
            telling: None,
            is_up: false,
        });
        self.count.connections += 1;
        // Its request is there, mostly.
        self.on(at, false);
        Ok(())
    }

    /// Something happened at a connection. One that does what it must not is closed: the client counts that.
    fn on(&mut self, at: usize, to_end: bool) {
        let Some(peer) = self.peers.get_mut(at).and_then(Option::as_mut) else {
            return;
        };
        let goes_on = peer.go_on(&mut self.rooms, to_end, &self.answers, &mut self.count);
        if !goes_on.unwrap_or(false) {
            self.peers[at] = None;
            self.free.push(at);
        }
    }

    /// tcp_info of a connection that stands.
    fn info(&self) -> std::collections::BTreeMap<String, i64> {
        let peer = self.peers.iter().flatten().next();
        let info = peer.and_then(|peer| tcp_info(&peer.channel.socket).ok());
        let fields = info.iter().flat_map(|info| info.fields());
        fields
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }
}

impl Peer {
    /// Reads and answers; false: the connection has ended.
    fn go_on(
        &mut self,
        rooms: &mut Rooms,
        to_end: bool,
        answers: &[Vec<u8>; 2],
        count: &mut Count,
    ) -> io::Result<bool> {
        let (requests, telling) = (&mut self.requests, &mut self.telling);
        let flow = self.channel.pull(rooms, to_end, |came| {
            count.bytes += came.len() as u64;
            match requests.take(came)? {
                Came::Nothing => {}
                Came::One { .. } if telling.is_some() => return Err("asked too early".into()),
                Came::One { is_last } => *telling = Some((is_last, 0)),
            }
            Ok(())
        })?;
        if !self.is_up && self.channel.is_up() {
            self.is_up = true;
            count.handshakes += u64::from(self.channel.has_tls());
        }
        match &mut self.telling {
            // What TLS has to say.
            None => {
                self.channel.push(&[], &mut 0)?;
            }
            Some((is_last, written)) => {
                let answer = &answers[usize::from(*is_last)];
                if self.channel.push(answer, written)? {
                    count.bytes += answer.len() as u64;
                    count.calls += 2;
                    count.transactions += 1;
                    if *is_last {
                        self.channel.finish();
                        return Ok(false);
                    }
                    self.telling = None;
                }
            }
        }
        Ok(flow == Flow::Open)
    }
}

fn answer(size: u32, connection: &str) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nServer: tcplab\r\nContent-Type: application/octet-stream\r\nContent-Length: {size}\r\n\
         Connection: {connection}\r\n\r\n"
    );
    let mut bytes = head.into_bytes();
    bytes.resize(bytes.len() + size as usize, b'x');
    bytes
}
