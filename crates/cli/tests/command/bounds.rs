//! What is bounded is said, what lifts it works, and no output changes the figures of another.

use std::path::Path;

use super::{LOSS, QUICKACK, folder, tcplab, tcplab_with, text};

/// A capture of so many SYNs, each of another connection, with a packet beyond them for each of the first.
fn flood(syns: u32, late: u32) -> Vec<u8> {
    let packets = (0..syns)
        .map(|n| (n, 0x02))
        .chain((0..late).map(|n| (n, 0x10)));
    capture(packets.zip(0..).map(|((n, flags), at)| (at, n, flags)))
}

/// A capture of packets without data: time in milliseconds, number of the client, flags.
fn capture(packets: impl Iterator<Item = (u32, u32, u8)>) -> Vec<u8> {
    let mut out = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 262_144, 101] {
        out.extend(word.to_le_bytes());
    }
    for (at, n, flags) in packets {
        for word in [at / 1_000, at % 1_000 * 1_000, 40, 40] {
            out.extend(word.to_le_bytes());
        }
        let mut frame = vec![0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 6, 0, 0];
        frame.extend((0x0a00_0000 + n).to_be_bytes());
        frame.extend([
            192, 0, 2, 1, 0x9c, 0x40, 0, 80, 0, 0, 0, 9, 0, 0, 0, 0, 0x50, flags, 1, 0, 0, 0, 0, 0,
        ]);
        out.extend(frame);
    }
    out
}

/// One finding more than are listed of an id: it explains its stream all the same.
#[test]
fn findings_beyond_the_list_explain_their_streams() {
    let tries = [0, 4_000, 12_000, 28_000].into_iter();
    let capture = capture(tries.flat_map(|at| (0..1_001).map(move |n| (at + n, n, 0x02))));
    let json = tcplab_with(&["analyze", "--json", "-"], &capture).json();
    let of = &json["captures"][0];
    let findings = of["findings"].as_array().unwrap().iter();
    let listed = findings.filter(|f| f["id"] != "capture_artefacts");
    assert_eq!(listed.count(), 1_000);
    assert_eq!(of["findings_not_listed"], 1);
    assert!(of.get("not_explained").is_none(), "{}", of["not_explained"]);
    assert!(of["streams"][1_000].get("unlisted").is_none());
    let said = tcplab_with(&["analyze", "--all", "-"], &capture).out;
    assert!(!said.contains("no answer"), "{said}");
    assert!(!said.contains("Not explained"), "{said}");
}

#[test]
fn early_reported_streams_are_counted_and_the_limit_can_be_lifted() {
    let capture = flood(300, 200);
    let json = tcplab_with(
        &["analyze", "--json", "--max-streams", "100", "-"],
        &capture,
    )
    .json();
    let totals = &json["captures"][0];
    assert_eq!(totals["evicted_streams"], 200);
    assert_eq!(totals["late_packets"], 200);
    assert_eq!(totals["streams"].as_array().unwrap().len(), 300);
    let said = tcplab_with(&["analyze", "--max-streams", "100", "-"], &capture).out;
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("200 connections reported before their end"),
        "{said}"
    );
    assert!(said.contains("raise --max-streams"), "{said}");
    assert!(said.contains("no figure counts them"), "{said}");
    for lifted in ["none", "1000000"] {
        let json = tcplab_with(
            &["analyze", "--json", "--max-streams", lifted, "-"],
            &capture,
        )
        .json();
        let totals = &json["captures"][0];
        assert!(totals.get("evicted_streams").is_none() && totals.get("late_packets").is_none());
    }
}

#[test]
fn rows_that_were_left_out_are_said() {
    let all = tcplab(&["analyze", "--acks", "--json", LOSS[0]]);
    assert_eq!((all.code, all.err.as_str()), (0, ""));
    let few = tcplab(&[
        "analyze",
        "--acks",
        "--json",
        "--max-packets",
        "10",
        LOSS[0],
    ]);
    assert_eq!(few.code, 0);
    assert!(few.err.contains("--max-packets"), "{}", few.err);
    assert!(
        few.out
            .lines()
            .last()
            .unwrap()
            .starts_with("{\"rows_left_out\":"),
        "{}",
        few.out
    );
    assert!(few.out.lines().count() < all.out.lines().count());
    let none = tcplab(&[
        "analyze",
        "--acks",
        "--json",
        "--max-packets",
        "none",
        LOSS[0],
    ]);
    assert_eq!(none.out, all.out);
    let compat = |most| tcplab(&["analyze", "--tshark-compat", "--max-packets", most, LOSS[0]]);
    let (few, all) = (compat("20"), compat("none"));
    assert!(few.out.lines().count() < all.out.lines().count());
    assert!(
        few.err.contains("--max-packets") && all.err.is_empty(),
        "{}",
        few.err
    );
    let pair = tcplab(&[
        "analyze",
        "--pair",
        LOSS[0],
        LOSS[1],
        "--json",
        "--max-packets",
        "20",
    ])
    .json();
    assert_eq!(pair["packets"]["a"], 20);
    assert!(pair["packets"]["left_out"].as_u64() > Some(0));
}

#[test]
fn missing_stream_is_an_error() {
    for (args, has) in [
        (
            &["analyze", "--stream", "99", QUICKACK][..],
            "1 TCP stream, number 0",
        ),
        (
            &["analyze", "--json", "--stream", "99", QUICKACK],
            "1 TCP stream",
        ),
        (
            &["analyze", "--acks", "--stream", "0,99", QUICKACK],
            "1 TCP stream",
        ),
        (
            &["analyze", "--tshark-compat", "--stream", "99", QUICKACK],
            "1 TCP stream",
        ),
        (
            &["analyze", "--stream", "99", QUICKACK, LOSS[0]],
            "1 TCP stream",
        ),
        (
            &["analyze", "--pair", LOSS[0], LOSS[1], "--stream", "99"],
            "TCP stream",
        ),
        (&["explain", "--stream", "99", QUICKACK], "1 TCP stream"),
    ] {
        let run = tcplab(args);
        assert_eq!(run.code, 2, "{args:?}: {}", run.err);
        assert!(
            run.err.contains("no stream 99: ") && run.err.contains(has),
            "{args:?}: {}",
            run.err
        );
        if args.contains(&"--json") {
            let message = run.json()["error"]["message"].clone();
            assert!(
                message.as_str().is_some_and(|m| m.contains("no stream 99")),
                "{message}"
            );
        }
    }
    // A stream that only one of two captures has is no error; the other capture's missing stream is reported.
    let two = flood(3, 0);
    let run = tcplab_with(&["analyze", "--json", "--stream", "2", "-", QUICKACK], &two);
    assert_eq!(run.code, 0, "{}", run.err);
    assert!(
        run.err.contains("no stream 2") && run.err.contains(QUICKACK),
        "{}",
        run.err
    );
    assert!(!run.err.contains("- has"), "{}", run.err);
}

#[test]
fn report_on_some_streams_says_so() {
    let queue = "tests/captures/accept-queue.b.pcap";
    let one = "tests/captures/bulk-loss.a.pcap";
    let run = tcplab(&["analyze", "--stream", "5", one, queue]);
    for part in [
        "Stream 5 is not in this capture: nothing was checked.",
        "only stream 5 of 7 TCP streams",
    ] {
        assert!(run.out.contains(part), "{part}: {}", run.out);
    }
    let json = tcplab(&["analyze", "--json", "--stream", "5", one, queue]).json();
    for capture in json["captures"].as_array().unwrap() {
        assert_eq!(capture["only_streams"], serde_json::json!([5]));
    }
    let all = tcplab(&["analyze", "--json", one]).json();
    assert!(all["captures"][0].get("only_streams").is_none());
}

#[test]
fn json_has_what_no_finding_explains() {
    let of = |name: &str| {
        let file = format!("tests/captures/{name}.pcap");
        let said = tcplab(&["analyze", &file]).out;
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let json = tcplab(&["analyze", "--json", &file]).json();
        (json["captures"][0].clone(), said)
    };
    for (name, member, kind) in [
        ("reset-forged.b", "not_explained", "delayed_acks"),
        ("quickack-6.1.176.a", "two_ends", "time"),
    ] {
        let (capture, said) = of(name);
        let left = &capture[member][0];
        assert_eq!(left["kind"], kind, "{name}: {left}");
        assert_eq!(left["first_streams"], serde_json::json!([0]), "{name}");
        let text = left["text"].as_str().unwrap_or_default();
        assert!(
            !text.is_empty() && said.contains(text),
            "{name}: {text}: {said}"
        );
    }
    // The finding explains these waits.
    let (queue, said) = of("accept-queue.b");
    assert!(queue.get("not_explained").is_none(), "{queue}");
    assert!(!said.contains("Not explained"), "{said}");
}

/// Streams, findings and counts of a capture.
fn figures(args: &[&str]) -> String {
    let run = tcplab(args);
    assert_eq!(run.code, 0, "{args:?}: {}", run.err);
    run.out
}

#[test]
fn output_forms_do_not_change_each_other() {
    let place = folder();
    let path = |name: &str| place.path().join(name);
    let (page, copy, flows) = (path("a.html"), path("a.pcapng"), path("a.parquet"));
    // What this build has: the page and Parquet are optional.
    let has =
        |option: &str, path: &Path| tcplab(&["analyze", QUICKACK, option, text(path)]).code != 4;
    let (page_built, flows_built) = (has("--html", &page), has("--flows", &flows));
    // Its last ACK says twice that the timeout before it was not needed.
    let twice = path("twice.txt");
    std::fs::write(&twice, TWICE).unwrap();
    let captures = [
        QUICKACK,
        LOSS[0],
        "tests/captures/spurious-rto.a.pcap",
        text(&twice),
    ];
    for capture in captures {
        let alone = figures(&["analyze", "--json", capture]);
        let in_text = figures(&["analyze", capture]);
        let mut sides: Vec<Vec<&str>> = Vec::new();
        if flows_built {
            sides.push(vec!["--flows", text(&flows)]);
        }
        if page_built {
            sides.push(vec!["--html", text(&page)]);
        }
        if flows_built && page_built {
            sides.push(vec!["--html", text(&page), "--flows", text(&flows)]);
        }
        if Path::new(capture).extension().is_some_and(|e| e == "pcap") {
            sides.push(vec!["--annotate", text(&copy)]);
        }
        for side in sides {
            let json = figures(&[&["analyze", "--json", capture], &side[..]].concat());
            assert_eq!(json, alone, "{capture} {side:?}");
            let said = figures(&[&["analyze", capture], &side[..]].concat());
            assert!(said.starts_with(&in_text), "{capture} {side:?}");
        }
        // Several files at once say of each what it says alone, in any order.
        let inner = |text: &str| {
            let at = text.find("\"captures\":[").unwrap() + 12;
            text[at..].trim_end().trim_end_matches("]}").to_owned()
        };
        let both = figures(&["analyze", "--json", capture, LOSS[1]]);
        assert!(both.contains(&inner(&alone)), "{capture}");
        let both = figures(&["analyze", "--json", LOSS[1], capture]);
        assert!(both.contains(&inner(&alone)), "{capture}");
    }
    let json = tcplab(&["analyze", "--json", text(&twice)]).json();
    let again = &json["captures"][0]["streams"][0]["client_to_server"]["retransmissions"];
    assert_eq!(
        (&again["total"], &again["spurious"]),
        (&2.into(), &1.into())
    );
}

/// Two timeouts: one that was needed, and one that was not.
const TWICE: &str = "\
0.000 IP 192.0.2.1.2000 > 192.0.2.2.80: Flags [S], seq 100, win 60000, options [mss 1460,sackOK,TS val 1000 ecr 0], length 0
0.050 IP 192.0.2.2.80 > 192.0.2.1.2000: Flags [S.], seq 500, ack 101, win 60000, options [mss 1460,sackOK,TS val 9000 ecr 1000], length 0
0.050 IP 192.0.2.1.2000 > 192.0.2.2.80: Flags [.], ack 1, win 60000, options [TS val 1050 ecr 9000], length 0
0.051 IP 192.0.2.1.2000 > 192.0.2.2.80: Flags [P.], seq 1:101, ack 1, win 60000, options [TS val 1051 ecr 9000], length 100
0.400 IP 192.0.2.1.2000 > 192.0.2.2.80: Flags [P.], seq 1:101, ack 1, win 60000, options [TS val 1400 ecr 9000], length 100
0.450 IP 192.0.2.2.80 > 192.0.2.1.2000: Flags [.], ack 101, win 60000, options [TS val 9400 ecr 1400], length 0
0.500 IP 192.0.2.1.2000 > 192.0.2.2.80: Flags [P.], seq 101:201, ack 1, win 60000, options [TS val 1500 ecr 9400], length 100
0.900 IP 192.0.2.1.2000 > 192.0.2.2.80: Flags [P.], seq 101:201, ack 1, win 60000, options [TS val 1900 ecr 9400], length 100
0.910 IP 192.0.2.2.80 > 192.0.2.1.2000: Flags [.], ack 201, win 60000, options [TS val 9860 ecr 1500,sack 1 {101:201}], length 0
";

#[test]
fn damage_of_a_text_and_of_times_is_said_with_its_place() {
    let good =
        "0.1 IP 192.0.2.1.1 > 192.0.2.2.2: Flags [P.], seq 1:21, ack 1, win 229, length 20\n";
    let bad = "0.2 IP 192.0.2.1.1 > 192.0.2.2.2: Flags [P.], ack 1, win 229, length 4294967295\n";
    let run = tcplab_with(
        &["analyze", "--json", "-"],
        format!("{good}{bad}").as_bytes(),
    );
    assert_eq!(run.code, 2);
    let json = run.json();
    let capture = &json["captures"][0];
    assert_eq!(capture["error"]["offset"], good.len());
    assert_eq!(
        capture["streams"][0]["client_to_server"]["data_bytes"]
            .as_u64()
            .unwrap_or(0)
            + capture["streams"][0]["server_to_client"]["data_bytes"]
                .as_u64()
                .unwrap_or(0),
        20
    );
    // More microseconds than a second has.
    let mut pcap = flood(2, 0);
    let at = pcap.len() - 56;
    pcap[at + 4..at + 8].copy_from_slice(&1_000_000_u32.to_le_bytes());
    let run = tcplab_with(&["analyze", "-"], &pcap);
    assert_eq!(run.code, 2);
    assert!(
        run.err.contains(&format!("offset {at}")) && run.err.contains("more than a second"),
        "{}",
        run.err
    );
}
