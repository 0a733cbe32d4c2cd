//! A picture of a row's runs as SVG: a dot for each run, before above and after below, with each arm's figure; and the interval
//! of the change on one scale for the whole table.

use tcplab_compare::{Noise, Row};

use super::figures;

const WIDTH: f64 = 220.0;
const HEIGHT: f64 = 30.0;
const EDGE: f64 = 6.0;

/// The runs of both arms on one axis, from the smallest to the largest.
pub(super) fn runs(row: &Row) -> String {
    let all = || row.runs_before.iter().chain(&row.runs_after).copied();
    let low = all().fold(f64::INFINITY, f64::min);
    let high = all().fold(f64::NEG_INFINITY, f64::max);
    if !low.is_finite() || !high.is_finite() {
        return String::new();
    }
    let span = (high - low).max(f64::MIN_POSITIVE);
    let x = |value: f64| match high > low {
        true => EDGE + (value - low) / span * (WIDTH - 2.0 * EDGE),
        false => WIDTH / 2.0,
    };
    let mut out = format!(
        "<svg class=\"runs\" width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\" aria-label=\"runs before and after\">"
    );
    let arms = [
        ("b", 9.0, (&row.runs_before, &row.noise_before), row.before),
        ("a", 21.0, (&row.runs_after, &row.noise_after), row.after),
    ];
    for (class, y, (values, noise), figure) in arms {
        out += &format!(
            "<line class=\"axis\" x1=\"{EDGE}\" x2=\"{:.1}\" y1=\"{y}\" y2=\"{y}\"/>",
            WIDTH - EDGE
        );
        for (at, value) in values.iter().enumerate() {
            let beside = noise.get(at);
            let stolen = match beside.is_some_and(Noise::is_stolen) {
                true => " stolen",
                false => "",
            };
            let words = beside.map_or(String::new(), figures::noise);
            let words = if words.is_empty() {
                words
            } else {
                format!("; {words}")
            };
            out += &format!(
                "<circle class=\"{class}{stolen}\" cx=\"{:.1}\" cy=\"{y}\" r=\"3\"><title>{value}{words}</title></circle>",
                x(*value)
            );
        }
        if let Some(figure) = figure.filter(|f| f.is_finite()) {
            let at = x(figure.clamp(low, high));
            out += &format!(
                "<line class=\"{class}\" x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{:.1}\" y2=\"{:.1}\"/>",
                y - 6.0,
                y + 6.0
            );
        }
    }
    out + "</svg>"
}

/// The widest change that the scale of a table shows, per cent.
pub(super) fn reach(rows: &[&Row]) -> f64 {
    let mut ends: Vec<f64> = rows
        .iter()
        .filter_map(|row| {
            let (low, high) = row
                .interval_percent
                .or_else(|| row.change_percent.map(|c| (c, c)))?;
            Some(low.abs().max(high.abs()))
        })
        .filter(|end| end.is_finite())
        .collect();
    ends.sort_by(f64::total_cmp);
    // One wild row must not flatten the others.
    let most = ends.get(ends.len() * 9 / 10).copied().unwrap_or(1.0);
    most.clamp(2.0, 100.0)
}

/// The interval of the change: 0 in the middle, the band around it.
pub(super) fn interval(row: &Row, reach: f64, band: f64) -> String {
    let Some(change) = row.change_percent else {
        return String::new();
    };
    let width = 180.0;
    let x = |percent: f64| {
        let at = (percent / reach).clamp(-1.0, 1.0);
        width / 2.0 + at * (width / 2.0 - EDGE)
    };
    let class = row.verdict.word();
    let mut out = format!(
        "<svg class=\"change\" width=\"{width}\" height=\"{HEIGHT}\" role=\"img\" aria-label=\"change and its interval\">\
         <rect class=\"band\" x=\"{:.1}\" y=\"3\" width=\"{:.1}\" height=\"24\"/>\
         <line class=\"zero\" x1=\"{:.1}\" x2=\"{:.1}\" y1=\"2\" y2=\"28\"/>",
        x(-band),
        x(band) - x(-band),
        x(0.0),
        x(0.0),
    );
    if let Some((low, high)) = row.interval_percent {
        out += &format!(
            "<line class=\"whisker {class}\" x1=\"{:.1}\" x2=\"{:.1}\" y1=\"15\" y2=\"15\"/>",
            x(low),
            x(high)
        );
    }
    let dot = if row.interval_percent.is_some() {
        "point"
    } else {
        "point open"
    };
    out += &format!(
        "<circle class=\"{dot} {class}\" cx=\"{:.1}\" cy=\"15\" r=\"4\"/>",
        x(change)
    );
    out + "</svg>"
}
