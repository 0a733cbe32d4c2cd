//! What is written straight is what `serde_json` writes.

use std::collections::BTreeMap;

use serde::Serialize;

use super::*;

fn write(out: &mut Vec<u8>, value: &impl Serialize) -> Result {
    Text::default().append_json(out, value)
}

#[derive(Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
enum Name {
    Handshake,
    ZeroWindow,
}

/// Every form that a report has.
#[derive(Serialize)]
struct Sample {
    number: u64,
    small: u8,
    start_ns: i64,
    share: f64,
    text: String,
    letter: char,
    yes: bool,
    name: Name,
    nothing: Option<u32>,
    pair: Option<(u64, u64)>,
    list: Vec<Name>,
    unit: (),
    map: BTreeMap<&'static str, u64>,
    boxed: Box<Option<i32>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<u64>,
    #[serde(flatten)]
    more: More,
}

#[derive(Serialize)]
struct More {
    #[serde(skip_serializing_if = "Option::is_none")]
    mss: Option<u16>,
    window: i32,
}

fn sample(n: u64, text: &str) -> Sample {
    Sample {
        number: n,
        small: n as u8,
        start_ns: n as i64,
        share: n as f64 / 7.0,
        text: text.to_owned(),
        letter: text.chars().next().unwrap_or('x'),
        yes: n.is_multiple_of(2),
        name: Name::ZeroWindow,
        nothing: (n > 5).then_some(n as u32),
        pair: (n > 3).then_some((n, n / 3)),
        list: vec![Name::Handshake; (n % 4) as usize],
        unit: (),
        map: BTreeMap::from([("a", n), ("b", n / 2)]),
        boxed: Box::new((n > 4).then_some(-(n as i32))),
        left_out: vec![n; (n % 3) as usize],
        more: More {
            mss: (n > 9).then_some(n as u16),
            window: -3,
        },
    }
}

fn same(value: &impl Serialize) {
    let mut ours = Vec::new();
    write(&mut ours, value).expect("plain data");
    let theirs = serde_json::to_string(value).expect("plain data");
    assert_eq!(String::from_utf8(ours).expect("UTF-8"), theirs);
}

#[test]
fn every_form_is_written_as_serde_json_writes_it() {
    let texts = [
        "",
        "plain",
        "quote \" backslash \\ line\n end \u{1f600}\u{7f}",
        "\u{1}",
    ];
    for n in (0..40).chain([u64::MAX, 1 << 63]) {
        texts.iter().for_each(|text| same(&sample(n, text)));
    }
    same(&i64::MIN);
    same(&[f64::NAN, -0.0, 1e300]);
}

#[test]
fn texts_of_every_length_are_whole() {
    for n in (0..300).chain([4090, 4096, 5000, 70_000]) {
        let text = "x".repeat(n);
        same(&sample(7, &text));
        same(&BTreeMap::from([(text, 1)]));
    }
}

#[test]
fn what_no_report_holds_is_an_error() {
    #[derive(Serialize)]
    enum Foreign {
        Value(u8),
    }
    assert!(write(&mut Vec::new(), &Foreign::Value(1)).is_err());
}

#[test]
fn numbers_of_every_length() {
    let near = |n: u64| [n.saturating_sub(1), n, n.saturating_add(1)];
    let powers = (0..20).map(|i| 10_u64.pow(i)).flat_map(near);
    let twos = (0..64).map(|i| 1_u64 << i).flat_map(near);
    let all = 0..100_000;
    for n in all.chain(powers).chain(twos).chain([u64::MAX]) {
        let mut ours = Vec::new();
        write(&mut ours, &n).expect("plain data");
        assert_eq!(String::from_utf8(ours).expect("UTF-8"), n.to_string());
    }
}
