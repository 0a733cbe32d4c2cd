//! The result folder of a population, or of a variant: `manifest.json`, `population.toml`, `groups.bin`,
//! `summary.json`, and, if rows are wanted, `rows.parquet` (`rows.bin` of a shard).

use std::path::Path;

use serde::{Deserialize, Serialize};
use tcplab_plan::Population;
use tcplab_plan::population::PopulationDocument;

use super::Request;
use crate::digest;
use crate::error::LabError;
use crate::folder::{begin_or_resume, must_be_empty, pretty, read, write};
use crate::manifest::plain;
use crate::shard::Shard;

/// `schema` of a [`Manifest`].
const SCHEMA: &str = "tcplab.population-manifest/1";

/// What was run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    schema: String,
    pub(super) experiment: String,
    /// The variant of its file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) variant: Option<String>,
    pub(super) stack: String,
    pub(super) seed: u64,
    pub(super) connections: u64,
    pub(super) shard: Shard,
    tcplab: String,
    program_sha256: String,
    population_sha256: String,
    /// A row for each connection and arm is kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) rows: bool,
}

impl Manifest {
    /// Whether both are shards of one run.
    pub(super) fn is_of(&self, other: &Self) -> bool {
        let alike = |m: &Self| Self {
            shard: Shard::WHOLE,
            ..m.clone()
        };
        self.shard.of() == other.shard.of() && alike(self) == alike(other)
    }
}

/// Opens a new folder, or one that the same run has begun.
pub(super) fn begin(folder: &Path, request: &Request<'_>, stack: &str) -> Result<(), LabError> {
    let program = digest::of_this_program().map_err(LabError::at(Path::new("/proc/self/exe")))?;
    let manifest = Manifest {
        schema: SCHEMA.to_owned(),
        experiment: request.population.name.clone(),
        variant: request.population.variant.clone(),
        stack: stack.to_owned(),
        seed: request.population.seed,
        connections: request.population.connections,
        shard: request.shard,
        tcplab: env!("CARGO_PKG_VERSION").to_owned(),
        program_sha256: program,
        population_sha256: digest::of_text(request.text),
        rows: request.rows.is_some(),
    };
    let beside = [("population.toml", request.text)];
    begin_or_resume(
        folder,
        &pretty(&manifest)?,
        &beside,
        |there| match is_but_for_rows(there, &manifest) {
            true => format!(
                "the same run started {} --rows",
                if manifest.rows { "without" } else { "with" }
            ),
            false => "the result of another population, seed, stack, shard or version".to_owned(),
        },
    )
}

/// Whether a manifest differs from another one only in the rows.
fn is_but_for_rows(text: &str, manifest: &Manifest) -> bool {
    let there = serde_json::from_str::<Manifest>(text);
    there.is_ok_and(|there| {
        let rows = manifest.rows;
        Manifest { rows, ..there } == *manifest
    })
}

/// What a folder says that it holds.
pub(super) fn manifest(folder: &Path) -> Result<Manifest, LabError> {
    let file = folder.join("manifest.json");
    let text = read(&file).map_err(LabError::at(&file))?;
    let wrong = |why: &str| {
        let file = file.display();
        LabError::Wrong(format!(
            "{file}: {why}: this is not a result of a population"
        ))
    };
    let manifest: Manifest = serde_json::from_str(&text).map_err(|e| wrong(&plain(&e)))?;
    match () {
        () if manifest.schema != SCHEMA => Err(wrong(&format!("the schema must be {SCHEMA}"))),
        () if !(1..=Population::MAX_CONNECTIONS).contains(&manifest.connections) => {
            Err(wrong(&format!(
                "connections: 1 to {} are allowed",
                Population::MAX_CONNECTIONS
            )))
        }
        () => Ok(manifest),
    }
}

/// The population that a folder is a result of.
///
/// # Errors
/// When the folder holds no result of a population.
pub fn of_folder(folder: &Path) -> Result<Population, LabError> {
    let manifest = manifest(folder)?;
    let file = folder.join("population.toml");
    let text = read(&file).map_err(LabError::at(&file))?;
    let name = file.display().to_string();
    if digest::of_text(&text) != manifest.population_sha256 {
        return Err(LabError::Wrong(format!(
            "{name}: the hash differs from manifest.json: restore the original file, or run the population again"
        )));
    }
    let found = match &manifest.variant {
        None => Population::parse(&name, &text).map(Some),
        Some(variant) => Population::variants(&name, &text).map(|all| {
            let is_it = |p: &Population| p.variant.as_ref() == Some(variant);
            all.into_iter().find(is_it)
        }),
    };
    let found = found.map_err(|e| LabError::Wrong(e.to_string()))?;
    let mut population = found.ok_or_else(|| {
        LabError::Wrong(format!("{name}: the variant differs from manifest.json"))
    })?;
    population.seed = manifest.seed;
    population.connections = manifest.connections;
    population.name = manifest.experiment;
    Ok(population)
}

/// Writes the manifest of a merged result, which is of this part of the run.
pub(super) fn merged(
    folder: &Path,
    of: &Manifest,
    shard: Shard,
    text: &str,
) -> Result<(), LabError> {
    must_be_empty(folder)?;
    let manifest = Manifest {
        shard,
        ..of.clone()
    };
    let beside = [("population.toml", text)];
    begin_or_resume(folder, &pretty(&manifest)?, &beside, |_| {
        "another result".to_owned()
    })
}

/// Writes what the run came to.
pub(super) fn summarize(folder: &Path, document: &PopulationDocument) -> Result<(), LabError> {
    write(&folder.join("summary.json"), &pretty(document)?)
}
