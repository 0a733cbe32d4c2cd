//! `analyze --prove`: what an experiment says of a finding, in every form of the answer, and the file that repeats it.

use serde_json::Value;

use super::{folder, tcplab};

const CAPTURES: &str = "tests/captures";

/// The first finding with this id.
fn finding(capture: &str, id: &str) -> Value {
    let run = tcplab(&[
        "analyze",
        "--json",
        "--prove",
        &format!("{CAPTURES}/{capture}"),
    ]);
    assert_eq!(run.code, 0, "{}", run.err);
    let document = run.json();
    let findings = document["captures"][0]["findings"].as_array().cloned();
    let of_it = |f: &Value| f["id"] == id;
    let found = findings.unwrap().into_iter().find(of_it);
    found.unwrap_or_else(|| panic!("{capture}: no {id}"))
}

#[test]
fn the_cures_of_delayed_acks_are_proved() {
    for (capture, id) in [
        ("write-write-read.a.pcap", "delack_nagle"),
        ("quickack-5.10.46.a.pcap", "quickack_exhausted"),
        ("request-held.a.pcap", "delack_request_response"),
    ] {
        let proof = &finding(capture, id)["proof"];
        assert_eq!(proof["outcome"], "proved", "{capture}: {proof}");
        let us = |value: &Value| value.as_u64().unwrap_or_else(|| panic!("{proof}"));
        let (captured, before) = (us(&proof["captured_us"]), us(&proof["before_us"]));
        assert!((40_000..60_000).contains(&before), "{capture}: {before}");
        assert!(
            captured.abs_diff(before) < 10_000,
            "{capture}: {captured} {before}"
        );
        let first = &proof["cures"][0];
        assert_eq!(first["gone"], true, "{capture}: {first}");
        assert!(us(&first["after_us"]) < 10_000, "{capture}: {first}");
        assert!(
            proof["experiment"]
                .as_str()
                .unwrap()
                .contains("kind = \"messages\"")
        );
    }
}

#[test]
fn the_report_names_the_figures_below_what_to_do() {
    let run = tcplab(&[
        "analyze",
        "--prove",
        &format!("{CAPTURES}/write-write-read.a.pcap"),
    ]);
    let at = |text: &str| {
        let at = run.out.find(text);
        at.unwrap_or_else(|| panic!("no {text}: {}", run.out))
    };
    assert!(
        at("  Do ") < at("  Proved") && at("  Proved") < at("  Why"),
        "{}",
        run.out
    );
    let words: Vec<&str> = run.out.split_whitespace().collect();
    let text = words.join(" ");
    assert!(
        text.contains("On the model, each message in one write cuts"),
        "{text}"
    );
    assert!(text.contains("With TCP_NODELAY on 10.77.0.1:"), "{text}");
}

#[test]
fn the_page_holds_the_proof() {
    let folder = folder();
    let page = folder.path().join("page.html");
    let page = page.to_str().unwrap();
    let capture = format!("{CAPTURES}/write-write-read.a.pcap");
    let run = tcplab(&["analyze", "--prove", "--html", page, &capture]);
    assert_eq!(run.code, 0, "{}", run.err);
    let text = std::fs::read_to_string(page).unwrap();
    assert!(text.contains("\"outcome\":\"proved\""), "{page}");
    assert!(text.contains("\"change\":\"each message in one write\""));
}

#[test]
fn what_cannot_be_proved_says_why() {
    let run = tcplab(&[
        "analyze",
        "--json",
        "--prove",
        &format!("{CAPTURES}/zero-window.a.pcap"),
    ]);
    let document = run.json();
    let findings = document["captures"][0]["findings"]
        .as_array()
        .cloned()
        .unwrap();
    assert!(!findings.is_empty());
    for finding in findings {
        let proof = &finding["proof"];
        assert_eq!(proof["outcome"], "not_proved", "{finding}");
        assert!(proof["reason"].as_str().unwrap().len() > 10, "{finding}");
        assert!(proof.get("experiment").is_none(), "{finding}");
    }
    // Where the losses are is what this capture shows.
    for capture in ["bulk-rto.b.pcap", "syn-retries.a.pcap"] {
        let place = folder().path().join("experiments");
        let out = place.to_str().unwrap();
        let run = tcplab(&[
            "analyze",
            "--prove-out",
            out,
            &format!("{CAPTURES}/{capture}"),
        ]);
        assert!(!place.exists(), "an empty folder is of no use");
        assert!(run.err.contains("nothing was written"), "{}", run.err);
        let why = "Not proved: the experiment does not include the path's losses;";
        assert!(run.out.contains(why), "{capture}: {}", run.out);
    }
}

#[test]
fn without_the_option_nothing_is_proved() {
    let run = tcplab(&[
        "analyze",
        "--json",
        &format!("{CAPTURES}/write-write-read.a.pcap"),
    ]);
    assert!(!run.out.contains("proof"), "{}", run.out);
    let run = tcplab(&[
        "analyze",
        "--prove-out",
        "README.md",
        &format!("{CAPTURES}/write-write-read.a.pcap"),
    ]);
    assert_eq!(run.code, 2, "{}", run.err);
    assert!(run.err.contains("README.md"), "{}", run.err);
    for other in ["--acks", "--tshark-compat"] {
        let run = tcplab(&[
            "analyze",
            "--prove",
            other,
            &format!("{CAPTURES}/write-write-read.a.pcap"),
        ]);
        assert_eq!(run.code, 2, "{other}");
    }
}

#[test]
fn the_written_experiment_says_the_same_when_it_is_run() {
    let folder = folder();
    let place = folder.path().join("experiments");
    let place = place.to_str().unwrap();
    let capture = format!("{CAPTURES}/write-write-read.a.pcap");
    let run = tcplab(&["analyze", "--json", "--prove-out", place, &capture]);
    assert_eq!(run.code, 0, "{}", run.err);
    let proof = &run.json()["captures"][0]["findings"][0]["proof"];
    let file = proof["file"].as_str().unwrap();
    assert_eq!(
        file,
        format!("{place}/write-write-read.a-0-delack-nagle.toml")
    );
    assert_eq!(
        std::fs::read_to_string(file).unwrap(),
        proof["experiment"].as_str().unwrap()
    );
    let again = tcplab(&["run", "--json", file]);
    assert_eq!(again.code, 0, "{}", again.err);
    let points = again.json()["points"].as_array().cloned().unwrap();
    let latency = |variant: &str| {
        let of_it = |p: &&Value| p["axes"]["variant"] == variant;
        let point = points.iter().find(of_it).unwrap();
        point["measures"]["messages.latency_us.p50"]
            .as_f64()
            .unwrap()
    };
    assert!(latency("as-is") > 40_000.0, "{points:?}");
    for cure in ["one-write", "nodelay", "quickack-route"] {
        assert!(latency(cure) < 10_000.0, "{cure}: {points:?}");
    }
}

#[test]
fn nothing_to_try_is_said() {
    let run = tcplab(&[
        "analyze",
        "--prove",
        &format!("{CAPTURES}/bulk-clean.a.pcap"),
    ]);
    assert!(
        run.err
            .contains("--prove: there is no finding whose cure could be tried"),
        "{}",
        run.err
    );
}
