//! What a point says of the whole run.

use serde_json::Value as Json;

use super::{Checked, Wrong, name, number, number_if, quoted, text, time, time_if};
use crate::point::Point;
use crate::rules::{
    LEAST_BOOT_NS, LEAST_INFO_NS, LEAST_LINK_NS, MAX_EVENTS_RANGE, MAX_SNAP, MAX_SYSCTL, MAX_TEXT,
    MOST_SAMPLES,
};

pub(super) fn check(point: &Point) -> Checked {
    name("experiment", &point.experiment)?;
    for (axis, value) in &point.axes {
        if axis.is_empty() || super::text("", axis, MAX_SYSCTL).is_err() {
            let message = format!(
                "{} is no name of an axis: at most {MAX_SYSCTL} bytes",
                quoted(axis)
            );
            return Err(Wrong::at("axes", message));
        }
        json(value).map_err(|wrong| wrong.under(format_args!("axes.{axis}")))?;
    }
    time_if("boot_ns", point.boot_ns, LEAST_BOOT_NS)?;
    time("linger_ns", point.linger_ns, 0)?;
    time("max_ns", point.max_ns, 1)?;
    number_if("max_events", point.max_events, MAX_EVENTS_RANGE)?;
    for (n, name) in point.tolerate.iter().enumerate() {
        text(&format!("tolerate[{n}]"), name, MAX_TEXT)?;
    }
    samples(
        "tcp_info_every_ns",
        point,
        point.tcp_info_every_ns,
        LEAST_INFO_NS,
    )?;
    samples("link_every_ns", point, point.link_every_ns, LEAST_LINK_NS)?;
    number("snap_bytes", point.snap_bytes, (0, MAX_SNAP))
}

/// The value of an axis, as a file may have it.
fn json(value: &Json) -> Checked {
    match value {
        Json::String(value) => text("", value, MAX_TEXT),
        Json::Array(values) => values.iter().try_for_each(json),
        Json::Object(values) => {
            let each = |(key, value): (&String, &Json)| {
                text("", key, MAX_TEXT)?;
                json(value)
            };
            values.iter().try_for_each(each)
        }
        Json::Null | Json::Bool(_) | Json::Number(_) => Ok(()),
    }
}

fn samples(path: &str, point: &Point, every_ns: Option<i64>, least_ns: i64) -> Checked {
    time_if(path, every_ns, least_ns)?;
    match every_ns {
        Some(every) if point.max_ns / every > MOST_SAMPLES => Err(Wrong::at(
            path,
            format!(
                "makes more than {MOST_SAMPLES} samples until `max`: write a longer time, or a shorter `max`"
            ),
        )),
        _ => Ok(()),
    }
}
