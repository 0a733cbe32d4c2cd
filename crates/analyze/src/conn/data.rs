//! A packet that takes sequence space: new data, a gap, a retransmission, a late arrival,
//! a keep-alive or a zero-window probe.

use tcplab_base::{Duration, Instant, Seq};
use tcplab_wire::{TcpFlags, TcpPacket};

use super::ack::TIMER_US;
use super::dir::{Dir, PROVEN};
use super::flight::Segment;
use super::hidden;
use super::input;
use super::load::{BULK, SILENCE};
use super::lone::Sends;
use super::loss::{Again, Hole, Loss, Stamp};
use super::passed::Passed;
use super::rounds::{self, Rounds};
use super::unclear::Held;
use crate::trace::SegmentKind;

/// A sequence number further away does not belong to the stream.
pub(super) const SANE: u32 = 1 << 30;
/// A segment that arrives this soon after its hole appeared is reordered, not retransmitted, at any round trip.
pub(super) const SURELY_LATE: Duration = Duration::from_millis(5);
/// Two IP identifications this close come from one counter (RFC 6864).
pub(super) const NEAR_IDS: i16 = 1000;

/// Payload of a full Ethernet frame (RFC 894, RFC 9293 3.7.1).
const ETHERNET: u32 = 1460;

/// After a RST a client retries sooner (Windows: after 500 ms). Without an answer it retries 1 s after its SYN (RFC
/// 6298 2.1), which is a little less after the RST passed.
const ANSWERED: Duration = Duration::from_millis(800);

/// Within this time a sender next to the capture sends what an ACK let go.
const RELEASED: Duration = Duration::from_micros(500);
/// A path longer than this, in microseconds, is not mistaken for that time.
const FAR_US: u32 = 2_000;
/// So often that is no chance.
const SURELY_HERE: u8 = 4;

/// Few round trips are longer.
const FAR: Duration = Duration::from_millis(300);

/// Where a packet stands: its frame number and time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct At {
    pub number: u64,
    pub now: Instant,
}

/// Takes a packet of `tx` that has payload, SYN or FIN, or may be a probe. `rx` is its peer.
pub(crate) fn on_segment(tx: &mut Dir, rx: &mut Dir, p: &TcpPacket, at: At) -> SegmentKind {
    let (seq, end) = (p.seq, p.seq_end());
    if !tx.started {
        tx.started = true;
        (tx.nxt, tx.una) = (seq, seq);
        tx.nxt_rel = u64::from(!p.flags.has(TcpFlags::SYN));
    }
    if let Some(kind) = probe(tx, rx, p, at) {
        return kind;
    }
    if seq == end {
        return SegmentKind::PureAck;
    }
    if p.payload_len > 0 {
        // What the peer sends now may answer this, not an ACK before it.
        if let Some(acks) = tx.acks.as_mut() {
            acks.release = None;
        }
        if let Some(last) = rx.loss.as_deref_mut().and_then(|l| l.episodes.last_mut()) {
            last.ended_at = None;
        }
    }
    if p.payload_len > 0
        && let Some(zero) = rx.zero.as_deref_mut()
    {
        zero.peer_sends(at.now, rtt(tx));
    }
    let distance = seq.distance(tx.nxt);
    if distance.unsigned_abs() > SANE {
        resync(tx, seq);
    }
    let kind = match distance {
        0 => {
            let again = if p.payload_len > 0 {
                hidden::timeout(tx, rx, p, at)
            } else {
                None
            };
            let kind = new_data(tx, rx, p, seq, at);
            again.map_or(kind, |again| tx.loss().again(&again))
        }
        1..=i32::MAX if distance.unsigned_abs() <= SANE => {
            hole_shows(tx, at.now);
            new_data(tx, rx, p, seq, at)
        }
        _ if distance.unsigned_abs() > SANE => new_data(tx, rx, p, seq, at),
        _ => old_data(tx, rx, p, at),
    };
    if p.payload_len > 0 {
        // An answer waits for its request, not for a timer.
        let silence = at.now.since(tx.last_data.max(rx.last_data));
        if tx.ordinal > BULK && (tx.ordinal & 3 == 0 || silence >= SILENCE) {
            under_load(tx, rx, p, silence, at);
        }
        if tx.loss.is_some()
            && let Some(passed) = tx.load_mut().and_then(|l| l.passed.as_deref_mut())
        {
            passed.passes(p.payload_len, kind == SegmentKind::New, at.now);
        }
        tx.last_data = at.now;
    }
    kind
}

/// Data of a sender of bulk passes, one in four or after `silence`.
fn under_load(tx: &mut Dir, rx: &Dir, p: &TcpPacket, silence: Duration, at: At) {
    let idle_us = tx.path_or_zero().saturating_add(rx.path_or_zero());
    let (ordinal, clock) = (tx.ordinal, tx.clock);
    let Some(load) = tx.load_mut() else { return };
    load.after(silence, ordinal, at.now);
    if let Some(stamps) = p.options.timestamps {
        load.heard.echoed(stamps.1);
        load.arrives(&clock, stamps, idle_us, at);
    }
}

/// Data passes beyond what was seen so far: a hole, unless the capture missed it.
fn hole_shows(tx: &mut Dir, now: Instant) {
    let (near, bytes) = (near(tx), tx.data_bytes);
    if let Some(load) = tx.load_mut() {
        load.hole_shows(bytes, now);
        let passed = load
            .passed
            .get_or_insert_with(|| Box::new(Passed::begin(now)));
        passed.hole(now);
    }
    let load = tx.load();
    let hole = Hole {
        queued: load.and_then(|l| l.arrived.queued()),
        timed_out: load.and_then(|l| l.timed_out(tx.ordinal, near?, now)),
    };
    let loss = tx.loss();
    if loss.asked.is_none() {
        loss.hole = Some(Box::new(hole));
    }
}

/// What passed as `[seq, end)` is sent again: it was lost behind the capture, as far as the sender knows.
fn lost_behind(tx: &mut Dir, seq: Seq, end: Seq) {
    let (flight, Some(load)) = (
        &tx.flight,
        tx.rtt.as_mut().and_then(|r| r.load.as_deref_mut()),
    ) else {
        return;
    };
    let passed = load.passed.get_or_insert_with(|| {
        let since = flight.front().map_or(Instant::default(), |s| s.first);
        let mut passed = Passed::begin(since);
        let all = flight.iter().filter(|s| s.payload > 0);
        all.for_each(|s| passed.passes(s.payload, true, s.first));
        Box::new(passed)
    });
    for s in flight.within(seq, end) {
        let part = s.end().min(end) - s.seq.max(seq);
        passed.lost(part.min(s.payload), s.last);
    }
}

/// Keep-alives (RFC 9293 3.8.4) and zero-window probes (3.8.6.1) carry at most one byte.
fn probe(tx: &mut Dir, rx: &mut Dir, p: &TcpPacket, at: At) -> Option<SegmentKind> {
    if p.payload_len > 1 || p.flags.has(TcpFlags::SYN | TcpFlags::FIN | TcpFlags::RST) {
        return None;
    }
    let closed = rx.zero.as_ref().is_some_and(|z| z.since.is_some());
    if closed && ((p.payload_len == 1 && p.seq == tx.nxt) || p.seq + 1 == tx.una) {
        tx.rare().zero_window_probes += 1;
        if let Some(zero) = rx.zero.as_deref_mut() {
            zero.probed = true;
        }
        return Some(SegmentKind::ZeroWindowProbe);
    }
    // If the peer's packets are not captured, its ACKs are unknown.
    let idle = p.seq + 1 == tx.una && tx.flight.is_empty();
    let alone = rx.packets == 0 && p.payload_len == 0;
    if p.seq + 1 == tx.nxt && (idle || alone) && tx.nxt_rel > 0 {
        tx.rare().keep_alive(rx.last_packet, at.number, at.now);
        return Some(SegmentKind::KeepAlive);
    }
    None
}

/// The numbers jumped: begin anew.
fn resync(tx: &mut Dir, seq: Seq) {
    tx.flight.clear();
    (tx.nxt, tx.una) = (seq, seq);
}

/// Round trip of the sender: from the capture to its peer and back, and to itself and back.
pub(crate) fn rtt(tx: &Dir) -> Duration {
    let near = tx.path_or_zero();
    Duration::from_micros(i64::from(tx.srtt_us) + i64::from(near))
}

/// Payload of `p` in `[from, to)`, which lies inside it: SYN and FIN are not payload.
#[cold]
fn payload_between(p: &TcpPacket, from: Seq, to: Seq) -> u32 {
    let first = p.seq + u32::from(p.flags.has(TcpFlags::SYN));
    let (from, to) = (from.max(first), to.min(first + p.payload_len));
    if from.before(to) { to - from } else { 0 }
}

/// `[from, end of p)` was not seen before.
fn new_data(tx: &mut Dir, rx: &mut Dir, p: &TcpPacket, from: Seq, at: At) -> SegmentKind {
    let end = p.seq_end();
    let payload = if from == p.seq {
        p.payload_len
    } else {
        payload_between(p, from, end)
    };
    if payload > 0 {
        tx.ordinal = tx.ordinal.saturating_add(1);
        let goes_on = tx.rounds.as_deref_mut();
        if !goes_on.is_some_and(|r| r.goes_on(at.now)) {
            round(tx, rx, p, from, at);
        }
        tx.unique_bytes += u64::from(payload);
        tx.first_data.set_first(at.now);
        released(tx, rx, p, at);
        if tx.loss.is_some() {
            tell_of_new_data(tx, rx, payload, at);
        }
        receive(tx, rx, payload, p);
        if payload > tx.unpushed.into() && payload <= ETHERNET && !p.flags.has(TcpFlags::PSH) {
            tx.unpushed = payload as u16;
        }
    }
    let segment = Segment {
        seq: from,
        len: end - from,
        first: at.now,
        last: at.now,
        number: at.number,
        ordinal: if payload > 0 { tx.ordinal } else { 0 },
        times: 1,
        filled_hole: from != p.seq,
        sacked: false,
        payload,
        psh: p.flags.has(TcpFlags::PSH),
        after_forgotten: tx.ordinal == 1 && input::begun_before(tx),
    };
    tx.flight.push(segment, tx.acks_seen);
    tx.advance(end);
    tx.max_in_flight = tx.max_in_flight.max(tx.nxt - tx.una.min(tx.nxt));
    SegmentKind::New
}

/// The sender has lost something before: what it sends shows how it went on.
fn tell_of_new_data(tx: &mut Dir, rx: &Dir, payload: u32, at: At) {
    let sends = Sends {
        now: at.now,
        payload,
        full: tx.full_payload(rx.mss),
        most: tx.max_in_flight,
        window: rx.window,
        heard: rx.nxt.0,
        near: Duration::from_micros(tx.path_or_zero().into()),
    };
    if let Some(loss) = tx.loss.as_deref_mut() {
        loss.new_data(&sends);
    }
}

/// The first data of `tx`, or data after an ACK of the round: does another one begin?
fn round(tx: &mut Dir, rx: &Dir, p: &TcpPacket, seq: Seq, at: At) {
    let begun = tx.rounds.take().or_else(|| Rounds::begin(tx, rx, at.now));
    if let Some(mut rounds) = begun {
        let id = p.ip_id.unwrap_or(0);
        let echo = p.options.timestamps.map(|t| t.1);
        rounds.data(&rounds::New { seq, id, echo }, tx, rx, at);
        tx.rounds = Some(rounds);
    }
}

/// The receiver's guess of the segment size grows with what arrives (Linux `tcp_measure_rcv_mss()`),
/// up to what fits into a packet of the path: more is a super-segment.
///
/// It shrinks when two short segments of one length follow each other; pushed ones count only from
/// 536 bytes with their header.
fn receive(tx: &Dir, rx: &mut Dir, payload: u32, p: &TcpPacket) {
    let last = std::mem::take(&mut rx.last_seg_size);
    if payload == u32::from(rx.rcv_mss) {
        return;
    }
    if payload > u32::from(rx.rcv_mss) {
        let limit = tx.full_payload(rx.mss);
        rx.rcv_mss = (payload.min(limit) as u16).max(rx.rcv_mss);
        return;
    }
    let length = payload + u32::from(p.header_len);
    let pushed = p.flags.has(TcpFlags::PSH | TcpFlags::FIN | TcpFlags::URG);
    if length >= 556 || (length >= 108 && !pushed) {
        rx.last_seg_size = payload as u16;
        if payload == u32::from(last) {
            rx.rcv_mss = payload as u16;
        }
    }
}

/// Did a delayed ACK hold this data back?
fn released(tx: &mut Dir, rx: &mut Dir, p: &TcpPacket, at: At) {
    let Some(acks) = rx.acks.as_mut() else {
        return;
    };
    let Some(release) = acks.release.take() else {
        return;
    };
    // The peer answered, and the capture missed the answer.
    let missed = rx.rare.as_deref().map(|r| &r.missed);
    if missed.is_some_and(|m| m.bytes > 0 && m.at >= release.at) {
        return;
    }
    let since = at.now.since(release.at);
    if tx.path_proofs < PROVEN && tx.path_or_zero() > FAR_US && since <= RELEASED {
        // Again and again it sends the moment the ACK passes: it is here, and what was taken for its path was a pause.
        acks.sooner = acks.sooner.saturating_add(1);
        if acks.sooner >= SURELY_HERE {
            tx.answered_after(since.as_micros_u32());
        }
    }
    let near = i64::from(tx.path_or_zero());
    let off = since.as_micros() - near;
    let at_once = off.abs() <= 500 + near / 20;
    if at_once {
        acks.let_go = at.number;
    }
    if release.held == Held::No {
        acks.quick_answers[0] += 1;
        acks.quick_answers[1] += u32::from(at_once);
    }
    // Away from its sender, jitter moves the data by a part of the path.
    let perhaps = near > i64::from(FAR_US) && (-near / 4..=near / 4 * 3).contains(&off);
    if !(at_once || perhaps) || release.held == Held::No {
        return;
    }
    let mss = tx.full_payload(rx.mss);
    let small = p.payload_len < mss && release.last_len < mss;
    let evidence = acks.evidence_of(release.held);
    if !at_once {
        evidence.perhaps_nagle += u64::from(small);
        return;
    }
    evidence.released_first |= release.first && !small;
    let list = if small {
        &mut evidence.released_nagle
    } else {
        &mut evidence.released_other
    };
    list.add(release.ack, at.number);
}

/// Data at or before the highest sequence number seen.
fn old_data(tx: &mut Dir, rx: &mut Dir, p: &TcpPacket, at: At) -> SegmentKind {
    let (seq, end) = (p.seq, p.seq_end());
    if p.flags.has(TcpFlags::SYN) && tx.seldom().is_some_and(|s| s.late_syn == at.number) {
        return SegmentKind::OutOfOrder;
    }
    if p.flags.has(TcpFlags::SYN) {
        let refused = rx.rare.as_deref().is_some_and(|r| r.refuses);
        // Its timer sent it: it never had the RST, which was lost behind the capture.
        let unheard = seq + 1 == tx.nxt && at.now.since(rx.last_packet) >= ANSWERED;
        let loss = tx.loss();
        if refused && !unheard {
            // It had its answer, and tries again.
            loss.other += 1;
            return SegmentKind::Retransmission;
        }
        loss.syn += 1;
        loss.rto += 1;
        if loss.syn_packets.len() < 8 {
            loss.syn_packets.push(at.number);
        }
        return SegmentKind::Rto;
    }
    if tx
        .rare
        .as_deref_mut()
        .is_some_and(|r| r.missed.turned_up(seq, end, at.now))
    {
        tx.ordinal = tx.ordinal.saturating_add(u32::from(p.payload_len > 0));
        tx.unique_bytes += u64::from(p.payload_len);
        return SegmentKind::OutOfOrder;
    }
    let known = end.at_or_before(tx.una) || tx.flight.covers(seq, end);
    if known && tx.loss.as_deref().is_some_and(|l| l.has_repaired(p)) {
        // The original comes after its repair: nothing is sent again here.
        return SegmentKind::OutOfOrder;
    }
    let kind = if !known && late_not_lost(tx, p, at.now) {
        let shown = tx.flight.first_seen_after(end).unwrap_or(at.now);
        let overtaken = tx.nxt - end.min(tx.nxt);
        let late = at.now.since(shown);
        // Later than that it may be a late retransmission.
        let sure = match near(tx) {
            Some(near) => late < near && !may_be_sent_again(tx, p, near, at.now),
            None => late < SURELY_LATE && left_earlier(tx, p).is_some(),
        };
        if sure {
            tx.loss().reordered(overtaken, late, at.number);
        } else if near(tx).is_none() {
            tx.loss().perhaps_reordered();
        }
        fill_hole(tx, p, at);
        SegmentKind::OutOfOrder
    } else {
        let kind = sent_again(tx, rx, p, known, at);
        let pause = near(tx).map_or(FAR, |near| near + near);
        tx.loss().repairs(at.now, pause);
        if known && end.after(tx.una) {
            lost_behind(tx, seq, end);
            tx.flight.sent_again(seq, end, at.now, at.number);
        }
        fill_hole(tx, p, at);
        kind
    };
    if end.after(tx.nxt) {
        let from = tx.nxt;
        new_data(tx, rx, p, from, at);
    }
    kind
}

/// A segment fills a hole of the capture: was it reordered before the capture (true), or lost there
/// and sent again?
fn late_not_lost(tx: &Dir, p: &TcpPacket, now: Instant) -> bool {
    // Only the file has it behind what passed later.
    if now < tx.last_packet {
        return true;
    }
    if let Some(earlier) = left_earlier(tx, p) {
        return earlier;
    }
    let loss = tx.loss.as_deref();
    if let (Some(shown), Some(near)) = (tx.flight.first_seen_after(p.seq_end()), near(tx)) {
        // Nobody asks for it before the hole shows, and the answer takes the way to the sender and
        // back; three quarters, because RACK (RFC 8985) may have seen it a little before.
        let asked = loss
            .and_then(|l| l.asked.get())
            .map_or(shown, |a| a.max(shown));
        return now.since(asked).as_nanos() < near.as_nanos() / 4 * 3;
    }
    let recovering = loss.is_some_and(|l| l.dupacks >= 3 || l.recovering());
    let limit = Duration::from_millis(3).min(rtt(tx));
    !recovering && now.since(tx.last_data) < limit
}

/// Whether RACK may have sent this again before the hole showed: it is neither lost nor late for sure.
fn may_be_sent_again(tx: &Dir, p: &TcpPacket, near: Duration, now: Instant) -> bool {
    let loss = tx.loss.as_deref();
    let known = loss.and_then(|l| l.could_know(now, near + near));
    let is_told = left_earlier(tx, p).is_some();
    !is_told && known.is_some_and(|known| now.since(known).as_nanos() >= near.as_nanos() / 4 * 3)
}

/// Whether `p` left before the newest packet that was seen; `None` when its time stamp and IP identification do not tell.
fn left_earlier(tx: &Dir, p: &TcpPacket) -> Option<bool> {
    let newest = tx.clock.newest();
    if let Some((tsval, _)) = p.options.timestamps
        && tsval != newest
    {
        return Some(Seq(tsval).before(Seq(newest)));
    }
    let (id, before) = (p.ip_id.unwrap_or(0), tx.newest_id);
    let step = id.wrapping_sub(before) as i16;
    let counts = id != 0 && before != 0 && step != 0 && step.unsigned_abs() < NEAR_IDS as u16;
    counts.then_some(step < 0)
}

/// Shortest way from the capture to the sender and back, when the handshake told it: later ACKs
/// may all have waited for a program or a timer. A handshake of a second may hold a SYN that was
/// sent again (RFC 6298 2.1).
pub(super) fn near(tx: &Dir) -> Option<Duration> {
    let told = tx.mss.is_some() && tx.path_us < 1_000_000 && tx.path_proofs > 0;
    told.then(|| Duration::from_micros(tx.path_us.into()))
}

/// Puts what was not seen of `p` before into the flight.
fn fill_hole(tx: &mut Dir, p: &TcpPacket, at: At) {
    let holes = tx
        .flight
        .uncovered(p.seq.max(tx.una), p.seq_end().min(tx.nxt));
    for (from, to) in holes {
        let payload = payload_between(p, from, to);
        if payload > 0 {
            tx.ordinal = tx.ordinal.saturating_add(1);
            tx.unique_bytes += u64::from(payload);
        }
        tx.flight.insert(Segment {
            seq: from,
            len: to - from,
            first: at.now,
            last: at.now,
            number: at.number,
            ordinal: tx.ordinal,
            times: 1,
            filled_hole: true,
            sacked: false,
            payload,
            psh: p.flags.has(TcpFlags::PSH),
            after_forgotten: false,
        });
    }
}

/// How long the sender had been silent, and how long it may be without a timeout.
pub(super) fn silence(tx: &Dir, tsval: Option<u32>, now: Instant) -> (Duration, Duration) {
    let loss = tx.loss.as_deref();
    let told = loss.and_then(|l| l.told.get());
    // A FIN is sent like data.
    let fin = tx.flight.newest().unwrap_or(tx.last_data);
    let active = tx.progress.max(tx.last_data).max(fin);
    // One SACK for a probe alone asks for nothing (RFC 6675): what follows much later is a timeout.
    let after_probe = told == Some(active) && loss.is_some_and(Loss::probing);
    // A repair after news comes at once (RACK may wait a quarter of a round trip). Without news, a
    // round trip is too short to be silence.
    let near = Duration::from_micros(tx.path_or_zero().into());
    // A capture at the receiver may not know the round trip (it lacks the handshake, or a SYN was sent again): what was
    // asked for may take long.
    let unknown = tx.path_us == u32::MAX && tx.srtt_us < TIMER_US;
    let asked = told.is_some_and(|t| t > active);
    let wait = match told {
        Some(_) if unknown => FAR,
        Some(_) if asked || after_probe => near + Duration::from_nanos(rtt(tx).as_nanos() / 4),
        _ => rtt(tx),
    };
    let idle = now.since(told.map_or(active, |t| t.max(active)));
    let own = tsval.map_or(Duration::ZERO, |t| tx.clock.silence(t, now));
    // The sender's own clock tells the time since its last data, not since that SACK.
    if after_probe || (asked && idle <= wait) {
        return (idle, wait);
    }
    if !asked {
        return (idle.max(own), wait);
    }
    // It did not come at once when asked for. From the last data on, a timer runs for a round trip at least.
    let timer = wait.max(rtt(tx));
    if own - timer > idle - wait {
        (own, timer)
    } else {
        (idle, wait)
    }
}

/// A timeout ended a moment ago, as far as the capture showed: a hole behind its first retransmission says that more was
/// lost with it. Gives whether there was one.
fn timeout_goes_on(tx: &mut Dir, now: Instant) -> bool {
    let near = near(tx).unwrap_or_else(|| rtt(tx));
    let (una, nxt) = (tx.una, tx.nxt);
    tx.loss()
        .episodes
        .resume(una, nxt, now - (near + near + near + near))
}

/// Whether `p` is a part of one packet that was sent before, and the rest is to come.
fn comes_in_pieces(tx: &Dir, rx: &Dir, p: &TcpPacket) -> bool {
    let most = tx.mss_bound(rx.mss);
    let mut originals = tx.flight.within(p.seq, p.seq_end());
    let original = originals.next().filter(|s| s.seq == p.seq);
    original.is_some_and(|s| s.payload > p.payload_len && most.is_some_and(|m| s.payload <= m))
}

/// A retransmission: count it, find its reason. `known`: all of it passed before.
fn sent_again(tx: &mut Dir, rx: &Dir, p: &TcpPacket, known: bool, at: At) -> SegmentKind {
    let (seq, end) = (p.seq, p.seq_end());
    if tx.flight.front().is_some_and(Segment::lacks_its_payload) && p.payload_len == 0 {
        // The payload that this FIN came with was ACKed, so nothing was lost: the peer does not close yet.
        let loss = tx.loss();
        loss.other += 1;
        return SegmentKind::Retransmission;
    }
    let tsval = p.options.timestamps.map(|t| t.0);
    let (idle, wait) = silence(tx, tsval, at.now);
    let hole = tx.loss.as_deref().and_then(|l| l.hole.as_deref().copied());
    // A timeout was there, but its first retransmission filled no hole that the capture shows.
    let recovering = tx.loss.as_deref().is_some_and(Loss::recovering);
    let hidden = hole.and_then(|h| h.timed_out).filter(|_| !recovering);
    // Or that first one was seen to be one: one timeout, whose recovery goes on.
    let hidden = hidden.filter(|_| !timeout_goes_on(tx, at.now));
    let idle = hidden.map_or(idle, |silence| silence.max(idle));
    let load = tx.load();
    // What stands in a queue before the capture comes later by as much.
    let queue = load.and_then(|l| l.arrived.queued()).unwrap_or_default();
    let wait = wait + Duration::from_micros(queue.least.into());
    let start = tx.flight.front().map_or(at.now, |s| s.first);
    let again = Again {
        seq,
        end,
        now: at.now,
        number: at.number,
        idle,
        wait,
        head: seq.at_or_before(tx.una),
        tail: end.at_or_after(tx.nxt),
        tsval,
        stamp: Stamp::of(p),
        fresh: !known,
        start,
        nxt: tx.nxt,
        sack_permitted: tx.may_sack() && rx.may_sack(),
        acks_seen: tx.acks_seen,
        rtt: rtt(tx),
        // Before the first ACK that is only where the capture begins.
        acked: tx.acks_seen && end.at_or_before(tx.una),
        queued: [
            load.and_then(|l| l.answered.queued_since(start - rtt(tx))),
            hole.and_then(|h| h.queued),
        ],
        flight: tx.nxt - tx.una.min(tx.nxt),
        passed: tx.relative(tx.una),
        lost: false,
        too_big: tx.is_too_big(seq),
        smaller: comes_in_pieces(tx, rx, p),
    };
    let loss = tx.loss();
    let kind = loss.again(&again);
    loss.unneeded += u32::from(again.acked);
    kind
}
