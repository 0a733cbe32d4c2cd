//! `tcplab help WORD`: the help of a command, the meaning of a word, a page of the documentation.
//!
//! Texts come from where they are defined: commands from clap, terms and findings from the glossary, keys and sysctls
//! from the contract, behaviours from their registry, the rest from the pages themselves.

mod pages;
mod paper;
mod reference;
#[cfg(test)]
mod tests;

pub use paper::paper;

use std::io::Write;
use std::process::ExitCode;

use tcplab_base::safe;
use tcplab_plan::experiment::nearest;
use tcplab_report::glossary;
use tcplab_report::terminal::Theme;

use crate::args::Color;
use crate::failure::Failure;
use crate::{exit, screen, terminal};

/// Asks for the list of all words.
const ALL: &str = "words";

/// Suggestions for an unknown word at most.
const SUGGESTIONS: usize = 4;

/// Prints what these words name: a command with its sub-commands, or one word.
pub fn main(words: &[String], color: Color) -> Result<ExitCode, Failure> {
    let word = words.join(" ");
    if is_command(words) {
        command(words)?;
        let theme = terminal::theme(color, false);
        // `population` is a command and a term.
        if let Some(entry) = glossary::explain(&theme, &word) {
            write!(screen::painted(&theme), "\n{entry}")?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    explain(&word, color)
}

/// Prints what one word means; an empty one stands for the list of all.
pub fn explain(word: &str, color: Color) -> Result<ExitCode, Failure> {
    let theme = terminal::theme(color, false);
    let text = answer(&theme, word)?;
    screen::painted(&theme).write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// All entries for a word: term, finding, key, sysctl, ...; otherwise the page or section with this name.
fn answer(theme: &Theme, word: &str) -> Result<String, Failure> {
    if word.is_empty() || word == ALL {
        return Ok(format!("{}\n{}", glossary::list(theme), pages::list(theme)));
    }
    let asked = glossary::plain(word);
    let is = |name: &str| glossary::plain(name) == asked;
    // `findings` is a page, and the plural of a term.
    let is_page =
        pages::is_file(word) || pages::names().any(is) && !glossary::names().into_iter().any(is);
    let mut found: Vec<String> = Vec::new();
    if !is_page {
        found.extend(glossary::explain(theme, word));
        found.extend(reference::of(theme, &asked));
    }
    if found.is_empty() {
        found.extend(pages::of(theme, word));
    }
    match found.as_slice() {
        [] => Err(Failure::usage(unknown(word))),
        found => Ok(found.join("\n")),
    }
}

/// What is wrong with a word that nothing has.
fn unknown(word: &str) -> String {
    let near = near(word);
    let way_out = match near.as_slice() {
        [] => format!("; `tcplab help {ALL}` lists all terms and pages"),
        near => format!("; did you mean `{}`?", near.join("` or `")),
    };
    format!("no entry for `{}`{way_out}", safe(word))
}

/// Words that an unknown one may mean: few letters away, or with it as a part.
fn near(word: &str) -> Vec<String> {
    let asked = glossary::plain(word);
    let mut known: Vec<String> = glossary::names().into_iter().map(str::to_owned).collect();
    known.extend(pages::names().map(str::to_owned));
    known.extend(reference::names());
    let typo = nearest(&asked, known.iter().map(String::as_str)).map(str::to_owned);
    let holds = |k: &&String| asked.len() > 2 && glossary::plain(k).contains(&asked);
    let parts = known.iter().filter(holds).cloned();
    let mut near: Vec<String> = Vec::new();
    for word in typo.into_iter().chain(parts) {
        if near.len() < SUGGESTIONS && !near.contains(&word) {
            near.push(word);
        }
    }
    near
}

/// Whether these words name a command, or a command of a command.
fn is_command(words: &[String]) -> bool {
    let mut command = exit::command();
    words.iter().all(|word| {
        let sub = command.find_subcommand(word).cloned();
        sub.is_some_and(|sub| {
            command = sub;
            true
        })
    })
}

/// Prints the help of a command, as its `--help` does.
fn command(words: &[String]) -> Result<(), Failure> {
    let line = std::iter::once("tcplab")
        .chain(words.iter().map(String::as_str))
        .chain(["--help"]);
    match exit::command().try_get_matches_from(line) {
        Err(e) if !e.use_stderr() => Ok(e.print()?),
        _ => Err(Failure::usage("this command has no help")),
    }
}
