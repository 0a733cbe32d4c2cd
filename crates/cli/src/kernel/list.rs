//! `tcplab kernel list`: what was built, and prebuilt kernels that were found.
#![expect(
    clippy::disallowed_methods,
    reason = "the age of a kernel is a matter of the clock on the wall"
)]

use std::io::Write;
use std::process::ExitCode;
use std::time::SystemTime;

use serde::Serialize;
use tcplab_base::quantity::bytes;
use tcplab_guest::build::{prebuilt, prebuilt_version};
use tcplab_guest::store::{Manifest, Store, UmlKernel};

use crate::failure::Failure;
use crate::json;
use crate::screen;

/// Schema of the answer.
pub const SCHEMA: &str = "tcplab.kernel-list/1";

/// The answer of `kernel list --json`.
#[derive(Serialize)]
struct Document {
    schema: &'static str,
    /// The folder of kernels.
    folder: String,
    kernels: Vec<Kernel>,
    prebuilt: Vec<Prebuilt>,
}

/// One built kernel.
#[derive(Serialize)]
struct Kernel {
    /// Names for `--on`.
    stacks: Vec<String>,
    path: String,
    /// Seconds since it was built.
    age_s: Option<u64>,
    manifest: Manifest,
}

/// A User-Mode Linux that somebody else built. It has no virtual time.
#[derive(Serialize)]
struct Prebuilt {
    path: String,
    version: Option<String>,
}

/// Prints the list.
pub fn run(json: bool) -> Result<ExitCode, Failure> {
    let store = Store::of_user()?;
    let document = Document {
        schema: SCHEMA,
        folder: store.root().display().to_string(),
        kernels: store.list()?.into_iter().map(kernel).collect(),
        prebuilt: prebuilt()
            .map(|path| Prebuilt {
                version: prebuilt_version(&path),
                path: path.display().to_string(),
            })
            .into_iter()
            .collect(),
    };
    json::or_words(json, &document, || print(&document))
}

fn kernel(kernel: UmlKernel) -> Kernel {
    let built = kernel.path.metadata().and_then(|m| m.modified());
    let age = built
        .ok()
        .and_then(|t| SystemTime::now().duration_since(t).ok());
    Kernel {
        stacks: kernel
            .manifest
            .names
            .iter()
            .map(|n| format!("uml:{n}"))
            .collect(),
        path: kernel.path.display().to_string(),
        age_s: age.map(|a| a.as_secs()),
        manifest: kernel.manifest,
    }
}

fn print(document: &Document) -> Result<(), Failure> {
    let mut out = screen::plain();
    if document.kernels.is_empty() {
        writeln!(
            out,
            "no kernel is built; `tcplab kernel build 6.1` builds one (about 6 CPU minutes)"
        )?;
    }
    let stack = |k: &Kernel| k.stacks.first().cloned().unwrap_or_default();
    let width = document
        .kernels
        .iter()
        .map(|k| stack(k).len())
        .max()
        .unwrap_or(0);
    for kernel in &document.kernels {
        let m = &kernel.manifest;
        let others = kernel.stacks.get(1..).unwrap_or_default();
        let old = match m.is_current() {
            true => "",
            false => "  to be built again: it lacks edits that every build gets now",
        };
        let also = if others.is_empty() {
            String::new()
        } else {
            format!("  also {}", others.join(" "))
        };
        writeln!(
            out,
            "{:width$}  {:10} {:4} Hz  {:>7}  {:>9}{also}{old}",
            stack(kernel),
            m.version,
            m.hz,
            bytes(m.binary_bytes),
            kernel.age_s.map_or(String::new(), age),
        )?;
    }
    for other in &document.prebuilt {
        let version = other.version.as_deref().unwrap_or("does not start");
        writeln!(
            out,
            "{}  {version}, Debian's user-mode-linux: real time only",
            other.path
        )?;
    }
    Ok(())
}

/// An age for a person.
fn age(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s old"),
        120..7_200 => format!("{} min old", seconds / 60),
        7_200..172_800 => format!("{} h old", seconds / 3_600),
        _ => format!("{} d old", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn ages() {
        let texts = [5, 119, 120, 7_300, 200_000].map(super::age);
        assert_eq!(
            texts,
            ["5 s old", "119 s old", "2 min old", "2 h old", "2 d old"]
        );
    }
}
