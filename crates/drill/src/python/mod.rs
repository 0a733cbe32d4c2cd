//! The part of Python that `%{ }%` blocks of scripts need: `assert`, assignments, `print` (which
//! shows nothing here), chained comparisons, arithmetic with Python's rules, `and or not in`,
//! tuples, `'%d' % x`, f-strings, `if` on one line. Anything else is an error; nothing is guessed.
//!
//! As in packetdrill, all blocks of a script are one Python program: variables keep their values
//! from block to block. Before each block the names of the socket's state get their current values.

mod eval;
mod format;
mod lex;
mod parse;
mod syntax;
mod value;

pub use value::{Value, Vars};

use syntax::{Expr, Statement, What};

/// Longest block in bytes.
const MAX_CODE_BYTES: usize = 64 << 10;

/// Why a block did not go well.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CodeError {
    /// An assert does not hold: the script fails.
    #[error("{}", failed(text, message.as_deref(), values))]
    AssertFailed {
        /// Its line in the block, 1 for the first.
        line: u32,
        /// The assert as written.
        text: String,
        /// Its message, evaluated.
        message: Option<String>,
        /// The names that the condition uses, with their values.
        values: Vec<(String, String)>,
    },
    /// The block does more than we evaluate: the script is skipped with this reason.
    #[error("needs Python: {0}")]
    NeedsPython(String),
    /// Python itself would stop here: the script fails.
    #[error("{what}")]
    Wrong {
        /// The line in the block, 1 for the first.
        line: u32,
        /// What Python would say.
        what: String,
    },
}

fn failed(text: &str, message: Option<&str>, values: &[(String, String)]) -> String {
    let values: Vec<String> = values
        .iter()
        .map(|(name, value)| format!("{name} is {value}"))
        .collect();
    let mut out = format!("`{text}` does not hold");
    if !values.is_empty() {
        out.push_str(": ");
        out.push_str(&values.join(", "));
    }
    if let Some(message) = message {
        out.push_str(&format!(" ({message})"));
    }
    out
}

/// What evaluating can run into; the statement adds its line.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Trouble {
    NeedsPython(String),
    Wrong(String),
}

impl Trouble {
    fn at(self, line: u32) -> CodeError {
        match self {
            Trouble::NeedsPython(what) => CodeError::NeedsPython(what),
            Trouble::Wrong(what) => CodeError::Wrong { line, what },
        }
    }
}

/// Symbols that packetdrill gives together with `struct tcp_info`.
const CONSTANTS: &[&str] = &[
    "TCP_ESTABLISHED",
    "TCP_SYN_SENT",
    "TCP_SYN_RECV",
    "TCP_FIN_WAIT1",
    "TCP_FIN_WAIT2",
    "TCP_TIME_WAIT",
    "TCP_CLOSE",
    "TCP_CLOSE_WAIT",
    "TCP_LAST_ACK",
    "TCP_LISTEN",
    "TCP_CLOSING",
    "TCP_CA_Open",
    "TCP_CA_Disorder",
    "TCP_CA_CWR",
    "TCP_CA_Recovery",
    "TCP_CA_Loss",
    "TCPI_OPT_TIMESTAMPS",
    "TCPI_OPT_SACK",
    "TCPI_OPT_WSCALE",
    "TCPI_OPT_ECN",
    "TCPI_OPT_ECN_SEEN",
    "TCPI_OPT_SYN_DATA",
    "TCPI_OPT_USEC_TS",
    "TCPI_OPT_TFO_CHILD",
];

/// The names that packetdrill takes from getsockopt(SO_MEMINFO), in their order there.
pub const MEMORY_NAMES: [&str; 9] = [
    "SK_MEMINFO_RMEM_ALLOC",
    "SK_MEMINFO_RCVBUF",
    "SK_MEMINFO_WMEM_ALLOC",
    "SK_MEMINFO_SNDBUF",
    "SK_MEMINFO_FWD_ALLOC",
    "SK_MEMINFO_WMEM_QUEUED",
    "SK_MEMINFO_OPTMEM",
    "SK_MEMINFO_BACKLOG",
    "SK_MEMINFO_DROPS",
];

/// Runs a block. `names` are the values of the socket's state. If it is empty, the names keep the values of earlier
/// blocks.
///
/// # Errors
/// See [`CodeError`].
pub fn run(code: &str, names: &[(&str, i64)], vars: &mut Vars) -> Result<(), CodeError> {
    if code.len() > MAX_CODE_BYTES {
        return Err(CodeError::NeedsPython("the block is very long".into()));
    }
    if !names.is_empty() {
        for name in CONSTANTS {
            if let Some(number) = crate::symbols::number(name) {
                vars.set(name, Value::Int(number.into()));
            }
        }
    }
    for (name, value) in names {
        vars.set(name, Value::Int((*value).into()));
    }
    let statements = parse::parse(code)?;
    statements
        .iter()
        .try_for_each(|statement| carry_out(code, statement, vars))
}

/// Reads a block and runs nothing.
///
/// # Errors
/// [`CodeError::Wrong`] and [`CodeError::NeedsPython`], as far as reading finds them.
pub fn check(code: &str) -> Result<(), CodeError> {
    match code.len() > MAX_CODE_BYTES {
        true => Err(CodeError::NeedsPython("the block is very long".into())),
        false => parse::parse(code).map(drop),
    }
}

fn carry_out(code: &str, statement: &Statement, vars: &mut Vars) -> Result<(), CodeError> {
    let line = statement.line;
    match &statement.what {
        What::Assert {
            condition,
            message,
            text,
        } => {
            let value = eval::eval(condition, vars).map_err(|t| t.at(line))?;
            if value.is_true() {
                return Ok(());
            }
            // Whatever is wrong with the message, the assert fails.
            let message = message.as_ref().and_then(|m| eval::eval(m, vars).ok());
            Err(CodeError::AssertFailed {
                line,
                text: one_line(code.get(text.clone()).unwrap_or_default()),
                message: message.map(|value| value.text()),
                values: used(condition, vars),
            })
        }
        What::Expr(value) => eval::eval(value, vars).map(drop).map_err(|t| t.at(line)),
        What::Assign { to, with, value } => {
            let mut value = eval::eval(value, vars).map_err(|t| t.at(line))?;
            for name in to {
                if let Some(operator) = with {
                    let old = eval::name(name, vars).map_err(|t| t.at(line))?;
                    value = eval::binary(*operator, &old, &value).map_err(|t| t.at(line))?;
                }
                vars.set(name, value.clone());
            }
            Ok(())
        }
        What::If(branches) => {
            for (condition, body) in branches {
                let holds = match condition {
                    Some(condition) => eval::eval(condition, vars)
                        .map_err(|t| t.at(line))?
                        .is_true(),
                    None => true,
                };
                if holds {
                    return body
                        .iter()
                        .try_for_each(|statement| carry_out(code, statement, vars));
                }
            }
            Ok(())
        }
    }
}

/// The names that an expression uses, with their values, in the order in which they come.
fn used(expr: &Expr, vars: &Vars) -> Vec<(String, String)> {
    let mut names = Vec::new();
    expr.names(&mut names);
    let mut out: Vec<(String, String)> = Vec::new();
    for name in names {
        // What has the value in its own name says nothing.
        let is_constant = CONSTANTS.contains(&name);
        if let Some(value) = vars.get(name)
            && !is_constant
            && !out.iter().any(|(known, _)| known == name)
        {
            out.push((name.to_string(), named(name, value)));
        }
    }
    out
}

/// A value, with the symbol that stands for it where the name tells which symbols it has.
fn named(name: &str, value: &Value) -> String {
    let prefix = match name {
        "tcpi_ca_state" => "TCP_CA_",
        "tcpi_state" => "TCP_",
        _ => "",
    };
    let symbol = CONSTANTS.iter().find(|symbol| {
        !prefix.is_empty()
            && symbol.starts_with(prefix)
            && symbol.starts_with("TCP_CA_") == (prefix == "TCP_CA_")
            && crate::symbols::number(symbol)
                .map(|number| Value::Int(number.into()))
                .as_ref()
                == Some(value)
    });
    match symbol {
        Some(symbol) => format!("{} ({symbol})", value.shown()),
        None => value.shown(),
    }
}

fn one_line(text: &str) -> String {
    let words: Vec<&str> = text
        .split_whitespace()
        .filter(|word| *word != "\\")
        .collect();
    words.join(" ")
}

#[cfg(test)]
mod tests;
