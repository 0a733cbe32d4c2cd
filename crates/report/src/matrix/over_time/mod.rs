//! What points did over time, for the page: the queue and the rate of links (`run.link_every`), the goodput of each
//! flow and Jain's index of those of one application (`run.tcp_info_every`), and pings.
//!
//! All of it is bounded, and says what it leaves out: points beyond the first ones, ways of links with short queues,
//! flows with fewer bytes. Of repetitions the first one is here.

mod band;
mod points;

use std::collections::BTreeMap;

use serde::Serialize;
use tcplab_plan::Point;
use tcplab_plan::result::{PointResult, RunDocument};

use super::labels;
pub use band::Band;
use points::Gathered;

/// Points at most.
const MAX_POINTS: usize = 60;
/// Ways of links at most, those whose queues take longest.
const MAX_WAYS: usize = 8;
/// Groups of applications at most.
const MAX_GROUPS: usize = 6;
/// Flows of a group in a point at most, those with the most bytes.
const MAX_FLOWS: usize = 16;
/// Bands of all points at most, and bins of all of them.
const MAX_BANDS: usize = 3_000;
const MAX_BINS: usize = 150_000;
/// Bins of one band: about what a screen shows.
const BINS: std::ops::RangeInclusive<usize> = 50..=1_200;

/// All that is drawn over time.
#[derive(Debug, Serialize)]
pub struct OverTime {
    /// Time of a bin.
    pub bin_ns: i64,
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
    /// A point was run more than once; the first run is here.
    pub repeated: bool,
}

/// One point.
#[derive(Debug, Serialize)]
pub struct Lines {
    /// Its value on each axis of the matrix.
    pub at: Vec<usize>,
    /// What each way did, in the order of [`OverTime::ways`]; none: it has none here.
    pub ways: Vec<Option<WayLines>>,
    /// What each group did, in the order of [`OverTime::groups`].
    pub groups: Vec<Option<GroupLines>>,
}

/// One way of a link.
#[derive(Debug, Serialize)]
pub struct WayLines {
    /// Bytes in the queue.
    pub queue: Band,
    /// Bits a second that came out.
    pub rate: Option<Band>,
    /// Bits of frames a second that it sends at most: what divides the queue to give its time; none: nothing limits it.
    pub drain_bps: Option<f64>,
}

/// The connections of one application, or of a group of them.
#[derive(Debug, Serialize)]
pub struct GroupLines {
    /// Bits a second that each flow's receiver got.
    pub flows: Vec<FlowLine>,
    /// Flows that are not here.
    pub flows_left_out: usize,
    /// Jain's index of all of them.
    pub jain: Option<Band>,
    /// Seconds that pings took, by when they were sent.
    pub pings: Option<Band>,
}

/// One connection.
#[derive(Debug, Serialize)]
pub struct FlowLine {
    /// Its application's name and, if that has several, its number.
    pub name: String,
    /// Bits a second.
    pub goodput: Band,
}

impl OverTime {
    /// What a result has over time; `points` are those of its plan. None: nothing was sampled.
    pub fn of(document: &RunDocument, points: &[Point]) -> Option<Self> {
        let axes = labels::axes(&document.points);
        let mut first: BTreeMap<Vec<usize>, usize> = BTreeMap::new();
        let mut gathered: Vec<(Vec<usize>, Gathered)> = Vec::new();
        let mut repeated = false;
        for (number, result) in document.points.iter().enumerate() {
            let Some(point) = point_of(result, points, number) else {
                continue;
            };
            let at: Vec<usize> = axes.iter().map(|axis| axis.place(result)).collect();
            let found = Gathered::of(point, result);
            if found.is_empty() {
                continue;
            }
            if first.insert(at.clone(), number).is_some() {
                repeated = true;
                continue;
            }
            gathered.push((at, found));
        }
        let all = gathered.len();
        gathered.truncate(MAX_POINTS);
        let (ways, ways_left_out) = longest(&gathered);
        let mut groups: Vec<String> = Vec::new();
        for name in gathered.iter().flat_map(|(_, one)| one.groups.keys()) {
            if !groups.contains(name) && groups.len() < MAX_GROUPS {
                groups.push(name.clone());
            }
        }
        let mut bands = 0;
        gathered.retain(|(_, one)| {
            bands += one.bands(&ways, &groups);
            bands <= MAX_BANDS
        });
        let bin_ns = bin(&gathered, bands.min(MAX_BANDS))?;
        Some(Self {
            points_left_out: all - gathered.len(),
            points: gathered
                .into_iter()
                .map(|(at, one)| one.lines(at, &ways, &groups, bin_ns))
                .collect(),
            bin_ns,
            ways,
            ways_left_out,
            groups,
            repeated,
        })
    }
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
fn longest(gathered: &[(Vec<usize>, Gathered)]) -> (Vec<String>, usize) {
    let mut peaks: Vec<(String, (f64, f64))> = Vec::new();
    for (name, way) in gathered.iter().flat_map(|(_, one)| &one.ways) {
        match peaks.iter_mut().find(|(known, _)| known == name) {
            Some((_, peak)) => *peak = (peak.0.max(way.peak.0), peak.1.max(way.peak.1)),
            None => peaks.push((name.clone(), way.peak)),
        }
    }
    // Stable: those with equal queues stay in the order of the file.
    peaks.sort_by(|(_, a), (_, b)| b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1)));
    let left_out = peaks.len().saturating_sub(MAX_WAYS);
    peaks.truncate(MAX_WAYS);
    (peaks.into_iter().map(|(name, _)| name).collect(), left_out)
}

/// The time of a bin: as many bins as there may be, and each of whole samples.
fn bin(gathered: &[(Vec<usize>, Gathered)], bands: usize) -> Option<i64> {
    let end = gathered.iter().map(|(_, one)| one.end_ns).max()?;
    let every = gathered.iter().map(|(_, one)| one.every_ns).max()?.max(1);
    let bins = (MAX_BINS / bands.max(1)).clamp(*BINS.start(), *BINS.end());
    let samples = end / every + 1;
    let each = samples.div_euclid(bins as i64) + i64::from(samples % bins as i64 > 0);
    Some(each.max(1) * every)
}

#[cfg(test)]
mod tests;
