//! Before and after: what many tools measured as plain data, the table of what changed, and what a careful reader
//! would object to. Level 2 of the map: text comes in, nothing is opened here.
//!
//! - [`Metrics`]: the document `tcplab.metrics/1`: arms, metrics with their runs, counts of tests.
//! - [`import`]: one file for each format that becomes one.
//! - [`compare`]: two arms become a [`Comparison`] (`tcplab.compare/1`): rows with intervals and verdicts, flags.

mod answers;
mod check;
mod comparison;
mod exact;
pub mod import;
mod join;
mod metrics;
mod pairs;
mod qa;
mod row;
mod shown;
mod suites;
mod table;
mod units;

pub use answers::{Answer, Answers, Figure, answers};
pub use comparison::{COMPARE_SCHEMA, Comparison, Flag, FlagKind, Summary};
pub use metrics::{
    Arm, Better, Combine, Count, METRICS_SCHEMA, Metric, Metrics, Noise, Remark, RemarkKind, Role,
    Run, Source, TestResult,
};
pub use qa::{QA_SCHEMA, QaDocument, Section, Standing};
pub use row::{CountRow, Row, Verdict};
pub use table::{Options, compare};
