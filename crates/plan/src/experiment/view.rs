//! `[report]`: what the page of a result shows first.

use super::axes::Axis;
use super::error::Fault;
use super::fields::Fields;
use super::keys::{REPORT, report};
use super::variant::Variant;
use crate::view::View;

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
    Ok(View {
        title,
        x: fields.find(&report::X)?,
        y: fields.find(&report::Y)?,
        measure: fields.find(&report::MEASURE)?,
        variant: fields.name(&report::VARIANT)?,
        base: fields.name(&report::BASE)?,
        band_ppb: fields.get(&report::BAND)?,
    })
}

/// Refuses axes and variants that the file does not have. Measures are checked elsewhere, with the others.
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
        (&report::X, "axis", &axes),
        (&report::Y, "axis", &axes),
        (&report::VARIANT, "variant", &variants),
        (&report::BASE, "variant", &variants),
        (&report::MEASURE, "measure in `measures`", &measures),
    ] {
        let (Some(node), Some(name)) = (fields.node(key), fields.text(key)?) else {
            continue;
        };
        if !known.contains(&name) {
            let fault = fields.fault(key, node, format!("no {what} is named `{name}`"));
            return Err(fault.suggest(name, known.iter().copied()));
        }
    }
    match (
        fields.node(&report::Y),
        fields.text(&report::X)?,
        fields.text(&report::Y)?,
    ) {
        (Some(node), Some(x), Some(y)) if x == y => Err(fields.fault(
            &report::Y,
            node,
            "the horizontal and the vertical axis are the same",
        )),
        _ => Ok(()),
    }
}
