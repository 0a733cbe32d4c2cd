//! `tcplab kernel build|list|rm`: real kernels for `uml:`.

pub mod args;
mod build;
mod list;
mod progress;
mod remove;

use std::process::ExitCode;

use tcplab_guest::build::BuildError;
use tcplab_guest::stack::UmlName;

use crate::failure::Failure;
use crate::json;
use args::KernelCommand;

/// Runs `tcplab kernel`.
pub fn main(command: &KernelCommand) -> ExitCode {
    let (json, schema, result) = match command {
        KernelCommand::Build(args) => (args.json, build::SCHEMA, build::run(args)),
        KernelCommand::List { json } => (*json, list::SCHEMA, list::run(*json)),
        KernelCommand::Rm(args) => (args.json, remove::SCHEMA, remove::run(args)),
    };
    json::finish(schema, json, result)
}

impl From<BuildError> for Failure {
    fn from(e: BuildError) -> Self {
        match e {
            BuildError::Store(e) => e.into(),
            e if e.is_machine() => Failure::cannot_run(e.to_string()),
            e => Failure::input(e.to_string()),
        }
    }
}

/// A kernel's name as a person writes it, with or without `uml:`.
fn kernel_name(text: &str) -> Result<UmlName, Failure> {
    Ok(UmlName::parse(text.strip_prefix("uml:").unwrap_or(text))?)
}
