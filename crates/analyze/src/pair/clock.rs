//! The difference between the two clocks, as NTP (RFC 5905 8) finds it: the fastest packet each
//! way took the path alone, and both ways are taken as equally long. That assumption cannot be
//! checked from two captures; what is wrong with it is half of the difference of the two ways.
//!
//! Clocks drift apart by up to some 100 us in a second, so over long captures the difference is
//! fitted by a line through windows.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use tcplab_base::Instant;

use super::{Capture, End, Packet};

/// How B's clock stands against A's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Clock {
    /// B's clock minus A's at the first matched packet, nanoseconds.
    pub offset_ns: i64,
    /// How much faster B's clock runs, parts per million; 0 when the capture is too short to tell.
    pub drift_ppm: f64,
    /// Fastest time there and back, nanoseconds, independent of the clocks. `None` when no
    /// connection has packets of both directions in both captures; the offset is a guess then.
    pub path_ns: Option<i64>,
    /// A's time of the first matched packet.
    #[serde(skip)]
    pub(crate) origin: Instant,
}

/// Windows for the drift.
const WINDOWS: usize = 16;

/// Shortest capture whose drift is estimated.
const LONG_ENOUGH_NS: i64 = 5_000_000_000;

/// Largest drift that a clock in use has; a steeper line is queueing, not a clock.
const MAX_DRIFT: f64 = 500e-6;

/// B's time minus A's: time on the way plus offset, or offset minus time on the way.
#[derive(Clone, Copy)]
struct Sample {
    at: i64,
    delta: i64,
    /// From A's end to B's.
    outward: bool,
}

/// Which capture was taken at the client's end, by A's number of the stream.
pub(crate) type Sides = BTreeMap<u32, End>;

/// Compares the times of the packets of each stream: what the end of A sends reaches B later.
/// Streams with matched packets in one direction only are left out.
pub(crate) fn sides(a: &Capture, pairs: &[(Packet, Packet)]) -> Sides {
    let mut deltas: BTreeMap<u32, [Vec<i64>; 2]> = BTreeMap::new();
    for (x, y) in pairs {
        if let Some(v) = a.verdict(x.number) {
            let [to_server, to_client] = deltas.entry(v.stream).or_default();
            let mine = if v.from_client { to_server } else { to_client };
            mine.push(y.time.since(x.time).as_nanos());
        }
    }
    let side = |(stream, [mut to_server, mut to_client]): (u32, [Vec<i64>; 2])| {
        let a_is_client = median(&mut to_server)? >= median(&mut to_client)?;
        Some((stream, if a_is_client { End::A } else { End::B }))
    };
    deltas.into_iter().filter_map(side).collect()
}

fn median(all: &mut [i64]) -> Option<i64> {
    let middle = all.len().checked_sub(1)? / 2;
    all.sort_unstable();
    all.get(middle).copied()
}

impl Clock {
    /// Compares the times of the matched packets.
    pub(crate) fn estimate(a: &Capture, pairs: &[(Packet, Packet)], sides: &Sides) -> Self {
        let Some(origin) = pairs.iter().map(|(x, _)| x.time).min() else {
            return Self::default();
        };
        let sample = |(x, y): &(Packet, Packet)| {
            let verdict = a.verdict(x.number)?;
            let side = sides.get(&verdict.stream)?;
            Some(Sample {
                at: x.time.since(origin).as_nanos(),
                delta: y.time.since(x.time).as_nanos(),
                outward: verdict.from_client == (*side == End::A),
            })
        };
        let samples: Vec<Sample> = pairs.iter().filter_map(sample).collect();
        let mut clock = Self::of(&samples);
        if samples.is_empty() {
            let deltas = pairs.iter().map(|(x, y)| y.time.since(x.time).as_nanos());
            clock.offset_ns = deltas.min().unwrap_or_default();
        }
        clock.origin = origin;
        clock
    }

    fn of(samples: &[Sample]) -> Self {
        let slope = drift(samples);
        let Some((offset, path)) = offset(samples, slope) else {
            return Self::default();
        };
        Self {
            offset_ns: offset,
            drift_ppm: (slope * 1e9).round() / 1e3,
            path_ns: Some(path),
            origin: Instant::default(),
        }
    }

    /// B's clock minus A's when A's shows `at`, nanoseconds.
    pub(crate) fn offset_at(&self, at: Instant) -> i64 {
        let elapsed = at.since(self.origin).as_nanos() as f64;
        let drifted = (elapsed * self.drift_ppm / 1e6) as i64;
        self.offset_ns.saturating_add(drifted)
    }
}

/// Offset and path from the fastest packet each way, with the drift taken out.
fn offset(samples: &[Sample], slope: f64) -> Option<(i64, i64)> {
    let level = |s: &Sample| s.delta.saturating_sub((s.at as f64 * slope) as i64);
    let there = samples.iter().filter(|s| s.outward).map(level).min()?;
    let back = samples.iter().filter(|s| !s.outward).map(level).max()?;
    // there = path + offset, back = offset - path.
    let offset = i128::midpoint(there.into(), back.into());
    Some((i64::try_from(offset).ok()?, there.saturating_sub(back)))
}

/// Slope of the offsets of the windows, least squares; 0 when there is nothing to fit.
fn drift(samples: &[Sample]) -> f64 {
    let last = samples.iter().map(|s| s.at).max().unwrap_or_default();
    if last < LONG_ENOUGH_NS {
        return 0.0;
    }
    let width = last / WINDOWS as i64 + 1;
    let mut windows: Vec<Vec<Sample>> = vec![Vec::new(); WINDOWS];
    for s in samples {
        let index = usize::try_from(s.at / width).unwrap_or_default();
        if let Some(window) = windows.get_mut(index) {
            window.push(*s);
        }
    }
    let point = |(i, w): (usize, &Vec<Sample>)| {
        let (offset, _) = offset(w, 0.0)?;
        let middle = (i as f64 + 0.5) * width as f64;
        Some((middle, offset as f64))
    };
    let points: Vec<(f64, f64)> = windows.iter().enumerate().filter_map(point).collect();
    if points.len() < WINDOWS / 2 {
        return 0.0;
    }
    let n = points.len() as f64;
    let mean_x = points.iter().map(|p| p.0).sum::<f64>() / n;
    let mean_y = points.iter().map(|p| p.1).sum::<f64>() / n;
    let xy: f64 = points.iter().map(|p| (p.0 - mean_x) * (p.1 - mean_y)).sum();
    let xx: f64 = points.iter().map(|p| (p.0 - mean_x) * (p.0 - mean_x)).sum();
    let slope = if xx > 0.0 { xy / xx } else { 0.0 };
    if slope.abs() <= MAX_DRIFT { slope } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: i64 = 1_000_000;

    /// A at the client; every packet is on the way for `path` and some queueing.
    fn samples(offset: i64, drift: f64, path: i64, seconds: i64) -> Vec<Sample> {
        let one = |i: i64| {
            let at = i * 10 * MS;
            let queue = i * 7919 % 13 * 100_000;
            let b_ahead = offset + (at as f64 * drift) as i64;
            let outward = i % 2 == 0;
            let way = path + queue;
            Sample {
                at,
                delta: b_ahead + if outward { way } else { -way },
                outward,
            }
        };
        (0..seconds * 100).map(one).collect()
    }

    #[test]
    fn finds_the_offset_and_the_path_under_queueing() {
        let clock = Clock::of(&samples(-250 * MS, 0.0, 5 * MS, 3));
        assert_eq!((clock.offset_ns, clock.path_ns), (-250 * MS, Some(10 * MS)));
        assert!(clock.drift_ppm.abs() < 1e-9);
    }

    #[test]
    fn finds_the_drift_of_a_long_capture() {
        let clock = Clock::of(&samples(3 * MS, 40e-6, MS, 60));
        assert!((clock.drift_ppm - 40.0).abs() < 1.0, "{clock:?}");
        assert!((clock.offset_ns - 3 * MS).abs() < 100_000, "{clock:?}");
    }

    #[test]
    fn one_direction_gives_no_path() {
        let mut all = samples(0, 0.0, MS, 1);
        all.retain(|s| s.outward);
        assert_eq!(Clock::of(&all).path_ns, None);
        assert_eq!(Clock::of(&[]), Clock::default());
    }
}
