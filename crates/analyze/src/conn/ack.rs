//! The ACKs that one side sends for its peer's data: trigger, waiting time, class, mode.
//!
//! Answers to `__tcp_ack_snd_check()`, `tcp_send_delayed_ack()` and the quick-ACK mode of Linux
//! (RFC 1122 4.2.3.2, RFC 5681 4.2), seen from outside. A wait runs from the first unACKed in-order
//! data packet to the ACK, at the capture point; `path_us` of it is the way to the receiver and
//! back. An ACK counts as delayed only if nothing else explains the wait. No new data came just
//! before it, in order or beyond a hole, and the ACK leaves out no data that the receiver must have
//! had by then.

use tcplab_base::{Instant, Samples};
use tcplab_wire::{TcpFlags, TcpPacket};

use super::dir::{Dir, PROVEN};
use super::flight::Taken;
use super::input::has_cut_blocks;
use super::quick_model::QuickModel;
use super::unclear::{Evidence, Held};
use crate::report::Mode;
use crate::trace::{AckClass, AckRow};

/// A wait of at least this, less the path, is the timer's (shortest timer in use: 40 ms on Linux
/// and FreeBSD, 25 ms on some BSDs; reads and scheduling stay well below).
pub(crate) const TIMER_US: u32 = 20_000;
/// New data counts as the trigger when the ACK followed it within this, less the path.
const TRIGGER_US: u32 = 1_000;
/// Most stretches of one mode that are kept.
const MODES: usize = 64;

/// Statistics of the ACKs of one side.
#[derive(Clone, Debug, Default)]
pub(crate) struct AckStats {
    pub immediate: u32,
    pub second_segment: u32,
    pub delayed: u32,
    pub piggybacked: u32,
    pub other: u32,
    pub first_delayed_segment: Option<u32>,
    pub immediate_us: Samples,
    pub modes: Modes,
    pub evidence: Option<Box<Evidence>>,
    /// All data was just ACKed: does its sender go on at once?
    pub release: Option<Release>,
    /// Frame number of the newest data that went on at once after such an ACK.
    pub let_go: u64,
    /// Immediate ACKs before the first delayed one.
    pub quick_before: u32,
    /// ACKs of more than one full segment that came late all the same: Linux does that only while
    /// data waits for the program (the window would shrink).
    pub second_late: u32,
    /// Immediate ACKs of everything sent, and how often the sender went on at once after one:
    /// a sender that waits for ACKs does so after quick ones, too.
    pub quick_answers: [u32; 2],
    pub credits: Credits,
    pub model: QuickModel,
    /// How often the peer sent sooner after an ACK of everything than the path to it allows.
    pub sooner: u8,
    /// A full segment (its peer's largest) was among what these ACKs cover.
    pub full_segment: bool,
}

/// An ACK of everything sent: what its receiver sends next may have waited for it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Release {
    pub at: Instant,
    /// Frame number of the ACK.
    pub ack: u64,
    /// Payload of the newest segment that it covers.
    pub last_len: u32,
    /// It was a delayed one.
    pub held: Held,
    /// It covers the first data segment and nothing else.
    pub first: bool,
}

/// Consecutive ACKs of one mode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stretch {
    pub mode: Mode,
    pub from_segment: u32,
    pub from_byte: u64,
    pub acks: u32,
    pub sum_us: u64,
}

/// The stretches of ACKs, oldest first. Most connections have one: it needs no allocation.
#[derive(Clone, Debug, Default)]
pub(crate) struct Modes {
    /// Behind a box, because it is mostly empty.
    #[expect(clippy::box_collection, reason = "mostly there is none, and no box")]
    earlier: Option<Box<Vec<Stretch>>>,
    last: Option<Stretch>,
}

impl Modes {
    /// An ACK of `mode`; `begin` gives its stretch, if it begins one.
    fn add(&mut self, mode: Mode, wait_us: u32, begin: impl FnOnce() -> Stretch) {
        let full = self.earlier.as_ref().is_some_and(|e| e.len() + 1 >= MODES);
        match &mut self.last {
            Some(s) if s.mode == mode || full => {
                s.acks = s.acks.saturating_add(1);
                s.sum_us += u64::from(wait_us);
            }
            last => {
                if let Some(before) = last.replace(begin()) {
                    self.earlier.get_or_insert_default().push(before);
                }
            }
        }
    }

    /// A stretch whose mode turned out later.
    pub(super) fn put(&mut self, stretch: Stretch) {
        let earlier = self.earlier.get_or_insert_default();
        let at = earlier.partition_point(|s| s.from_segment <= stretch.from_segment);
        match self.last {
            Some(last) if at < earlier.len() || last.from_segment > stretch.from_segment => {
                earlier.insert(at, stretch);
            }
            _ => earlier.extend(self.last.replace(stretch)),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Stretch> {
        self.earlier.iter().flat_map(|e| e.iter()).chain(&self.last)
    }
}

/// Quick-ACK credits of a Linux receiver (`icsk_ack.quick`), as long as the packets tell them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Credits {
    /// No data yet.
    #[default]
    Start,
    /// So many left.
    Left(u8),
    /// The packets do not tell any more.
    Unknown,
}

/// An ACK for new data, classified.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Classified {
    pub class: AckClass,
    pub held: Held,
    pub wait_us: u32,
    pub since_last_us: u32,
    pub path_us: u32,
    /// Frame number of the packet that most likely triggered it.
    pub trigger: u64,
}

/// Classifies an ACK of `acker` that took `taken` out of the flight of `sender`.
pub(crate) fn classify(
    acker: &mut Dir,
    sender: &Dir,
    taken: &Taken,
    now: Instant,
    p: &TcpPacket,
) -> Classified {
    // When the first segment that it leaves unACKed passed.
    let next = sender.flight.front().map(|s| s.first);
    let wait_us = now.since(taken.first).as_micros_u32();
    let since_last_us = now.since(taken.last).as_micros_u32();
    let pure = p.payload_len == 0 && !p.flags.has(TcpFlags::FIN | TcpFlags::RST);
    if !taken.repaired {
        acker.answered_after(since_last_us);
        if pure && acker.path_proofs < PROVEN {
            prove(acker, taken, next, since_last_us);
        }
    }
    let path_us = acker.path_or_zero();
    let held_us = held(wait_us, path_us, taken.first, next);
    let (mut timer, mut trigger) = (Held::No, taken.trigger);
    let class = if p.payload_len > 0 {
        AckClass::Piggybacked
    } else if !pure || taken.repaired {
        AckClass::Other
    } else if taken.bytes > u32::from(acker.rcv_mss) {
        AckClass::SecondSegment
    } else if held_us < TIMER_US && (wait_us < TIMER_US || acker.knows_path()) {
        AckClass::Immediate
    } else if let Some(number) = out_of_order(acker, sender, taken, now, p) {
        trigger = number;
        AckClass::Other
    } else if held_us < TIMER_US {
        timer = Held::Unclear;
        AckClass::Other
    } else if is_triggered(taken, path_us, now) {
        AckClass::Other
    } else if held_us.saturating_sub(late_on_way(acker, p, now)) < TIMER_US {
        AckClass::Immediate
    } else {
        timer = Held::Yes;
        AckClass::Delayed
    };
    Classified {
        class,
        held: timer,
        wait_us,
        since_last_us,
        path_us,
        trigger,
    }
}

/// How long the way from `acker` held up the packet, microseconds, as far as its time stamp tells (RFC 7323 3).
fn late_on_way(acker: &Dir, p: &TcpPacket, now: Instant) -> u32 {
    let stamps = p.options.timestamps;
    let late = stamps.and_then(|(tsval, _)| acker.one_way.late_us(tsval, now));
    late.unwrap_or(0)
}

/// Does this answer show that the shortest one is the path? It does when it left out data that came soon after what it
/// covers: the receiver had not waited for that. A second segment is answered at once (RFC 5681 4.2), mostly.
fn prove(acker: &mut Dir, taken: &Taken, next: Option<Instant>, since_last_us: u32) {
    let left_out = next.is_some_and(|n| n.since(taken.first).as_micros_u32() < TIMER_US);
    let as_fast = since_last_us.saturating_sub(acker.path_us) < TIMER_US / 4;
    if left_out {
        acker.prove_path(PROVEN / 2);
    } else if as_fast && taken.bytes > u32::from(acker.rcv_mss) {
        acker.prove_path(1);
    }
}

/// Whether something that came after the first waiting data, not the timer, made the receiver
/// answer: the last data, or the FIN that ends the connection.
fn is_triggered(taken: &Taken, path_us: u32, now: Instant) -> bool {
    let newer = match taken.bare {
        Some(fin) if fin > taken.last => fin,
        _ if taken.segments > 1 => taken.last,
        _ => return false,
    };
    let since = now.since(newer).as_micros_u32();
    since.saturating_sub(path_us) < TRIGGER_US
}

/// The segment that made the receiver answer at once though it brought nothing in order: one beyond a hole, or one that the
/// receiver had (RFC 5681 4.2). The ACK has SACK blocks then, the newest segment in the first (RFC 2018 4); without SACK,
/// such a segment passed one path before the ACK. Gives its frame number.
fn out_of_order(
    acker: &Dir,
    sender: &Dir,
    taken: &Taken,
    now: Instant,
    p: &TcpPacket,
) -> Option<u64> {
    if let Some(&(left, right)) = p.options.sack.as_slice().first() {
        let newest = sender.flight.within(left, right).max_by_key(|s| s.last);
        return Some(newest.map_or(taken.trigger, |s| s.number));
    }
    if p.header_truncated {
        return has_cut_blocks(p).then_some(taken.trigger);
    }
    if acker.may_sack() && sender.may_sack() {
        return None;
    }
    let path_us = acker.path_or_zero();
    let beyond = sender.flight.iter().filter(|s| s.seq.after(p.ack));
    let just_came = |last: Instant| {
        let off = now.since(last).as_micros_u32().abs_diff(path_us);
        last > taken.last && off < TRIGGER_US
    };
    beyond
        .filter(|s| just_came(s.last))
        .last()
        .map(|s| s.number)
}

/// How long the receiver can have held the ACK: the wait less the path, and not longer than
/// until the next data, which the ACK does not cover, reached it.
fn held(wait_us: u32, path_us: u32, first: Instant, next: Option<Instant>) -> u32 {
    let net = wait_us.saturating_sub(path_us);
    next.map_or(net, |n| net.min(n.since(first).as_micros_u32()))
}

impl Dir {
    /// Counts a classified ACK of this side. `before` is the peer's payload before this ACK.
    /// `full` is the largest payload that the peer can send.
    pub(crate) fn record_ack(
        &mut self,
        c: &Classified,
        taken: &Taken,
        number: u64,
        before: u64,
        full: u32,
    ) {
        let exact =
            taken.segments == 1 && taken.newest_psh && taken.bytes == u32::from(self.rcv_mss);
        let stats = self.acks.get_or_insert_default();
        stats.full_segment |= taken.largest >= full;
        match c.class {
            AckClass::Immediate => {
                stats.immediate += 1;
                stats.immediate_us.push(c.wait_us);
                stats.stretch(Mode::Quick, c, taken, before);
            }
            AckClass::Delayed => {
                stats.delayed += 1;
                if stats.first_delayed_segment.is_none() {
                    stats.first_delayed_segment = Some(taken.newest);
                    stats.quick_before = stats.immediate + stats.unclear().map_or(0, |u| u.acks);
                }
                stats.evidence_of(Held::Yes).add(c, number, exact);
                stats.stretch(Mode::Delayed, c, taken, before);
            }
            AckClass::SecondSegment => {
                stats.second_segment += 1;
                let idle = c.since_last_us.saturating_sub(c.path_us);
                stats.second_late += u32::from(idle >= TIMER_US);
            }
            AckClass::Piggybacked => stats.piggybacked += 1,
            AckClass::Other => stats.other += 1,
        }
        if c.held == Held::Unclear {
            stats.note_unclear(c, taken, number, before, exact);
        }
    }
}

impl AckStats {
    fn stretch(&mut self, mode: Mode, c: &Classified, taken: &Taken, before: u64) {
        self.modes.add(mode, c.wait_us, || Stretch {
            mode,
            from_segment: taken.newest,
            from_byte: before,
            acks: 1,
            sum_us: u64::from(c.wait_us),
        });
    }

    /// Whether the peer may wait for these ACKs: a sender that does goes on at once after quick ones, too; one that writes
    /// by a clock may only seem to.
    pub(crate) fn peer_waits(&self) -> bool {
        let [quick, at_once] = self.quick_answers;
        quick < 3 || at_once * 2 >= quick
    }

    /// All ACKs for new data.
    pub(crate) fn total(&self) -> u64 {
        let counts = [
            self.immediate,
            self.second_segment,
            self.delayed,
            self.piggybacked,
            self.other,
        ];
        counts.into_iter().map(u64::from).sum()
    }
}

impl Credits {
    /// First data: `tcp_incr_quickack()` gives min(16, window / (2 * rcv_mss)), 2 when that is 0.
    pub(crate) fn on_data(&mut self, window: u32, rcv_mss: u32) {
        if *self == Self::Start {
            let n = (window / (2 * rcv_mss.max(1))).min(16);
            *self = Self::Left(if n == 0 { 2 } else { n as u8 });
        }
    }

    /// An ACK leaves: one credit less. A delayed one while credits are left means that the socket
    /// is in interactive mode, or no Linux: the count is not known from here on.
    pub(crate) fn on_ack(&mut self, class: AckClass) -> Option<u8> {
        match (*self, class) {
            (Self::Left(n), AckClass::Delayed) if n > 0 => *self = Self::Unknown,
            // The window grew (each growth gives a credit), or data came after a long pause.
            (Self::Left(0), AckClass::Immediate) => *self = Self::Unknown,
            (Self::Left(n), _) => *self = Self::Left(n.saturating_sub(1)),
            _ => {}
        }
        match *self {
            Self::Left(n) => Some(n),
            _ => None,
        }
    }
}

/// The row of the trace.
pub(crate) fn row(c: &Classified, taken: &Taken, credits: Option<u8>) -> AckRow {
    AckRow {
        class: c.class,
        bytes: taken.bytes,
        segments: taken.segments,
        newest_segment: u64::from(taken.newest),
        trigger: c.trigger,
        wait_us: c.wait_us,
        since_last_us: c.since_last_us,
        path_us: c.path_us,
        credits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credits_follow_the_kernel() {
        let mut c = Credits::default();
        c.on_data(64_256, 1024);
        assert_eq!(c, Credits::Left(16));
        for left in (0..16).rev() {
            assert_eq!(c.on_ack(AckClass::Immediate), Some(left));
        }
        assert_eq!(c.on_ack(AckClass::Delayed), Some(0));
        assert_eq!(
            c.on_ack(AckClass::Immediate),
            None,
            "a growth credit that nobody saw"
        );

        let mut c = Credits::default();
        c.on_data(29_312, 1024);
        assert_eq!(c, Credits::Left(14));
        assert_eq!(c.on_ack(AckClass::Delayed), None);

        let mut c = Credits::default();
        c.on_data(0, 1448);
        assert_eq!(c, Credits::Left(2));
    }

    #[test]
    fn data_that_is_left_out_bounds_the_hold() {
        let at = |us: i64| Instant::from_nanos(us * 1000);
        assert_eq!(held(90_000, 50_000, at(0), None), 40_000);
        assert_eq!(held(90_000, 50_000, at(0), Some(at(1_000))), 1_000);
        assert_eq!(held(40_000, 50_000, at(0), None), 0);
    }
}
