//! The JSON Schema of an experiment file takes what the decoder takes.
//!
//! An own walk over the keywords that the schema uses; patterns are not tried.

use std::path::Path;

use serde_json::Value;
use tcplab_plan::{Experiment, Population};

fn fits(root: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    let Some(rules) = schema.as_object() else {
        return match schema {
            Value::Bool(true) => Ok(()),
            _ => Err(format!("{value} is not allowed")),
        };
    };
    let fail = |what: &str| Err(format!("{value}: {what}"));
    for (keyword, rule) in rules {
        match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" | "pattern" | "required" => {}
            "$ref" => {
                let path = rule.as_str().unwrap().trim_start_matches('#');
                fits(root, root.pointer(path).unwrap(), value)?;
            }
            "type" if !is_type(rule, value) => return fail(&format!("is no {rule}")),
            "const" if rule != value => return fail("is another constant"),
            "enum" if !rule.as_array().unwrap().contains(value) => {
                return fail("is none of the words");
            }
            "minimum" if value.as_i64() < rule.as_i64() => return fail("is too small"),
            "maxLength" if value.as_str().map(str::len) > rule.as_u64().map(|n| n as usize) => {
                return fail("is too long");
            }
            "minItems" if value.as_array().is_some_and(Vec::is_empty) => return fail("is empty"),
            "type" | "const" | "enum" | "minimum" | "maxLength" | "minItems" => {}
            "anyOf" => {
                let mut each = rule
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|s| fits(root, s, value));
                if !each.any(|fit| fit.is_ok()) {
                    return fail("fits nothing");
                }
            }
            "items" => {
                let mut items = value.as_array().into_iter().flatten();
                items.try_for_each(|item| fits(root, rule, item))?;
            }
            "properties" | "additionalProperties" => {}
            other => panic!("the walk does not know {other}"),
        }
    }
    let Some(object) = value.as_object() else {
        return Ok(());
    };
    for name in rules
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        if !object.contains_key(name.as_str().unwrap()) {
            return fail(&format!("has no {name}"));
        }
    }
    for (name, member) in object {
        let properties = rules.get("properties").and_then(|p| p.get(name));
        if let Some(rule) = properties.or(rules.get("additionalProperties")) {
            fits(root, rule, member).map_err(|e| format!("{name}: {e}"))?;
        }
    }
    Ok(())
}

fn is_type(rule: &Value, value: &Value) -> bool {
    let one = |name: &Value| match name.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        other => panic!("type {other}"),
    };
    rule.as_array()
        .map_or_else(|| one(rule), |names| names.iter().any(one))
}

fn check(text: &str) -> Result<(), String> {
    let schema = match Population::is_population(text) {
        true => Population::schema(),
        false => Experiment::schema(),
    };
    let value: Value = toml::from_str(text).unwrap();
    fits(&schema, &schema, &value)
}

#[test]
fn every_example_keeps_the_schema() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "toml") {
            check(&std::fs::read_to_string(&path).unwrap())
                .unwrap_or_else(|e| panic!("{path:?}: {e}"));
            seen += 1;
        }
    }
    assert!(seen >= 5);
}

#[test]
fn refused_values_violate_the_schema() {
    let good = "[[app]]\nkind = \"stream\"\nchunk = 1000\n";
    check(good).unwrap();
    for bad in [
        "chunk = 1\n[[app]]\nkind = \"stream\"\n",
        "[[app]]\nchunk = 1000\n",
        "[[app]]\nkind = \"strem\"\n",
        "[[app]]\nkind = \"stream\"\nchnk = 1000\n",
        "[[app]]\nkind = \"stream\"\nsize = 1000\n",
        "[[app]]\nkind = \"stream\"\nchunk = true\n",
        "[[app]]\nkind = \"stream\"\nchunk = { axis = [] }\n",
        "[[app]]\nkind = \"stream\"\nname = { axis = [\"a\"] }\n",
        "[[app]]\nkind = \"stream\"\nserver_socket = { nodelay = 1 }\n",
        "[run]\nlog = \"yes\"\n[[app]]\nkind = \"stream\"\n",
        "[[link]]\na_to_b = { drop = \"data 1\" }\n[[app]]\nkind = \"stream\"\n",
        "",
    ] {
        assert!(check(bad).is_err(), "{bad}");
        assert!(Experiment::parse("x.toml", bad).is_err(), "{bad}");
    }
}

#[test]
fn the_schema_names_only_what_it_has() {
    fn references(of: &Value, out: &mut Vec<String>) {
        match of {
            Value::Object(map) => {
                if let Some(Value::String(to)) = map.get("$ref") {
                    out.push(to.clone());
                }
                map.values().for_each(|v| references(v, out));
            }
            Value::Array(list) => list.iter().for_each(|v| references(v, out)),
            _ => {}
        }
    }
    let schema = Experiment::schema();
    assert!(
        schema.to_string().len() < 175_000,
        "{}",
        schema.to_string().len()
    );
    let mut found = Vec::new();
    references(&schema, &mut found);
    assert!(found.len() > 50);
    for to in found {
        assert!(schema.pointer(to.trim_start_matches('#')).is_some(), "{to}");
    }
}
