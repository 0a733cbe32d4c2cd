//! Tests whether a token bucket explains the losses (RFC 2697, RFC 2475 2.3.3.3).
//!
//! A bucket of `burst` bytes fills at `rate`. Its empty part grows with each byte that passes and shrinks with time,
//! down to zero. A bucket explains the losses when the empty part was at `burst` at every lost packet and never
//! exceeded `burst` after a packet that passed. A queue of `burst` bytes in front of a link of that rate drops the
//! same packets; only the waits distinguish the two.

use super::events::Events;

/// At least so many losses, and so many of them apart.
const LOSSES: usize = 8;
const MOMENTS: usize = 5;
/// The share of the losses that found the bucket empty, and how many packets passed without room for them, for each loss.
const EXPLAINED: f64 = 0.8;
const OVER: f64 = 0.05;
/// A bucket that explains less is not examined further.
const HALF: f64 = 0.5;
/// A bucket of fewer full packets drops what any jitter brings close together.
const PACKETS: f64 = 3.5;
/// What is fitted: a rate, a length, and how empty the bucket was at first.
const FITTED: usize = 3;
/// Steps around the best rate so far.
const FINER: [f64; 3] = [0.005, 0.001_25, 0.000_3];
/// What explains so much less, explains about as much.
const ALIKE: f64 = 0.04;
/// How far from the level of a full bucket a loss may be, in packets. When a bucket drops, it has room for less than
/// one packet. If each packet's time and fate are known, that is half a packet up and down, plus the jitter of the
/// path to it.
const SLACK: f64 = 1.5;
const TIGHT: f64 = 0.75;
/// A level that is never zero: that of a bucket which is never full.
const NEVER_FULL: f64 = 1e12;

/// A bucket, and how well it explains the losses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Bucket {
    /// Bytes per second, and bytes: so many at least, where it never was full.
    pub rate: f64,
    pub burst: f64,
    /// The lowest and the highest rate that explain about as much.
    pub between: [f64; 2],
    /// How far it was empty when something was lost, as the fit counts.
    pub level: f64,
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
    /// The share of the losses before the capture that left a gap.
    pub gaps: f64,
}

impl Events {
    /// The bucket that explains the losses best.
    pub(crate) fn bucket(&self) -> Option<Bucket> {
        let (losses, moments) = self.losses();
        if losses < LOSSES || moments < MOMENTS {
            return None;
        }
        let mut tried = Vec::new();
        for packets in [SLACK, TIGHT] {
            let slack = packets * self.largest;
            let mut within: Vec<Bucket> = self.with_rates(self.rates(), slack).collect();
            self.refine(best_of, slack, &mut within);
            if within.iter().all(|b| b.explained < HALF) {
                // Closer to its level there are no more.
                tried.extend(within);
                break;
            }
            // A bucket that is always empty explains every loss; what says more is looked at as closely.
            self.refine(clearest_of, slack, &mut within);
            tried.extend(within);
        }
        let best = clearest_of(&tried)?;
        let alike = tried.iter().filter(|b| b.fit() >= best.fit() - ALIKE);
        let between = alike.fold([best.rate; 2], |[low, high], b| {
            [low.min(b.rate), high.max(b.rate)]
        });
        Some(Bucket {
            between,
            losses,
            behind: self.behind,
            bursts: self.bursts(best.rate),
            gaps: self.gaps(),
            ..best
        })
    }

    /// Tries rates around the best one, closer and closer.
    fn refine(&self, choose: fn(&[Bucket]) -> Option<Bucket>, slack: f64, tried: &mut Vec<Bucket>) {
        for step in FINER {
            let Some(rough) = choose(tried) else { return };
            let near = (-4..=4).map(|n| rough.rate * (1.0 + step * f64::from(n)));
            let new: Vec<f64> = near
                .filter(|rate| tried.iter().all(|b| b.rate != *rate))
                .collect();
            tried.extend(self.with_rates(new, slack));
        }
    }

    fn with_rates(
        &self,
        rates: impl IntoIterator<Item = f64>,
        slack: f64,
    ) -> impl Iterator<Item = Bucket> {
        let each = move |rate| self.with_rate(rate, slack);
        rates.into_iter().filter_map(each)
    }

    /// The best bucket of a rate: nobody knows how empty it was at first.
    fn with_rate(&self, rate: f64, slack: f64) -> Option<Bucket> {
        let first = self.run(rate, 0.0, slack)?;
        let second = self.run(rate, first.level, slack)?;
        // From the same level it goes the same way.
        let third = match second.level == first.level {
            true => None,
            false => self.run(rate, second.level, slack),
        };
        let never = self.run(rate, NEVER_FULL, slack);
        [Some(first), Some(second), third, never]
            .into_iter()
            .flatten()
            .max_by(|a, b| a.score().total_cmp(&b.score()))
    }

    /// The bucket that is empty by `level` at first.
    fn run(&self, rate: f64, level: f64, slack: f64) -> Option<Bucket> {
        let (losses, passed) = self.levels(rate, level);
        let (share, level) = most_at(&losses, slack);
        if share < HALF {
            return Some(Bucket {
                rate,
                level,
                explained: share,
                chance: 1.0,
                ..Bucket::default()
            });
        }
        let (level, over) = best_burst(&losses, &passed, slack);
        let near = |l: &Level| l.low <= level + slack && l.high >= level - slack;
        let found = losses.iter().filter(|l| near(l)).count() as f64 / losses.len() as f64;
        let (mut moments, mut explained, mut own) = (0_u32, 0, 0);
        for loss in losses.iter().rev() {
            own += if near(loss) { 1 } else { -1 };
            if loss.apart {
                moments += 1;
                explained += i32::from(own >= 0);
                own = 0;
            }
        }
        // Between two losses at the same level it was never full, however low the level went.
        let first = losses.iter().find(|l| near(l))?.passed;
        let last = losses.iter().rfind(|l| near(l))?.passed;
        let between = passed.get(first..last).unwrap_or_default();
        let least = between.iter().map(|l| l.low).fold(level, f64::min);
        let chance = passed.iter().filter(|l| near(l)).count();
        Some(Bucket {
            rate,
            burst: level - least,
            level,
            explained: found.min(f64::from(explained) / f64::from(moments.max(1))),
            over,
            chance: chance as f64 / passed.len().max(1) as f64,
            moments: moments as usize,
            largest: self.largest,
            ..Bucket::default()
        })
    }

    /// How empty it was with each loss, and after each packet that passed.
    fn levels(&self, rate: f64, mut level: f64) -> (Vec<Level>, Vec<Level>) {
        let mut losses = Vec::new();
        let mut passed: Vec<Level> = Vec::with_capacity(self.list.len());
        let mut at = 0.0;
        for s in &self.list {
            at += s.seconds;
            let before = level;
            level = (level - rate * s.seconds).max(0.0);
            let new = |low, high, passed: &[Level]| Level {
                low,
                high,
                at,
                apart: s.apart,
                passed: passed.len(),
            };
            if let Some(since) = s.lost {
                let high = if self.behind { level + s.bytes } else { before };
                let since = at - since - 1e-6;
                let within = passed.iter().rev().take_while(|l| l.at >= since);
                let wide = |(low, high): (f64, f64), l: &Level| (low.min(l.low), high.max(l.high));
                let (low, high) = within.fold((level, high), wide);
                losses.push(new(low, high, &passed));
            }
            level += s.bytes;
            if s.bytes > 0.0 {
                let low = if self.behind { level } else { level - s.bytes };
                let now = new(low, level, &passed);
                passed.push(now);
            }
        }
        (losses, passed)
    }
}

/// How empty the bucket was with a packet, between two bounds.
#[derive(Clone, Copy, Debug)]
struct Level {
    low: f64,
    high: f64,
    at: f64,
    /// It is lost, and a moment of its own.
    apart: bool,
    /// How many had passed by then.
    passed: usize,
}

/// Where losses begin and end to be near a level.
fn edges(losses: &[Level], slack: f64) -> Vec<(f64, i32)> {
    let mut edges: Vec<(f64, i32)> = Vec::with_capacity(2 * losses.len());
    for l in losses {
        edges.push((l.low - slack, 1));
        edges.push((l.high + slack, -1));
    }
    edges.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
    edges
}

/// The level that most losses met, and their share.
fn most_at(losses: &[Level], slack: f64) -> (f64, f64) {
    let edges = edges(losses, slack);
    let (mut open, mut best) = (0, (0, 0.0));
    for pair in edges.windows(2) {
        let &[(at, turn), (next, _)] = pair else {
            continue;
        };
        open += turn;
        if open > best.0 {
            best = (open, (at + next) / 2.0);
        }
    }
    (f64::from(best.0) / losses.len().max(1) as f64, best.1)
}

/// The level that most losses met and few packets passed: its middle, and how many passed it for each loss.
fn best_burst(losses: &[Level], passed: &[Level], slack: f64) -> (f64, f64) {
    let edges = edges(losses, slack);
    let mut levels: Vec<f64> = passed.iter().map(|l| l.high).collect();
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

/// The one that chance explains least of those that fit; else the best one.
fn clearest_of(tried: &[Bucket]) -> Option<Bucket> {
    let fitting = tried.iter().filter(|b| b.fits()).copied();
    let clearer = |a: Bucket, b: Bucket| if b.weight() > a.weight() { b } else { a };
    fitting.reduce(clearer).or_else(|| best_of(tried))
}

/// The first of the best ones.
fn best_of(tried: &[Bucket]) -> Option<Bucket> {
    let better = |a: Bucket, b: Bucket| if b.score() > a.score() { b } else { a };
    tried.iter().copied().reduce(better)
}

impl Bucket {
    /// It explains nearly all of the losses, passes nearly nothing that it has no room for, and holds some packets.
    pub(crate) fn fits(&self) -> bool {
        self.explains(EXPLAINED) && self.burst >= PACKETS * self.largest
    }

    /// It explains this share of the losses, and passes nearly nothing that it has no room for.
    pub(crate) fn explains(&self, share: f64) -> bool {
        self.explained >= share && self.over <= OVER
    }

    /// How much less likely chance explains as many of the moments: minus the logarithm of that probability, about
    /// (Chernoff's bound).
    pub(crate) fn weight(&self) -> f64 {
        self.moments as f64 * self.weight_of_one()
    }

    /// The same without the moments that its rate, length and first level can be made to fit; nothing while these are half
    /// of them.
    pub(crate) fn weight_beyond_fit(&self) -> f64 {
        match self.moments.saturating_sub(FITTED) {
            beyond if beyond > FITTED => beyond as f64 * self.weight_of_one(),
            _ => 0.0,
        }
    }

    /// What one moment tells.
    fn weight_of_one(&self) -> f64 {
        let (p, q) = (
            self.explained.clamp(0.01, 0.99),
            self.chance.clamp(0.01, 0.99),
        );
        let part = |p: f64, q: f64| p * libm::log(p / q);
        part(p, q) + part(1.0 - p, 1.0 - q)
    }

    fn fit(&self) -> f64 {
        self.explained - self.over.min(1.0)
    }

    fn score(&self) -> f64 {
        self.fit() - 0.3 * self.chance
    }
}

#[cfg(test)]
mod tests {
    use tcplab_base::Instant;

    use super::super::passed::Passed;
    use super::*;

    /// Numbers without a pattern.
    struct Chance(u64);

    impl Chance {
        fn below(&mut self, n: u64) -> u64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (self.0 >> 33) % n
        }
    }

    /// A sender: a flight of packets of 1,500 bytes each 20 ms, 100 us apart, which grows by two each time and is halved
    /// after a loss. `drops` tells of each packet, at its time in seconds.
    struct Sender {
        flight: u32,
        /// When its flights begin, microseconds after those of the first sender.
        late_us: u32,
        /// Nothing has shown the last loss yet.
        hole: bool,
        seen: Passed,
    }

    impl Sender {
        fn new() -> Self {
            Self {
                flight: 10,
                late_us: 0,
                hole: false,
                seen: Passed::begin(Instant::from_nanos(0)),
            }
        }

        fn send(&mut self, round: u32, behind: bool, drops: &mut impl FnMut(f64) -> bool) {
            let mut lost = false;
            for n in 0..self.flight {
                let us = round * 20_000 + self.late_us + n * 100;
                let now = Instant::from_nanos(i64::from(us) * 1000);
                let gone = drops(f64::from(us) / 1e6);
                lost |= gone;
                if behind {
                    self.seen.passes(1460, true, now);
                    if gone {
                        self.seen.lost(1460, now);
                    }
                } else if gone {
                    self.hole = true;
                } else {
                    if std::mem::take(&mut self.hole) {
                        self.seen.hole(now);
                    }
                    self.seen.passes(1460, true, now);
                }
            }
            self.flight = if lost {
                self.flight / 2
            } else {
                self.flight + 2
            };
        }
    }

    /// A bucket of 30 kB that fills at 1 MB/s.
    fn policer() -> impl FnMut(f64) -> bool {
        let (mut tokens, mut last) = (30_000.0, 0.0);
        move |at: f64| {
            tokens = f64::min(30_000.0, tokens + (at - last) * 1e6);
            last = at;
            let gone = tokens < 1500.0;
            tokens -= if gone { 0.0 } else { 1500.0 };
            gone
        }
    }

    fn bucket_of(senders: &[&Sender]) -> Option<Bucket> {
        let all: Vec<&Passed> = senders.iter().map(|s| &s.seen).collect();
        Events::of(&all).bucket()
    }

    #[test]
    fn a_bucket_explains_its_losses_on_both_sides_of_it() {
        for behind in [true, false] {
            let (mut sender, mut drops) = (Sender::new(), policer());
            (0..120).for_each(|round| sender.send(round, behind, &mut drops));
            let b = bucket_of(&[&sender]).expect("a bucket");
            assert_eq!(b.behind, behind);
            assert!((b.rate / 1e6 - 1.0).abs() < 0.08, "{b:?}");
            assert!((b.burst / 30_000.0 - 1.0).abs() < 0.15, "{b:?}");
            assert!(b.explained > 0.9 && b.over < 0.02, "{b:?}");
            assert!(b.chance < 0.5 && b.weight() > 9.0, "{b:?}");
            assert!(b.bursts > 0.5, "{b:?}");
        }
    }

    #[test]
    fn chance_leaves_no_bucket() {
        for seed in 0..20 {
            let (mut sender, mut chance) = (Sender::new(), Chance(seed));
            (0..200).for_each(|round| sender.send(round, true, &mut |_| chance.below(50) == 0));
            if let Some(b) = bucket_of(&[&sender]) {
                assert!(
                    b.explained < 0.8 || b.weight() < 9.0 || b.burst < 3.5 * b.largest,
                    "{b:?}"
                );
            }
        }
    }

    #[test]
    fn a_bucket_of_two_explains_the_losses_of_both_together() {
        let (mut one, mut two, mut drops) = (Sender::new(), Sender::new(), policer());
        (two.flight, two.late_us) = (4, 10_000);
        for round in 0..120 {
            one.send(round, true, &mut drops);
            // The other one pauses now and then.
            if round % 7 < 4 {
                two.send(round, true, &mut drops);
            }
        }
        let together = bucket_of(&[&one, &two]).expect("a bucket");
        assert!((together.rate / 1e6 - 1.0).abs() < 0.1, "{together:?}");
        assert!(together.explained > 0.8, "{together:?}");
        let alone = bucket_of(&[&one]).expect("a bucket");
        assert!(alone.explained < together.explained, "{alone:?}");
    }
}
