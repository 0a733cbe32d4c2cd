//! Our qdiscs against the kernel's: the same datagrams into both, inside one guest kernel; the same ones come out, at the same
//! times.

use std::fs::{self, File};
use std::path::Path;

use serde_json::Value;
use tcplab_capture::{Body, Reader};

use super::{folder, tcplab, text};

const KERNEL: &str = "uml:6.1";

/// 200 datagrams in 100 ms, which is 17 Mbit/s.
const DATAGRAMS: &str = "kind = \"udp-stream\"\nsize = 1000\ncount = 200\nevery = \"500us\"\n";

/// Clocks of a guest move by their readings: what lies closer together is the same time.
const SAME_NS: i64 = 2_000;

/// Runs one application over `a -> b`, by tcplab and by the kernel; gives the folder's result of each.
fn both(place: &Path, ways: &str, app: &str) -> [Value; 2] {
    let experiment = place.join("x.toml");
    let text_of = format!(
        "measures = [\"run.virtual_s\"]\n[run]\nmax = \"5s\"\n[[host]]\nname = \"a\"\n[[host]]\nname = \"b\"\n\
         [[link]]\nbetween = [\"a\", \"b\"]\n{ways}\n[[app]]\nclient = \"a\"\nserver = \"b\"\n{app}\
         [[variant]]\nname = \"tcplab\"\n[[variant]]\nname = \"kernel\"\nset = {{ \"link.a-b.by\" = \"kernel\" }}\n"
    );
    fs::write(&experiment, text_of).unwrap();
    let out = place.join("out");
    let args = [
        "run",
        text(&experiment),
        "--on",
        KERNEL,
        "--out",
        text(&out),
    ];
    let done = tcplab(&args);
    assert_eq!(done.code, 0, "{ways}: {}", done.err);
    ["0000", "0001"].map(|point| {
        let result = out.join("points").join(point).join("result.json");
        serde_json::from_slice(&fs::read(result).unwrap()).unwrap()
    })
}

/// Each datagram that came to `b`: its time and its IPv4 identification, from the first one on.
fn arrivals(capture: &Path) -> Vec<(i64, u16)> {
    let mut reader = Reader::new(File::open(capture).unwrap()).unwrap();
    let mut all = Vec::new();
    while let Some(record) = reader.next().unwrap() {
        let Body::Frame { data, .. } = record.body else {
            continue;
        };
        // IPv4 with UDP behind an Ethernet header.
        if data.len() > 34 && data[12..14] == [8, 0] && data[23] == 17 {
            let id = u16::from_be_bytes([data[18], data[19]]);
            all.push((record.time.unwrap().as_nanos(), id));
        }
    }
    let (first, id) = all[0];
    let relative = |(at, n): &(i64, u16)| (at - first, n.wrapping_sub(id));
    all.iter().map(relative).collect()
}

#[test]
#[ignore = "needs a kernel: tcplab kernel build 6.1"]
fn the_same_datagrams_leave_at_the_same_times() {
    for (words, comes) in [
        ("tbf rate 10mbit burst 5k limit 30k", 100..199),
        ("htb rate 10mbit child pfifo limit 20", 100..199),
        ("htb rate 10mbit child bfifo limit 20k", 100..199),
        ("htb rate 10mbit child codel", 190..201),
        (
            "tbf rate 10mbit burst 5k limit 30k child pfifo limit 20",
            100..199,
        ),
        ("tbf rate 10mbit burst 5k limit 30k child codel", 190..201),
        ("prio child codel", 200..201),
        ("netem delay 5ms rate 10mbit 14 limit 20", 100..199),
        ("netem delay 10ms reorder 100% gap 5", 200..201),
        (
            "cake bandwidth 10mbit besteffort overhead 18 mpu 64 atm",
            150..201,
        ),
        ("cake bandwidth 10mbit diffserv4 flowblind", 150..201),
    ] {
        let place = folder();
        let ways = format!("a_to_b = \"{words}\"");
        both(place.path(), &ways, DATAGRAMS);
        let of = |point: &str| {
            arrivals(
                &place
                    .path()
                    .join("out/points")
                    .join(point)
                    .join("b.eth0.pcapng"),
            )
        };
        let (ours, kernel) = (of("0000"), of("0001"));
        assert!(comes.contains(&kernel.len()), "{words}: {}", kernel.len());
        assert_eq!(ours.len(), kernel.len(), "{words}");
        for (ours, kernel) in ours.iter().zip(&kernel) {
            let is_same = (ours.0 - kernel.0).abs() <= SAME_NS && ours.1 == kernel.1;
            assert!(is_same, "{words}: {ours:?} and the kernel's {kernel:?}");
        }
    }
}

/// A download whose ACKs stand in the queue of a slow way back. The arrivals are not the same to the end, for the sender
/// follows its ACKs; what differs is under 2 %.
#[test]
#[ignore = "needs a kernel: tcplab kernel build 6.1"]
fn the_ack_filter_takes_as_many_from_a_standing_queue() {
    for words in ["ack-filter", "ack-filter-aggressive", "no-ack-filter"] {
        let place = folder();
        let ways = format!(
            "a_to_b = \"netem delay 25ms rate 30mbit 0 limit 1000\"\n\
             b_to_a = \"cake bandwidth 100kbit besteffort {words}\""
        );
        let results = both(place.path(), &ways, "kind = \"bulk\"\nbytes = \"4MB\"\n");
        let of = |result: &Value, name: &str| {
            let qdisc = &result["links"][0]["b_to_a_qdisc"];
            let tin = &qdisc["tins"][0];
            qdisc.get(name).unwrap_or(&tin[name]).as_u64().unwrap()
        };
        for name in ["packets", "bytes", "drops", "ack_drops", "overlimits"] {
            let [ours, kernel] = [&results[0], &results[1]].map(|result| of(result, name));
            let most = (kernel / 50).max(3);
            assert!(
                ours.abs_diff(kernel) <= most,
                "{words}: {name} {ours}, the kernel's {kernel}"
            );
        }
        assert_eq!(
            of(&results[1], "ack_drops") > 1_000,
            words != "no-ack-filter"
        );
    }
}
