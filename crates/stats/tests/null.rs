//! Arms that do not differ: how often a table says they do, and how often an interval misses.

mod common;

use common::{Arm, two_arms};
use tcplab_stats::{Design, Difference, Ratio, Verdict, compare, compare_quantiles, judge};

/// Connections of an arm, as in the self-test of the command.
const CONNECTIONS: usize = 20_000;
const GROUPS: usize = 2_048;

fn table([baseline, arm]: &[Arm; 2], design: &Design) -> Vec<(Option<Difference>, Option<f64>)> {
    let pairs = baseline.rows.iter().zip(&arm.rows);
    let rows: Vec<Vec<Ratio>> = pairs.map(|(b, a)| vec![b.clone(), a.clone()]).collect();
    let ratios = compare(&rows, design).into_iter().flatten();
    let at = [0.5, 0.95, 0.99];
    let quantiles = compare_quantiles(&baseline.latency, &arm.latency, &at, design);
    ratios
        .chain(quantiles)
        .map(|found| (found.ok(), None))
        .collect()
}

/// Tables with a decided row, and p-values up to 5 %, among so many experiments without a difference.
fn decided(experiments: u64, paired: bool) -> (usize, usize) {
    let (mut tables, mut rows) = (0, 0);
    for seed in 0..experiments {
        let design = Design {
            paired,
            seed,
            replicates: 500,
            ..Design::default()
        };
        let arms = two_arms(seed, CONNECTIONS, GROUPS, paired, 1.0);
        let table = table(&arms, &design);
        assert_eq!(table.len(), 12);
        let verdicts = judge(&table, 0.05, CONNECTIONS as u64);
        let sure = |verdict: &Verdict| matches!(verdict, Verdict::Lower | Verdict::Higher);
        tables += usize::from(verdicts.iter().any(sure));
        rows += table
            .iter()
            .filter(|(found, _)| found.is_some_and(|d| d.p <= 0.05))
            .count();
    }
    (tables, rows)
}

/// Two disjoint sets of connections: 12 rows, among them rare aborts and means of Pareto times of
/// alpha 1.2, which have no variance.
#[test]
fn disjoint_sets_differ_in_at_most_16_of_200_tables() {
    let (tables, rows) = decided(200, false);
    // 5 % of 200 are 10; a binomial is above 16 in 2 % of cases.
    assert!(tables <= 16, "{tables}");
    // Nor does the method get there by saying nothing: 5 % of the 2,400 rows would be 120, rows of
    // few events stay below that.
    assert!((60..=150).contains(&rows), "{rows}");
}

#[test]
fn paired_arms_differ_in_at_most_6_of_50_tables() {
    let (tables, rows) = decided(50, true);
    assert!(tables <= 6, "{tables}");
    assert!((12..=45).contains(&rows), "{rows}");
}
