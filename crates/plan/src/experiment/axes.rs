//! Axes: values that are written `{ axis = [v1, v2], name = "every" }`, and their product.

use serde_json::Value as Json;

use super::error::{Fault, Span};
use super::tree::{Choice, Entry, Node, Table, Value};

/// One dimension of the matrix.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub name: String,
    /// Its values as written.
    pub values: Vec<Json>,
    pub(super) span: Span,
    pub(super) path: String,
    explicit: bool,
}

/// Names that the matrix and the tables of results use themselves.
const RESERVED: [&str; 12] = [
    "variant",
    "repeat",
    "stack",
    "point",
    "cut_short",
    "error",
    "measure",
    "unit",
    "runs",
    "mean",
    "interval_low",
    "interval_high",
];

/// Finds the axes of a tree, in the order of the file, and marks their places in it.
pub(crate) fn take(table: &mut Table) -> Result<Vec<Axis>, Fault> {
    let mut found = Vec::new();
    walk_table(table, "", &mut found)?;
    found.sort_by_key(|axis: &Axis| axis.span.start);
    let mut axes: Vec<Axis> = Vec::new();
    for axis in found {
        match axes.iter().find(|known| known.name == axis.name) {
            None => axes.push(axis),
            Some(known) if !(known.explicit && axis.explicit) => {
                return Err(Fault::new(
                    &axis.span,
                    &axis.path,
                    format!("`{}` already has an axis `{}`", known.path, axis.name),
                )
                .help("give each axis its own `name`; axes with the same `name` change together"));
            }
            Some(known) if known.values.len() != axis.values.len() => {
                return Err(Fault::new(
                    &axis.span,
                    &axis.path,
                    format!(
                        "the axis `{}` has {} values here and {} in `{}`",
                        axis.name,
                        axis.values.len(),
                        known.values.len(),
                        known.path
                    ),
                ));
            }
            Some(_) => {}
        }
    }
    axes.iter().try_for_each(labels)?;
    Ok(axes)
}

/// The values of an axis name its points in results: equal ones would count as runs of one point.
fn labels(axis: &Axis) -> Result<(), Fault> {
    let twice = (1..axis.values.len()).find(|n| axis.values[..*n].contains(&axis.values[*n]));
    match twice {
        None => Ok(()),
        Some(n) => Err(Fault::new(
            &axis.span,
            &axis.path,
            format!("the axis `{}` has the value {} twice", axis.name, axis.values[n]),
        )
        .help("remove one (to repeat runs, set `repeat`); of axes that change together, the first in the file needs distinct values, since results show these")),
    }
}

fn walk_table(table: &mut Table, path: &str, found: &mut Vec<Axis>) -> Result<(), Fault> {
    for (key, entry) in &mut table.entries {
        let path = match path {
            "" => key.clone(),
            path => format!("{path}.{key}"),
        };
        walk(&mut entry.node, &path, key, found)?;
    }
    Ok(())
}

fn walk(node: &mut Node, path: &str, key: &str, found: &mut Vec<Axis>) -> Result<(), Fault> {
    match &mut node.value {
        Value::Table(table) if table.entries.contains_key("axis") => {
            let (axis, values) = axis(table, &node.span, path, key)?;
            node.value = Value::Axis(axis.name.clone(), values);
            found.push(axis);
            Ok(())
        }
        Value::Table(table) => walk_table(table, path, found),
        Value::List(nodes) => {
            for node in nodes {
                walk(node, path, key, found)?;
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

fn axis(table: &Table, span: &Span, path: &str, key: &str) -> Result<(Axis, Vec<Node>), Fault> {
    for (other, entry) in &table.entries {
        if other != "axis" && other != "name" {
            return Err(Fault::new(
                &entry.key,
                path,
                format!("unknown key `{other}` of an axis"),
            )
            .suggest(other, ["axis", "name"]));
        }
    }
    let name = table.entries.get("name");
    let values = table.entries.get("axis").map(|entry| &entry.node);
    let Some(Node {
        value: Value::List(values),
        ..
    }) = values
    else {
        return Err(Fault::new(span, path, "`axis` must be a list of values"));
    };
    if values.is_empty() {
        return Err(Fault::new(span, path, "the axis has no values"));
    }
    if let Some(inner) = values.iter().find(|value| has_axis(value)) {
        return Err(Fault::new(
            &inner.span,
            path,
            "an axis cannot contain an axis",
        ));
    }
    let named = name.map(|entry| axis_name(entry, path)).transpose()?;
    let explicit = named.is_some();
    let axis = Axis {
        name: named.unwrap_or_else(|| key.to_owned()),
        values: values.iter().map(Node::to_json).collect(),
        span: span.clone(),
        path: path.to_owned(),
        explicit,
    };
    let is_seed = axis.name == "seed" && axis.path != "run.seed";
    if is_seed || RESERVED.contains(&axis.name.as_str()) {
        return Err(Fault::new(
            span,
            path,
            format!(
                "an axis cannot be called `{}`, which is a column of the results",
                axis.name
            ),
        )
        .help("give it another `name`"));
    }
    Ok((axis, values.clone()))
}

fn axis_name(entry: &Entry, path: &str) -> Result<String, Fault> {
    let good =
        |name: &str| !name.is_empty() && name.len() <= 64 && !name.contains(char::is_control);
    match &entry.node.value {
        Value::Text(name) if good(name) => Ok(name.clone()),
        _ => Err(Fault::new(
            &entry.node.span,
            path,
            "the name of an axis must be a text of at most 64 bytes",
        )),
    }
}

fn has_axis(node: &Node) -> bool {
    match &node.value {
        Value::Table(table) => {
            table.entries.contains_key("axis") || table.entries.values().any(|e| has_axis(&e.node))
        }
        Value::List(nodes) => nodes.iter().any(has_axis),
        _ => false,
    }
}

/// How many combinations there are; none: too many to count.
pub(crate) fn product(axes: &[Axis]) -> Option<usize> {
    axes.iter()
        .try_fold(1_usize, |n, axis| n.checked_mul(axis.values.len()))
}

/// The combination of this number; the last axis moves fastest.
pub(crate) fn choose(axes: &[Axis], mut number: usize) -> Choice {
    let mut choice = Choice::new();
    for axis in axes.iter().rev() {
        choice.insert(axis.name.clone(), number % axis.values.len());
        number /= axis.values.len();
    }
    choice
}
