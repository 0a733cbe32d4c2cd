//! `tcplab stacks`: the stacks that `--on` can name on this machine, the keys that each kind honours, and the model's
//! behaviour under each profile.

pub mod keys;
mod profiles;

use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;
use tcplab_guest::store::Store;
use tcplab_guest::{Here, here};

use crate::args::{Color, StacksArgs};
use crate::failure::Failure;
use crate::{json, screen, terminal};

/// Schema of the answer.
pub const SCHEMA: &str = "tcplab.stacks/1";

/// The answer of `stacks --json`.
#[derive(Serialize)]
struct Document {
    schema: &'static str,
    stacks: Vec<Here>,
}

/// Lists the stacks.
pub fn main(args: &StacksArgs, color: Color) -> ExitCode {
    if args.profiles {
        let done = profiles::main(args.json, &terminal::theme(color, false));
        return json::finish(profiles::SCHEMA, args.json, done);
    }
    if args.keys {
        return json::finish(keys::SCHEMA, args.json, keys::main(args.json));
    }
    json::finish(SCHEMA, args.json, run(args.json))
}

fn run(json: bool) -> Result<ExitCode, Failure> {
    let document = Document {
        schema: SCHEMA,
        stacks: here(Store::of_user().ok().as_ref())?,
    };
    json::or_words(json, &document, || print(&document.stacks))
}

fn print(stacks: &[Here]) -> Result<(), Failure> {
    let width = stacks.iter().map(|s| s.stack.len()).max().unwrap_or(0);
    let mut out = screen::plain();
    for stack in stacks {
        let time = if stack.virtual_time {
            "virtual time"
        } else {
            "real time"
        };
        let note = match (&stack.lacks, stack.also.as_slice()) {
            (Some(lacks), _) => format!("; not available here, needs {lacks}"),
            (None, []) => String::new(),
            (None, also) => format!("; also {}", also.join(" ")),
        };
        writeln!(out, "{:width$}  {}, {time}{note}", stack.stack, stack.what)?;
    }
    Ok(())
}
