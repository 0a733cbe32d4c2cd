//! The client: many connections at once, one thread, one epoll(7). As soon as an answer is whole the next request goes out.

use std::io;
use std::net::{SocketAddr, TcpStream};

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use socket2::{Domain, Protocol, Socket, Type};
use tcplab_base::{Duration, Instant};

use super::answer::Answer;
use super::channel::{Channel, Flow, Rooms};
use super::request;
use super::tls::Asker;
use crate::bench::Spec;
use crate::bench::clock::now;
use crate::bench::end::{Tally, Task};
use crate::bench::measure::EndReport;
use crate::bench::phase::Phase;
use crate::bench::request::Latencies;
use crate::bench::workload::{Over, Work};
use crate::tcp_info::tcp_info;

/// The longest wait for something to come, milliseconds: so late the end of the time is seen when nothing comes.
const WAIT: u16 = 20;
/// How long answers are waited for that are on their way when time is over.
const LAST: Duration = Duration::from_secs(2);
/// More errors than this end a run: nothing good comes any more.
const TOO_MANY: u64 = 1_000;
/// Events of a wait.
const EVENTS: usize = 256;

/// Asks for the time of a run.
pub(super) fn client(task: &Task, phase: &Phase) -> io::Result<EndReport> {
    let server = task
        .server
        .ok_or_else(|| io::Error::other("no server to ask"))?;
    let mut client = Client::new(&task.spec, server, task.spec.http.connections)?;
    while phase.is_warming() && client.turn()? {}
    client.begin();
    let tally = Tally::begin();
    while phase.counts() && client.turn()? {}
    let found = std::mem::take(&mut client.found);
    let mut report = tally.end(found.bytes, found.calls, found.transactions);
    found.latencies.tell(&mut report);
    report.errors = found.errors;
    report.error = found.error;
    report.connections = found.connections;
    report.handshakes = found.handshakes;
    report.resumed = found.resumed;
    report.tcp_info = client.info();
    client.drain()?;
    Ok(report)
}

/// What is counted.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) transactions: u64,
    /// Bytes of requests and answers, without TLS.
    bytes: u64,
    calls: u64,
    pub(super) errors: u64,
    /// The first error.
    pub(super) error: Option<String>,
    connections: u64,
    handshakes: u64,
    resumed: u64,
    latencies: Latencies,
}

/// A place for a connection; when it ends another one takes it.
#[derive(Debug)]
struct Slot {
    /// None: it was not made again, for time is over.
    channel: Option<Channel>,
    /// How much of the request is written.
    asked: usize,
    answer: Answer,
    /// When the request, or the connection, began.
    begun: Instant,
    /// Whether epoll(7) tells when it can be written.
    tells_room: bool,
    /// Whether its handshake is counted.
    is_up: bool,
}

/// All connections of a client.
pub(super) struct Client {
    epoll: Epoll,
    events: Vec<EpollEvent>,
    rooms: Rooms,
    slots: Vec<Slot>,
    server: SocketAddr,
    congestion: Option<String>,
    tls: Option<Asker>,
    request: Vec<u8>,
    size: u64,
    /// Whether each connection carries one request.
    is_short: bool,
    /// No new request.
    is_over: bool,
    pub(super) found: Found,
}

impl Client {
    /// Connects as often as is said.
    pub(super) fn new(spec: &Spec, server: SocketAddr, connections: u32) -> io::Result<Self> {
        let is_short = spec.workload.work == Work::Connect;
        let tls = match spec.workload.over {
            Over::Https => Some(Asker::new(spec.http.resume)?),
            _ => None,
        };
        let mut client = Self {
            epoll: Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?,
            events: vec![EpollEvent::empty(); EVENTS],
            rooms: Rooms::new(),
            slots: Vec::new(),
            server,
            congestion: spec.congestion.clone(),
            tls,
            request: request::text(&server.to_string(), spec.workload.size, is_short),
            size: spec.workload.size.into(),
            is_short,
            is_over: false,
            found: Found::default(),
        };
        for at in 0..connections as usize {
            client.slots.push(Slot {
                channel: None,
                asked: 0,
                answer: Answer::default(),
                begun: Instant::default(),
                tells_room: false,
                is_up: false,
            });
            client.open(at, now());
        }
        Ok(client)
    }

    /// From here on it counts; errors before count, too.
    fn begin(&mut self) {
        self.found = Found {
            errors: self.found.errors,
            error: self.found.error.take(),
            ..Found::default()
        };
    }

    /// Waits once and does what there is to do; false: nothing good comes any more.
    pub(super) fn turn(&mut self) -> io::Result<bool> {
        let mut events = std::mem::take(&mut self.events);
        let n = match self.epoll.wait(&mut events, EpollTimeout::from(WAIT)) {
            Ok(n) => n,
            Err(Errno::EINTR) => 0,
            Err(e) => return Err(e.into()),
        };
        for event in &events[..n] {
            let to_end = event
                .events()
                .intersects(EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLHUP | EpollFlags::EPOLLERR);
            self.on(event.data() as usize, to_end);
        }
        self.events = events;
        Ok(self.found.errors < TOO_MANY)
    }

    /// Something happened at a connection.
    fn on(&mut self, at: usize, to_end: bool) {
        let flow = match self.slots[at].channel {
            Some(_) => self.pull(at, to_end),
            None => return,
        };
        let flow = flow.and_then(|flow| self.push(at).map(|()| flow));
        let end = match (flow, self.slots[at].answer.is_whole()) {
            (Err(e), _) => Err(e.to_string()),
            (Ok(Flow::Ended), true) if self.is_short => Ok(true),
            (Ok(Flow::Ended), true) => {
                Err("the server closed a connection that it was to keep".into())
            }
            (Ok(Flow::Ended), false) => Err("the server closed before its answer was whole".into()),
            // The server closes first: waiting out the connection's end (TIME-WAIT) is its part, as with ab(1).
            (Ok(Flow::Open), whole) => Ok(whole && !self.is_short),
        };
        match end {
            Ok(true) => self.answered(at),
            Ok(false) => {}
            Err(e) => self.failed(at, e),
        }
    }

    fn pull(&mut self, at: usize, to_end: bool) -> io::Result<Flow> {
        let slot = &mut self.slots[at];
        let Some(channel) = &mut slot.channel else {
            return Ok(Flow::Open);
        };
        let (answer, size) = (&mut slot.answer, self.size);
        let flow = channel.pull(&mut self.rooms, to_end, |came| answer.take(came, size))?;
        if !slot.is_up && channel.is_up() {
            slot.is_up = true;
            self.found.handshakes += u64::from(self.tls.is_some());
            self.found.resumed += u64::from(channel.is_resumed());
        }
        Ok(flow)
    }

    /// Writes what it can of the request.
    fn push(&mut self, at: usize) -> io::Result<()> {
        let slot = &mut self.slots[at];
        let Some(channel) = &mut slot.channel else {
            return Ok(());
        };
        let done = channel.push(&self.request, &mut slot.asked)?;
        // Behind a handshake of TLS something comes first.
        if !done && !slot.tells_room {
            slot.tells_room = true;
            let mut event = EpollEvent::new(interest(true), at as u64);
            self.epoll.modify(&channel.socket, &mut event)?;
        }
        Ok(())
    }

    /// An answer is whole, and the connection has ended when it is a short one.
    fn answered(&mut self, at: usize) {
        let time = now();
        let slot = &mut self.slots[at];
        self.found.transactions += 1;
        self.found.bytes += slot.answer.finish() + self.request.len() as u64;
        self.found.calls += 2;
        self.found.latencies.add(time.since(slot.begun));
        if self.is_short {
            self.open(at, time);
            return;
        }
        if self.is_over {
            slot.channel = None;
            return;
        }
        slot.begun = time;
        slot.asked = 0;
        if let Err(e) = self.push(at) {
            self.failed(at, e.to_string());
        }
    }

    fn failed(&mut self, at: usize, error: String) {
        self.found.errors += 1;
        self.found.error.get_or_insert(error);
        // After many a new connection fails at once, and so on: the turn ends the run.
        match self.found.errors < TOO_MANY {
            true => self.open(at, now()),
            false => self.slots[at].channel = None,
        }
    }

    /// A new connection at this place, unless time is over.
    fn open(&mut self, at: usize, time: Instant) {
        let slot = &mut self.slots[at];
        slot.channel = None;
        slot.asked = 0;
        slot.answer.finish();
        slot.begun = time;
        slot.tells_room = false;
        slot.is_up = false;
        if self.is_over {
            return;
        }
        self.found.connections += 1;
        if let Err(e) = self.connect(at) {
            self.failed(at, e.to_string());
        }
    }

    fn connect(&mut self, at: usize) -> io::Result<()> {
        let socket = connect(self.server, self.congestion.as_deref())?;
        let tls = self.tls.as_ref().map(Asker::begin).transpose()?;
        let mut channel = Channel::new(socket, tls);
        let slot = &mut self.slots[at];
        // Over loopback the connection stands already: no wait is needed before the first byte.
        channel.push(&self.request, &mut slot.asked)?;
        slot.tells_room = slot.asked < self.request.len();
        let event = EpollEvent::new(interest(slot.tells_room), at as u64);
        self.epoll.add(&channel.socket, event)?;
        slot.channel = Some(channel);
        Ok(())
    }

    /// tcp_info of a connection that stands.
    fn info(&self) -> std::collections::BTreeMap<String, i64> {
        let channel = match self.is_short {
            true => None,
            false => self.slots.iter().find_map(|slot| slot.channel.as_ref()),
        };
        let info = channel.and_then(|channel| tcp_info(&channel.socket).ok());
        let fields = info.iter().flat_map(|info| info.fields());
        fields
            .map(|(name, value)| (name.to_owned(), value))
            .collect()
    }

    /// Waits for answers that are on their way: a reset would be counted by the kernel.
    pub(super) fn drain(&mut self) -> io::Result<()> {
        self.is_over = true;
        let end = now() + LAST;
        while self.slots.iter().any(|slot| slot.channel.is_some()) && now() < end {
            if !self.turn()? {
                break;
            }
        }
        Ok(())
    }
}

fn interest(tells_room: bool) -> EpollFlags {
    let reads = EpollFlags::EPOLLIN | EpollFlags::EPOLLRDHUP | EpollFlags::EPOLLET;
    match tells_room {
        true => reads | EpollFlags::EPOLLOUT,
        false => reads,
    }
}

/// Begins a connection.
fn connect(server: SocketAddr, congestion: Option<&str>) -> io::Result<TcpStream> {
    let socket = Socket::new(
        Domain::for_address(server),
        Type::STREAM.nonblocking(),
        Some(Protocol::TCP),
    )?;
    // As wrk(1) and nginx: a request must not wait for the ACK of what TLS said before.
    socket.set_tcp_nodelay(true)?;
    if let Some(name) = congestion {
        socket.set_tcp_congestion(name.as_bytes())?;
    }
    match socket.connect(&server.into()) {
        Ok(()) => {}
        Err(e) if e.raw_os_error() == Some(Errno::EINPROGRESS as i32) => {}
        Err(e) => return Err(e),
    }
    Ok(socket.into())
}
