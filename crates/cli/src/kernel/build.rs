//! `tcplab kernel build`.

use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;
use tcplab_guest::build::{Origin, Request, build};
use tcplab_guest::edit::{Edit, EditError, Edits};
use tcplab_guest::stack::UmlName;
use tcplab_guest::store::{Manifest, Store};

use super::args::BuildArgs;
use super::progress::Progress;
use crate::failure::Failure;
use crate::json;
use crate::screen;

/// Schema of the answer.
pub const SCHEMA: &str = "tcplab.kernel-build/1";

/// The answer of `kernel build --json`.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'a str,
    /// Name for `--on`.
    stack: String,
    /// Whether it was built before.
    was_there: bool,
    /// CPU seconds of this call, with the unedited kernel when that had to be built first.
    cpu_s: f64,
    path: String,
    manifest: &'a Manifest,
}

/// Builds a kernel.
pub fn run(args: &BuildArgs) -> Result<ExitCode, Failure> {
    let request = request(args)?;
    let store = Store::of_user()?;
    let mut progress = Progress::new();
    let built = build(&store, &request, &mut |step| progress.show(step))?;
    drop(progress);
    let manifest = &built.kernel.manifest;
    let stack = format!("uml:{}", asked_name(args, &request, manifest));
    if args.json {
        json::print(&Document {
            schema: SCHEMA,
            stack,
            was_there: built.was_there,
            cpu_s: built.cpu_s,
            path: built.kernel.path.display().to_string(),
            manifest,
        })?;
        return Ok(ExitCode::SUCCESS);
    }
    let what = if built.was_there {
        "is built already".to_owned()
    } else {
        format!("is built ({:.0} CPU seconds)", built.cpu_s)
    };
    let (version, hz) = (&manifest.version, manifest.hz);
    writeln!(
        screen::plain(),
        "{stack} {what}: Linux {version}, {hz} Hz, {}",
        built.kernel.path.display()
    )?;
    Ok(ExitCode::SUCCESS)
}

/// The name that the user will write: the given one, else what was asked for.
fn asked_name(args: &BuildArgs, request: &Request, manifest: &Manifest) -> String {
    let edits = request.edits.names().to_vec();
    let asked = args
        .version
        .clone()
        .map(|v| UmlName::new(v, edits, request.hz).to_string());
    let first = || manifest.names.first().cloned();
    args.name
        .clone()
        .or(asked)
        .or_else(first)
        .unwrap_or_default()
}

fn request(args: &BuildArgs) -> Result<Request, Failure> {
    let origin = match (&args.source, &args.version) {
        (Some(folder), _) => Origin::Folder(folder.clone()),
        (None, Some(version)) => Origin::Package(version.clone()),
        (None, None) => {
            return Err(Failure::usage(
                "name a version (such as 6.1), or a source tree with --source DIR",
            ));
        }
    };
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
