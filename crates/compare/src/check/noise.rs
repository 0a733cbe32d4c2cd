//! Objections to what the machine did beside the runs.

use tcplab_stats::{Mean, Runs, change};

use super::Checked;
use super::rows::over;
use crate::comparison::{Flag, FlagKind};
use crate::metrics::Noise;
use crate::row::Row;

/// A figure of noise: its name, its value, and how much of a difference matters, in its unit.
type Figure = (&'static str, fn(&Noise) -> Option<f64>, f64, &'static str);

/// Less idle time is more noise, and may be the change itself: the text says so.
const FIGURES: [Figure; 3] = [
    ("steal", |noise| noise.steal_percent, 1.0, " %"),
    ("idle", Noise::idle_percent, 10.0, " %"),
    ("load", |noise| noise.load, 0.5, ""),
];

/// Chance of one objection where arms do not differ, for each of the figures.
const LEVEL: f64 = 0.05 / 3.0;

/// The values of one figure in both arms, and the same without what the rows themselves differ by: a workload that leaves no
/// processor idle does so in both arms.
fn values(rows: &[Row], of: fn(&Noise) -> Option<f64>) -> [[Vec<f64>; 2]; 2] {
    let (mut told, mut centred) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for row in rows {
        let sides = [&row.noise_before, &row.noise_after];
        let sides = sides.map(|side| side.iter().filter_map(of).collect::<Vec<f64>>());
        let mean = |side: &Vec<f64>| side.iter().sum::<f64>() / side.len() as f64;
        if sides.iter().any(Vec::is_empty) {
            continue;
        }
        let middle = f64::midpoint(mean(&sides[0]), mean(&sides[1]));
        for (at, side) in sides.into_iter().enumerate() {
            centred[at].extend(side.iter().map(|value| value - middle));
            told[at].extend(side);
        }
    }
    [told, centred]
}

/// One arm's runs were made under clearly more noise: more steal or load, or less idle time.
pub(super) fn other_noise(checked: &Checked) -> Option<Flag> {
    let one = |(name, of, matters, unit): Figure| {
        let [told, [before, after]] = values(checked.rows, of);
        let found = change(&Runs {
            before: &before,
            after: &after,
            pairs: &[],
            mean: Mean::Arithmetic,
            level: 0.95,
        });
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let (was, is) = (mean(&told[0]), mean(&told[1]));
        let is_clear = found.is_ok_and(|found| found.p < LEVEL) && (was - is).abs() >= matters;
        is_clear.then(|| format!("{name} ({was:.1}{unit} before, {is:.1}{unit} after)"))
    };
    over(
        FlagKind::OtherNoise,
        "background load differed between the arms, which may explain the difference (idle CPU time alone proves nothing: what is tested may alter it)",
        FIGURES.into_iter().filter_map(one).collect(),
    )
}

/// Runs of which the hypervisor took much away.
pub(super) fn stolen(checked: &Checked) -> Option<Flag> {
    let one = |row: &Row| {
        let count = |side: &[Noise]| side.iter().filter(|noise| noise.is_stolen()).count();
        let (before, after) = (count(&row.noise_before), count(&row.noise_after));
        let most = row.noise_before.iter().chain(&row.noise_after);
        let most = most
            .filter_map(|noise| noise.steal_percent)
            .fold(0.0, f64::max);
        (before + after > 0).then(|| {
            format!(
                "{} ({before} before, {after} after; {most:.0} % at most)",
                row.label()
            )
        })
    };
    let text = format!(
        "the hypervisor took more than {} % of these runs' time: repeat them, or average the middle of many runs (--robust)",
        Noise::STOLEN_PERCENT
    );
    let rows = checked.rows.iter().filter_map(one).collect();
    over(FlagKind::Stolen, text, rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Arm, Better, Metric, Run};
    use crate::{Comparison, Options, compare};

    /// Two rows of five runs: each run with steal and idle time.
    fn arm(name: &str, steal: [f64; 5], idle: [f64; 5]) -> Arm {
        let mut arm = Arm::named(name);
        for (row, less_idle) in [("rate", 0.0), ("latency", 60.0)] {
            let mut metric = Metric::new(row, "1/s", Better::Higher);
            metric.runs = (steal.iter().zip(idle).enumerate())
                .map(|(at, (steal, idle))| Run {
                    noise: Some(Noise {
                        steal_percent: Some(*steal),
                        load: Some(1.0),
                        others: [("idle_percent".to_owned(), idle - less_idle)].into(),
                        ..Noise::default()
                    }),
                    ..Run::of(100.0 + at as f64)
                })
                .collect();
            arm.metrics.push(metric);
        }
        arm
    }

    fn flag(found: &Comparison, kind: FlagKind) -> Option<&Flag> {
        found.flags.iter().find(|flag| flag.kind == kind)
    }

    #[test]
    fn an_arm_with_more_noise_is_told_with_the_figures() {
        let quiet = arm(
            "before",
            [0.1, 0.2, 0.0, 0.3, 0.1],
            [80.0, 82.0, 79.0, 81.0, 80.0],
        );
        let noisy = arm(
            "after",
            [3.0, 9.0, 4.1, 3.5, 6.0],
            [60.0, 58.0, 61.0, 57.0, 60.0],
        );
        let found = compare(&quiet, &noisy, &Options::default());
        let told = flag(&found, FlagKind::OtherNoise).unwrap();
        assert_eq!(
            told.rows,
            [
                "steal (0.1 % before, 5.1 % after)",
                "idle (50.4 % before, 29.2 % after)"
            ]
        );
        let stolen = flag(&found, FlagKind::Stolen).unwrap();
        assert_eq!(stolen.rows[0], "rate (0 before, 2 after; 9 % at most)");
        // The other way round, too.
        let found = compare(&noisy, &quiet, &Options::default());
        assert!(flag(&found, FlagKind::OtherNoise).is_some());
    }

    #[test]
    fn the_same_noise_in_both_arms_is_no_objection() {
        let (steal, idle) = ([3.0, 9.0, 0.1, 3.5, 6.0], [60.0, 20.0, 61.0, 57.0, 30.0]);
        let (mut again, mut later) = (steal, idle);
        again.reverse();
        later.reverse();
        let found = compare(
            &arm("before", steal, idle),
            &arm("after", again, later),
            &Options::default(),
        );
        assert_eq!(flag(&found, FlagKind::OtherNoise), None);
        // Less than what matters, though it is sure.
        let found = compare(
            &arm("before", [0.0, 0.1, 0.0, 0.1, 0.0], idle),
            &arm("after", [0.6, 0.7, 0.6, 0.7, 0.6], idle),
            &Options::default(),
        );
        assert_eq!(flag(&found, FlagKind::OtherNoise), None);
        // Nobody tells.
        let bare = |mut arm: Arm| {
            for metric in &mut arm.metrics {
                metric.runs.iter_mut().for_each(|run| run.noise = None);
            }
            arm
        };
        let [a, b] = ["before", "after"].map(|name| bare(arm(name, steal, idle)));
        let found = compare(&a, &b, &Options::default());
        assert!(
            flag(&found, FlagKind::OtherNoise).is_none() && found.rows[0].noise_after.is_empty()
        );
    }
}
