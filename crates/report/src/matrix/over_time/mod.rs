//! Charts over time on the page: the queue and the rate of links (`run.link_every`), the goodput of
//! each flow, Jain's index and the RTT of one application's flows (`run.tcp_info_every`), and
//! pings.
//!
//! Each list is bounded and says what it leaves out: points beyond the first ones, link directions
//! with short queues, flows with fewer bytes, lines of repetitions beyond the first ones. The
//! median covers all repetitions ([`band`]).

mod band;
mod lines;
mod points;

use std::collections::BTreeMap;

use serde::Serialize;
use tcplab_plan::Point;
use tcplab_plan::result::{PointResult, RunDocument};

use super::labels;
pub use band::Band;
use band::{Grid, HOLD_NS};
pub use lines::{FlowLine, GroupLines, Lines, WayLines};
use points::Run;

/// Points at most.
const MAX_POINTS: usize = 60;
/// Repetitions of a point that have lines of their own, at most.
const MAX_RUNS: usize = 40;
/// Ways of links at most, those whose queues take longest.
const MAX_WAYS: usize = 8;
/// Groups of applications at most.
const MAX_GROUPS: usize = 6;
/// Bands of all points at most, and the fewest bins of one.
const MAX_BANDS: usize = 3_000;
const MIN_BINS: usize = 50;
/// Bins of one band and of all at most: about what a screen shows, and 1 to 2 MB.
const MAX_BINS: [usize; 2] = [1_200, 150_000];
/// The same for repetitions: each point has many lines, and none has extremes.
const MAX_BINS_OF_RUNS: [usize; 2] = [300, 270_000];

/// All that is drawn over time.
#[derive(Debug, Serialize)]
pub struct OverTime {
    /// Time of a bin.
    pub bin_ns: i64,
    /// A state without a new sample holds this long.
    pub hold_ns: i64,
    /// Time between two samples of links, if all runs have the same.
    pub link_every_ns: Option<i64>,
    /// Time between two samples of tcp_info, if all runs have the same.
    pub tcp_info_every_ns: Option<i64>,
    /// Ways of links, the one with the longest queue first: `switch → sink`.
    pub ways: Vec<String>,
    /// Ways that were sampled and are not here.
    pub ways_left_out: usize,
    /// Names of groups of applications.
    pub groups: Vec<String>,
    /// The points.
    pub points: Vec<Lines>,
    /// Points that have series and are not here.
    pub points_left_out: usize,
    /// The most repetitions of a point that have lines of their own.
    pub runs_drawn: usize,
}

/// A place on the axes, and its runs.
type Place<'a> = (Vec<usize>, Vec<Run<'a>>);

impl OverTime {
    /// What a result has over time; `points` come from its plan. None: nothing was sampled.
    pub fn of(document: &RunDocument, points: &[Point]) -> Option<Self> {
        let mut places = places(document, points);
        let all = places.len();
        places.truncate(MAX_POINTS);
        let (ways, ways_left_out) = longest(&places);
        let mut groups: Vec<String> = Vec::new();
        let runs = places.iter().flat_map(|(_, runs)| runs);
        for name in runs.flat_map(|run| run.groups.keys()) {
            if !groups.contains(name) && groups.len() < MAX_GROUPS {
                groups.push(name.clone());
            }
        }
        // Bands, and those that every repetition has.
        let (mut bands, mut of_runs) = (0, 0);
        places.retain(|(_, runs)| {
            let (all, each) = lines::count(&runs[0], &ways, &groups);
            let fits = bands + all <= MAX_BANDS;
            if fits {
                bands += all;
                of_runs += each;
            }
            fits
        });
        let most = places.iter().map(|(_, runs)| runs.len()).max()?;
        let runs = match most {
            1 => 0,
            most => most.min(MAX_RUNS).min((MAX_BANDS - bands) / of_runs.max(1)),
        };
        let grid = Grid {
            // A median has a band of peaks beside it.
            bin_ns: bin(&places, bands * most.min(2) + runs * of_runs, most > 1)?,
            runs,
        };
        let runs_of = || places.iter().flat_map(|(_, runs)| runs);
        let link_every_ns = same(runs_of().filter_map(|run| run.link_every_ns));
        let tcp_info_every_ns = same(runs_of().filter_map(|run| run.tcp_info_every_ns));
        let lines = |(at, runs): Place| Lines::of(at, &runs, (&ways, &groups), grid);
        Some(Self {
            bin_ns: grid.bin_ns,
            hold_ns: HOLD_NS,
            link_every_ns,
            tcp_info_every_ns,
            points_left_out: all - places.len(),
            points: places.into_iter().map(lines).collect(),
            ways,
            ways_left_out,
            groups,
            runs_drawn: runs,
        })
    }
}

/// The value that all have.
fn same(mut all: impl Iterator<Item = i64>) -> Option<i64> {
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

/// The places that have series, in the order of the points.
fn places<'a>(document: &'a RunDocument, points: &[Point]) -> Vec<Place<'a>> {
    let axes = labels::axes(&document.points);
    let mut known: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
    let mut places: Vec<Place> = Vec::new();
    for (number, result) in document.points.iter().enumerate() {
        let Some(point) = point_of(result, points, number) else {
            continue;
        };
        let run = Run::of(point, result);
        if run.is_empty() {
            continue;
        }
        let at: Vec<usize> = axes.iter().map(|axis| axis.place(result)).collect();
        let place = *known.entry(at.clone()).or_insert(places.len());
        match places.get_mut(place) {
            Some((_, runs)) => runs.push(run),
            None => places.push((at, vec![run])),
        }
    }
    places
}

/// The point that a result is of. Stacks come one after another, and each has all points.
fn point_of<'a>(result: &PointResult, points: &'a [Point], number: usize) -> Option<&'a Point> {
    let same = |point: &&Point| point.axes == result.axes;
    let point = number
        .checked_rem(points.len())
        .and_then(|at| points.get(at));
    point.filter(same).or_else(|| points.iter().find(same))
}

/// The ways whose queues take longest, and how many others there are.
fn longest(places: &[Place]) -> (Vec<String>, usize) {
    let mut peaks: Vec<(String, (f64, f64))> = Vec::new();
    let runs = places.iter().flat_map(|(_, runs)| runs);
    for way in runs.flat_map(|run| &run.ways) {
        match peaks.iter_mut().find(|(known, _)| *known == way.name) {
            Some((_, peak)) => *peak = (peak.0.max(way.peak.0), peak.1.max(way.peak.1)),
            None => peaks.push((way.name.clone(), way.peak)),
        }
    }
    // Stable: those with equal queues stay in the order of the file.
    peaks.sort_by(|(_, a), (_, b)| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)));
    let left_out = peaks.len().saturating_sub(MAX_WAYS);
    peaks.truncate(MAX_WAYS);
    (peaks.into_iter().map(|(name, _)| name).collect(), left_out)
}

/// The time of a bin: as many bins as there may be, and each of whole samples.
fn bin(places: &[Place], bands: usize, is_repeated: bool) -> Option<i64> {
    let runs = || places.iter().flat_map(|(_, runs)| runs);
    let end = runs().map(|run| run.end_ns).max()?;
    let every = runs().map(|run| run.every_ns).max()?.max(1);
    let [most, of_all] = match is_repeated {
        true => MAX_BINS_OF_RUNS,
        false => MAX_BINS,
    };
    let bins = (of_all / bands.max(1)).clamp(MIN_BINS, most);
    let samples = end / every + 1;
    let each = samples.div_euclid(bins as i64) + i64::from(samples % bins as i64 > 0);
    Some(each.max(1) * every)
}

#[cfg(test)]
mod tests;
