//! `--flows`: one row for each stream as Parquet, behind the cargo feature `parquet`.

#[cfg(not(feature = "parquet"))]
mod absent;
#[cfg(feature = "parquet")]
mod writer;

#[cfg(not(feature = "parquet"))]
pub use absent::Flows;
#[cfg(feature = "parquet")]
pub use writer::Flows;
