//! A document in docs/ lists every field of the schemas of its command, in the words of the schemas,
//! and every option of the command. `TCPLAB_WRITE_DOCS=1 cargo test -p tcplab documents` writes the tables.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Map, Value};

use tcplab_qdisc::{CHILDREN, SUPPORTED};

use super::{root, schema, tcplab};

/// The document of `--acks`.
const ANALYZE: &str = "docs/analyze.md";

/// A document, the schemas whose fields it lists, and the commands whose options it lists.
struct Documented {
    path: &'static str,
    schemas: &'static [&'static str],
    commands: &'static [&'static [&'static str]],
}

const DOCUMENTS: [Documented; 9] = [
    Documented {
        path: "docs/compare.md",
        schemas: &["compare", "metrics"],
        commands: &[&["compare"]],
    },
    Documented {
        path: "docs/bench.md",
        schemas: &["qa"],
        commands: &[&["bench"], &["qa"]],
    },
    Documented {
        path: "docs/inject.md",
        schemas: &["inject"],
        commands: &[&["inject"]],
    },
    Documented {
        path: "docs/link.md",
        schemas: &["link"],
        commands: &[&["link"]],
    },
    Documented {
        path: "docs/drill.md",
        schemas: &["drill"],
        commands: &[&["drill"]],
    },
    Documented {
        path: ANALYZE,
        schemas: &["analyze", "pair"],
        commands: &[&["analyze"]],
    },
    Documented {
        path: "docs/probe.md",
        schemas: &["probe"],
        commands: &[
            &["probe", "echo-server"],
            &["probe", "echo-client"],
            &["probe", "stream-server"],
            &["probe", "stream-client"],
            &["probe", "server"],
            &["probe", "client"],
        ],
    },
    Documented {
        path: "docs/explain.md",
        schemas: &["explain"],
        commands: &[],
    },
    Documented {
        path: "docs/results.md",
        schemas: &["run", "reproduce"],
        commands: &[],
    },
];

/// Schemas whose types others share, with the document that describes them: those of an earlier one are not repeated.
const HOMES: [(&str, &str); 3] = [
    ("analyze", "analyze.md"),
    ("compare", "compare.md"),
    ("run", "results.md"),
];

/// The types of a schema, with the document itself under an empty name.
fn types(name: &str) -> Value {
    let mut document = schema::schema(name);
    let mut types = document["$defs"].take();
    let parts = document.as_object_mut().unwrap();
    parts.remove("$schema");
    parts.remove("$defs");
    types[""] = document;
    types
}

/// The tables of one schema: the document itself, then each of its types.
fn tables(name: &str) -> String {
    let schema = schema::schema(name);
    let mut out = String::new();
    table(&schema, "The document", &schema, &mut out);
    let earlier = HOMES.iter().take_while(|(home, _)| *home != name);
    let homes: Vec<(Value, &str)> = earlier.map(|(home, page)| (types(home), *page)).collect();
    let mut elsewhere: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (of, definition) in schema["$defs"].as_object().unwrap() {
        let is_known = |types: &Value| types[of] == *definition || types[""] == *definition;
        let home = homes.iter().find(|(types, _)| is_known(types));
        match home {
            Some((_, page)) => elsewhere.entry(page).or_default().push(of),
            None => table(&schema, of, definition, &mut out),
        }
    }
    for (page, types) in elsewhere {
        let _ = writeln!(
            out,
            "\nDescribed in [{page}]({page}): {}.",
            types.join(", ")
        );
    }
    out
}

fn table(root: &Value, name: &str, definition: &Value, out: &mut String) {
    let _ = write!(out, "\n### {name}\n\n");
    if let Some(text) = definition["description"].as_str() {
        let _ = write!(out, "{}\n\n", one_line(text));
    }
    if let Some(variants) = definition["oneOf"].as_array() {
        if variants
            .iter()
            .all(|variant| variant["properties"].is_object())
        {
            for variant in variants {
                let tag = variant["properties"].as_object().unwrap().iter();
                let [name] = tag
                    .filter_map(|(_, rule)| rule["const"].as_str())
                    .collect::<Vec<_>>()[..]
                else {
                    panic!("a variant without a tag: {variant}");
                };
                table(root, &format!("`{name}`"), variant, out);
            }
            return;
        }
        out.push_str("| value | meaning |\n|---|---|\n");
        for variant in variants {
            let (value, text) = (&variant["const"], &variant["description"]);
            let _ = writeln!(out, "| `{}` | {} |", word(value), one_line(word(text)));
        }
        return;
    }
    if let Some(names) = definition["enum"].as_array() {
        let names: Vec<String> = names.iter().map(|n| format!("`{}`", word(n))).collect();
        let _ = writeln!(out, "One of {}.", names.join(", "));
        return;
    }
    let properties = definition["properties"].as_object().unwrap();
    let required: Vec<&str> = definition["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    out.push_str("| field | type | meaning |\n|---|---|---|\n");
    for (field, rule) in properties {
        let what = rule["const"].as_str().map(|tag| format!("`{tag}`"));
        let text = rule["description"].as_str().or(what.as_deref());
        let text = text.unwrap_or_else(|| panic!("{name}.{field} is not described"));
        let optional = if required.contains(&field.as_str()) {
            ""
        } else {
            ", optional"
        };
        let kind = kind(root, rule);
        let _ = writeln!(out, "| `{field}` | {kind}{optional} | {} |", one_line(text));
    }
    if definition.get("$ref").is_some() {
        let _ = writeln!(out, "\nand the fields of {}.", kind(root, definition));
    }
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn one_line(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

/// A type in words.
fn kind(root: &Value, rule: &Value) -> String {
    if let Some(reference) = rule.get("$ref") {
        schema::resolve(root, reference);
        return word(reference)
            .rsplit('/')
            .next()
            .unwrap_or_default()
            .to_owned();
    }
    if let Some(any) = rule["anyOf"].as_array() {
        let kinds: Vec<String> = any.iter().map(|r| kind(root, r)).collect();
        return kinds.join(" or ");
    }
    if rule.get("type").is_none() {
        return "any value".to_owned();
    }
    let one = |name: &str| match name {
        "object"
            if rule
                .get("additionalProperties")
                .is_some_and(|of| *of != false) =>
        {
            format!("object of {}", kind(root, &rule["additionalProperties"]))
        }
        "array" if rule.get("items").is_some() => format!("list of {}", kind(root, &rule["items"])),
        "array" => "list".to_owned(),
        "null" => "null".to_owned(),
        other => other.to_owned(),
    };
    match &rule["type"] {
        Value::Array(names) => {
            let names: Vec<String> = names.iter().map(|n| one(word(n))).collect();
            names.join(" or ")
        }
        name => one(word(name)),
    }
}

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
fn every_field_of_the_schemas_is_documented() {
    for document in DOCUMENTS {
        let sections = document.schemas.iter().map(|name| (*name, tables(name)));
        has_sections(document.path, &sections.collect::<Vec<_>>());
    }
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
fn every_option_is_documented() {
    for document in DOCUMENTS {
        let text = std::fs::read_to_string(root().join(document.path)).unwrap();
        let mut seen = 0;
        for words in document.commands {
            let help = tcplab(&[*words, &["--help"]].concat()).out;
            let options = help.split_whitespace().filter(|w| w.starts_with("--"));
            for option in options.map(|o| o.trim_end_matches(|c: char| !c.is_alphanumeric())) {
                let name = option.split(['=', '[', ',']).next().unwrap_or_default();
                assert!(
                    text.contains(&format!("`{name}")),
                    "{name} of {words:?} is not in {}",
                    document.path
                );
                seen += 1;
            }
        }
        assert!(
            seen >= 15 * document.commands.len().min(1),
            "{}",
            document.path
        );
    }
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
