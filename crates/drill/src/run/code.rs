//! Code between `%{` and `}%`: evaluated at once over the TCP_INFO of the socket under test.
//!
//! The original collects all code, and runs it after the last event; what it sees is the same.

use super::{Runner, Stop, What, fail};
use crate::python::{self, CodeError};
use crate::script::{At, Place};
use crate::target::Target;

impl<T: Target + ?Sized> Runner<'_, T> {
    pub(super) fn code(&mut self, code: &At<String>) -> Result<(), Stop> {
        let number = self
            .under_test
            .ok_or_else(|| fail(code.place, "the script has no socket that code can ask"))?;
        let fd = self.sockets.get(number).and_then(|s| s.fd);
        let info = fd.and_then(|fd| self.target.tcp_info(fd)).ok_or_else(|| {
            fail(
                code.place,
                "the socket has no TCP_INFO: it is not accepted yet, or closed",
            )
        })?;
        let result = python::run(&code.value, &info, &mut self.vars);
        let now = self.target.now();
        let held = if result.is_ok() {
            ""
        } else {
            " (does not hold)"
        };
        let words: Vec<&str> = code.value.split_whitespace().collect();
        let text = format!("%{{ {} }}%{held}", words.join(" "));
        self.note(now, code.place.line, What::Note(text));
        result.map_err(|error| match error {
            CodeError::NeedsPython(_) => Stop::Skip {
                line: code.place.line,
                why: error.to_string(),
            },
            CodeError::AssertFailed { line, .. } | CodeError::Wrong { line, .. } => {
                let why = error.to_string() + &self.explained(number);
                fail(place_of(code.place, line), why)
            }
        })
    }
}

/// The place of a block's line, which counts from 1. Only the first line has the block's column.
fn place_of(block: Place, line: u32) -> Place {
    match line {
        0 | 1 => block,
        _ => Place {
            line: block.line.saturating_add(line - 1),
            column: 1,
        },
    }
}
