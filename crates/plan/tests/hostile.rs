//! Hostile files and expressions: an error or an answer, never a panic, never without bounds.

use proptest::prelude::*;
use tcplab_plan::Experiment;
use tcplab_plan::measure::{Expression, Measure};

/// A file that has every construct.
const WHOLE: &str = r#"schema = "tcplab.experiment/1"
measures = ["client.TcpExtDelayedACKs", "stream.completed"]
[run]
stacks = ["uml:6.1"]
seed = 1
repeat = 2
max = "200s"
[[host]]
name = "client"
sysctl = { "net.ipv4.tcp_rmem" = "4096 131072 6291456" }
route = "quickack 1 rto_min 5ms"
socket = { nodelay = true, quickack = "each 1", rcvbuf = "256k" }
[[host]]
name = "server"
[[link]]
between = ["client", "server"]
rate = "10mbit"
a_to_b = { drop = ["data 20", "data 30-35"], late = ["data 3 by 5ms"] }
b_to_a = "netem delay 25ms 1ms loss random 0.1% limit 100"
[[app]]
kind = "stream"
chunk = { axis = [100, "1k"], name = "size" }
every = "100ms"
count = 100
[[variant]]
name = "nagle"
set = { "app.stream.server_socket.nodelay" = false, "host.client.route" = "" }
"#;

/// Words that are likely to mean something where they land.
const PIECES: [&str; 24] = [
    "[[",
    "]]",
    "[",
    "]",
    "{",
    "}",
    "\"",
    "'''",
    "=",
    ".",
    ",",
    "\n",
    "axis",
    "name",
    "9223372036854775807",
    "-1",
    "1e308",
    "inf",
    "1979-05-27",
    "[[app]]\nkind = \"web\"\n",
    "= { axis = [",
    "\\u0000",
    "é",
    "999999999999999999h",
];

fn try_file(text: &str) {
    match Experiment::parse("x.toml", text) {
        Ok(experiment) => match experiment.points() {
            Ok(points) => assert!(!points.is_empty() && points.len() <= 100_000),
            Err(error) => assert!(error.to_string().len() < 4_000),
        },
        Err(error) => {
            assert!(error.line() >= 1 && error.column() >= 1);
            assert!(error.to_string().len() < 4_000, "{error}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_files(edits in prop::collection::vec((any::<prop::sample::Index>(), 0..40_usize, any::<prop::sample::Index>()), 1..6)) {
        let mut text: Vec<char> = WHOLE.chars().collect();
        for (at, cut, piece) in edits {
            let at = at.index(text.len() + 1);
            let end = (at + cut % 12).min(text.len());
            let piece = if cut % 3 == 0 { "" } else { PIECES[piece.index(PIECES.len())] };
            text.splice(at..end, piece.chars());
        }
        try_file(&text.into_iter().collect::<String>());
    }

    #[test]
    fn any_text(text in "\\PC{0,200}") {
        try_file(&text);
        let _ = Expression::parse(&text).map_err(|e| e.to_string());
    }

    #[test]
    fn expressions_of_likely_words(words in prop::collection::vec(prop::sample::select(vec![
        "a", "b.c", "1", "2.5", "(", ")", "and", "or", "not", "present", "<", "==", "+", "-", "*", "/", "&&", "!", " ",
    ]), 0..30)) {
        let text = words.concat();
        match Expression::parse(&text) {
            Ok(expression) => { let _ = expression.evaluate(&|name| (name == "a").then_some(1.0)); }
            Err(error) => prop_assert!(error.column() <= text.len() + 1 && error.to_string().len() < 1000),
        }
    }

    #[test]
    fn names_of_measures(name in "(client|server|stream|link|run)?[.a-zA-Z_-]{0,40}") {
        let text = "[[app]]\nkind = \"stream\"\n";
        let point = Experiment::parse("x", text).unwrap().points().unwrap().remove(0);
        match Measure::parse(&name, &point) {
            Ok(measure) => prop_assert_eq!(measure.name(), name),
            Err(error) => prop_assert!(error.to_string().len() < 1000),
        }
    }
}

#[test]
fn short_texts_that_stand_for_many_items_count_as_many() {
    let app = |key: &str| format!("[run]\nrepeat = 20000\n[[app]]\nkind = {key}\n");
    for (kind, key) in [
        ("\"messages\"", "messages = [\"client 1 x 9000\"]"),
        ("\"web\"", "sizes = \"90000 of uniform(1..9)\""),
    ] {
        let text = format!("{}{key}\n", app(kind));
        let error = Experiment::parse("many.toml", &text).unwrap_err();
        assert!(error.message().contains("points"), "{error}");
    }
}

#[test]
fn deep_long_and_wide_files_are_refused() {
    let refused = |text: &str| assert!(Experiment::parse("x", text).is_err());
    refused(&format!("a = {}", "[".repeat(100_000)));
    refused(&format!("a{} = 1", ".a".repeat(100_000)));
    refused(&"x".repeat(2 << 20));
    let app = "[[app]]\nkind = \"stream\"\n";
    let path = format!("app.stream{}", ".a".repeat(50_000));
    refused(&format!(
        "{app}[[variant]]\nname = \"v\"\nset = {{ \"{path}\" = 1 }}\n"
    ));
    refused(&app.repeat(257));
    refused(&format!("[run]\nrepeat = 100001\n{app}"));
    // Few points, but each of a megabyte.
    let big = format!("# {}\n[run]\nrepeat = 100000\n{app}", "x".repeat(1_000_000));
    refused(&big);
}
