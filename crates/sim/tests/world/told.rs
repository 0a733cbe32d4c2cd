//! What a run tells of datagrams, of queues at its end, and of what it did not come to.

use std::collections::BTreeMap;

use tcplab_base::Instant;
use tcplab_plan::Outcome;
use tcplab_plan::measure::Sources;

use crate::runs::{Run, point};

const LINK: &str = "[[link]]\n";

fn ran(text: &str) -> Outcome {
    let mut run = Run::new(&format!("{LINK}{text}"));
    run.world.run_until(Instant::from_nanos(i64::MAX), || true);
    run.came().outcome
}

fn measured(text: &str, outcome: &Outcome, name: &str) -> f64 {
    let sources = Sources {
        point: &point(&format!("{LINK}{text}")),
        outcome,
        packets: &BTreeMap::new(),
    };
    sources.named(name).expect("a name").expect("a value")
}

/// The client sends ten times what the link carries, so a full queue is left when it has ended.
#[test]
fn a_stream_of_datagrams_is_no_faster_than_its_link() {
    let text = "rate = \"1mbit\"\nlimit = 100\n[[app]]\nname = \"s\"\nkind = \"udp-stream\"\nsize = 1200\nevery = \"1ms\"\nduration = \"1s\"\n[run]\nlinger = \"5s\"\n";
    let outcome = ran(text);
    for name in ["s.goodput_bps", "s.connection_bps.min"] {
        let bps = measured(text, &outcome, name);
        assert!((900_000.0..1_000_000.0).contains(&bps), "{name}: {bps}");
    }
}

#[test]
fn requests_without_an_answer_are_counted() {
    let text = "a_to_b = { drop = [\"frame 3\"] }\n[[app]]\nname = \"rr\"\nkind = \"udp-rr\"\ncount = 5\ntimeout = \"200ms\"\n";
    let outcome = ran(text);
    assert_eq!(measured(text, &outcome, "rr.lost"), 1.0);
    assert_eq!(measured(text, &outcome, "rr.completed"), 4.0);
}

#[test]
fn a_queue_is_not_measured_while_the_run_lingers() {
    let queue = |linger: &str| {
        let text = format!(
            "rate = \"10mbit\"\ndelay = \"10ms\"\nqueue_from = \"0s\"\n[[app]]\nkind = \"bulk\"\nbytes = \"1m\"\n[run]\nlinger = \"{linger}\"\n"
        );
        ran(&text).links[0].a_to_b_queue.expect("it was asked for")
    };
    let (none, long) = (queue("0s"), queue("5s"));
    assert_eq!(none.p99_bytes, long.p99_bytes);
    // The last ACKs leave while the run lingers.
    assert!(long.ns - none.ns < 1_000_000, "{none:?} {long:?}");
}

#[test]
fn what_a_link_did_not_come_to_is_told() {
    let text = "delay = \"10ms\"\na_to_b = { drop = [\"syn 2\"], inject = [\"1ms rst\"] }\nb_to_a = { drop = [\"ack 1\"] }\n[[app]]\nkind = \"bulk\"\nbytes = \"100k\"\nstart = \"5ms\"\n";
    assert_eq!(
        ran(text).warnings,
        [
            "link.client-server.a_to_b.drop: fewer frames passed, so `syn 2` changed nothing",
            "link.client-server.a_to_b.inject: no connection had passed before 0.001 s, so nothing was injected then",
        ]
    );
}

/// A connection without ECN, a frame that a list drops, and an outage between frames.
#[test]
fn lists_and_outages_that_met_nothing_are_told() {
    let text = "rate = \"10mbit\"\ndelay = \"20ms\"\na_to_b = { mark = [\"data 5-9\"], drop = [\"data 50\"], late = [\"data 50 by 9ms\"], outage = [\"200ms..200.001ms\"] }\n[[app]]\nkind = \"bulk\"\nbytes = \"500 kB\"\n";
    assert_eq!(
        ran(text).warnings,
        [
            "link.client-server.a_to_b.mark: these frames were lost or not ECN-capable, so `data 5-9` changed nothing",
            "link.client-server.a_to_b.late: this frame was lost, so `data 50` changed nothing",
            "link.client-server.a_to_b.outage: no frame came between 0.2 s and 0.200001 s, so this outage changed nothing",
        ]
    );
    let marks = format!(
        "{}[[host]]\nname = \"client\"\nsysctl = {{ \"net.ipv4.tcp_ecn\" = 1 }}\n[[host]]\nname = \"server\"\n",
        text.replace(
            "late = [\"data 50 by 9ms\"], outage = [\"200ms..200.001ms\"]",
            ""
        )
    );
    assert!(ran(&marks).warnings.is_empty());
}

/// Linux tcp_set_congestion_control(): what a socket has goes on.
#[test]
fn the_same_congestion_control_again_changes_nothing() {
    let text = |change: &str| {
        format!(
            "rate = \"10mbit\"\ndelay = \"20ms\"\nloss = \"1%\"\nlimit = 50\n[[app]]\nname = \"x\"\nkind = \"bulk\"\nbytes = \"800 kB\"\n{change}"
        )
    };
    let again = |name: &str| {
        let change = format!("client_change = [{{ at = \"300ms\", congestion = \"{name}\" }}]\n");
        ran(&text(&change))
    };
    let plain = ran(&text(""));
    let same = again("cubic");
    assert_eq!((plain.flows, plain.counters), (same.flows, same.counters));
    assert_ne!(plain.links, again("reno").links);
}
