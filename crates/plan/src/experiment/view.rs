//! `[report]`: what the page of a result shows first.

use super::axes::Axis;
use super::error::Fault;
use super::fields::Fields;
use super::keys::REPORT;
use super::variant::Variant;
use crate::view::{USUAL_BAND_PPB, View};
use tcplab_base::quantity::PERCENT;

/// Reads the table; `title` is the file's.
pub(super) fn view(file: &Fields<'_>, title: Option<String>) -> Result<View, Fault> {
    let Some(fields) = file.table("report")? else {
        return Ok(View {
            title,
            ..View::default()
        });
    };
    fields.check(&[REPORT])?;
    fields.check_fixed(REPORT)?;
    let text = |key| Ok(fields.text(key)?.map(str::to_owned));
    Ok(View {
        title,
        x: text("x")?,
        y: text("y")?,
        measure: text("measure")?,
        variant: fields.name("variant")?,
        base: fields.name("base")?,
        band_ppb: fields.quantity("band", &PERCENT)?.unwrap_or(USUAL_BAND_PPB),
    })
}

/// Refuses names of axes and variants that the file has not. Whether the measure is one is checked with the others.
pub(super) fn check(
    file: &Fields<'_>,
    axes: &[Axis],
    variants: &[Variant],
    measures: &[String],
) -> Result<(), Fault> {
    let Some(fields) = file.table("report")? else {
        return Ok(());
    };
    let axes: Vec<&str> = (axes.iter().map(|axis| axis.name.as_str()))
        .chain(["variant", "stack"])
        .collect();
    let variants: Vec<&str> = variants.iter().map(|v| v.name.as_str()).collect();
    let measures: Vec<&str> = measures.iter().map(String::as_str).collect();
    for (key, what, known) in [
        ("x", "axis", &axes),
        ("y", "axis", &axes),
        ("variant", "variant", &variants),
        ("base", "variant", &variants),
        ("measure", "measure in `measures`", &measures),
    ] {
        let (Some(node), Some(name)) = (fields.node(key), fields.text(key)?) else {
            continue;
        };
        if !known.contains(&name) {
            let fault = fields.fault(key, node, format!("there is no {what} called `{name}`"));
            return Err(fault.suggest(name, known.iter().copied()));
        }
    }
    match (fields.node("y"), fields.text("x")?, fields.text("y")?) {
        (Some(node), Some(x), Some(y)) if x == y => Err(fields.fault(
            "y",
            node,
            "the axis to the right and the one downwards are the same",
        )),
        _ => Ok(()),
    }
}
