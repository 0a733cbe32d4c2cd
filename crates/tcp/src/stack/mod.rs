//! A host's TCP: connections by their ends, listeners, TIME-WAIT records, resets.
//!
//! Segments, timers and calls go in; [`Stack::poll_segment`] and [`Stack::poll_event`] give what comes of them, in
//! order. One hash probe finds a segment's record; the next timer is the top of a heap with one entry a record.

/// What a call into a record needs at a time. A macro, as it borrows some fields of the stack and leaves the table of
/// records, its heap and its listeners to the caller.
macro_rules! cx {
    ($stack:ident, $now:expr) => {
        Cx::new(
            $stack.ticks.at(&$stack.host.clock, $now),
            &$stack.host,
            &mut $stack.mib,
            &mut $stack.out,
            &mut $stack.metrics,
            &$stack.wheel,
        )
    };
}

mod arrive;
mod check;
mod child;
mod cookie;
mod fastopen;
mod heap;
mod icmp;
mod listener;
mod memory;
mod open;
mod pack;
mod ports;
mod request;
mod reset;
mod secret;
mod table;
mod timewait;

pub use icmp::{IcmpError, Unreachable};
pub(crate) use request::{Open, Request};
pub(crate) use reset::reply_reset;
pub(crate) use secret::siphash_of;

use std::cmp::Reverse;
use std::collections::VecDeque;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use tcplab_base::{Instant, Seq};

use self::heap::Deadlines;
use self::listener::Listener;
use self::table::{Conn, Holder, Record, Table};
use self::timewait::TimeWait;
use crate::cx::{Cx, Ticks};
use crate::endpoint::{Endpoint, Shutdown, State};
use crate::host::HostConfig;
use crate::metrics::Metrics;
use crate::mib::Mib;
use crate::segment::Segment;
use crate::timers::Wheel;

/// Names a connection of a stack until it is released; numbers are used again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct ConnId(pub u32);

/// Names a listener.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ListenId(pub u32);

/// Something that the owner of sockets may want to act on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// connect(2) is over: the connection stands, or it failed (see its error).
    Connected(ConnId),
    /// A connection waits in accept(2)'s queue.
    Acceptable(ListenId),
    /// Something may be read: data, a FIN, an error (`sk_data_ready()`, `sk_state_change()`).
    Readable(ConnId),
    /// A full send buffer has room again (`sk_write_space()`).
    Writable(ConnId),
}

/// A host's TCP.
#[derive(Debug)]
pub struct Stack {
    /// Its settings.
    pub host: HostConfig,
    /// Its counters.
    pub mib: Mib,
    out: Vec<Segment>,
    /// How many of `out` were taken.
    taken: usize,
    events: VecDeque<Event>,
    /// How many of `events` came before the first of `out`.
    ahead: usize,
    table: Table,
    listeners: Vec<Option<Listener>>,
    ports: HashMap<(u16, u16), u32, FixedState>,
    deadlines: Deadlines,
    wheel: Wheel,
    /// Records with timers that are due now, in the order of the wheel.
    due: Vec<(Instant, Reverse<u32>, u32)>,
    metrics: Metrics,
    ticks: Ticks,
    /// `table_perturb` of the search for ports.
    perturb: Vec<u32>,
}

/// What of a connection tells its owner something when it changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watch {
    state: State,
    rcv_nxt: Seq,
    shutdown: Shutdown,
    failed: bool,
}

impl Watch {
    pub(crate) fn of(ep: &Endpoint) -> Self {
        Self {
            state: ep.state,
            rcv_nxt: ep.rcv.rcv_nxt,
            shutdown: ep.shutdown,
            failed: ep.error.is_some(),
        }
    }

    /// Events for the owner of a connection, after a segment or a timer.
    #[inline]
    fn tell(self, conn: &mut Conn, number: u32, events: &mut VecDeque<Event>) {
        if conn.holder != Holder::Application {
            return;
        }
        let ep = &mut conn.ep;
        let id = ConnId(number);
        let news = ep.rcv.rcv_nxt != self.rcv_nxt && ep.is_readable();
        if ep.state != self.state || ep.shutdown != self.shutdown || ep.error.is_some() {
            self.tell_change(ep, id, news, events);
        } else if news && !self.is_opening() {
            events.push_back(Event::Readable(id));
        }
        if ep.take_write_space() {
            events.push_back(Event::Writable(id));
        }
    }

    #[inline]
    fn is_opening(self) -> bool {
        matches!(self.state, State::SynSent | State::SynRecv)
    }

    /// Something that is not of every packet, maybe with data.
    #[cold]
    fn tell_change(self, ep: &Endpoint, id: ConnId, news: bool, events: &mut VecDeque<Event>) {
        // A child of Fast Open was accepted before its handshake is over.
        let opening = self.is_opening() && !ep.is_fast_child();
        if opening && !matches!(ep.state, State::SynSent | State::SynRecv) {
            events.push_back(Event::Connected(id));
        }
        let ended = (ep.state == State::Close && self.state != State::Close)
            || ep.shutdown != self.shutdown
            || (ep.error.is_some() && !self.failed);
        if (news || ended) && !opening {
            events.push_back(Event::Readable(id));
        }
    }
}

/// After a call: the connection's next timer is noted. True: it has ended, and shall leave the
/// table.
#[inline]
fn follow(ep: &Endpoint, number: u32, deadlines: &mut Deadlines) -> bool {
    if ep.is_closed() {
        return true;
    }
    if let Some(at) = ep.next_timer() {
        deadlines.no_later(number, at);
    }
    false
}

impl Stack {
    /// A host without connections.
    pub fn new(host: HostConfig) -> Self {
        let metrics = Metrics::new(host.secret);
        Self {
            table: Table::new(host.secret),
            ports: HashMap::with_hasher(FixedState::with_seed(host.secret)),
            ticks: Ticks::new(&host.clock, Instant::default()),
            host,
            mib: Mib::default(),
            out: Vec::new(),
            taken: 0,
            events: VecDeque::new(),
            ahead: 0,
            listeners: Vec::new(),
            deadlines: Deadlines::default(),
            wheel: Wheel::default(),
            due: Vec::new(),
            metrics,
            perturb: Vec::new(),
        }
    }

    /// What a call into a record needs, and the tables beside it.
    fn parts(&mut self, now: Instant) -> (Cx<'_>, &mut Vec<Option<Listener>>, &mut Table) {
        let cx = cx!(self, now);
        (cx, &mut self.listeners, &mut self.table)
    }

    /// The next segment that leaves, in their order.
    #[inline]
    pub fn poll_segment(&mut self) -> Option<Segment> {
        let seg = self.out.get(self.taken).copied();
        match seg {
            Some(_) => self.taken += 1,
            None => {
                self.out.clear();
                self.taken = 0;
            }
        }
        seg
    }

    /// Moves all segments that leave into an empty `buffer`. False: no segment left.
    #[inline]
    pub fn take_segments(&mut self, buffer: &mut Vec<Segment>) -> bool {
        if self.taken > 0 {
            self.forget_taken();
        }
        std::mem::swap(&mut self.out, buffer);
        !buffer.is_empty()
    }

    #[cold]
    fn forget_taken(&mut self) {
        self.out.drain(..self.taken);
        self.taken = 0;
    }

    /// Whether [`Stack::poll_segment`] has one.
    #[inline]
    pub fn has_segments(&self) -> bool {
        self.taken < self.out.len()
    }

    /// The next event for the owner of sockets, in their order.
    #[inline]
    pub fn poll_event(&mut self) -> Option<Event> {
        self.ahead = self.ahead.saturating_sub(1);
        self.events.pop_front()
    }

    /// The next event, if it came before the first segment that leaves.
    #[inline]
    pub fn poll_event_ahead(&mut self) -> Option<Event> {
        self.ahead = self.ahead.checked_sub(1)?;
        self.events.pop_front()
    }

    /// When [`Stack::on_timer`] shall be called. It may be earlier than the first timer: nothing happens then.
    #[inline]
    pub fn next_timer(&self) -> Option<Instant> {
        self.deadlines.first().map(|(at, _)| at)
    }

    /// Runs all timers that are due at `now`.
    pub fn on_timer(&mut self, now: Instant) {
        self.table.set_now(now);
        loop {
            self.find_due(now);
            if self.due.is_empty() {
                return;
            }
            let mut due = std::mem::take(&mut self.due);
            if due.len() > 1 {
                due.sort_unstable();
            }
            for (_, _, number) in due.drain(..) {
                self.record_timer(now, number);
            }
            self.due = due;
        }
    }

    /// Takes all records out of the heap whose timers are due. An entry that was early goes back to where it belongs.
    fn find_due(&mut self, now: Instant) {
        while let Some((at, number)) = self.deadlines.first() {
            if at > now {
                return;
            }
            let next = match self.table.get(number) {
                Some(Record::Conn(conn)) => conn.ep.next_timer(),
                Some(Record::Packed(packed)) => self.table.next_of_packed(packed),
                Some(Record::Request(req)) => Some(req.fires),
                Some(Record::TimeWait(tw)) => Some(tw.fires),
                Some(Record::Free(_)) | None => None,
            };
            let Some(at) = next.filter(|&at| at <= now) else {
                self.deadlines.set(number, next);
                self.table.pack_rested(number);
                continue;
            };
            if let Some(Record::Packed(_)) = self.table.get(number) {
                self.table.unpack(number);
            }
            let order = match self.table.get(number) {
                Some(Record::Conn(conn)) => conn.ep.timer_order(at),
                Some(Record::Request(req)) => req.order,
                _ => 0,
            };
            self.deadlines.forget(number);
            self.due.push((at, Reverse(order), number));
        }
    }

    /// Timers of a record that was due; one before it may have changed it.
    fn record_timer(&mut self, now: Instant, number: u32) {
        match self.table.get_mut(number) {
            Some(Record::Conn(_) | Record::Packed(_)) => self.conn_timer(now, number),
            Some(Record::Request(_)) => self.request_timer(now, number),
            Some(Record::TimeWait(tw)) if tw.fires <= now => self.drop_time_wait(number),
            Some(Record::TimeWait(tw)) => self.deadlines.set(number, Some(tw.fires)),
            Some(Record::Free(_)) | None => self.deadlines.forget(number),
        }
    }

    fn conn_timer(&mut self, now: Instant, number: u32) {
        let Some(conn) = self.table.conn_mut(number) else {
            return;
        };
        let next = conn.ep.next_timer();
        if next.is_none_or(|at| at > now) {
            self.deadlines.set(number, next);
            self.table.pack_rested(number);
            return;
        }
        let watch = Watch::of(&conn.ep);
        let mut cx = cx!(self, now);
        conn.ep.on_timer(&mut cx);
        watch.tell(conn, number, &mut self.events);
        if conn.ep.is_closed() {
            self.ended(now, number);
        } else {
            // It has no entry in the heap now.
            self.deadlines.set(number, conn.ep.next_timer());
        }
    }

    fn request_timer(&mut self, now: Instant, number: u32) {
        let (mut cx, listeners, table) = self.parts(now);
        let Some(req) = table.request_mut(number) else {
            return;
        };
        if req.fires > now {
            let fires = req.fires;
            self.deadlines.set(number, Some(fires));
            return;
        }
        let goes_on = match listeners.get_mut(req.listener as usize) {
            Some(Some(listener)) => req.on_timer(&mut cx, listener),
            _ => false,
        };
        let fires = req.fires;
        match goes_on {
            true => self.deadlines.set(number, Some(fires)),
            false => drop(self.drop_request(number)),
        }
    }

    /// How often the connection between these ends, if there is one, has taken another hash (`sk_rethink_txhash()`).
    pub fn rehashes(&mut self, local: crate::Addr, remote: crate::Addr) -> Option<u16> {
        let number = self.table.find(local, remote)?;
        Some(self.table.conn_mut(number)?.ep.rehashes())
    }

    /// A call on a connection: `stack.with(now, id, |endpoint, cx| endpoint.read(cx, 4096))`. None: it was released.
    #[inline]
    pub fn with<R>(
        &mut self,
        now: Instant,
        id: ConnId,
        call: impl FnOnce(&mut Endpoint, &mut Cx<'_>) -> R,
    ) -> Option<R> {
        self.on_conn(now, id.0, call)
    }

    #[inline]
    fn on_conn<R>(
        &mut self,
        now: Instant,
        number: u32,
        call: impl FnOnce(&mut Endpoint, &mut Cx<'_>) -> R,
    ) -> Option<R> {
        self.table.set_now(now);
        let conn = self.table.conn_mut(number)?;
        let mut cx = cx!(self, now);
        let result = call(&mut conn.ep, &mut cx);
        if follow(&conn.ep, number, &mut self.deadlines) {
            self.ended(now, number);
        }
        Some(result)
    }

    /// Looks at a connection.
    pub fn get(&mut self, id: ConnId) -> Option<&Endpoint> {
        self.table.conn_mut(id.0).map(|conn| &conn.ep)
    }

    /// All connections, in the order of their numbers: also those that nobody holds.
    pub fn connections(&mut self) -> impl Iterator<Item = (ConnId, &Endpoint)> {
        self.table
            .conns()
            .map(|(number, conn)| (ConnId(number), &conn.ep))
    }

    /// Idle connections are packed when more than `most` are not, 1,024 as it begins; more stay when packed ones are
    /// used again within a second. It moves memory and time, no result.
    pub fn keep_unpacked(&mut self, most: usize) {
        self.table.keep_unpacked(most);
    }

    /// Packs every idle connection now.
    pub fn pack_idle(&mut self) {
        self.table.pack_idle();
    }

    /// close(2) and forget: the connection goes on by itself until it is over, then its record is freed.
    pub fn close(&mut self, now: Instant, id: ConnId) {
        if self
            .table
            .conn_mut(id.0)
            .is_none_or(|conn| conn.holder != Holder::Application)
        {
            return;
        }
        self.on_conn(now, id.0, Endpoint::close);
        self.release(id.0);
    }

    /// Nobody holds this connection any more.
    fn release(&mut self, number: u32) {
        let Some(conn) = self.table.conn_mut(number) else {
            return;
        };
        conn.holder = Holder::Nobody;
        if conn.ep.is_closed() {
            self.table.remove(number);
            self.deadlines.forget(number);
        }
    }

    pub(super) fn ended(&mut self, now: Instant, number: u32) {
        let (mut cx, _, table) = self.parts(now);
        let Some(conn) = table.conn_mut(number) else {
            return;
        };
        let (local, remote) = (conn.ep.local, conn.ep.remote);
        let was_hashed = std::mem::replace(&mut conn.hashed, false);
        let needs = conn.ep.time_wait.filter(|_| was_hashed);
        let record = needs.map(|needs| TimeWait::of(&mut cx, &conn.ep, needs));
        let nobody = conn.holder == Holder::Nobody;
        if was_hashed {
            table.unhash(local, remote, number);
        }
        if let Some(record) = record {
            let fires = record.fires;
            let slot = table.insert(Record::TimeWait(Box::new(record)));
            table.hash(local, remote, slot);
            self.deadlines.set(slot, Some(fires));
        }
        self.deadlines.forget(number);
        if nobody {
            self.table.remove(number);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use tcplab_plan::point::{Offload, Route};
    use tcplab_plan::profile::Profile;

    use super::*;
    use crate::host::{Addresses, Interfaces, RxTruesize};
    use crate::jiffies::Clock;
    use crate::options::OpenOptions;
    use crate::queue::Skb;
    use crate::segment::Addr;
    use crate::sysctl::Sysctl;

    pub(crate) fn stack() -> Stack {
        Stack::new(HostConfig {
            profile: Profile::default(),
            sysctl: Sysctl::default(),
            clock: Clock::new(1000, 1_000_000_000),
            route: Route::default(),
            offload: Offload::None,
            queue: Default::default(),
            rx_truesize: RxTruesize::Kmalloc,
            ip_header: 20,
            addresses: Addresses::default(),
            interfaces: Interfaces::default(),
            secret: 1,
            external: None,
            paths: Default::default(),
        })
    }

    /// A call on a connection whose SYN was just sent.
    pub(crate) fn syn_sent<R>(call: impl FnOnce(&mut Endpoint, &mut Cx<'_>) -> R) -> R {
        let mut stack = stack();
        let to = Addr { host: 1, port: 80 };
        let now = Instant::from_nanos(0);
        let opened = stack.connect(now, 0, to, &OpenOptions::default(), 1500);
        let (id, _) = opened.expect("a port is free");
        stack.with(now, id, call).expect("it is held")
    }

    /// Linux `expire_timers()`: what was put into a bucket of the wheel last runs first.
    #[test]
    fn timers_of_one_tick_run_newest_first() {
        let mut stack = stack();
        let to = Addr { host: 1, port: 80 };
        let now = Instant::from_nanos(0);
        let mut ports = Vec::new();
        for _ in 0..3 {
            let opened = stack.connect(now, 0, to, &OpenOptions::default(), 1500);
            ports.push(opened.expect("a port is free").1.port);
        }
        while stack.poll_segment().is_some() {}
        let at = stack.next_timer().expect("SYNs are waited for");
        stack.on_timer(at);
        let again = std::iter::from_fn(|| stack.poll_segment());
        let again: Vec<u16> = again.map(|segment| segment.src.port).collect();
        ports.reverse();
        assert_eq!(again, ports);
    }

    /// Connections in use; tests/pair/memory.rs has what idle ones take.
    #[test]
    fn a_connection_is_small() {
        assert!(size_of::<Endpoint>() <= 1040, "{}", size_of::<Endpoint>());
        assert!(size_of::<Skb>() <= 64, "{}", size_of::<Skb>());
        assert!(size_of::<Record>() <= 24, "{}", size_of::<Record>());
        assert!(size_of::<TimeWait>() <= 80, "{}", size_of::<TimeWait>());
    }
}
