//! Blocks of TOML: experiments and populations, run on the model as they are written; edits of kernels, read.
//!
//! A fragment has a mark `<!-- example: completed by: TOML -->` with what it lacks.

use anyhow::{Context, Result};
use serde_json::Value;
use tcplab_guest::edit::Edit;
use tcplab_guest::stack::StackName;

use super::console::{Ran, execute};
use super::scratch::Scratch;
use super::usage::Usage;

/// Connections of a population: it is drawn and judged, not measured.
const CONNECTIONS: u32 = 100;

/// What became of a block.
pub enum Done {
    /// Read, and nothing can be run of it.
    Read,
    /// Run on the model, so many points.
    Ran(usize),
    /// What is wrong.
    Wrong(String),
}

/// Reads a block and runs it on the model. `text` is the block with what completes it.
pub fn check(usage: &Usage<'_>, text: &str) -> Result<Done> {
    let table: toml::Table = match text.parse() {
        Ok(table) => table,
        Err(e) => return Ok(Done::Wrong(format!("no TOML: {e}"))),
    };
    let scratch = Scratch::new(usage.root)?;
    // A folder of its own, so that `../tests/...` is found as from examples/.
    let folder = scratch.path().join("block");
    std::fs::create_dir(&folder).context("cannot make a folder")?;
    std::fs::write(folder.join("block.toml"), text).context("cannot write the block")?;
    if table.contains_key("change") {
        let path = folder.join("block.toml").display().to_string();
        let read = Edit::load(&path).err().map(|e| e.to_string());
        return Ok(read.map_or(Done::Read, Done::Wrong));
    }
    if let Some(wrong) = stacks(&table) {
        return Ok(Done::Wrong(wrong));
    }
    let is_population = table.contains_key("population");
    let run = |options: &str| {
        let command = format!("tcplab run block/block.toml {options}");
        execute(&scratch, usage.tcplab, &command)
    };
    let plan = run(if is_population {
        "--dry-run"
    } else {
        "--dry-run --on model"
    })?;
    if plan.exit_code != 0 {
        return Ok(Done::Wrong(format!("--dry-run: {}", plan.err)));
    }
    let ran = run(&match is_population {
        true => format!("--json --connections {CONNECTIONS}"),
        false => "--json --on model".to_owned(),
    })?;
    Ok(match (wrong(&ran), is_population) {
        (Some(wrong), _) => Done::Wrong(wrong),
        (None, true) => Done::Ran(1),
        (None, false) => points(&ran),
    })
}

/// What is wrong with the first name of a stack that does not parse.
fn stacks(table: &toml::Table) -> Option<String> {
    let names = table.get("run")?.get("stacks")?.as_array()?;
    let mut names = names.iter().filter_map(toml::Value::as_str);
    names.find_map(|name| StackName::parse(name).err().map(|e| e.to_string()))
}

fn wrong(ran: &Ran) -> Option<String> {
    (ran.exit_code != 0).then(|| {
        format!(
            "the run ended with {}: {}{}",
            ran.exit_code,
            ran.out.join("\n"),
            ran.err
        )
    })
}

/// An experiment ends by itself, and each point says something.
fn points(ran: &Ran) -> Done {
    let document: Value = match serde_json::from_str(&ran.out.join("\n")) {
        Ok(document) => document,
        Err(e) => return Done::Wrong(format!("the run printed no document: {e}")),
    };
    let points = document["points"].as_array().map_or(&[][..], Vec::as_slice);
    for (number, point) in points.iter().enumerate() {
        if point["cut_short"] == true {
            return Done::Wrong(format!("point {number} does not end before `run.max`"));
        }
        let measures = point["measures"].as_object();
        if !measures.is_some_and(|all| all.values().any(Value::is_number)) {
            return Done::Wrong(format!(
                "no measure of point {number} has a value: {}",
                point["missing"]
            ));
        }
    }
    match points.len() {
        0 => Done::Wrong("no point was run".into()),
        count => Done::Ran(count),
    }
}
