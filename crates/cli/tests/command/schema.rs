//! `tcplab schema`: the published schemas hold for what the command prints.
//!
//! An own walk over the few keywords that schemars writes. It is stricter than JSON Schema: a
//! member that the schema does not know is an error, and so is a keyword that the walk does not.

use serde_json::{Map, Value};

use super::{LOSS, QUICKACK, bytes, tcplab, tcplab_with};

/// The schema of a result.
pub fn schema(name: &str) -> Value {
    let run = tcplab(&["schema", name]);
    assert_eq!(run.code, 0, "{}", run.err);
    run.json()
}

/// Checks a value; gives what is wrong, with its place.
fn check(root: &Value, schema: &Value, value: &Value, place: &str) -> Result<(), String> {
    let Some(schema) = schema.as_object() else {
        return Ok(());
    };
    if let (Some(reference), Some(_)) = (schema.get("$ref"), schema.get("properties")) {
        let whole = merged(resolve(root, reference), schema);
        return check(root, &whole, value, place);
    }
    for (keyword, rule) in schema {
        let fail = |what: &str| Err(format!("{place}: {value} {what} {rule}"));
        match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" | "format" | "default" | "required" => {}
            "$ref" => check(root, resolve(root, rule), value, place)?,
            "type" if !is_type(rule, value) => return fail("is not of type"),
            "const" if rule != value => return fail("is not"),
            "enum" if !rule.as_array().unwrap().contains(value) => return fail("is none of"),
            "minimum" if value.is_number() && value.as_f64() < rule.as_f64() => {
                return fail("is below");
            }
            "maximum" if value.is_number() && value.as_f64() > rule.as_f64() => {
                return fail("is above");
            }
            "minItems" if value.is_array() && value.as_array().map(Vec::len) < as_len(rule) => {
                return fail("has fewer than");
            }
            "maxItems" if value.as_array().map(Vec::len) > as_len(rule) => {
                return fail("has more than");
            }
            "type" | "const" | "enum" | "minimum" | "maximum" | "minItems" | "maxItems" => {}
            "oneOf" | "anyOf" => {
                let any = rule
                    .as_array()
                    .unwrap()
                    .iter()
                    .any(|s| check(root, s, value, place).is_ok());
                if !any {
                    return fail("fits none of");
                }
            }
            "items" => {
                for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                    check(root, rule, item, &format!("{place}[{i}]"))?;
                }
            }
            "prefixItems" => {
                let items = value.as_array().into_iter().flatten();
                for (rule, item) in rule.as_array().unwrap().iter().zip(items) {
                    check(root, rule, item, place)?;
                }
            }
            "properties" => members(root, schema, rule, value, place)?,
            "additionalProperties" => {
                let known = schema.get("properties").and_then(Value::as_object);
                for (name, member) in value.as_object().into_iter().flatten() {
                    if known.is_none_or(|known| !known.contains_key(name)) {
                        check(root, rule, member, &format!("{place}.{name}"))?;
                    }
                }
            }
            other => return Err(format!("{place}: the walk does not know `{other}`")),
        }
    }
    Ok(())
}

/// An object that has the members of another one beside its own.
fn merged(other: &Value, own: &Map<String, Value>) -> Value {
    let mut whole = other.as_object().unwrap().clone();
    for keyword in ["properties", "required"] {
        match (whole.get_mut(keyword), own.get(keyword)) {
            (Some(Value::Object(all)), Some(Value::Object(more))) => all.extend(more.clone()),
            (Some(Value::Array(all)), Some(Value::Array(more))) => all.extend(more.clone()),
            _ => {}
        }
    }
    whole.into()
}

fn members(
    root: &Value,
    schema: &Map<String, Value>,
    properties: &Value,
    value: &Value,
    place: &str,
) -> Result<(), String> {
    let Some(object) = value.as_object() else {
        return Ok(());
    };
    for name in schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        if !object.contains_key(name.as_str().unwrap()) {
            return Err(format!("{place}: {name} is missing"));
        }
    }
    for (name, member) in object {
        let Some(rule) = properties.get(name) else {
            if schema.contains_key("additionalProperties") {
                continue;
            }
            return Err(format!("{place}: `{name}` is not in the schema"));
        };
        check(root, rule, member, &format!("{place}.{name}"))?;
    }
    Ok(())
}

fn as_len(rule: &Value) -> Option<usize> {
    usize::try_from(rule.as_u64()?).ok()
}

fn is_type(rule: &Value, value: &Value) -> bool {
    let one = |name: &Value| match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        other => panic!("type {other}"),
    };
    match rule.as_array() {
        Some(names) => names.iter().any(one),
        None => one(rule),
    }
}

/// Follows `#/$defs/NAME`.
pub fn resolve<'a>(root: &'a Value, reference: &Value) -> &'a Value {
    let path = reference.as_str().unwrap().trim_start_matches('#');
    root.pointer(path)
        .unwrap_or_else(|| panic!("{path} is not in the schema"))
}

/// Checks a document against a published schema.
pub fn holds(name: &str, document: &Value) {
    let schema = schema(name);
    check(&schema, &schema, document, name).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn every_shipped_capture_keeps_the_schema() {
    let folder = super::root().join("tests/captures");
    let mut args = vec!["analyze".to_owned(), "--json".to_owned()];
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "pcap") {
            args.push(super::text(&path).to_owned());
        }
    }
    assert!(args.len() > 10);
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    holds("analyze", &tcplab(&args).json());
}

#[test]
fn failures_keep_the_schema() {
    holds("analyze", &tcplab(&["analyze", "--json"]).json());
    holds(
        "analyze",
        &tcplab(&["analyze", "--json", "no-such-file"]).json(),
    );
    let whole = bytes(QUICKACK);
    let cut = &whole[..whole.len() - 1];
    holds(
        "analyze",
        &tcplab_with(&["analyze", "--json", "-"], cut).json(),
    );
}

#[test]
fn pairs_keep_their_schema() {
    holds(
        "pair",
        &tcplab(&["analyze", "--json", "--pair", LOSS[0], LOSS[1]]).json(),
    );
}

#[test]
fn the_walk_finds_what_is_wrong() {
    let schema = schema("analyze");
    let good = tcplab(&["analyze", "--json", QUICKACK]).json();
    let wrong: [(&str, Value); 4] = [
        ("/schema", Value::from(1)),
        ("/captures/0/streams/0/state", Value::from("asleep")),
        (
            "/captures/0/streams/0/client_to_server/packets",
            Value::from(-1),
        ),
        ("/captures/0/findings/0/confidence", Value::from("high")),
    ];
    for (pointer, value) in wrong {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap() = value;
        assert!(check(&schema, &schema, &bad, "").is_err(), "{pointer}");
    }
    let mut bad = good.clone();
    bad["captures"][0]["unknown"] = Value::from(1);
    assert!(check(&schema, &schema, &bad, "").is_err());
    bad = good;
    bad["captures"][0]
        .as_object_mut()
        .unwrap()
        .remove("packets");
    assert!(check(&schema, &schema, &bad, "").is_err());
}

#[test]
fn the_schema_of_experiments_is_one_of_tables() {
    let schema = schema("experiment");
    assert_eq!(schema["required"], Value::from(vec!["app"]));
    for key in ["run", "host", "link", "app", "variant", "measures"] {
        assert!(schema["properties"][key].is_object(), "{key}");
    }
}

#[test]
fn run_and_reproduce_have_their_published_members() {
    let members = |name: &str, pointer: &str| -> Vec<String> {
        let schema = schema(name);
        let names = schema.pointer(pointer).unwrap().as_object().unwrap();
        names.keys().cloned().collect()
    };
    for member in [
        "axes", "stack", "measures", "counters", "flows", "cost", "digest",
    ] {
        let found = members("run", "/$defs/PointResult/properties");
        assert!(found.contains(&member.to_owned()), "{member}");
    }
    let mut claim = members("reproduce", "/$defs/Claim/properties");
    claim.sort();
    assert_eq!(
        claim,
        [
            "expected",
            "id",
            "interval",
            "measured",
            "rule",
            "source",
            "stack",
            "tolerance",
            "unit",
            "verdict",
            "why"
        ]
    );
}
