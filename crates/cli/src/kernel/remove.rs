//! `tcplab kernel rm`.

use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;
use tcplab_base::quantity::bytes;
use tcplab_guest::stack::UmlName;
use tcplab_guest::store::{Store, StoreError};
use tcplab_os::say;

use super::args::RmArgs;
use super::kernel_name;
use crate::failure::Failure;
use crate::json;
use crate::screen;

/// Schema of the answer.
pub const SCHEMA: &str = "tcplab.kernel-rm/1";

/// The answer of `kernel rm --json`.
#[derive(Default, Serialize)]
struct Document {
    schema: &'static str,
    /// Names that are gone.
    removed: Vec<String>,
    /// Those that were a kernel's last one.
    kernels_removed: Vec<String>,
    /// Bytes of sources and build folders.
    sources_bytes: u64,
}

/// Refuses a name that no kernel has.
fn are_built(store: &Store, names: &[UmlName]) -> Result<(), Failure> {
    for name in names {
        if let Err(StoreError::NotBuilt { name, .. }) = store.find(name) {
            return Err(Failure::usage(format!(
                "uml:{name} is not built here; `tcplab kernel list` shows the names"
            )));
        }
    }
    Ok(())
}

/// Removes names, and kernels that lost their last name.
pub fn run(args: &RmArgs) -> Result<ExitCode, Failure> {
    let names: Result<Vec<UmlName>, Failure> = args.names.iter().map(|n| kernel_name(n)).collect();
    let names = names?;
    let store = Store::of_user()?;
    // All or none: a misspelt name removes nothing, and waits for nobody.
    are_built(&store, &names)?;
    let lock = store.lock("tcplab kernel rm", |wait| say(&wait.to_string()))?;
    // Another one may have removed them meanwhile.
    are_built(&store, &names)?;
    let mut document = Document {
        schema: SCHEMA,
        ..Document::default()
    };
    for name in &names {
        if store.remove(&lock, name)? {
            document.kernels_removed.push(name.to_string());
        }
        document.removed.push(name.to_string());
    }
    if args.sources {
        document.sources_bytes = store.remove_sources(&lock)?;
    }
    if args.json {
        json::print(&document)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = screen::plain();
    for name in &document.removed {
        let kernel = if document.kernels_removed.contains(name) {
            ", and its kernel"
        } else {
            ""
        };
        writeln!(out, "removed uml:{name}{kernel}")?;
    }
    if args.sources {
        writeln!(
            out,
            "removed {} of sources and build folders",
            bytes(document.sources_bytes)
        )?;
    }
    Ok(ExitCode::SUCCESS)
}
