//! Files and folders become arms.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use tcplab_base::quoted;
use tcplab_compare::import::{self, Format, Input};
use tcplab_compare::{Arm, RemarkKind};
use tcplab_os::text::{TextError, read_bytes};

use crate::compare::args::CompareArgs;
use crate::failure::Failure;

/// Larger files are not read: none of the formats makes such.
const MOST_BYTES: u64 = 256 << 20;

/// Both arms.
pub fn arms(args: &CompareArgs) -> Result<(Arm, Arm), Failure> {
    if !args.arms.is_empty() && args.arms.len() != 2 {
        return Err(Failure::usage(
            "--arms needs two names: --arms BEFORE,AFTER",
        ));
    }
    if !args.before.is_empty() {
        let before = one(&merged(&args.before, args.format)?, args, 0, &args.before)?;
        let after = one(&merged(&args.after, args.format)?, args, 1, &args.after)?;
        return Ok(named(before, after));
    }
    let Some(first) = &args.first else {
        return Err(Failure::usage(
            "name two inputs to compare: BEFORE and AFTER",
        ));
    };
    let first = vec![first.clone()];
    let read = merged(&first, args.format)?;
    match &args.second {
        None => two(read, args, &first[0]),
        Some(second) => {
            let second = vec![second.clone()];
            let after = one(&merged(&second, args.format)?, args, 1, &second)?;
            Ok(named(one(&read, args, 0, &first)?, after))
        }
    }
}

/// What was read, and the path that it has its name of.
struct Read {
    arms: Vec<Arm>,
    path: String,
}

/// Arms whose names do not tell them apart are named by their paths.
fn named((mut before, b): (Arm, String), (mut after, a): (Arm, String)) -> (Arm, Arm) {
    if before.name == after.name && b != a {
        (before.name, after.name) = (b, a);
    }
    (before, after)
}

/// Reads all of one side's files; those with one arm each are repeats of it.
fn merged(paths: &[PathBuf], format: Option<Format>) -> Result<Read, Failure> {
    let mut arms: Vec<Arm> = Vec::new();
    let mut repeats: Option<Arm> = None;
    let mut seen = Seen::default();
    for path in paths {
        let listed = files(path)?;
        for folder in listed.folders {
            note(
                &mut repeats,
                &folder,
                "skipped, a folder in a folder of files",
            );
        }
        for (file, must) in listed.files {
            seen.path(&file)?;
            let bytes = bytes(&file)?;
            let Some(mut read) = file_arms(&file, &bytes, format, must)? else {
                note(&mut repeats, &file, "skipped, unknown format");
                continue;
            };
            if let Some(first) = seen.content(&file, &bytes) {
                let first = first.display();
                if has_time(&read) {
                    let why = format!("left out, a copy of {first}");
                    note(&mut repeats, &file, &why);
                    continue;
                }
                let why = format!("the same content as {first}: if it is a copy, leave it out");
                note(&mut repeats, &file, &why);
            }
            let is_file = read.len() == 1 && read[0].name == file.display().to_string();
            if is_file && let Some(arm) = read.pop() {
                repeats.get_or_insert_default().absorb(arm);
                continue;
            }
            for arm in read {
                match arms.iter_mut().find(|own| own.name == arm.name) {
                    Some(own) => own.absorb(arm),
                    None => arms.push(arm),
                }
            }
        }
    }
    let path = paths
        .first()
        .map_or(String::new(), |p| p.display().to_string());
    let path = match paths.len() {
        0 | 1 => path,
        more => format!("{path} and {} more", more - 1),
    };
    if let Some(mut arm) = repeats {
        arm.name.clone_from(&path);
        match arms.is_empty() || !arm.metrics.is_empty() || !arm.counts.is_empty() {
            true => arms.push(arm),
            false => arms[0].absorb(arm),
        }
    }
    Ok(Read { arms, path })
}

/// A remark on a file of a side.
fn note(arm: &mut Option<Arm>, file: &Path, words: &str) {
    let text = format!("{}: {words}", file.display());
    arm.get_or_insert_default()
        .remark(RemarkKind::Note, "", text);
}

/// The files of a side: one report is one run.
#[derive(Default)]
struct Seen {
    paths: BTreeSet<PathBuf>,
    /// By length and digest.
    contents: BTreeMap<(usize, u64), PathBuf>,
}

impl Seen {
    /// Refuses a file that is named twice.
    fn path(&mut self, file: &Path) -> Result<(), Failure> {
        // A pipe has no other name.
        let whole = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
        match self.paths.insert(whole) {
            true => Ok(()),
            false => Err(Failure::usage(format!(
                "{}: named twice in one arm, but a file is one run: name each file once (do two patterns overlap?)",
                file.display()
            ))),
        }
    }

    /// The file that has the same bytes.
    fn content(&mut self, file: &Path, bytes: &[u8]) -> Option<PathBuf> {
        let mut digest = DefaultHasher::new();
        bytes.hash(&mut digest);
        let key = (bytes.len(), digest.finish());
        let first = self.contents.get(&key).cloned();
        self.contents.entry(key).or_insert_with(|| file.to_owned());
        first
    }
}

/// Whether runs have the time when they began: the same bytes are then the same runs.
fn has_time(arms: &[Arm]) -> bool {
    let metrics = arms.iter().flat_map(|arm| &arm.metrics);
    let mut runs = metrics.flat_map(|metric| &metric.runs);
    runs.any(|run| run.began_s.is_some())
}

/// What a path stands for.
#[derive(Default)]
struct Listed {
    /// Its files, and whether each must be readable.
    files: Vec<(PathBuf, bool)>,
    /// Folders in a folder of files.
    folders: Vec<PathBuf>,
}

/// The files of a path: a result folder's summary, all files of another folder.
fn files(path: &Path) -> Result<Listed, Failure> {
    let fail = |e: std::io::Error| {
        Failure::input(format!(
            "{}: cannot open: {e}; check the name",
            path.display()
        ))
    };
    let one = |file: PathBuf| Listed {
        files: vec![(file, true)],
        ..Listed::default()
    };
    if !fs::metadata(path).map_err(fail)?.is_dir() {
        return Ok(one(path.to_owned()));
    }
    let summary = path.join("summary.json");
    if summary.is_file() {
        return Ok(one(summary));
    }
    if path.join("manifest.json").is_file() {
        return Err(Failure::input(format!(
            "{0}: the run is not finished (no summary.json); resume it: tcplab run {1}/manifest.json --out {1}",
            path.display(),
            quoted(&path.display().to_string())
        )));
    }
    let mut listed = Listed::default();
    for entry in fs::read_dir(path).map_err(fail)? {
        let entry = entry.map_err(fail)?.path();
        let is_hidden = entry
            .file_name()
            .is_none_or(|n| n.to_string_lossy().starts_with('.'));
        if entry.is_file() && !is_hidden {
            listed.files.push((entry, false));
        } else if entry.is_dir() && !is_hidden {
            listed.folders.push(entry);
        }
    }
    if listed.files.is_empty() {
        return Err(Failure::input(format!(
            "{}: this folder contains no files; name a result folder (with summary.json) or a folder of files",
            path.display()
        )));
    }
    listed.files.sort();
    listed.folders.sort();
    Ok(listed)
}

/// What stands in a file.
fn bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    read_bytes(path, |_| MOST_BYTES).map_err(|e| match e {
        TextError::TooLong { .. } => Failure::input(format!(
            "{}: larger than {} MiB; give the tool's result, not its log",
            path.display(),
            MOST_BYTES >> 20
        )),
        e => e.into(),
    })
}

/// The arms of a file; none: it is of no known format and need not be.
fn file_arms(
    path: &Path,
    bytes: &[u8],
    format: Option<Format>,
    must: bool,
) -> Result<Option<Vec<Arm>>, Failure> {
    let name = path.display().to_string();
    let text = String::from_utf8_lossy(bytes);
    if !must && format.is_none() && Format::of(&text).is_none() {
        return Ok(None);
    }
    let input = Input {
        name: &name,
        text: &text,
    };
    let read = import::read(&input, format).map_err(|e| Failure::input(e.to_string()))?;
    Ok(Some(read.arms))
}

/// The one arm of a side, or the one that `--arms` names.
fn one(
    read: &Read,
    args: &CompareArgs,
    side: usize,
    paths: &[PathBuf],
) -> Result<(Arm, String), Failure> {
    let path = read.path.clone();
    if let Some(wanted) = args.arms.get(side) {
        return Ok((pick(&read.arms, wanted, paths)?, path));
    }
    match read.arms.as_slice() {
        [arm] => Ok((arm.clone(), path)),
        arms => Err(Failure::usage(format!(
            "{path} has {} arms: {}; choose two with --arms BEFORE,AFTER",
            arms.len(),
            names(arms)
        ))),
    }
}

/// Both arms of one file or folder.
fn two(read: Read, args: &CompareArgs, path: &Path) -> Result<(Arm, Arm), Failure> {
    if let [before, after] = args.arms.as_slice() {
        let paths = [path.to_owned()];
        return Ok((
            pick(&read.arms, before, &paths)?,
            pick(&read.arms, after, &paths)?,
        ));
    }
    match <[Arm; 2]>::try_from(read.arms) {
        Ok([first, second]) if first.name == "after" && second.name == "before" => {
            Ok((second, first))
        }
        Ok([before, after]) => Ok((before, after)),
        Err(arms) if arms.len() < 2 => Err(Failure::usage(format!(
            "{} has only one arm; add the other side: tcplab compare BEFORE AFTER",
            path.display()
        ))),
        Err(arms) => Err(Failure::usage(format!(
            "{} has {} arms: {}; choose two with --arms BEFORE,AFTER",
            path.display(),
            arms.len(),
            names(&arms)
        ))),
    }
}

fn pick(arms: &[Arm], wanted: &str, paths: &[PathBuf]) -> Result<Arm, Failure> {
    let found = arms.iter().find(|arm| arm.name == wanted);
    found.cloned().ok_or_else(|| {
        let path = paths
            .first()
            .map_or(String::new(), |p| p.display().to_string());
        Failure::usage(format!(
            "{path} has no arm `{wanted}`; its arms are {}",
            names(arms)
        ))
    })
}

fn names(arms: &[Arm]) -> String {
    let names: Vec<&str> = arms.iter().map(|arm| arm.name.as_str()).collect();
    names.join(", ")
}
