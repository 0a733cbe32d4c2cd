//! Axes and settings of the command line that change no point: other keys override them. Results would show rows that
//! differ by chance or not at all, under different labels.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use super::drawn::Draws;
use super::setting::Settings;
use super::tree::{Choice, Node, Value};
use super::{Experiment, Matrix, axes};
use crate::point::Point;

impl Experiment {
    /// A warning for each axis all of whose values give the same points, and for each setting that changes no point.
    pub(super) fn idle(&self) -> Vec<String> {
        let mut found = self.idle_axes();
        found.extend(self.idle_settings());
        found
    }

    fn idle_axes(&self) -> Vec<String> {
        // An axis may act in some variants only.
        let (mut idle, mut acts) = (BTreeSet::new(), BTreeSet::new());
        for matrix in self.matrices(&self.settings).flatten() {
            for axis in &matrix.axes {
                let mut values = (0..axis.values.len()).map(|value| {
                    let mut choice = axes::choose(&matrix.axes, 0);
                    choice.insert(axis.name.clone(), value);
                    self.unlabelled(&matrix, &choice)
                });
                let first = values.next();
                let is_idle = values.len() > 0 && values.all(|value| Some(value) == first);
                let of = if is_idle { &mut idle } else { &mut acts };
                of.insert(axis.name.clone());
            }
        }
        let say = |name: &String| {
            format!(
                "the axis `{name}` changes nothing: its values are equal, or other keys override them all"
            )
        };
        idle.difference(&acts).map(say).collect()
    }

    fn idle_settings(&self) -> Vec<String> {
        let is_idle = |number: &usize| {
            let before = self.settings.without(*number);
            let mut both = (self.matrices(&before)).zip(self.matrices(&self.settings));
            both.all(|both| match both {
                (Ok(before), Ok(after)) => self.is_idle(&before, &after),
                _ => false,
            })
        };
        let paths = self.settings.paths();
        let idle = paths
            .enumerate()
            .filter(|(number, _)| is_idle(number))
            .map(|(_, path)| {
                format!(
                    "--set {path} changes nothing: other keys override it, or it is the default"
                )
            });
        idle.collect()
    }

    /// Whether the second tree says something else, and all its points are the same.
    fn is_idle(&self, before: &Matrix<'_>, after: &Matrix<'_>) -> bool {
        let written = |matrix: &Matrix<'_>| -> Json {
            let value = Value::Table(matrix.tree.clone());
            Node { span: 0..0, value }.to_json()
        };
        let names = |matrix: &Matrix<'_>| -> Vec<(String, Vec<Json>)> {
            let axes = matrix.axes.iter();
            axes.map(|axis| (axis.name.clone(), axis.values.clone()))
                .collect()
        };
        if names(before) != names(after) || written(before) == written(after) {
            return false;
        }
        let first = axes::choose(&after.axes, 0);
        let others = after.axes.iter().flat_map(|axis| {
            let one = |value| {
                let mut choice = first.clone();
                choice.insert(axis.name.clone(), value);
                choice
            };
            (1..axis.values.len()).map(one).collect::<Vec<_>>()
        });
        std::iter::once(first.clone())
            .chain(others)
            .all(|choice| self.unlabelled(before, &choice) == self.unlabelled(after, &choice))
    }

    /// A point without the names of its axes' values; `None` if it cannot be.
    fn unlabelled(&self, matrix: &Matrix<'_>, choice: &Choice) -> Option<(Point, Draws)> {
        let (mut point, draws) = self.point(matrix, choice).ok()?;
        point.axes = BTreeMap::new();
        Some((point, draws))
    }
}

impl Settings {
    /// All but one of them.
    fn without(&self, number: usize) -> Self {
        let mut others = self.clone();
        others.sets.sets.remove(number);
        others
    }

    fn paths(&self) -> impl Iterator<Item = &str> {
        self.sets.sets.iter().map(|(path, _)| path.as_str())
    }
}
