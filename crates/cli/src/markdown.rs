//! `--markdown [FILE.md]`, the same for every command that has it: to a file, or printed in place of the table.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, ValueHint};

use crate::failure::Failure;
use crate::files::write;
use crate::screen;

/// The option.
#[derive(Args, Debug)]
pub struct MarkdownArg {
    /// Write Markdown to FILE.md; without a name, or with `-`, print it instead of the table
    #[arg(long, value_name = "FILE.md", alias = "write-markdown", num_args = 0..=1, default_missing_value = "-", value_parser = place, help_heading = "Output", value_hint = ValueHint::FilePath)]
    pub markdown: Option<PathBuf>,
}

impl MarkdownArg {
    /// The file, where it is one.
    pub fn file(&self) -> Option<&Path> {
        self.markdown
            .as_deref()
            .filter(|path| *path != Path::new("-"))
    }

    /// Whether it is printed.
    pub fn prints(&self) -> bool {
        self.markdown.is_some() && self.file().is_none()
    }

    /// Writes the file, or prints. True: it was printed, and stands in place of the table.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn tell(&self, text: impl FnOnce() -> String) -> Result<bool, Failure> {
        match self.file() {
            Some(path) => write(path, &text())?,
            None if self.prints() => screen::plain().write_all(text().as_bytes())?,
            None => {}
        }
        Ok(self.prints())
    }

    /// One standard output has one form.
    ///
    /// # Errors
    /// `--json` beside a `--markdown` that is printed.
    pub fn beside_json(&self, json: bool) -> Result<(), Failure> {
        match json && self.prints() {
            true => Err(Failure::usage(
                "--json and --markdown both print; write --markdown FILE.md",
            )),
            false => Ok(()),
        }
    }
}

/// `compare --markdown a.json b.json` must not write over `a.json`: a file that exists has to be one of Markdown.
fn place(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    let end = path.extension().and_then(|end| end.to_str());
    let is_markdown = end.is_some_and(|end| matches!(end, "md" | "markdown"));
    match path.is_file() && !is_markdown {
        true => Err(
            "this file exists and its name does not end in .md; write `--markdown -` to print"
                .into(),
        ),
        false => Ok(path),
    }
}
