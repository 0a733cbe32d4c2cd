//! `tcplab kernel build`.

use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;
use tcplab_guest::build::{Origin, Request, build, known_series};
use tcplab_guest::edit::{Edit, EditError, Edits};
use tcplab_guest::stack::UmlName;
use tcplab_guest::store::{Manifest, Store};
use tcplab_os::say;

use super::args::BuildArgs;
use super::progress::Progress;
use crate::failure::Failure;
use crate::json;
use crate::screen;

/// Schema of the answer.
pub const SCHEMA: &str = "tcplab.kernel-build/1";

/// Schema of the answer of `--all`.
const ALL_SCHEMA: &str = "tcplab.kernel-build-all/1";

/// The answer of `kernel build --json`.
#[derive(Serialize)]
struct Document {
    schema: &'static str,
    #[serde(flatten)]
    kernel: Kernel,
}

/// The answer of `kernel build --all --json`.
#[derive(Serialize)]
struct AllDocument {
    schema: &'static str,
    kernels: Vec<Kernel>,
}

/// A kernel that was asked for.
#[derive(Serialize)]
struct Kernel {
    /// Name for `--on`.
    stack: String,
    /// Whether it was built before.
    was_there: bool,
    /// CPU seconds of this call, with the unedited kernel when that had to be built first.
    cpu_s: f64,
    path: String,
    manifest: Manifest,
}

/// Builds a kernel, or all.
pub fn run(args: &BuildArgs) -> Result<ExitCode, Failure> {
    if args.all {
        return all(args);
    }
    let kernel = one(args, origin(args)?, "")?;
    if args.json {
        json::print(&Document {
            schema: SCHEMA,
            kernel,
        })?;
    } else {
        print(&kernel)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds every series, also behind one that fails.
fn all(args: &BuildArgs) -> Result<ExitCode, Failure> {
    let series: Vec<&str> = known_series().collect();
    let (mut kernels, mut failed) = (Vec::new(), Vec::new());
    for (number, version) in (1..).zip(&series) {
        let place = format!("[{number} of {}] ", series.len());
        match one(args, Origin::Package((*version).to_owned()), &place) {
            Ok(kernel) => {
                if !args.json {
                    print(&kernel)?;
                }
                kernels.push(kernel);
            }
            Err(failure) => {
                say(&format!("{place}Linux {version}: {}", failure.message));
                failed.push(format!("Linux {version}: {}", failure.message));
            }
        }
    }
    if !failed.is_empty() {
        return Err(Failure::input(format!(
            "{} of {} kernels were not built. {}",
            failed.len(),
            series.len(),
            failed.join("\n")
        )));
    }
    if args.json {
        json::print(&AllDocument {
            schema: ALL_SCHEMA,
            kernels,
        })?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Builds one kernel; `place` stands before each line of its progress.
fn one(args: &BuildArgs, origin: Origin, place: &str) -> Result<Kernel, Failure> {
    let request = request(args, origin)?;
    let store = Store::of_user()?;
    let mut progress = Progress::new(place);
    let built = build(&store, &request, &mut |step| progress.show(step))?;
    drop(progress);
    let manifest = built.kernel.manifest;
    Ok(Kernel {
        stack: format!("uml:{}", asked_name(&request, &manifest)),
        was_there: built.was_there,
        cpu_s: built.cpu_s,
        path: built.kernel.path.display().to_string(),
        manifest,
    })
}

fn print(kernel: &Kernel) -> Result<(), Failure> {
    let what = if kernel.was_there {
        "is built already".to_owned()
    } else {
        format!("is built ({:.0} CPU seconds)", kernel.cpu_s)
    };
    let (version, hz) = (&kernel.manifest.version, kernel.manifest.hz);
    writeln!(
        screen::plain(),
        "{} {what}: Linux {version}, {hz} Hz, {}",
        kernel.stack,
        kernel.path
    )?;
    Ok(())
}

/// The name that the user will write: the given one, else what was asked for.
fn asked_name(request: &Request, manifest: &Manifest) -> String {
    let edits = request.edits.names().to_vec();
    let asked = match &request.origin {
        Origin::Package(version) => {
            Some(UmlName::new(version.clone(), edits, request.hz).to_string())
        }
        Origin::Folder(_) => None,
    };
    let first = || manifest.names.first().cloned();
    let name = request.name.clone();
    name.or(asked).or_else(first).unwrap_or_default()
}

/// What to build from.
fn origin(args: &BuildArgs) -> Result<Origin, Failure> {
    match (&args.source, &args.version) {
        (Some(folder), _) => Ok(Origin::Folder(folder.clone())),
        (None, Some(version)) => Ok(Origin::Package(version.clone())),
        (None, None) => Err(Failure::usage(
            "name a version (such as 6.1), or a source tree with --source DIR",
        )),
    }
}

fn request(args: &BuildArgs, origin: Origin) -> Result<Request, Failure> {
    let load = |name: &String| Edit::load(name);
    let edits: Result<Vec<Edit>, EditError> = args.edit.iter().map(load).collect();
    let edits = edits.and_then(Edits::new);
    let jobs = args
        .jobs
        .or_else(|| std::thread::available_parallelism().ok());
    Ok(Request {
        origin,
        edits: edits.map_err(|e| Failure::usage(e.to_string()))?,
        hz: args.hz,
        name: args.name.clone(),
        jobs: jobs.map_or(1, std::num::NonZeroUsize::get),
        install: args.install,
    })
}
