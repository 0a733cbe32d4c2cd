//! The sets of applications of a point.

use std::collections::BTreeSet;

use super::{Checked, Wrong, at_most, each, name, quoted, text, time};
use crate::experiment::rrul::MARKS;
use crate::point::Point;
use crate::rules::{LEAST_STEP_NS, MAX_ALL_APPS, MAX_SERIES, MAX_STEPS, MAX_TEXT, RESERVED};
use crate::set::AppSet;

pub(super) fn check(point: &Point) -> Checked {
    if point.sets.is_empty() {
        return Ok(());
    }
    at_most("sets", point.sets.len(), MAX_ALL_APPS, "sets")?;
    let names = point.apps.iter().map(|app| &app.name);
    let groups = point.apps.iter().filter_map(|app| app.group.as_ref());
    let apps: BTreeSet<&str> = names.chain(groups).map(String::as_str).collect();
    each("sets", &point.sets, |set| one(set, point, &apps))?;
    let mut names = BTreeSet::new();
    for (index, set) in point.sets.iter().enumerate() {
        if !names.insert(set.name.as_str()) {
            let message = format!(
                "there is a set `{}` already: rename one of the two",
                set.name
            );
            return Err(Wrong::at(format!("sets[{index}].name"), message));
        }
    }
    match point.tcp_info_every_ns {
        Some(_) => Ok(()),
        None => Err(Wrong::at(
            "tcp_info_every_ns",
            "is missing: the series of sets are made of these samples",
        )),
    }
}

fn one(set: &AppSet, point: &Point, apps: &BTreeSet<&str>) -> Checked {
    name("name", &set.name)?;
    let is_host = point
        .hosts
        .iter()
        .any(|host| host.name == set.name || host.group.as_ref() == Some(&set.name));
    if is_host || RESERVED.contains(&set.name.as_str()) {
        let message = format!("a set cannot be called `{}` here", set.name);
        return Err(Wrong::at("name", message));
    }
    if !MARKS.contains(&set.test.as_str()) {
        let known = MARKS.join(", ");
        let message = format!("{} is not a test; use {known}", quoted(&set.test));
        return Err(Wrong::at("test", message));
    }
    times(set)?;
    at_most("series", set.series.len(), MAX_SERIES, "series")?;
    each("series", &set.series, |series| {
        text("name", &series.name, MAX_TEXT)?;
        match apps.contains(series.app.as_str()) {
            true => Ok(()),
            false => Err(Wrong::at(
                "app",
                format!("there is no application {}", quoted(&series.app)),
            )),
        }
    })
}

fn times(set: &AppSet) -> Checked {
    time("start_ns", set.start_ns, 0)?;
    time("delay_ns", set.delay_ns, 0)?;
    time("duration_ns", set.duration_ns, 0)?;
    time("settle_ns", set.settle_ns, 0)?;
    time("step_ns", set.step_ns, LEAST_STEP_NS)?;
    if set.total_ns() / set.step_ns > MAX_STEPS {
        let message = format!("makes more than {MAX_STEPS} values; write a longer one");
        return Err(Wrong::at("step_ns", message));
    }
    if set.duration_ns < set.step_ns {
        return Err(Wrong::at("duration_ns", "must be at least a `step`"));
    }
    match set.settle_ns >= set.duration_ns {
        true => Err(Wrong::at(
            "settle_ns",
            "must be shorter than `duration`: nothing would be measured",
        )),
        false => Ok(()),
    }
}
