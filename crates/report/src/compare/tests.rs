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
        legend(4).contains("neighbouring runs in pairs"),
        "{}",
        legend(4)
    );
    assert!(
        !legend(2).contains("neighbouring runs in pairs"),
        "{}",
        legend(2)
    );
}

#[test]
fn names_cannot_break_out() {
    let evil = "x|<script>alert(1)</script>\"\x1b[2J&`";
    let comparison = example(evil);
    assert!(!terminal(&comparison, true, &Theme::default()).contains('\x1b'));
    assert!(!(html::FORM.comparison)(&comparison).contains("<script"));
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
    let page = (html::FORM.comparison)(&compare(&before, &after, &Options::default()));
    assert!(page.contains("<title>1.1; steal 7.0 %, idle 40 %</title>"));
    assert_eq!(page.matches("<circle class=\"a stolen\"").count(), 3);
    assert_eq!(page.matches("<circle class=\"b\"").count(), 3);
    assert!(page.contains("steal 0.2 \u{2192} 7.0 %, idle 40 \u{2192} 40 %"));
    assert!(!(html::FORM.comparison)(&example("rate")).contains("<div class=\"dim beside"));
}

#[test]
fn junit_counts() {
    let text = (junit::FORM.comparison)(&example("rate"));
    assert!(text.contains("tests=\"1\" failures=\"1\""), "{text}");
    assert!(text.contains("<failure type=\"worse\""), "{text}");
}

#[test]
fn the_page_has_a_dot_for_each_run() {
    let page = (html::FORM.comparison)(&example("rate"));
    assert_eq!(page.matches("<circle class=\"b\"").count(), 5);
    assert_eq!(page.matches("<circle class=\"a\"").count(), 5);
    assert!(page.contains("class=\"whisker worse\""));
}
