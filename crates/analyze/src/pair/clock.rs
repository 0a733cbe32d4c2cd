//! The difference between the two clocks, as NTP (RFC 5905 8) finds it: the fastest packet each
//! way took the path alone, and both ways are taken as equally long. That assumption cannot be
//! checked from two captures; what is wrong with it is half of the difference of the two ways.
//!
//! Clocks drift apart by up to some 100 us in a second. No packet arrives before it was sent. So the drift is a
//! slope that leaves room for the path, below all packets of one way and above all of the other. The slope with
//! the most room is taken (Zhang, Liu, Xia: Clock Synchronization Algorithms for Network Measurements, 2002).
//! Clock Synchronization Algorithms for Network Measurements, 2002). Where no slope leaves any, a clock was set
//! or runs unevenly, and no offset is given.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use tcplab_base::Instant;

use super::{Capture, End, Packet};

/// B's clock against A's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Clock {
    /// B's clock minus A's at the first matched packet. Null if no connection matched both ways, or if `steady` is
    /// false.
    pub offset_ns: Option<i64>,
    /// How much faster B's clock runs. Null if indistinguishable from 0: a short capture, or queues that vary more
    /// than the clocks.
    pub drift_ppm: Option<f64>,
    /// Shortest round trip between the captures, independent of the offset. Null if `offset_ns` is.
    pub path_ns: Option<i64>,
    /// False: no offset with a drift of at most 500 ppm fits all packets: a clock was set or runs unevenly. Null:
    /// not checked, as no connection matched both ways.
    pub steady: Option<bool>,
    /// A's time of the first matched packet.
    #[serde(skip)]
    pub(crate) origin: Instant,
}

/// Windows of which one half must confirm the drift that the other half shows.
const WINDOWS: usize = 16;

/// Shortest capture whose drift is estimated, unless an offset without drift is impossible.
const LONG_ENOUGH_NS: i64 = 5_000_000_000;

/// Largest drift that a clock in use has: Linux adjusts by no more (MAXFREQ of `adjtimex(2)`).
const MAX_DRIFT: f64 = 500e-6;

/// Largest slope that is looked for, to tell a clock that runs wrong.
const STEEPEST: f64 = 0.05;

/// Two time stamps of a microsecond each may be rounded apart by this much.
const RESOLUTION_NS: i64 = 2_000;

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

/// The evidence of one stream for where the captures were taken.
#[derive(Default)]
struct Votes {
    last: Option<(bool, i64)>,
    /// Neighbours of opposite directions that show A at the client's end, at the server's, and at both.
    client: u64,
    server: u64,
    either: u64,
}

impl Votes {
    /// Compares a packet with the one before it, of the other direction: what the end of A sends reaches B later,
    /// what it gets left B earlier. Neighbours alone, so that a step or the drift of a clock does not matter.
    fn packet(&mut self, from_client: bool, delta: i64) {
        if let Some((before, other)) = self.last.replace((from_client, delta))
            && before != from_client
        {
            let later = i128::from(delta) - i128::from(other);
            match if from_client { later } else { -later } {
                1.. => self.client += 1,
                0 => self.either += 1,
                _ => self.server += 1,
            }
        }
    }

    /// The capture at the client's end; `None` when one direction matched, or when the times contradict each other.
    fn side(&self) -> Option<End> {
        let (most, least, side) = if self.client >= self.server {
            (self.client, self.server, End::A)
        } else {
            (self.server, self.client, End::B)
        };
        // On a path of a few microseconds some stamps are a little off.
        (most + self.either > 0 && least * 10 <= most).then_some(side)
    }
}

/// Compares the times of the packets of each stream. A clock that stands still tells nothing.
pub(crate) fn sides(a: &Capture, pairs: &[(Packet, Packet)]) -> Sides {
    let still = |time: fn(&(Packet, Packet)) -> Instant| {
        let mut times = pairs.iter().map(time);
        let first = times.next();
        times.all(|t| Some(t) == first)
    };
    if still(|p| p.0.time) != still(|p| p.1.time) {
        return Sides::new();
    }
    let mut votes: BTreeMap<u32, Votes> = BTreeMap::new();
    for (x, y) in pairs {
        if let Some(v) = a.verdict(x.number) {
            let delta = y.time.since(x.time).as_nanos();
            let stream = votes.entry(v.stream).or_default();
            stream.packet(v.from_client, delta);
        }
    }
    let side = |(stream, votes): (u32, Votes)| Some((stream, votes.side()?));
    votes.into_iter().filter_map(side).collect()
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
        Self {
            origin,
            ..Self::of(&samples)
        }
    }

    fn of(samples: &[Sample]) -> Self {
        let Some(room) = Room::of(samples) else {
            return Self::default();
        };
        let drift = match drift(samples, &room) {
            Drift::Of(slope) => Some(slope),
            Drift::Hidden => None,
            Drift::Unsteady => {
                return Self {
                    steady: Some(false),
                    ..Self::default()
                };
            }
        };
        let slope = drift.unwrap_or_default();
        Self {
            offset_ns: Some(room.offset(slope)),
            drift_ppm: drift.map(|slope| (slope * 1e9).round() / 1e3),
            path_ns: Some(room.path(slope).max(0)),
            steady: Some(true),
            origin: Instant::default(),
        }
    }

    /// B's clock minus A's when A's shows `at`, nanoseconds.
    pub(crate) fn offset_at(&self, at: Instant) -> Option<i64> {
        let elapsed = at.since(self.origin).as_nanos() as f64;
        let drifted = (elapsed * self.drift_ppm.unwrap_or_default() / 1e6) as i64;
        Some(self.offset_ns?.saturating_add(drifted))
    }

    /// The time of B's clock when A's shows `at`.
    pub(crate) fn at_b(&self, at: Instant) -> Option<Instant> {
        let offset = self.offset_at(at)?;
        Some(Instant::from_nanos(at.as_nanos().saturating_add(offset)))
    }

    /// The time of A's clock when B's shows `at`.
    pub(crate) fn at_a(&self, at: Instant) -> Option<Instant> {
        let near = Instant::from_nanos(at.as_nanos().saturating_sub(self.offset_ns?));
        let exact = at.as_nanos().saturating_sub(self.offset_at(near)?);
        Some(Instant::from_nanos(exact))
    }
}

/// The lower convex hull of points: all that a line from below can touch.
struct Floor(Vec<(i64, i64)>);

impl Floor {
    /// Points by time.
    fn of(mut points: Vec<(i64, i64)>) -> Self {
        points.sort_unstable();
        let mut hull: Vec<(i64, i64)> = Vec::new();
        for p in points {
            while let [.., o, m] = hull[..]
                && cross(o, m, p) <= 0
            {
                hull.pop();
            }
            hull.push(p);
        }
        Self(hull)
    }

    /// Height at time 0 of the highest line with this slope below all points.
    fn under(&self, slope: f64) -> i64 {
        let height = |(at, y): &(i64, i64)| y.saturating_sub((*at as f64 * slope) as i64);
        self.0.iter().map(height).min().unwrap_or_default()
    }
}

/// Above 0 when the way from `o` by `m` to `p` turns left.
fn cross(o: (i64, i64), m: (i64, i64), p: (i64, i64)) -> i128 {
    let d = |a: i64, b: i64| i128::from(a) - i128::from(b);
    d(m.0, o.0) * d(p.1, o.1) - d(m.1, o.1) * d(p.0, o.0)
}

/// The room between the fastest packets of both ways: there, path + offset; back, offset - path.
struct Room {
    there: Floor,
    /// Upside down.
    back: Floor,
}

impl Room {
    /// `None` without packets of both ways.
    fn of(samples: &[Sample]) -> Option<Self> {
        let (there, back): (Vec<&Sample>, Vec<&Sample>) = samples.iter().partition(|s| s.outward);
        let there: Vec<_> = there.iter().map(|s| (s.at, s.delta)).collect();
        let back: Vec<_> = back
            .iter()
            .map(|s| (s.at, s.delta.saturating_neg()))
            .collect();
        let both = !there.is_empty() && !back.is_empty();
        both.then(|| Self {
            there: Floor::of(there),
            back: Floor::of(back),
        })
    }

    /// Fastest time there and back, when B's clock drifts so. Below 0: it does not.
    fn path(&self, slope: f64) -> i64 {
        let (there, back) = (self.there.under(slope), self.back.under(-slope));
        there.saturating_add(back)
    }

    /// B's clock minus A's at time 0.
    fn offset(&self, slope: f64) -> i64 {
        let (there, back) = (self.there.under(slope), self.back.under(-slope));
        let offset = i128::midpoint(there.into(), -i128::from(back));
        i64::try_from(offset).unwrap_or_default()
    }

    /// The slope with most room. The room is concave in it: thirds of the interval find the top.
    fn widest(&self, most: f64) -> f64 {
        let (mut low, mut high) = (-most, most);
        for _ in 0..80 {
            let third = (high - low) / 3.0;
            let (left, right) = (low + third, high - third);
            match self.path(left).cmp(&self.path(right)) {
                std::cmp::Ordering::Less => low = left,
                std::cmp::Ordering::Greater => high = right,
                std::cmp::Ordering::Equal => (low, high) = (left, right),
            }
        }
        f64::midpoint(low, high)
    }
}

/// What the packets say of the drift.
enum Drift {
    /// This slope.
    Of(f64),
    /// It cannot be told from 0.
    Hidden,
    /// No clock in use fits.
    Unsteady,
}

fn drift(samples: &[Sample], room: &Room) -> Drift {
    let slope = room.widest(MAX_DRIFT);
    let path = room.path(slope);
    if path < -RESOLUTION_NS {
        return Drift::Unsteady;
    }
    let steep = room.widest(STEEPEST);
    if steep.abs() > MAX_DRIFT && is_drift(samples, room, steep, path) {
        return Drift::Unsteady;
    }
    let level = room.path(0.0);
    if level < -RESOLUTION_NS || is_drift(samples, room, slope, level) {
        return Drift::Of(slope);
    }
    Drift::Hidden
}

/// Whether this slope is drift of the clock and not chance. Packets of even and of odd windows must each show it
/// within a fifth. The room must be nearly that of the fastest window alone, which a step would prevent.
fn is_drift(samples: &[Sample], room: &Room, slope: f64, level: i64) -> bool {
    let last = samples.iter().map(|s| s.at).max().unwrap_or_default();
    let path = room.path(slope);
    if last < LONG_ENOUGH_NS || path - level <= RESOLUTION_NS {
        return false;
    }
    let mut windows: Vec<Vec<Sample>> = vec![Vec::new(); WINDOWS];
    for s in samples {
        let index = usize::try_from(s.at / (last / WINDOWS as i64 + 1)).unwrap_or_default();
        if let Some(window) = windows.get_mut(index) {
            window.push(*s);
        }
    }
    let fastest = windows.iter().filter_map(|w| Room::of(w));
    let Some(fastest) = fastest.map(|w| w.path(slope)).min() else {
        return false;
    };
    [0, 1].iter().all(|first| {
        let half: Vec<Sample> = windows
            .iter()
            .skip(*first)
            .step_by(2)
            .flatten()
            .copied()
            .collect();
        let found = Room::of(&half).map(|half| half.widest(STEEPEST));
        found.is_some_and(|found| (found - slope).abs() <= slope.abs() / 5.0)
    }) && fastest.saturating_sub(path) <= path.saturating_sub(level) / 4
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
        let found = (clock.offset_ns, clock.path_ns, clock.drift_ppm);
        assert_eq!(found, (Some(-250 * MS), Some(10 * MS), None));
    }

    #[test]
    fn finds_the_drift_of_a_long_capture() {
        for ppm in [40.0, -40.0, 400.0] {
            let clock = Clock::of(&samples(3 * MS, ppm / 1e6, MS, 60));
            assert!((clock.drift_ppm.unwrap() - ppm).abs() < 0.1, "{clock:?}");
            let offset = clock.offset_ns.unwrap();
            assert!((offset - 3 * MS).abs() < 10_000, "{clock:?}");
            assert!(
                (clock.path_ns.unwrap() - 2 * MS).abs() < 10_000,
                "{clock:?}"
            );
        }
    }

    /// A transfer in a few windows fills a queue one way. It is no drift.
    #[test]
    fn a_queue_in_some_windows_is_no_drift() {
        let mut all = samples(0, 0.0, 15 * MS, 40);
        for s in &mut all {
            if s.outward && (30_000 * MS..33_000 * MS).contains(&s.at) {
                s.delta += 100 * MS;
            }
        }
        let clock = Clock::of(&all);
        let found = (clock.offset_ns, clock.path_ns, clock.drift_ppm);
        assert_eq!(found, (Some(0), Some(30 * MS), None));
    }

    /// Most packets are large, few show the path alone; and a small step is no drift.
    #[test]
    fn drift_shows_where_few_packets_are_fast() {
        let at = |ppm: f64, step: i64| {
            let mut all = samples(0, ppm / 1e6, 15 * MS, 50);
            for (i, s) in (0_i64..).zip(&mut all) {
                if !s.outward && i % 400 != 1 {
                    s.delta -= 3 * MS;
                }
                s.delta += if i >= 2_000 { step } else { 0 };
            }
            Clock::of(&all)
        };
        let clock = at(50.0, 0);
        assert!((clock.drift_ppm.unwrap() - 50.0).abs() < 5.0, "{clock:?}");
        assert_eq!(at(0.0, 0).drift_ppm, None);
        assert_eq!(at(0.0, 2 * MS).drift_ppm, None);
    }

    #[test]
    fn set_or_uneven_clock_has_no_offset() {
        let mut stepped = samples(0, 0.0, 15 * MS, 4);
        for s in stepped.iter_mut().skip(200) {
            s.delta += 500 * MS;
        }
        let wrong = samples(0, 1_000e-6, 15 * MS, 40);
        for all in [stepped, wrong] {
            let clock = Clock::of(&all);
            assert_eq!(clock.steady, Some(false));
            assert_eq!((clock.offset_ns, clock.path_ns), (None, None));
        }
    }

    /// On a short path a few seconds suffice: without drift, packets would arrive before they were sent.
    #[test]
    fn drift_proved_by_a_short_path_is_removed() {
        let clock = Clock::of(&samples(0, 200e-6, 50_000, 4));
        assert!((clock.drift_ppm.unwrap() - 200.0).abs() < 5.0, "{clock:?}");
        assert!(
            (clock.path_ns.unwrap() - 100_000).abs() < 10_000,
            "{clock:?}"
        );
    }

    #[test]
    fn one_direction_gives_no_offset() {
        let mut all = samples(0, 0.0, MS, 1);
        all.retain(|s| s.outward);
        assert_eq!(Clock::of(&all), Clock::default());
        assert_eq!(Clock::of(&[]), Clock::default());
    }

    #[test]
    fn times_that_contradict_each_other_tell_no_end() {
        let votes = |all: &[(bool, i64)]| {
            let mut votes = Votes::default();
            all.iter()
                .for_each(|(from, delta)| votes.packet(*from, *delta));
            votes.side()
        };
        assert_eq!(votes(&[(true, 15), (false, -15), (true, 16)]), Some(End::A));
        assert_eq!(
            votes(&[(true, -15), (false, 15), (true, -16)]),
            Some(End::B)
        );
        // A step of the clock between two requests.
        let step: Vec<_> = (0..40)
            .map(|i| (i % 2 == 0, 15 - i % 2 * 30 + i / 20 * 500))
            .collect();
        assert_eq!(votes(&step), Some(End::A));
        // B has one time for all packets.
        let stopped: Vec<_> = (0..40).map(|i| (i % 2 == 0, -i)).collect();
        assert_eq!(votes(&stopped), None);
        assert_eq!(votes(&[(true, 15), (true, 16)]), None);
    }
}
