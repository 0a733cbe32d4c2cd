//! The rules of a point: every file that ships keeps them, and what breaks one is named by its place.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tcplab_plan::{Experiment, Point, Population};

fn toml_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            toml_files(&path, found);
        } else if path.extension().is_some_and(|e| e == "toml") {
            found.push(path);
        }
    }
}

/// Experiments among the files of the project.
fn shipped() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["examples", "crates/diff/scenarios", "crates/lab", "xtask"] {
        toml_files(&root.join(folder), &mut files);
    }
    files.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        (path, text)
    };
    files.into_iter().map(read).collect()
}

#[test]
fn every_file_that_ships_keeps_the_rules() {
    let (mut experiments, mut points) = (0, 0);
    for (path, text) in shipped() {
        let name = path.display().to_string();
        if Population::is_population(&text)
            || !text.contains("[[app]]")
            || text.contains("[experiment.")
        {
            continue;
        }
        let experiment = Experiment::parse(&name, &text).unwrap_or_else(|e| panic!("{e}"));
        experiments += 1;
        // The decoder checks each itself; here a point comes back from JSON as from a manifest.
        for point in experiment.points().unwrap_or_else(|e| panic!("{e}")) {
            let json = serde_json::to_vec(&point).unwrap();
            let back = Point::from_json(&json);
            assert_eq!(
                back.unwrap_or_else(|e| panic!("{name}: {e}")),
                point,
                "{name}"
            );
            points += 1;
        }
    }
    assert!(experiments > 60 && points > 700, "{experiments}, {points}");
}

#[test]
fn every_connection_of_a_population_keeps_the_rules() {
    let mut populations = 0;
    for (path, text) in shipped() {
        if !Population::is_population(&text) {
            continue;
        }
        let population = Population::parse(&path.display().to_string(), &text).unwrap();
        for number in 0..3_000 {
            let point = population.point(&population.draw(number));
            let checked = point.check();
            checked.unwrap_or_else(|e| panic!("{}, connection {number}: {e}", path.display()));
        }
        populations += 1;
    }
    assert!(populations >= 6, "{populations}");
}

/// A point with every kind of application, link and option.
fn whole() -> Value {
    let text = r#"
[run]
link_every = "10ms"
boot = "3s"
tcp_info_every = "50ms"
[[host]]
name = "client"
sysctl = { "net.ipv4.tcp_rmem" = "4096 131072 6291456" }
route = "quickack 1 initcwnd 10 initrwnd 20 rto_min 5ms advmss 1000 mtu 1400 congctl reno"
socket = { nodelay = true, quickack = "each 1", rcvbuf = "256k", user_timeout = "3s", rto_min = "20ms", delack_max = "10ms", keepalive = "5s", congestion = "cubic", maxseg = 900, cpu = 1 }
rx_queues = 2
rx_usecs = "10us"
[[host]]
name = "r"
forward = true
profile = "linux-6.1"
behaviour = { rto_estimator = "rfc6298" }
[[host]]
name = "web"
count = 2
[[link]]
between = ["client", "r"]
mtu = 9000
rate = "10mbit"
delay = "5ms"
jitter = "1ms"
loss = "1%"
burst_loss = "1% 10%"
reordering = "1% by 2ms..5ms"
spikes = "0.2% median 250ms sigma 0.8"
outage = ["2s..5s"]
change = ["1s rate 5mbit", "2s delay 9ms", "3s qdisc fq_codel"]
middlebox = ["strip-options sack,timestamp", "set-mss 1200", "ecn-ip-ect 1", "ecn-tcp-remove", "drop-ecn-syn"]
inject = ["1s rst seq +7", "2s data 12 ack -3"]
a_to_b = { drop = ["data 20"], late = ["data 3 by 5ms"], qdisc = "cake bandwidth 5mbit" }
[[link]]
between = ["r", "web"]
by = "kernel"
qdisc = "fq_codel limit 100"
[[app]]
kind = "stream"
server = "web"
client = "client"
count = 10
every = "10ms"
[[app]]
kind = "web"
name = "pages"
server = "r"
client = "client"
sizes = ["10k", "20k"]
think = ["1s"]
client_timeout = "3s"
[[app]]
kind = "rrul"
server = "r"
client = "client"
duration = "5s"
up = 1
down = 1
[[app]]
kind = "messages"
messages = ["client 10", "server 20 after 1s"]
server = "r"
client = "client"

[[app]]
kind = "replay"
file = "x.pcap"
server = "r"
client = "client"
"#;
    let points = Experiment::parse("whole.toml", text).and_then(|e| e.points());
    serde_json::to_value(points.unwrap_or_else(|e| panic!("{e}")).remove(0)).unwrap()
}

/// Puts a value at a path of keys and indices with dots.
fn put(point: &mut Value, path: &str, value: Value) {
    let mut at = point;
    for step in path.split('/') {
        at = match step.parse::<usize>() {
            Ok(n) => &mut at[n],
            Err(_) => &mut at[step],
        };
    }
    *at = value;
}

fn refused(path: &str, value: Value) -> String {
    let mut point = whole();
    put(&mut point, path, value);
    match Point::from_json(point.to_string().as_bytes()) {
        Ok(_) => panic!("{path} passes"),
        Err(wrong) => wrong.to_string(),
    }
}

/// A value's path, another value, and the expected message.
type Cases = Vec<(&'static str, Value, &'static str)>;

fn cases_1() -> Cases {
    vec![
        (
            "links/0/a",
            json!(7),
            "links[0].a: 7, but there are 4 hosts: write 0 to 3",
        ),
        (
            "links/0/a",
            json!(1),
            "links[0].b: a link must join two different hosts",
        ),
        (
            "apps/0/client",
            json!(9),
            "apps[0].client: 9, but there are 4 hosts",
        ),
        (
            "tcp_info_every_ns",
            json!(0),
            "tcp_info_every_ns: must be 100000 to",
        ),
        ("link_every_ns", json!(1), "link_every_ns: must be 1000 to"),
        (
            "link_every_ns",
            json!(1000),
            "link_every_ns: makes more than 10000000 samples",
        ),
        (
            "links/0/mtu",
            json!(0),
            "links[0].mtu: must be 68 to 65535, not 0",
        ),
        (
            "links/0/a_to_b/delay_ns",
            json!(-1),
            "links[0].a_to_b.delay_ns: must be 0 to",
        ),
        ("max_ns", json!(0), "max_ns: must be 1 to"),
        ("linger_ns", json!(i64::MIN), "linger_ns: must be 0 to"),
        ("boot_ns", json!(i64::MAX), "boot_ns: must be 1000000000 to"),
        (
            "hosts/0/name",
            json!("../../x"),
            "hosts[0].name: \"../../x\" is not a name",
        ),
        ("hosts/0/name", json!(".."), "is not a name"),
        ("hosts/0/name", json!(""), "is not a name"),
        (
            "hosts/0/name",
            json!("a\u{1b}[2J"),
            "hosts[0].name: \"a\\u001b[2J\" is not a name",
        ),
        ("hosts/0/name", json!("a".repeat(65)), "is not a name"),
        (
            "hosts/0/name",
            json!("link"),
            "hosts[0].name: a host cannot be called `link`",
        ),
        (
            "hosts/0/name",
            json!("r"),
            "hosts[1].name: duplicate host `r`",
        ),
        (
            "hosts/2/group",
            json!("r"),
            "hosts[2].group: `r` is already the name of a host",
        ),
        (
            "sets/0/name",
            json!("/etc/x"),
            "sets[0].name: \"/etc/x\" is not a name",
        ),
    ]
}

fn cases_2() -> Cases {
    vec![
        (
            "sets/0/series/0/app",
            json!("none"),
            "sets[0].series[0].app: there is no application",
        ),
        (
            "sets/0/step_ns",
            json!(0),
            "sets[0].step_ns: must be 1000000 to",
        ),
        (
            "sets/0/test",
            json!("x"),
            "sets[0].test: \"x\" is not a test; use rrul",
        ),
        (
            "hosts/0/sysctl",
            json!({"kernel.hostname": "x"}),
            "hosts[0].sysctl.\"kernel.hostname\": a host can only set sysctls",
        ),
        (
            "hosts/0/sysctl",
            json!({"net./../kernel/hostname": "x"}),
            "a host can only set sysctls",
        ),
        (
            "hosts/0/sysctl",
            json!({"net.ipv4..x": "x"}),
            "a host can only set sysctls",
        ),
        (
            "hosts/0/sysctl",
            json!({"net.ipv4.x\u{0}": "x"}),
            "a host can only set sysctls",
        ),
        (
            "hosts/0/sysctl",
            json!({"net.ipv4.ip_forward": "1"}),
            "write `forward = true`",
        ),
        (
            "hosts/0/sysctl",
            json!({"net.ipv4.tcp_rmem": "1\n2"}),
            "holds a control character",
        ),
        (
            "hosts/0/route/rto_min_ns",
            json!(1),
            "hosts[0].route.rto_min_ns: must be 1000000 to",
        ),
        (
            "hosts/0/route/rto_min_ns",
            json!(1_500_000),
            "whole milliseconds",
        ),
        (
            "hosts/0/route/congctl",
            json!("../x"),
            "hosts[0].route.congctl: the name of",
        ),
        (
            "hosts/0/socket/quickack",
            json!({"each": 7}),
            "hosts[0].socket.quickack: takes 0 or 1",
        ),
        (
            "hosts/0/socket/maxseg",
            json!(1),
            "hosts[0].socket.maxseg: must be 88 to 32767",
        ),
        (
            "hosts/0/card/rx_queues",
            json!(0),
            "hosts[0].card.rx_queues: must be 1 to 256",
        ),
    ]
}

fn cases_3() -> Cases {
    vec![
        (
            "hosts/1/profile",
            json!("linux-1"),
            "hosts[1].profile: \"linux-1\" is not a profile",
        ),
        (
            "hosts/1/behaviour",
            json!({"x": "y"}),
            "hosts[1].behaviour.\"x\":",
        ),
        (
            "links/0/a_to_b/rate_bps",
            json!(0),
            "links[0].a_to_b.rate_bps: must be 1 to",
        ),
        (
            "links/0/a_to_b/jitter_ns",
            json!(6_000_000),
            "the jitter is larger than the delay",
        ),
        (
            "links/0/a_to_b/limit_pkts",
            json!(0),
            "limit_pkts: must be 1 to 10000000",
        ),
        (
            "links/0/a_to_b/loss_ppb",
            json!(u32::MAX),
            "loss_ppb: must be 0 to 1000000000",
        ),
        (
            "links/0/a_to_b/events/0/first",
            json!(0),
            "links[0].a_to_b.events[0].first: must be 1",
        ),
        (
            "links/0/a_to_b/outages/0/until_ns",
            json!(1),
            "outages[0].until_ns: it ends before",
        ),
        (
            "links/0/b_to_a/changes/0/rate_bps",
            json!(0),
            "changes[0].rate_bps: must",
        ),
        (
            "links/0/b_to_a/changes/1/at_ns",
            json!(1),
            "b_to_a.changes: must stand in the order of their times",
        ),
        (
            "links/0/b_to_a/changes/1/delay_ns",
            json!(1),
            "b_to_a.changes: after a change the jitter is larger than the delay",
        ),
        ("links/0/mtu", json!(1), "links[0].mtu: must"),
        (
            "links/0/a_to_b/faults/spikes/sigma_ppm",
            json!(u32::MAX),
            "faults.spikes.sigma_ppm: must",
        ),
        (
            "links/0/a_to_b/faults/reorder_ns",
            json!(0),
            "faults.reorder_least_ns: is more",
        ),
        ("links/0/a_to_b/queue", json!("cake bandwith 1"), "bandwith"),
        (
            "links/0/a_to_b/qdisc",
            json!("pfifo"),
            "applies to by = \"kernel\"",
        ),
        (
            "links/1/a_to_b/qdisc",
            json!("; reboot"),
            "links[1].a_to_b.qdisc: `;` is not",
        ),
        (
            "links/1/a_to_b/rate_bps",
            json!(1),
            "links[1].a_to_b: has a value that is for tcplab's own",
        ),
        ("links/1/b", json!(0), "links[1]: duplicate link between"),
        (
            "apps/0/port",
            json!(0),
            "apps[0].port: must be 1 to 65535, not 0",
        ),
    ]
}

fn cases_4() -> Cases {
    vec![
        (
            "apps/0/connections",
            json!(0),
            "apps[0].connections: must be 1",
        ),
        (
            "apps/0/name",
            json!("client"),
            "apps[0].name: an application cannot be called",
        ),
        (
            "apps/0/name",
            json!("pages"),
            "there is an application `pages` already",
        ),
        (
            "apps/0/does/stream/until",
            json!({"duration_ns": 0}),
            "apps[0].does.stream.until.duration_ns: must be 1 to",
        ),
        (
            "apps/0/does/stream/until",
            json!({}),
            "apps[0].does.stream.until.duration_ns: without this and",
        ),
        (
            "apps/0/does/stream/chunk",
            json!(0),
            "apps[0].does.stream.chunk: must be 1",
        ),
        (
            "apps/0/does/stream/every_ns",
            json!(-5),
            "apps[0].does.stream.every_ns: must be 0",
        ),
        (
            "apps/2/does/web/sizes",
            json!([]),
            "apps[2].does.web.sizes: 1 to 100000",
        ),
        (
            "apps/2/does/web/think_ns",
            json!([-1]),
            "apps[2].does.web.think_ns[0]: must be 0",
        ),
        (
            "apps/2/client_timeout_ns",
            json!(0),
            "apps[2].client_timeout_ns: must be 1",
        ),
        (
            "hosts/1/forward",
            json!(false),
            "apps[0].server: the path from `client` to `web-1` passes `r`",
        ),
        (
            "snap_bytes",
            json!(u32::MAX),
            "snap_bytes: must be 0 to 262144",
        ),
        (
            "experiment",
            json!("a/b"),
            "experiment: \"a/b\" is not a name",
        ),
        ("max_events", json!(0), "max_events: must be 1 to"),
        (
            "tolerate",
            json!(["\u{1b}"]),
            "tolerate[0]: holds a control character",
        ),
        (
            "axes",
            json!({"a": "\u{1b}"}),
            "axes.a: holds a control character",
        ),
        ("apps", json!([]), "apps: there is no application"),
        ("hosts", json!([]), "links[0].a: there is no host"),
    ]
}

fn cases_5() -> Cases {
    vec![
        (
            "apps/9/does/messages/messages",
            json!([]),
            "apps[9].does.messages.messages: 1 to 10000",
        ),
        (
            "apps/9/does/messages/messages/1/bytes",
            json!(0),
            "apps[9].does.messages.messages[1].bytes: must be 1",
        ),
        (
            "apps/9/does/messages/messages/0/does",
            json!("close"),
            "apps[9].does.messages.messages[0].bytes: must be 0",
        ),
        (
            "apps/9/does/messages/messages/0",
            json!({"from_client": false, "bytes": 0, "does": "shutdown"}),
            "apps[9].does.messages.messages[1]: after `server shutdown` the server can only close",
        ),
        (
            "apps/0/fastopen",
            json!(true),
            "apps[0].fastopen: is for applications whose client writes first",
        ),
        (
            "apps/2/fastopen",
            json!(true),
            "apps[2].fastopen: `fastopen` needs bit 2 in net.ipv4.tcp_fastopen of the server, host `r`",
        ),
        (
            "apps/9/does/messages/messages/0",
            json!({"from_client": true, "bytes": 0, "does": "close", "more": true}),
            "apps[9].does.messages.messages[0]: only a write can be `more`",
        ),
        (
            "apps/2/server_connects_ns",
            json!(-1),
            "apps[2].server_connects_ns: must be 0",
        ),
        (
            "apps/9/does/messages/messages/1/after_ns",
            json!(-1),
            "apps[9].does.messages.messages[1].after_ns: must be 0",
        ),
    ]
}

fn cases_6() -> Cases {
    vec![
        (
            "links/0/b_to_a/middlebox/1/set-mss",
            json!(0),
            "middlebox[1].set-mss: must be 1",
        ),
        (
            "links/0/b_to_a/middlebox/2/ecn-ip-ect",
            json!(4),
            "middlebox[2].ecn-ip-ect: must be 0",
        ),
        (
            "links/0/b_to_a/injects/1/at_ns",
            json!(1),
            "b_to_a.injects: must stand in the order of their times",
        ),
        (
            "links/0/b_to_a/injects/1/what/data",
            json!(9_000),
            "injects[1].what.data: must be 1",
        ),
    ]
}

#[test]
fn wrong_manifest_value_is_refused_by_its_place() {
    let all = [
        cases_1(),
        cases_2(),
        cases_3(),
        cases_4(),
        cases_5(),
        cases_6(),
    ];
    for (path, value, error) in all.concat() {
        let said = refused(path, value);
        assert!(said.contains(error), "{path}: {said}");
    }
}

#[test]
fn replays_and_twice_used_ports_are_refused() {
    let point = whole();
    let last = point["apps"].as_array().unwrap().len() - 1;
    assert!(point["apps"][last]["does"].get("replay").is_some());
    let at = |key: &str| format!("apps/{last}/{key}");
    let said = refused(&at("connections"), json!(2));
    assert!(said.contains("a replay has one sender"), "{said}");
    let said = refused(&at("server"), json!(3));
    assert!(said.contains("no link joins"), "{said}");
    let said = refused(&at("does/replay/file"), json!(""));
    assert!(said.contains("name a capture"), "{said}");
    let port = point["apps"][last - 1]["port"].clone();
    let said = refused("apps/2/port", point["apps"][3]["port"].clone());
    assert!(said.contains("of host `"), "{said} {port}");
}

#[test]
fn a_key_that_comes_twice_is_refused() {
    let text = whole().to_string();
    let twice = text.replacen(
        "\"sysctl\":{",
        "\"sysctl\":{\"net.ipv4.tcp_rmem\":\"1 2 3\",",
        1,
    );
    assert_ne!(text, twice);
    let said = Point::from_json(twice.as_bytes()).unwrap_err().to_string();
    assert!(
        said.contains("`net.ipv4.tcp_rmem` is there twice at line 1"),
        "{said}"
    );
}

#[test]
fn group_name_must_not_be_a_measure() {
    let text = "[[host]]\nname = \"link\"\ncount = 2\n[[host]]\nname = \"server\"\n\
        [[link]]\nbetween = [\"link\", \"server\"]\n[[app]]\nkind = \"stream\"\nclient = \"link\"\n";
    let error = Experiment::parse("x.toml", text).unwrap_err();
    assert_eq!(error.message(), "a host cannot be called `link`");
}

/// The wire's FIFO is a `pfifo`: another limit is no other qdisc.
#[test]
fn another_pfifo_is_another_limit() {
    let after = |way: &str| {
        let text = format!("[[link]]\n{way}\n[[app]]\nkind = \"bulk\"\n");
        let points = Experiment::parse("x.toml", &text).and_then(|e| e.points());
        let way = points.map(|mut points| points.remove(0).links.remove(0).a_to_b);
        way.map(|way| way.changes[0].of(&way))
            .map_err(|e| e.to_string())
    };
    let pfifo = after("qdisc = \"pfifo limit 50\"\nchange = [\"1s qdisc pfifo limit 9\"]").unwrap();
    assert_eq!((pfifo.limit_pkts, pfifo.queue), (9, None));
    let bytes = after("limit_bytes = \"9k\"\nchange = [\"1s qdisc pfifo limit 9\"]").unwrap();
    assert!(bytes.queue.is_some());
    for netem in [
        "qdisc = \"netem delay 9ms\"",
        "a_to_b = \"netem delay 9ms\"",
        "a_to_b = { qdisc = \"netem delay 9ms\" }",
    ] {
        let change = "change = [\"1s qdisc netem delay 5ms limit 9\"]";
        let refused = after(&format!("{netem}\n{change}")).unwrap_err();
        assert!(
            refused.contains("the link's netem is part of the wire"),
            "{refused}"
        );
    }
    assert!(after("delay = \"9ms\"\nchange = [\"1s qdisc netem delay 5ms limit 9\"]").is_ok());
}
