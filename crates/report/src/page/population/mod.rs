//! The pages of populations: a run's result (`tcplab.page-population/1`), its variants (`tcplab.page-variants/1`),
//! and the distributions (`tcplab.page-distributions/1`). The same built page shows them; the schema says which it
//! is.

mod points;

use std::io::{self, Write};

use serde::Serialize;
use tcplab_plan::population::{Effect, PopulationDocument};

use super::write_document;

pub use points::Points;

/// Connections that the page can look into, over all arms.
pub const MAX_LOOKS: usize = 12;

/// What the page of a result shows.
#[derive(Clone, Debug)]
pub struct Outcome<'a> {
    /// The run's document.
    pub document: &'a PopulationDocument,
    /// Band in which a quantity is the same, in per cent.
    pub band_percent: f64,
    /// Whether a row of this id is held against the band.
    pub has_band: fn(&str) -> bool,
    /// Outliers that were run again, [`MAX_LOOKS`] at most.
    pub looks: &'a [Look],
}

/// A connection that was run again in the baseline and in one arm.
#[derive(Clone, Debug, Serialize)]
pub struct Look {
    /// Its number.
    pub connection: u64,
    /// The arm.
    pub arm: String,
    /// Time of all its responses in the arm, less that in the baseline.
    pub difference_us: i64,
    /// What was drawn for it: name and words.
    pub drawn: Vec<(String, String)>,
    /// The command that runs it again.
    pub command: String,
    /// The baseline, then the arm.
    pub sides: [Side; 2],
}

/// What a connection did in one arm.
#[derive(Clone, Debug, Serialize)]
pub struct Side {
    /// The arm.
    pub arm: String,
    /// Time of each response as the client saw it, in microseconds.
    pub responses_us: Vec<i64>,
    /// Counters of the server by nstat's names.
    pub counters: Vec<(String, i64)>,
    /// Its packets.
    pub points: Points,
}

#[derive(Serialize)]
struct ResultPage<'a> {
    schema: &'static str,
    version: &'static str,
    band_percent: f64,
    /// Ids of rows that are held against the band.
    banded: Vec<&'a str>,
    result: &'a PopulationDocument,
    looks: &'a [Look],
}

impl<'a> ResultPage<'a> {
    fn new(result: &Outcome<'a>) -> Self {
        let ids = result.document.rows.iter().map(|row| row.id.as_str());
        let mut banded: Vec<&str> = ids.filter(|id| (result.has_band)(id)).collect();
        banded.dedup();
        Self {
            schema: "tcplab.page-population/1",
            version: env!("CARGO_PKG_VERSION"),
            band_percent: result.band_percent,
            banded,
            result: result.document,
            looks: &result.looks[..result.looks.len().min(MAX_LOOKS)],
        }
    }
}

#[derive(Serialize)]
struct VariantsPage<'a> {
    schema: &'static str,
    version: &'static str,
    /// Every row from variant to variant.
    effects: &'a [Effect],
    variants: Vec<ResultPage<'a>>,
}

#[derive(Serialize)]
struct DistributionsPage<'a, T> {
    schema: &'static str,
    version: &'static str,
    shown: &'a T,
}

/// Writes the page of a result.
///
/// # Errors
/// Those of `out`.
pub fn write_result(result: &Outcome<'_>, out: &mut impl Write) -> io::Result<()> {
    write_document(&ResultPage::new(result), out)
}

/// Writes the page of several variants of a population, and of what becomes of each row.
///
/// # Errors
/// As [`write_result`].
pub fn write_variants(
    effects: &[Effect],
    variants: &[Outcome<'_>],
    out: &mut impl Write,
) -> io::Result<()> {
    let page = VariantsPage {
        schema: "tcplab.page-variants/1",
        version: env!("CARGO_PKG_VERSION"),
        effects,
        variants: variants.iter().map(ResultPage::new).collect(),
    };
    write_document(&page, out)
}

/// Writes the page of what a population draws: the document of `tcplab population show --json`.
///
/// # Errors
/// Those of `out`.
pub fn write_distributions(shown: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    let page = DistributionsPage {
        schema: "tcplab.page-distributions/1",
        version: env!("CARGO_PKG_VERSION"),
        shown,
    };
    write_document(&page, out)
}

#[cfg(test)]
mod tests;
