//! All groups of a run so far: integers by group, histograms by block. Memory does not grow with the connections.

use tcplab_stats::{Block, Sketch};

use super::engine::GROUPS;
use super::record::{Group, Outlier};
use super::sums::{Both, COUNTERS, Sums};

/// Blocks of groups whose times share histograms: the unit of the jackknife of quantiles.
pub(crate) const BLOCKS: usize = 64;
/// Outliers of each arm that are told.
const OUTLIERS: usize = 20;

/// Which times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Times {
    /// Of responses below 4 kB.
    Small,
    /// Of the other responses.
    Large,
    /// Of recoveries.
    Recovery,
}

/// The integers of one group in one arm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Numbers {
    pub(crate) connections: u64,
    pub(crate) lossy: u64,
    pub(crate) lossy_us: u64,
    pub(crate) cut_short: u64,
    pub(crate) requests: u64,
    pub(crate) small_requests: u64,
    /// Small, others.
    pub(crate) both: [Both; 2],
    pub(crate) counters: [u64; COUNTERS.len()],
    /// How many, and their sum in microseconds, by [`Times`].
    pub(crate) count: [u64; 3],
    pub(crate) sum_us: [u64; 3],
}

impl Numbers {
    /// Responses that were asked for and not ACKed whole; recoveries are not asked for.
    pub(crate) fn unfinished(&self, times: &[Times]) -> u64 {
        let one = |which: &Times| match which {
            Times::Small => self.small_requests.saturating_sub(self.count[0]),
            Times::Large => {
                let asked = self.requests.saturating_sub(self.small_requests);
                asked.saturating_sub(self.count[1])
            }
            Times::Recovery => 0,
        };
        times.iter().map(one).sum()
    }
}

/// Everything.
#[derive(Clone, Debug)]
pub(crate) struct Totals {
    /// By arm, then by group; groups that are not there yet have no connections.
    pub(crate) numbers: Vec<Vec<Numbers>>,
    /// By arm, then by block, then by [`Times`].
    sketches: Vec<Vec<[Sketch; 3]>>,
    pub(crate) outliers: Vec<Outlier>,
    /// Groups that are there.
    pub(crate) groups: u32,
}

impl Totals {
    pub(crate) fn new(arms: usize) -> Self {
        Self::sized(arms, GROUPS as usize)
    }

    /// With room for so many groups.
    pub(crate) fn sized(arms: usize, groups: usize) -> Self {
        let sketches = || (0..BLOCKS).map(|_| Default::default()).collect();
        Self {
            numbers: vec![vec![Numbers::default(); groups]; arms],
            sketches: (0..arms).map(|_| sketches()).collect(),
            outliers: Vec::new(),
            groups: 0,
        }
    }

    /// Adds a group; one that is there already changes nothing.
    pub(crate) fn add(&mut self, group: &Group) {
        let place = group.number as usize;
        self.groups += 1;
        for (arm, sums) in group.arms.iter().enumerate() {
            if let Some(numbers) = self.numbers[arm].get_mut(place) {
                *numbers = of(sums);
            }
            let sketches = &mut self.sketches[arm][place % BLOCKS];
            let times = [&sums.small_us, &sums.large_us, &sums.recovery_us];
            for (sketch, times) in sketches.iter_mut().zip(times) {
                for &us in times {
                    sketch.add(u64::from(us), 1);
                }
            }
        }
        self.outliers.extend_from_slice(&group.outliers);
        if self.outliers.len() > 8 * OUTLIERS * group.arms.len() {
            self.finish();
        }
    }

    /// Sorts the outliers, so that the order in which they were found does not matter.
    pub(crate) fn finish(&mut self) {
        let rank = |o: &Outlier| {
            let size = std::cmp::Reverse(o.difference_us.unsigned_abs());
            (o.arm, size, o.connection)
        };
        self.outliers.sort_unstable_by_key(rank);
        let mut kept = vec![0; self.numbers.len()];
        self.outliers.retain(|o| {
            let n = &mut kept[o.arm as usize];
            *n += 1;
            *n <= OUTLIERS
        });
    }

    /// The sum of a number over the groups of an arm.
    pub(crate) fn sum(&self, arm: usize, of: impl Fn(&Numbers) -> u64) -> u64 {
        self.numbers[arm].iter().map(of).sum()
    }

    /// Some times in each block of an arm, and how many responses did not finish.
    pub(crate) fn blocks(&self, arm: usize, times: &[Times]) -> Vec<Block> {
        let block = |sketches: &[Sketch; 3]| {
            let mut all = Sketch::default();
            for which in times {
                all.merge(&sketches[*which as usize]);
            }
            Block::from(all)
        };
        let mut blocks: Vec<Block> = self.sketches[arm].iter().map(block).collect();
        for (place, group) in self.numbers[arm].iter().enumerate() {
            blocks[place % BLOCKS].unfinished += group.unfinished(times);
        }
        blocks
    }

    /// A quantile of some times of an arm, in microseconds, as in [`tcplab_stats::compare_quantiles`]; `None` if it is
    /// an unfinished response.
    pub(crate) fn quantile(&self, arm: usize, times: &[Times], p: f64) -> Option<u64> {
        quantile(
            &self.sketch(arm, times),
            self.sum(arm, |n| n.unfinished(times)),
            p,
        )
    }

    /// The histogram of some times of an arm.
    pub(crate) fn sketch(&self, arm: usize, times: &[Times]) -> Sketch {
        let mut all = Sketch::default();
        for sketches in &self.sketches[arm] {
            for which in times {
                all.merge(&sketches[*which as usize]);
            }
        }
        all
    }
}

/// A quantile of a sketch and of so many samples that are later than all.
pub(crate) fn quantile(sketch: &Sketch, unfinished: u64, p: f64) -> Option<u64> {
    if unfinished == 0 {
        return sketch.quantile(p);
    }
    let rank = p * (sketch.count() + unfinished) as f64;
    let part = rank / sketch.count().max(1) as f64;
    (part <= 1.0).then(|| sketch.quantile(part))?
}

fn of(sums: &Sums) -> Numbers {
    let times = [&sums.small_us, &sums.large_us, &sums.recovery_us];
    Numbers {
        connections: sums.connections,
        lossy: sums.lossy,
        lossy_us: sums.lossy_us,
        cut_short: sums.cut_short,
        requests: sums.requests,
        small_requests: sums.small_requests,
        both: sums.both,
        counters: sums.counters,
        count: times.map(|t| t.len() as u64),
        sum_us: times.map(|t| t.iter().map(|us| u64::from(*us)).sum()),
    }
}
