//! What a point says of the whole run.

use serde_json::Value as Json;

use super::{Checked, Wrong, name, of, quoted, text, timed};
use crate::experiment::keys::{Key, run as keys};
use crate::point::Point;
use crate::rules::{MAX_SYSCTL, MAX_TEXT, MOST_SAMPLES};

pub(super) fn check(point: &Point) -> Checked {
    name("experiment", &point.experiment)?;
    for (axis, value) in &point.axes {
        if axis.is_empty() || super::text("", axis, MAX_SYSCTL).is_err() {
            let message = format!(
                "{} is not a name of an axis: at most {MAX_SYSCTL} bytes",
                quoted(axis)
            );
            return Err(Wrong::at("axes", message));
        }
        json(value).map_err(|wrong| wrong.under(format_args!("axes.{axis}")))?;
    }
    timed("boot_ns", point.boot_ns, &keys::BOOT)?;
    timed("linger_ns", Some(point.linger_ns), &keys::LINGER)?;
    timed("max_ns", Some(point.max_ns), &keys::MAX)?;
    of("max_events", point.max_events, &keys::MAX_EVENTS)?;
    for (n, name) in point.tolerate.iter().enumerate() {
        text(&format!("tolerate[{n}]"), name, MAX_TEXT)?;
    }
    samples(
        "tcp_info_every_ns",
        point,
        point.tcp_info_every_ns,
        &keys::TCP_INFO_EVERY,
    )?;
    samples(
        "link_every_ns",
        point,
        point.link_every_ns,
        &keys::LINK_EVERY,
    )?;
    of("snap_bytes", Some(point.snap_bytes), &keys::SNAP)
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

fn samples(path: &str, point: &Point, every_ns: Option<i64>, key: &Key) -> Checked {
    timed(path, every_ns, key)?;
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
