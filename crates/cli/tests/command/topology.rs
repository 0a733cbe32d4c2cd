//! `tcplab run` with routers between the hosts: on the model, and on a kernel where one is built.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::{folder, point, tcp_packets, tcplab, text};

const CHAIN: &str = r#"
measures = ["f.server_read_bytes", "link.r1-r2.a_to_b.peak_pkts", "link.r1-r2.a_to_b.lost", "link.r2-b.a_to_b.frames", "b.TcpInSegs"]
host = [{ name = "a" }, { name = "r1", forward = true }, { name = "r2", forward = true }, { name = "b" }]
link = [
    { between = ["a", "r1"], rate = "100mbit", delay = "1ms" },
    { between = ["r1", "r2"], rate = "10mbit", delay = "5ms", a_to_b = { drop = ["data 7"] } },
    { between = ["r2", "b"], rate = "100mbit", delay = "1ms" },
]
[[app]]
kind = "bulk"
name = "f"
client = "a"
server = "b"
bytes = "100k"
"#;

const INCAST: &str = r#"
measures = ["burst.server_read_bytes", "burst-3.server_read_bytes", "link.sender-switch.a_to_b.frames", "link.switch-sink.a_to_b.frames", "link.switch-sink.a_to_b.queue_drops", "sender.retransmissions.total", "sender.TcpRetransSegs"]
host = [{ name = "sender", count = 8 }, { name = "switch", forward = true }, { name = "sink" }]
link = [{ between = ["sender", "switch"], rate = "1gbit" }, { between = ["switch", "sink"], rate = "1gbit", limit = 20 }]
[[app]]
kind = "bulk"
name = "burst"
client = "sender"
server = "sink"
bytes = 50000
"#;

/// How many TCP segments passed an interface, by host of origin and time to live.
fn passed(place: &Path, stack: &str, file: &str) -> BTreeMap<(String, u8), usize> {
    let folder = place.join(stack.replace(':', "-")).join("points/0000");
    let mut all = BTreeMap::new();
    for packet in tcp_packets(&folder.join(file)) {
        *all.entry((packet.src.ip.to_string(), packet.ttl))
            .or_insert(0) += 1;
    }
    all
}

fn a_chain(stack: &str) {
    let place = folder();
    let point = point(CHAIN, stack, place.path());
    let measure = |name: &str| point["measures"][name].as_f64();
    assert_eq!(measure("f.server_read_bytes"), Some(102_400.0));
    assert_eq!(measure("link.r1-r2.a_to_b.lost"), Some(1.0));
    assert!(
        measure("link.r1-r2.a_to_b.peak_pkts") > Some(5.0),
        "{point}"
    );
    assert_eq!(measure("link.r2-b.a_to_b.frames"), measure("b.TcpInSegs"));
    let at = |file| passed(place.path(), stack, file);
    let (first, last) = (at("a.eth0.pcapng"), at("b.eth0.pcapng"));
    // a is 10.77.0.1, b is 10.77.0.4; each of the two routers takes one off.
    let of = |all: &BTreeMap<(String, u8), usize>, ip: &str, ttl| {
        all.get(&(ip.to_owned(), ttl)).copied().unwrap_or(0)
    };
    let sent = of(&first, "10.77.0.1", 64);
    assert!(sent > 70, "{first:?}");
    assert_eq!(of(&last, "10.77.0.1", 62), sent - 1, "{last:?}");
    assert_eq!(of(&first, "10.77.0.4", 62), of(&last, "10.77.0.4", 64));
    assert_eq!((first.len(), last.len()), (2, 2), "{first:?} {last:?}");
    // A router's interfaces: as it came, and as it went on.
    assert_eq!(at("r1.eth0.pcapng"), first);
    assert_eq!(of(&at("r1.eth1.pcapng"), "10.77.0.1", 63), sent);
    assert_eq!(of(&at("r2.eth0.pcapng"), "10.77.0.1", 63), sent - 1);
}

fn an_incast(stack: &str) {
    let place = folder();
    let point = point(INCAST, stack, place.path());
    let measure = |name: &str| point["measures"][name].as_f64().unwrap();
    assert_eq!(measure("burst.server_read_bytes"), 400_000.0);
    assert_eq!(measure("burst-3.server_read_bytes"), 50_000.0);
    let entered = measure("link.sender-switch.a_to_b.frames");
    assert_eq!(measure("link.switch-sink.a_to_b.frames"), entered);
    assert!(
        measure("link.switch-sink.a_to_b.queue_drops") > 0.0,
        "{point}"
    );
    let again = measure("sender.TcpRetransSegs");
    assert!(again > 0.0, "{point}");
    assert_eq!(measure("sender.retransmissions.total"), again);
}

#[test]
fn the_model_sends_through_two_routers() {
    a_chain("model");
}

#[test]
fn the_model_has_a_switch_whose_queue_overflows() {
    an_incast("model");
}

#[test]
#[ignore = "needs a kernel: tcplab kernel build 6.1"]
fn a_kernel_sends_through_two_routers_and_a_switch() {
    a_chain("uml:6.1");
    an_incast("uml:6.1");
}

/// Real time, so only what no delay of the machine can change; where no namespace can be made there is nothing to test.
#[test]
fn this_machine_s_kernel_sends_through_two_routers() {
    let place = folder();
    let file = place.path().join("t.toml");
    std::fs::write(&file, CHAIN).unwrap();
    let run = tcplab(&["run", text(&file), "--on", "host", "--json"]);
    if run.code == 4 {
        eprintln!("skipped, no namespaces or TAP devices here: {}", run.err);
        return;
    }
    a_chain("host");
}

/// `run.link_every`: the queue and what came out, beside the series of tcp_info.
fn a_series(stack: &str) -> Vec<[i64; 4]> {
    const EXPERIMENT: &str = r#"
measures = ["link.a-b.a_to_b.peak_pkts", "link.a-b.a_to_b.bytes", "link.a-b.a_to_b.queue_drops"]
run = { link_every = "10ms", tcp_info_every = "50ms" }
host = [{ name = "a" }, { name = "b" }]
link = [{ between = ["a", "b"], rate = "10mbit", delay = "5ms" }]
[[app]]
kind = "bulk"
client = "a"
server = "b"
bytes = "300k"
"#;
    let place = folder();
    let point = point(EXPERIMENT, stack, place.path());
    let series = point["link_series"][0]["a_to_b"].as_array().unwrap();
    let numbers = |sample: &Value| {
        let n = |v: &Value| v.as_i64().unwrap();
        let s = &sample[1];
        [n(&sample[0]), n(&s[0]), n(&s[1]), n(&s[2])]
    };
    let samples: Vec<[i64; 4]> = series.iter().map(numbers).collect();
    for (n, sample) in samples.iter().enumerate() {
        assert_eq!(sample[0], (n as i64 + 1) * 10_000_000);
        let [_, pkts, bytes, _] = *sample;
        assert!(
            bytes <= pkts * 1514 && (bytes > 0) == (pkts > 0),
            "{sample:?}"
        );
    }
    for pair in samples.windows(2) {
        // 10 Mbit/s are 12,500 bytes in 10 ms, and a frame is out as a whole.
        let came = pair[1][3] - pair[0][3];
        assert!((0..=12_500 + 1514).contains(&came), "{pair:?}");
    }
    let measure = |name: &str| point["measures"][name].as_f64().unwrap();
    let last = samples.last().unwrap();
    assert_eq!(measure("link.a-b.a_to_b.queue_drops"), 0.0);
    assert_eq!(last[1..], [0, 0, measure("link.a-b.a_to_b.bytes") as i64]);
    let longest = samples.iter().map(|s| s[1]).max().unwrap();
    assert!(longest > 10 && longest as f64 <= measure("link.a-b.a_to_b.peak_pkts"));
    let info = point["flows"][0]["server"]["tcp_info_series"]
        .as_array()
        .unwrap();
    let received: Vec<i64> = info.iter().map(|s| s[1][10].as_i64().unwrap()).collect();
    assert!(
        received.is_sorted() && received.last() > Some(&200_000),
        "{received:?}"
    );
    samples
}

#[test]
fn links_are_sampled_where_the_experiment_asks_for_it() {
    a_series("model");
    let place = folder();
    let without = point(CHAIN, "model", place.path());
    assert_eq!(without.get("link_series"), None);
}

#[test]
#[ignore = "needs a kernel: tcplab kernel build 6.1"]
fn a_kernel_s_links_have_the_samples_of_the_model_s() {
    let (kernel, model) = (a_series("uml:6.1"), a_series("model"));
    assert_eq!(kernel.len(), model.len());
    for (kernel, model) in kernel.iter().zip(&model) {
        // A frame's microsecond may fall on either side of a sample.
        let differ = |i: usize| (kernel[i] - model[i]).abs();
        assert!(differ(1) <= 1 && differ(3) <= 1514, "{kernel:?} {model:?}");
    }
}

#[test]
fn model_refuses_a_link_that_needs_fragmentation_at_a_router() {
    let place = folder();
    let file = place.path().join("t.toml");
    let narrow = CHAIN.replace("rate = \"10mbit\"", "mtu = 500");
    std::fs::write(&file, narrow).unwrap();
    let run = tcplab(&["run", text(&file), "--on", "model"]);
    assert_ne!(run.code, 0, "{}", run.out);
    let said = format!("{}{}", run.out, run.err);
    assert!(said.contains("link r1-r2: its mtu is smaller"), "{said}");
}

#[test]
fn non_forwarding_host_is_an_error_with_its_place() {
    let place = folder();
    let file = place.path().join("t.toml");
    let cut = CHAIN.replace("{ name = \"r2\", forward = true }", "{ name = \"r2\" }");
    std::fs::write(&file, cut).unwrap();
    let run = tcplab(&["run", text(&file)]);
    assert_eq!(run.code, 2, "{}", run.err);
    let right =
        "t.toml:13:10: app.f.server: the path from `a` to `b` passes `r2`, which does not forward";
    assert!(run.err.contains(right), "{}", run.err);
}
