//! A packet as an ACK: what it takes out of the peer's flight, what SACK says, RTT samples.

use tcplab_base::{Duration, Instant, Seq};
use tcplab_wire::{TcpFlags, TcpPacket};

use super::ack::{self, Classified, Release};
use super::data::{At, SANE, rtt};
use super::dir::Dir;
use super::flight::Taken;
use super::load::{BULK, Step};
use super::loss::CLOSE;
use super::window;
use crate::compat::Verdicts;
use crate::trace::{AckClass, AckRow};

/// Segments beyond a hole that make any sender take it for lost (RFC 6675 2).
const DUP_THRESH: u32 = 3;

/// What an ACK told.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Told {
    pub acked: Option<AckRow>,
    pub rtt_us: Option<u32>,
}

/// Takes the ACK of `p`, which `acker` sent, for the data of `sender`.
pub(crate) fn on_ack(
    acker: &mut Dir,
    sender: &mut Dir,
    p: &TcpPacket,
    verdicts: Verdicts,
    at: At,
) -> Told {
    if !sender.started {
        sender.started = true;
        (sender.nxt, sender.una, sender.nxt_rel) = (p.ack, p.ack, 1);
        sender.acks_seen = true;
        return Told::default();
    }
    if !sender.acks_seen {
        begins_behind(sender, p.ack);
    }
    echo(acker, sender, p, at.now);
    if let (Some(load), Some((tsval, _))) = (sender.load_mut(), p.options.timestamps) {
        load.heard.add(tsval);
    }
    let high = sender.loss.as_deref().and_then(|l| l.sacked_high);
    let dsack = if p.header_truncated {
        cut_sack(acker, sender, p, at.now)
    } else {
        !p.options.sack.is_empty() && sack(acker, sender, p, at)
    };
    let advance = p.ack.distance(sender.una);
    if advance <= 0 || advance > 1 << 30 {
        if advance < 0
            && let Some(load) = sender.load_mut()
        {
            load.ack_ids
                .comes_late(acker.newest_id, p.ip_id.unwrap_or(0));
        }
        let duplicate = verdicts.has(Verdicts::DUPLICATE_ACK) && advance == 0 && !dsack;
        if duplicate {
            let bare = !p.header_truncated && p.options.sack.is_empty();
            duplicate_ack(acker, sender, bare, at.now);
        }
        return Told::default();
    }
    sender.acks_seen = true;
    if let Some(high) = high {
        came_late(acker, sender, p.ack, high, at);
    }
    new_ack(acker, sender, p, at)
}

/// No ACK was seen before `ack`: the capture may begin behind data that is still in flight.
#[cold]
fn begins_behind(sender: &mut Dir, ack: Seq) {
    let near = sender.una.distance(ack).unsigned_abs() <= SANE;
    if near && ack.before(sender.una) && begun_before(sender) {
        sender.una = ack;
        sender.acks_seen = true;
    }
}

/// SACK had told of data up to `high` before this ACK came. Was the hole filled by what was sent once?
fn came_late(acker: &Dir, sender: &mut Dir, ack: Seq, high: Seq, at: At) {
    let una = sender.una;
    let hole = sender.flight.front().filter(|s| {
        let once = s.times == 1 && !(s.sacked || s.filled_hole);
        once && s.seq == una && s.end().at_or_before(ack) && s.end().before(high)
    });
    let Some((end, sent)) = hole.map(|s| (s.end(), s.first)) else {
        return;
    };
    let full = sender.full_payload(acker.mss);
    let repaired = takes_a_repair(acker, sender, at.now.since(sent));
    if let Some(loss) = sender.loss.as_deref_mut()
        && let Some(asked) = loss.asked.get()
    {
        let late = at.now.since(asked);
        let is_lost = high - end >= DUP_THRESH * full;
        match is_lost && repaired.is_some_and(|repair| late >= repair) {
            true => loss.repaired_unseen(),
            false => loss.reordered(high - end, late, at.number),
        }
    }
}

/// A segment that was ACKed `took` after it passed: the shortest time from news of a loss to the ACK of its repair, if the
/// ACK came later than one of the segment that passed can.
fn takes_a_repair(acker: &Dir, sender: &Dir, took: Duration) -> Option<Duration> {
    if acker.path_us == u32::MAX || sender.srtt_us == 0 {
        return None;
    }
    let us = |us: u32| Duration::from_micros(us.into());
    let repair = us(acker.path_us) + us(sender.path_or_zero());
    (took >= us(sender.srtt_us) + repair && repair > CLOSE).then_some(repair)
}

/// A duplicate ACK: it tells of a hole, unless it is `bare` of SACK blocks and nothing that is in flight can have reached
/// the receiver yet.
fn duplicate_ack(acker: &Dir, sender: &mut Dir, bare: bool, now: Instant) {
    let first = sender.flight.front().map(|s| s.first);
    let path = sure_path(acker);
    let answers_older =
        first.is_none_or(|f| path > CLOSE && now.since(f).as_nanos() < path.as_nanos() / 8 * 7);
    let rtt = rtt(sender);
    if let Some(loss) = sender.loss.as_deref_mut()
        && bare
        && answers_older
    {
        loss.answered_twice(now, rtt);
    }
    if first.is_some() {
        let loss = sender.loss();
        loss.dupacks += 1;
        loss.tell(now);
    }
}

/// The shortest way from the capture to the side that ACKs and back, 0 when it is not known: without the handshake the
/// shortest answer may have waited in a queue.
fn sure_path(acker: &Dir) -> Duration {
    let us = match begun_before(acker) {
        true => 0,
        false => acker.path_or_zero(),
    };
    Duration::from_micros(us.into())
}

/// The connection began before the capture, which lacks this side's earlier data.
pub(super) fn begun_before(sender: &Dir) -> bool {
    !sender.options_seen && sender.mss.is_none()
}

/// The ACK number moved forward.
fn new_ack(acker: &mut Dir, sender: &mut Dir, p: &TcpPacket, at: At) -> Told {
    let taken = take(sender, p.ack, at.now);
    let covered = (sender.una, p.ack);
    sender.una = p.ack;
    // It closes while it waits for an answer, or long after its data: when that was ACKed tells how long it took.
    let is_fin = sender.fin_seen && p.ack == sender.nxt && covered.0 + 1 == p.ack;
    if is_fin {
        let before = sender.progress;
        let trip = Duration::from_micros(sender.srtt_us.into());
        let is_late = at.now.since(before) > trip + trip + Duration::from_millis(10);
        if is_late || (!acker.fin_seen && acker.last_data < sender.last_data) {
            sender.seldom_mut().data_acked.set_first(before);
        }
    }
    sender.progress = at.now;
    if let Some(rounds) = sender.rounds.as_deref_mut() {
        let stamp = p.options.timestamps.map_or(0, |t| t.0);
        rounds.acked(p.ack, acker.window, stamp, at.now);
    }
    sender.fin_acked |= sender.fin_seen && p.ack == sender.nxt;
    let sample = taken.sample.filter(|_| taken.segments > 0);
    let rtt_us = sample.map(|t| at.now.since(t).as_micros_u32());
    if let Some(us) = rtt_us {
        sender.srtt_us = smooth(sender.srtt_us, us);
    }
    let mut original = None;
    if let Some(loss) = sender.loss.as_deref_mut() {
        let tsecr = p.options.timestamps.map(|t| t.1);
        // If the handshake is missing, even the shortest answer may have waited in a queue.
        let path = sure_path(acker);
        original = loss.eifel(covered, &taken, tsecr, at.now, path);
        loss.advanced(p.ack, at.now);
    }
    if let Some(fin) = taken
        .bare
        .filter(|_| taken.segments == 0 && !taken.repaired)
        && !p.flags.has(TcpFlags::RST | TcpFlags::SYN)
    {
        acker.answered_after(at.now.since(fin).as_micros_u32());
    }
    let counts = taken.segments > 0 && !p.flags.has(TcpFlags::RST | TcpFlags::SYN);
    let acked = counts.then(|| data_acked(acker, sender, p, &taken, at));
    if let Some(us) = rtt_us {
        let prompt = acked
            .as_ref()
            .is_some_and(|a| matches!(a.class, AckClass::Immediate | AckClass::SecondSegment));
        sender.rtt.get_or_insert_default().by_ack(us, prompt);
        under_load(acker, sender, (us, taken.bytes), p, at);
    } else if let Some(sent) = original
        && !keeps_going(acker, sender, p.ack)
        && let Some(load) = sender.load_mut()
    {
        // It was sent again because of that wait: a queue that grows faster than the timer shows in such ACKs only.
        load.answered_alone(at.now.since(sent).as_micros_u32(), at.now, at.number);
    }
    Told { acked, rtt_us }
}

/// Two full segments or more are in flight beyond `ack`: no timer holds such an ACK.
fn keeps_going(acker: &Dir, sender: &Dir, ack: Seq) -> bool {
    let full = sender.full_payload(acker.mss);
    sender.nxt - ack.min(sender.nxt) >= 2 * full
}

/// An ACK of `covered` bytes came after `us`.
fn under_load(acker: &Dir, sender: &mut Dir, (us, covered): (u32, u32), p: &TcpPacket, at: At) {
    let is_bulk = sender.ordinal >= BULK;
    let full = sender.full_payload(acker.mss);
    let more = keeps_going(acker, sender, p.ack);
    let rtt = sender.rtt.get_or_insert_default();
    match rtt.load.as_deref_mut() {
        Some(load) => {
            if let Some((tsval, _)) = p.options.timestamps {
                load.acks(tsval, at.now);
            }
            load.ack_ids.step(Step {
                newest: acker.newest_id,
                id: p.ip_id.unwrap_or(0),
                gap: at.now.since(acker.last_packet),
                stretched: covered > 2 * full,
            });
            if more {
                load.answered(us, at.now, at.number);
            } else {
                load.answered_alone(us, at.now, at.number);
            }
        }
        None if is_bulk => rtt.begin(us, at),
        _ => {}
    }
}

/// Classifies an ACK for new data.
fn data_acked(acker: &mut Dir, sender: &mut Dir, p: &TcpPacket, taken: &Taken, at: At) -> AckRow {
    let c: Classified = ack::classify(acker, sender, taken, at.now, p);
    let before = sender
        .relative(p.ack)
        .saturating_sub(u64::from(taken.bytes) + 1);
    let (window, rcv_mss) = (acker.window, u32::from(acker.rcv_mss));
    let mss = sender.full_payload(acker.mss);
    acker.record_ack(&c, taken, at.number, before, mss);
    // A sender that had filled the window waited for the program that reads, not for the timer.
    let room = acker.window_before.saturating_sub(taken.bytes) >= mss
        || (acker.window_before > 0 && !window::scale_known(acker, sender));
    let waits = sender.flight.is_empty() && room;
    let release = waits.then_some(Release {
        at: at.now,
        ack: at.number,
        last_len: taken.newest_len,
        held: c.held,
        first: taken.newest == 1,
    });
    let hidden = (acker.hidden() + sender.hidden()).min(255) as u8;
    let credits = acker.acks.as_mut().and_then(|a| {
        a.release = release;
        a.credits.on_data(window, rcv_mss);
        a.model
            .on_ack((window, rcv_mss), c.class, taken.last, hidden);
        a.credits.on_ack(c.class)
    });
    ack::row(&c, taken, credits)
}

/// Removes the ACKed data from the flight, and notes the ACKed bytes that the capture missed.
fn take(sender: &mut Dir, ack: Seq, now: Instant) -> Taken {
    let taken = sender.flight.take(sender.una, ack);
    if ack.after(sender.nxt) {
        sender.advance(ack);
    }
    // A receiver may take the byte of a zero-window probe, which is not kept in the flight.
    let probed = |d: &Dir| d.rare.as_ref().is_some_and(|r| r.zero_window_probes > 0);
    if taken.hole > 1 || (taken.hole == 1 && !probed(sender)) {
        sender.rare().missed.add(taken.hole, taken.unseen, now);
    }
    taken
}

/// SACK blocks (RFC 2018), the first of which may be a DSACK (RFC 2883 4): gives whether it is.
fn sack(acker: &mut Dir, sender: &mut Dir, p: &TcpPacket, at: At) -> bool {
    let blocks = p.options.sack.as_slice();
    let Some(&(left, right)) = blocks.first() else {
        return false;
    };
    let below = right.at_or_before(p.ack);
    let inside = blocks
        .get(1)
        .is_some_and(|b| left.at_or_after(b.0) && right.at_or_before(b.1));
    let dsack = left.before(right) && (below || inside);
    if dsack {
        acker.rare().dsacks += 1;
        let of_retransmission = sender.loss().dsack(left, right);
        // What was SACKed before it passed had been sent before: the one that passed was sent again.
        let before = sender.rare.as_deref().is_some_and(|r| r.sacked_unseen);
        // The receiver had one of what only the capture has twice.
        let by_capture =
            sender.has_copies(2) && sender.copies() > 4 * u64::from(acker.rare().dsacks);
        if !of_retransmission && !before && !by_capture {
            doubled(sender, right - left, at.number);
        }
    }
    let skip = usize::from(dsack);
    for &(left, right) in blocks.get(skip..).unwrap_or_default() {
        let ahead = right.after(sender.nxt);
        if ahead && left.before(right) {
            sender.rare().sacked_unseen = true;
        }
        if !left.before(right) || ahead || left.before(sender.una) {
            continue;
        }
        if sender.flight.sack(left, right) {
            sender.progress = at.now;
        }
        let loss = sender.loss();
        loss.tell(at.now);
        loss.sacked_high = Some(loss.sacked_high.map_or(right, |h| h.max(right)));
    }
    dsack
}

/// The receiver got something twice that was sent once. Probes of one byte or none are answered like that, too.
fn doubled(sender: &mut Dir, bytes: u32, number: u64) {
    if bytes <= 1 {
        return;
    }
    let rare = sender.rare();
    if rare.first_doubled == 0 {
        rare.first_doubled = number;
    }
    if rare.capture_duplicates > 0 {
        rare.capture_duplicates -= 1;
        rare.network_duplicates += 1;
    } else {
        rare.unseen_duplicates += 1;
    }
}

/// Headers of time stamps and one block are this long.
const WITH_BLOCKS: u8 = 20 + 12 + 12;

/// Whether this ACK has SACK blocks that the capture cut off.
pub(super) fn has_cut_blocks(p: &TcpPacket) -> bool {
    p.header_len >= WITH_BLOCKS && p.payload_len == 0 && !p.flags.has(TcpFlags::SYN)
}

/// SACK blocks that the capture cut off show in the length of the header. On an ACK of everything a block can only be a
/// DSACK, of what was sent again last; another one tells of a hole.
#[cold]
fn cut_sack(acker: &mut Dir, sender: &mut Dir, p: &TcpPacket, now: Instant) -> bool {
    if !has_cut_blocks(p) {
        return false;
    }
    let all = p.ack == sender.nxt;
    let Some(loss) = sender.loss.as_deref_mut() else {
        if !all {
            sender.loss().tell(now);
        }
        return false;
    };
    if all {
        acker.rare().dsacks += 1;
        loss.dsack_of_newest();
    } else {
        loss.dupacks += u32::from(p.ack == sender.una);
        loss.tell(now);
    }
    all
}

/// RTT by time stamp echo (RFC 7323 4): one TSval of each side is in the air at a time.
fn echo(acker: &mut Dir, sender: &mut Dir, p: &TcpPacket, now: Instant) {
    let Some((_, tsecr)) = p.options.timestamps else {
        return;
    };
    let Some(sent) = sender.echo_at.get() else {
        return;
    };
    let tsval = sender.echo_tsval;
    if Seq(tsecr).at_or_after(Seq(tsval)) {
        sender.echo_at.clear();
        if tsecr == tsval {
            acker.timestamps = true;
            let us = now.since(sent).as_micros_u32();
            if sender.echo_bare {
                if p.payload_len > 0 {
                    acker.echoed_after(us, now.since(acker.last_data));
                }
                return;
            }
            sender.rtt.get_or_insert_default().by_ts.push(us);
        }
    }
}

/// RFC 6298 2.3: 7/8 of the old, 1/8 of the new.
fn smooth(old: u32, sample: u32) -> u32 {
    if old == 0 {
        sample
    } else {
        old - old / 8 + sample / 8
    }
}
