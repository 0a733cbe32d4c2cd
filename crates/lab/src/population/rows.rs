//! The rows of the table: which quantities, and what each arm's is against the baseline.

use tcplab_plan::Population;
use tcplab_plan::population::{Row, Verdict};
use tcplab_stats::{
    Design, Difference, NoDifference, Ratio, Verdict as Judged, compare, compare_quantiles, judge,
};
use tcplab_tcp::Counter;

use super::looks::share;
use super::sums::COUNTERS;
use super::totals::{Numbers, Times, Totals};

/// All responses.
pub(crate) const ALL: &[Times] = &[Times::Small, Times::Large];
/// Those below 4 kB.
pub(crate) const SMALL: &[Times] = &[Times::Small];
/// Recoveries, each for itself: for their distribution.
pub(crate) const RECOVERIES: &[Times] = &[Times::Recovery];

/// A quantity of an arm.
pub(crate) struct Quantity {
    pub(crate) id: &'static str,
    title: &'static str,
    unit: &'static str,
    /// What the value is multiplied by to be in `unit`.
    scale: f64,
    what: What,
    /// Whether it may be the same: its interval is held against the band.
    has_band: bool,
}

enum What {
    /// A sum of counters by connections.
    Count(&'static [Counter]),
    /// A counter by another one.
    Part(Counter, Counter),
    /// The mean of times.
    Mean(&'static [Times]),
    /// A quantile of times.
    Quantile(&'static [Times], f64),
}

const UNDOS: &[Counter] = &[
    Counter::FullUndo,
    Counter::PartialUndo,
    Counter::LossUndo,
    Counter::DSACKUndo,
];

const fn count(id: &'static str, title: &'static str, counters: &'static [Counter]) -> Quantity {
    Quantity {
        id,
        title,
        unit: "per 1000 connections",
        scale: 1_000.0,
        what: What::Count(counters),
        has_band: false,
    }
}

const fn times(id: &'static str, title: &'static str, what: What, has_band: bool) -> Quantity {
    Quantity {
        id,
        title,
        unit: "ms",
        scale: 1e-3,
        what,
        has_band,
    }
}

/// The table of the netdev message, in its order, and what it has no figure for.
pub(crate) const QUANTITIES: &[Quantity] = &[
    count("timeouts", "TCPTimeouts", &[Counter::Timeouts]),
    count("tlp", "TCPLossProbes", &[Counter::LossProbes]),
    count("dsack", "TCPDSACKRecv", &[Counter::DSACKRecv]),
    count("undo", "cwnd undos (Full, Partial, Loss, DSACK)", UNDOS),
    count("spurious", "TCPSpuriousRTOs", &[Counter::SpuriousRTOs]),
    Quantity {
        id: "retrans",
        title: "retransmission rate (RetransSegs / OutSegs)",
        unit: "%",
        scale: 100.0,
        what: What::Part(Counter::RetransSegs, Counter::OutSegs),
        has_band: false,
    },
    times(
        "recovlat",
        "recovery latency, mean (TCPRecovLat)",
        What::Part(Counter::RecovLat, Counter::RecovCnt),
        false,
    ),
    times(
        "recovlat2",
        "of recoveries that were cut short (TCPRecovLat2)",
        What::Part(Counter::RecovLat2, Counter::RecovCnt2),
        false,
    ),
    times(
        "latency-mean",
        "response latency, mean",
        What::Mean(ALL),
        true,
    ),
    times(
        "latency-p50",
        "response latency, p50",
        What::Quantile(ALL, 0.5),
        true,
    ),
    times(
        "latency-p95",
        "response latency, p95",
        What::Quantile(ALL, 0.95),
        true,
    ),
    times(
        "latency-p99",
        "response latency, p99",
        What::Quantile(ALL, 0.99),
        true,
    ),
    times(
        "latency-lt4k-mean",
        "responses < 4 kB, mean",
        What::Mean(SMALL),
        true,
    ),
    times(
        "latency-lt4k-p50",
        "responses < 4 kB, p50",
        What::Quantile(SMALL, 0.5),
        true,
    ),
    times(
        "latency-lt4k-p95",
        "responses < 4 kB, p95",
        What::Quantile(SMALL, 0.95),
        true,
    ),
    times(
        "latency-lt4k-p99",
        "responses < 4 kB, p99",
        What::Quantile(SMALL, 0.99),
        true,
    ),
    count("aborts", "TCPAbortOnTimeout", &[Counter::AbortOnTimeout]),
];

fn counter(numbers: &Numbers, which: Counter) -> u64 {
    let place = COUNTERS.iter().position(|counter| *counter == which);
    place.map_or(0, |place| numbers.counters[place])
}

impl Quantity {
    /// Numerator and denominator of each group of an arm; none for a quantile.
    fn ratio(&self, totals: &Totals, arm: usize) -> Option<Ratio> {
        let of = |over: &dyn Fn(&Numbers) -> u64, under: &dyn Fn(&Numbers) -> u64| Ratio {
            numerator: totals.numbers[arm].iter().map(over).collect(),
            denominator: totals.numbers[arm].iter().map(under).collect(),
        };
        match self.what {
            What::Count(counters) => Some(of(
                &|n| counters.iter().map(|c| counter(n, *c)).sum(),
                &|n| n.connections,
            )),
            What::Part(over, under) => Some(of(&|n| counter(n, over), &|n| counter(n, under))),
            What::Mean(times) => Some(of(
                &|n| times.iter().map(|t| n.sum_us[*t as usize]).sum(),
                &|n| times.iter().map(|t| n.count[*t as usize]).sum(),
            )),
            What::Quantile(..) => None,
        }
    }

    fn value(&self, totals: &Totals, arm: usize) -> Option<f64> {
        let value = match self.what {
            What::Quantile(times, p) => totals.sketch(arm, times).quantile(p).map(|us| us as f64),
            _ => self.ratio(totals, arm)?.value(),
        };
        value.map(|value| value * self.scale)
    }
}

/// An answer for each quantity and each arm but the first.
type Answers = Vec<Vec<Result<Difference, NoDifference>>>;

fn differences(totals: &Totals, design: &Design) -> Answers {
    let arms = totals.numbers.len();
    let ratios: Vec<Option<Vec<Ratio>>> = QUANTITIES
        .iter()
        .map(|q| (0..arms).map(|arm| q.ratio(totals, arm)).collect())
        .collect();
    let given: Vec<Vec<Ratio>> = ratios.iter().flatten().cloned().collect();
    let mut answers = compare(&given, design).into_iter();
    let one = |q: &Quantity| match q.what {
        What::Quantile(times, p) => {
            let baseline = totals.blocks(0, times);
            let arm = |arm| {
                let own = totals.blocks(arm, times);
                compare_quantiles(&baseline, &own, &[p], design).remove(0)
            };
            (1..arms).map(arm).collect()
        }
        _ => answers.next().unwrap_or_default(),
    };
    QUANTITIES.iter().map(one).collect()
}

/// The table: for each quantity a row of each arm but the baseline.
pub(crate) fn rows(population: &Population, totals: &Totals, design: &Design) -> Vec<Row> {
    let answers = differences(totals, design);
    let level = f64::from(population.compare.level_ppb) / 1e9 * share(population, totals.groups);
    let band = f64::from(population.compare.band_ppb) / 1e7;
    let table: Vec<(Option<Difference>, Option<f64>)> = QUANTITIES
        .iter()
        .zip(&answers)
        .flat_map(|(q, answers)| {
            let band = q.has_band.then_some(band);
            answers.iter().map(move |answer| (answer.ok(), band))
        })
        .collect();
    let mut verdicts = judge(&table, level, totals.sum(0, |n| n.connections)).into_iter();
    let mut out = Vec::new();
    for (quantity, answers) in QUANTITIES.iter().zip(&answers) {
        let baseline = quantity.value(totals, 0);
        for (place, answer) in answers.iter().enumerate() {
            let arm = place + 1;
            let mut row = Row {
                id: quantity.id.to_owned(),
                title: quantity.title.to_owned(),
                arm: population.arms[arm].name.clone(),
                baseline,
                value: quantity.value(totals, arm),
                unit: quantity.unit.to_owned(),
                ..Row::default()
            };
            let verdict = verdicts.next();
            match (answer, verdict) {
                (Ok(difference), Some(verdict)) => judged(&mut row, difference, verdict),
                (Err(why), _) => row.missing = Some(why.to_string()),
                (Ok(_), None) => {}
            }
            out.push(row);
        }
    }
    out
}

fn judged(row: &mut Row, difference: &Difference, verdict: Judged) {
    row.percent = Some(difference.percent);
    let (low, high) = (difference.low_percent, difference.high_percent);
    row.interval = (low.is_finite() && high.is_finite()).then_some([low, high]);
    row.p = Some(difference.p);
    (row.verdict, row.more_connections) = match verdict {
        Judged::Lower => (Verdict::Lower, None),
        Judged::Higher => (Verdict::Higher, None),
        Judged::Same => (Verdict::Same, None),
        Judged::Undecided { more_connections } => (Verdict::Undecided, more_connections),
    };
}

/// Whether a row's interval is held against the band: whether it may be the same.
pub fn has_band(id: &str) -> bool {
    QUANTITIES.iter().any(|q| q.id == id && q.has_band)
}

/// Whether no row waits for more connections.
pub(crate) fn are_decided(rows: &[Row]) -> bool {
    rows.iter()
        .all(|row| row.verdict != Verdict::Undecided || row.missing.is_some())
}
