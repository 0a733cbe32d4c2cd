//! The life of a run's applications, the same for every stack: they connect, are accepted, step, sleep, give up and
//! close. Also decides when samples are taken and when the run ends.
//!
//! [`Drive`] is passive: the owner of the [`Host`] reports ready sockets and expired timers to it.

mod end;
mod host;
mod open;
mod outcome;
mod step;
mod transfer;
mod wait;

use std::collections::BTreeMap;
use std::sync::Arc;

use tcplab_base::{Duration, Instant};
use tcplab_plan::Point;
use tcplab_plan::outcome::TCP_INFO_SERIES;
use tcplab_plan::point::{QuickAck, SocketOptions};

use self::end::{Call, UNKNOWN};
pub use self::end::{End, Ended};
pub use self::host::{AckState, CHUNK, Host, Interest, Read, Replayed, Timer};
use crate::doing::Doing;
use crate::program::Program;
use crate::program::Result as Went;

/// Clients that connect to servers here from elsewhere, with ports that nobody here knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Foreign {
    /// No clients from elsewhere.
    #[default]
    None,
    /// Each connection is a client of its own; those beyond the application's are refused. The run waits for them.
    Each,
    /// A client may come again: it gets a flow that is over when no other is left. The run waits for the clients here.
    Again,
}

/// What all connections of one application share.
#[derive(Debug)]
struct Application {
    /// How the client's and the server's ends set TCP_QUICKACK.
    quickack: [QuickAck; 2],
    /// The first one of its ends.
    first: u32,
    has_timeout: bool,
    is_replay: bool,
    /// The client's end of each client port.
    ports: BTreeMap<u16, u32>,
    /// Flows that clients from elsewhere took.
    adopted: u32,
    /// Its server accepts nothing before this time.
    accepts_at: Instant,
}

/// The applications of a run.
#[derive(Debug)]
pub struct Drive {
    point: Arc<Point>,
    ends: Vec<End>,
    apps: Vec<Application>,
    /// The client's port of each flow; 0 before it has one.
    ports: Vec<u16>,
    /// Ends that the run waits for.
    pending: usize,
    foreign: Foreign,
    logs: bool,
    /// Lines of logs and samples of tcp_info that it holds.
    noted: u64,
    refused: u64,
    is_ending: bool,
    is_stopped: bool,
    is_cut_short: bool,
}

impl Drive {
    /// The applications of a point, none of which has begun.
    pub fn new(point: &Arc<Point>, foreign: Foreign) -> Self {
        let flows = point.apps.iter().map(|app| app.connections as usize).sum();
        let mut drive = Self {
            point: Arc::clone(point),
            ends: Vec::with_capacity(2 * flows),
            apps: Vec::new(),
            ports: Vec::with_capacity(flows),
            pending: flows,
            foreign,
            logs: point.log,
            noted: 0,
            refused: 0,
            is_ending: false,
            is_stopped: false,
            is_cut_short: false,
        };
        for (index, app) in point.apps.iter().enumerate() {
            let quickack =
                |own: &SocketOptions, host: usize| own.or(&point.hosts[host].socket).quickack;
            drive.apps.push(Application {
                quickack: [
                    quickack(&app.client_socket, app.client),
                    quickack(&app.server_socket, app.server),
                ],
                first: drive.ends.len() as u32,
                has_timeout: app.has_timeout(),
                is_replay: app.does.is_replay(),
                ports: BTreeMap::new(),
                adopted: 0,
                accepts_at: UNKNOWN,
            });
            let (index, udp) = (index as u32, app.does.is_udp());
            let client = Program::client(&app.does, &app.reading);
            let server = Program::server(&app.does, &app.reading);
            for number in 0..app.connections {
                let mut server = server.clone();
                server.seed(point.seed, number);
                let ends = [(true, client.clone()), (false, server)];
                (drive.ends).extend(ends.map(|(is, of)| End::new(index, is, of, udp)));
                drive.ports.push(0);
            }
        }
        drive
    }

    /// Servers listen.
    pub fn listen<H: Host>(&mut self, host: &mut H) {
        for (index, app) in self.point.apps.iter().enumerate() {
            let server = self.apps[index].first as usize + 1;
            let is_needed = app.connections > 0 && app.listening.listens && !app.does.is_replay();
            if !is_needed || app.is_simultaneous() || !host.has(app.server) {
                continue;
            }
            host.listen(index, server);
            self.ends[server].has_socket = app.does.is_udp() && !app.does.is_icmp();
        }
    }

    /// The run starts: first timers.
    pub fn begin<H: Host>(&mut self, host: &mut H) {
        for index in 0..self.ends.len() {
            if self.foreign == Foreign::Again && !host.has(self.host_of(index)) {
                self.end_program(index);
            } else if self.ends[index].has_socket {
                // A server of datagrams needs no client to begin.
                self.ends[index].doing = Doing::Next(Went::Done);
                self.step(host, index, false);
            }
        }
        let point = Arc::clone(&self.point);
        for (index, app) in point.apps.iter().enumerate() {
            if app.connections > 0 && host.has(app.client) {
                let first = Timer::Connect(self.apps[index].first);
                host.set(Instant::from_nanos(app.start_ns), first);
            }
            if let Some(at) = app.server_connects_ns.filter(|_| host.has(app.server)) {
                let server = self.apps[index].first + 1;
                // The run waits for this connect, even if the client fails.
                self.ends[server as usize].doing = Doing::Sleeping;
                self.changed(server as usize);
                host.set(Instant::from_nanos(at), Timer::Connect(server));
            }
        }
        if let Some(every) = self.point.tcp_info_every_ns {
            host.set(Instant::from_nanos(every), Timer::Sample);
        }
        if let Some(every) = self.point.link_every_ns {
            host.set(Instant::from_nanos(every), Timer::SampleLinks);
        }
        host.set(Instant::from_nanos(self.point.max_ns), Timer::Stop);
    }

    /// A timer has come.
    #[inline]
    pub fn fire<H: Host>(&mut self, host: &mut H, timer: Timer) {
        match timer {
            Timer::Wake(end) => self.wakes(host, end as usize),
            Timer::Idle(end) => self.may_give_up(host, end as usize),
            Timer::Connect(end) => self.start(host, end as usize),
            Timer::Accept(app) => {
                host.watch_listener(app as usize, true);
                self.accept(host, app as usize);
            }
            Timer::Sample => self.sample(host),
            Timer::SampleLinks => {
                host.sample_links();
                let every = self.point.link_every_ns;
                self.set_again(host, every, timer);
            }
            Timer::Stop => self.stop(),
        }
    }

    fn set_again<H: Host>(&self, host: &mut H, every_ns: Option<i64>, timer: Timer) {
        if let Some(every) = every_ns {
            host.set(host.now() + Duration::from_nanos(every), timer);
        }
    }

    /// Ends the run, even if applications are active.
    pub fn stop(&mut self) {
        self.is_stopped = true;
        self.is_cut_short = !self.is_ending;
    }

    /// Nothing more is due: the run begins to end when all is over.
    #[inline]
    pub fn rest<H: Host>(&mut self, host: &mut H) {
        if self.pending == 0 && !self.is_ending {
            self.end(host);
        }
    }

    #[cold]
    #[inline(never)]
    fn end<H: Host>(&mut self, host: &mut H) {
        self.is_ending = true;
        if host.programs_ended() {
            let linger = Duration::from_nanos(self.point.linger_ns);
            host.set(host.now() + linger, Timer::Stop);
        }
    }

    #[inline(never)]
    fn sample<H: Host>(&mut self, host: &mut H) {
        let now = host.now().as_nanos();
        for (index, end) in self.ends.iter_mut().enumerate() {
            if !end.has_socket {
                continue;
            }
            let Some(info) = host.tcp_info(index) else {
                continue;
            };
            let get = |name: &&str| info.iter().find(|(n, _)| n == name).map_or(-1, |(_, v)| *v);
            let values = TCP_INFO_SERIES.iter().map(get).collect();
            let series = &mut end.extra.get_or_insert_default().tcp_info_series;
            series.push((now, values));
            self.noted += 1;
        }
        let every = self.point.tcp_info_every_ns;
        self.set_again(host, every, Timer::Sample);
    }

    /// What a step of an end uses, and the end.
    #[inline]
    fn call<'a, H: Host>(
        &'a mut self,
        host: &'a mut H,
        index: usize,
    ) -> (&'a mut End, Call<'a, H>) {
        let end = &mut self.ends[index];
        let quickack = self.apps[end.app as usize].quickack[usize::from(!end.is_client)];
        let call = Call {
            host,
            index,
            quickack,
            logs: self.logs,
            noted: &mut self.noted,
            has_drained: false,
        };
        (end, call)
    }

    fn host_of(&self, index: usize) -> usize {
        let end = &self.ends[index];
        let app = &self.point.apps[end.app as usize];
        match end.is_client {
            true => app.client,
            false => app.server,
        }
    }

    /// The program of an end has ended.
    fn end_program(&mut self, index: usize) {
        self.ends[index].doing = Doing::Over;
        self.changed(index);
    }

    /// Whether the run goes on for the sake of this end: clients until they are over, servers once
    /// they were reached.
    #[inline]
    fn waits(&self, index: usize) -> bool {
        let end = &self.ends[index];
        match end.is_client {
            true => end.doing != Doing::Over,
            false => !end.is_udp && !matches!(end.doing, Doing::Over | Doing::Nothing),
        }
    }

    /// An end did something: the run may wait for it from now on, or not any more.
    #[inline]
    fn changed(&mut self, index: usize) {
        let waits = self.waits(index);
        if waits != self.ends[index].is_awaited {
            self.awaits(index, waits);
        }
    }

    #[cold]
    #[inline(never)]
    fn awaits(&mut self, index: usize, waits: bool) {
        self.ends[index].is_awaited = waits;
        match waits {
            true => self.pending += 1,
            false => self.pending -= 1,
        }
    }

    /// The ends: 2n and 2n + 1 are the client and the server of flow n.
    pub fn ends(&self) -> &[End] {
        &self.ends
    }

    /// The first end of an application, a client's.
    pub fn first(&self, app: usize) -> usize {
        self.apps[app].first as usize
    }

    /// Clients from elsewhere that were refused because the point has no connection for them.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Lines of logs and samples of tcp_info that it holds.
    pub fn noted(&self) -> u64 {
        self.noted
    }

    /// Logs no further steps.
    pub fn stop_log(&mut self) {
        self.logs = false;
    }

    /// Its applications are over.
    pub fn is_ending(&self) -> bool {
        self.is_ending
    }

    /// The run is over.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.is_stopped
    }

    /// The run came to its `max` before its applications ended.
    pub fn is_cut_short(&self) -> bool {
        self.is_cut_short
    }
}
