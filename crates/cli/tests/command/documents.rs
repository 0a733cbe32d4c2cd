//! Tables of docs/ that are made from the code, and what `tcplab schema --fields` says in place of tables.
//! `TCPLAB_WRITE_DOCS=1 cargo test -p tcplab documents` writes the tables.

use std::fmt::Write;

use serde_json::{Map, Value};

use tcplab_qdisc::{CHILDREN, SUPPORTED};

use super::{root, tcplab};

/// The document of `--acks`.
const ANALYZE: &str = "docs/analyze.md";

/// Puts `tables` between the marks of a section.
fn with_section(text: &str, name: &str, tables: &str) -> String {
    let (begin, end) = (
        format!("<!-- fields of {name} -->\n"),
        format!("<!-- end of {name} -->"),
    );
    let (head, rest) = text
        .split_once(&begin)
        .unwrap_or_else(|| panic!("no mark {begin}"));
    let (_, tail) = rest
        .split_once(&end)
        .unwrap_or_else(|| panic!("no mark {end}"));
    format!("{head}{begin}{tables}\n{end}{tail}")
}

/// The document has these sections, each with its name; or they are written.
fn has_sections(path: &str, sections: &[(&str, String)]) {
    let file = root().join(path);
    let written = std::fs::read_to_string(&file).unwrap();
    let mut right = written.clone();
    for (name, tables) in sections {
        right = with_section(&right, name, tables);
    }
    if std::env::var_os("TCPLAB_WRITE_DOCS").is_some() {
        std::fs::write(&file, &right).unwrap();
        return;
    }
    let differs = written.lines().zip(right.lines()).find(|(w, r)| w != r);
    assert!(
        written == right,
        "{path} is not what the code says; TCPLAB_WRITE_DOCS=1 cargo test -p tcplab documents \
         writes it. First difference: {differs:?}"
    );
}

#[test]
fn every_field_of_the_schemas_has_a_meaning() {
    for name in [
        "analyze",
        "pair",
        "explain",
        "run",
        "reproduce",
        "drill",
        "link",
        "inject",
        "compare",
        "diff",
        "qa",
        "metrics",
        "probe",
        "population",
        "population-variants",
    ] {
        let run = tcplab(&["schema", name, "--fields"]);
        assert_eq!(run.code, 0, "{name}: {}", run.err);
        let bare = run.out.lines().find(|line| line.trim_end().ends_with('·'));
        assert_eq!(bare, None, "{name}: a field without a meaning");
    }
}

#[test]
fn fields_of_one_name_are_found() {
    let run = tcplab(&["schema", "analyze", "--fields", "packets"]);
    assert!(run.out.contains("packets"), "{}", run.out);
    let of_type = tcplab(&["schema", "analyze", "--fields", "Spread"]);
    assert!(of_type.out.starts_with("Spread\n"), "{}", of_type.out);
    let unknown = tcplab(&["schema", "analyze", "--fields", "nothing"]);
    assert_eq!(unknown.code, 2);
    assert!(
        unknown
            .err
            .contains("no type or field `nothing`; its types: document, "),
        "{}",
        unknown.err
    );
}

#[test]
fn every_kind_of_qdisc_is_documented() {
    let mut table = "\n| kind | what is supported |\n|---|---|\n".to_owned();
    for (kind, what) in SUPPORTED {
        let _ = writeln!(table, "| `{kind}` | {what} |");
    }
    let children = CHILDREN.map(|kind| format!("`{kind}`")).join(", ");
    let _ = writeln!(table, "\nKinds that may be a child: {children}.");
    has_sections("docs/qdisc.md", &[("the kinds", table)]);
}

#[test]
fn the_glossary_has_the_words_of_help() {
    let tables = tcplab_report::glossary::tables();
    has_sections("docs/glossary.md", &[("the glossary", tables)]);
}

#[test]
fn every_line_of_acks_has_the_documented_members() {
    let text = std::fs::read_to_string(root().join(ANALYZE)).unwrap();
    let run = tcplab(&["analyze", "--acks", "--json", super::QUICKACK]);
    let first: Map<String, Value> = serde_json::from_str(run.out.lines().next().unwrap()).unwrap();
    let (_, section) = text.split_once("### `--acks`").unwrap();
    let (section, _) = section.split_once("\n### ").unwrap();
    for name in first.keys() {
        assert!(
            section.contains(&format!("| `{name}` |")),
            "{name} is not in {ANALYZE}"
        );
    }
}
