//! The grid over two axes that a file's `[report]` asks for: what each variant changes, in per cent of the base.

use crate::matrix::{Matrix, Open};
use crate::terminal::Theme;
use crate::terminal::style::Ink;
use crate::terminal::table::{Align, Cell, Table};

/// One table for each value of the axis of the base but the base itself; without a base one table of values.
pub fn grids(matrix: &Matrix, band_percent: f64, theme: &Theme) -> String {
    let open = &matrix.open;
    let (Some(x), Some(y)) = (open.x, open.y) else {
        return String::new();
    };
    let name = |axis: usize, value: usize| matrix.axes[axis].labels[value].clone();
    let measure = matrix.measures.get(open.measure).map_or("", String::as_str);
    let (down, right) = (&matrix.axes[y].name, &matrix.axes[x].name);
    let others = (0..matrix.axes.len()).filter(|i| ![x, y].contains(i));
    let others = others.filter(|i| open.base.is_none_or(|(axis, _)| axis != *i));
    let others: String = others
        .map(|i| format!("; {} {}", matrix.axes[i].name, name(i, open.pinned[i])))
        .collect();
    let of = match matrix.cells.iter().any(|cell| cell.runs > 1) {
        true => " (medians of the repetitions)",
        false => "",
    };
    let mut out = String::new();
    match open.base {
        None => {
            out += &format!("{measure}{of}; rows: {down}, columns: {right}{others}\n\n");
            out += &grid(matrix, open, 0.0, (x, y), theme);
        }
        Some((axis, base)) => {
            for value in (0..matrix.axes[axis].labels.len()).filter(|v| *v != base) {
                let mut open = open.clone();
                open.pinned[axis] = value;
                let (this, from) = (name(axis, value), name(axis, base));
                out += &format!(
                    "{measure}{of}: change of {this} from {from} in percent (up to {band_percent} % counts as equal); \
                     rows: {down}, columns: {right}{others}\n\n"
                );
                out += &grid(matrix, &open, band_percent, (x, y), theme);
                out.push('\n');
            }
            out.truncate(out.trim_end().len());
            out.push('\n');
        }
    }
    out
}

fn grid(matrix: &Matrix, open: &Open, band: f64, (x, y): (usize, usize), theme: &Theme) -> String {
    let (across, down) = (&matrix.axes[x], &matrix.axes[y]);
    let mut columns = vec![("", Align::Left)];
    columns.extend(
        across
            .labels
            .iter()
            .map(|label| (label.as_str(), Align::Right)),
    );
    let mut table = Table::new(&columns);
    for (row, label) in down.labels.iter().enumerate() {
        let mut cells = vec![Cell::from(label.as_str())];
        for column in 0..across.labels.len() {
            let mut at = open.pinned.clone();
            (at[x], at[y]) = (column, row);
            cells.push(figure(matrix, open, &at, band));
        }
        table.row(cells);
    }
    table.render(theme)
}

fn figure(matrix: &Matrix, open: &Open, at: &[usize], band: f64) -> Cell {
    match open.base {
        Some(base) => match matrix.change(at, open.measure, base) {
            None => "-".into(),
            Some(change) if change.abs() <= band => Cell::inked(signed(change), Ink::Dim),
            Some(change) => signed(change).into(),
        },
        None => {
            let cell = matrix.cell(at);
            let value = cell.and_then(|cell| *cell.values.get(open.measure)?);
            let unit = matrix.units.get(open.measure).copied().unwrap_or_default();
            value.map_or("-".into(), |[median, ..]| unit.text(median).into())
        }
    }
}

/// `+17`, `-2`, `0`.
fn signed(change: f64) -> String {
    match change.round() {
        0.0 => "0".to_owned(),
        whole => format!("{whole:+.0}"),
    }
}
