//! A run: the event loop over hosts, links and applications.
//!
//! Events of one instant run in the order of a kernel run. First the event queue, in the order in
//! which events were set: frames due on links, timers, applications that wake up. Then, in batches,
//! everything that became ready: hosts that have packets to send, sockets that their applications
//! wait for.

mod budget;
mod frames;
mod host;
mod later;
mod live;
mod memory;
mod net;
mod outcome;
mod refuse;
mod replay;
mod step;

use std::sync::Arc;

use tcplab_apps::{Drive, Ended, Foreign, Timer, default_boot};
use tcplab_base::Instant;
use tcplab_plan::network::BOOT_DATE_NS;
use tcplab_plan::profile::Profile;
use tcplab_plan::{Outcome, Point};
use tcplab_tcp::Counter;

use self::budget::Budget;
use self::net::Net;
use crate::capture::Captures;
use crate::events::Wake;
use crate::host::Host;
use crate::network::Network;
use crate::ready::{Ready, Source};
use crate::responses::Response;
use crate::socket::Sockets;

pub use live::{Live, LiveFlow};
pub use refuse::refusals;
pub(crate) use refuse::{refused_sysctl, refused_timers};
pub use step::Held;

/// Why a point cannot be simulated.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SimError {
    /// The point asks for a feature that the model lacks.
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
    drive: Drive,
    net: Net,
    boot_ns: i64,
    has_begun: bool,
    is_over: bool,
    /// What the last turn reported, in its order.
    batch: Vec<Source>,
    spare_batch: Vec<Source>,
    /// Entries of the list that the last turn had no room for.
    left: usize,
    budget: Budget,
}

impl World {
    /// A world for a point; `profiles` are those of its hosts.
    ///
    /// # Errors
    /// When the point asks for a feature that the model lacks.
    pub fn new(point: &Point, profiles: &[Profile]) -> Result<Self, SimError> {
        let point = Arc::new(point.clone());
        let mut world = Self {
            drive: Drive::new(&point, Foreign::None),
            net: Net::new(point),
            boot_ns: 0,
            has_begun: false,
            is_over: false,
            batch: Vec::new(),
            spare_batch: Vec::new(),
            left: 0,
            budget: Budget::default(),
        };
        world.build(profiles)?;
        Ok(world)
    }

    /// Makes it ready for another point. What it needs of memory stays.
    ///
    /// # Errors
    /// As [`World::new`].
    pub fn reset(&mut self, point: &Point, profiles: &[Profile]) -> Result<(), SimError> {
        self.net.point = Arc::new(point.clone());
        self.drive = Drive::new(&self.net.point, Foreign::None);
        self.build(profiles)
    }

    fn build(&mut self, profiles: &[Profile]) -> Result<(), SimError> {
        let net = &mut self.net;
        let point = &net.point;
        if let Some(first) = refuse::obstacles(point).first() {
            return Err(SimError::Cannot(first.to_string()));
        }
        let default = default_boot(point.seed).as_nanos();
        self.boot_ns = point.boot_ns.unwrap_or(default);
        self.batch.clear();
        self.left = 0;
        (self.has_begun, self.is_over) = (false, false);
        self.budget = Budget::default();
        net.hosts.clear();
        let fallback = Profile::default();
        for index in 0..point.hosts.len() {
            let profile = profiles.get(index).unwrap_or(&fallback);
            let host = Host::new(point, index, profile, self.boot_ns)?;
            net.hosts.push(host);
        }
        net.network = Network::new(point);
        net.sockets = Sockets::new(point);
        net.now = Instant::default();
        net.events.clear();
        net.ready.clear();
        net.warnings.clear();
        net.captures = None;
        net.replays.clear();
        net.outside = None;
        net.work = Work::default();
        if let Some(responses) = &mut net.responses {
            responses.clear();
            net.keep_recoveries();
        }
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
        self.net.captures = captures;
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
        self.net.responses.get_or_insert_default();
        self.net.keep_recoveries();
    }

    /// Microseconds of each recovery of a host that came to its end, after [`World::time_responses`].
    pub fn recoveries(&self, host: usize) -> &[u32] {
        let host = self.net.hosts.get(host);
        host.map_or(&[], |h| h.stack.mib.recoveries())
    }

    /// The responses that were ACKed whole, in the order of their ACKs.
    pub fn responses(&self) -> &[Response] {
        self.net.responses.as_ref().map_or(&[], |r| &r.done)
    }

    /// How an end of connection `flow` ended; flows count through the applications in their order. `None` if the
    /// connection does not exist.
    pub fn ended(&self, flow: usize, is_client: bool) -> Option<Ended<'_>> {
        let end = self.drive.ends().get(2 * flow + usize::from(!is_client))?;
        Some(end.ended())
    }

    /// A counter of a host.
    pub fn counter(&self, host: usize, counter: Counter) -> u64 {
        let host = self.net.hosts.get(host);
        host.map_or(0, |h| h.stack.mib.get(counter))
    }

    /// Whether the run came to its `max` before its applications ended.
    pub fn is_cut_short(&self) -> bool {
        self.drive.is_cut_short()
    }

    /// The captures of the run, to be finished.
    pub fn take_captures(&mut self) -> Option<Captures> {
        self.net.captures.take()
    }

    /// What the run did.
    pub fn work(&self) -> Work {
        Work {
            events: self.net.events.popped(),
            ..self.net.work
        }
    }

    /// Servers listen, and the first timers are set, once.
    fn begin(&mut self) {
        if std::mem::replace(&mut self.has_begun, true) {
            return;
        }
        self.drive.listen(&mut self.net);
        self.net.set_changes();
        self.drive.begin(&mut self.net);
    }

    /// Some thousand steps; false: the run is over.
    fn turn(&mut self) -> bool {
        let began = self.net.now;
        let steps = self.budget.next(self.net.point.max_events());
        self.steps(FOREVER, steps) == Went::On && self.may_go_on(began, steps)
    }

    /// What is due until this time, and so many steps at most.
    fn steps(&mut self, until: Instant, most: u64) -> Went {
        let mut left = most;
        while left > 0 {
            if let Some(wake) = self.net.events.pop(self.net.now) {
                left -= 1;
                if !self.fire(wake) {
                    return Went::Over;
                }
                continue;
            }
            self.drive.rest(&mut self.net);
            if !self.net.ready.is_empty() {
                left -= 1;
                self.handle_batch();
                continue;
            }
            self.batch.clear();
            match self.net.events.next_time() {
                Some(next) if next <= until => self.net.now = self.net.now.max(next),
                _ => return Went::Idle,
            }
        }
        Went::On
    }

    /// False: the run is over.
    fn fire(&mut self, wake: Wake) -> bool {
        let net = &mut self.net;
        match wake {
            Wake::Link(link) => net.link_is_due(link as usize),
            Wake::Host(host) => {
                net.hosts[host as usize].wake(net.now);
                net.after_tcp(host as usize);
            }
            Wake::Card(cpu) => net.card_polls(cpu),
            Wake::Change(number) => {
                if let Err(why) = net.changes(number as usize) {
                    // The words of a run on a kernel.
                    self.budget.exhausted = Some(format!("a link cannot change: {why}"));
                    return false;
                }
            }
            Wake::Run(timer) => {
                self.drive.fire(net, timer);
                // Each sample is one of every end.
                let is_over = timer == Timer::Sample && self.holds_too_much();
                return !(is_over || self.drive.is_stopped());
            }
        }
        true
    }

    /// One turn of what an epoll would report.
    ///
    /// A reported socket stays in an epoll's list, and the next turn checks it before sockets that became ready
    /// meanwhile (`ep_send_events()`: level triggered).
    fn handle_batch(&mut self) {
        if self.net.ready.len() == 1 {
            // Mostly there is one.
            self.batch.clear();
            self.left = 0;
            if let Some(source) = self.net.ready.pop()
                && self.take_ready(source)
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
            if self.batch.len() < Ready::BATCH && self.take_ready(source) {
                self.batch.push(source);
            }
        }
        while self.batch.len() < Ready::BATCH && self.take_next() {}
        self.left = self.net.ready.len();
        for n in 0..self.batch.len() {
            self.goes_on(self.batch[n]);
        }
        self.spare_batch = again;
        self.spare_batch.clear();
    }

    fn goes_on(&mut self, source: Source) {
        match source {
            Source::Host(host) => self.net.send_all(host as usize),
            Source::End(end) => self.drive.ready(&mut self.net, end as usize),
            Source::Listener(app) => self.drive.accept(&mut self.net, app as usize),
        }
    }

    /// Moves the first ready entry of the list into this turn; false when the list is empty.
    #[inline]
    fn take_next(&mut self) -> bool {
        let Some(source) = self.net.ready.pop() else {
            return false;
        };
        if self.take_ready(source) {
            self.batch.push(source);
        }
        true
    }

    /// Looks at an entry: whether something happened to it, and it is ready. An application goes on until its socket
    /// has no more for it, so nothing stays ready.
    #[inline]
    fn take_ready(&mut self, source: Source) -> bool {
        match source {
            // An entry that is left of packets that went with the last turn's finds nothing (`ep_item_poll()`).
            Source::Host(host) => {
                let host = &mut self.net.hosts[host as usize];
                std::mem::replace(&mut host.is_ready, false) && host.has_packets()
            }
            Source::End(end) => {
                self.net.sockets.leaves(source) && self.net.poll_ready(end as usize)
            }
            Source::Listener(_) => self.net.sockets.leaves(source),
        }
    }
}
