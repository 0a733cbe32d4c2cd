//! The JSON Schema of an experiment file, made from the lists of keys; and the same lists as tables
//! for the documents.

use std::fmt::Write;

use serde_json::{Map, Value as Json, json};

use super::keys::{
    APP, Bounds, FILE, Form, HOST, KIND_NAMES, KINDS, Key, LATER, LINK, METRICS, REPORT, RUN,
    SHARED, SOCKET, VARIANT, WAY, are_same,
};
use crate::profile::{BEHAVIOURS, Behaviour, KNOWN, NOT_MODELLED, Takes};
use tcplab_base::quantity::{PERCENT, Quantity, RATE, SIZE, TIME};

/// The forms that have a name in the schema, so that a key only refers to them.
const NAMED: [(&str, Form); 19] = [
    ("flag", Form::Flag),
    ("count", Form::Count((0, 0))),
    ("size", Form::Size((0, 0))),
    ("time", Form::Time(Bounds::Any)),
    ("rate", Form::Rate),
    ("percent", Form::Percent),
    ("text", Form::Text),
    ("name", Form::Name),
    ("texts", Form::Texts),
    ("sizes", Form::Sizes((0, 0))),
    ("times", Form::Times),
    ("sysctl", Form::Sysctl),
    ("quickack", Form::QuickAck),
    ("tos", Form::Tos),
    ("behaviour", Form::Behaviour),
    ("socket", Form::Table(SOCKET)),
    ("socket_changes", Form::Tables(LATER)),
    ("way", Form::Way),
    ("app", Form::Apps),
];

/// The JSON Schema (draft 2020-12) of a file, as TOML editors and other programs read it.
pub(super) fn schema() -> Json {
    of(FILE, "An experiment of tcplab (TOML)")
}

/// The JSON Schema of a file with these keys.
pub(crate) fn of(keys: &[Key], title: &str) -> Json {
    let mut defs = Map::new();
    for (name, form) in NAMED {
        let axis = or_axis(refer(name));
        defs.insert(name.to_owned(), define(&form));
        if !matches!(form, Form::Name | Form::Apps | Form::Tables(_)) {
            defs.insert(format!("{name}_or_axis"), axis);
        }
    }
    let mut root = table(keys);
    if let Some(root) = root.as_object_mut() {
        root.insert(
            "$schema".into(),
            json!("https://json-schema.org/draft/2020-12/schema"),
        );
        root.insert("title".into(), json!(title));
        root.insert("$defs".into(), Json::Object(defs));
    }
    root
}

fn refer(name: &str) -> Json {
    json!({"$ref": format!("#/$defs/{name}")})
}

fn quantity(of: &Quantity, description: &str) -> Json {
    json!({
        "description": format!("{description}: {}", of.write),
        "type": ["string", "integer", "number"],
    })
}

/// One schema for each kind, and one for a kind that is an axis.
fn apps() -> Vec<Json> {
    let one = |(kind, what, keys): (&str, &str, &[Key])| {
        let mut schema = table_of(&[APP, keys]);
        if let Some(properties) = schema.get_mut("properties").and_then(Json::as_object_mut) {
            properties.insert("kind".into(), json!({"const": kind, "description": what}));
        }
        schema
    };
    let mut out: Vec<Json> = KINDS.into_iter().map(one).collect();
    let keys: Vec<&[Key]> = std::iter::once(APP)
        .chain(KINDS.map(|kind| kind.2))
        .collect();
    let mut any = table_of(&keys);
    if let Some(properties) = any.get_mut("properties").and_then(Json::as_object_mut) {
        properties.insert("kind".into(), axis(&json!({"enum": KIND_NAMES})));
    }
    out.push(any);
    out
}

fn table(keys: &[Key]) -> Json {
    table_of(&[keys])
}

fn table_of(lists: &[&[Key]]) -> Json {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for key in lists.iter().copied().flatten() {
        properties.insert(key.name.to_owned(), property(key));
        if key.is_required() && !required.contains(&key.name) {
            required.push(key.name);
        }
    }
    json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

fn property(key: &Key) -> Json {
    let name = NAMED
        .iter()
        .find(|(_, form)| form.is(&key.form))
        .map(|(name, _)| *name);
    let mut schema = match (name, key.axis) {
        (Some("app"), _) => json!({"type": "array", "items": refer("app"), "minItems": 1}),
        (Some("texts"), false) => json!({"type": "array", "items": refer("text")}),
        (Some(name), true) => refer(&format!("{name}_or_axis")),
        (Some(name), false) => refer(name),
        (None, true) => or_axis(define(&key.form)),
        (None, false) => define(&key.form),
    };
    let description = match key.is_required() {
        true => key.meaning.to_owned(),
        false => format!("{}; default: {}", key.meaning, key.default()),
    };
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("description".into(), Json::from(description));
    }
    schema
}

/// What a form takes.
fn define(form: &Form) -> Json {
    let list = |of: &str| json!({"type": "array", "items": refer(&format!("{of}_or_axis"))});
    match form {
        Form::Flag => json!({"type": "boolean"}),
        Form::Count(_) => json!({"type": "integer", "minimum": 0}),
        Form::Size(_) => quantity(&SIZE, "bytes"),
        Form::Time(_) => quantity(&TIME, "a time"),
        Form::Rate => quantity(&RATE, "a rate in tc's units"),
        Form::Percent => quantity(&PERCENT, "a chance"),
        Form::Text | Form::Congestion | Form::Pairs(_) => {
            json!({"type": "string", "maxLength": crate::rules::MAX_TEXT})
        }
        Form::Dist(_) => json!({"type": ["string", "number"], "maxLength": crate::rules::MAX_TEXT}),
        Form::Name => json!({"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_-]{0,31}$"}),
        Form::Words(words) => json!({"enum": words}),
        Form::Texts => list("text"),
        Form::Sizes(_) => json!({"anyOf": [
            refer("size"),
            list("size"),
            {"type": "string", "pattern": "^\\s*[0-9]+ of ", "description": "N of DISTRIBUTION"},
        ]}),
        Form::Times => json!({"anyOf": [refer("time"), list("time")]}),
        Form::Sysctl => json!({
            "type": "object",
            "additionalProperties": or_axis(json!({"type": ["string", "integer"]})),
        }),
        Form::QuickAck => {
            json!({"enum": ["leave", "once 0", "once 1", "each 0", "each 1", "0", "1", 0, 1]})
        }
        Form::Tos => tos(),
        Form::Behaviour => behaviours(),
        Form::Set => json!({"type": "object", "additionalProperties": true}),
        Form::Table(keys) => table(keys),
        Form::Way => json!({"anyOf": [{"type": "string"}, table(WAY)]}),
        Form::Tables(keys) => json!({"type": "array", "items": table(keys)}),
        Form::Apps => json!({"anyOf": apps()}),
    }
}

/// Words of the DS field, or its byte.
fn tos() -> Json {
    let words = crate::tos::WORDS.map(|(word, _)| word);
    json!({"anyOf": [
        {"enum": words},
        {"type": "integer", "minimum": 0, "maximum": 255},
        {"type": "string", "pattern": "^(0x[0-9a-fA-F]{1,2}|[0-9]{1,3})$"},
    ]})
}

/// The behaviours of a profile, each with its words.
fn behaviours() -> Json {
    let one = |known: &Behaviour| {
        let mut schema = or_axis(match known.takes {
            Takes::Words(["on", "off"]) => json!({"enum": ["on", "off", true, false]}),
            Takes::Words(words) => json!({"enum": words}),
            Takes::Number(min, _) => json!({"type": "integer", "minimum": min}),
        });
        if let Some(schema) = schema.as_object_mut() {
            schema.insert("description".into(), Json::from(known.meaning));
        }
        (known.name.to_owned(), schema)
    };
    json!({
        "type": "object",
        "properties": BEHAVIOURS.iter().map(one).collect::<Map<_, _>>(),
        "additionalProperties": false,
    })
}

/// `{ axis = [...], name = "..." }`.
fn axis(of: &Json) -> Json {
    json!({
        "type": "object",
        "properties": {
            "axis": {"type": "array", "items": of, "minItems": 1},
            "name": {"type": "string"},
        },
        "required": ["axis"],
        "additionalProperties": false,
    })
}

fn or_axis(schema: Json) -> Json {
    let axis = axis(&schema);
    json!({"anyOf": [schema, axis]})
}

/// The keys as Markdown: a heading and a table for each part of the file.
pub(super) fn reference() -> String {
    let mut out = String::new();
    let parts: [(&str, &[Key]); 9] = [
        ("The file", FILE),
        ("`[run]`", RUN),
        ("`[[host]]`", HOST),
        ("Words of `route`", METRICS),
        ("`socket`, `client_socket`, `server_socket`", SOCKET),
        ("`[[link]]`", LINK),
        ("`[[variant]]`", VARIANT),
        ("`[report]`", REPORT),
        ("`[[app]]`, every kind", APP),
    ];
    for (title, keys) in parts {
        let _ = write!(out, "\n### {title}\n\n");
        rows(keys, !are_same(keys, FILE), &mut out);
        if are_same(keys, HOST) {
            profiles(&mut out);
        }
        if are_same(keys, LINK) {
            way(&mut out);
        }
    }
    kinds(&mut out);
    out
}

/// What a table of one direction takes: keys of the link, by name only, and its own.
fn way(out: &mut String) {
    let is_of_link = |key: &&Key| LINK.iter().any(|of| of.name == key.name);
    let (of_link, own): (Vec<&Key>, Vec<&Key>) = WAY.iter().partition(is_of_link);
    let _ = write!(
        out,
        "\n### `a_to_b`, `b_to_a` as tables\n\nA direction takes these keys of the link: {}. A key that the direction does not set keeps the link's value. A direction also takes:\n\n",
        names(&of_link)
    );
    rows(own, true, out);
}

/// The kinds of applications. Keys that several kinds take in one meaning stand once.
fn kinds(out: &mut String) {
    out.push_str(
        "\n### Keys of several kinds\n\nEach kind of application below lists which of these keys it takes.\n\n",
    );
    rows(SHARED, true, out);
    let is_shared = |key: &&Key| {
        let mut all = SHARED.iter();
        all.any(|of| of.name == key.name && of.meaning == key.meaning)
    };
    for (kind, what, keys) in KINDS {
        let _ = write!(out, "\n### `kind = \"{kind}\"`\n\n{}.", capital(what));
        let (shared, own): (Vec<&Key>, Vec<&Key>) = keys.iter().partition(is_shared);
        if !shared.is_empty() {
            let _ = write!(out, " Also takes {}.", names(&shared));
        }
        out.push_str("\n\n");
        rows(own, true, out);
    }
}

/// Names of keys as a list.
fn names(keys: &[&Key]) -> String {
    let names: Vec<String> = keys.iter().map(|key| format!("`{}`", key.name)).collect();
    names.join(", ")
}

/// A heading and a table of keys that cannot be axes.
pub(crate) fn part(title: &str, keys: &[Key]) -> String {
    let mut out = format!("\n### {title}\n\n");
    rows(keys, false, &mut out);
    out
}

/// The words of `profile` and the keys of `behaviour`.
fn profiles(out: &mut String) {
    out.push_str("\n### Words of `profile`\n\n| profile | stands for |\n|---|---|\n");
    for known in KNOWN {
        let _ = writeln!(out, "| `{}` | {} |", known.name, known.what);
    }
    out.push_str(
        "\n### `behaviour`\n\n`tcplab stacks --profiles` prints which profile has which value.\n\n\
         | key | takes | meaning | changed by |\n|---|---|---|---|\n",
    );
    for known in BEHAVIOURS {
        let (takes, meaning) = (known.takes.words(), known.meaning);
        let _ = writeln!(
            out,
            "| `{}` | {takes} | {meaning} | {} |",
            known.name, known.changed
        );
    }
    out.push_str("\nKernels differ in the following, but the model behaves the same under every profile:\n\n");
    for (what, changed) in NOT_MODELLED {
        let _ = writeln!(out, "- {what} ({changed})");
    }
}

/// A table of keys; `axes`: it marks those that cannot be axes.
fn rows<'a>(keys: impl IntoIterator<Item = &'a Key>, axes: bool, out: &mut String) {
    out.push_str("| key | takes | default | meaning |\n|---|---|---|---|\n");
    for key in keys {
        let default = match key.is_required() {
            true => "required".to_owned(),
            false => key.default(),
        };
        let axis = if axes && !key.axis { " (no axis)" } else { "" };
        let takes = takes(&key.form);
        let _ = writeln!(
            out,
            "| `{}` | {takes}{axis} | {default} | {} |",
            key.name, key.meaning
        );
    }
}

/// What a form takes, as the documents' tables say it.
pub(crate) fn takes(form: &Form) -> String {
    let text = match form {
        Form::Flag => "true or false",
        Form::Count(_) => "number",
        Form::Size(_) => "size",
        Form::Time(_) => "time",
        Form::Rate => "rate",
        Form::Percent => "percentage",
        Form::Text => "text",
        Form::Dist(_) => "[distribution](distributions.md)",
        Form::Name => "name",
        Form::Words(words) if words.len() > 3 => "word, see below",
        Form::Words(words) => {
            let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
            return words.join(", ");
        }
        Form::Pairs(keys) => {
            let words: Vec<String> = keys.iter().map(|key| format!("`{}`", key.name)).collect();
            return format!("words and values: {}", words.join(", "));
        }
        Form::Texts => "list of texts",
        Form::Sizes(_) => "list of sizes, or `N of DISTRIBUTION`",
        Form::Times => "list of times",
        Form::Sysctl | Form::Set | Form::Behaviour => "table of values",
        Form::Congestion => "name",
        Form::QuickAck => "text or number",
        Form::Tos => "word or number",
        Form::Table(_) => "table",
        Form::Way => "text or table",
        Form::Tables(_) | Form::Apps => "tables",
    };
    text.to_owned()
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}
