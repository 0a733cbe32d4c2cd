//! Results as tables: points, connections, series of a run; streams, findings, ACKs, packets of a capture. Level 3 of the map.
//!
//! A table has a name, columns with a unit and a sentence each, and rows in batches of bounded size. It is here once for
//! every form that a table has: CSV and Parquet of the command, Arrow in Python.

pub mod capture;
mod cells;
mod field;
pub mod run;
mod table;

pub use cells::{Cells, Nullable, Texts, Words};
pub use field::{Field, Kind, unit_of};
pub use table::{Batch, ROWS, Row, Table};
