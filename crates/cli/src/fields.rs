//! `tcplab schema NAME --fields`: the fields of a document as tables to read, in the words of its JSON Schema.

use std::fmt::Write;

use serde_json::Value;

use crate::failure::Failure;

/// The document, under the name that `--fields` gives it.
const DOCUMENT: &str = "document";

/// Markdown: a section for the document and each of its types, or for the type of this name.
///
/// # Errors
/// A type that the schema does not have; a field of this name is looked for as well.
pub fn sections(schema: &Value, of: &str) -> Result<String, Failure> {
    let mut types = vec![(DOCUMENT, schema)];
    let definitions = schema["$defs"].as_object();
    types.extend(
        definitions
            .into_iter()
            .flatten()
            .map(|(n, d)| (n.as_str(), d)),
    );
    let mut out = String::new();
    for (name, definition) in &types {
        if of.is_empty() || is_about(name, definition, of) {
            section(name, definition, &mut out);
        }
    }
    match out.is_empty() {
        false => Ok(out),
        true => Err(unknown(&types, of)),
    }
}

/// Whether the type has this name, or a field of this name.
fn is_about(name: &str, definition: &Value, of: &str) -> bool {
    let fields = definition["properties"].as_object();
    name.eq_ignore_ascii_case(of) || fields.is_some_and(|fields| fields.contains_key(of))
}

fn unknown(types: &[(&str, &Value)], of: &str) -> Failure {
    let names: Vec<&str> = types.iter().map(|(name, _)| *name).collect();
    Failure::usage(format!(
        "the schema has no type or field `{of}`; its types: {}",
        names.join(", ")
    ))
}

fn section(name: &str, definition: &Value, out: &mut String) {
    let _ = write!(out, "\n### {name}\n\n");
    if let Some(text) = definition["description"].as_str() {
        let _ = write!(out, "{}\n\n", one_line(text));
    }
    if let Some(variants) = definition["oneOf"].as_array() {
        alternatives(variants, out);
    } else if let Some(names) = definition["enum"].as_array() {
        let names: Vec<String> = names.iter().map(|n| format!("`{}`", word(n))).collect();
        let _ = writeln!(out, "One of {}.", names.join(", "));
    } else if definition["properties"].is_object() {
        table(definition, out);
    } else {
        let _ = writeln!(out, "{}.", kind(definition));
    }
}

/// Words of which one is said, or objects that a field tells apart.
fn alternatives(variants: &[Value], out: &mut String) {
    for variant in variants {
        let fields = variant["properties"].as_object().into_iter().flatten();
        let mut tags = fields.filter_map(|(_, rule)| rule["const"].as_str());
        match tags.next() {
            Some(tag) => section(&format!("`{tag}`"), variant, out),
            None => {
                let text = variant["description"].as_str().unwrap_or_default();
                let _ = match variant["const"].as_str() {
                    Some(value) => writeln!(out, "| `{value}` | {} |", one_line(text)),
                    None => writeln!(out, "| {} | {} |", kind(variant), one_line(text)),
                };
            }
        }
    }
}

fn table(definition: &Value, out: &mut String) {
    let required = definition["required"].as_array();
    let is_required = |field: &str| required.is_some_and(|all| all.iter().any(|r| r == field));
    for (field, rule) in definition["properties"].as_object().into_iter().flatten() {
        let optional = if is_required(field) { "" } else { ", optional" };
        let tag = rule["const"].as_str().map(|tag| format!("`{tag}`"));
        let text = rule["description"].as_str().or(tag.as_deref());
        let text = one_line(text.unwrap_or_default());
        let _ = writeln!(out, "| `{field}` | {}{optional} | {text} |", kind(rule));
    }
    if definition.get("$ref").is_some() {
        let _ = writeln!(out, "\nand the fields of {}.", kind(definition));
    }
}

fn word(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn one_line(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

/// A type in words.
fn kind(rule: &Value) -> String {
    if let Some(reference) = rule["$ref"].as_str() {
        let name = reference.rsplit('/').next();
        return name.unwrap_or_default().to_owned();
    }
    if let Some(any) = rule["anyOf"].as_array() {
        let kinds: Vec<String> = any.iter().map(kind).collect();
        return kinds.join(" or ");
    }
    let one = |name: &str| match name {
        "object" if rule["additionalProperties"].is_object() => {
            format!("object of {}", kind(&rule["additionalProperties"]))
        }
        "array" if rule["items"].is_object() => format!("list of {}", kind(&rule["items"])),
        "array" => "list".to_owned(),
        other => other.to_owned(),
    };
    match &rule["type"] {
        Value::Null => "any value".to_owned(),
        Value::Array(names) => {
            let names: Vec<String> = names.iter().map(|n| one(word(n))).collect();
            names.join(" or ")
        }
        name => one(word(name)),
    }
}
