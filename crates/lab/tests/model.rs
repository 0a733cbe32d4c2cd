//! The model through the laboratory: runs repeat on any number of threads, its captures say what
//! its own counters say, and tshark finds nothing wrong in them.

use std::path::Path;
use std::process::Command;

use tcplab_lab::Lab;
use tcplab_lab::campaign::{self, Campaign};
use tcplab_os::Stop;
use tcplab_plan::Experiment;
use tcplab_plan::result::{PointResult, RunDocument};

/// Runs an experiment on a stack with the measures that it names.
fn run(text: &str, stack: &str, jobs: usize, out: Option<&Path>) -> RunDocument {
    let experiment = Experiment::parse("test.toml", text).expect("a right experiment");
    let lab = Lab::new(Stop::never());
    let stacks = [lab.stack(stack).expect("a stack")];
    let points = experiment.points().expect("points");
    let campaign = Campaign {
        experiment: "test",
        points: &points,
        stacks: &stacks,
        measures: &experiment.measures,
        jobs,
        out,
        view: None,
        only: None,
    };
    campaign::run(&lab, &campaign, |_| ()).expect("a run")
}

fn measure(point: &PointResult, name: &str) -> f64 {
    let value = point.measures.get(name).copied().flatten();
    value.unwrap_or_else(|| panic!("{name}: {:?}", point.missing.get(name)))
}

/// 20 points of many kinds.
const TWENTY: &str = include_str!("../../../tests/golden/model-digests.toml");

#[test]
fn twenty_points_have_the_same_digests_on_one_and_two_threads() {
    let digests = |jobs| {
        let document = run(TWENTY, "model", jobs, None);
        let digests: Vec<String> = document.points.iter().map(|p| p.digest.clone()).collect();
        for point in &document.points {
            assert_eq!(point.error, None);
            assert!(!point.cut_short, "{:?}", point.axes);
        }
        digests
    };
    let (one, two) = (digests(1), digests(2));
    assert_eq!(one.len(), 20);
    assert_eq!(one, two);
    let mut different = one.clone();
    different.sort();
    different.dedup();
    assert_eq!(different.len(), 20, "seeds must matter");
    pinned(&one);
}

/// The digests are the same for every build (scripts/test.sh compares those of the release build with the same file).
/// `TCPLAB_WRITE_DOCS=1` writes them anew when results change.
fn pinned(digests: &[String]) {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../tests/golden/model-digests.txt"
    );
    let text = format!("{}\n", digests.join("\n"));
    if std::env::var_os("TCPLAB_WRITE_DOCS").is_some() {
        std::fs::write(path, &text).expect("the golden file can be written");
    }
    let there = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(
        text, there,
        "results of the model have changed; if that is wanted: TCPLAB_WRITE_DOCS=1 cargo test -p tcplab-lab --test model"
    );
}

/// The analyser reads captures only; the counters are the model's own record.
#[test]
fn the_analyser_agrees_with_the_counters() {
    let text = r#"
measures = [
    "client.retransmissions.total", "client.TcpRetransSegs", "client.retransmissions.tlp", "client.TcpExtTCPLossProbes",
    "client.acks.delayed", "client.TcpExtDelayedACKs", "client.data_segments", "client.TcpExtTCPOrigDataSent",
    "server.retransmissions.total", "server.TcpRetransSegs", "client.packets", "client.TcpOutSegs",
]

[run]
repeat = 12

[[link]]
rate = "20mbit"
delay = "15ms"
limit = 60
a_to_b = { loss = "1%" }

[[app]]
kind = "bulk"
bytes = { axis = ["20 kB", "400 kB"] }

[[app]]
kind = "stream"
chunk = "1 kB"
every = "60ms"
count = 40
"#;
    // Before 6.1.57 such a reader ran out of credits.
    let document = run(text, "model:linux-6.1.56", 2, None);
    let (mut retransmitted, mut delayed) = (0.0, 0.0);
    for point in &document.points {
        let of = |name: &str| measure(point, name);
        let at = format!("seed {} {:?}", point.seed, point.axes);
        let data = of("client.TcpExtTCPOrigDataSent");
        assert_eq!(
            of("client.retransmissions.total"),
            of("client.TcpRetransSegs"),
            "{at}"
        );
        assert_eq!(
            of("server.retransmissions.total"),
            of("server.TcpRetransSegs"),
            "{at}"
        );
        // The kernel's count of segments leaves out what was sent before.
        assert_eq!(
            of("client.packets"),
            of("client.TcpOutSegs") + of("client.TcpRetransSegs"),
            "{at}"
        );
        // FINs count as data for the kernel, not for the analyser.
        let segments = of("client.data_segments") - of("client.TcpRetransSegs");
        assert!((data - segments).abs() <= 6.0, "{at}: {data} {segments}");
        assert_eq!(
            of("client.acks.delayed"),
            of("client.TcpExtDelayedACKs"),
            "{at}"
        );
        retransmitted += of("client.TcpRetransSegs");
        delayed += of("client.TcpExtDelayedACKs");
    }
    assert!(
        retransmitted > 20.0 && delayed > 20.0,
        "{retransmitted} {delayed}"
    );
}

#[test]
fn tshark_finds_nothing_wrong_in_a_capture() {
    if Command::new("tshark").arg("--version").output().is_err() {
        println!("skipped: tshark is not installed");
        return;
    }
    let text = r#"
measures = ["bulk.completed"]
[run]
snap = 0
[[link]]
delay = "5ms"
rate = "50mbit"
[[app]]
kind = "bulk"
bytes = "200 kB"
[[app]]
kind = "echo"
count = 5
size = 3000
[[app]]
kind = "udp-rr"
count = 5
request = 700
"#;
    let folder = tempfile::tempdir().expect("a folder");
    run(text, "model", 1, Some(folder.path()));
    for host in ["client", "server"] {
        let path = folder
            .path()
            .join(format!("points/0000/{host}.eth0.pcapng"));
        let tshark = |filter: &str| {
            let done = Command::new("tshark")
                .args([
                    "-o",
                    "tcp.check_checksum:TRUE",
                    "-o",
                    "udp.check_checksum:TRUE",
                ])
                .args(["-o", "ip.check_checksum:TRUE", "-Y", filter, "-r"])
                .arg(&path)
                .output()
                .expect("tshark runs");
            assert!(done.status.success());
            String::from_utf8_lossy(&done.stdout).into_owned()
        };
        let wrong = tshark(
            "_ws.expert.severity >= \"Warning\" || ip.checksum.status == 0 || tcp.checksum.status == 0 || udp.checksum.status == 0 || tcp.analysis.flags",
        );
        assert_eq!(wrong, "", "{host}");
        assert!(tshark("tcp.checksum.status == 1").lines().count() > 100);
        assert_eq!(tshark("udp.checksum.status == 1").lines().count(), 10);
    }
}

/// 2 x 25 -> 10 Gbit/s through a switch with CAQM, into a card with four queues that knows the tag or does not.
const INCAST: &str = r#"
[run]
captures = false
linger = "1ms"

[[host]]
name = "sender"
count = 2
offload = "tso"
sysctl = { "net.core.sysctl_caqm_enable" = 1, "net.core.sysctl_caqm_filter_nics" = "0xff" }
socket = { congestion = "caqm" }

[[host]]
name = "switch"
forward = true

[[host]]
name = "sink"
offload = "gro"
rx_queues = 4
rx_usecs = "8us"
rx_frame_cost = "100ns"
rx_packet_cost = "500ns"
sysctl = { "net.core.sysctl_caqm_enable" = 1, "net.core.sysctl_caqm_filter_nics" = "0xff" }
socket = { congestion = "caqm" }

[[link]]
between = ["sender", "switch"]
rate = "25gbit"
overhead = 24
delay = "10us"

[[link]]
between = ["switch", "sink"]
rate = "10gbit"
overhead = 24
delay = "15us"
queue_from = "5ms"
a_to_b = { qdisc = "caqm qt 0x8f" }

[[app]]
kind = "bulk"
name = "flow"
client = "sender"
server = "sink"
connections = 8
duration = "20ms"

[[variant]]
name = "knows"

[[variant]]
name = "blind"
set = { "host.sink.nic_caqm" = false }

[[variant]]
name = "steered"
set = { "host.sink.nic_caqm" = false, "host.sink.rps" = true }
"#;

#[test]
fn a_switch_with_caqm_and_the_queues_of_a_card() {
    let names =
        ["packets", "bytes", "drops"].map(|of| (0..4).map(move |n| format!("rx_queue_{n}_{of}")));
    let cpus = (0..4).map(|n| format!("rx_cpu_{n}_packets"));
    let names = names.into_iter().flatten().chain(cpus);
    let own = names
        .map(|name| format!("\"sink.{name}\""))
        .collect::<Vec<_>>();
    let way = "link.switch-sink.a_to_b";
    let text = format!(
        "measures = [{}, \"sink.rx_gro_joined\", \"sink.rx_gro_joined_caqm\", \"sender.tx_tso_copied_caqm\", \
         \"{way}.delivered\", \"{way}.granted\", \"{way}.queue_drops\", \"{way}.queue_mean_bytes\", \
         \"{way}.queue_max_bytes\"]\n{INCAST}",
        own.join(", ")
    );
    let document = run(&text, "model", 2, None);
    assert_eq!(document.points.len(), 3);
    for point in &document.points {
        assert_eq!(point.error, None);
        let of = |name: &str| measure(point, name);
        let queues = [0, 1, 2, 3].map(|n| of(&format!("sink.rx_queue_{n}_packets")));
        let dropped: f64 = [0, 1, 2, 3]
            .map(|n| of(&format!("sink.rx_queue_{n}_drops")))
            .iter()
            .sum();
        let cpus = [0, 1, 2, 3].map(|n| of(&format!("sink.rx_cpu_{n}_packets")));
        let busy = |each: &[f64; 4]| each.iter().filter(|n| **n > 1_000.0).count();
        let variant = point.axes["variant"].as_str().unwrap();
        let right = match variant {
            "knows" => (4, 4),
            "blind" => (1, 1),
            _ => (1, 4),
        };
        // GRO leaves fewer packets: count the CPUs with more than 100.
        let up = cpus.iter().filter(|n| **n > 100.0).count();
        assert_eq!((busy(&queues), up), right, "{variant}: {queues:?} {cpus:?}");
        let frames: f64 = queues.iter().sum();
        assert_eq!(
            frames + dropped,
            of(&format!("{way}.delivered")),
            "{variant}"
        );
        let joined = of("sink.rx_gro_joined");
        // What is on its way when the run ends is in a queue or a backlog.
        let handed_up: f64 = cpus.iter().sum();
        assert!(frames - joined - handed_up < 1_000.0, "{variant}");
        assert!(joined > 0.3 * frames, "{variant}: {joined} of {frames}");
        assert!(of("sink.rx_gro_joined_caqm") > 0.9 * joined, "{variant}");
        assert!(of("sender.tx_tso_copied_caqm") > 0.5 * frames, "{variant}");
        assert!(of(&format!("{way}.granted")) > 10_000.0, "{variant}");
        assert_eq!(of(&format!("{way}.queue_drops")), 0.0, "{variant}");
        // Every flow has come to its end, and until then the queue stood at Q_t.
        assert!(!point.cut_short, "{variant}");
        let mean = of(&format!("{way}.queue_mean_bytes")) / (143.0 * 1024.0);
        assert!((0.8..1.6).contains(&mean), "{variant}: {mean} of Q_t");
        let most = of(&format!("{way}.queue_max_bytes")) / (143.0 * 1024.0);
        assert!((1.0..2.0).contains(&most), "{variant}: {most} of Q_t");
    }
}
