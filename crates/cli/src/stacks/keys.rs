//! `tcplab stacks --keys`: the keys of experiments, sysctls of hosts and words of qdiscs that each kind of stack
//! honours.

use std::io::Write;
use std::process::ExitCode;

use serde::Serialize;
use tcplab_lab::check::{RefusedSysctl, SysctlEntry, sysctls};
use tcplab_plan::contract::{self, Entry, Kind, Rule};
use tcplab_qdisc::{KINDS, Settings, words_of};
use tcplab_report::terminal::style::wrap;

use crate::failure::Failure;
use crate::json;
use crate::screen;

/// Schema of the answer.
pub const SCHEMA: &str = "tcplab.keys/1";

/// Columns of the text.
const WIDTH: usize = 80;

const HEAD: &str = "Keys of experiment files, by table: value, default, meaning. Every kind of stack \
    (model, uml, qemu, host, ssh) honours a key unless its lines name an exception.";

const SYSCTLS: &str = "Sysctls of hosts (`sysctl` of `[[host]]`) that the model knows, with its defaults. \
    Kernels accept these and more, unless a line names an exception.";

const QDISCS: &str = "Qdiscs of links (`qdisc`), with their words. With by = \"tcplab\" they work on every \
    kind of stack. With by = \"kernel\" the kernel's own qdiscs are used, unless a line names an exception.";

/// The answer of `stacks --keys --json`.
#[derive(Serialize)]
struct Document {
    schema: &'static str,
    kinds: Vec<&'static str>,
    keys: Vec<KeyRow>,
    sysctls: Vec<SysctlRow>,
    qdiscs: Vec<QdiscRow>,
}

#[derive(Serialize)]
struct QdiscRow {
    qdisc: &'static str,
    words: &'static [&'static str],
    /// Those of them that no kernel has; the whole qdisc, where its own name is among them.
    not_in_kernels: Vec<&'static str>,
}

fn qdiscs() -> impl Iterator<Item = QdiscRow> {
    let row = |qdisc: &'static str| {
        let words = words_of(qdisc).unwrap_or_default();
        let is_own = |word: &str| {
            let text = if word == qdisc {
                qdisc.to_owned()
            } else {
                format!("{qdisc} {word}")
            };
            let parsed = Settings::parse(&text).ok();
            parsed.is_some_and(|of| of.kind().not_in_kernels().is_some())
        };
        let all = std::iter::once(qdisc).chain(words.iter().copied());
        let own: Vec<&str> = all.filter(|word| is_own(word)).collect();
        let not_in_kernels = if own.contains(&qdisc) {
            vec![qdisc]
        } else {
            own
        };
        QdiscRow {
            qdisc,
            words,
            not_in_kernels,
        }
    };
    KINDS.into_iter().map(row)
}

#[derive(Serialize)]
struct KeyRow {
    #[serde(flatten)]
    entry: Entry,
    honoured: Vec<&'static str>,
    refused: Vec<Refused>,
}

/// What some kinds of stack say to a key.
#[derive(Serialize)]
struct Refused {
    on: Vec<&'static str>,
    /// Which of its settings; empty: all.
    when: &'static str,
    why: &'static str,
    remedy: &'static str,
    /// The name for `run.tolerate`.
    #[serde(skip_serializing_if = "Option::is_none")]
    tolerate: Option<&'static str>,
}

#[derive(Serialize)]
struct SysctlRow {
    sysctl: &'static str,
    takes: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    unit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<(i64, i64)>,
    /// What runs begin with, on the model under `linux-6.1`.
    default: String,
    /// Linux's own default, if runs begin with another value (on ssh the machine's stays).
    #[serde(skip_serializing_if = "Option::is_none")]
    linux_default: Option<String>,
    meaning: &'static str,
    honoured: Vec<&'static str>,
    /// The first release that has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<RefusedSysctl>,
    /// The value that the model always uses.
    #[serde(skip_serializing_if = "Option::is_none")]
    model_acts_as: Option<&'static str>,
}

/// Prints keys, sysctls and qdiscs.
pub fn main(as_json: bool) -> Result<ExitCode, Failure> {
    json::or_words(as_json, &document(), print)
}

fn words(kinds: impl IntoIterator<Item = Kind>) -> Vec<&'static str> {
    kinds.into_iter().map(Kind::word).collect()
}

fn kinds(is_one: impl Fn(Kind) -> bool) -> Vec<&'static str> {
    words(Kind::ALL.into_iter().filter(|kind| is_one(*kind)))
}

fn document() -> Document {
    let refused = |rule: &'static Rule| Refused {
        on: words(rule.not_on.iter().copied()),
        when: rule.when,
        why: rule.why,
        remedy: rule.remedy,
        tolerate: rule.tolerable.then_some(rule.name),
    };
    let key = |entry: Entry| KeyRow {
        honoured: kinds(|kind| entry.is_honoured(kind)),
        refused: entry.rules.iter().map(refused).collect(),
        entry,
    };
    let sysctl = |entry: SysctlEntry| SysctlRow {
        honoured: kinds(|kind| entry.is_honoured(kind)),
        since: entry.since(),
        sysctl: entry.row.name,
        takes: entry.row.takes,
        unit: entry.row.unit,
        range: entry.row.range,
        linux_default: entry.set_by_runs.map(|_| entry.row.default.clone()),
        default: entry.set_by_runs.map_or(entry.row.default, str::to_owned),
        meaning: entry.row.meaning,
        refused: entry.refused,
        model_acts_as: entry.model_acts_as,
    };
    Document {
        schema: SCHEMA,
        kinds: kinds(|_| true),
        keys: contract::entries().into_iter().map(key).collect(),
        sysctls: sysctls().into_iter().map(sysctl).collect(),
        qdiscs: qdiscs().collect(),
    }
}

fn print() -> Result<(), Failure> {
    let mut out = screen::plain();
    let mut text = Vec::new();
    text.extend(wrap(HEAD, WIDTH));
    let mut table = String::new();
    for entry in contract::entries() {
        if entry.table != table {
            text.push(String::new());
            text.push(entry.table.to_uppercase());
            table.clone_from(&entry.table);
        }
        of_key(&entry, &mut text);
    }
    text.push(String::new());
    text.push("SYSCTLS".to_owned());
    text.extend(wrap(SYSCTLS, WIDTH));
    for entry in sysctls() {
        of_sysctl(&entry, &mut text);
    }
    text.push(String::new());
    text.push("QDISCS".to_owned());
    text.extend(wrap(QDISCS, WIDTH));
    for row in qdiscs() {
        text.push(row.qdisc.to_owned());
        push(&mut text, &row.words.join(", "));
        if !row.not_in_kernels.is_empty() {
            let own = row.not_in_kernels.join(", ");
            push(&mut text, &format!("refused with by = \"kernel\": {own}"));
        }
    }
    for line in text {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Lines that are further in than the key.
fn push(text: &mut Vec<String>, line: &str) {
    let lines = wrap(line, WIDTH - 4);
    text.extend(lines.iter().map(|line| format!("    {line}")));
}

/// The line of a key: its values and its default. Its further lines hang.
fn head(text: &mut Vec<String>, name: &str, takes: &str, default: Option<&str>) {
    let default = match default {
        Some(default) => format!("default: {default}"),
        None => "required".to_owned(),
    };
    let lines = wrap(&format!("{name}: {takes}; {default}"), WIDTH - 4);
    let hang = |(n, line): (usize, String)| if n > 0 { format!("    {line}") } else { line };
    text.extend(lines.into_iter().enumerate().map(hang));
}

/// What a key takes and means, and which stacks refuse it.
pub fn of_key(entry: &Entry, text: &mut Vec<String>) {
    let takes = match &entry.written_range {
        Some((min, max)) => format!("{}, {min} to {max}", entry.takes),
        None => entry.takes.clone(),
    };
    head(text, entry.name, &takes, entry.default.as_deref());
    push(text, entry.meaning);
    for rule in entry.rules {
        let when = match rule.when {
            "" => String::new(),
            when => format!(" {when}"),
        };
        let on = match rule.not_on.len() == Kind::ALL.len() {
            true => "every stack".to_owned(),
            false => words(rule.not_on.iter().copied()).join(", "),
        };
        push(text, &format!("refused on {on}{when}: {}", rule.why));
    }
    if !entry.is_applied(Kind::Ssh) {
        push(
            text,
            "ignored on ssh (the network is real); the result says so",
        );
    }
}

/// The same of a sysctl.
pub fn of_sysctl(entry: &SysctlEntry, text: &mut Vec<String>) {
    let row = &entry.row;
    let takes = match row.range {
        Some((0, 1)) | None => row.takes.to_owned(),
        Some((min, max)) => format!("{}, {min} to {max} {}", row.takes, row.unit),
    };
    let default = entry.set_by_runs.unwrap_or(&row.default);
    head(text, row.name, takes.trim_end(), Some(default));
    push(text, row.meaning);
    if entry.set_by_runs.is_some() {
        let linux = &row.default;
        push(
            text,
            &format!("Linux's default is {linux}; runs set {default}, except on ssh"),
        );
    }
    if let Some(value) = entry.model_acts_as {
        push(
            text,
            &format!("refused on model, which acts as with {value}"),
        );
    }
    if let Some(RefusedSysctl { on, why }) = &entry.refused {
        push(text, &format!("refused on {on}: {why}"));
    }
}
