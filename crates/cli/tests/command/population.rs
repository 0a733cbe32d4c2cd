//! `tcplab run` of a population with variants, and what takes its folder.

use std::fs;

use super::{folder, tcplab, text};

const FILE: &str = r#"
[population]
connections = 300
requests = "1"

[[arm]]
name = "B"

[[arm]]
name = "R"
behaviour = { rto_estimator = "rfc6298", rto_floor = "timeout", rto_floor_ms = 1000 }

[[variant]]
name = "as-it-is"

[[variant]]
name = "no-loss"
set = { "population.loss" = [] }
"#;

#[test]
fn variants_have_tables_and_one_table_of_all() {
    let place = folder();
    let file = place.path().join("varied.toml");
    fs::write(&file, FILE).unwrap();
    let out = place.path().join("all");
    let all = tcplab(&["run", text(&file), "--out", text(&out), "--json"]);
    assert_eq!(all.code, 0, "{}", all.err);
    let all = all.json();
    assert_eq!(all["schema"], "tcplab.population-variants/1");
    assert_eq!(all["variants"][1]["variant"], "no-loss");
    let sent_again = |n: usize| {
        let counters = &all["variants"][n]["arms"][0]["counters"];
        counters["TcpRetransSegs"].as_u64().unwrap()
    };
    assert!(sent_again(1) < sent_again(0));
    for effect in all["effects"].as_array().unwrap() {
        let variants: Vec<_> = effect["cells"]
            .as_array()
            .unwrap()
            .iter()
            .map(|cell| cell["variant"].clone())
            .collect();
        assert_eq!(variants, ["as-it-is", "no-loss"]);
    }
    // One of them alone is the same.
    let one = tcplab(&["run", text(&file), "--variant", "no-loss", "--json"]).json();
    let without_cost = |json: &serde_json::Value| {
        let mut json = json.clone();
        json.as_object_mut().unwrap().remove("cost");
        json
    };
    assert_eq!(
        without_cost(&one["variants"][0]),
        without_cost(&all["variants"][1])
    );
    // The folder again, its text, shards of it.
    let again = tcplab(&["run", text(&file), "--out", text(&out)]);
    assert!(again.out.contains("varied (no-loss)"), "{}", again.out);
    assert!(
        again.out.contains("R in percent of B, by variant"),
        "{}",
        again.out
    );
    let shards: Vec<_> = ["1/2", "2/2"]
        .map(|shard| {
            let out = place.path().join(shard.replace('/', "-"));
            let run = tcplab(&["run", text(&file), "--shard", shard, "--out", text(&out)]);
            assert_eq!(run.code, 0, "{}", run.err);
            out
        })
        .to_vec();
    let merged = place.path().join("merged");
    let run = tcplab(&[
        "merge",
        text(&shards[0]),
        text(&shards[1]),
        "--out",
        text(&merged),
    ]);
    assert_eq!(run.code, 0, "{}", run.err);
    for name in ["manifest.json", "summary.json", "no-loss/groups.bin"] {
        let bytes = |folder: &std::path::Path| fs::read(folder.join(name)).unwrap();
        assert_eq!(bytes(&merged), bytes(&out), "{name}");
    }
    // Each connection belongs to its variant.
    let lost = |variant: &str| {
        let run = tcplab(&[
            "population",
            "connection",
            text(&out),
            "7",
            "--variant",
            variant,
            "--json",
        ]);
        assert_eq!(run.code, 0, "{}", run.err);
        run.json()["drawn"].clone()
    };
    assert_eq!(lost("no-loss")["loss"], "none");
    assert_eq!(lost("no-loss")["rtt_ns"], lost("as-it-is")["rtt_ns"]);
}

#[test]
fn a_variant_that_is_not_there_is_named() {
    let place = folder();
    let file = place.path().join("varied.toml");
    fs::write(&file, FILE).unwrap();
    let wrong = tcplab(&["run", text(&file), "--variant", "no-los"]);
    assert_eq!(wrong.code, 2);
    assert!(
        wrong.err.contains("the variants are as-it-is, no-loss"),
        "{}",
        wrong.err
    );
    let plain = place.path().join("plain.toml");
    fs::write(&plain, "[population]\n[[arm]]\nname = \"B\"\n").unwrap();
    let none = tcplab(&["run", text(&plain), "--variant", "x"]);
    assert!(none.err.contains("has no [[variant]]"), "{}", none.err);
    let points = tcplab(&["run", "examples/delayed-ack.toml", "--variant", "x"]);
    assert!(points.err.contains("--variant"), "{}", points.err);
}

#[test]
fn counts_of_nothing_and_unknown_connections_are_refused() {
    let place = folder();
    let file = place.path().join("small.toml");
    let small = "[population]\nconnections = 40\n[[arm]]\nname = \"B\"\n";
    fs::write(&file, small).unwrap();
    let file = text(&file);
    for (words, says) in [
        (&["self-test", file, "--seeds", "0"][..], "--seeds <N>"),
        (
            &["self-test", file, "--connections", "0"],
            "--connections <N>",
        ),
        (&["show", file, "--draws", "0"], "--draws <N>"),
        (
            &["sample", file, "--on", "uml:6.1", "--connections", "0"],
            "--connections <N>",
        ),
        (
            &["connection", file, "40"],
            "has connections 0 to 39; after",
        ),
    ] {
        let run = tcplab(&[&["population"], words].concat());
        assert_eq!(run.code, 2, "{words:?}: {}", run.err);
        assert!(run.err.contains(says), "{words:?}: {}", run.err);
    }
    let last = tcplab(&["population", "connection", file, "39"]);
    assert_eq!(last.code, 0, "{}", last.err);
}

#[test]
fn a_connection_tells_its_change_box_and_injected_segment() {
    let place = folder();
    let file = place.path().join("rare.toml");
    let rare = "[population]\nconnections = 4\nrtt = \"40ms\"\n\
        change = [{ share = \"100%\", at = \"200ms\", rtt = \"300ms\", rate = \"2mbit\" }]\n\
        middlebox = [{ share = \"100%\", rules = [\"set-mss 1200\"] }]\n\
        inject = [{ share = \"100%\", at = \"700ms\", segment = \"rst seq +9\" }]\n\
        [[arm]]\nname = \"B\"\n";
    fs::write(&file, rare).unwrap();
    let run = tcplab(&["population", "connection", text(&file), "1"]);
    assert_eq!(run.code, 0, "{}", run.err);
    for words in [
        "40.0 ms,",
        "change    300.0 ms, 2.00 Mbit/s from 200.0 ms on",
        "middlebox set-mss 1200",
        "to the client at 700.0 ms",
    ] {
        assert!(run.out.contains(words), "{words}: {}", run.out);
    }
}

#[test]
fn self_test_without_timeouts_says_that_nothing_was_planted() {
    let place = folder();
    let file = place.path().join("clean.toml");
    let clean = "[population]\nrequests = 1\nresponse = \"1kB\"\nloss = []\n\
        spikes = { data = \"0%\", ack = \"0%\", median = \"1ms\" }\n\
        outage = { share = \"0%\", start = \"1s\", length = \"1s\" }\n[[arm]]\nname = \"B\"\n";
    fs::write(&file, clean).unwrap();
    let words = ["population", "self-test", text(&file), "--seeds", "1"];
    let run = tcplab(&[&words[..], &["--connections", "200"]].concat());
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(
        run.out.contains("no table has a timeout to plant"),
        "{}",
        run.out
    );
    assert!(!run.out.contains("detected in"), "{}", run.out);
}
