//! The analyser of one capture: packets to connections, connections to reports.

use std::collections::VecDeque;
use std::ops::Range;

use tcplab_base::Instant;
use tcplab_wire::{IcmpError, NotTcp, TcpFlags, TcpPacket};

use crate::bounds::{Options, Scales};
use crate::conn::{Connection, Moment};
use crate::findings::{self, Finding, Limits, Shared};
use crate::numbering::Isns;
use crate::report::{Stream, Totals};
use crate::slots::{Life, Slots};
use crate::stamps::Doubts;
use crate::table::{Key, Place, Table};
use crate::trace::{Shelf, StreamTrace};
use crate::young::Young;

/// Something that is finished.
#[derive(Debug)]
pub enum Output {
    /// A connection.
    Stream(Box<Stream>),
    /// Its findings follow it; those of several streams together and those about the whole capture come last.
    Finding(Box<Finding>),
    /// Its packets, as far as [`Options::rows`] says.
    Trace(Box<StreamTrace>),
}

/// Of the connections that may be held, this part (1 of so many) may have barely begun.
const BEGUN: usize = 8;

/// While fewer connections live, there is memory for the whole state of each from its first packet on. Few in a debug
/// build, so that tests meet both.
const FEW: usize = if cfg!(debug_assertions) { 2 } else { 16_384 };

/// Nanoseconds. Time stamps that are all multiples of it do not measure a connection.
const SECOND: i64 = 1_000_000_000;

/// From this part (1 of so many) of the TCP packets on, those that were cut before their header may hide anything.
const UNREAD: u64 = 100;

/// The analyser of one capture.
#[derive(Debug)]
pub struct Analyzer {
    options: Options,
    pub(crate) totals: Totals,
    table: Table,
    slots: Slots,
    /// The last packet's pair and the slot of its connection: packets come in groups.
    recent: Option<(Key, u32)>,
    limits: Limits,
    /// What connections may share.
    shared: Shared,
    shelf: Shelf,
    scales: Scales,
    /// TCP packets cut so short that nobody knows whose they are.
    stubs: u64,
    pub(crate) last: Option<Instant>,
    pub(crate) doubts: Doubts,
    /// All time stamps so far are whole seconds.
    coarse: bool,
    ready: VecDeque<Output>,
    /// No packet follows.
    finished: bool,
    /// After the last packet: slots of the connections that remain to be handed out.
    closing: Option<Range<u32>>,
}

impl Analyzer {
    /// An analyser that has seen nothing.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            totals: Totals::default(),
            table: Table::new(options.hash_seed, options.max_streams),
            slots: Slots::default(),
            recent: None,
            limits: Limits::default(),
            shared: Shared::default(),
            shelf: Shelf::new(options.rows, options.max_rows),
            scales: Scales::new(options.max_streams),
            stubs: 0,
            last: None,
            doubts: Doubts::default(),
            coarse: true,
            ready: VecDeque::new(),
            finished: false,
            closing: None,
        }
    }

    /// Hands out these streams and their findings only; all when `streams` is empty. The totals name them, and their
    /// counts of packets and streams stay those of the capture.
    #[must_use]
    pub fn only(mut self, streams: &[u32]) -> Self {
        self.totals.only_streams = streams.to_vec();
        self
    }

    /// Whether a stream is handed out.
    fn wants(&self, stream: u32) -> bool {
        let only = &self.totals.only_streams;
        only.is_empty() || only.contains(&stream)
    }

    /// Takes a TCP packet: its frame number in the file, its time stamp, its fields.
    #[inline]
    pub fn packet(&mut self, number: u64, time: Option<Instant>, packet: &TcpPacket) {
        if self.doubts.has(self.last, time) {
            self.doubt(number, time, packet);
        } else {
            self.take(number, time, false, packet);
        }
    }

    /// The same, of a packet whose stamp is in no doubt; `moved`: it was wrong, and `time` is a guess.
    pub(crate) fn take(
        &mut self,
        number: u64,
        time: Option<Instant>,
        moved: bool,
        packet: &TcpPacket,
    ) {
        self.totals.packets += 1;
        self.totals.tcp_packets += 1;
        self.totals.time_out_of_order += u64::from(moved);
        let odd = time.is_none() || moved;
        let now = self.clock(time);
        let Some((index, dir)) = self
            .same_as_before(packet)
            .or_else(|| self.place(now, packet))
        else {
            return;
        };
        let with = (&self.options.caqm, &mut self.shelf);
        let take = |young: &mut Young| !odd && young.take(number, now, dir, packet);
        let Some(connection) = self.slots.grown(index, take, with) else {
            self.weigh();
            return;
        };
        if odd {
            connection.odd_time(moved);
        }
        let was_over = connection.over;
        connection.packet(
            number,
            now,
            dir,
            packet,
            &self.options.caqm,
            &mut self.shelf,
        );
        if !was_over && connection.over {
            self.slots.ended(index);
            while let Some(index) = self.slots.lingered() {
                self.hand_out(index, true);
            }
        }
        self.weigh();
    }

    /// Keeps the memory of all connections below its limit.
    #[inline]
    fn weigh(&mut self) {
        if self.totals.tcp_packets >= self.scales.next {
            let heavy = self.scales.weigh(self.totals.tcp_packets, &mut self.slots);
            heavy.into_iter().for_each(|index| self.evict(index));
        }
    }

    /// The slot of the last packet and the direction, when this one belongs to the same connection.
    #[inline]
    fn same_as_before(&self, p: &TcpPacket) -> Option<(u32, usize)> {
        let (key, index) = self.recent.as_ref()?;
        if p.flags.has(TcpFlags::SYN) {
            return None;
        }
        let dir = key.direction(p)?;
        Some((*index, dir))
    }

    /// The slot of the packet's connection and the direction, a new one where it begins one; `None` for a late
    /// packet of a connection that was handed out.
    fn place(&mut self, now: Instant, p: &TcpPacket) -> Option<(u32, usize)> {
        let (key, from_a) = Key::of(p);
        let dir = usize::from(!from_a);
        let fingerprint = self.table.fingerprint(&key);
        let mut reused = None;
        match self.table.find(fingerprint) {
            Some(Place::Live(index)) => {
                if !self.reuses(index, now, from_a, p)? {
                    self.recent = Some((key, index));
                    return Some((index, dir));
                }
                reused = Some(self.hand_out(index, true));
            }
            Some(Place::Gone(isns)) if !isns.reused_by(dir, p) => {
                self.totals.late_packets += 1;
                return None;
            }
            Some(Place::Gone(older)) => reused = Some(older.ended),
            None => {}
        }
        self.make_room();
        let stream = self.totals.tcp_streams as u32;
        self.totals.tcp_streams += 1;
        let trace = self.shelf.is_open() && self.wants(stream);
        let life = if trace || self.slots.live() < FEW {
            Life::Grown(
                self.slots
                    .room(Connection::new(stream, key, now, reused, trace)),
            )
        } else {
            Life::Young(Box::new(Young::new(stream, key, now, reused)))
        };
        let index = self.slots.insert(life);
        self.table.begins(fingerprint, index);
        if let Some(limit) = self.options.max_streams {
            let old = self.slots.began(index, limit / BEGUN);
            old.into_iter().flatten().for_each(|i| self.evict(i));
        }
        Some((index, dir))
    }

    /// Whether a packet with the ports of the connection in a slot begins another one.
    fn reuses(&mut self, index: u32, now: Instant, from_a: bool, p: &TcpPacket) -> Option<bool> {
        let mut told = None;
        let with = (&self.options.caqm, &mut self.shelf);
        let look = |young: &mut Young| {
            told = young.reuses(p);
            told.is_some()
        };
        match self.slots.grown(index, look, with) {
            Some(connection) => {
                let reuses = connection.compat.reuses(from_a, p);
                if reuses {
                    connection.precedes(now);
                }
                Some(reuses)
            }
            None => told,
        }
    }

    /// Keeps the number of live connections below the limit.
    fn make_room(&mut self) {
        let Some(limit) = self.options.max_streams else {
            return;
        };
        while self.slots.live() >= limit.max(1) {
            let Some(index) = self.slots.inactive() else {
                return;
            };
            self.evict(index);
        }
    }

    /// Hands out a connection that is not over.
    fn evict(&mut self, index: u32) {
        self.totals.evicted_streams += 1;
        self.hand_out(index, false);
    }

    /// Time of the packet; without one, that of the packet before.
    #[inline]
    fn clock(&mut self, time: Option<Instant>) -> Instant {
        match (time, self.last, &mut self.totals.time_ns) {
            (Some(now), Some(last), Some((_, end))) if now >= last => {
                let ns = now.as_nanos();
                self.coarse = self.coarse && ns % SECOND == 0;
                self.last = time;
                *end = ns.max(*end);
                now
            }
            _ => self.odd_clock(time),
        }
    }

    /// The same for the first packet, for one without a time, and for one that is before the last.
    #[cold]
    fn odd_clock(&mut self, time: Option<Instant>) -> Instant {
        let Some(now) = time else {
            self.totals.time_out_of_order += 1;
            return self.last.unwrap_or_default();
        };
        let before = self.last;
        if let Some(last) = before {
            self.totals.time_out_of_order += u64::from(now < last);
        }
        self.last = Some(now);
        let ns = now.as_nanos();
        self.coarse = self.coarse && ns % SECOND == 0;
        let (first, end) = self.totals.time_ns.unwrap_or((ns, ns));
        let packets = self.totals.tcp_packets;
        let in_doubt = before.is_some_and(|last| self.doubts.goes_back(last, now, packets));
        let first = if in_doubt { first } else { first.min(ns) };
        self.totals.time_ns = Some((first, end.max(ns)));
        now
    }

    /// Counts a frame that holds no TCP.
    pub fn other(&mut self, why: NotTcp) {
        self.totals.packets += 1;
        match why {
            NotTcp::Fragment => self.totals.fragments += 1,
            NotTcp::TcpStub => {
                self.totals.tcp_packets += 1;
                self.totals.truncated += 1;
                self.stubs += 1;
            }
            NotTcp::Truncated => self.totals.truncated += 1,
            NotTcp::Malformed => self.totals.malformed += 1,
            NotTcp::UnknownLink => self.totals.unknown_link += 1,
            NotTcp::NotIp | NotTcp::OtherProtocol(_) => {}
        }
    }

    /// Takes off the fragments that a later frame completed.
    #[cold]
    pub(crate) fn joined(&mut self, frames: u64) {
        self.totals.fragments = self.totals.fragments.saturating_sub(frames);
    }

    /// Takes an ICMP error that quotes a TCP packet, after [`Analyzer::packet`] or [`Analyzer::other`] took its frame: it
    /// belongs to the connection of the quoted packet, if that is open.
    #[cold]
    pub fn icmp(&mut self, number: u64, error: &IcmpError) {
        let (key, from_a) = Key::between(error.src, error.dst);
        let fingerprint = self.table.fingerprint(&key);
        self.settle_stamps();
        let Some(Place::Live(index)) = self.table.find(fingerprint) else {
            return;
        };
        let with = (&self.options.caqm, &mut self.shelf);
        if let Some(connection) = self.slots.grown(index, |_| false, with) {
            connection.icmp(number, usize::from(!from_a), error);
        }
    }

    /// The next finished thing, if any.
    #[inline]
    pub fn poll(&mut self) -> Option<Output> {
        if self.ready.is_empty() && self.closing.is_some() {
            self.close_next();
        }
        self.ready.pop_front()
    }

    /// Closes every connection that is still open: drain [`Analyzer::poll`] after it, then look at the
    /// totals. Each connection makes its report when it is asked for, in the memory of the one before.
    pub fn finish(&mut self) {
        self.settle_stamps();
        if let (Some(at), Some((first, _))) = (self.doubts.earliest(), &mut self.totals.time_ns) {
            *first = at.as_nanos().min(*first);
        }
        self.finished = true;
        self.closing = Some(self.slots.indices());
    }

    /// Makes the next things ready after [`Analyzer::finish`].
    #[cold]
    fn close_next(&mut self) {
        let Some(mut closing) = self.closing.take() else {
            return;
        };
        for index in closing.by_ref() {
            self.hand_out(index, true);
            if !self.ready.is_empty() {
                self.closing = Some(closing);
                return;
            }
        }
        let shared = self.shared.findings().into_iter();
        let shared: Vec<_> = shared.filter(|f| self.limits.admit(f.id)).collect();
        self.ready
            .extend(shared.into_iter().map(|f| Output::Finding(Box::new(f))));
        let rest = self.limits.about_the_capture();
        self.ready
            .extend(rest.into_iter().map(|f| Output::Finding(Box::new(f))));
        self.totals.findings_not_listed = self.limits.not_listed();
        let unread = self.stubs > 0 && self.stubs * UNREAD >= self.totals.tcp_packets;
        self.totals.not_checked = self.limits.not_checked(unread);
        self.totals.forgotten_streams = self.table.forgotten();
        self.totals.rows_left_out = self.shelf.left_out;
    }

    /// The counts so far. `error` is for the caller to fill in.
    pub fn totals(&self) -> &Totals {
        &self.totals
    }

    /// Reports a connection and leaves its tombstone. Gives when it ended, if it had been open.
    fn hand_out(&mut self, index: u32, whole: bool) -> Moment {
        let with = (&self.options.caqm, &mut self.shelf);
        let Some(mut connection) = self.slots.take(index, with) else {
            return Moment::default();
        };
        self.recent = None;
        let ended = connection.ended();
        let isns = [true, false].map(|from_a| connection.compat.base_seq(from_a));
        let fingerprint = self.table.fingerprint(&connection.key);
        if !self.finished {
            self.table.ends(fingerprint, Isns::new(isns, ended));
        }
        if !self.wants(connection.stream) {
            return ended;
        }
        let stands_still = self.totals.time_ns.is_some_and(|(first, end)| first == end);
        if (self.coarse || stands_still) && connection.answers_at_once() {
            connection.lacks_times();
        }
        if !whole && let Some(tracker) = connection.tracker.as_deref_mut() {
            tracker.drop_early();
        }
        connection.close();
        let found = findings::of(&connection, &self.limits);
        let mut report = connection.report(&mut self.totals);
        report.not_checked = found.lacks();
        report.reported_early = !whole;
        self.limits
            .note_not_checked(report.stream, &found.not_checked);
        self.limits.note(&connection, &report);
        self.shared.note(found.lossy);
        let all = found.findings.into_iter();
        let (listed, unlisted): (Vec<_>, Vec<_>) = all.partition(|f| self.limits.admit(f.id));
        report.unlisted = unlisted.iter().map(|f| (f.id, f.severity)).collect();
        self.ready.push_back(Output::Stream(Box::new(report)));
        let listed = listed.into_iter().map(Box::new);
        self.ready.extend(listed.map(Output::Finding));
        if let Some(trace) = connection.take_trace() {
            self.shelf.took(&trace);
            self.ready.push_back(Output::Trace(trace));
        }
        self.slots.give_back(connection);
        ended
    }
}
