//! The kernel edits `rto-choice`, `tlp-2016` and `recovlat`: scripts of drill on a kernel, and runs on it and on the model.

use std::fmt::Write as _;
use std::fs;

use super::{folder, point, tcplab, text};

const KERNEL: &str = "uml:6.1+recovlat+rto-choice+tlp-2016";

/// A rule and its timeouts.
type Timeouts = (u32, &'static [f64]);

/// Round trips and the timeouts after them in milliseconds, by rule (0 B, 1 D, 2 R, 3 Y, 4 Y4). Computed by hand from
/// RFC 6298 2.2, 2.3 and tcp_rtt_estimator() before there was a kernel with these rules.
const GOLDEN: &[(&[u32], &[Timeouts])] = &[
    (
        &[100; 10],
        &[
            (0, &[300.0; 10]),
            (
                1,
                &[
                    300.0, 250.0, 212.5, 200.0, 200.0, 200.0, 200.0, 200.0, 200.0, 200.0,
                ],
            ),
            (2, &[1000.0; 10]),
            (3, &[300.0; 10]),
            (4, &[900.0; 10]),
        ],
    ),
    (
        &[100, 100, 100, 100, 100, 300, 100, 100, 100, 100, 100],
        &[
            (
                0,
                &[
                    300.0, 300.0, 300.0, 300.0, 300.0, 372.462, 360.121, 347.825, 338.262, 330.79,
                    324.924,
                ],
            ),
            (
                1,
                &[
                    300.0, 250.0, 212.5, 200.0, 200.0, 372.462, 332.472, 298.963, 270.756, 246.908,
                    226.667,
                ],
            ),
            (2, &[1000.0; 11]),
            (
                3,
                &[
                    300.0, 300.0, 300.0, 300.0, 300.0, 372.462, 332.472, 319.14, 316.748, 314.654,
                    312.822,
                ],
            ),
        ],
    ),
    (
        &[500; 8],
        &[
            (
                0,
                &[
                    1500.0, 1500.0, 1390.625, 1273.438, 1159.181, 1053.713, 965.285, 898.964,
                ],
            ),
            (
                1,
                &[
                    1500.0, 1250.0, 1062.5, 921.875, 816.407, 737.306, 677.98, 633.485,
                ],
            ),
            (
                2,
                &[
                    1500.0, 1250.0, 1062.5, 1000.0, 1000.0, 1000.0, 1000.0, 1000.0,
                ],
            ),
            (
                3,
                &[
                    1500.0, 1250.0, 1062.5, 921.875, 816.407, 737.306, 700.0, 700.0,
                ],
            ),
        ],
    ),
];

/// A server's socket with this rule and this tcp_early_retrans, whose SYN-ACK is answered after `ms`.
fn opened(rule: u32, early_retrans: u32, ms: f64) -> String {
    format!(
        "// Written by a test.
`sysctl -q net.ipv4.tcp_rto_rule={rule} net.ipv4.tcp_early_retrans={early_retrans}`
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 bind(3, ..., ...) = 0
+0 listen(3, 5) = 0
+.1 < S 0:0(0) win 65535 <mss 1000,sackOK,TS val 1000 ecr 0>
+0 > S. 0:0(0) ack 1 <mss 1460,sackOK,TS val 100 ecr 1000>
+{:.5} < . 1:1(0) ack 1 win 65535 <nop,nop,TS val 1000 ecr 100>
+0 accept(3, ..., ...) = 4
",
        ms / 1e3
    )
}

/// One write for each round trip, and what tcpi_rto says after its ACK.
fn sequence(rule: u32, round_trips: &[u32], timeouts: &[f64]) -> String {
    // The kernel sees round trips a microsecond or two longer than the script has them, so the script has them 10 us
    // shorter: that changes no timeout by a jiffy.
    let seconds = |ms: u32| f64::from(ms) - 0.01;
    let shown = |ms: f64| (ms / 4.0).ceil() * 4000.0;
    let mut script = opened(rule, 0, seconds(round_trips[0]));
    let mut stamp = 100;
    for (n, (&ms, &rto)) in round_trips.iter().zip(timeouts).enumerate() {
        if let Some(before) = n.checked_sub(1) {
            stamp += round_trips[before];
            let (from, to) = (1 + 100 * before, 101 + 100 * before);
            let data = format!("P. {from}:{to}(100) ack 1");
            let _ = writeln!(script, "+0 write(4, ..., 100) = 100");
            let _ = writeln!(script, "+0 > {data} <nop,nop,TS val {stamp} ecr 1000>");
            let mut wait = seconds(ms);
            if ms > 200 && ms < 500 && rule == 1 {
                // D's timeout expires before the answer, whose time stamp is the first transmission's.
                let again = stamp + 200;
                let _ = writeln!(
                    script,
                    "+.2~+.205 > {data} <nop,nop,TS val {again} ecr 1000>"
                );
                wait -= 200.0;
            }
            let _ = writeln!(
                script,
                "+{:.5} < . 1:1(0) ack {to} win 65535 <nop,nop,TS val 1000 ecr {stamp}>",
                wait / 1e3
            );
        }
        let _ = writeln!(
            script,
            "+0 %{{ assert tcpi_rto == {:.0}, (tcpi_rtt, tcpi_rto) }}%",
            shown(rto)
        );
    }
    script
}

/// Runs scripts on the kernel: all pass.
fn all_pass(scripts: &[(String, String)]) {
    let place = folder();
    for (name, script) in scripts {
        fs::write(place.path().join(format!("{name}.pkt")), script).unwrap();
    }
    let run = tcplab(&["drill", text(place.path()), "--on", KERNEL, "--ip", "ipv4"]);
    let expected = format!("{} passed, 0 failed, 0 skipped\n", scripts.len());
    assert_eq!(run.out, expected, "{}", run.err);
}

#[test]
#[ignore = "needs a kernel: tcplab kernel build 6.1 --edit recovlat --edit rto-choice --edit tlp-2016"]
fn timeouts_follow_the_rule_of_the_host() {
    let mut scripts = Vec::new();
    for (n, (round_trips, rules)) in GOLDEN.iter().enumerate() {
        for (rule, timeouts) in *rules {
            assert_eq!(round_trips.len(), timeouts.len());
            scripts.push((
                format!("{n}-rule-{rule}"),
                sequence(*rule, round_trips, timeouts),
            ));
        }
    }
    all_pass(&scripts);
}

/// Round trips of 96 ms (a whole number of jiffies, also when halved). The probe of one segment waits for 1.5 round
/// trips and 200 ms (today 2 and 200 ms). The probe of several waits for 2 (today 2 and 2 ms). Neither waits longer
/// than the timeout.
#[test]
#[ignore = "needs a kernel: tcplab kernel build 6.1 --edit recovlat --edit rto-choice --edit tlp-2016"]
fn probes_follow_the_rule_of_2016() {
    let mut scripts = Vec::new();
    for (rule, early_retrans, segments, ms) in [
        (2, 3, 1, 344),
        (2, 3, 4, 192),
        (2, 4, 1, 392),
        (2, 4, 4, 196),
        (0, 3, 1, 296),
        (0, 3, 4, 192),
        (0, 4, 1, 296),
        (0, 4, 4, 196),
        (1, 3, 1, 200),
        (1, 3, 4, 192),
        (1, 4, 4, 196),
    ] {
        let mut script = opened(rule, early_retrans, 95.99)
            .replace(",TS val 1000 ecr 0", ",nop,nop")
            .replace("sackOK,TS val 100 ecr 1000", "nop,nop,sackOK")
            .replace(" <nop,nop,TS val 1000 ecr 100>", "");
        // Until D is at its floor.
        for n in 0..5 {
            let (from, to) = (1 + 1000 * n, 1001 + 1000 * n);
            let _ = writeln!(script, "+0 write(4, ..., 1000) = 1000");
            let _ = writeln!(script, "+0 > P. {from}:{to}(1000) ack 1");
            let _ = writeln!(script, "+.09599 < . 1:1(0) ack {to} win 65535");
        }
        let (bytes, end) = (1000 * segments, 5001 + 1000 * segments);
        let _ = writeln!(script, "+0 write(4, ..., {bytes}) = {bytes}");
        let _ = writeln!(script, "+0 > P. 5001:{end}({bytes}) ack 1");
        // Behind 63 jiffies the timer wheel has ticks of eight.
        let slack = if ms < 250 { 5 } else { 37 };
        let _ = writeln!(
            script,
            "+{:.3}~+{:.3} > P. {}:{end}(1000) ack 1",
            f64::from(ms) / 1e3,
            f64::from(ms + slack) / 1e3,
            end - 1000
        );
        let _ = writeln!(
            script,
            "+0 %{{ assert tcpi_ca_state == TCP_CA_Open, tcpi_ca_state }}%"
        );
        scripts.push((format!("{rule}-{early_retrans}-{segments}"), script));
    }
    all_pass(&scripts);
}

/// A pattern of losses, and the server's counters: recoveries, their time in ms, and both for failed ones.
struct Recovery {
    name: &'static str,
    app: &'static str,
    lost: &'static str,
    expected: [i64; 4],
}

/// Round trips of 100 ms on a link without a rate; the server answers a request.
const RECOVERIES: &[Recovery] = &[
    // All ten leave at once; the duplicates come after 100 ms, the ACK of the retransmission after 200.
    Recovery {
        name: "fast",
        app: "sizes = [14480]",
        lost: "data 3",
        expected: [1, 200, 0, 0],
    },
    // The probe after 300 ms repairs it: no recovery.
    Recovery {
        name: "probe",
        app: "sizes = [1000]",
        lost: "data 1",
        expected: [0, 0, 0, 0],
    },
    // The probe is lost too. The timeout is 300 ms later, the time begins with the first transmission: 300 + 300 + 100.
    Recovery {
        name: "timeout",
        app: "sizes = [1000]",
        lost: "data 1-2",
        expected: [1, 700, 0, 0],
    },
    // Nothing arrives any more: the server gives up 3 s after the timeout's retransmission.
    Recovery {
        name: "failed",
        app: "sizes = [1000]\nserver_socket = { user_timeout = \"3s\" }",
        lost: "data 1-100",
        expected: [0, 0, 1, 3600],
    },
];

const COUNTERS: [&str; 4] = ["RecovCnt", "RecovLat", "RecovCnt2", "RecovLat2"];

/// The four counters of the server.
fn recoveries(of: &Recovery, stack: &str) -> [i64; 4] {
    let measures = COUNTERS
        .map(|c| format!("\"server.TcpExtTCP{c}\""))
        .join(", ");
    let experiment = format!(
        "measures = [{measures}]\nrun = {{ boot = \"300s\" }}
link = [{{ delay = \"50ms\", b_to_a = {{ drop = [\"{}\"] }} }}]
host = [{{ name = \"client\" }}, {{ name = \"server\", sysctl = {{ \"net.ipv4.tcp_early_retrans\" = 4 }} }}]
[[app]]\nkind = \"web\"\n{}\n",
        of.lost, of.app
    );
    let point = point(&experiment, stack, folder().path());
    COUNTERS.map(|c| {
        let value = &point["measures"][format!("server.TcpExtTCP{c}")];
        value.as_f64().unwrap_or_else(|| panic!("{point}")) as i64
    })
}

/// Held to what they must be by hand: timers within a jiffy for each one that runs, and the wheel's eighth.
fn as_expected(of: &Recovery, counted: [i64; 4]) {
    let [n, us, failed, failed_us] = of.expected;
    assert_eq!(
        (counted[0], counted[2]),
        (n, failed),
        "{}: {counted:?}",
        of.name
    );
    for (expected, is) in [(us, counted[1]), (failed_us, counted[3])] {
        let slack = if expected <= 200 {
            1
        } else {
            expected / 8 + 12
        };
        let range = (expected * 1000 - 10)..=(expected + slack) * 1000;
        assert!(range.contains(&is), "{}: {counted:?} us", of.name);
    }
}

#[test]
fn recoveries_take_the_time_that_they_take_on_the_model() {
    for recovery in RECOVERIES {
        as_expected(recovery, recoveries(recovery, "model:linux-6.1"));
    }
}

#[test]
#[ignore = "needs a kernel: tcplab kernel build 6.1 --edit recovlat --edit rto-choice --edit tlp-2016"]
fn recoveries_take_the_time_that_they_take_on_a_kernel() {
    for recovery in RECOVERIES {
        let kernel = recoveries(recovery, KERNEL);
        as_expected(recovery, kernel);
        let model = recoveries(recovery, "model:linux-6.1");
        for (ours, theirs) in model.iter().zip(&kernel) {
            assert!(
                (ours - theirs).abs() <= 4000,
                "{}: {model:?} {kernel:?}",
                recovery.name
            );
        }
    }
}

/// Connections with outages, spikes, losses and reordering do the same on both: what is drawn happens at the same time
/// after the run's start, timers fire at the same jiffies, probes follow the rule of the arm.
#[test]
#[ignore = "needs a kernel: tcplab kernel build 6.1 --edit recovlat --edit rto-choice --edit tlp-2016"]
fn connections_of_a_population_do_the_same_on_a_kernel() {
    let place = folder();
    let file = place.path().join("t.toml");
    let population = r#"
schema = "tcplab.experiment/1"
[population]
base = "web"
hz = 250
loss = [{ share = "60%", rate = "4%" }]
spikes = { data = "0.3%", ack = "0.1%", median = "250ms", sigma = 0.8 }
outage = { share = "20%", start = "uniform(50ms..2s)", length = "uniform(300ms..3s)", final = "20%" }
reordering = { data = "0.5%", least = "10% rtt", most = "80% rtt" }
[[arm]]
name = "old"
behaviour = { tlp_rule = "delack-max" }
[[arm]]
name = "today"
[[arm]]
name = "R"
behaviour = { rto_estimator = "rfc6298", rto_floor = "timeout", rto_floor_ms = 1000 }
"#;
    fs::write(&file, population).unwrap();
    let run = tcplab(&[
        "population",
        "sample",
        text(&file),
        "--on",
        KERNEL,
        "--connections",
        "25",
        "--json",
    ]);
    assert_eq!(run.code, 0, "{}", run.err);
    for arm in run.json()["arms"].as_array().unwrap() {
        assert_eq!(arm["differ"], serde_json::json!([]), "{}", arm["name"]);
        let counters = |side: usize, name: &str| arm["sums"][side]["counters"][name].clone();
        for name in [
            "TcpRetransSegs",
            "TcpExtTCPTimeouts",
            "TcpExtTCPLossProbes",
            "TcpExtTCPDSACKRecv",
        ] {
            assert!(counters(0, name).as_i64() > Some(0), "{arm}");
            assert_eq!(counters(0, name), counters(1, name), "{arm}");
        }
    }
}
