//! A table, row by row.

use crate::cells::Cells;
use crate::field::Field;

/// Rows of a batch: what programs that read tables like, and few enough for texts of 16 KiB each.
pub const ROWS: usize = 1 << 17;

/// Bytes of a text that are kept; no name, message or list of ours is as long.
const MOST_TEXT: usize = 16_000;

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns.
    pub fields: Vec<Field>,
    /// Its rows.
    pub batches: Vec<Batch>,
}

/// Some of the rows, by columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// One for each field.
    pub columns: Vec<Cells>,
    /// Rows in it.
    pub rows: usize,
}

impl Table {
    /// One without rows.
    pub fn new(name: &'static str, fields: Vec<Field>) -> Self {
        Self {
            name,
            fields,
            batches: Vec::new(),
        }
    }

    /// Rows of all batches.
    pub fn rows(&self) -> usize {
        self.batches.iter().map(|batch| batch.rows).sum()
    }

    /// The batch that has room.
    #[inline]
    fn open(&mut self) -> &mut Batch {
        if self.batches.last().is_none_or(|last| last.rows == ROWS) {
            let columns = self.fields.iter().map(|field| Cells::of(field.kind));
            let mut columns: Vec<Cells> = columns.collect();
            if !self.batches.is_empty() {
                columns.iter_mut().for_each(|cells| cells.reserve(ROWS));
            }
            self.batches.push(Batch { columns, rows: 0 });
        }
        // Never empty: the branch above has pushed one if needed.
        let last = self.batches.len() - 1;
        &mut self.batches[last]
    }

    /// Adds a row for each of `items`, column by column: many times as fast as row by row. `fill` gets the columns and some of
    /// the items, and adds a cell for each to every column.
    pub(crate) fn extend<T>(&mut self, mut items: &[T], mut fill: impl FnMut(&mut [Cells], &[T])) {
        while !items.is_empty() {
            let batch = self.open();
            let (now, later) = items.split_at(items.len().min(ROWS - batch.rows));
            fill(&mut batch.columns, now);
            batch.rows += now.len();
            items = later;
        }
    }

    /// Begins a row.
    #[inline]
    pub fn row(&mut self) -> Row<'_> {
        let batch = self.open();
        batch.rows += 1;
        Row {
            cells: batch.columns.iter_mut(),
        }
    }

    /// Sorts the rows by a column of whole numbers; rows with the same number stay in their order. A table that lacks the
    /// column, or is in order, stays as it is.
    pub fn sort(&mut self, column: &str) {
        let Some(column) = self.fields.iter().position(|field| field.name == column) else {
            return;
        };
        let batches = self.batches.iter().enumerate();
        let keys = batches.flat_map(|(at, batch)| {
            let key = move |row| match &batch.columns[column] {
                Cells::Int(cells) => cells.get(row),
                _ => None,
            };
            (0..batch.rows).map(move |row| (key(row), at, row))
        });
        if keys.clone().is_sorted() {
            return;
        }
        let mut order: Vec<(Option<i64>, usize, usize)> = keys.collect();
        order.sort_unstable();
        let old = std::mem::take(&mut self.batches);
        for (_, at, row) in order {
            self.row().copy(&old[at], row);
        }
    }

    /// Appends to the text of the last row in a column.
    pub(crate) fn lengthen(&mut self, column: usize, by: &str) {
        let batch = self.batches.last_mut();
        if let Some(Cells::Text(texts)) = batch.and_then(|batch| batch.columns.get_mut(column)) {
            texts.lengthen(by);
        }
    }

    /// Each row as CSV writes it.
    pub fn plain(&self) -> impl Iterator<Item = Vec<String>> {
        self.batches.iter().flat_map(|batch| {
            let row = |at| batch.columns.iter().map(move |cells| cells.plain(at));
            (0..batch.rows).map(move |at| row(at).collect())
        })
    }
}

/// A row in the making: its cells from left to right.
#[derive(Debug)]
pub struct Row<'a> {
    cells: std::slice::IterMut<'a, Cells>,
}

impl Row<'_> {
    /// A whole number. One that needs more than 63 bits is missing: none of ours does.
    #[inline]
    pub fn int(&mut self, n: impl TryInto<i64>) {
        self.maybe(n.try_into().ok());
    }

    /// A whole number, or none.
    #[inline]
    pub fn maybe(&mut self, n: Option<i64>) {
        if let Some(cells) = self.cells.next() {
            cells.int(n);
        }
    }

    /// A whole number without a sign, or none.
    pub fn unsigned(&mut self, n: Option<u64>) {
        if let Some(cells) = self.cells.next() {
            cells.unsigned(n);
        }
    }

    /// A number, or none.
    pub fn float(&mut self, n: Option<f64>) {
        if let Some(cells) = self.cells.next() {
            cells.float(n);
        }
    }

    /// A text; its first 16,000 bytes.
    #[inline]
    pub fn text(&mut self, text: &str) {
        self.maybe_text(Some(text));
    }

    /// A text, or none.
    #[inline]
    pub fn maybe_text(&mut self, text: Option<&str>) {
        let text = text.map(beginning);
        if let Some(cells) = self.cells.next() {
            cells.text(text);
        }
    }

    /// The row, and with it the table, is not going to be whole.
    pub fn give_up(&mut self) {
        self.cells = [].iter_mut();
    }

    /// All cells of a row of a table with the same columns.
    fn copy(&mut self, from: &Batch, row: usize) {
        for cells in &from.columns {
            match cells {
                Cells::Int(cells) => self.maybe(cells.get(row)),
                Cells::Unsigned(cells) => self.unsigned(cells.get(row)),
                Cells::Float(cells) => self.float(cells.get(row)),
                Cells::Text(cells) => self.maybe_text(cells.get(row)),
                Cells::Word(cells) => self.maybe_text(cells.get(row)),
                Cells::Flag(cells) => self.maybe_flag(cells.get(row)),
            }
        }
    }

    /// Yes or no.
    #[inline]
    pub fn flag(&mut self, is: bool) {
        self.maybe_flag(Some(is));
    }

    /// Yes, no, or neither.
    #[inline]
    pub fn maybe_flag(&mut self, is: Option<bool>) {
        if let Some(cells) = self.cells.next() {
            cells.flag(is);
        }
    }
}

/// What is kept of a text.
#[inline]
fn beginning(text: &str) -> &str {
    if text.len() <= MOST_TEXT {
        return text;
    }
    let is_end = |at: &usize| text.is_char_boundary(*at);
    let end = (0..=MOST_TEXT).rev().find(is_end).unwrap_or(0);
    &text[..end]
}

impl Drop for Row<'_> {
    fn drop(&mut self) {
        debug_assert!(self.cells.next().is_none(), "a row lacks cells");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Kind;

    #[test]
    fn rows_come_back_with_what_is_missing() {
        let fields = Field::all(&[
            ("at_ns", Kind::Int, "When."),
            ("name", Kind::Text, "Who."),
            ("share", Kind::Float, "How much."),
            ("is_sent", Kind::Flag, "Whether."),
        ]);
        let mut table = Table::new("test", fields);
        for n in 0..3 {
            let mut row = table.row();
            row.maybe((n != 1).then_some(n));
            row.maybe_text((n != 2).then_some("ä"));
            row.float((n != 0).then_some(0.5));
            row.flag(n == 1);
        }
        let rows: Vec<_> = table.plain().collect();
        assert_eq!(rows[0], ["0", "ä", "", "false"]);
        assert_eq!(rows[1], ["", "ä", "0.5", "true"]);
        assert_eq!(rows[2], ["2", "", "0.5", "false"]);
    }

    #[test]
    fn sorting_keeps_equal_rows_in_their_order() {
        let fields = [("stream", Kind::Int, ""), ("name", Kind::Text, "")];
        let mut table = Table::new("test", Field::all(&fields));
        for (n, name) in [(3, "a"), (1, "b"), (3, "c"), (0, "d")] {
            let mut row = table.row();
            row.int(n);
            row.text(name);
        }
        table.sort("stream");
        let names: Vec<_> = table.plain().map(|row| row[1].clone()).collect();
        assert_eq!(names, ["d", "b", "a", "c"]);
    }

    #[test]
    fn batches_are_bounded_and_long_texts_are_cut() {
        let mut table = Table::new("test", Field::all(&[("text", Kind::Text, "")]));
        for _ in 0..=ROWS {
            table.row().text("x");
        }
        table.row().text(&"ä".repeat(10_000));
        let rows: Vec<_> = table.batches.iter().map(|batch| batch.rows).collect();
        assert_eq!((rows, table.rows()), (vec![ROWS, 2], ROWS + 2));
        assert_eq!(table.batches[1].columns[0].plain(1).len(), 16_000);
    }
}
