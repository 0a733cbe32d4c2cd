//! Shell lines, as far as they are understood yet.

use crate::target::Setting;

/// What a shell line asks for.
pub(super) fn interpret(line: &str) -> Result<Vec<Setting>, String> {
    Err(format!("needs shell `{line}`"))
}
