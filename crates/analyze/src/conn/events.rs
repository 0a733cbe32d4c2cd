//! Passed and lost packets of one sender, or of several that share a path, in order of time: the input of
//! [`super::bucket`].

use super::passed::Passed;

/// Losses that are closer are one moment, seconds; those between which less than so many full packets passed as well.
const APART: f64 = 0.02;
const PACKETS: f64 = 3.0;
/// So many events are enough.
const MOST: usize = 4096;
/// Rates to try: the first one, as a part of that of all the time, and the steps from one to the next.
const RATES: usize = 40;
const FIRST: f64 = 0.9;
const STEP: f64 = 1.03;
/// Between so many losses more are taken, over so many seconds at least.
const PICKED: usize = 8;
const LONG: f64 = 0.05;

/// A step of time, and the event at its end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub seconds: f64,
    /// So many passed.
    pub bytes: f64,
    /// Something was lost, in the time before that is so long.
    pub lost: Option<f64>,
    /// That is a moment of its own.
    pub apart: bool,
}

/// The events.
#[derive(Debug, Default)]
pub(crate) struct Events {
    pub(super) list: Vec<Event>,
    /// The losses are behind the capture: their times are known.
    pub(super) behind: bool,
    /// The largest packet.
    pub(super) largest: f64,
}

impl Events {
    /// Those of several senders, while all of them are noted.
    pub(crate) fn of(all: &[&Passed]) -> Self {
        let sum = |of: fn(&Passed) -> u32| all.iter().map(|p| of(p)).sum::<u32>();
        let behind = sum(|p| p.behind) >= sum(|p| p.before);
        let Some(start) = all.iter().map(|p| p.start).max() else {
            return Self::default();
        };
        let full = all.iter().filter(|p| p.is_full());
        let end = full.map(|p| p.end().since(start).as_nanos()).min();
        let end = end.map_or(f64::MAX, |ns| (ns + 1) as f64 / 1e9);
        let mut events = Vec::new();
        for p in all {
            let late = p.start.since(start).as_nanos() as f64 / 1e9;
            let own = each(p, behind).map(|(at, bytes, lost)| (at + late, bytes, lost));
            events.extend(own.filter(|(at, ..)| (0.0..=end).contains(at)));
        }
        events.sort_by(|a, b| a.0.total_cmp(&b.0));
        events.truncate(MOST);
        let largest = events.iter().map(|e| e.1).fold(0.0, f64::max);
        Self {
            list: in_steps(events, PACKETS * largest),
            behind,
            largest,
        }
    }

    /// The share of the packets that came in less than half of the time that they take at this rate.
    pub(super) fn bursts(&self, rate: f64) -> f64 {
        let passed = || self.list.iter().filter(|s| s.bytes > 0.0);
        let close = passed().filter(|s| s.seconds * rate < s.bytes / 2.0);
        close.count() as f64 / passed().count().max(1) as f64
    }

    /// The share of the losses before the capture that left their place empty: the packet behind came half as late again
    /// after the one before as half of the full ones do.
    pub(super) fn gaps(&self) -> f64 {
        let (mut since, mut times, mut empty) = (0.0, Vec::new(), Vec::new());
        let mut missing = false;
        for s in &self.list {
            since += s.seconds;
            missing |= s.lost.is_some();
            if s.bytes > 0.0 {
                let list = if missing { &mut empty } else { &mut times };
                if missing || s.bytes * 2.0 > self.largest {
                    list.push(since);
                }
                (since, missing) = (0.0, false);
            }
        }
        let half = times.len() / 2;
        if self.behind || times.is_empty() || empty.is_empty() {
            return 0.0;
        }
        let (_, usual, _) = times.select_nth_unstable_by(half, f64::total_cmp);
        let late = empty.iter().filter(|t| **t >= 1.5 * *usual).count();
        late as f64 / empty.len() as f64
    }

    /// How many losses, and how many of them apart.
    pub(super) fn losses(&self) -> (usize, usize) {
        let lost = |s: &&Event| s.lost.is_some();
        let apart = |s: &&Event| s.apart;
        let list = &self.list;
        (
            list.iter().filter(lost).count(),
            list.iter().filter(apart).count(),
        )
    }

    /// Rates to try: between two losses each; and from that of all the time, with its pauses, to a few times as much.
    pub(super) fn rates(&self) -> Vec<f64> {
        let (mut at, mut passed) = (0.0, 0.0);
        let mut losses = Vec::new();
        for s in &self.list {
            at += s.seconds;
            passed += s.bytes;
            if s.lost.is_some() {
                losses.push((at, passed));
            }
        }
        let stride = losses.len().div_ceil(PICKED).max(1);
        let picked: Vec<_> = losses.iter().step_by(stride).chain(losses.last()).collect();
        let mut rates = Vec::new();
        for (n, from) in picked.iter().enumerate() {
            for to in picked.iter().skip(n + 1) {
                if to.0 - from.0 >= LONG {
                    rates.push((to.1 - from.1) / (to.0 - from.0));
                }
            }
        }
        if let (Some(first), Some(last)) = (losses.first(), losses.last()) {
            let all = (last.1 - first.1) / (last.0 - first.0).max(LONG);
            let steps = std::iter::successors(Some(all * FIRST), |rate| Some(rate * STEP));
            rates.extend(steps.take(RATES));
        }
        rates.retain(|r| *r > 0.0);
        rates
    }
}

/// A time in seconds, the bytes that passed, and in how long a time before something was lost.
type At = (f64, f64, Option<f64>);

/// The events of one sender.
fn each(p: &Passed, behind: bool) -> impl Iterator<Item = At> {
    p.list.iter().enumerate().filter_map(move |(i, n)| {
        let at = f64::from(n.us) / 1e6;
        if behind {
            let lost = (n.lost > 0).then_some(0.0);
            (n.bytes > 0).then(|| (at, (n.bytes - n.lost).into(), lost))
        } else {
            let newest = i.saturating_sub(1 + usize::from(n.lost));
            let since = p.list.get(newest).map_or(0, |from| n.us - from.us);
            let lost = (n.bytes == 0).then_some(f64::from(since) / 1e6);
            Some((at, n.bytes.into(), lost))
        }
    })
}

/// Each with the time since the one before. Between two moments of loss so many bytes pass at least.
fn in_steps(events: Vec<At>, bytes_apart: f64) -> Vec<Event> {
    let (mut last, mut moment, mut passed) = (0.0, f64::MIN, bytes_apart);
    let step = |(at, bytes, lost): At| {
        let apart = lost.is_some() && at - moment >= APART && passed >= bytes_apart;
        if apart {
            (moment, passed) = (at, 0.0);
        }
        passed += bytes;
        let seconds = at - std::mem::replace(&mut last, at);
        Event {
            seconds,
            bytes,
            lost,
            apart,
        }
    };
    events.into_iter().map(step).collect()
}

#[cfg(test)]
mod tests {
    use tcplab_base::Instant;

    use super::*;

    fn at(ms: i64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn losses_in_a_row_are_one_moment() {
        // A packet each 10 ms; the link is gone again and again, for five of them each.
        let mut passed = Passed::begin(at(0));
        for n in 0..100 {
            passed.passes(1460, true, at(10 * n));
            if n % 20 > 14 {
                passed.lost(1460, at(10 * n));
            }
        }
        assert_eq!(Events::of(&[&passed]).losses(), (25, 5));
    }

    #[test]
    fn several_senders_are_looked_at_while_all_of_them_are_noted() {
        let [mut one, mut two] = [0, 500].map(|ms| Passed::begin(at(ms)));
        for n in 0..5000 {
            one.passes(1000, true, at(n));
            two.passes(960, true, at(500 + n));
        }
        let both = Events::of(&[&one, &two]);
        // From the first of the second one on; so many events are enough.
        let length: f64 = both.list.iter().map(|e| e.seconds).sum();
        assert!((length - 2.047).abs() < 1e-6, "{length}");
        assert_eq!(both.list.len(), 4096);
        assert_eq!(both.largest, 1040.0);
    }

    #[test]
    fn a_hole_was_lost_since_the_newest_data() {
        let mut passed = Passed::begin(at(0));
        passed.passes(1460, true, at(0));
        passed.passes(1460, false, at(30));
        passed.hole(at(40));
        let lost: Vec<_> = Events::of(&[&passed]).list.iter().map(|e| e.lost).collect();
        assert_eq!(lost, [None, None, Some(0.04)]);
    }

    #[test]
    fn policer_drops_leave_gaps_and_full_queue_drops_do_not() {
        // A packet each millisecond; one of ten is lost.
        let with = |gap: i64| {
            let mut passed = Passed::begin(at(0));
            let mut ms = 0;
            for n in 0..100 {
                ms += if n % 10 == 9 { gap } else { 1 };
                if n % 10 == 9 {
                    passed.hole(at(ms));
                }
                passed.passes(1460, true, at(ms));
            }
            Events::of(&[&passed]).gaps()
        };
        assert!(with(2) > 0.99 && with(1) < 0.01);
    }
}
