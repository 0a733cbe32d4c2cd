//! Evidence from delayed ACKs, and ACKs that may or may not have waited for the timer.
//!
//! Without a handshake, only answers show the path's round trip. If the shortest answer took as long as a timer, the
//! timer may have caused it. Such ACKs are classified at the end of the connection, which may reveal a shorter path or
//! confirm this one.

use tcplab_base::Samples;

use super::ack::{AckStats, Classified, Stretch, TIMER_US};
use super::flight::Taken;
use crate::report::Mode;
use crate::trace::AckClass;

/// Linux's delayed-ACK timer never fires earlier.
const LINUX_TIMER_US: u32 = 36_000;
/// Timers that fire after about 40 ms and 200 ms, with the tick of a kernel that has 100 a second.
const TIMERS_US: [std::ops::Range<u32>; 2] = [LINUX_TIMER_US..60_000, 190_000..230_000];

/// What is kept of delayed ACKs, for the report and the findings.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evidence {
    /// Waits of the delayed ACKs.
    pub delayed_us: Samples,
    /// Delayed ACKs of one pushed segment of exactly `rcv_mss`.
    pub delayed_exact_mss: u64,
    /// Delayed ACKs after at least Linux's shortest timer (`TCP_DELACK_MIN`, 40 ms, less what the
    /// clocks blur).
    pub linux_timer: u64,
    /// From the newest data packet to the delayed ACKs.
    pub since_last_us: Samples,
    /// Frame numbers of the first delayed ACKs.
    pub packets: Vec<u64>,
    /// Delayed ACKs whose arrival let the sender go on at once: with a small segment after an
    /// unACKed small one (Nagle), and for other reasons.
    pub released_nagle: Released,
    pub released_other: Released,
    /// The first data segment stood alone, and the next ones waited for its delayed ACK.
    pub released_first: bool,
    /// Small segments after small ones that came soon after such an ACK, as the path and jitter allow.
    pub perhaps_nagle: u64,
    /// Sum of the delayed waits less the path, microseconds.
    pub delayed_net_us: u64,
    /// Those of which it could not be told.
    pub unclear: Option<Box<Unclear>>,
}

/// ACKs that may have been delayed: the shortest answer of their sender was itself as long as a timer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unclear {
    pub acks: u32,
    /// What they show if they were delayed.
    pub evidence: Evidence,
    first_segment: u32,
    /// Immediate ACKs before the first of them.
    quick_before: u32,
    from_byte: u64,
    /// The path as far as it was known then.
    path_us: u32,
}

/// Whether the delayed-ACK timer held an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Held {
    No,
    Yes,
    /// The path is not known, and the wait is as long as a timer.
    Unclear,
}

/// Data that went on the moment a delayed ACK came.
#[derive(Clone, Debug, Default)]
pub(crate) struct Released {
    pub count: u64,
    pub packets: Vec<u64>,
}

impl Released {
    pub(crate) fn add(&mut self, ack: u64, data: u64) {
        self.count += 1;
        if self.packets.len() < 8 {
            self.packets.extend([ack, data]);
        }
    }

    fn join(&mut self, other: &Self) {
        self.count += other.count;
        self.packets.extend(&other.packets);
        self.packets.sort_unstable();
        self.packets.truncate(8);
    }
}

impl AckStats {
    pub(super) fn note_unclear(
        &mut self,
        c: &Classified,
        taken: &Taken,
        number: u64,
        before: u64,
        exact: bool,
    ) {
        let before_drop = self.unclear().map(|u| u.path_us);
        if before_drop.is_some_and(|b| c.path_us.saturating_add(TIMER_US) <= b) {
            // Those before waited longer than the path that shows now.
            self.settle(c.path_us);
        }
        let quick_before = self.immediate;
        let e = self.evidence.get_or_insert_default();
        let unclear = e.unclear.get_or_insert_default();
        if unclear.acks == 0 {
            unclear.quick_before = quick_before;
            unclear.first_segment = taken.newest;
            unclear.from_byte = before;
            unclear.path_us = c.path_us;
        }
        unclear.acks += 1;
        unclear.evidence.add(c, number, exact);
    }

    /// What ACKs of this kind show.
    pub(crate) fn evidence_of(&mut self, held: Held) -> &mut Evidence {
        let evidence = self.evidence.get_or_insert_default();
        match held {
            Held::Unclear => &mut evidence.unclear.get_or_insert_default().evidence,
            Held::Yes | Held::No => evidence,
        }
    }

    /// Some ACKs came later than the shortest answer, `path_us`, by a timer that stacks have: 40 ms (Linux, FreeBSD), 200 ms
    /// (Windows, macOS). So no timer held the soonest ones.
    pub(crate) fn shows_timer(&self, path_us: u32) -> bool {
        let Some(e) = self.evidence.as_deref() else {
            return false;
        };
        let waits = e.delayed_us.clone().quantiles();
        let by = |us: u32| {
            TIMERS_US
                .iter()
                .any(|t| t.contains(&us.saturating_sub(path_us)))
        };
        self.delayed >= 3 && by(waits.min) && by(waits.p50)
    }

    /// ACKs of which it was not clear whether the timer held them, when it is clear at the end: the path is known.
    pub(crate) fn settle(&mut self, path_us: u32) -> Option<AckClass> {
        let e = self.evidence.as_deref_mut()?;
        let mut unclear = e.unclear.take()?;
        let waits = unclear.evidence.delayed_us.quantiles();
        if waits.max.saturating_sub(path_us) < TIMER_US {
            self.other -= unclear.acks;
            self.immediate += unclear.acks;
            self.immediate_us.absorb(&unclear.evidence.delayed_us);
            self.modes.put(unclear.stretch(Mode::Quick, waits.p50));
            Some(AckClass::Immediate)
        } else if waits.min.saturating_sub(path_us) >= TIMER_US {
            e.join(&unclear, path_us);
            self.late(&unclear);
            Some(AckClass::Delayed)
        } else {
            e.unclear = Some(unclear);
            None
        }
    }

    /// These ACKs were delayed.
    fn late(&mut self, unclear: &Unclear) {
        self.other -= unclear.acks;
        self.delayed += unclear.acks;
        let first = self.first_delayed_segment;
        if first.is_none_or(|f| f > unclear.first_segment) {
            self.first_delayed_segment = Some(unclear.first_segment);
            self.quick_before = unclear.quick_before;
        }
        let waits = unclear.evidence.delayed_us.clone().quantiles();
        self.modes.put(unclear.stretch(Mode::Delayed, waits.p50));
    }

    /// ACKs that may have been delayed.
    pub(crate) fn unclear(&self) -> Option<&Unclear> {
        self.evidence.as_deref()?.unclear.as_deref()
    }
}

impl Unclear {
    fn stretch(&self, mode: Mode, wait_us: u32) -> Stretch {
        Stretch {
            mode,
            from_segment: self.first_segment,
            from_byte: self.from_byte,
            acks: self.acks,
            sum_us: u64::from(wait_us) * u64::from(self.acks),
        }
    }
}

impl Evidence {
    /// One more ACK that the timer held.
    pub(super) fn add(&mut self, c: &Classified, number: u64, exact: bool) {
        let net = c.wait_us.saturating_sub(c.path_us);
        self.delayed_us.push(c.wait_us);
        self.delayed_exact_mss += u64::from(exact);
        self.linux_timer += u64::from(net >= LINUX_TIMER_US);
        self.since_last_us.push(c.since_last_us);
        self.delayed_net_us += u64::from(net);
        if self.packets.len() < 8 {
            self.packets.push(number);
        }
    }

    /// Unclear ACKs were delayed: the path takes `path_us`.
    fn join(&mut self, unclear: &Unclear, path_us: u32) {
        let other = &unclear.evidence;
        let waits = other.delayed_us.clone().quantiles();
        let acks = u64::from(unclear.acks);
        let net = waits.min.saturating_sub(path_us);
        self.delayed_us.absorb(&other.delayed_us);
        self.since_last_us.absorb(&other.since_last_us);
        self.delayed_exact_mss += other.delayed_exact_mss;
        self.linux_timer += if net >= LINUX_TIMER_US { acks } else { 0 };
        self.delayed_net_us += acks * u64::from(waits.p50.saturating_sub(path_us));
        let later = std::mem::replace(&mut self.packets, other.packets.clone());
        self.packets.extend(later);
        self.packets.truncate(8);
        self.released_first |= other.released_first;
        self.released_nagle.join(&other.released_nagle);
        self.released_other.join(&other.released_other);
    }
}
