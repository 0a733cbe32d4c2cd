//! `tcplab reproduce`, and what it rests on: the delayed-ACK table of four kernels, the search for
//! the first bad one, the analyser against the kernel's counter.
//!
//! Those that need a kernel are skipped, with the reason, where none is built.

use serde_json::Value;

use super::{command, tcplab};

const FOUR: [&str; 4] = [
    "uml:6.1",
    "uml:6.1+quickack-6.1.56",
    "uml:6.1+mss-boundary",
    "uml:6.1+quickack-count",
];

fn claim<'a>(document: &'a Value, id: &str) -> &'a Value {
    let claims = document["claims"].as_array().unwrap();
    let found = claims.iter().find(|claim| claim["id"] == id);
    found.unwrap_or_else(|| panic!("no {id} in {document}"))
}

#[test]
#[ignore = "needs kernels: tcplab kernel build 6.1, and with each of its edits"]
fn four_kernels_show_which_commit_delays_acks() {
    let run = tcplab(&[
        "run",
        "examples/delayed-ack.toml",
        "--on",
        &FOUR.join(","),
        "--json",
    ]);
    assert_eq!(run.code, 0, "{}", run.err);
    let document = run.json();
    let points = document["points"].as_array().unwrap();
    let rows: Vec<(&str, f64, Option<f64>)> = points
        .iter()
        .map(|point| {
            let measure = |name: &str| point["measures"][name].as_f64();
            let delayed = measure("client.acks.delayed").unwrap();
            assert_eq!(measure("client.TcpExtDelayedACKs"), Some(delayed));
            let stack = point["stack"].as_str().unwrap();
            (stack, delayed, measure("client.acks.first_delayed_segment"))
        })
        .collect();
    assert_eq!(
        rows,
        [
            (FOUR[0], 0.0, None),
            (FOUR[1], 84.0, Some(17.0)),
            (FOUR[2], 84.0, Some(17.0)),
            (FOUR[3], 0.0, None),
        ]
    );
}

#[test]
#[ignore = "needs kernels: tcplab kernel build 6.1, and with each of its edits"]
fn bisect_finds_the_first_bad_of_five_in_four_runs() {
    // The first two are the same kernel under two names: with and without the release.
    let listed = tcplab(&["stacks", "--json"]).json();
    let stacks = listed["stacks"].as_array().unwrap();
    let first = stacks.iter().find(|s| s["stack"] == "uml:6.1").unwrap();
    let five = [
        "uml:6.1",
        first["also"][0].as_str().unwrap(),
        FOUR[3],
        FOUR[2],
        FOUR[1],
    ];
    let run = tcplab(&[
        "bisect",
        "examples/delayed-ack.toml",
        "--over",
        &five.join(","),
        "--bad",
        "client.TcpExtDelayedACKs > 0",
        "--json",
    ]);
    assert_eq!(run.code, 0, "{}", run.err);
    let document = run.json();
    assert_eq!(document["first_bad"], FOUR[2]);
    assert_eq!(document["last_good"], FOUR[3]);
    let steps = document["steps"].as_array().unwrap();
    assert!(steps.len() <= 4, "{steps:?}");
}

#[test]
#[ignore = "needs kernels: tcplab kernel build 6.1, and with each of its edits"]
fn the_analyser_and_the_kernel_agree_at_every_point_of_an_example() {
    let experiment = "examples/delayed-ack-sizes.toml";
    let run = tcplab(&["run", experiment, "--on", FOUR[2], "--json"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let document = run.json();
    let points = document["points"].as_array().unwrap();
    assert_eq!(points.len(), 15);
    let mut late = 0;
    for point in points {
        let measures = &point["measures"];
        let delayed = measures["client.acks.delayed"].as_f64().unwrap();
        let counted = measures["client.TcpExtDelayedACKs"].as_f64().unwrap();
        assert_eq!(delayed, counted, "{}", point["axes"]);
        late += usize::from(delayed > 0.0);
    }
    assert_eq!(late, 5, "536 to 1448 bytes: exactly one segment");
}

#[test]
#[ignore = "needs kernels: tcplab kernel build 6.1, and with each of its edits"]
fn claims_about_quickack_hold() {
    let run = tcplab(&["reproduce", "--only", "quickack.[!d]*", "--json"]);
    assert_eq!(run.code, 2, "the pattern has no classes: {}", run.out);
    for only in ["quickack.*d*l*", "netstat.*", "lo.*"] {
        let run = tcplab(&["reproduce", "--only", only, "--json"]);
        let document = run.json();
        assert_eq!(document["schema"], "tcplab.reproduce/1");
        for claim in document["claims"].as_array().unwrap() {
            // One of them needs a kernel of 1000 Hz, which may not be there.
            let is_slow = claim["stack"] == FOUR[1];
            assert!(!is_slow || claim["verdict"] == "pass", "{claim}");
            let keys: Vec<&String> = claim.as_object().unwrap().keys().collect();
            assert_eq!(keys.len(), 11, "{keys:?}");
        }
    }
    let run = tcplab(&["reproduce", "--only", "quickack.*-while-*", "--json"]);
    assert_eq!(run.code, 0, "{}", run.err);
    let document = run.json();
    let claim = claim(&document, "quickack.getsockopt-while-delayed");
    assert_eq!(claim["measured"], 1.0);
    let why = claim["why"].as_str().unwrap();
    assert!(why.contains("client.acks.delayed = 84"), "{why}");
    assert!(why.contains("credits.min = 0"), "{why}");
}

#[test]
#[ignore = "needs kernels: tcplab kernel build 6.1 --edit el8-receiver --hz 1000"]
fn failed_claim_keeps_its_figure_at_1000_hz() {
    let run = tcplab(&["reproduce", "--only", "el8.30ms.seed", "--json"]);
    assert_eq!(run.code, 1, "{}", run.err);
    let document = run.json();
    let claim = claim(&document, "el8.30ms.seed");
    assert_eq!(claim["verdict"], "fail");
    let measured = claim["measured"].as_f64().unwrap();
    assert!((0.38..0.40).contains(&measured), "{measured}");
    let table = tcplab(&["reproduce", "--only", "el8.30ms.seed"]);
    assert_eq!(table.code, 1);
    assert!(
        table.out.contains("1 claims: 0 hold, 1 do not"),
        "{}",
        table.out
    );
    assert!(
        table.out.contains("el8.30ms.seed does not hold: "),
        "{}",
        table.out
    );
}

#[test]
fn without_kernels_every_claim_says_how_to_build_its_own() {
    let cache = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let output = command(args)
            .env("XDG_CACHE_HOME", cache.path())
            .output()
            .unwrap();
        super::Run::new(output)
    };
    // Claims on the model need no kernel; some of them do not hold, and that is the answer.
    let all = run(&["reproduce", "--json"]);
    assert_eq!(all.code, 1, "{}", all.err);
    let document = all.json();
    let claims = document["claims"].as_array().unwrap();
    let stack = |claim: &Value| claim["stack"].as_str().unwrap().to_owned();
    let needs_kernel = |claim: &&Value| !stack(claim).starts_with("model:");
    // This machine's own kernel is there; whether it may be asked depends on who runs the tests.
    let (kernels, model): (Vec<_>, Vec<_>) = (claims.iter())
        .filter(|claim| stack(claim) != "host")
        .partition(needs_kernel);
    assert!(kernels.len() > 60 && model.len() > 60);
    // One needs a suite of scripts that is not part of the project.
    for claim in model {
        let needs_suite = claim["id"] == "model.drill.399";
        assert_eq!(claim["verdict"] == "not-run", needs_suite, "{claim}");
    }
    for claim in kernels {
        assert_eq!(claim["verdict"], "not-run");
        assert!(claim["measured"].is_null() && claim["interval"].is_null());
        let why = claim["why"].as_str().unwrap();
        assert!(why.contains("tcplab kernel build 6.1"), "{why}");
    }
    let none = run(&["reproduce", "--json", "--only", "netstat.*"]);
    assert_eq!(none.code, 4, "{}", none.err);
    assert_eq!(none.json()["error"]["kind"], "cannot_run");
    let table = run(&["reproduce", "--only", "netstat.*"]);
    assert_eq!(table.code, 4);
    assert!(table.out.contains("not run (1): "), "{}", table.out);
    let wrong = run(&["reproduce", "--only", "nothing.*"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("quickack.default"), "{}", wrong.err);
}

#[test]
fn missing_suite_error_shows_the_fetch_commands() {
    let only = ["reproduce", "--only", "model.drill.*"];
    let run = tcplab(&only);
    assert_eq!(run.code, 4, "{}", run.err);
    for part in [
        "git clone https://github.com/google/packetdrill;",
        "git -C packetdrill checkout a9b4ade;",
        "--packetdrill packetdrill",
    ] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    let run = tcplab(&[&only[..], &["--packetdrill", "docs", "--json"]].concat());
    assert_eq!(run.code, 4, "{}", run.err);
    let document = run.json();
    let claim = claim(&document, "model.drill.399");
    assert_eq!(claim["verdict"], "not-run");
    let why = claim["why"].as_str().unwrap();
    assert!(why.starts_with("docs: gtests/net/tcp is missing"), "{why}");
}
