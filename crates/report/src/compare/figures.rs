//! Figures of a comparison as text.

use tcplab_compare::{Better, Comparison, Noise, Row, Verdict};

/// A value with five digits, large ones with k, M, G.
pub(super) fn value(value: Option<f64>) -> String {
    let Some(value) = value else {
        return "-".into();
    };
    if value == 0.0 {
        return "0".into();
    }
    let size = value.abs();
    let (scaled, prefix) = match size {
        s if s >= 1e12 => (value / 1e12, "T"),
        s if s >= 1e9 => (value / 1e9, "G"),
        s if s >= 1e6 => (value / 1e6, "M"),
        _ => (value, ""),
    };
    if !(1e-4..1e16).contains(&size) {
        return format!("{value:.3e}");
    }
    let digits = libm::log10(scaled.abs()).floor() as i32 + 1;
    let places = (5 - digits).clamp(0, 6) as usize;
    let mut text = format!("{scaled:.places$}");
    if text.contains('.') {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    }
    text + prefix
}

/// Unit, value before and after. Microseconds of a second or more are shown in seconds, unless they are exact.
pub(crate) fn sides(row: &Row) -> [String; 3] {
    let most = [row.before, row.after]
        .into_iter()
        .flatten()
        .fold(0.0, f64::max);
    match row.unit == "us" && most >= 1e6 && !row.exact {
        true => {
            let seconds = |us: Option<f64>| value(us.map(|us| us / 1e6));
            ["s".into(), seconds(row.before), seconds(row.after)]
        }
        false => [
            unit(&row.unit).into(),
            exact(row, row.before),
            exact(row, row.after),
        ],
    }
}

/// An exact value, with all its digits.
pub(crate) fn exact(row: &Row, value: Option<f64>) -> String {
    match value {
        Some(whole) if row.exact && whole.fract() == 0.0 && whole.abs() < 1e15 => {
            format!("{whole:.0}")
        }
        other => self::value(other),
    }
}

/// A change in per cent: two digits behind the point where it is small.
pub(super) fn percent(value: f64) -> String {
    match value.abs() {
        a if a >= 1_000.0 => format!("{value:+.0}"),
        a if a >= 100.0 => format!("{value:+.1}"),
        _ => format!("{value:+.2}"),
    }
}

/// The change of a row.
pub(crate) fn change(row: &Row) -> String {
    row.change_percent.map_or("-".into(), percent)
}

/// The interval of a row.
pub(crate) fn interval(row: &Row) -> String {
    let end = |value: f64| match value.abs() {
        a if a >= 1_000.0 => format!("{value:+.1e}"),
        a if a >= 10.0 => format!("{value:+.0}"),
        _ => format!("{value:+.1}"),
    };
    let text = |(low, high): (f64, f64)| format!("{} .. {}", end(low), end(high));
    row.interval_percent.map_or(String::new(), text)
}

/// A p-value.
pub(crate) fn p(row: &Row) -> String {
    match row.adjusted_p {
        None => String::new(),
        Some(p) if p < 0.001 => "<.001".into(),
        Some(p) => format!("{p:.3}"),
    }
}

/// Runs of both sides; `p` stands for pairs.
pub(crate) fn runs(row: &Row) -> String {
    let (before, after) = (row.runs_before.len(), row.runs_after.len());
    match (before == after, row.paired) {
        (true, true) => format!("{before}p"),
        (true, false) => format!("{before}"),
        (false, _) => format!("{before}/{after}"),
    }
}

/// An arrow in the direction that is better.
pub(super) const fn arrow(better: Better) -> &'static str {
    match better {
        Better::Higher => "\u{2191}",
        Better::Lower => "\u{2193}",
        Better::Neither => " ",
    }
}

/// The verdict with its figure.
pub(crate) fn verdict(row: &Row) -> String {
    let word = row.verdict.word().replace('-', " ");
    match (row.verdict, row.needs, row.finds_percent) {
        (Verdict::Undecided, Some(needs), _) => format!("{word} ~{needs}"),
        (Verdict::TooNoisy, _, Some(finds)) => format!("{word} >{finds:.0} %"),
        _ => word,
    }
}

/// The unit as it is usually written.
pub(crate) fn unit(unit: &str) -> &str {
    match unit {
        "10^6bits/s" => "Mbit/s",
        "10^3bits/s" => "kbit/s",
        "10^9bits/s" => "Gbit/s",
        unit => unit,
    }
}

/// What the machine did beside a run.
pub(crate) fn noise(noise: &Noise) -> String {
    let told = [
        ("steal", noise.steal_percent, 1, " %"),
        ("idle", noise.idle_percent(), 0, " %"),
        ("load", noise.load, 2, ""),
        ("frequency", noise.frequency_mhz, 0, " MHz"),
        ("interrupts", noise.interrupts_per_s, 0, "/s"),
    ];
    let words = told.into_iter().filter_map(|(name, value, places, unit)| {
        value.map(|value| format!("{name} {value:.places$}{unit}"))
    });
    words.collect::<Vec<_>>().join(", ")
}

/// The same of both arms, means over their runs: `steal 0.1 → 3.0 %`; empty when nobody tells.
pub(crate) fn noise_of_arms(row: &Row) -> String {
    type Of = fn(&Noise) -> Option<f64>;
    let told: [(&str, Of, usize, &str); 3] = [
        ("steal", |noise| noise.steal_percent, 1, " %"),
        ("idle", Noise::idle_percent, 0, " %"),
        ("load", |noise| noise.load, 2, ""),
    ];
    let words = told.into_iter().filter_map(|(name, of, places, unit)| {
        let mean = |side: &[Noise]| {
            let values: Vec<f64> = side.iter().filter_map(of).collect();
            let sum: f64 = values.iter().sum();
            (!values.is_empty()).then(|| sum / values.len() as f64)
        };
        let (was, is) = (mean(&row.noise_before)?, mean(&row.noise_after)?);
        Some(format!(
            "{name} {was:.places$} \u{2192} {is:.places$}{unit}"
        ))
    });
    words.collect::<Vec<_>>().join(", ")
}

/// The names of both arms.
pub(super) fn title(comparison: &Comparison) -> String {
    format!("{} -> {}", comparison.before, comparison.after)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values() {
        for (number, text) in [
            (0.0, "0"),
            (7.4, "7.4"),
            (1499.3, "1499.3"),
            (106_872.84, "106873"),
            (14_889_233_265.59, "14.889G"),
            (0.000_31, "0.00031"),
            (-2.5, "-2.5"),
        ] {
            assert_eq!(value(Some(number)), text);
        }
        assert_eq!(value(None), "-");
        let shown = |exact| {
            sides(&Row {
                unit: "us".into(),
                before: Some(40_209_137.4),
                after: Some(980_000.0),
                exact,
                ..Row::default()
            })
        };
        assert_eq!(shown(false), ["s", "40.209", "0.98"]);
        assert_eq!(shown(true), ["us", "40.209M", "980000"]);
        assert_eq!(
            (percent(5.135), percent(-1234.5)),
            ("+5.13".into(), "-1234".into())
        );
    }
}
