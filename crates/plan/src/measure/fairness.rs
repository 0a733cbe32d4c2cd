//! How an application's connections share: Jain's index over time, and how soon they share fairly after one joins or
//! leaves (Jain, Chiu, Hawe, "A Quantitative Measure of Fairness", 1984).
//!
//! An interval lies between two samples of tcp_info, at multiples of `tcp_info_every` since the run's start; only connections open throughout it count.

use crate::outcome::Flow;
use crate::set::Received;

/// From this index on connections share fairly.
const FAIR: f64 = 0.95;

/// An interval: its end, and Jain's index in it.
type Index = (i64, f64);

/// What connections got over time.
struct Shares(Vec<Share>);

struct Share {
    opened: i64,
    closed: i64,
    got: Received,
}

/// The value of a measure of this file.
pub(super) fn value(
    flows: &[&Flow],
    (every_ns, end_ns): (Option<i64>, i64),
    field: &str,
) -> Result<f64, String> {
    if let Some(which) = field.strip_prefix("connection_bps.") {
        let rates = flows.iter().filter_map(|flow| rate(flow, end_ns));
        let value = match which {
            "min" => rates.reduce(f64::min),
            _ => rates.reduce(f64::max),
        };
        return value.ok_or_else(|| "no connection was established".to_owned());
    }
    let step = every_ns.filter(|step| *step > 0);
    let step = step.ok_or("needs `tcp_info_every` in the run's table")?;
    let shares = Shares::of(flows);
    let index = shares.index(step);
    let values = || index.iter().map(|(_, jain)| *jain);
    let value = match field {
        "jain.mean" if index.is_empty() => None,
        "jain.mean" => Some(values().sum::<f64>() / index.len() as f64),
        "jain.min" => values().reduce(f64::min),
        "jain.last" => values().next_back(),
        _ => {
            let mut times = shares.to_fair(&index, step);
            times.sort_unstable();
            let at = match field {
                "to_fair_us.median" => times.len().div_ceil(2).saturating_sub(1),
                _ => times.len().saturating_sub(1),
            };
            times.get(at).map(|ns| *ns as f64 / 1e3)
        }
    };
    value.ok_or_else(|| "no interval had two open connections".to_owned())
}

/// Jain's index of these connections over time: the end of each interval of `step_ns` in which at least two of them
/// are active, and the index in it.
pub fn jain_over_time(flows: &[&Flow], step_ns: i64) -> Vec<(i64, f64)> {
    match step_ns > 0 {
        true => Shares::of(flows).index(step_ns),
        false => Vec::new(),
    }
}

/// Goodput of a connection's receiver over time: the end of each interval of `step_ns` from the run's start on, and its
/// bits a second over the whole interval, also of the first and the last one, so that their sum is all bytes. A
/// connection that lasted less than an interval has no samples. The end that read more is the receiver.
pub fn goodput_over_time(flow: &Flow, step_ns: i64) -> Vec<(i64, f64)> {
    let shares = Shares::of(&[flow]);
    let Some(share) = shares.0.first().filter(|_| step_ns > 0) else {
        return Vec::new();
    };
    let first = share.opened.div_euclid(step_ns);
    let (last, rest) = (
        share.closed.div_euclid(step_ns),
        share.closed.rem_euclid(step_ns),
    );
    if share.closed.saturating_sub(share.opened) < step_ns {
        return Vec::new();
    }
    // The first interval begins when it opens, or it would have a gap before its first byte.
    let bits = |n: i64| {
        let [from, until] = [n, n + 1].map(|n| share.got.at(n.saturating_mul(step_ns)));
        (until - from) * 8e9 / step_ns as f64
    };
    (first..last + i64::from(rest > 0))
        .map(|n| ((n + 1).saturating_mul(step_ns), bits(n)))
        .collect()
}

/// Bits a second that a connection got, until the end of the run if it is open then.
fn rate(flow: &Flow, end_ns: i64) -> Option<f64> {
    let bytes = flow.client.read_bytes.max(flow.server.read_bytes);
    let closed = match flow.is_open() {
        true => end_ns,
        false => flow.client.closed_ns.max(flow.server.closed_ns)?,
    };
    let time = closed.saturating_sub(flow.client.opened_ns?);
    (time > 0).then(|| bytes as f64 * 8e9 / time as f64)
}

impl Shares {
    fn of(flows: &[&Flow]) -> Self {
        let share = |flow: &&Flow| {
            let end = match flow.client.read_bytes > flow.server.read_bytes {
                true => &flow.client,
                false => &flow.server,
            };
            let last = end.tcp_info_series.last().map(|(at, _)| *at);
            Some(Share {
                opened: end.opened_ns?,
                closed: end.closed_ns.or(last)?,
                got: Received::new(end)?,
            })
        };
        Self(flows.iter().filter_map(share).collect())
    }

    /// Jain's index of each interval with two connections at least.
    fn index(&self, step: i64) -> Vec<Index> {
        let Some(begin) = self.0.iter().map(|share| share.opened).min() else {
            return Vec::new();
        };
        let end = self
            .0
            .iter()
            .map(|share| share.closed)
            .max()
            .unwrap_or(begin);
        let mut out = Vec::new();
        // The times of samples, where values are exact: between two samples a line would smooth what is unfair.
        let mut from = begin.div_euclid(step).saturating_mul(step);
        while let Some(until) = from.checked_add(step).filter(|until| *until <= end) {
            let stands = |share: &&Share| share.opened <= from && share.closed >= until;
            let got: Vec<f64> = (self.0.iter().filter(stands))
                .map(|share| share.got.at(until) - share.got.at(from))
                .collect();
            // An interval without data shows no shares.
            if got.len() > 1
                && let Some(jain) = jain(&got)
            {
                out.push((until, jain));
            }
            from = until;
        }
        out
    }

    /// Times when a connection joins or leaves and two at least stand afterwards, or others join at the same time.
    fn changes(&self) -> Vec<i64> {
        let mut all: Vec<i64> = self.0.iter().flat_map(|s| [s.opened, s.closed]).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// For each change the time until the end of the first interval behind it that is fair.
    fn to_fair(&self, index: &[Index], step: i64) -> Vec<i64> {
        let changes = self.changes();
        let mut out = Vec::new();
        for (n, &change) in changes.iter().enumerate() {
            let next = changes.get(n + 1).copied().unwrap_or(i64::MAX);
            let within = |(at, _): &&Index| *at - step >= change && *at <= next;
            let mut own = index.iter().filter(within).peekable();
            let Some(&&(first, _)) = own.peek() else {
                continue;
            };
            let fair = own.find(|(_, jain)| *jain >= FAIR).map(|(at, _)| *at);
            let until = fair.unwrap_or(if next == i64::MAX { first } else { next });
            out.push(until - change);
        }
        out
    }
}

/// Jain's index: the square of the sum, over n times the sum of squares. 1 when all values are equal, 1/n when one has
/// all. `None` when all are 0.
fn jain(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|value| value * value).sum();
    (squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::{End, TCP_INFO_SERIES};

    const MS: i64 = 1_000_000;

    /// A connection that stands from `opened` to `closed` ms and gets so many bytes in each ms.
    fn flow(opened: i64, closed: i64, rate: impl Fn(i64) -> i64) -> Flow {
        let field = TCP_INFO_SERIES
            .iter()
            .position(|name| *name == "tcpi_bytes_received");
        let mut bytes = 0;
        let series = (opened + 1..=closed).map(|ms| {
            bytes += rate(ms);
            let mut row = vec![0; TCP_INFO_SERIES.len()];
            row[field.unwrap()] = bytes;
            (ms * MS, row)
        });
        let tcp_info_series: Vec<_> = series.collect();
        let end = End {
            opened_ns: Some(opened * MS),
            closed_ns: Some(closed * MS),
            read_bytes: bytes as u64,
            tcp_info_series,
            ..End::default()
        };
        Flow {
            client: End {
                opened_ns: Some(opened * MS),
                closed_ns: Some(closed * MS),
                ..End::default()
            },
            server: end,
            ..Flow::default()
        }
    }

    /// Intervals begin at samples, whenever connections open: no share is smoothed.
    #[test]
    fn intervals_lie_between_samples() {
        let flows = [
            flow(3, 23, |ms| if ms <= 10 { 1000 } else { 0 }),
            flow(4, 23, |ms| if ms <= 10 { 0 } else { 1000 }),
        ];
        let flows: Vec<&Flow> = flows.iter().collect();
        assert_eq!(jain_over_time(&flows, 10 * MS), [(20 * MS, 0.5)]);
    }

    #[test]
    fn two_that_become_fair() {
        let flows = [
            flow(0, 20, |_| 1000),
            // Joins at 10 ms and has as much from the 14th on.
            flow(10, 20, |ms| if ms > 13 { 1000 } else { 0 }),
        ];
        let flows: Vec<&Flow> = flows.iter().collect();
        let get = |field| value(&flows, (Some(MS), 0), field).unwrap();
        assert_eq!((get("jain.min"), get("jain.last")), (0.5, 1.0));
        assert_eq!(get("jain.mean"), (3.0 * 0.5 + 7.0) / 10.0);
        assert_eq!(get("to_fair_us.max"), 4000.0);
        assert_eq!(get("to_fair_us.median"), 4000.0);
        assert_eq!(get("connection_bps.max"), 8e6);
        assert_eq!(get("connection_bps.min"), 5.6e6);
    }

    #[test]
    fn unfair_share_counts_until_the_next_change() {
        let flows = [
            flow(0, 20, |_| 1000),
            flow(5, 15, |_| 10),
            flow(10, 20, |_| 1000),
        ];
        let flows: Vec<&Flow> = flows.iter().collect();
        let get = |field| value(&flows, (Some(MS), 0), field).unwrap();
        // 5 ms with 1000 and 10, 5 ms with all three, then at once.
        assert_eq!(get("to_fair_us.max"), 5000.0);
        assert_eq!(get("to_fair_us.median"), 5000.0);
        assert_eq!(get("jain.last"), 1.0);
    }

    #[test]
    fn no_goodput_gives_no_index() {
        let stalls = |ms| if (5..10).contains(&ms) { 0 } else { 1000 };
        let flows = [flow(0, 20, stalls), flow(0, 20, stalls)];
        let flows: Vec<&Flow> = flows.iter().collect();
        assert_eq!(jain_over_time(&flows, MS).len(), 15);
        let goodput = goodput_over_time(flows[0], 5 * MS);
        assert_eq!(
            goodput,
            [
                (5 * MS, 6.4e6),
                (10 * MS, 1.6e6),
                (15 * MS, 8e6),
                (20 * MS, 8e6)
            ]
        );
    }

    #[test]
    fn goodput_over_time_has_every_byte() {
        let all = |flow: &Flow| -> f64 {
            let line = goodput_over_time(flow, 5 * MS);
            line.iter().map(|(_, bps)| bps * 5e-3 / 8.0).sum()
        };
        // Both ends lie within intervals.
        let short = flow(3, 18, |_| 1000);
        assert_eq!(all(&short).round(), 15_000.0);
        assert_eq!(
            goodput_over_time(&short, 5 * MS).last(),
            Some(&(20 * MS, 4.8e6))
        );
        assert_eq!(goodput_over_time(&flow(3, 7, |_| 1000), 5 * MS), []);
    }

    #[test]
    fn one_connection_or_no_samples_have_no_index() {
        let alone = [flow(0, 20, |_| 1000)];
        let alone: Vec<&Flow> = alone.iter().collect();
        assert!(value(&alone, (Some(MS), 0), "jain.mean").is_err());
        assert!(
            value(&alone, (None, 0), "jain.mean")
                .unwrap_err()
                .contains("tcp_info_every")
        );
        assert!(value(&[], (Some(MS), 0), "to_fair_us.max").is_err());
    }
}
