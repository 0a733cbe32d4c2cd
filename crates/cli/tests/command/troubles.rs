//! Every kind of application in every trouble: errors, counts and times are those of the table, and the same on every
//! kind of stack, because one driver runs them all.

use serde_json::Value;

use super::{folder, tcplab, text};

/// Kinds by name. All of them end by themselves.
const KINDS: [(&str, &str); 14] = [
    (
        "stream",
        "kind = \"stream\"\nchunk = \"1 kB\"\nevery = \"10ms\"\ncount = 100",
    ),
    ("echo", "kind = \"echo\"\npause = \"50ms\"\ncount = 20"),
    (
        "write-write-read",
        "kind = \"write-write-read\"\npause = \"50ms\"\ncount = 20",
    ),
    ("bulk", "kind = \"bulk\"\nbytes = \"2 MB\""),
    (
        "reverse",
        "kind = \"bulk\"\nreverse = true\nbytes = \"2 MB\"",
    ),
    (
        "request-response",
        "kind = \"request-response\"\npause = \"10ms\"\ncount = 40",
    ),
    (
        "connect-request-response",
        "kind = \"connect-request-response\"\npause = \"50ms\"\ncount = 15",
    ),
    (
        "web",
        "kind = \"web\"\nsizes = [\"200 kB\", \"800 kB\"]\nthink = \"300ms\"",
    ),
    (
        "messages",
        "kind = \"messages\"\nmessages = [\"client 100\", \"server 20000\", \"client 3000 after 400ms\", \
         \"server 500000\"]",
    ),
    ("sink", "kind = \"sink\"\nhold = \"3s\""),
    ("udp-stream", "kind = \"udp-stream\"\ncount = 200"),
    (
        "udp-rr",
        "kind = \"udp-rr\"\ntimeout = \"100ms\"\ncount = 40",
    ),
    (
        "udp-ping",
        "kind = \"udp-ping\"\nevery = \"50ms\"\ncount = 20",
    ),
    ("ping", "kind = \"ping\"\nevery = \"50ms\"\ncount = 20"),
];

/// Which kinds can have a trouble.
#[derive(Clone, Copy, PartialEq)]
enum Of {
    All,
    /// Those over TCP.
    Connections,
    /// Those with a port.
    Ports,
    /// Those with an end that only reads.
    Readers,
}

/// Troubles by name, as what a variant sets.
const TROUBLES: [(&str, &str, Of); 12] = [
    ("none", "", Of::All),
    // Both ends wait so long and no longer.
    (
        "patience",
        "\"link.client-server.outage\" = [\"500ms..\"], \"app.x.client_timeout\" = \"300ms\", \
         \"app.x.server_timeout\" = \"400ms\"",
        Of::All,
    ),
    // The kernel gives up.
    (
        "outage",
        "\"link.client-server.outage\" = [\"500ms..\"], \"host.client.sysctl.net.ipv4.tcp_retries2\" = 3, \
         \"host.server.sysctl.net.ipv4.tcp_retries2\" = 3",
        Of::Connections,
    ),
    (
        "no-answer",
        "\"link.client-server.outage\" = [\"0s..\"], \"host.client.sysctl.net.ipv4.tcp_syn_retries\" = 1",
        Of::Connections,
    ),
    // The server closes after 30 ms of waiting: what comes then is answered by RST, or by ICMP.
    ("reset", "\"app.x.server_timeout\" = \"30ms\"", Of::All),
    (
        "ports",
        "\"host.client.sysctl.net.ipv4.ip_local_port_range\" = \"40000 40001\", \"app.x.connections\" = 5",
        Of::All,
    ),
    ("max", "\"run.max\" = \"400ms\"", Of::All),
    (
        "small-window",
        "\"app.x.client_socket.rcvbuf\" = 0, \"app.x.server_socket.rcvbuf\" = 0, \"app.x.client_timeout\" = \"1s\", \
         \"app.x.server_timeout\" = \"1s\"",
        Of::Connections,
    ),
    ("refused", "\"app.x.listens\" = false", Of::Ports),
    // Two wait to be accepted, and no more.
    (
        "slow-accept",
        "\"app.x.backlog\" = 1, \"app.x.accept_every\" = \"700ms\", \"app.x.connections\" = 5, \"app.x.stagger\" = \"10ms\"",
        Of::Connections,
    ),
    // A window of zero, and the timer that asks about it.
    ("stalled", "\"app.x.read_pause\" = \"2s\"", Of::Readers),
    (
        "slow-reader",
        "\"app.x.read\" = \"20 kB\", \"app.x.read_every\" = \"30ms\"",
        Of::Readers,
    ),
];

/// Troubles that a kind can have.
fn troubles(kind: &str) -> impl Iterator<Item = &'static str> {
    let datagrams = kind.starts_with("udp") || kind == "ping";
    let reads = ["stream", "bulk", "reverse"].contains(&kind);
    let can = move |of: Of| match of {
        Of::All => true,
        Of::Connections => !datagrams,
        Of::Ports => kind != "ping",
        Of::Readers => reads,
    };
    let all = TROUBLES.iter().filter(move |(.., of)| can(*of));
    all.map(|(name, ..)| *name)
}

/// An experiment of one kind in some troubles, each a variant. The path: 10 Mbit/s, 20 ms each way.
fn experiment(app: &str, names: &[&str]) -> String {
    let mut text = format!(
        "[run]\nboot = \"10s\"\ncaptures = false\n[[host]]\nname = \"client\"\n[[host]]\nname = \"server\"\n\
         [[link]]\nbetween = [\"client\", \"server\"]\nrate = \"10mbit\"\ndelay = \"20ms\"\nlimit = 50\n\
         [[app]]\nname = \"x\"\n{app}\n"
    );
    let has_server = !app.starts_with("kind = \"ping\"");
    for (name, sets, _) in TROUBLES.iter().filter(|(name, ..)| names.contains(name)) {
        let sets = sets
            .split(", ")
            .filter(|set| has_server || !set.contains("server_timeout"));
        let sets = sets.collect::<Vec<_>>().join(", ");
        text += &format!("[[variant]]\nname = \"{name}\"\nset = {{ {sets} }}\n");
    }
    text
}

/// The points of a run with any exit code; `None` if this machine cannot run it.
fn points_if_it_can(text_of: &str, stack: &str) -> Option<Vec<Value>> {
    let place = folder();
    let file = place.path().join("t.toml");
    std::fs::write(&file, text_of).unwrap();
    let run = tcplab(&["run", text(&file), "--on", stack, "--json"]);
    if run.code == 4 {
        eprintln!("skipped: {}", run.err);
        return None;
    }
    let document = run.json();
    let points = document["points"].as_array();
    Some(
        points
            .unwrap_or_else(|| panic!("{stack}: {}", run.out))
            .clone(),
    )
}

fn points(text_of: &str, stack: &str) -> Vec<Value> {
    points_if_it_can(text_of, stack).unwrap()
}

/// What an end came to: its error, when it was opened and closed in nanoseconds, bytes read and written, transactions.
#[derive(Clone, Debug, PartialEq)]
struct End {
    error: Option<String>,
    times: [Option<i64>; 2],
    counts: [u64; 3],
}

/// What a run came to.
#[derive(Clone, Debug)]
struct Story {
    error: Option<String>,
    cut_short: bool,
    /// Client, server, client, ...
    ends: Vec<End>,
}

fn story(point: &Value) -> Story {
    let flows = point["flows"].as_array().unwrap().iter();
    let ends = flows.flat_map(|flow| [&flow["client"], &flow["server"]]);
    let word = |of: &Value| of.as_str().map(str::to_owned);
    Story {
        error: word(&point["error"]),
        cut_short: point["cut_short"] == true,
        ends: ends
            .map(|end| End {
                error: word(&end["error"]),
                times: ["opened_ns", "closed_ns"].map(|key| end[key].as_i64()),
                counts: ["read_bytes", "written_bytes", "completed"]
                    .map(|key| end[key].as_u64().unwrap_or(0)),
            })
            .collect(),
    }
}

/// Each kind in these troubles on a stack.
fn stories(stack: &str, wanted: &[&str]) -> Vec<(&'static str, &'static str, Story)> {
    let mut out = Vec::new();
    for (kind, app) in KINDS {
        let names: Vec<_> = troubles(kind)
            .filter(|name| wanted.contains(name))
            .collect();
        let points = points(&experiment(app, &names), stack);
        assert_eq!(points.len(), names.len(), "{kind}");
        let each = names.iter().zip(&points);
        out.extend(each.map(|(name, point)| (kind, *name, story(point))));
    }
    out
}

fn all() -> Vec<&'static str> {
    TROUBLES.iter().map(|(name, ..)| *name).collect()
}

/// Kind, trouble, error of the client and of the server, when the client was done in milliseconds (at least, at most; none:
/// it never was), transactions of the client. Worked out by hand from the path: a round trip takes 40.1 ms, a handshake
/// too, so a client goes on at 40.1 ms and its server at 60.2; the link is gone from 500 ms on.
type Row = (
    &'static str,
    &'static str,
    [Option<&'static str>; 2],
    Option<[i64; 2]>,
    u64,
);

const LATE: Option<&str> = Some("ETIME");
const GONE: Option<&str> = Some("ETIMEDOUT");
const REFUSED: Option<&str> = Some("ECONNREFUSED");

const EXPECTED: [Row; 45] = [
    // 40.1 + 20 x (40.1 + 50) ms.
    ("echo", "none", [None, None], Some([1_842, 1_843]), 20),
    // Requests leave at 40, 130, 220, 310, 400 and 491 ms; the last answer meets the outage.
    ("echo", "patience", [LATE, LATE], Some([790, 791]), 5),
    // Answers at 80, 170, 260 and 350 ms.
    ("echo", "max", [None, None], None, 4),
    // The answer comes at 80 ms and the server closes at 90: the second request finds a FIN before it.
    ("echo", "reset", [None, LATE], Some([130, 131]), 1),
    // A SYN at 0 and one at 1 s; the second timeout ends 2 s later, by a timer of 64 ms ticks.
    ("echo", "no-answer", [GONE, None], Some([3_000, 3_070]), 0),
    ("bulk", "no-answer", [GONE, None], Some([3_000, 3_070]), 0),
    ("sink", "no-answer", [GONE, None], Some([3_000, 3_070]), 0),
    // 1382 frames of 1514 bytes take 1674 ms; two round trips and slow start's gaps come on top.
    ("bulk", "none", [None, None], Some([1_760, 1_850]), 16),
    ("reverse", "none", [None, None], Some([1_760, 1_850]), 0),
    // The last ACK comes before 500 ms.
    ("bulk", "patience", [LATE, LATE], Some([740, 800]), 4),
    // Three timeouts of 200 ms and a round trip in a queue, doubled: (200 + 40..110) x (1 + 2 + 4 + 8), and ticks.
    ("bulk", "outage", [GONE, None], Some([4_000, 5_400]), 4),
    // The receiver of a stream hears nothing and says nothing: only `max` ends it.
    ("stream", "outage", [None, GONE], None, 0),
    // A gap of slow start is longer than 30 ms. A RST after the FIN is EPIPE (`tcp_reset()`).
    ("bulk", "reset", [Some("EPIPE"), LATE], Some([110, 140]), 0),
    ("bulk", "max", [None, None], None, 3),
    // No server waits for anything else than the client's FIN, at 60 + 400 ms.
    ("sink", "patience", [None, LATE], Some([3_040, 3_041]), 0),
    ("sink", "none", [None, None], Some([3_040, 3_041]), 0),
    // Each of 15 connections: 40.1 ms for its handshake, as long for the answer, and 50 ms; it waits for no FIN.
    (
        "connect-request-response",
        "none",
        [None, None],
        Some([1_950, 1_960]),
        15,
    ),
    // Two ports are in TIME-WAIT after the second of them.
    (
        "connect-request-response",
        "ports",
        [Some("EADDRNOTAVAIL"), None],
        Some([0, 500]),
        1,
    ),
    // The schedule of 2 x 200 datagrams: no end waits for an answer.
    (
        "udp-stream",
        "none",
        [None, None],
        Some([2_000, 2_000]),
        200,
    ),
    (
        "udp-stream",
        "patience",
        [None, LATE],
        Some([2_000, 2_000]),
        200,
    ),
    // The twelfth answer comes at 481 ms. A request that is given up after 100 ms is no answer.
    ("udp-rr", "patience", [LATE, LATE], Some([780, 781]), 12),
    ("udp-rr", "none", [None, None], Some([1_602, 1_603]), 40),
    // Sent at 0, 50, ... 450 ms; the one of 500 ms waits 300 ms.
    ("udp-ping", "patience", [LATE, LATE], Some([800, 800]), 10),
    ("ping", "patience", [LATE, None], Some([800, 800]), 10),
    // The server is gone at 50 ms; the ping of that time is refused at 70.
    ("udp-ping", "reset", [REFUSED, LATE], Some([90, 91]), 1),
    // A kernel answers, not a program.
    ("ping", "reset", [None, None], Some([990, 991]), 20),
    // What was in the queue at 500 ms still comes; from then on each waits as long as it may.
    ("stream", "patience", [LATE, LATE], Some([800, 860]), 0),
    (
        "write-write-read",
        "patience",
        [LATE, LATE],
        Some([780, 840]),
        3,
    ),
    ("reverse", "patience", [LATE, LATE], Some([800, 870]), 0),
    (
        "request-response",
        "patience",
        [LATE, LATE],
        Some([780, 800]),
        9,
    ),
    // The last server had its request and closed.
    (
        "connect-request-response",
        "patience",
        [LATE, LATE],
        Some([780, 840]),
        4,
    ),
    ("web", "patience", [LATE, LATE], Some([790, 900]), 1),
    // The server waits for 400 ms, as long as the client sleeps.
    ("messages", "patience", [None, LATE], Some([500, 540]), 1),
    // The RST answers the SYN after a round trip.
    ("echo", "refused", [REFUSED, None], Some([40, 41]), 0),
    ("bulk", "refused", [REFUSED, None], Some([40, 41]), 0),
    ("web", "refused", [REFUSED, None], Some([40, 41]), 0),
    // The first datagram is refused at 41.3 ms. A sleeping end hears of it at the sixth, a waiting end
    // at once.
    ("udp-stream", "refused", [REFUSED, None], Some([50, 50]), 5),
    ("udp-rr", "refused", [REFUSED, None], Some([40, 41]), 0),
    ("udp-ping", "refused", [REFUSED, None], Some([40, 41]), 0),
    // The first of five is accepted at once.
    (
        "echo",
        "slow-accept",
        [None, None],
        Some([1_842, 1_843]),
        20,
    ),
    // From 2060 ms on, the rest takes 1.6 s at the line's rate, partly in small windows.
    ("bulk", "stalled", [None, None], Some([3_600, 4_200]), 16),
    ("reverse", "stalled", [None, None], Some([3_600, 4_200]), 0),
    // A hundred reads of 20 kB are 3 s.
    (
        "bulk",
        "slow-reader",
        [None, None],
        Some([3_000, 3_400]),
        16,
    ),
    // A hundred writes of 1 kB wait until it reads.
    ("stream", "stalled", [None, None], Some([2_000, 2_200]), 0),
    // 40.1 + 20.1 + 17 ms, 400 ms, and 500 kB.
    ("messages", "none", [None, None], Some([940, 1_060]), 2),
];

/// Five clients share two ports: two clients get one. If each is gone before the next comes, all get
/// one.
fn ports(kind: &str, story: &Story, stack: &str) {
    let clients = story.ends.iter().step_by(2);
    let errors: Vec<_> = clients.map(|end| end.error.as_deref()).collect();
    let none = match kind {
        // Its identifiers are no ports.
        "ping" => None,
        _ if kind.starts_with("udp") => Some("EAGAIN"),
        _ => Some("EADDRNOTAVAIL"),
    };
    let first = match kind {
        // The next connections of the first two find both ports in TIME-WAIT.
        "connect-request-response" => none,
        _ => None,
    };
    assert_eq!(errors, [first, first, none, none, none], "{stack} {kind}");
}

fn as_expected(stories: &[(&str, &str, Story)], stack: &str) {
    for (kind, trouble, story) in stories {
        assert_eq!(story.error, None, "{stack} {kind} {trouble}");
        if *trouble == "ports" {
            ports(kind, story, stack);
        }
    }
    for (kind, trouble, errors, closed_ms, completed) in EXPECTED {
        let place = format!("{stack} {kind} {trouble}");
        let found = stories.iter().find(|s| (s.0, s.1) == (kind, trouble));
        let Some((.., story)) = found else {
            panic!("{place}: it was not run");
        };
        let [client, server] = [&story.ends[0], &story.ends[1]];
        let found = [client, server].map(|end| end.error.as_deref());
        assert_eq!(found, errors, "{place}: {story:?}");
        assert_eq!(client.counts[2], completed, "{place}: {story:?}");
        let closed = client.times[1].map(|ns| ns / 1_000_000);
        match (closed, closed_ms) {
            (None, None) => assert!(story.cut_short, "{place}: {story:?}"),
            (Some(at), Some([from, to])) => {
                assert!((from..=to).contains(&at), "{place}: {story:?}");
            }
            _ => panic!("{place}: {story:?}"),
        }
    }
}

/// Whether two ends are the same, times within a microsecond.
fn are_alike(a: &End, b: &End) -> bool {
    let near = |(a, b): (&Option<i64>, &Option<i64>)| match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 1_000,
        _ => a == b,
    };
    a.error == b.error && a.counts == b.counts && a.times.iter().zip(&b.times).all(near)
}

#[test]
fn every_kind_in_every_trouble_is_as_worked_out_by_hand_on_the_model() {
    as_expected(&stories("model", &all()), "model");
}

#[test]
#[ignore = "needs a kernel: tcplab kernel build 6.1"]
fn every_kind_in_every_trouble_is_the_same_on_a_kernel_to_a_microsecond() {
    let [model, kernel] = ["model", "uml:6.1"].map(|stack| stories(stack, &all()));
    as_expected(&kernel, "uml:6.1");
    for ((kind, trouble, model), (.., kernel)) in model.iter().zip(&kernel) {
        let ends = model.ends.iter().zip(&kernel.ends);
        let same = ends.clone().all(|(a, b)| are_alike(a, b))
            && model.ends.len() == kernel.ends.len()
            && model.cut_short == kernel.cut_short;
        assert!(same, "{kind} {trouble}:\n{model:#?}\n{kernel:#?}");
    }
}

/// A budget of events is the model's: no kind ends within it, and none passes for whole.
#[test]
fn a_budget_of_events_ends_every_kind_and_a_kernel_refuses_it() {
    for (kind, app) in KINDS {
        let text_of = experiment(app, &["none"]).replace("[run]\n", "[run]\nmax_events = 8\n");
        let points = points(&text_of, "model");
        assert_eq!(points[0]["inconclusive"], true, "{kind}: {}", points[0]);
        let place = folder();
        let file = place.path().join("t.toml");
        std::fs::write(&file, text_of).unwrap();
        let run = tcplab(&["run", text(&file), "--on", "uml:6.1", "--dry-run"]);
        assert_eq!(run.code, 4, "{kind}: {}{}", run.out, run.err);
        assert!(run.err.contains("max_events"), "{kind}: {}", run.err);
    }
}

/// In real time: errors and transactions, where the machine lets a run have namespaces.
#[test]
fn short_runs_end_the_same_way_on_this_machine() {
    let quick = [
        "echo",
        "bulk",
        "reverse",
        "connect-request-response",
        "web",
        "messages",
        "udp-rr",
        "ping",
    ];
    for (kind, app) in KINDS.into_iter().filter(|(kind, _)| quick.contains(kind)) {
        let wanted = ["none", "ports", "refused"];
        let wanted: Vec<_> = troubles(kind)
            .filter(|name| wanted.contains(name))
            .collect();
        let text_of = experiment(app, &wanted).replace("boot = \"10s\"\n", "");
        let model = points(&text_of, "model");
        let Some(host) = points_if_it_can(&text_of, "host") else {
            return;
        };
        for ((name, model), host) in wanted.iter().zip(&model).zip(&host) {
            let [model, host] = [story(model), story(host)];
            assert_eq!(host.error, None, "{kind} {name}");
            for (a, b) in model.ends.iter().zip(&host.ends) {
                assert_eq!((&a.error, a.counts), (&b.error, b.counts), "{kind} {name}");
            }
        }
    }
}
