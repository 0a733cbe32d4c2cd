//! The thread that forwards: one wait for both devices and the next frame that is due.

use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, Sender};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::prctl::set_timerslack;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::{TimeSpec, TimeValLike};
use tcplab_base::{Duration, Instant};
use tcplab_os::Stop;
use tcplab_os::clock::{monotonic as now, timespec};
use tcplab_os::{Context, OsError};

use super::count::Snapshot;
use super::lane::Lane;
use super::place::Opened;
use super::port::{HEADER, LONGEST, Port};
use super::{Change, Event, Order, Settings};

/// Frames that are read from one device before the other one has its turn.
const BURST: usize = 64;

/// The longest wait: so late are orders and the wish to stop seen.
const PATIENCE: Duration = Duration::from_millis(50);

/// A wake-up waits for a frame that is due within this part of the gap: frames that were read a little after a wake-up
/// are due a little after another one.
const SLIP: i64 = 8;

/// Nanoseconds by which the kernel may let a wait be longer, so that it wakes less often.
const SLACK_NS: u64 = 1;

/// Both devices and both ways.
pub(super) struct Forwarder {
    opened: [Opened; 2],
    lanes: [Lane; 2],
    every: Duration,
    gap: Duration,
    /// When it last woke up.
    woken: Instant,
    limit: Option<Duration>,
    stop: Stop,
    start: Instant,
    waits: u64,
    /// A device gave as many frames as were asked for: there may be more.
    has_more: bool,
    buffer: Vec<u8>,
}

impl Forwarder {
    pub(super) fn new(opened: [Opened; 2], settings: Settings, stop: Stop) -> Self {
        let [a_to_b, b_to_a] = settings.ways;
        let lane = |way, name| Lane::new(way, settings.mtu, settings.seed, name);
        Self {
            opened,
            lanes: [lane(a_to_b, "link/0/a_to_b"), lane(b_to_a, "link/0/b_to_a")],
            every: settings.every,
            gap: settings.gap,
            woken: Instant::default(),
            limit: settings.limit,
            stop,
            start: Instant::default(),
            waits: 0,
            has_more: false,
            buffer: vec![0; LONGEST],
        }
    }

    /// Forwards until the end, and tells it.
    pub(super) fn run(mut self, orders: &Receiver<Order>, tell: &Sender<Event>) {
        let last = match self.turn(orders, tell) {
            Ok(()) => {
                let at = now();
                let unreached = ["a_to_b", "b_to_a"]
                    .iter()
                    .zip(&self.lanes)
                    .flat_map(|(name, lane)| lane.unreached(name, at))
                    .collect();
                let last = Snapshot {
                    unreached,
                    ..self.look(at)
                };
                Event::End(Box::new(last))
            }
            Err(e) => Event::Failed(e.to_string()),
        };
        let _ = tell.send(last);
    }

    fn turn(&mut self, orders: &Receiver<Order>, tell: &Sender<Event>) -> Result<(), OsError> {
        // If this fails, waits are 50 us longer; the thread still works.
        let _ = set_timerslack(SLACK_NS);
        self.start = now();
        for lane in &mut self.lanes {
            lane.begin(self.start);
        }
        let mut next_look = self.start + self.every;
        let end = self.limit.map(|limit| self.start + limit);
        while !self.stop.wanted() {
            let at = now();
            if end.is_some_and(|end| at >= end) {
                break;
            }
            // One a turn: frames come first.
            if let Ok(order) = orders.try_recv() {
                let _ = tell.send(self.change(at, order));
            }
            if at >= next_look {
                // Nobody listens any more: the end will be told to nobody either.
                let _ = tell.send(Event::Look(Box::new(self.look(at))));
                next_look = next_look + self.every;
                if next_look <= at {
                    next_look = at + self.every;
                }
            }
            let latest = end.unwrap_or(next_look).min(next_look);
            let ready = self.wait(at, latest.min(at + PATIENCE))?;
            self.has_more = false;
            for (side, is_ready) in ready.into_iter().enumerate() {
                if is_ready {
                    self.take(side)?;
                }
            }
            self.give()?;
        }
        Ok(())
    }

    /// Waits for a frame, or for the time of one; says which devices may have frames.
    fn wait(&mut self, at: Instant, latest: Instant) -> Result<[bool; 2], OsError> {
        if self.has_more {
            return Ok([true; 2]);
        }
        let next = self.lanes.iter().filter_map(Lane::next_time).min();
        let earliest = self.woken + self.gap;
        self.waits += 1;
        // Under load, frames that came or are due wait for more, as cards moderate their interrupts.
        if let Some(next) = next.filter(|_| at < earliest) {
            let slip = Duration::from_nanos(self.gap.as_nanos() / SLIP);
            let is_soon = next > earliest && next <= earliest + slip;
            self.sleep(at, if is_soon { next } else { earliest })?;
            return Ok([true; 2]);
        }
        let until = next.unwrap_or(latest).min(latest);
        let port = |side: usize| self.opened[side].port.as_fd();
        let mut fds = [0, 1].map(|side| PollFd::new(port(side), PollFlags::POLLIN));
        let found = ppoll(&mut fds, Some(time_to(at, until)), None);
        let ready = [0, 1].map(|side| fds[side].any().unwrap_or(false));
        self.woken = now();
        match found {
            Ok(_) => Ok(ready),
            Err(Errno::EINTR) => Ok([false; 2]),
            Err(e) => Err(e).tried("cannot wait for frames"),
        }
    }

    fn sleep(&mut self, at: Instant, until: Instant) -> Result<(), OsError> {
        self.woken = until;
        match ppoll(&mut [], Some(time_to(at, until)), None) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(e) => Err(e).tried("cannot wait"),
        }
    }

    /// Takes what came in at a side. A frame counts as come when it is read: with the time of the wake-up, one that came
    /// after it would leave before its delay.
    fn take(&mut self, side: usize) -> Result<(), OsError> {
        let (from, to) = (&self.opened[side], &self.opened[1 - side].port);
        for _ in 0..BURST {
            let mut header = [0; HEADER];
            let read = from.port.read(&mut header, &mut self.buffer);
            let read = read.context(|| format!("cannot read from {}", from.end))?;
            let Some(length) = read else { return Ok(()) };
            self.lanes[side].enter(now(), &header, (&mut self.buffer, length), to)?;
        }
        self.has_more = true;
        Ok(())
    }

    /// Gives out what is due.
    fn give(&mut self) -> Result<(), OsError> {
        for side in 0..2 {
            let to: &Port = &self.opened[1 - side].port;
            self.lanes[side].leave(now(), to)?;
        }
        Ok(())
    }

    fn change(&mut self, at: Instant, order: Order) -> Event {
        let way = order.way & 1;
        let changed = self.lanes[way].change(at, order.settings);
        if let Some(reply) = order.reply {
            let _ = reply.send(changed.clone());
        }
        match changed {
            Ok(how) => Event::Changed(Change {
                way,
                words: order.words,
                at_s: at.since(self.start).as_secs_f64(),
                how,
            }),
            Err(why) => Event::Refused(way, why),
        }
    }

    fn look(&mut self, at: Instant) -> Snapshot {
        let used = getrusage(UsageWho::RUSAGE_THREAD).ok();
        let seconds = |us: Option<i64>| us.unwrap_or_default() as f64 / 1e6;
        let [a_to_b, b_to_a] = &mut self.lanes;
        let [a, b] = &mut self.opened;
        Snapshot {
            at_s: at.since(self.start).as_secs_f64(),
            cpu_user_s: seconds(used.map(|u| u.user_time().num_microseconds())),
            cpu_system_s: seconds(used.map(|u| u.system_time().num_microseconds())),
            waits: self.waits,
            unreached: Vec::new(),
            a_to_b: a_to_b.look(at, a.missed(), b.dropped()),
            b_to_a: b_to_a.look(at, b.missed(), a.dropped()),
        }
    }
}

fn time_to(at: Instant, until: Instant) -> TimeSpec {
    timespec(until.since(at))
}
