//! A result folder: `manifest.json`, `summary.json`, `cost.json`, and for each point a folder with
//! its captures and `result.json`.
//!
//! A point's folder appears by one rename when it is complete: a campaign that was killed goes on
//! where it was. Nothing but `cost.json` differs between two runs in virtual time.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize};
use tcplab_os::output::write_own;
use tcplab_plan::Point;
use tcplab_plan::measure::Described;
use tcplab_plan::network::capture_files;
use tcplab_plan::result::{Cost, PointResult, RUN_SCHEMA, RunDocument};
use tcplab_plan::view::View;

use crate::digest;
use crate::error::LabError;
use crate::manifest::plain;

/// `schema` of a [`Manifest`].
pub const MANIFEST_SCHEMA: &str = "tcplab.manifest/1";

/// What was run: enough to run it again (`tcplab run manifest.json`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// [`MANIFEST_SCHEMA`].
    pub schema: String,
    /// The experiment's name.
    pub experiment: String,
    /// Version of tcplab.
    pub tcplab: String,
    /// SHA-256 of tcplab's executable.
    pub program_sha256: String,
    /// The stacks in their order, and the SHA-256 of the kernel of each; empty for the host's.
    pub stacks: Vec<(String, String)>,
    /// The measures; older manifests have their names alone.
    #[serde(deserialize_with = "named_or_described")]
    pub measures: Vec<Described>,
    /// SHA-256 of each file that runs read, by its path: captures to replay, traces of rates.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub files: BTreeMap<String, String>,
    /// How the result is shown, where its experiment says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<View>,
    /// Every point, in order.
    pub points: Vec<Point>,
}

fn named_or_described<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Described>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Named(String),
        Described(Described),
    }
    let all = Vec::<Either>::deserialize(from)?.into_iter();
    let one = |either| match either {
        Either::Named(name) => Described::of(&name),
        Either::Described(described) => described,
    };
    Ok(all.map(one).collect())
}

/// What a point cost, beside its result.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PointCost {
    pub(crate) cost: Cost,
    pub(crate) rss_bytes: u64,
}

/// A result folder on disk.
#[derive(Debug)]
pub(crate) struct Folder(PathBuf);

impl Folder {
    /// Opens a new folder, or one that the same campaign has begun.
    pub(crate) fn open(path: &Path, manifest: &Manifest) -> Result<Self, LabError> {
        begin_or_resume(path, &pretty(manifest)?, &[], |_| {
            "the result of another experiment, stack or version".to_owned()
        })?;
        make_inside(&path.join("points"))?;
        Ok(Self(path.to_owned()))
    }

    /// One that is there.
    pub(crate) fn at(path: &Path) -> Self {
        Self(path.to_owned())
    }

    /// Whether a point is finished.
    pub(crate) fn has(&self, number: usize) -> bool {
        fs::symlink_metadata(self.point(number)).is_ok()
    }

    /// Copies the files of a finished point of another folder.
    pub(crate) fn adopt(&self, number: usize, from: &Self) -> Result<(), LabError> {
        let part = self.begin(number)?;
        let source = from.point(number);
        let entries = fs::read_dir(&source).map_err(LabError::at(&source))?;
        for entry in entries {
            let entry = entry.map_err(LabError::at(&source))?;
            let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
            if is_file {
                let to = part.join(entry.file_name());
                fs::copy(entry.path(), &to).map_err(LabError::at(&to))?;
            }
        }
        let place = self.point(number);
        fs::rename(part, &place).map_err(LabError::at(&place))
    }

    fn point(&self, number: usize) -> PathBuf {
        self.0.join(point_name(number))
    }

    /// What an earlier run has finished of this point.
    ///
    /// # Errors
    /// The folder exists but holds no result of this point.
    pub(crate) fn finished(
        &self,
        number: usize,
        is_of_it: impl FnOnce(&PointResult) -> bool,
    ) -> Result<Option<(PointResult, PointCost)>, LabError> {
        let folder = self.point(number);
        if fs::symlink_metadata(&folder).is_err() {
            return Ok(None);
        }
        let wrong = |why: &str| {
            let folder = folder.display();
            LabError::Wrong(format!(
                "{folder}/result.json: {why}; remove the folder {folder} to run the point again"
            ))
        };
        let text = read(&folder.join("result.json")).map_err(|e| wrong(&e.to_string()))?;
        let mut result: PointResult =
            serde_json::from_str(&text).map_err(|e| wrong(&format!("damaged: {}", plain(&e))))?;
        if !is_of_it(&result) {
            return Err(wrong(
                "the result of another point, stack, seed or measures",
            ));
        }
        let cost = read(&folder.join("cost.json")).unwrap_or_default();
        let cost: PointCost = serde_json::from_str(&cost).unwrap_or_default();
        result.cost = cost.cost;
        Ok(Some((result, cost)))
    }

    /// Refuses a finished point whose result or captures are not those that its run wrote. Captures that somebody has
    /// removed cannot be checked, nor the result without them.
    ///
    /// # Errors
    /// The digest is another one.
    pub(crate) fn is_as_written(
        &self,
        number: usize,
        result: &PointResult,
        point: &Point,
    ) -> Result<(), LabError> {
        let folder = self.point(number);
        let mut captures = capture_files(point).into_iter();
        let is_whole = captures.all(|(_, _, name)| folder.join(name).exists());
        if !is_whole || digest::of(result, point, &folder)? == result.digest {
            return Ok(());
        }
        let folder = folder.display();
        Err(LabError::Wrong(format!(
            "{folder}: result.json or a capture was changed after the run (its digest differs); remove the folder to run the point again"
        )))
    }

    /// A new place for a point's files.
    pub(crate) fn begin(&self, number: usize) -> Result<PathBuf, LabError> {
        let part = self.0.join("points").join(format!(".{number:04}.part"));
        let _ = fs::remove_dir_all(&part);
        fs::create_dir_all(&part).map_err(LabError::at(&part))?;
        Ok(part)
    }

    /// Puts a finished point in its place.
    pub(crate) fn finish(
        &self,
        number: usize,
        part: &Path,
        result: &PointResult,
        cost: PointCost,
    ) -> Result<(), LabError> {
        let bare = PointResult {
            cost: Cost::default(),
            ..result.clone()
        };
        write(&part.join("result.json"), &pretty(&bare)?)?;
        write(&part.join("cost.json"), &pretty(&cost)?)?;
        let place = self.point(number);
        fs::rename(part, &place).map_err(LabError::at(&place))
    }

    /// Writes the summary and the costs of all points.
    pub(crate) fn summarize(&self, document: &RunDocument) -> Result<(), LabError> {
        let costs: Vec<Cost> = document.points.iter().map(|p| p.cost).collect();
        let mut bare = document.clone();
        bare.peak_rss_bytes = 0;
        bare.schema = RUN_SCHEMA.into();
        for point in &mut bare.points {
            point.cost = Cost::default();
        }
        write(&self.0.join("summary.json"), &pretty(&bare)?)?;
        write(&self.0.join("cost.json"), &pretty(&costs)?)
    }
}

/// The folder of a point in that of its result.
pub(crate) fn point_name(number: usize) -> PathBuf {
    Path::new("points").join(format!("{number:04}"))
}

/// Begins the folder of a result that has this manifest, and these files beside it; or goes on with one. `other` says what
/// a folder with another manifest contains.
///
/// # Errors
/// The folder contains something else.
pub(crate) fn begin_or_resume(
    folder: &Path,
    manifest: &str,
    beside: &[(&str, &str)],
    other: impl FnOnce(&str) -> String,
) -> Result<(), LabError> {
    let wrong = |what: &str| {
        let folder = folder.display();
        Err(LabError::Wrong(format!("{folder} {what}")))
    };
    let file = folder.join("manifest.json");
    match read(&file) {
        Ok(there) if there == manifest => Ok(()),
        Ok(there) => wrong(&format!(
            "contains {}: choose another folder or remove it",
            other(&there)
        )),
        Err(_) if is_full(folder) => {
            wrong("is not empty and is not a result folder: choose another folder")
        }
        Err(_) => {
            fs::create_dir_all(folder).map_err(LabError::at(folder))?;
            for (name, text) in beside {
                write(&folder.join(name), text)?;
            }
            write(&file, manifest)
        }
    }
}

/// Refuses a folder for a new result that contains something already.
pub(crate) fn must_be_empty(folder: &Path) -> Result<(), LabError> {
    match is_full(folder) {
        true => Err(LabError::Wrong(format!(
            "{} is not empty; choose another folder",
            folder.display()
        ))),
        false => Ok(()),
    }
}

/// Bytes of a result that an earlier run has left, at most.
const MAX_RESULT: u64 = 4 << 30;

/// The text of a file of the folder, which must be a file.
pub(crate) fn read(path: &Path) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("is not a regular file"));
    }
    let mut text = String::new();
    fs::File::open(path)?
        .take(MAX_RESULT)
        .read_to_string(&mut text)?;
    Ok(text)
}

fn is_full(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some())
}

pub(crate) fn pretty(value: &impl Serialize) -> Result<String, LabError> {
    let mut text =
        serde_json::to_string_pretty(value).map_err(|e| LabError::Wrong(e.to_string()))?;
    text.push('\n');
    Ok(text)
}

/// Writes a file of a result folder in one step.
pub(crate) fn write(path: &Path, text: &str) -> Result<(), LabError> {
    write_own(path, text).map_err(LabError::at(path))
}

/// Makes a folder of a result folder. That may have come from somebody else: its links lead anywhere.
fn make_inside(folder: &Path) -> Result<(), LabError> {
    let is_link = fs::symlink_metadata(folder).is_ok_and(|meta| meta.is_symlink());
    if is_link {
        return Err(LabError::Wrong(format!(
            "{} is a symbolic link, which tcplab never writes: choose another folder",
            folder.display()
        )));
    }
    fs::create_dir_all(folder).map_err(LabError::at(folder))
}
