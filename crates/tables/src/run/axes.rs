//! The columns of axes: numbers where every value of the axis is a number.

use std::collections::BTreeSet;

use serde_json::Value;
use tcplab_plan::result::{PointResult, RunDocument, axis_text};

use crate::field::{Field, Kind};
use crate::table::Row;

/// Integers up to here are exact as floats.
const EXACT: u64 = 1 << 53;

/// An axis of a run.
#[derive(Debug)]
pub(super) struct Axis<'a> {
    /// Its name.
    pub(super) name: &'a str,
    kind: Kind,
}

/// The axes of a run, by name.
pub(super) fn axes(document: &RunDocument) -> Vec<Axis<'_>> {
    let names = document.points.iter().flat_map(|point| point.axes.keys());
    let names: BTreeSet<&str> = names.map(String::as_str).collect();
    let axis = |name| {
        let values = document.points.iter();
        let values = values.filter_map(|point| point.axes.get(name));
        let kind = kind(&values.collect::<Vec<_>>());
        Axis { name, kind }
    };
    names.into_iter().map(axis).collect()
}

/// The kind of a column that holds these values without loss.
fn kind(values: &[&Value]) -> Kind {
    let all = |is: fn(&Value) -> bool| values.iter().all(|value| is(value));
    if all(Value::is_boolean) {
        Kind::Flag
    } else if all(Value::is_i64) {
        Kind::Int
    } else if all(Value::is_u64) {
        Kind::Unsigned
    } else if all(|value| {
        value.is_f64() || value.as_i64().is_some_and(|n| n.unsigned_abs() <= EXACT)
    }) {
        Kind::Float
    } else {
        Kind::Text
    }
}

impl Axis<'_> {
    /// Its column. The axis's name says no unit: a user may have chosen it.
    pub(super) fn field(&self) -> Field {
        let about = format!(
            "Value on the axis `{}`, as the experiment writes it.",
            self.name
        );
        // A run has a column `seed` of its own: that of its random streams, which differs with the repetition.
        let name = if self.name == "seed" {
            "run.seed"
        } else {
            self.name
        };
        Field {
            name: name.to_owned(),
            kind: self.kind,
            unit: String::new(),
            about,
        }
    }

    /// The value of a point.
    pub(super) fn put(&self, row: &mut Row<'_>, point: &PointResult) {
        let value = point.axes.get(self.name);
        match self.kind {
            Kind::Int => row.maybe(value.and_then(Value::as_i64)),
            Kind::Unsigned => row.unsigned(value.and_then(Value::as_u64)),
            Kind::Float => row.float(value.and_then(Value::as_f64)),
            Kind::Flag => row.maybe_flag(value.and_then(Value::as_bool)),
            Kind::Text | Kind::Word => row.maybe_text(value.map(axis_text).as_deref()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_column_of_an_axis_loses_nothing() {
        for (values, wanted) in [
            (json!([1000, -2]), Kind::Int),
            (json!([1, u64::MAX]), Kind::Unsigned),
            (json!([-1, u64::MAX]), Kind::Text),
            (json!([1, 0.5]), Kind::Float),
            (json!([(1_u64 << 53) + 1, 0.5]), Kind::Text),
            (json!([true, false]), Kind::Flag),
            (json!([true, 1]), Kind::Text),
            (json!(["1000", 1000]), Kind::Text),
            (json!([["10k", "20k"]]), Kind::Text),
        ] {
            let all: Vec<&Value> = values.as_array().into_iter().flatten().collect();
            assert_eq!(kind(&all), wanted, "{values}");
        }
    }
}
