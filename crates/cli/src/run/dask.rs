//! `--dask`: the Python module gives what is left of a run to a cluster's workers, and puts what comes back into the
//! result folder. The run itself then finds everything finished, so that tables, pages and exit codes have one place.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::args::RunArgs;
use crate::failure::Failure;

/// Whether a Python has the modules, in its own words.
const HAS: &str = "import sys, importlib.util as u; sys.exit(not (u.find_spec('tcplab') and u.find_spec('distributed')))";

/// Runs what is left on the workers of this scheduler.
pub fn spread(args: &RunArgs, address: &str) -> Result<(), Failure> {
    let out = args.out.as_deref().unwrap_or(Path::new("."));
    if args.experiment == Path::new("-") {
        return Err(Failure::usage(
            "--dask: the workers need a file: write the experiment to one and name it",
        ));
    }
    let python = python();
    let quiet = || Stdio::null();
    let has = Command::new(&python)
        .args(["-c", HAS])
        .stdin(quiet())
        .stderr(quiet())
        .status();
    if !has.is_ok_and(|status| status.success()) {
        return Err(Failure::cannot_run(format!(
            "--dask: {} has no modules `tcplab` and `distributed`: pip install 'tcplab[distributed]', or set TCPLAB_PYTHON to \
             the Python that has them",
            python.display()
        )));
    }
    let own = env::current_exe().map_err(|e| Failure::cannot_run(format!("--dask: {e}")))?;
    let mut child = Command::new(&python);
    child.args(["-m", "tcplab.distributed", "--dask", address, "--out"]);
    child
        .arg(out)
        .arg(&args.experiment)
        .arg("--")
        .args(options(args));
    child
        .env("TCPLAB_COMMAND", own)
        .stdin(quiet())
        .stdout(quiet());
    let status = child.status();
    let status = status.map_err(|e| Failure::cannot_run(format!("{}: {e}", python.display())))?;
    let message = format!(
        "--dask: the run did not end; what is finished is in {}, and the same command resumes it",
        out.display()
    );
    match status.code() {
        Some(0) => Ok(()),
        Some(2) => Err(Failure::usage(message)),
        Some(130) | None => Err(Failure::interrupted(message)),
        Some(_) => Err(Failure::cannot_run(message)),
    }
}

/// `$TCPLAB_PYTHON`, or the Python beside the command, as the wheel puts it, or the first in PATH.
fn python() -> PathBuf {
    if let Some(named) = env::var_os("TCPLAB_PYTHON") {
        return named.into();
    }
    let beside = env::current_exe()
        .ok()
        .map(|own| own.with_file_name("python3"));
    match beside.filter(|python| python.exists()) {
        Some(python) => python,
        None => "python3".into(),
    }
}

/// The options that decide what is run.
fn options(args: &RunArgs) -> Vec<OsString> {
    let mut all: Vec<OsString> = Vec::new();
    let mut add = |name: &str, value: &str| all.push(format!("--{name}={value}").into());
    args.set.iter().for_each(|one| add("set", one));
    args.on.iter().for_each(|one| add("on", one));
    args.variant.iter().for_each(|one| add("variant", one));
    let numbers = [
        ("seed", args.seed),
        ("repeat", args.repeat.map(u64::from)),
        ("connections", args.connections),
    ];
    for (name, value) in numbers {
        value
            .into_iter()
            .for_each(|value| add(name, &value.to_string()));
    }
    args.bad.iter().for_each(|bad| add("bad", bad));
    if args.rows.is_some() {
        all.push("--rows".into());
    }
    all
}
