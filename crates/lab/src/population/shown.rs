//! The distributions of a population, by drawing connections: nothing is simulated.

use schemars::JsonSchema;
use serde::Serialize;
use tcplab_base::quantity::{BITS_PER_SECOND, BYTES, Digits, MICROSECONDS, Scale, figure};
use tcplab_plan::Population;
use tcplab_plan::population::{Changing, Client, Drawn, Injecting, Limit, LossKind, Middlebox};

/// `schema` of a [`Document`].
pub const SCHEMA: &str = "tcplab.population-show/1";

/// Bins of a histogram.
const BINS: usize = 32;
/// The percentiles that are shown.
const PERCENTILES: [u32; 6] = [5, 25, 50, 75, 95, 99];

/// What was drawn.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Document {
    /// Always `tcplab.population-show/1`.
    pub schema: String,
    /// The experiment's name.
    pub experiment: String,
    /// Seed of the draws.
    pub seed: u64,
    /// Connections that were drawn.
    pub draws: u64,
    /// Quantities of connections, requests and responses.
    pub quantities: Vec<Shown>,
    /// What comes in kinds.
    pub kinds: Vec<Kinds>,
    /// The keys and their texts.
    pub texts: Vec<(String, String)>,
}

/// A unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Nanoseconds.
    Ns,
    /// Bits a second.
    Bps,
    /// Bytes.
    Bytes,
    /// A number.
    Count,
    /// Parts of a milliard.
    Ppb,
}

impl Unit {
    /// A value with its unit, three digits.
    pub fn text(self, n: f64) -> String {
        let (value, scale): (f64, &Scale) = match self {
            Self::Ns => (n / 1e3, MICROSECONDS),
            Self::Bps => (n, BITS_PER_SECOND),
            Self::Bytes => (n, BYTES),
            Self::Count => (n, &[("", 0)]),
            Self::Ppb => (n / 1e7, &[("%", 0)]),
        };
        figure(value, scale, Digits::Three)
    }
}

/// A quantity as it was drawn.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Shown {
    /// What it is.
    pub what: String,
    /// Unit of all its numbers.
    pub unit: Unit,
    /// How many were drawn.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// Percentile and value.
    pub percentiles: Vec<(u32, i64)>,
    /// Lower end of each bin and how many fell into it; bins are equal in the logarithm.
    pub histogram: Vec<(i64, u64)>,
}

/// Parts of all connections.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Kinds {
    /// Of what.
    pub what: String,
    /// Name and part, from 0 to 1.
    pub parts: Vec<(String, f64)>,
}

/// Draws connections and describes them.
pub fn show(population: &Population, draws: u64) -> Document {
    let drawn: Vec<Drawn> = (0..draws.min(10_000_000))
        .map(|n| population.draw(n))
        .collect();
    let clients = population.clients.iter().map(Client::words).enumerate();
    let clients = clients.map(|(place, words)| (words, part(&drawn, |d| d.client == place)));
    let clients = Kinds {
        what: "clients".to_owned(),
        parts: clients.collect(),
    };
    let mut kinds = vec![losses(&drawn)];
    kinds.extend(paths(population, &drawn));
    kinds.push(clients);
    kinds.extend(limits(population, drawn.len() as u64));
    Document {
        schema: SCHEMA.to_owned(),
        experiment: population.name.clone(),
        seed: population.seed,
        draws: drawn.len() as u64,
        quantities: quantities(&drawn),
        kinds,
        texts: population.texts(),
    }
}

/// Which part of the connections is so, from 0 to 1.
fn part(drawn: &[Drawn], is_so: impl Fn(&Drawn) -> bool) -> f64 {
    drawn.iter().filter(|d| is_so(d)).count() as f64 / drawn.len().max(1) as f64
}

fn quantities(drawn: &[Drawn]) -> Vec<Shown> {
    let of = |what: &str, unit, f: &dyn Fn(&Drawn) -> i64| {
        quantity(what, unit, drawn.iter().map(f).collect())
    };
    let flat = |what: &str, unit, f: &dyn Fn(&Drawn) -> Vec<i64>| {
        quantity(what, unit, drawn.iter().flat_map(f).collect())
    };
    let quantities = [
        of("round-trip time", Unit::Ns, &|d| d.rtt_ns),
        of("rate", Unit::Bps, &|d| d.rate_bps as i64),
        of("buffer", Unit::Bytes, &|d| d.buffer_bytes as i64),
        of("buffer as time", Unit::Ns, &|d| {
            (d.buffer_bytes as f64 * 8e9 / d.rate_bps as f64) as i64
        }),
        of("mean jitter", Unit::Ns, &|d| d.jitter_ns),
        of("requests of a connection", Unit::Count, &|d| {
            d.responses.len() as i64
        }),
        of("bytes of a request", Unit::Bytes, &|d| {
            d.request_bytes as i64
        }),
        flat("bytes of a response", Unit::Bytes, &|d| {
            d.responses.iter().map(|n| *n as i64).collect()
        }),
        flat("think time", Unit::Ns, &|d| d.think_ns.clone()),
        flat("loss of lossy paths", Unit::Ppb, &|d| match d.loss {
            LossKind::None => Vec::new(),
            LossKind::Independent(ppb) | LossKind::Bursts(ppb) => vec![i64::from(ppb)],
        }),
        flat("outages that end", Unit::Ns, &|d| {
            let length = |o: &tcplab_plan::point::Outage| Some(o.until_ns? - o.from_ns);
            d.outage.as_ref().and_then(length).into_iter().collect()
        }),
        of("client's patience", Unit::Ns, &|d| d.client_timeout_ns),
    ];
    quantities.into_iter().flatten().collect()
}

fn losses(drawn: &[Drawn]) -> Kinds {
    type Kind = (&'static str, fn(&Drawn) -> bool);
    let kinds: [Kind; 5] = [
        ("none but by full queues", |d| d.loss == LossKind::None),
        ("each by itself", |d| {
            matches!(d.loss, LossKind::Independent(_))
        }),
        ("in bursts", |d| matches!(d.loss, LossKind::Bursts(_))),
        ("an outage", |d| {
            d.outage.is_some_and(|o| o.until_ns.is_some())
        }),
        ("an outage for ever", |d| {
            d.outage.is_some_and(|o| o.until_ns.is_none())
        }),
    ];
    Kinds {
        what: "paths that lose packets".to_owned(),
        parts: kinds
            .map(|(name, is_so)| (name.to_owned(), part(drawn, is_so)))
            .to_vec(),
    }
}

/// The kinds of paths that few populations have: middle boxes, changes, injected segments.
fn paths(population: &Population, drawn: &[Drawn]) -> Vec<Kinds> {
    let some = |what: &str, words: Vec<String>, of: fn(&Drawn) -> Option<usize>| {
        let parts = words.into_iter().enumerate();
        let parts: Vec<(String, f64)> = parts
            .map(|(place, words)| (words, part(drawn, |d| of(d) == Some(place))))
            .collect();
        (!parts.is_empty()).then(|| Kinds {
            what: what.to_owned(),
            parts,
        })
    };
    let words = |kinds: &[Middlebox]| kinds.iter().map(Middlebox::words).collect();
    let boxes = some("middle boxes", words(&population.middleboxes), |d| {
        d.middlebox
    });
    let words = |kinds: &[Changing]| kinds.iter().map(Changing::words).collect();
    let changes = some("paths that change", words(&population.changes), |d| {
        d.change.map(|c| c.kind)
    });
    let words = |kinds: &[Injecting]| kinds.iter().map(Injecting::words).collect();
    let injects = some("injected segments", words(&population.injects), |d| {
        d.inject.map(|i| i.kind)
    });
    [boxes, changes, injects].into_iter().flatten().collect()
}

/// The part of the connections with a draw that a limit moved; nothing if no draw was moved.
fn limits(population: &Population, draws: u64) -> Option<Kinds> {
    let mut met: Vec<(Limit, u64)> = Vec::new();
    for limit in (0..draws).flat_map(|number| population.limits(number)) {
        match met.iter_mut().find(|(known, _)| *known == limit) {
            Some((_, times)) => *times += 1,
            None => met.push((limit, 1)),
        }
    }
    met.sort_unstable();
    let part = |(limit, times): (Limit, u64)| {
        let part = times as f64 / draws.max(1) as f64;
        (population.limit_words(limit), part)
    };
    (!met.is_empty()).then(|| Kinds {
        what: "draws that a limit moved".to_owned(),
        parts: met.into_iter().map(part).collect(),
    })
}

/// None: nothing was drawn.
fn quantity(what: &str, unit: Unit, mut values: Vec<i64>) -> Option<Shown> {
    values.sort_unstable();
    let (first, last) = (*values.first()?, *values.last()?);
    let at = |percent: u32| {
        let rank = (values.len() as u64 * u64::from(percent))
            .div_ceil(100)
            .max(1) as usize;
        (percent, values[rank - 1])
    };
    let sum: i128 = values.iter().map(|n| i128::from(*n)).sum();
    Some(Shown {
        what: what.to_owned(),
        unit,
        count: values.len() as u64,
        mean: sum as f64 / values.len() as f64,
        percentiles: PERCENTILES.map(at).to_vec(),
        histogram: histogram(&values, first.max(1), last.max(2)),
    })
}

fn histogram(sorted: &[i64], first: i64, last: i64) -> Vec<(i64, u64)> {
    let (low, high) = (libm::log(first as f64), libm::log(last as f64 + 1.0));
    let edge = |bin: usize| {
        let at = low + (high - low) * bin as f64 / BINS as f64;
        libm::exp(at).round() as i64
    };
    let mut from = 0;
    (0..BINS)
        .map(|bin| {
            let end = if bin + 1 == BINS {
                i64::MAX
            } else {
                edge(bin + 1)
            };
            let to = sorted.partition_point(|n| *n < end);
            let count = to.saturating_sub(from) as u64;
            from = to;
            (edge(bin), count)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_counts_each_once() {
        let values: Vec<i64> = (1..=1000).collect();
        let shown = quantity("x", Unit::Count, values).unwrap();
        assert_eq!(shown.histogram.iter().map(|(_, n)| n).sum::<u64>(), 1000);
        assert_eq!(shown.percentiles[2], (50, 500));
        assert!(quantity("x", Unit::Count, Vec::new()).is_none());
    }

    #[test]
    fn units_are_readable() {
        assert_eq!(Unit::Ns.text(99_800_000.0), "99.8 ms");
        assert_eq!(Unit::Bps.text(12e6), "12.0 Mbit/s");
        assert_eq!(Unit::Bytes.text(400.0), "400 B");
        assert_eq!(Unit::Ppb.text(2_500_000.0), "0.25 %");
    }
}
