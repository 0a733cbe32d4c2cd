//! Does a token bucket explain what was lost (RFC 2697, RFC 2475 2.3.3.3)?
//!
//! A bucket of `burst` bytes fills at `rate`. How far it is empty goes up with each byte that passes and down with time,
//! to zero at least: every packet that is lost found that level at `burst`, and none that passed left it higher. A queue
//! of `burst` bytes in front of a link of that rate drops the same packets; only the waits tell the two apart.

use super::passed::Passed;

/// At least so many losses, and so many of them apart.
const LOSSES: usize = 8;
const MOMENTS: usize = 5;
/// Losses that are closer are one moment, seconds.
const APART: f64 = 0.02;
/// Or less than so many full packets passed between them.
const PASSED: f64 = 3.0;
/// Rates that are tried: the first one, as a part of that of all the time, and the steps from one to the next.
const RATES: i32 = 40;
const FIRST: f64 = 0.9;
const STEP: f64 = 1.03;
/// Steps around the best one so far.
const FINER: [f64; 3] = [0.005, 0.001_25, 0.000_3];
/// So many more are taken from between two losses each.
const PICKED: usize = 8;
const LONG: f64 = 0.05;
/// A level that is never zero: that of a bucket which is never full.
const NEVER_FULL: f64 = 1e12;

/// One step of time, and what happened at its end.
#[derive(Clone, Copy, Debug)]
struct Step {
    seconds: f64,
    bytes: f64,
    /// Something was lost, in the time before that is so long.
    lost: Option<f64>,
    /// That is a moment of its own.
    apart: bool,
}

/// The steps of one sender, or of several that share a path.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    list: Vec<Step>,
    /// The losses are behind the capture: their times are known.
    behind: bool,
    /// The largest packet.
    largest: f64,
}

/// A bucket, and how well it explains the losses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    /// Bytes per second, and bytes: at least so many, where it never was full.
    pub rate: f64,
    pub burst: f64,
    level: f64,
    /// The share of the losses that found it empty, and how many packets for each loss passed that it has no room for.
    pub explained: f64,
    pub over: f64,
    /// The share of the packets that passed while it was as empty: chance explains so many.
    pub chance: f64,
    pub losses: usize,
    /// Losses apart from each other.
    pub moments: usize,
    /// They are behind the capture.
    pub behind: bool,
    /// The largest packet.
    pub largest: f64,
    /// The share of the packets that came in less than half of the time that they take at the rate.
    pub bursts: f64,
}

impl Steps {
    /// Those of several senders in one order of time.
    pub(crate) fn of(all: &[&Passed]) -> Self {
        let behind = all.iter().map(|p| p.behind).sum::<u32>();
        let before = all.iter().map(|p| p.before).sum::<u32>();
        let behind = behind >= before;
        let Some(start) = all.iter().map(|p| p.start).max() else {
            return Self::default();
        };
        let ends = all.iter().filter(|p| p.is_full()).map(|p| p.end());
        let end = ends.min();
        let mut events: Vec<(f64, f64, Option<f64>)> = Vec::new();
        for p in all {
            let late = p.start.since(start).as_nanos() as f64 / 1e9;
            for (i, n) in p.list.iter().enumerate() {
                let at = late + f64::from(n.us) / 1e6;
                let over = end.is_some_and(|e| at > e.since(start).as_nanos() as f64 / 1e9);
                if at < 0.0 || over {
                    continue;
                }
                let hole = n.bytes == 0;
                if behind && !hole {
                    let lost = (n.lost > 0).then_some(0.0);
                    events.push((at, (n.bytes - n.lost).into(), lost));
                } else if !behind {
                    let newest = i.saturating_sub(1 + usize::from(n.lost));
                    let since = p.list.get(newest).map_or(0, |from| n.us - from.us);
                    let lost = hole.then_some(f64::from(since) / 1e6);
                    events.push((at, n.bytes.into(), lost));
                }
            }
        }
        events.sort_by(|a, b| a.0.total_cmp(&b.0));
        let largest = events.iter().map(|e| e.1).fold(0.0, f64::max);
        let (mut last, mut moment) = (0.0, (f64::MIN, 0.0));
        let step = |(at, bytes, lost): (f64, f64, Option<f64>)| Step {
            seconds: at - std::mem::replace(&mut last, at),
            bytes,
            lost,
            apart: {
                let apart =
                    lost.is_some() && at - moment.0 >= APART && moment.1 >= PASSED * largest;
                moment = if apart {
                    (at, bytes)
                } else {
                    (moment.0, moment.1 + bytes)
                };
                apart
            },
        };
        let list: Vec<Step> = events.into_iter().map(step).collect();
        Self {
            list,
            behind,
            largest,
        }
    }

    /// The bucket that explains the losses best.
    pub(crate) fn bucket(&self) -> Option<Bucket> {
        let (losses, moments) = self.losses();
        if losses < LOSSES || moments < MOMENTS {
            return None;
        }
        let mut best: Option<Bucket> = None;
        let mut take = |new: Option<Bucket>, losses, moments| {
            let new = new.map(|b| Bucket {
                losses,
                moments,
                behind: self.behind,
                bursts: self.bursts(b.rate),
                largest: self.largest,
                ..b
            });
            if let Some(new) = new
                && best.is_none_or(|b| new.score() > b.score())
            {
                best = Some(new);
            }
            best
        };
        let mut found = None;
        for rate in self.rates() {
            found = take(self.with_rate(rate), losses, moments);
        }
        for step in FINER {
            let rough = found?.rate;
            for n in -4..=4 {
                let rate = rough * (1.0 + step * f64::from(n));
                found = take(self.with_rate(rate), losses, moments);
            }
        }
        found
    }

    /// The share of the packets that came in less than half of the time that they take at this rate.
    fn bursts(&self, rate: f64) -> f64 {
        let passed = || self.list.iter().filter(|s| s.bytes > 0.0);
        let close = passed().filter(|s| s.seconds * rate < s.bytes / 2.0);
        close.count() as f64 / passed().count().max(1) as f64
    }

    /// How many losses, and how many of them apart.
    fn losses(&self) -> (usize, usize) {
        let lost = |s: &&Step| s.lost.is_some();
        let apart = |s: &&Step| s.apart;
        let list = &self.list;
        (
            list.iter().filter(lost).count(),
            list.iter().filter(apart).count(),
        )
    }

    /// Rates to try: between two losses each; and from that of all the time, with its pauses, to a few times as much.
    fn rates(&self) -> Vec<f64> {
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
            rates.extend((0..RATES).map(|n| all * FIRST * STEP.powi(n)));
        }
        rates.retain(|r| *r > 0.0);
        rates
    }

    /// The best bucket of a rate: nobody knows how empty it was at first.
    fn with_rate(&self, rate: f64) -> Option<Bucket> {
        let first = self.run(rate, 0.0)?;
        let second = self.run(rate, first.level)?;
        let third = self.run(rate, second.level);
        let never = self.run(rate, NEVER_FULL);
        [Some(first), Some(second), third, never]
            .into_iter()
            .flatten()
            .max_by(|a, b| a.score().total_cmp(&b.score()))
    }

    /// The bucket that is empty by `level` at first.
    fn run(&self, rate: f64, mut level: f64) -> Option<Bucket> {
        let slack = 1.5 * self.largest;
        let mut losses = Vec::new();
        let mut apart = Vec::new();
        let mut least = level;
        let mut passed: Vec<(f64, f64)> = Vec::with_capacity(self.list.len());
        // When each passed, and how empty the bucket was then.
        let mut at = 0.0;
        let mut then: Vec<f64> = Vec::with_capacity(self.list.len());
        for s in &self.list {
            at += s.seconds;
            let before = level;
            level = (level - rate * s.seconds).max(0.0);
            least = least.min(level);
            if let Some(since) = s.lost {
                let late = then
                    .iter()
                    .rev()
                    .take_while(|t| at - **t <= since + 1e-6)
                    .count();
                let within = passed.iter().rev().take(late);
                let wide = |(low, high): (f64, f64), p: &(f64, f64)| (low.min(p.0), high.max(p.1));
                let own = if self.behind { level + s.bytes } else { before };
                losses.push(within.fold((level, own), wide));
                apart.push(s.apart);
            }
            level += s.bytes;
            if s.bytes > 0.0 {
                let low = if self.behind { level } else { level - s.bytes };
                passed.push((low, level));
                then.push(at);
            }
        }
        let (burst, over) = best_burst(&losses, &passed, slack);
        let near = |&&(low, high): &&(f64, f64)| low <= burst + slack && high >= burst - slack;
        let found = losses.iter().filter(near).count() as f64 / losses.len() as f64;
        let (mut moments, mut explained, mut own) = (0, 0, 0);
        for (loss, apart) in losses.iter().zip(apart).rev() {
            own += if near(&loss) { 1 } else { -1 };
            if apart {
                moments += 1;
                explained += i32::from(own >= 0);
                own = 0;
            }
        }
        let chance = passed.iter().filter(near).count();
        Some(Bucket {
            rate,
            burst: burst - least,
            level: burst,
            explained: found.min(f64::from(explained) / f64::from(moments.max(1))),
            over,
            chance: chance as f64 / passed.len().max(1) as f64,
            losses: 0,
            moments: 0,
            behind: false,
            largest: 0.0,
            bursts: 0.0,
        })
    }
}

/// The level that most losses met and few packets passed: its middle, and how many passed it for each loss.
fn best_burst(losses: &[(f64, f64)], passed: &[(f64, f64)], slack: f64) -> (f64, f64) {
    let mut edges: Vec<(f64, i32)> = Vec::with_capacity(2 * losses.len());
    for (low, high) in losses {
        edges.push((low - slack, 1));
        edges.push((high + slack, -1));
    }
    edges.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    let mut levels: Vec<f64> = passed.iter().map(|p| p.1).collect();
    // More than one for each loss is too many.
    let few = levels.len().saturating_sub(losses.len() + 1);
    if few > 0 {
        levels.select_nth_unstable_by(few, f64::total_cmp);
        levels.drain(..few);
    }
    levels.sort_by(f64::total_cmp);
    let all = losses.len() as f64;
    let (mut open, mut below, mut best) = (0, 0, (f64::MIN, 0.0, 0.0));
    for pair in edges.windows(2) {
        let &[(at, turn), (next, _)] = pair else {
            continue;
        };
        open += turn;
        let burst = (at + next) / 2.0;
        while levels.get(below).is_some_and(|l| *l <= burst + 2.0 * slack) {
            below += 1;
        }
        let over = (levels.len() - below) as f64 / all;
        let score = f64::from(open) / all - over;
        if score > best.0 {
            best = (score, burst, over);
        }
    }
    (best.1, best.2)
}

impl Bucket {
    /// How much less likely chance explains as much: the logarithm of the ratio, about.
    pub(crate) fn weight(&self) -> f64 {
        let (p, q) = (
            self.explained.clamp(0.01, 0.99),
            self.chance.clamp(0.01, 0.99),
        );
        self.moments as f64 * (p * (p / q).ln() + (1.0 - p) * ((1.0 - p) / (1.0 - q)).ln())
    }

    fn score(&self) -> f64 {
        self.explained - self.over.min(1.0) - 0.3 * self.chance
    }
}
