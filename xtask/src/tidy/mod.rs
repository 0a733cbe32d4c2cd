//! `cargo xtask tidy`: the rules of this repository that the compiler and clippy
//! do not know. One file for each rule; each rule reads a [`Tree`] and adds to a
//! [`Report`], so that its tests can show it firing on a bad sample.
//!
//! Output: `file:line: what: way out`. Nothing excuses a failure.

mod captures;
mod file_size;
mod fn_size;
mod forbidden;
mod heads;
mod layers;
mod links;
mod manifests;
mod markers;
mod names;
mod outputs;
mod panics;
mod report;
mod rust_paths;
mod text;
pub mod tree;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use report::Report;
use tree::Tree;

/// What `cargo xtask tidy` takes.
#[derive(clap::Args)]
pub struct Args {
    /// Also list what misses an aim (file 400 lines, function 60 lines, 5 arguments)
    #[arg(long)]
    aims: bool,
}

/// A rule: its name in messages, and its check.
type Rule = (&'static str, fn(&Tree, &mut Report));

const RULES: &[Rule] = &[
    (layers::NAME, layers::check),
    (manifests::NAME, manifests::check),
    (file_size::NAME, file_size::check),
    (fn_size::NAME, fn_size::check),
    (forbidden::NAME, forbidden::check),
    (outputs::NAME, outputs::check),
    (panics::NAME, panics::check),
    (heads::NAME, heads::check),
    (markers::NAME, markers::check),
    (names::NAME, names::check),
    (text::NAME, text::check),
    (links::NAME, links::check),
    (captures::NAME, captures::check),
];

/// Runs every rule on the repository at `root` and prints what it found.
pub fn run(root: &Path, args: &Args) -> Result<ExitCode> {
    let tree = Tree::read(root)?;
    let mut report = Report::default();
    for (name, check) in RULES {
        report.enter(name);
        check(&tree, &mut report);
    }

    for failure in report.failures() {
        println!("{failure}");
    }
    if args.aims {
        for aim in report.aims() {
            println!("aim: {aim}");
        }
    }
    let failures = report.failures().len();
    println!(
        "tidy: {} rules, {} files, {failures} failures, {} aims missed{}",
        RULES.len(),
        tree.files.len(),
        report.aims().len(),
        if args.aims || report.aims().is_empty() {
            ""
        } else {
            " (--aims lists them)"
        },
    );
    Ok(if failures == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}
