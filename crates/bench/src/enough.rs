//! How many runs each workload gets: enough to detect the wanted change, given how much its runs
//! differ.

use tcplab_compare::{Metric, Options};
use tcplab_stats::{Mean, Runs, change, enough};

use super::{Count, Plan, Run, metrics};

/// A workload that lacks a smaller share of its runs gets no more: its noise is not known better.
const NEAR: f64 = 0.1;

/// The runs a side that each kind of the plan shall have, which has so many now.
pub(super) fn wanted(plan: &Plan, runs: &[Run], has: &[u32]) -> Vec<u32> {
    let (Count::Enough(_, options), [_, _, ..]) = (plan.runs, plan.arms.as_slice()) else {
        return has.to_vec();
    };
    let arms = metrics(plan, runs, &[]).arms;
    let rows = plan.workloads.len() * plan.pinning.len();
    let names = plan.names();
    let each = names.iter().zip(has).map(|(name, has)| {
        let of_arm = |arm: usize| arms[arm].metrics.iter().filter(|m| m.name == *name);
        let needs = of_arm(0)
            .zip(of_arm(1))
            .map(|(before, after)| needs(before, after, rows, &options));
        let needs = needs.max().unwrap_or(0);
        match f64::from(needs) > f64::from(*has) * (1.0 + NEAR) {
            true => needs,
            false => *has,
        }
    });
    each.collect()
}

/// Runs a side; 0 where nothing can be said.
fn needs(before: &Metric, after: &Metric, rows: usize, options: &Options) -> u32 {
    let values = |metric: &Metric| -> Vec<(Option<u32>, f64)> {
        let counting = metric.runs.iter().filter(|run| run.failed.is_none());
        counting
            .filter_map(|run| Some((run.block, run.value?)))
            .collect()
    };
    let (before, after) = (values(before), values(after));
    let pair = |(place, (block, _)): (usize, &(Option<u32>, f64))| {
        Some((place, after.iter().position(|(other, _)| other == block)?))
    };
    let pairs: Vec<(usize, usize)> = before.iter().enumerate().filter_map(pair).collect();
    let figures =
        |all: &[(Option<u32>, f64)]| -> Vec<f64> { all.iter().map(|(_, v)| *v).collect() };
    let found = change(&Runs {
        before: &figures(&before),
        after: &figures(&after),
        pairs: &pairs,
        mean: Mean::Trimmed,
        level: options.level,
    });
    found.map_or(0, |found| enough(&found, rows, &options.rules))
}

#[cfg(test)]
mod tests {
    use tcplab_base::Duration;

    use super::*;
    use crate::ends::{EndReport, Measured};
    use crate::{Arm, Pinning, Setting};

    fn plan(runs: Count) -> Plan {
        let arm = |name: &str| Arm {
            name: name.into(),
            setting: Setting::AsItIs,
        };
        Plan {
            workloads: vec!["TCP_RR".parse().unwrap(), "UDP_RR".parse().unwrap()],
            arms: vec![arm("a"), arm("b")],
            runs,
            warm: Duration::from_millis(1),
            time: Duration::from_millis(1),
            pinning: vec![Pinning::One],
            congestion: None,
            captures: false,
        }
    }

    /// Ten runs in each arm, some of which differ by so many thousandths; those after are so many per cent of those before.
    fn runs(workload: &str, apart: u64, percent: u64) -> Vec<Run> {
        let run = |arm: &str, block: u32, transactions: u64| Run {
            arm: arm.into(),
            workload: workload.into(),
            cpus: "one".into(),
            block,
            order: 0,
            began_s: 0.0,
            measured: Measured {
                client: EndReport {
                    time_ns: 1_000_000_000,
                    transactions,
                    ..EndReport::default()
                },
                ..Measured::default()
            },
        };
        let both = (0..10).flat_map(|block| {
            let drawn = u64::from(block * 7 % 10) * apart * 10;
            let other = u64::from(block * 3 % 10) * apart * 10;
            [
                run("a", block, (10_000 + drawn) * 100),
                run("b", block, (10_000 + other) * percent),
            ]
        });
        both.collect()
    }

    #[test]
    fn noisier_workload_gets_more_runs() {
        let options = Options::default();
        let asked = |percent: u64| {
            let all = [runs("TCP_RR", 1, percent), runs("UDP_RR", 15, percent)].concat();
            wanted(&plan(Count::Enough(10, options)), &all, &[10, 10])
        };
        let like = asked(100);
        assert_eq!(like[0], 10, "{like:?}");
        assert!(
            like[1] > 11 && like[1] < options.rules.most_runs,
            "{like:?}"
        );
        assert_eq!(like, asked(105));
        assert_eq!(like, asked(50));
    }

    #[test]
    fn a_number_that_was_asked_for_stays() {
        let all = [runs("TCP_RR", 15, 100), runs("UDP_RR", 15, 100)].concat();
        assert_eq!(wanted(&plan(Count::Just(10)), &all, &[10, 10]), [10, 10]);
    }
}
