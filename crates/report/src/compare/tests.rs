//! Comparisons drawn: widths, names that try to break out, counts.

use tcplab_compare::{Arm, Better, Combine, Metric, Noise, Options, Run, compare};

use super::*;
use crate::terminal::Theme;

fn arm(name: &str, rates: &[f64], title: &str) -> Arm {
    let mut arm = Arm::named(name);
    let runs = |values: &[f64]| values.iter().map(|v| Run::of(*v)).collect();
    arm.metrics.push(Metric {
        runs: runs(rates),
        ..Metric::new(title, "bit/s", Better::Higher)
    });
    arm
}

fn example(title: &str) -> Comparison {
    let before = arm("old", &[1.00e9, 1.01e9, 0.99e9, 1.0e9, 1.005e9], title);
    let after = arm("new", &[0.90e9, 0.91e9, 0.89e9, 0.9e9, 0.905e9], title);
    compare(&before, &after, &Options::default())
}

#[test]
fn a_terminal_of_100_columns_is_wide_enough() {
    let text = terminal(
        &example(&"a name that goes on ".repeat(9)),
        false,
        &Theme::default(),
    );
    assert!(
        text.lines().all(|line| line.chars().count() <= 100),
        "{text}"
    );
    assert!(
        text.contains("worse") && text.contains("\u{2026}") && text.contains("1G"),
        "{text}"
    );
    assert!(text.contains("-9.99"), "{text}");
}

#[test]
fn pairs_that_say_another_change_than_the_columns_are_explained() {
    let metric = |slow: u32| {
        let mut arm = arm("arm", &[], "rate");
        arm.metrics[0].combine = Combine::Trimmed;
        arm.metrics[0].runs = (0..12)
            .map(|block| Run {
                block: Some(block),
                ..Run::of(f64::from(100 + block % 3) - if block < slow { 40.0 } else { 0.0 })
            })
            .collect();
        arm
    };
    let legend = |slow: u32| {
        let comparison = compare(&metric(2), &metric(slow), &Options::default());
        assert!(comparison.rows[0].paired);
        terminal(&comparison, true, &Theme::default())
    };
    assert!(
        legend(4).contains("of neighbouring runs, pair by pair"),
        "{}",
        legend(4)
    );
    assert!(
        !legend(2).contains("of neighbouring runs, pair by pair"),
        "{}",
        legend(2)
    );
}

#[test]
fn names_cannot_break_out() {
    let evil = "x|<script>alert(1)</script>\"\x1b[2J&`";
    let comparison = example(evil);
    assert!(!terminal(&comparison, true, &Theme::default()).contains('\x1b'));
    assert!(!(crate::page::compare::FORM.comparison)(&comparison).contains("<script>alert"));
    assert!(!(junit::FORM.comparison)(&comparison).contains("<script"));
    let row = markdown(&comparison);
    let row = row.lines().find(|line| line.starts_with("| x")).unwrap();
    assert!(row.contains("x\\|&lt;script"), "{row}");
}

#[test]
fn a_page_shows_what_the_machine_did_beside_each_run() {
    let with = |mut arm: Arm, steal: f64| {
        for run in &mut arm.metrics[0].runs {
            run.noise = Some(Noise {
                steal_percent: Some(steal),
                others: [("idle_percent".to_owned(), 40.0)].into(),
                ..Noise::default()
            });
        }
        arm
    };
    let before = with(arm("old", &[1.0, 1.1, 1.2], "rate"), 0.25);
    let after = with(arm("new", &[1.0, 1.1, 1.2], "rate"), 7.0);
    let page = page(&compare(&before, &after, &Options::default()));
    let row = &page["parts"][0]["rows"][0];
    let words = "steal 7.0 %, idle 40 %";
    assert_eq!(
        row["arms"][1]["runs"][1],
        serde_json::json!([1.1, words, true])
    );
    assert_eq!(row["arms"][0]["runs"][1][2], false);
    assert_eq!(
        row["beside"],
        "steal 0.2 \u{2192} 7.0 %, idle 40 \u{2192} 40 %"
    );
    let quiet = self::page(&example("rate"));
    assert_eq!(quiet["parts"][0]["rows"][0]["beside"], "");
}

/// The data of a comparison's page.
fn page(comparison: &Comparison) -> serde_json::Value {
    let page = (crate::page::compare::FORM.comparison)(comparison);
    let (_, data) = page
        .split_once("id=\"tcplab-page\" type=\"application/json\">")
        .unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    serde_json::from_str(data).unwrap()
}

#[test]
fn junit_counts() {
    let text = (junit::FORM.comparison)(&example("rate"));
    assert!(text.contains("tests=\"1\" failures=\"1\""), "{text}");
    assert!(text.contains("<failure type=\"worse\""), "{text}");
}

#[test]
fn the_page_has_every_run_and_the_texts_of_the_terminal() {
    let page = page(&example("rate"));
    let row = &page["parts"][0]["rows"][0];
    for arm in [0, 1] {
        assert_eq!(row["arms"][arm]["runs"].as_array().unwrap().len(), 5);
    }
    assert_eq!(
        (row["class"].as_str(), row["unit"].as_str()),
        (Some("worse"), Some("bit/s \u{2191}"))
    );
    assert_eq!(
        (&row["texts"][0], &row["texts"][6]),
        (&"1.001G".into(), &"worse".into())
    );
    assert_eq!(page["title"], "old \u{2192} new");
}
