//! `cargo xtask tidy`: the rules of this repository that the compiler and clippy do not know.
//!
//! `words.rs` has what no line may say, and where; `files.rs` what holds for a whole file; `layers.rs` which crate may use
//! which; `links.rs` the links of documents. All of them read text: what a person would look for with grep.
//!
//! Output: `file:line: what: way out`. Nothing excuses a failure.

mod files;
mod layers;
mod links;
mod outputs;
pub mod tree;
mod words;

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;

use tree::Tree;

/// What `cargo xtask tidy` takes.
#[derive(clap::Args)]
pub struct Args {
    /// Also list the files of more than 400 lines
    #[arg(long)]
    aims: bool,
}

/// What is wrong, as `path:line: what: way out`.
type Failures = Vec<String>;

/// A line of the report.
fn failure(path: &str, line: usize, what: &str, way_out: &str) -> String {
    format!("{path}:{line}: {what}: {way_out}")
}

/// Runs every rule on the repository at `root` and prints what it found.
pub fn run(root: &Path, args: &Args) -> Result<ExitCode> {
    let tree = Tree::read(root)?;
    let rules = [
        layers::check,
        files::check,
        words::check,
        outputs::check,
        links::check,
    ];
    let failures: Failures = rules.iter().flat_map(|rule| rule(&tree)).collect();
    for failure in &failures {
        println!("{failure}");
    }
    let aims = files::above_the_aim(&tree);
    if args.aims {
        aims.iter().for_each(|aim| println!("aim: {aim}"));
    }
    println!(
        "tidy: {} files, {} failures, {} files above 400 lines",
        tree.files.len(),
        failures.len(),
        aims.len()
    );
    Ok(match failures.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::from(1),
    })
}
