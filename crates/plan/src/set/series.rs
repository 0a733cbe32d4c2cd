//! The series of a set: goodput each step from samples of tcp_info, the time of each ping; averages and sums of them.
//!
//! Goodput is what the receiving kernel got in order (`tcpi_bytes_received`), in Mbit/s of the step that ends at the
//! value's time. A ping's time stands at the step in which it was sent; a lost one leaves a gap. flent's own series are
//! alike, but count what netperf wrote or read, and place values between samples by interpolation (aggregators.py).

use super::{AppSet, PING};
use crate::app::AppKind;
use crate::measure::is_app;
use crate::outcome::{End, Flow, TCP_INFO_SERIES};
use crate::point::Point;

/// Statistics of a series by name.
pub const STATISTICS: [(&str, &str); 6] = [
    (
        "mean",
        "mean over the load without its beginning (`settle`)",
    ),
    (
        "median",
        "median of the steps that `mean` covers (nearest rank)",
    ),
    (
        "p99",
        "99th percentile of the steps that `mean` covers (nearest rank)",
    ),
    ("min", "the smallest"),
    ("max", "the largest"),
    ("points", "steps with a value"),
];

/// One series.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// flent's name.
    pub name: String,
    /// Mbit/s, or ms of a ping; none: no value at this step.
    pub values: Vec<Option<f64>>,
    /// The samples behind it: time after the set's begin in nanoseconds, and value. Empty for computed series.
    pub raw: Vec<(i64, f64)>,
}

/// All series of a set on one time axis, whose values are a step apart and begin with the set.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Time between two values.
    pub step_ns: i64,
    /// The series in flent's order; averages and sums come last.
    pub series: Vec<Series>,
    /// Steps that statistics take: of goodput, and of pings.
    windows: [std::ops::Range<usize>; 2],
}

impl Table {
    /// Of what a run did.
    pub fn new(set: &AppSet, point: &Point, flows: &[Flow]) -> Self {
        let step = set.step_ns.max(1);
        let total = set
            .duration_ns
            .saturating_add(set.delay_ns.saturating_mul(2));
        let steps = usize::try_from(total / step).unwrap_or(0) + 1;
        let own = set.series.iter().map(|one| {
            let ours = flows.iter().filter(|flow| {
                let app = point.apps.iter().find(|app| app.name == flow.app);
                app.is_some_and(|app| is_app(app, &one.app))
            });
            let ours: Vec<&Flow> = ours.collect();
            let kind = point.apps.iter().find(|app| is_app(app, &one.app));
            let (values, raw) = match kind.map(|app| &app.does) {
                Some(AppKind::Bulk { reverse, .. }) => goodput(set, &ours, *reverse, steps),
                _ => pings(set, &ours, steps),
            };
            Series {
                name: one.name.clone(),
                values,
                raw,
            }
        });
        let mut series: Vec<Series> = own.collect();
        for (name, prefix, is_sum) in set.computed() {
            let members = series.iter().take(set.series.len());
            let members: Vec<&Series> = members.filter(|s| s.name.starts_with(prefix)).collect();
            let values = (0..steps)
                .map(|k| combined(members.iter().filter_map(|s| s.values[k]), is_sum))
                .collect();
            series.push(Series {
                name,
                values,
                raw: Vec::new(),
            });
        }
        // A goodput ends at its step, a ping begins there.
        let first = set.delay_ns.saturating_add(set.settle_ns) / step;
        let last = set.delay_ns.saturating_add(set.duration_ns) / step;
        let place = |n: i64| usize::try_from(n).unwrap_or(0).min(steps);
        Self {
            step_ns: step,
            series,
            windows: [place(first + 1)..place(last + 1), place(first)..place(last)],
        }
    }

    /// A statistic of a series ([`STATISTICS`]).
    ///
    /// # Errors
    /// Why the statistic is missing, in words.
    pub fn statistic(&self, name: &str, which: &str) -> Result<f64, String> {
        let series = self.series.iter().find(|s| s.name == name);
        let series = series.ok_or("the set has no such series")?;
        let window = &self.windows[usize::from(name.starts_with(PING))];
        let values = series.values.get(window.clone()).unwrap_or_default();
        let mut values: Vec<f64> = values.iter().copied().flatten().collect();
        values.sort_by(f64::total_cmp);
        let rank = |percent: usize| (values.len() * percent).div_ceil(100).saturating_sub(1);
        let value = match which {
            "points" => return Ok(values.len() as f64),
            "mean" if values.is_empty() => None,
            "mean" => Some(values.iter().sum::<f64>() / values.len() as f64),
            "median" => values.get(rank(50)).copied(),
            "p99" => values.get(rank(99)).copied(),
            "min" => values.first().copied(),
            _ => values.last().copied(),
        };
        value.ok_or_else(|| "the series has no value there".to_owned())
    }
}

/// flent's `average` and `sum`: of those that have a value.
fn combined(values: impl Iterator<Item = f64>, is_sum: bool) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0_u32), |(sum, n), value| (sum + value, n + 1));
    match (count, is_sum) {
        (0, _) => None,
        (_, true) => Some(sum),
        (n, false) => Some(sum / f64::from(n)),
    }
}

/// A series' values and what they were made of.
type Made = (Vec<Option<f64>>, Vec<(i64, f64)>);

/// Mbit/s of each step of the load.
fn goodput(set: &AppSet, flows: &[&Flow], reverse: bool, steps: usize) -> Made {
    let end = |flow: &Flow| match reverse {
        true => Received::new(&flow.client),
        false => Received::new(&flow.server),
    };
    let ends: Vec<Received> = flows.iter().filter_map(|flow| end(flow)).collect();
    let (mut values, mut raw) = (vec![None; steps], Vec::new());
    if ends.is_empty() {
        return (values, raw);
    }
    let bytes = |at: i64| {
        ends.iter()
            .map(|end| end.at(set.start_ns + at))
            .sum::<f64>()
    };
    let load = set.delay_ns..=set.delay_ns.saturating_add(set.duration_ns);
    for (k, value) in values.iter_mut().enumerate().skip(1) {
        let until = set.step_ns.saturating_mul(i64::try_from(k).unwrap_or(0));
        let from = until - set.step_ns;
        if load.contains(&from) && load.contains(&until) {
            // Bits each nanosecond are Gbit/s.
            let mbits = (bytes(until) - bytes(from)) * 8e3 / set.step_ns as f64;
            *value = Some(mbits);
            raw.push((until, mbits));
        }
    }
    (values, raw)
}

/// What one end has received over time.
pub(crate) struct Received(Vec<(i64, i64)>);

impl Received {
    /// None: there are no samples.
    pub(crate) fn new(end: &End) -> Option<Self> {
        const FIELD: &str = "tcpi_bytes_received";
        let field = TCP_INFO_SERIES.iter().position(|name| *name == FIELD)?;
        let sample = |(at, values): &(i64, Vec<i64>)| Some((*at, *values.get(field)?));
        let mut all = vec![(end.opened_ns?, 0)];
        all.extend(end.tcp_info_series.iter().filter_map(sample));
        if let (Some(closed), Some(bytes)) = (end.closed_ns, end.tcp_info.get(FIELD)) {
            all.push((closed, *bytes));
        }
        (all.len() > 1).then_some(Self(all))
    }

    /// Bytes at a time; between samples as if they had come evenly.
    pub(crate) fn at(&self, at: i64) -> f64 {
        let next = self.0.partition_point(|(time, _)| *time <= at);
        match (
            next.checked_sub(1).and_then(|i| self.0.get(i)),
            self.0.get(next),
        ) {
            (None, _) => 0.0,
            (Some((_, bytes)), None) => *bytes as f64,
            (Some((t0, b0)), Some((t1, b1))) => {
                let part = (at - t0) as f64 / (t1 - t0).max(1) as f64;
                *b0 as f64 + part * (b1 - b0) as f64
            }
        }
    }
}

/// ms of the pings of each step.
fn pings(set: &AppSet, flows: &[&Flow], steps: usize) -> Made {
    let mut sums = vec![(0.0, 0_u32); steps];
    let mut raw = Vec::new();
    for (sent, rtt) in flows.iter().flat_map(|flow| &flow.client.pings) {
        let Some(rtt) = rtt else { continue };
        let sent = sent - set.start_ns;
        let ms = *rtt as f64 / 1e6;
        raw.push((sent, ms));
        let step = usize::try_from(sent / set.step_ns.max(1)).ok();
        if let Some((sum, n)) = step.and_then(|step| sums.get_mut(step)) {
            *sum += ms;
            *n += 1;
        }
    }
    raw.sort_by_key(|(sent, _)| *sent);
    let mean = |(sum, n)| (n > 0).then(|| sum / f64::from(n));
    (sums.into_iter().map(mean).collect(), raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_between_samples_come_evenly() {
        let end = End {
            opened_ns: Some(100),
            tcp_info_series: [(200, 1_000), (300, 3_000)]
                .map(|(at, n)| (at, [vec![0; TCP_INFO_SERIES.len() - 1], vec![n]].concat()))
                .to_vec(),
            ..End::default()
        };
        let received = Received::new(&end).unwrap();
        let cases = [
            (50, 0.0),
            (150, 500.0),
            (200, 1e3),
            (225, 1_500.0),
            (900, 3e3),
        ];
        for (at, bytes) in cases {
            assert_eq!(received.at(at), bytes, "{at}");
        }
        assert!(Received::new(&End::default()).is_none());
    }

    #[test]
    fn averages_and_sums_are_of_those_that_are_there() {
        assert_eq!(combined([1.0, 4.0].into_iter(), true), Some(5.0));
        assert_eq!(combined([1.0, 4.0].into_iter(), false), Some(2.5));
        assert_eq!(combined([].into_iter(), true), None);
    }
}
