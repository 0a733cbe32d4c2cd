//! What a wrong command line, `--help` and `--version` print.

use std::ffi::OsString;
use std::process::ExitCode;

use tcplab_base::safe_lines;
use tcplab_os::say;

use crate::failure::Failure;
#[cfg(target_os = "linux")]
use crate::probe;
use crate::{analyze, exit, json};

/// A wrong command line, or `--help` and `--version`. With `--json`, the error is a document.
pub fn report(raw: &[OsString], e: &clap::Error) -> ExitCode {
    let json = raw.iter().any(|a| a == "--json");
    if e.use_stderr() && json {
        let text = e.render().to_string();
        let message = text.trim_start_matches("error: ").trim_end();
        let failure = Failure::usage(message);
        let cli = exit::command();
        let mut words = raw.iter().skip(1);
        let sub = words.find_map(|word| cli.find_subcommand(word));
        match sub.map(clap::Command::get_name) {
            #[cfg(target_os = "linux")]
            Some("probe") => probe::json::empty_document(failure),
            Some("analyze") | None => analyze::json::empty_document(&failure),
            Some(_) => json::print_failure(None, &failure),
        }
    }
    if e.use_stderr() {
        let text = e.render().to_string();
        match safe_lines(&text) == text {
            // In clap's colours; whether it could be written changes nothing any more.
            true => drop(e.print()),
            false => say(text.trim_end()),
        }
        return ExitCode::from(2);
    }
    let shown = e.print().map_err(Failure::from);
    let done = shown.and_then(|()| crate::printed(ExitCode::SUCCESS));
    done.unwrap_or_else(|failure| failure.report())
}
