//! One connection: the order in which a packet is looked at, and the handshake.
//!
//! A packet is first counted, then read as an ACK (it tells what its sender had received), then
//! as data. Each of these is one file: `input` and `ack`, `data` and `flight`, `loss` and `episode`,
//! `window`; `finish` makes the report.

mod ack;
mod ahead;
mod alone;
mod bucket;
mod caqm;
mod clock;
mod copy;
mod data;
mod dir;
mod episode;
mod events;
mod finish;
mod flight;
mod hidden;
mod icmp;
mod input;
mod load;
mod lone;
mod loss;
mod moment;
mod opening;
mod passed;
mod quick_model;
mod reset;
mod roles;
mod round_trip;
mod rounds;
mod segment_size;
mod steps;
mod turns;
mod unclear;
mod untimed;
mod weight;
mod window;

use tcplab_base::{Duration, Instant};
use tcplab_wire::{CaqmUnits, IcmpError, Standing, TcpFlags, TcpPacket};

pub(crate) use ack::{AckStats, TIMER_US};
pub(crate) use ahead::Ahead;
pub(crate) use alone::{Alone, HELD_US};
pub(crate) use bucket::Bucket;
pub(crate) use caqm::{Offer, Tags};
pub(crate) use dir::{Dir, Unanswered};
pub(crate) use episode::{Episodes, KEPT, Record};
pub(crate) use events::Events;
pub(crate) use flight::Segment;
pub(crate) use icmp::{Icmp, TooBig};
pub(crate) use load::{QueueWaits, Reordered, STANDING_US};
pub(crate) use opening::Opening;
pub(crate) use passed::Passed;
pub(crate) use reset::{Ignored, Reset, Went};
pub(crate) use rounds::{Flat, Level, Run};
pub(crate) use steps::Step;
pub(crate) use turns::{SLOW_US, Slow, Waits};
pub(crate) use unclear::{Evidence, Released};
pub(crate) use window::scale_known;

use crate::budget::{Event, Tracker};
use crate::compat::{Compat, Verdicts};
use crate::table::Key;
use crate::trace::{AckClass, Row, SegmentKind, Shelf, StreamTrace};
use data::At;
use dir::PROVEN;
use input::Told;
use loss::Fix;
pub(crate) use loss::Loss;
pub(crate) use moment::Moment;
use turns::{Before, SILENT, Turns};

/// State of one connection.
#[derive(Debug)]
pub(crate) struct Connection {
    pub stream: u32,
    pub key: Key,
    pub start: Instant,
    /// Frame number of its first packet.
    pub first: u64,
    pub last: Instant,
    pub compat: Compat,
    /// `[0]` is what `key.a` sent.
    pub dirs: [Dir; 2],
    /// Index of the client's side, where the handshake told, or at the end its requests.
    client: Option<u8>,
    /// The side whose data came last is the second one.
    talker: Option<bool>,
    pub turns: Option<Box<Turns>>,
    pub opening: Option<Box<Opening>>,
    pub handshake: Handshake,
    /// The connection is over (both FINs ACKed, or a RST).
    pub over: bool,
    /// Steps of the capture's clock.
    steps: Option<Box<steps::Steps>>,
    trace: Option<Box<StreamTrace>>,
    /// Where the time went; made with the first packet that can tell.
    pub(crate) tracker: Option<Box<Tracker>>,
}

/// What was seen of the handshake and the end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Handshake {
    /// When an open connection of the same ports ended.
    pub ports_free: Moment,
    pub syn_at: Moment,
    pub synack_at: Moment,
    pub done: bool,
    pub synacks_again: u32,
    pub syns_again: u32,
    pub server_rtt_us: Option<u32>,
    pub client_rtt_us: Option<u32>,
    /// Low half of the time stamp of each side's first SYN: SYNs a moment or seconds apart differ in it.
    pub syn_stamps: [u16; 2],
    pub reset: bool,
    pub refused: bool,
    pub caqm: Offer,
}

impl Handshake {
    /// A SYN or a SYN-ACK was seen.
    pub(crate) fn is_begun(&self) -> bool {
        self.syn_at.is_some() || self.synack_at.is_some()
    }

    /// Both the SYN and the SYN-ACK were seen.
    pub(crate) fn is_whole(&self) -> bool {
        self.syn_at.is_some() && self.synack_at.is_some()
    }
}

impl Connection {
    /// `reused`: its ports were those of an older connection; when that ended, if it had been open.
    pub(crate) fn new(
        stream: u32,
        key: Key,
        start: Instant,
        reused: Option<Moment>,
        trace: bool,
    ) -> Self {
        let trace = trace.then(|| {
            Box::new(StreamTrace {
                stream,
                start,
                ..StreamTrace::default()
            })
        });
        Self {
            stream,
            key,
            start,
            first: 0,
            last: start,
            compat: Compat::new(reused.is_some()),
            dirs: [Dir::new(), Dir::new()],
            client: None,
            talker: None,
            turns: None,
            opening: None,
            handshake: Handshake {
                ports_free: reused.unwrap_or_default(),
                ..Handshake::default()
            },
            over: false,
            steps: None,
            trace,
            tracker: None,
        }
    }

    /// When its last packet passed, if it was ever open.
    pub(crate) fn ended(&self) -> Moment {
        let mut ended = Moment::default();
        let [a, b] = &self.dirs;
        let in_its_middle = !self.handshake.is_begun() && a.packets + b.packets > 1;
        if self.handshake.done || in_its_middle || (a.data_bytes > 0 && b.data_bytes > 0) {
            ended.set(self.file_time(self.last));
        }
        ended
    }

    /// Whether the scale of the windows that a side advertises is known.
    pub(crate) fn scale_known(&self, of_a: bool) -> bool {
        let [a, b] = &self.dirs;
        if of_a {
            window::scale_known(a, b)
        } else {
            window::scale_known(b, a)
        }
    }

    /// Takes the next packet. `dir` is 0 when `key.a` sent it.
    pub(crate) fn packet(
        &mut self,
        number: u64,
        now: Instant,
        dir: usize,
        p: &TcpPacket,
        units: &CaqmUnits,
        shelf: &mut Shelf,
    ) {
        if self.first == 0 {
            self.first = number;
        }
        let verdicts = self.compat.packet(now, number, dir == 0, p);
        let now = self.clock(dir, p, number, now);
        let mut kind = SegmentKind::PureAck;
        let mut told = Told::default();
        let mark = dir::mark(p);
        if !p.standing.has_length() {
            // Nothing but its header fields is known.
            if p.standing == Standing::FirstFragment {
                self.dirs[dir].seldom_mut().cut_fragments += 1;
            }
            self.dirs[dir].count(p, verdicts, At { number, now });
        } else if self.is_copy(dir, mark, p, now) {
            self.note_copy(dir, p, now);
        } else {
            self.dirs[dir].count(p, verdicts, At { number, now });
            if p.payload_len > 0 {
                let (mss, window) = (self.dirs[1 - dir].mss, self.dirs[1 - dir].window);
                self.dirs[dir].learn_size(p, mss, window);
            }
            let at = At { number, now };
            if p.flags.has(TcpFlags::SYN | TcpFlags::RST | TcpFlags::FIN) {
                self.control(dir, p, at);
            }
            if let Some(opening) = self.opening.as_deref_mut()
                && self.client != Some(dir as u8)
                && !p.flags.has(TcpFlags::SYN)
            {
                opening.taken.set_first(now);
            }
            (kind, told) = self.segment(dir, p, verdicts, at);
            self.tag(dir, p, number, units);
            self.handshake_ack(dir, p, now);
            if self.handshake.reset {
                self.goes_on(dir, p, at);
            } else {
                self.dirs[dir].follow_ttl(p.ttl);
            }
            self.dirs[dir].previous = mark;
            self.spend(dir, p, At { number, now }, (kind, &told));
            self.dirs[dir].follow_id(p.ip_id.unwrap_or(0));
            self.dirs[dir].last_packet = now;
            if let Some(rare) = self.dirs[dir].rare.as_deref_mut() {
                rare.keep_mark(mark, now);
            }
        }
        if self.trace.is_some() {
            self.record(
                Seen {
                    number,
                    now,
                    dir,
                    kind,
                    told,
                    verdicts,
                },
                p,
                shelf,
            );
        }
        self.apply_fixes();
    }

    /// A packet after a RST. Where it shows that the RST was ignored, that one ended nothing.
    #[cold]
    fn goes_on(&mut self, dir: usize, p: &TcpPacket, at: At) {
        let [a, b] = &mut self.dirs;
        let (tx, rx) = if dir == 0 { (a, b) } else { (b, a) };
        tx.after_reset(p, at);
        if rx.peer_after_reset(tx, p, at) {
            rx.ignore_reset();
            let stands = |d: &Dir| d.rare.as_deref().is_some_and(|r| r.reset.is_some());
            self.handshake.reset = self.dirs.iter().any(stands);
            self.over = self.handshake.reset || self.dirs.iter().all(|d| d.fin_acked);
        }
    }

    /// Takes an ICMP error about a packet that side `dir` had sent.
    pub(crate) fn icmp(&mut self, number: u64, dir: usize, error: &IcmpError) {
        let peer_mss = self.dirs[1 - dir].mss;
        self.dirs[dir].icmp_error(error, peer_mss, number);
    }

    /// The time of a packet, with steps of the capture's clock taken out.
    #[inline]
    fn clock(&mut self, dir: usize, p: &TcpPacket, number: u64, now: Instant) -> Instant {
        let gap = now.as_nanos().wrapping_sub(self.last.as_nanos());
        let goes_on = (0..steps::AHEAD.as_nanos()).contains(&gap) && self.steps.is_none();
        let now = if goes_on {
            now
        } else {
            self.unsteady(dir, p, number, now)
        };
        self.last = self.last.max(now);
        now
    }

    /// The packet as an ACK and as data.
    // One caller: what it tells is large, and stays in place.
    #[inline(always)]
    fn segment(&mut self, dir: usize, p: &TcpPacket, v: Verdicts, at: At) -> (SegmentKind, Told) {
        if self.answers_older_connection(dir, p) {
            if !p.flags.has(TcpFlags::RST) {
                self.opening.get_or_insert_default().older(at.number);
            }
            return (SegmentKind::PureAck, Told::default());
        }
        let [a, b] = &mut self.dirs;
        let (tx, rx) = if dir == 0 { (a, b) } else { (b, a) };
        tx.follow_window(p, rx, at);
        let speaks = |talker| talker != Some(dir == 1) || at.now.since(tx.last_data) >= SILENT;
        let begins = p.payload_len > 0 && speaks(self.talker);
        let before = begins.then(|| Before::look(tx, rx, p, at.now));
        let crosses = crosses(tx, rx, p);
        let told = if p.flags.has(TcpFlags::ACK) {
            input::on_ack(tx, rx, p, v, at)
        } else {
            Told::default()
        };
        if p.flags.has(TcpFlags::RST) || crosses {
            return (SegmentKind::PureAck, told);
        }
        let kind = data::on_segment(tx, rx, p, at);
        if let Some((tsval, _)) = p.options.timestamps {
            tx.timestamps = true;
            tx.stamps_used |= !p.flags.has(TcpFlags::SYN | TcpFlags::RST);
            tx.one_way.see(tsval, at.now);
            if p.payload_len > 0 {
                tx.clock.tick(tsval, at.now);
            }
            if tx.echo_at.is_none() {
                tx.await_echo(tsval, kind == SegmentKind::New, rx, at.now);
            }
        }
        if is_unusual(p.payload_len, rx) && p.payload_len > tx.full_payload(rx.mss) {
            let full = tx.full_payload(rx.mss).max(1);
            let rare = tx.rare();
            let more = p.payload_len.div_ceil(full) - 1;
            rare.joined_segments = rare.joined_segments.saturating_add(more);
            if rare.first_super == 0 {
                rare.first_super = at.number;
            }
        }
        if let Some(before) = before
            && kind == SegmentKind::New
            && let Some(talker) = self.talker.replace(dir == 1)
        {
            if talker != (dir == 1) {
                let turns = self.turns.get_or_insert_default();
                turns.begin(dir, &self.dirs, before, at);
            } else if let Some(turns) = self.turns.as_deref_mut()
                && !self.handshake.reset
            {
                turns.go_on(dir, &self.dirs, before, at);
            }
        }
        if kind.is_again() {
            self.sent_again(dir, at.number);
        }
        if kind == SegmentKind::OutOfOrder {
            self.dirs[dir].count_late(p);
        }
        (kind, told)
    }

    /// The SYN met the remains of an older connection of the same ports: RFC 5961 4, a challenge ACK with the older
    /// connection's numbers, which the client answers with a RST.
    fn answers_older_connection(&self, dir: usize, p: &TcpPacket) -> bool {
        let h = &self.handshake;
        let peer = &self.dirs[1 - dir];
        !self.dirs[dir].started
            && h.syn_at.is_some()
            && h.synack_at.is_none()
            && self.client == Some(1 - dir as u8)
            && !p.flags.has(TcpFlags::SYN)
            && p.payload_len == 0
            && !(p.ack.after(peer.una) && p.ack.at_or_before(peer.nxt))
    }

    /// The CAQM tag, and the answer to an offer.
    #[inline]
    fn tag(&mut self, dir: usize, p: &TcpPacket, number: u64, units: &CaqmUnits) {
        let is_answer = p.flags.has(TcpFlags::SYN) && p.flags.has(TcpFlags::ACK);
        if is_answer && self.handshake.caqm.is_answered() {
            let own = self.dirs[dir].rare().caqm_tags.get_or_insert_default();
            own.answer(number);
        }
        let Some(info) = p.encap.caqm else {
            return;
        };
        let own = self.dirs[dir].rare().caqm_tags.get_or_insert_default();
        own.take(number, p, info, units);
        if info.is_data() || info.cc_type() != units.cc_type {
            return;
        }
        let peer = self.dirs[1 - dir].rare.as_deref_mut();
        if let Some(tags) = peer.and_then(|rare| rare.caqm_tags.as_deref_mut()) {
            tags.worth_told = tags.worth;
        }
    }

    /// SYN, FIN, RST.
    fn control(&mut self, dir: usize, p: &TcpPacket, at: At) {
        let now = at.now;
        let begins = self.only_syns(dir);
        if p.flags.has(TcpFlags::RST) && !begins {
            let [a, b] = &mut self.dirs;
            let (tx, rx) = if dir == 0 { (a, b) } else { (b, a) };
            tx.note_reset(rx, p, at);
        }
        let ack = p.flags.has(TcpFlags::ACK);
        // SYNs that cross (RFC 9293 figure 8): the second SYN answers nothing, and the SYN-ACK of the first side answers it.
        let is_other = |c| (usize::from(c) == dir) == ack;
        let crosses = p.flags.has(TcpFlags::SYN) && self.client.is_some_and(is_other);
        if ack && p.flags.has(TcpFlags::SYN) && !crosses {
            self.answered(dir, p, at);
        }
        let h = &mut self.handshake;
        if p.flags.has(TcpFlags::RST) {
            let by_server = self.client == Some(1 - dir as u8);
            if by_server && begins && h.synack_at.is_none() {
                h.refused = true;
                self.dirs[dir].rare().refuses = true;
            }
            h.reset = true;
            self.over = true;
        } else if crosses {
            h.caqm.take(p.flags);
            self.learn_syn(dir, p);
        } else if p.flags.has(TcpFlags::SYN) {
            h.caqm.take(p.flags);
            let sent = if ack { &mut h.synack_at } else { &mut h.syn_at };
            if let Some(before) = sent.get() {
                let opening = self.opening.get_or_insert_default();
                opening.first[usize::from(ack)].set_first(before);
            }
            let first = sent.set(now);
            if first && !ack {
                self.late_syn(dir, p, at);
            }
            if first {
                self.learn_syn(dir, p);
            }
            let h = &mut self.handshake;
            if first {
                if ack && p.options.timestamps.is_none() && !p.header_truncated {
                    self.dirs[1 - dir].timestamps = false;
                }
            } else if ack {
                h.synacks_again += 1;
            } else {
                h.syns_again += 1;
            }
            if let (true, Some(syn), None) = (ack, h.syn_at.get(), h.server_rtt_us) {
                let us = now.since(syn).as_micros_u32();
                h.server_rtt_us = Some(us);
                if h.syns_again == 0 {
                    self.dirs[dir].answered_after(us);
                    self.dirs[dir].prove_path(PROVEN);
                }
            }
            self.client
                .get_or_insert((if ack { 1 - dir } else { dir }) as u8);
        } else {
            self.dirs[dir].fin_seen = true;
            if let (Some(turns), Some(talker)) = (self.turns.as_deref_mut(), self.talker) {
                turns.fin(dir, talker.into(), &self.dirs, p, now);
            }
        }
    }

    /// A SYN or SYN-ACK of a side: its options.
    fn learn_syn(&mut self, dir: usize, p: &TcpPacket) {
        self.handshake.syn_stamps[dir] = p.options.timestamps.map_or(0, |t| t.0 as u16);
        self.dirs[dir].learn_options(p);
        window::agree_on_scale(&mut self.dirs);
    }

    /// The first SYN of a side passes. Where its SYN-ACK, or more, is in the file before it, the file has them in the wrong
    /// order, and nothing was sent again.
    fn late_syn(&mut self, dir: usize, p: &TcpPacket, at: At) {
        let own = &mut self.dirs[dir];
        if !own.started || (p.seq + 1).after(own.nxt) {
            return;
        }
        own.seldom_mut().late_syn = at.number;
        let Some(synack) = self.handshake.synack_at.get().filter(|s| *s >= at.now) else {
            return;
        };
        let us = synack.since(at.now).as_micros_u32();
        self.handshake.server_rtt_us = Some(us);
        self.dirs[1 - dir].answered_after(us);
        self.dirs[1 - dir].prove_path(PROVEN);
        if self.tracker.is_none() {
            self.start = self.start.min(at.now);
            if let Some(trace) = self.trace.as_deref_mut() {
                trace.start = self.start;
            }
        }
    }

    /// The client, of which the capture has the SYN, has sent nothing but SYNs before this packet of side `dir`.
    fn only_syns(&self, dir: usize) -> bool {
        let h = &self.handshake;
        let sent = |client: u8| {
            let client = usize::from(client);
            self.dirs[client].packets - u32::from(client == dir)
        };
        h.syn_at.is_some() && self.client.is_some_and(|c| sent(c) == h.syns_again + 1)
    }

    /// A SYN-ACK of side `dir`, before the handshake takes it in.
    fn answered(&mut self, dir: usize, p: &TcpPacket, at: At) {
        let h = &self.handshake;
        if h.synack_at.is_none() && h.syns_again > 0 {
            let opening = self.opening.get_or_insert_default();
            opening.unanswered_syns = h.syns_again;
            let echo = p.options.timestamps.map(|t| t.1 as u16);
            opening.names_first = echo == Some(h.syn_stamps[1 - dir]) && h.syn_at.is_some();
            opening.answer(0, at.now);
        } else if let (Some(synack), Some(us)) = (h.synack_at.get(), h.client_rtt_us) {
            let done_at = synack + Duration::from_micros(us.into());
            let path = Duration::from_micros(h.server_rtt_us.unwrap_or(0).into());
            let only_synacks = self.dirs[dir].packets == h.synacks_again + 2;
            if only_synacks {
                let has_data = self.dirs[1 - dir].first_data.is_some();
                let opening = self.opening.get_or_insert_default();
                opening.synack_again(done_at, path, has_data, at);
            }
        }
    }

    /// Side `dir` sends a segment again.
    fn sent_again(&mut self, dir: usize, number: u64) {
        let h = &self.handshake;
        let from_client = self.client == Some(dir as u8);
        let only_synacks = self.dirs[1 - dir].packets == h.synacks_again + 1;
        if h.done && from_client && only_synacks {
            let opening = self.opening.get_or_insert_default();
            opening.sent_again(number);
        }
    }

    /// The ACK that completes the handshake; later, whether both FINs are ACKed.
    fn handshake_ack(&mut self, dir: usize, p: &TcpPacket, now: Instant) {
        let h = &mut self.handshake;
        if !h.done
            && let Some(synack) = h.synack_at.get()
            && self.client == Some(dir as u8)
            && p.flags.has(TcpFlags::ACK)
            && !p.flags.has(TcpFlags::SYN | TcpFlags::RST)
        {
            h.done = true;
            let us = now.since(synack).as_micros_u32();
            h.client_rtt_us = Some(us);
            // What comes behind a hole was sent later, once more or by a timer: its ACK was lost.
            let is_first = p.seq.at_or_before(self.dirs[dir].una);
            if h.synacks_again == 0 {
                self.dirs[dir].answered_after(us);
            } else if let Some(opening) = self.opening.as_deref_mut() {
                opening.answer(1, now);
            }
            if h.synacks_again == 0 && is_first {
                self.dirs[dir].prove_path(PROVEN);
            }
            if self.handshake.reset {
                self.stands_again();
            }
        }
        self.over |= self.dirs[0].fin_acked && self.dirs[1].fin_acked;
    }

    /// The handshake is done: a RST before it, of an older connection or a forged one, ended nothing.
    #[cold]
    fn stands_again(&mut self) {
        let stands = |d: &Dir| d.rare.as_deref().is_some_and(|r| r.reset.is_some());
        if self.dirs.iter().any(stands) {
            return;
        }
        (self.handshake.reset, self.handshake.refused, self.over) = (false, false, false);
        let rare = self.dirs.iter_mut().filter_map(|d| d.rare.as_deref_mut());
        rare.for_each(|r| r.refuses = false);
    }

    /// Gives out the time up to this packet.
    #[inline]
    fn spend(&mut self, dir: usize, p: &TcpPacket, at: At, (kind, told): (SegmentKind, &Told)) {
        let Some(tracker) = self.tracker.as_deref_mut() else {
            if self.last != self.start || p.payload_len > 0 {
                let begun = self.handshake.is_begun();
                self.tracker = Some(Box::new(Tracker::new(begun, self.trace.is_some())));
                self.book(dir, p, at, (kind, told));
            }
            return;
        };
        let own = &self.dirs[dir];
        // Most packets tell nothing, or what the one before told.
        let is_told = if p.payload_len > 0 {
            let us = micros(self.last.since(self.start));
            kind == SegmentKind::New && tracker.goes_on(&self.dirs, dir, p, us)
        } else {
            !tracker.listens(dir)
                && !p.flags.has(TcpFlags::FIN)
                && match &told.acked {
                    Some(acked) => acked.class != AckClass::Delayed,
                    None => own.window <= own.window_before && kind == SegmentKind::PureAck,
                }
        };
        if !is_told {
            self.book(dir, p, at, (kind, told));
        }
    }

    /// The same, of a packet that tells something.
    #[inline(never)]
    fn book(&mut self, dir: usize, p: &TcpPacket, at: At, (kind, told): (SegmentKind, &Told)) {
        let client = self.client_index();
        let Some(tracker) = self.tracker.as_deref_mut() else {
            return;
        };
        let event = Event {
            dirs: &self.dirs,
            dir,
            client,
            packet: p,
            number: at.number,
            kind,
            acked: told.acked.as_ref(),
            at: micros(self.last.since(self.start)),
            now: at.now,
            start: self.start,
            opening: self.handshake.is_begun() && !self.handshake.done,
        };
        tracker.packet(&event);
    }

    /// Writes the row of the trace.
    fn record(&mut self, seen: Seen, p: &TcpPacket, shelf: &mut Shelf) {
        let [a, b] = &self.dirs;
        let (tx, rx) = if seen.dir == 0 { (a, b) } else { (b, a) };
        let sack = p.options.sack.as_slice();
        let kind = match p.standing {
            Standing::Quoted => SegmentKind::Quoted,
            _ => seen.kind,
        };
        let row = Row {
            number: seen.number,
            time: seen.now,
            from_client: seen.dir == 0,
            seq: tx.relative(p.seq),
            len: p.payload_len,
            flags: p.flags.0,
            ack: p.flags.has(TcpFlags::ACK).then(|| rx.relative(p.ack)),
            window: tx.window,
            sack: sack
                .iter()
                .map(|s| (rx.relative(s.0), rx.relative(s.1)))
                .collect(),
            kind,
            spurious: false,
            acked: seen.told.acked,
            rtt_us: seen.told.rtt_us,
            in_flight: if tx.acks_seen {
                tx.nxt - tx.una.min(tx.nxt)
            } else {
                tx.flight.span()
            },
            caqm: p.encap.caqm,
            verdicts: seen.verdicts,
        };
        if let Some(trace) = &mut self.trace {
            shelf.put(trace, row);
        }
    }

    /// Carries out the corrections that later packets made necessary.
    fn apply_fixes(&mut self) {
        for dir in &mut self.dirs {
            let Some(loss) = dir.loss.as_deref_mut() else {
                continue;
            };
            for fix in loss.fixes.drain(..) {
                let Some(trace) = &mut self.trace else {
                    continue;
                };
                let (number, kind) = match fix {
                    Fix::Kind(number, kind) => (number, Some(kind)),
                    Fix::Spurious(number) => (number, None),
                };
                if let Some(row) = trace.row_mut(number) {
                    row.kind = kind.unwrap_or(row.kind);
                    row.spurious |= kind.is_none();
                }
            }
        }
    }

    /// The trace, with sides turned so that `from_client` is right.
    pub(crate) fn take_trace(&mut self) -> Option<Box<StreamTrace>> {
        let client = self.client_index();
        let mut trace = self.trace.take()?;
        trace.window_unscaled = [client == 0, client == 1].map(|of_a| !self.scale_known(of_a));
        for row in &mut trace.rows {
            row.from_client = row.from_client == (client == 0);
        }
        Some(trace)
    }
}

/// SYNs that cross (RFC 9293 figure 8): the first SYN-ACK of a side that had sent a SYN answers the peer's, and repeats nothing.
fn crosses(tx: &Dir, rx: &Dir, p: &TcpPacket) -> bool {
    let is_first = p.flags.has(TcpFlags::SYN) && p.flags.has(TcpFlags::ACK) && !rx.acks_seen;
    is_first && tx.started && rx.started && p.seq + 1 == tx.nxt
}

/// A payload of another length than the full segments that the receiver got so far.
#[inline]
fn is_unusual(payload: u32, rx: &Dir) -> bool {
    payload > 0 && (payload != u32::from(rx.rcv_mss) || rx.rcv_mss <= dir::RCV_MSS_START)
}

/// A length that is not negative, microseconds.
#[inline]
fn micros(length: Duration) -> u64 {
    length.as_micros().max(0) as u64
}

/// What was seen of one packet.
#[derive(Clone, Copy)]
struct Seen {
    number: u64,
    now: Instant,
    dir: usize,
    kind: SegmentKind,
    told: Told,
    verdicts: Verdicts,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_stays_small() {
        // What the bound of 1 kB for each open connection is made of.
        let sizes = [
            ("a connection", size_of::<Connection>(), 1440),
            ("a side of it", size_of::<Dir>(), 560),
            ("its time budget", size_of::<Tracker>(), 712),
            ("its ACKs", size_of::<AckStats>(), 192),
            ("its losses", size_of::<loss::Loss>(), 224),
            ("its rare counters", size_of::<dir::Rare>(), 120),
            ("a segment in flight", size_of::<Segment>(), 48),
        ];
        for (what, size, most) in sizes {
            assert!(size <= most, "{what} takes {size} bytes, not {most}");
        }
    }
}
