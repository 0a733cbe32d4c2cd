//! A line on standard error.

use std::io::{self, Write};

/// Writes a message and a line end to standard error. Hidden characters in it are made visible: messages name files,
/// hosts and interfaces. When standard error is closed or full, nobody can be told, and the work goes on.
pub fn say(message: &str) {
    let line = format!("{}\n", tcplab_base::safe_lines(message));
    let _ = io::stderr().lock().write_all(line.as_bytes());
}
