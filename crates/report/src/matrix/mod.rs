//! A result of points as a matrix: axes whose values have short labels, and in each cell the measures of its
//! repetitions. The terminal's grid and the page's heat map are made of it.

mod labels;
mod over_time;

use std::collections::BTreeMap;

use serde::Serialize;
use tcplab_plan::measure::{Described, IS_SLOWEST, Unit};
use tcplab_plan::result::{PointResult, RunDocument};
use tcplab_plan::view::View;

pub use over_time::{Band, FlowLine, GroupLines, Lines, OverTime, WayLines};

/// Cells at most; those of later points are left out.
const MAX_CELLS: usize = 20_000;

/// The name of the axis of variants, of stacks, of repetitions.
const VARIANT: &str = "variant";
const STACK: &str = "stack";
const REPEAT: &str = "repeat";

/// All points of a result by their place on the axes.
#[derive(Debug, Serialize)]
pub struct Matrix {
    /// Axes with more than one value: those of the file (the last one moves fastest), `variant`, `stack`.
    pub axes: Vec<Axis>,
    /// Names of the measures.
    pub measures: Vec<String>,
    /// Their units.
    pub units: Vec<Unit>,
    /// Each place that has a point, in the order of the points.
    pub cells: Vec<Cell>,
    /// What is shown first.
    pub open: Open,
    /// Places that have no cell here because there are too many.
    pub left_out: usize,
}

/// One dimension.
#[derive(Debug, Serialize)]
pub struct Axis {
    /// Its name in the file.
    pub name: String,
    /// Its values as a person reads them.
    pub labels: Vec<String>,
}

/// What the repetitions of a point gave.
#[derive(Debug, Serialize)]
pub struct Cell {
    /// Its value on each axis.
    pub at: Vec<usize>,
    /// Points in it.
    pub runs: usize,
    /// Of each measure: median, least and most; nothing where no repetition has a value, or one without
    /// a value has a larger one than all others.
    pub values: Vec<Option<[f64; 3]>>,
    /// Points that have a value of a measure, by its number; left out where that is all or none of them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub known: BTreeMap<usize, usize>,
    /// Why a measure has no value, or the first reason of those without one, by its number.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub why: BTreeMap<usize, String>,
}

/// What is shown first, by numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Open {
    /// Axis to the right; `None` if there is no axis.
    pub x: Option<usize>,
    /// Axis downwards.
    pub y: Option<usize>,
    /// The measure.
    pub measure: usize,
    /// A value on each axis; for axes to the right and downwards without meaning.
    pub pinned: Vec<usize>,
    /// The axis and its value that all is compared with.
    pub base: Option<(usize, usize)>,
}

impl Matrix {
    /// The matrix of a result; `view` chooses what is shown first.
    pub fn of(document: &RunDocument, described: &[Described], view: &View) -> Self {
        let measures: Vec<String> = described.iter().map(|one| one.name.clone()).collect();
        let found = labels::axes(&document.points);
        let mut cells: Vec<Cell> = Vec::new();
        let mut at: BTreeMap<Vec<usize>, Vec<&PointResult>> = BTreeMap::new();
        let mut order = Vec::new();
        for point in &document.points {
            let place: Vec<usize> = found.iter().map(|axis| axis.place(point)).collect();
            let points = at.entry(place.clone()).or_default();
            if points.is_empty() {
                order.push(place);
            }
            points.push(point);
        }
        let left_out = order.len().saturating_sub(MAX_CELLS);
        for place in order.into_iter().take(MAX_CELLS) {
            if let Some(points) = at.get(&place) {
                cells.push(Cell::of(place, points, &measures));
            }
        }
        let axes: Vec<Axis> = found.into_iter().map(|axis| axis.axis).collect();
        let open = open(&axes, &measures, view);
        Self {
            axes,
            measures,
            units: described.iter().map(|one| one.unit).collect(),
            cells,
            open,
            left_out,
        }
    }

    /// The cell at this place.
    pub fn cell(&self, at: &[usize]) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.at == at)
    }

    /// By how many per cent the median of a measure differs from that at the base; none: one has no value, or the
    /// base's is 0.
    pub fn change(&self, at: &[usize], measure: usize, base: (usize, usize)) -> Option<f64> {
        let mut from = at.to_vec();
        *from.get_mut(base.0)? = base.1;
        let median = |at: &[usize]| {
            let values = self.cell(at)?.values.get(measure).copied()?;
            values.map(|[median, ..]| median)
        };
        let (value, from) = (median(at)?, median(&from)?);
        (from != 0.0).then(|| (value / from - 1.0) * 100.0)
    }
}

impl Cell {
    fn of(at: Vec<usize>, points: &[&PointResult], measures: &[String]) -> Self {
        let (mut known, mut why) = (BTreeMap::new(), BTreeMap::new());
        let values = measures.iter().enumerate().map(|(number, name)| {
            let value = |point: &&PointResult| point.measures.get(name).copied().flatten();
            let mut values: Vec<f64> = points.iter().filter_map(value).collect();
            values.sort_by(f64::total_cmp);
            let missing = points.iter().filter_map(|point| point.missing.get(name));
            let slowest = { missing }.find(|why| why.contains(IS_SLOWEST));
            let all = median(&values).zip(values.first().zip(values.last()));
            let all = all.filter(|_| slowest.is_none());
            if values.len() < points.len() {
                if all.is_some() {
                    known.insert(number, values.len());
                }
                let reason = |p: &&PointResult| p.error.clone().or(p.missing.get(name).cloned());
                let without = points.iter().filter(|p| value(p).is_none());
                let reason = without.filter_map(reason).next();
                let reason = slowest.cloned().or(reason);
                why.insert(number, reason.unwrap_or_else(|| "no value".to_owned()));
            }
            all.map(|(median, (least, most))| [median, *least, *most].map(shown))
        });
        Self {
            values: values.collect(),
            at,
            runs: points.len(),
            known,
            why,
        }
    }
}

/// A value in nine digits: more are noise, and those of a file that was read again may differ in the last one.
fn shown(value: f64) -> f64 {
    format!("{value:.8e}").parse().unwrap_or(value)
}

/// The middle value; of an even number of values, the mean of the two in the middle.
fn median(sorted: &[f64]) -> Option<f64> {
    let upper = *sorted.get(sorted.len() / 2)?;
    let lower = *sorted.get((sorted.len() - 1) / 2)?;
    Some(f64::midpoint(lower, upper))
}

/// The numbers of what the file wants to be shown, or of the usual: the last axis to the right and the one before it
/// downwards, the second variant against the first.
fn open(axes: &[Axis], measures: &[String], view: &View) -> Open {
    let axis = |name: &Option<String>| {
        let name = name.as_ref()?;
        axes.iter().position(|axis| &axis.name == name)
    };
    let (wanted_x, wanted_y) = (axis(&view.x), axis(&view.y));
    let mut own = (0..axes.len())
        .filter(|&i| ![VARIANT, STACK].contains(&axes[i].name.as_str()))
        .rev()
        .chain((0..axes.len()).filter(|&i| [VARIANT, STACK].contains(&axes[i].name.as_str())));
    let x = wanted_x.or_else(|| own.by_ref().find(|&i| Some(i) != wanted_y));
    let y = wanted_y.or_else(|| own.find(|&i| Some(i) != x));
    let variant = axes.iter().position(|axis| axis.name == VARIANT);
    let mut pinned = vec![0; axes.len()];
    let mut base = None;
    if let Some(variant) = variant.filter(|v| Some(*v) != x && Some(*v) != y) {
        let labels = &axes[variant].labels;
        let named = |name: &Option<String>| {
            let name = name.as_ref()?;
            labels.iter().position(|label| label == name)
        };
        let from = named(&view.base).unwrap_or(0);
        pinned[variant] = named(&view.variant).unwrap_or(usize::from(from == 0));
        base = Some((variant, from));
    }
    let wanted = |name: &String| measures.iter().position(|measure| measure == name);
    Open {
        x,
        y,
        measure: view.measure.as_ref().and_then(wanted).unwrap_or(0),
        pinned,
        base,
    }
}

#[cfg(test)]
mod tests;
