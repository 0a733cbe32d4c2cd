//! A run: the event loop over hosts, links and applications.
//!
//! Order at one instant, as in a kernel run: first what the queue of events has (frames due on
//! links, timers, applications that wake up), by order of setting; then, in batches, what became
//! ready by it: hosts that have packets to send, sockets that their applications wait for.

mod apps;
mod budget;
mod frames;
mod live;
mod memory;
mod refuse;
mod replay;

use tcplab_apps::start_phase;
use tcplab_base::{Duration, Instant};
use tcplab_plan::profile::Profile;
use tcplab_plan::{Outcome, Point};
use tcplab_tcp::{Counter, Segment};

use self::budget::Budget;
use crate::applications::Applications;
use crate::capture::Captures;
use crate::card::Polled;
use crate::end::Ended;
use crate::events::{Events, Wake};
use crate::host::Host;
use crate::network::Network;
use crate::ready::{Ready, Source};
use crate::responses::{Response, Responses};

pub use live::{Live, LiveFlow};
pub use refuse::refusals;
pub(crate) use refuse::refused_sysctl;

/// Time from a host's boot to the earliest start of a run.
const BOOT_NS: i64 = 4_000_000_000;

/// The date of a host's boot, the same as that of guests in virtual time.
const BOOT_DATE_NS: i64 = 1_790_000_000_000_000_000;

/// Why a point cannot be simulated.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SimError {
    /// The point asks for what the model has not.
    #[error("{0}")]
    Cannot(String),
}

/// What a run did, for its cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// TCP packets that endpoints handed to links, each wire packet of a super-segment for itself.
    pub tcp_packets: u64,
    /// Of these with payload.
    pub data_segments: u64,
    /// Connections that clients opened.
    pub connections: u64,
    /// Events of the queue.
    pub events: u64,
}

/// Later than anything that happens.
const FOREVER: Instant = Instant::from_nanos(i64::MAX);

/// How [`World::steps`] ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Went {
    /// The run is over.
    Over,
    /// Nothing is due.
    Idle,
    /// After so many steps.
    On,
}

/// A simulated experiment. Make one with [`World::new`], or use one again with [`World::reset`].
#[derive(Debug)]
pub struct World {
    point: Point,
    now: Instant,
    boot_ns: i64,
    events: Events,
    ready: Ready,
    hosts: Vec<Host>,
    network: Network,
    apps: Applications,
    captures: Option<Captures>,
    replays: Vec<replay::Replay>,
    /// Some: responses of servers are timed.
    responses: Option<Responses>,
    /// Some: only one host is simulated.
    outside: Option<Box<live::Outside>>,
    warnings: Vec<String>,
    work: Work,
    /// What the last turn reported, in its order.
    batch: Vec<Source>,
    spare_batch: Vec<Source>,
    /// Entries of the list that the last turn had no room for.
    left: usize,
    /// Memory of segments on their way from a host to its links.
    segments: Vec<Segment>,
    /// Memory of what a card hands up.
    polled: Polled,
    budget: Budget,
    ending: bool,
    stopped: bool,
    cut_short: bool,
}

impl World {
    /// A world for a point; `profiles` are those of its hosts.
    ///
    /// # Errors
    /// When the point asks for what the model has not.
    pub fn new(point: &Point, profiles: &[Profile]) -> Result<Self, SimError> {
        let mut world = Self {
            point: point.clone(),
            now: Instant::default(),
            boot_ns: 0,
            events: Events::default(),
            ready: Ready::default(),
            hosts: Vec::new(),
            network: Network::default(),
            apps: Applications::default(),
            captures: None,
            replays: Vec::new(),
            responses: None,
            outside: None,
            warnings: Vec::new(),
            work: Work::default(),
            batch: Vec::new(),
            spare_batch: Vec::new(),
            left: 0,
            segments: Vec::new(),
            polled: Polled::default(),
            budget: Budget::default(),
            ending: false,
            stopped: false,
            cut_short: false,
        };
        world.build(profiles)?;
        Ok(world)
    }

    /// Makes it ready for another point. What it needs of memory stays.
    ///
    /// # Errors
    /// As [`World::new`].
    pub fn reset(&mut self, point: &Point, profiles: &[Profile]) -> Result<(), SimError> {
        self.point = point.clone();
        self.build(profiles)
    }

    fn build(&mut self, profiles: &[Profile]) -> Result<(), SimError> {
        let point = &self.point;
        if let Some(first) = refuse::obstacles(point).first() {
            return Err(SimError::Cannot(first.to_string()));
        }
        let phase = start_phase(point.seed);
        self.boot_ns = point.boot_ns.unwrap_or(BOOT_NS + phase.as_nanos());
        self.now = Instant::default();
        self.events.clear();
        self.ready.clear();
        self.batch.clear();
        self.left = 0;
        self.warnings.clear();
        self.hosts.clear();
        let fallback = Profile::default();
        for index in 0..point.hosts.len() {
            let profile = profiles.get(index).unwrap_or(&fallback);
            let host = Host::new(point, index, profile, self.boot_ns)?;
            self.hosts.push(host);
        }
        self.network = Network::new(point);
        self.apps = Applications::new(point);
        self.captures = None;
        self.replays.clear();
        self.outside = None;
        if let Some(responses) = &mut self.responses {
            responses.clear();
            self.keep_recoveries();
        }
        self.work = Work::default();
        self.budget = Budget::default();
        (self.ending, self.stopped, self.cut_short) = (false, false, false);
        Ok(())
    }

    /// The date of the run's start in nanoseconds since 1970, for captures.
    pub fn epoch_ns(&self) -> i64 {
        BOOT_DATE_NS + self.boot_ns
    }

    /// Runs to the end. Packets at interfaces go into `captures`; get them back from
    /// [`World::take_captures`]. `go_on` is asked now and then; none: it said no. Ask [`World::exhausted`] whether the
    /// answer is one.
    pub fn run(
        &mut self,
        captures: Option<Captures>,
        mut go_on: impl FnMut() -> bool,
    ) -> Option<Outcome> {
        self.captures = captures;
        self.simulate(&mut go_on).then(|| self.finish())
    }

    /// Runs to the end without telling all that came out: what is asked for is read with [`World::counter`] and
    /// [`World::responses`]. False: `go_on`, which is asked now and then, said no. Ask [`World::exhausted`] whether the
    /// answer is one.
    pub fn simulate(&mut self, mut go_on: impl FnMut() -> bool) -> bool {
        self.begin();
        while self.turn() {
            if !go_on() {
                return false;
            }
        }
        true
    }

    /// Times the responses of servers and all recoveries from now on, in this run and in those after [`World::reset`].
    pub fn time_responses(&mut self) {
        self.responses.get_or_insert_default();
        self.keep_recoveries();
    }

    fn keep_recoveries(&mut self) {
        for host in &mut self.hosts {
            host.stack.mib.keep_recoveries();
        }
    }

    /// Microseconds of each recovery of a host that came to its end, after [`World::time_responses`].
    pub fn recoveries(&self, host: usize) -> &[u32] {
        let host = self.hosts.get(host);
        host.map_or(&[], |h| h.stack.mib.recoveries())
    }

    /// The responses that were ACKed whole, in the order of their ACKs.
    pub fn responses(&self) -> &[Response] {
        self.responses.as_ref().map_or(&[], |r| &r.done)
    }

    /// How an end of connection `flow` ended; flows count through the applications in their order. None: there is no
    /// such connection.
    pub fn ended(&self, flow: usize, is_client: bool) -> Option<Ended<'_>> {
        let end = self.apps.ends.get(2 * flow + usize::from(!is_client))?;
        Some(end.ended())
    }

    /// A counter of a host.
    pub fn counter(&self, host: usize, counter: Counter) -> u64 {
        self.hosts.get(host).map_or(0, |h| h.stack.mib.get(counter))
    }

    /// Whether the run came to its `max` before its applications ended.
    pub fn is_cut_short(&self) -> bool {
        self.cut_short
    }

    /// The captures of the run, to be finished.
    pub fn take_captures(&mut self) -> Option<Captures> {
        self.captures.take()
    }

    /// What the run did.
    pub fn work(&self) -> Work {
        Work {
            events: self.events.popped(),
            ..self.work
        }
    }

    /// Some thousand steps; false: the run is over.
    fn turn(&mut self) -> bool {
        let began = self.now;
        let steps = self.budget.next(self.point.max_events());
        self.steps(FOREVER, steps) == Went::On && self.may_go_on(began, steps)
    }

    /// What is due until this time, and so many steps at most.
    fn steps(&mut self, until: Instant, most: u64) -> Went {
        let mut left = most;
        while left > 0 {
            if let Some(wake) = self.events.pop(self.now) {
                left -= 1;
                self.fire(wake);
                if self.stopped {
                    return Went::Over;
                }
                continue;
            }
            self.end_when_all_is_over();
            if !self.ready.is_empty() {
                left -= 1;
                self.handle_batch();
                continue;
            }
            self.batch.clear();
            match self.events.next_time() {
                Some(next) if next <= until => self.now = self.now.max(next),
                _ => return Went::Idle,
            }
        }
        Went::On
    }

    fn end_when_all_is_over(&mut self) {
        if self.apps.are_over() && !self.ending {
            self.end();
        }
    }

    #[cold]
    #[inline(never)]
    fn end(&mut self) {
        self.ending = true;
        let linger = Duration::from_nanos(self.point.linger_ns);
        self.events.set(self.now + linger, Wake::Stop);
    }

    fn fire(&mut self, wake: Wake) {
        match wake {
            Wake::Way(way) => self.way_is_due(way as usize),
            Wake::Host(host) => {
                self.hosts[host as usize].wake(self.now);
                self.after_tcp(host as usize);
            }
            Wake::Card(cpu) => self.card_polls(cpu),
            Wake::App(end) => self.app_wakes(end as usize),
            Wake::Idle(end) => self.may_give_up(end as usize),
            Wake::Connect(end) => self.start(end as usize),
            Wake::Sample => {
                self.sample();
                // Each is one of every end.
                self.stopped |= self.holds_too_much();
            }
            Wake::SampleLinks => self.sample_links(),
            Wake::Stop => {
                self.stopped = true;
                self.cut_short = !self.ending;
            }
        }
    }

    /// One turn of what an epoll would report.
    ///
    /// What it reports stays in an epoll's list, and the next turn looks at it before what became ready meanwhile
    /// (`ep_send_events()`: level triggered).
    fn handle_batch(&mut self) {
        if self.ready.len() == 1 {
            // Mostly there is one.
            self.batch.clear();
            self.left = 0;
            if let Some(source) = self.ready.pop()
                && self.is_taken(source)
            {
                self.batch.push(source);
                self.goes_on(source);
            }
        } else {
            self.handle_several();
        }
    }

    #[inline(never)]
    fn handle_several(&mut self) {
        let again = std::mem::replace(&mut self.batch, std::mem::take(&mut self.spare_batch));
        for _ in 0..self.left.min(Ready::BATCH) {
            self.take_next();
        }
        for &source in &again {
            if self.batch.len() < Ready::BATCH && self.is_taken(source) {
                self.batch.push(source);
            }
        }
        while self.batch.len() < Ready::BATCH && self.take_next() {}
        self.left = self.ready.len();
        for n in 0..self.batch.len() {
            self.goes_on(self.batch[n]);
        }
        self.spare_batch = again;
        self.spare_batch.clear();
    }

    fn goes_on(&mut self, source: Source) {
        match source {
            Source::Host(host) => self.send_all(host as usize),
            Source::End(end) => self.socket_is_ready(end as usize),
            Source::Listener(app) => self.accept(app as usize),
        }
    }

    /// The first entry of the list, when it is ready, belongs to this turn; false: there is none.
    #[inline]
    fn take_next(&mut self) -> bool {
        let Some(source) = self.ready.pop() else {
            return false;
        };
        if self.is_taken(source) {
            self.batch.push(source);
        }
        true
    }

    /// Looks at an entry: whether something happened to it, and it is ready. An application goes on until its socket
    /// has no more for it, so nothing stays ready.
    #[inline]
    fn is_taken(&mut self, source: Source) -> bool {
        let touched = match source {
            Source::Host(host) => &mut self.hosts[host as usize].is_ready,
            Source::End(end) => &mut self.apps.ends[end as usize].is_ready,
            Source::Listener(app) => &mut self.apps.all[app as usize].is_ready,
        };
        let touched = std::mem::replace(touched, false);
        match source {
            Source::End(end) => touched && self.is_socket_ready(end as usize),
            _ => touched,
        }
    }

    fn finish(&mut self) -> Outcome {
        for index in 0..self.apps.ends.len() {
            self.take_info(index);
        }
        let mut outcome = Outcome {
            virtual_ns: self.now.as_nanos(),
            cut_short: self.cut_short,
            ..Outcome::default()
        };
        for (host, sim) in self.point.hosts.iter().zip(&self.hosts) {
            outcome.counters.insert(host.name.clone(), sim.counters());
        }
        outcome.kernel = self.profiles();
        outcome.links = self.network.counts(self.now);
        for one in &self.replays {
            let link = &mut outcome.links[one.way / 2];
            let (count, qdisc) = (one.line.count(), one.line.qdisc());
            let queue = one.line.depth(self.now);
            match one.way % 2 {
                0 => (link.a_to_b, link.a_to_b_qdisc, link.a_to_b_queue) = (count, qdisc, queue),
                _ => (link.b_to_a, link.b_to_a_qdisc, link.b_to_a_queue) = (count, qdisc, queue),
            }
        }
        outcome.link_series = std::mem::take(&mut self.network.series);
        // Its connections go before what they did is told: they do not add up to a peak of memory.
        self.hosts.clear();
        outcome.flows = self.apps.flows(&self.point);
        outcome.warnings = std::mem::take(&mut self.warnings);
        outcome
    }

    /// The names of the hosts' profiles, each once.
    fn profiles(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for host in &self.hosts {
            let name: &str = host.stack.host.profile.name;
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.join(" ")
    }
}
