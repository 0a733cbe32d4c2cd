//! Changes of a JSON tree that know what a value is: boundaries of numbers, hostile texts, other types, values removed,
//! doubled, swapped or taken from elsewhere. The same seed gives the same trees.

use serde_json::{Map, Value, json};

use crate::mutate::Random;

/// Numbers at which ranges, widths and counts end.
const NUMBERS: [i128; 30] = [
    0,
    1,
    -1,
    2,
    3,
    7,
    63,
    64,
    65,
    255,
    256,
    999,
    1_000,
    65_535,
    65_536,
    99_999,
    100_000,
    1_000_000,
    10_000_001,
    999_999_999,
    1_000_000_000,
    i32::MAX as i128,
    i32::MIN as i128,
    u32::MAX as i128,
    1_000_000_000_000,
    1_000_000_000_000_000,
    1_000_000_000_000_001,
    i64::MAX as i128,
    i64::MIN as i128,
    u64::MAX as i128,
];

/// Texts that mean something where they land: names, paths, words of other keys.
const TEXTS: [&str; 36] = [
    "",
    ".",
    "..",
    "../../x",
    "/etc/passwd",
    "a/b",
    "a\\b",
    "-",
    "a b",
    "\u{0}",
    "\u{1b}[2J",
    "\n",
    "é\u{202e}",
    "NaN",
    "-1",
    "1e308",
    "run",
    "link",
    "client",
    "server",
    "host",
    "model",
    "ssh:a,b",
    "net.ipv4.tcp_sack",
    "net.ipv4.tcp_rmem",
    "kernel.hostname",
    "net./../kernel.hostname",
    "net.ipv4..tcp_sack",
    "net/../kernel/hostname",
    "cake bandwidth 8bit",
    "tbf rate 8bit burst 1 limit 1",
    "netem delay 1000000s loss 100%",
    "caqm",
    "1 1 1",
    "dctcp",
    "/dev/zero",
];

/// Changes one to three places.
pub fn mutate(tree: &mut Value, random: &mut Random) {
    for _ in 0..=random.below(3) {
        let places = count(tree);
        let (from, at) = (random.below(places), random.below(places));
        let other = nth(tree, from).cloned().unwrap_or_default();
        if let Some(place) = nth_mut(tree, &mut { at }) {
            once(place, &other, random);
        }
    }
}

fn once(place: &mut Value, other: &Value, random: &mut Random) {
    let is_parent = place.is_object() || place.is_array();
    match random.below(if is_parent { 12 } else { 8 }) {
        0..=3 => *place = alike(place, random),
        4 => *place = number(random),
        5 => *place = json!(text(random)),
        6 => *place = scalar(random),
        7 => *place = other.clone(),
        _ => children(place, other, random),
    }
}

/// Another value of the same type.
fn alike(value: &Value, random: &mut Random) -> Value {
    match value {
        Value::Number(n) => match (random.below(4), n.as_i64()) {
            // Next to what it was.
            (0, Some(n)) => json!(n.wrapping_add(1)),
            (1, Some(n)) => json!(n.wrapping_mul(2)),
            _ => number(random),
        },
        Value::String(_) => json!(text(random)),
        Value::Bool(is) => json!(!is),
        Value::Null => scalar(random),
        Value::Array(_) => json!([]),
        Value::Object(_) => json!({}),
    }
}

fn number(random: &mut Random) -> Value {
    let n = NUMBERS[random.below(NUMBERS.len())];
    match (i64::try_from(n), u64::try_from(n)) {
        (Ok(n), _) => json!(n),
        (_, Ok(n)) => json!(n),
        _ => json!(0),
    }
}

fn text(random: &mut Random) -> String {
    match random.below(TEXTS.len() + 2) {
        n if n < TEXTS.len() => TEXTS[n].to_owned(),
        n if n == TEXTS.len() => "a".repeat(5_000),
        _ => "a".repeat(64 + random.below(3)),
    }
}

fn scalar(random: &mut Random) -> Value {
    match random.below(7) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(0.5),
        3 => json!(1e308),
        4 => json!([0]),
        5 => json!({"x": 1}),
        _ => number(random),
    }
}

/// Removes, doubles, swaps or adds.
fn children(place: &mut Value, other: &Value, random: &mut Random) {
    match place {
        Value::Array(items) => {
            let n = random.below(items.len());
            match random.below(4) {
                0 if !items.is_empty() => drop(items.remove(n)),
                1 if !items.is_empty() => {
                    let m = random.below(items.len());
                    items.swap(n, m);
                }
                2 if !items.is_empty() => {
                    let times = [1, 2, 300][random.below(3)];
                    let one = items[n].clone();
                    items.extend(std::iter::repeat_n(one, times));
                }
                _ => items.push(other.clone()),
            }
        }
        Value::Object(map) => of_map(map, other, random),
        _ => {}
    }
}

fn of_map(map: &mut Map<String, Value>, other: &Value, random: &mut Random) {
    let keys: Vec<String> = map.keys().cloned().collect();
    let [one, two] = [(); 2].map(|()| keys.get(random.below(keys.len())));
    match (random.below(4), one, two) {
        (0, Some(one), _) => drop(map.remove(one)),
        (1, Some(one), Some(two)) => {
            let (a, b) = (map[one].clone(), map[two].clone());
            map.insert(one.clone(), b);
            map.insert(two.clone(), a);
        }
        (2, ..) => drop(map.insert(text(random), json!(text(random)))),
        _ => drop(map.insert(text(random), other.clone())),
    }
}

/// Values of a tree, itself included.
fn count(tree: &Value) -> usize {
    1 + match tree {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(map) => map.values().map(count).sum(),
        _ => 0,
    }
}

fn nth(tree: &Value, n: usize) -> Option<&Value> {
    fn go<'t>(tree: &'t Value, left: &mut usize) -> Option<&'t Value> {
        if *left == 0 {
            return Some(tree);
        }
        *left -= 1;
        match tree {
            Value::Array(items) => items.iter().find_map(|item| go(item, left)),
            Value::Object(map) => map.values().find_map(|item| go(item, left)),
            _ => None,
        }
    }
    go(tree, &mut { n })
}

fn nth_mut<'t>(tree: &'t mut Value, left: &mut usize) -> Option<&'t mut Value> {
    if *left == 0 {
        return Some(tree);
    }
    *left -= 1;
    match tree {
        Value::Array(items) => items.iter_mut().find_map(|item| nth_mut(item, left)),
        Value::Object(map) => map.values_mut().find_map(|item| nth_mut(item, left)),
        _ => None,
    }
}

/// The text of a tree; now and then with a key that comes twice, which a tree cannot hold.
pub fn to_text(tree: &Value, random: &mut Random) -> String {
    let text = tree.to_string();
    if random.below(16) > 0 {
        return text;
    }
    let places: Vec<usize> = text.match_indices("{\"").map(|(at, _)| at + 1).collect();
    let Some(&at) = places.get(random.below(places.len())) else {
        return text;
    };
    // The object's first key again, with another value.
    let key: String = text[at + 1..].chars().take_while(|c| *c != '"').collect();
    format!(
        "{}\"{key}\":{},{}",
        &text[..at],
        scalar(random),
        &text[at..]
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_trees_and_most_of_them_differ() {
        let tree = json!({"a": [1, 2, {"b": "text", "c": null}], "d": {"e": true}});
        let make = |seed| {
            let mut random = Random::new(seed);
            let mut tree = tree.clone();
            mutate(&mut tree, &mut random);
            to_text(&tree, &mut random)
        };
        let all: Vec<String> = (0..500).map(make).collect();
        assert_eq!(all, (0..500).map(make).collect::<Vec<_>>());
        let whole = tree.to_string();
        assert!(all.iter().filter(|text| **text != whole).count() > 450);
        let kinds: std::collections::BTreeSet<&String> = all.iter().collect();
        assert!(kinds.len() > 250, "{}", kinds.len());
    }
}
