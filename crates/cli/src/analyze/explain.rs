//! `--explain WORD`: what a word of a report means.

use std::io::Write;
use std::process::ExitCode;

use tcplab_report::glossary;

use crate::args::Color;
use crate::failure::Failure;
use crate::{screen, terminal};

/// Explains one word; an empty one stands for the list of all.
pub fn main(word: &str, color: Color) -> Result<ExitCode, Failure> {
    let theme = terminal::theme(color, false);
    let text = match word {
        "" => glossary::list(&theme),
        word => glossary::explain(&theme, word).map_err(|e| Failure::usage(e.to_string()))?,
    };
    screen::painted(&theme).write_all(text.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
