//! A table in plain text: columns sized by their content, figures to the right. Own code because
//! the report chooses between layouts by the width that a table would need.

use super::Theme;
use super::style::{Ink, safe};

/// Where the text of a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Text.
    Left,
    /// Figures.
    Right,
}

/// A cell: its text, and its colour.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    text: String,
    ink: Option<Ink>,
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, ink: None }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl Cell {
    /// A coloured cell.
    pub fn inked(text: impl Into<String>, ink: Ink) -> Self {
        Self {
            text: text.into(),
            ink: Some(ink),
        }
    }
}

/// A table with a heading; the name of a column may have several lines, of which the last ones stand side by side.
#[derive(Clone, Debug)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<Cell>>,
    indent: usize,
}

impl Table {
    /// With these columns.
    pub fn new(columns: &[(&str, Align)]) -> Self {
        let columns = columns.iter().map(|(n, a)| ((*n).to_owned(), *a));
        Self {
            columns: columns.collect(),
            rows: Vec::new(),
            indent: 2,
        }
    }

    /// Blanks before each line, 2 unless told.
    pub fn indent(&mut self, blanks: usize) {
        self.indent = blanks;
    }

    /// Adds a row; missing cells are empty.
    pub fn row(&mut self, mut cells: Vec<Cell>) {
        // A line end in a name would break the table.
        for cell in &mut cells {
            cell.text = safe(&cell.text);
        }
        self.rows.push(cells);
    }

    /// Removes the columns in which every cell is empty or one of `nothing`.
    pub fn drop_empty(&mut self, nothing: &[&str]) {
        let says_nothing = |row: &Vec<Cell>, i: usize| {
            row.get(i)
                .is_none_or(|c| c.text.is_empty() || nothing.contains(&c.text.as_str()))
        };
        for i in (0..self.columns.len()).rev() {
            if self.rows.iter().all(|row| says_nothing(row, i)) {
                self.columns.remove(i);
                for row in self.rows.iter_mut().filter(|r| i < r.len()) {
                    row.remove(i);
                }
            }
        }
    }

    fn widths(&self) -> Vec<usize> {
        let cell = |row: &Vec<Cell>, i| row.get(i).map_or(0, |c: &Cell| c.text.chars().count());
        let column = |(i, (name, _)): (usize, &(String, Align))| {
            let widest = self.rows.iter().map(|row| cell(row, i)).max();
            let name = name.lines().map(|line| line.chars().count()).max();
            widest.max(name).unwrap_or(0)
        };
        self.columns.iter().enumerate().map(column).collect()
    }

    /// Columns of the terminal that it needs.
    pub fn width(&self) -> usize {
        let gaps = 2 * self.columns.len().saturating_sub(1);
        self.indent + gaps + self.widths().iter().sum::<usize>()
    }

    /// Lines of the heading.
    pub fn heading(&self) -> usize {
        let lines = self.columns.iter().map(|(name, _)| name.lines().count());
        lines.max().unwrap_or(0).max(1)
    }

    /// Draws it.
    pub fn render(&self, theme: &Theme) -> String {
        let widths = self.widths();
        let most = self.heading();
        let mut out = String::new();
        for line in 0..most {
            let part = |name: &str| {
                let before = most.saturating_sub(name.lines().count());
                let part = line.checked_sub(before).and_then(|n| name.lines().nth(n));
                Cell::inked(part.unwrap_or(""), Ink::Dim)
            };
            let heading: Vec<Cell> = self.columns.iter().map(|(name, _)| part(name)).collect();
            out.push_str(&self.line(theme, &heading, &widths));
        }
        for row in &self.rows {
            out.push_str(&self.line(theme, row, &widths));
        }
        out
    }

    fn line(&self, theme: &Theme, cells: &[Cell], widths: &[usize]) -> String {
        let mut out = " ".repeat(self.indent);
        let empty = Cell::default();
        let mut pad = 0;
        for (i, ((_, align), width)) in self.columns.iter().zip(widths).enumerate() {
            let cell = cells.get(i).unwrap_or(&empty);
            let space = width.saturating_sub(cell.text.chars().count());
            let (before, after) = match align {
                Align::Left => (0, space),
                Align::Right => (space, 0),
            };
            out.push_str(&" ".repeat(pad + before));
            match cell.ink {
                Some(ink) => out.push_str(&theme.paint(ink, &cell.text)),
                None => out.push_str(&cell.text),
            }
            // Written before the next cell only: no blanks at the end of a line.
            pad = after + 2;
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aligns_and_leaves_no_blanks_at_the_end() {
        let mut t = Table::new(&[
            ("name", Align::Left),
            ("n", Align::Right),
            ("x", Align::Left),
        ]);
        t.row(vec!["a".into(), "100".into()]);
        t.row(vec!["bcdef".into(), "7".into()]);
        t.drop_empty(&[]);
        let text = t.render(&Theme::default());
        assert_eq!(text, "  name     n\n  a      100\n  bcdef    7\n");
        assert_eq!(t.width(), text.lines().map(str::len).max().unwrap());
    }
}
