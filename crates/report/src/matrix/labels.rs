//! The axes of a result, and the labels of their values.
//!
//! An axis value may be a whole line in tc's words that differs in one word, and a variant may change the other words
//! (`cake bandwidth 1mbit`, `cake bandwidth 1mbit ack-filter`). A label is the part that differs within the variant,
//! so the same place has the same label in every variant.

use std::collections::{BTreeMap, BTreeSet};

use tcplab_plan::result::PointResult;

use super::{Axis, REPEAT, STACK, VARIANT};

/// An axis and the place of each value on it.
pub(super) struct Found {
    pub axis: Axis,
    /// By variant and value as written.
    places: BTreeMap<(String, String), usize>,
}

impl Found {
    /// Where a point stands.
    pub fn place(&self, point: &PointResult) -> usize {
        let key = (point.axis(VARIANT), value(point, &self.axis.name));
        self.places.get(&key).copied().unwrap_or(0)
    }
}

fn value(point: &PointResult, axis: &str) -> String {
    match axis {
        STACK => point.stack.clone(),
        axis => point.axis(axis),
    }
}

/// The axes with more than one value. A result does not say their order; the one that moves fastest is the last.
pub(super) fn axes(points: &[PointResult]) -> Vec<Found> {
    let names: BTreeSet<&str> = (points.iter().flat_map(|p| p.axes.keys()))
        .map(String::as_str)
        .filter(|name| ![VARIANT, REPEAT].contains(name))
        .collect();
    let mut names: Vec<(usize, &str)> = names
        .into_iter()
        .map(|name| (first_step(points, name), name))
        .collect();
    names.sort_by_key(|(step, _)| std::cmp::Reverse(*step));
    let names = names.into_iter().map(|(_, name)| name);
    let all = names.chain([VARIANT, STACK]).map(|name| find(points, name));
    all.filter(|found| found.axis.labels.len() > 1).collect()
}

/// The first point that has another value than the first.
fn first_step(points: &[PointResult], axis: &str) -> usize {
    let Some(first) = points.first().map(|p| value(p, axis)) else {
        return 0;
    };
    points
        .iter()
        .position(|p| value(p, axis) != first)
        .unwrap_or(points.len())
}

fn find(points: &[PointResult], name: &str) -> Found {
    let mut written: Vec<(String, Vec<String>)> = Vec::new();
    for point in points {
        let (variant, value) = (point.axis(VARIANT), value(point, name));
        let values = match written.iter_mut().find(|(known, _)| *known == variant) {
            Some((_, values)) => values,
            None => {
                written.push((variant, Vec::new()));
                &mut written.last_mut().expect("pushed").1
            }
        };
        if !values.contains(&value) {
            values.push(value);
        }
    }
    let short: Vec<Vec<String>> = written
        .iter()
        .map(|(_, values)| differing(values))
        .collect();
    let same = |labels: &Vec<String>| short.first() == Some(labels);
    let plain = name == VARIANT || name == STACK || !short.iter().all(same);
    let mut labels: Vec<String> = Vec::new();
    let mut places = BTreeMap::new();
    for ((variant, values), short) in written.iter().zip(&short) {
        for (value, short) in values.iter().zip(short) {
            let label = if plain {
                value.clone()
            } else {
                readable(short)
            };
            let place = labels.iter().position(|known| *known == label);
            let place = place.unwrap_or_else(|| {
                labels.push(label);
                labels.len() - 1
            });
            places.insert((variant.clone(), value.clone()), place);
        }
    }
    Found {
        axis: Axis {
            name: name.to_owned(),
            labels,
        },
        places,
    }
}

/// The values without the words that all of them begin or end with.
fn differing(values: &[String]) -> Vec<String> {
    let words: Vec<Vec<&str>> = values
        .iter()
        .map(|v| v.split_whitespace().collect())
        .collect();
    let least = words.iter().map(Vec::len).min().unwrap_or(0);
    let same = |word: &dyn Fn(&Vec<&str>) -> String| {
        let first = words.first().map(word);
        words.iter().all(|w| Some(word(w)) == first)
    };
    if values.len() < 2 || least < 2 {
        return values.to_vec();
    }
    let before = (0..least).take_while(|&i| same(&|w| w[i].to_owned()));
    let before = before.count();
    let after =
        (0..least.saturating_sub(before)).take_while(|&i| same(&|w| w[w.len() - 1 - i].to_owned()));
    let after = after.count();
    // If a value has no words of its own (`cake` beside `cake nat`), all keep their words.
    if words.iter().any(|w| w.len() == before + after) {
        return values.to_vec();
    }
    let rest = words.iter().map(|w| w[before..w.len() - after].join(" "));
    rest.collect()
}

/// Units as a person writes them: `500kbit` is 500 kbit/s.
fn readable(label: &str) -> String {
    let digits = label
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(label.len());
    let (number, unit) = label.split_at(digits);
    let unit = match unit {
        _ if number.is_empty() => return label.to_owned(),
        "bit" => "bit/s",
        "kbit" => "kbit/s",
        "mbit" => "Mbit/s",
        "gbit" => "Gbit/s",
        "us" => "µs",
        "ns" | "ms" | "s" | "%" => unit,
        _ => return label.to_owned(),
    };
    format!("{number} {unit}")
}
