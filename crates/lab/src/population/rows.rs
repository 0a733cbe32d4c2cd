//! The rows of the table: which quantities, and what each arm's is against the baseline.
//!
//! An arm that gives up slow responses must not look fast. So means are those of the responses that finished in both
//! arms, quantiles count an unfinished response as the slowest, and a mean is withheld if what did not finish could
//! change what it says (`withheld.rs`).

use tcplab_plan::Population;
use tcplab_plan::population::{Row, Verdict};
use tcplab_stats::{
    Design, Difference, NoDifference, Ratio, Verdict as Judged, compare, compare_quantiles, judge,
};
use tcplab_tcp::Counter;

use super::looks::share;
use super::sums::{Both, COUNTERS};
use super::totals::{Numbers, Times, Totals};
use super::withheld::withheld;

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
    pub(super) what: What,
    /// Whether it may be the same: its interval is held against the band.
    has_band: bool,
}

pub(super) enum What {
    /// A sum of counters by connections.
    Count(&'static [Counter]),
    /// A counter by another one.
    Part(Counter, Counter),
    /// Responses that did not finish, by responses that were asked for.
    Unfinished,
    /// The mean of times. Of arms with the same connections: of the responses that finished in both.
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
    Quantity {
        id: "unfinished",
        title: "unfinished responses",
        unit: "per 1000 responses",
        scale: 1_000.0,
        what: What::Unfinished,
        has_band: false,
    },
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

pub(super) fn counter(numbers: &Numbers, which: Counter) -> u64 {
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
            What::Unfinished => Some(of(&|n| n.unfinished(ALL), &|n| n.requests)),
            What::Mean(times) => Some(of(
                &|n| times.iter().map(|t| n.sum_us[*t as usize]).sum(),
                &|n| times.iter().map(|t| n.count[*t as usize]).sum(),
            )),
            What::Quantile(..) => None,
        }
    }

    /// What is compared: rows of the baseline and some arms, in the order of the arms. Nothing for a quantile.
    fn compared(&self, totals: &Totals, is_paired: bool) -> Vec<Vec<Ratio>> {
        let arms = 0..totals.numbers.len();
        match self.what {
            What::Quantile(..) => Vec::new(),
            What::Mean(times) if is_paired => {
                arms.skip(1).map(|n| both(totals, n, times)).collect()
            }
            _ => vec![arms.filter_map(|arm| self.ratio(totals, arm)).collect()],
        }
    }

    /// The values of the baseline and of an arm.
    fn values(&self, totals: &Totals, arm: usize, is_paired: bool) -> [Option<f64>; 2] {
        let values = match self.what {
            What::Quantile(times, p) => {
                [0, arm].map(|arm| totals.quantile(arm, times, p).map(|us| us as f64))
            }
            What::Mean(times) if is_paired => {
                let ratios = both(totals, arm, times);
                [0, 1].map(|place| ratios[place].value())
            }
            _ => [0, arm].map(|arm| self.ratio(totals, arm)?.value()),
        };
        values.map(|value| value.map(|value| value * self.scale))
    }
}

/// Times of the responses that finished both in the baseline and in an arm: those of the baseline, those of the arm.
pub(super) fn both(totals: &Totals, arm: usize, times: &[Times]) -> Vec<Ratio> {
    let of = |us: fn(&Both) -> u64| {
        let sum = |n: &Numbers, of: fn(&Both) -> u64| -> u64 {
            times
                .iter()
                .filter_map(|t| n.both.get(*t as usize))
                .map(of)
                .sum()
        };
        let groups = &totals.numbers[arm];
        Ratio {
            numerator: groups.iter().map(|n| sum(n, us)).collect(),
            denominator: groups.iter().map(|n| sum(n, |b| b.count)).collect(),
        }
    };
    vec![of(|b| b.baseline_us), of(|b| b.us)]
}

/// An answer for each quantity and each arm but the first.
pub(super) type Answers = Vec<Vec<Result<Difference, NoDifference>>>;

fn differences(totals: &Totals, design: &Design) -> Answers {
    let arms = totals.numbers.len();
    let ratios: Vec<Vec<Vec<Ratio>>> = QUANTITIES
        .iter()
        .map(|q| q.compared(totals, design.paired))
        .collect();
    let mut answers = compare(&ratios.concat(), design).into_iter();
    let one = |(q, rows): (&Quantity, &Vec<Vec<Ratio>>)| match q.what {
        What::Quantile(times, p) => {
            let baseline = totals.blocks(0, times);
            let arm = |arm| {
                let own = totals.blocks(arm, times);
                compare_quantiles(&baseline, &own, &[p], design).remove(0)
            };
            (1..arms).map(arm).collect()
        }
        _ => answers.by_ref().take(rows.len()).flatten().collect(),
    };
    QUANTITIES.iter().zip(&ratios).map(one).collect()
}

/// The table: for each quantity a row of each arm but the baseline.
pub(crate) fn rows(population: &Population, totals: &Totals, design: &Design) -> Vec<Row> {
    let answers = differences(totals, design);
    let level = f64::from(population.compare.level_ppb) / 1e9 * share(population, totals.groups);
    let band = f64::from(population.compare.band_ppb) / 1e7;
    let withheld = withheld(population, totals, (&answers, design.paired), band);
    let table: Vec<(Option<Difference>, Option<f64>)> = QUANTITIES
        .iter()
        .zip(answers.iter().zip(&withheld))
        .flat_map(|(q, (answers, withheld))| {
            let band = q.has_band.then_some(band);
            let told = answers.iter().zip(withheld);
            told.map(move |(answer, why)| (answer.ok().filter(|_| why.is_none()), band))
        })
        .collect();
    let mut verdicts = judge(&table, level, totals.sum(0, |n| n.connections)).into_iter();
    let mut out = Vec::new();
    for (quantity, (answers, withheld)) in QUANTITIES.iter().zip(answers.iter().zip(withheld)) {
        for (place, (answer, why)) in answers.iter().zip(withheld).enumerate() {
            let arm = place + 1;
            let [baseline, value] = quantity.values(totals, arm, design.paired);
            let mut row = Row {
                id: quantity.id.to_owned(),
                title: quantity.title.to_owned(),
                arm: population.arms[arm].name.clone(),
                baseline,
                value,
                unit: quantity.unit.to_owned(),
                ..Row::default()
            };
            let verdict = verdicts.next();
            match (answer, verdict) {
                (Err(why), _) => row.missing = Some(why.to_string()),
                (Ok(_), _) if why.is_some() => row.missing = why,
                (Ok(difference), Some(verdict)) => judged(&mut row, difference, verdict),
                (Ok(_), None) => {}
            }
            out.push(row);
        }
    }
    out
}

fn judged(row: &mut Row, difference: &Difference, verdict: Judged) {
    // Nothing is a percentage of 0: the verdict stands beside both values.
    row.percent = Some(difference.percent).filter(|percent| percent.is_finite());
    let (low, high) = (difference.low_percent, difference.high_percent);
    let is_limited = row.percent.is_some() && low.is_finite() && high.is_finite();
    row.interval = is_limited.then_some([low, high]);
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
