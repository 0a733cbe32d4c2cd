//! From an experiment file to its points.

use serde_json::{Value, json};
use tcplab_plan::app::{Act, AppKind, Extent, Message};
use tcplab_plan::point::{By, Direction, Does, Event, Of, QuickAck};
use tcplab_plan::{Experiment, Point};

fn points(text: &str) -> Vec<Point> {
    let experiment = Experiment::parse("some/dir/x.y.toml", text).unwrap_or_else(|e| panic!("{e}"));
    experiment.points().unwrap_or_else(|e| panic!("{e}"))
}

fn one(text: &str) -> Point {
    let mut points = points(text);
    assert_eq!(points.len(), 1, "{text}");
    points.remove(0)
}

const APP: &str = "[[app]]\nkind = \"stream\"\n";

#[test]
fn the_shortest_file_has_every_default() {
    let experiment = Experiment::parse("some/dir/x.y.toml", APP).unwrap();
    assert_eq!(experiment.name, "x");
    assert_eq!(
        (
            experiment.repeat,
            experiment.stacks.len(),
            experiment.measures.len()
        ),
        (1, 0, 0)
    );
    let point = one(APP);
    let names: Vec<&str> = point.hosts.iter().map(|h| h.name.as_str()).collect();
    assert_eq!(names, ["client", "server"]);
    let [link] = point.links.as_slice() else {
        panic!("{:?}", point.links)
    };
    assert_eq!(
        (link.a, link.b, link.mtu, link.by),
        (0, 1, 1500, By::Tcplab)
    );
    assert_eq!(link.a_to_b, link.b_to_a);
    assert_eq!((link.a_to_b.limit_pkts, link.a_to_b.delay_ns), (1000, 0));
    let [app] = point.apps.as_slice() else {
        panic!("{:?}", point.apps)
    };
    assert_eq!(
        (app.name.as_str(), app.client, app.server, app.port),
        ("stream", 0, 1, 5001)
    );
    let until = Extent {
        count: None,
        duration_ns: Some(10_000_000_000),
    };
    assert_eq!(
        app.does,
        AppKind::Stream {
            chunk: 1460,
            every_ns: 0,
            late_ns: 0,
            urgent: 0,
            more: 0,
            read: 65_536,
            until
        }
    );
    assert_eq!((point.seed, point.snap_bytes, point.log), (1, 128, false));
    assert_eq!(
        (point.linger_ns, point.max_ns),
        (500_000_000, 80_000_000_000)
    );
    assert!(point.axes.is_empty() && point.tcp_info_every_ns.is_none());
}

#[test]
fn every_kind_of_application_takes_its_keys() {
    let text = r#"
[[app]]
kind = "stream"
chunk = "1 kB"
every = "100ms"
read = 4096
count = 7
[[app]]
kind = "echo"
size = "1k"
pause = "500ms"
count = 50
[[app]]
kind = "write-write-read"
body = 0
[[app]]
kind = "bulk"
bytes = "1g"
reverse = true
[[app]]
kind = "request-response"
response = "10k"
duration = "1m"
[[app]]
kind = "connect-request-response"
[[app]]
kind = "web"
sizes = ["10k", 500]
think = "2s"
[[app]]
kind = "sink"
hold = "1h"
[[app]]
kind = "udp-stream"
size = 200
[[app]]
kind = "udp-rr"
timeout = "20ms"
count = 3
"#;
    let point = one(text);
    let does: Vec<Value> = point
        .apps
        .iter()
        .map(|a| serde_json::to_value(&a.does).unwrap())
        .collect();
    let until = |count: Value, duration: Value| json!({"count": count, "duration_ns": duration});
    let ten = || until(Value::Null, json!(10_000_000_000_i64));
    let null = Value::Null;
    assert_eq!(
        does[0]["stream"],
        json!({"chunk": 1000, "every_ns": 100_000_000, "read": 4096, "until": until(json!(7), null.clone())})
    );
    assert_eq!(
        does[1]["echo"],
        json!({"size": 1024, "pause_ns": 500_000_000, "until": until(json!(50), null.clone())})
    );
    assert_eq!(
        does[2]["write-write-read"],
        json!({"head": 512, "body": 0, "reply": 1448, "pause_ns": 0, "until": ten()})
    );
    assert_eq!(
        does[3]["bulk"],
        json!({"bytes": 1 << 30, "duration_ns": null, "chunk": 131_072, "reverse": true})
    );
    assert_eq!(
        does[4]["request-response"],
        json!({"request": 1, "response": 10_240, "pause_ns": 0, "until": until(null.clone(), json!(60_000_000_000_i64))})
    );
    assert_eq!(
        does[5]["connect-request-response"],
        json!({"request": 1, "response": 1, "pause_ns": 0, "until": ten()})
    );
    assert_eq!(
        does[6]["web"],
        json!({"request": 200, "sizes": [10_240, 500], "think_ns": [2_000_000_000_i64]})
    );
    assert_eq!(does[7]["sink"], json!({"hold_ns": 3_600_000_000_000_i64}));
    assert_eq!(
        does[8]["udp-stream"],
        json!({"size": 200, "every_ns": 10_000_000, "until": ten()})
    );
    assert_eq!(
        does[9]["udp-rr"],
        json!({"request": 1, "response": 1, "pause_ns": 0, "timeout_ns": 20_000_000, "until": until(json!(3), null)})
    );
    let ports: Vec<u16> = point.apps.iter().map(|a| a.port).collect();
    assert_eq!(ports, (5001..=5010).collect::<Vec<u16>>());
    // The sink holds on for an hour: twice that and a minute.
    assert_eq!(point.max_ns, (2 * 3600 + 60) * 1_000_000_000);
}

#[test]
fn hosts_take_the_kernels_words() {
    let text = r#"
[[host]]
name = "a"
sysctl = { "net.ipv4.tcp_rmem" = "4096 131072 6291456", "net.ipv4.tcp_sack" = 0 }
route = "quickack 1 initcwnd 20 initrwnd 30 rto_min 5ms advmss 1400 mtu 1450 congctl bbr"
socket = { nodelay = true, quickack = "each 1", rcvbuf = "256k", rcvlowat = 1, keepalive = "2s", user_timeout = "30ms", cpu = 3 }
offload = "gro"
[[app]]
kind = "echo"
client = "a"
server = "a"
client_socket = { quickack = 0, congestion = "reno" }
server_socket = { quickack = "once 1" }
"#;
    let point = one(text);
    assert!(
        point.links.is_empty(),
        "a host that talks to itself needs no link"
    );
    let host = serde_json::to_value(&point.hosts[0]).unwrap();
    assert_eq!(
        host["route"],
        json!({"quickack": 1, "initcwnd": 20, "initrwnd": 30, "rto_min_ns": 5_000_000, "advmss": 1400, "mtu": 1450, "congctl": "bbr"})
    );
    assert_eq!(
        host["sysctl"],
        json!({"net.ipv4.tcp_rmem": "4096 131072 6291456", "net.ipv4.tcp_sack": "0"})
    );
    let socket = &point.hosts[0].socket;
    assert_eq!(
        (socket.nodelay, socket.quickack),
        (Some(true), QuickAck::Each(1))
    );
    assert_eq!(
        (socket.rcvbuf, socket.rcvlowat, socket.cpu),
        (Some(262_144), Some(1), Some(3))
    );
    assert_eq!(
        (socket.keepalive_ns, socket.user_timeout_ns),
        (Some(2_000_000_000), Some(30_000_000))
    );
    assert_eq!(host["offload"], "gro");
    assert_eq!(point.apps[0].client_socket.quickack, QuickAck::Once(0));
    assert_eq!(point.apps[0].server_socket.quickack, QuickAck::Once(1));
    assert_eq!(point.apps[0].client_socket.or(socket).rcvbuf, Some(262_144));
}

#[test]
fn one_way_takes_unset_words_from_the_link() {
    let text = "[[link]]\nrate = \"5mbit\"\ndelay = \"2ms\"\n\
        a_to_b = \"pfifo limit 20\"\nb_to_a = { qdisc = \"netem delay 7ms\", loss = \"1%\" }\n\
        [[app]]\nkind = \"stream\"\n";
    let point = one(text);
    let [to, back] = [&point.links[0].a_to_b, &point.links[0].b_to_a];
    let of = |way: &Direction| (way.rate_bps, way.delay_ns, way.limit_pkts, way.loss_ppb);
    assert_eq!(of(to), (Some(5_000_000), 2_000_000, 20, 0));
    assert_eq!(of(back), (Some(5_000_000), 7_000_000, 1_000, 10_000_000));
    // The same where netem is a queue of its own: its delay holds, not its and the link's.
    let text = text.replace("pfifo limit 20", "netem delay 7ms reorder 5%");
    let to = one(&text).links[0].a_to_b.clone();
    assert!(to.queue.is_some());
    assert_eq!(of(&to), (Some(5_000_000), 0, 1_000, 0));
}

#[test]
fn a_link_is_the_same_in_keys_and_in_words() {
    let keys = "[[link]]\nrate = \"10mbit\"\ndelay = \"25ms\"\njitter = \"1ms\"\nlimit = 100\nloss = \"0.1%\"\n";
    let words = "[[link]]\nqdisc = \"netem delay 25ms 1ms rate 10mbit loss 0.1%\"\nlimit = 100\n";
    let ways = "[[link]]\nlimit = 100\na_to_b = \"netem delay 25ms 1ms rate 10mbit loss 0.1%\"\nb_to_a = { rate = \"10mbit\", delay = \"25ms\", jitter = \"1ms\", limit = 100, loss = \"0.1%\" }\n";
    let links: Vec<_> = [keys, words, ways]
        .map(|text| one(&format!("{text}{APP}")).links)
        .into();
    assert_eq!(links[0], links[1]);
    assert_eq!(links[0], links[2]);
    let way = &links[0][0].b_to_a;
    assert_eq!(
        (way.rate_bps, way.delay_ns, way.jitter_ns),
        (Some(10_000_000), 25_000_000, 1_000_000)
    );
    assert_eq!(
        (way.limit_pkts, way.loss_ppb, way.qdisc.as_deref()),
        (100, 1_000_000, None)
    );
    // The kernel gets words, whichever way they were written.
    let kernel = one(&format!("{keys}by = \"kernel\"\n{APP}"));
    let way = &kernel.links[0].a_to_b;
    let right = "netem limit 100 delay 25000us 1000us loss random 0.1% rate 10000000bit";
    assert_eq!(way.qdisc.as_deref(), Some(right));
    assert_eq!((way.rate_bps, way.delay_ns, way.loss_ppb), (None, 0, 0));
    let kernel = one(&format!(
        "[[link]]\nby = \"kernel\"\na_to_b = \"cake  bandwidth 30mbit ack-filter\"\n{APP}"
    ));
    assert_eq!(
        kernel.links[0].a_to_b.qdisc.as_deref(),
        Some("cake bandwidth 30mbit ack-filter")
    );
    assert_eq!(kernel.links[0].b_to_a.qdisc, None);
}

/// Linux's netem counts the packets that it delays; the link's own limit does not.
#[test]
fn a_limit_of_netem_with_a_delay_is_netems() {
    let queue = |words: &str| {
        let point = one(&format!("[[link]]\nqdisc = \"{words}\"\n{APP}"));
        point.links[0].a_to_b.queue.is_some()
    };
    assert!(queue("netem delay 25ms rate 10mbit limit 100"));
    assert!(!queue("netem rate 10mbit limit 100"));
    assert!(!queue("netem delay 25ms rate 10mbit"));
}

#[test]
fn one_way_changes_what_the_link_says() {
    let text = format!(
        "[[link]]\ndelay = \"5ms\"\nrate = \"1mbit\"\nb_to_a = {{ rate = \"30mbit\", drop = [\"data 20\", \"syn 1\"], duplicate = [\"frame 2\"], mark = [\"ack 30-35\"], late = [\"fin 1 by 30ms\"] }}\n{APP}"
    );
    let link = one(&text).links.remove(0);
    assert_eq!(
        (link.a_to_b.rate_bps, link.b_to_a.rate_bps),
        (Some(1_000_000), Some(30_000_000))
    );
    assert_eq!(
        (link.a_to_b.delay_ns, link.b_to_a.delay_ns),
        (5_000_000, 5_000_000)
    );
    let event = |of, first, last, does| Event {
        of,
        first,
        last,
        does,
    };
    assert_eq!(
        link.b_to_a.events,
        [
            event(Of::Data, 20, 20, Does::Drop),
            event(Of::Syn, 1, 1, Does::Drop),
            event(Of::Frame, 2, 2, Does::Duplicate),
            event(Of::Ack, 30, 35, Does::Mark),
            event(Of::Fin, 1, 1, Does::DelayNs(30_000_000)),
        ]
    );
    assert!(link.a_to_b.events.is_empty());
}

#[test]
fn axes_multiply_in_the_order_of_the_file() {
    let text = "[[app]]\nkind = \"stream\"\nevery = { axis = [\"10ms\", \"20ms\"] }\nchunk = { axis = [1, \"1k\", 3] }\n";
    let points = points(text);
    let seen: Vec<Value> = points
        .iter()
        .map(|p| json!([p.axes["every"], p.axes["chunk"]]))
        .collect();
    assert_eq!(
        seen,
        [
            json!(["10ms", 1]),
            json!(["10ms", "1k"]),
            json!(["10ms", 3]),
            json!(["20ms", 1]),
            json!(["20ms", "1k"]),
            json!(["20ms", 3]),
        ]
    );
    let AppKind::Stream {
        chunk, every_ns, ..
    } = points[4].apps[0].does
    else {
        panic!("no stream")
    };
    assert_eq!((chunk, every_ns), (1024, 20_000_000));
}

#[test]
fn axes_of_one_name_move_together() {
    let text = "[[link]]\ndelay = { axis = [\"1ms\", \"2ms\"], name = \"path\" }\nrate = { axis = [\"1mbit\", \"2mbit\"], name = \"path\" }\n[[app]]\nkind = \"stream\"\n";
    let points = points(text);
    let seen: Vec<_> = points
        .iter()
        .map(|p| (p.links[0].a_to_b.delay_ns, p.links[0].a_to_b.rate_bps))
        .collect();
    assert_eq!(
        seen,
        [(1_000_000, Some(1_000_000)), (2_000_000, Some(2_000_000))]
    );
    assert_eq!(points[1].axes, [("path".to_owned(), json!("2ms"))].into());
}

#[test]
fn an_axis_may_be_a_table_an_entry_of_a_list_or_a_variants() {
    let text = r#"
[[link]]
a_to_b = { axis = ["netem delay 1ms", { drop = ["data 3"] }] }
b_to_a = { drop = [{ axis = ["ack 1", "ack 2", "ack 3"], name = "lost" }, "ack 9"] }
[[app]]
kind = { axis = ["echo", "bulk"] }
name = "x"
[[variant]]
name = "plain"
[[variant]]
name = "sized"
set = { "host.client.sysctl.net.ipv4.tcp_sack" = { axis = [0, 1] }, "app.x.client_socket.nodelay" = true, "run.log" = true }
"#;
    let points = points(text);
    assert_eq!(points.len(), 12 + 24);
    assert_eq!(points[0].axes["variant"], "plain");
    assert!(points[0].hosts[0].sysctl.is_empty() && !points[0].log);
    let last = points.last().unwrap();
    assert_eq!(last.axes["net.ipv4.tcp_sack"], 1);
    assert_eq!(last.hosts[0].sysctl["net.ipv4.tcp_sack"], "1");
    assert_eq!(last.apps[0].does.word(), "bulk");
    assert_eq!(last.apps[0].client_socket.nodelay, Some(true));
    assert!(last.log);
    assert_eq!(last.links[0].b_to_a.events[0].first, 3);
    assert_eq!(last.links[0].a_to_b.events.len(), 1);
    assert_eq!(points[0].links[0].a_to_b.delay_ns, 1_000_000);
}

#[test]
fn repetitions_differ_in_their_seed_and_nothing_else_does() {
    let text = "[run]\nseed = 7\nrepeat = 3\n[[app]]\nkind = \"stream\"\nchunk = { axis = [1, 2] }\n[[variant]]\nname = \"a\"\n[[variant]]\nname = \"b\"\n";
    let mut experiment = Experiment::parse("x", text).unwrap();
    let points = experiment.points().unwrap();
    assert_eq!(points.len(), 12);
    let seeds: Vec<u64> = points.iter().map(|p| p.seed).collect();
    assert_eq!(seeds[0], 7);
    assert!(seeds[0] != seeds[1] && seeds[1] != seeds[2] && seeds[0] != seeds[2]);
    assert!(seeds.chunks(3).all(|chunk| chunk == &seeds[..3]));
    assert!(seeds.iter().all(|seed| *seed < 1 << 53));
    assert_eq!(points[2].axes["repeat"], 3);
    experiment.set_seed(8);
    let other = experiment.points().unwrap();
    assert_eq!(other[0].seed, 8);
    assert_ne!(other[1].seed, seeds[1]);
}

#[test]
fn variants_find_links_and_applications_without_names() {
    let text = "[[app]]\nkind = \"echo\"\n[[variant]]\nname = \"far\"\nset = { \"link.client-server.delay\" = \"50ms\", \"link.client-server.a_to_b.rate\" = \"1mbit\", \"app.echo.count\" = 3, \"host.server.route\" = \"quickack 1\" }\n";
    let point = one(text);
    assert_eq!(point.links[0].b_to_a.delay_ns, 50_000_000);
    assert_eq!(point.links[0].a_to_b.rate_bps, Some(1_000_000));
    assert_eq!(point.hosts[1].route.quickack, Some(1));
}

#[test]
fn an_application_may_cross_a_router() {
    let text = "[[host]]\nname = \"client\"\n[[host]]\nname = \"router\"\nforward = true\n[[host]]\nname = \"server\"\n[[link]]\nbetween = [\"client\", \"router\"]\n[[link]]\nbetween = [\"server\", \"router\"]\n[[app]]\nkind = \"bulk\"\n";
    let point = one(text);
    assert_eq!((point.links[1].a, point.links[1].b), (2, 1));
    assert_eq!((point.apps[0].client, point.apps[0].server), (0, 2));
}

#[test]
fn messages_are_written_in_words() {
    let point = one(
        "[[app]]\nkind = \"messages\"\nmessages = [\"client 200\", \"server 1k after 60ms\"]\n",
    );
    assert_eq!(
        serde_json::to_value(&point.apps[0].does).unwrap()["messages"],
        json!({"messages": [
            {"from_client": true, "bytes": 200},
            {"from_client": false, "bytes": 1024, "after_ns": 60_000_000},
        ]})
    );
}

/// Bytes of the responses of each point's first application.
fn web_sizes(text: &str) -> Vec<Vec<u64>> {
    let points = Experiment::parse("drawn.toml", text).and_then(|e| e.points());
    let sizes = |point: &Point| match &point.apps[0].does {
        AppKind::Web { sizes, .. } => sizes.clone(),
        _ => Vec::new(),
    };
    points.unwrap().iter().map(sizes).collect()
}

#[test]
fn drawn_sizes_depend_on_the_seed_and_the_application_alone() {
    let file = |run: &str, app: &str| {
        format!(
            "[run]\n{run}\n[[app]]\nkind = \"web\"\n{app}\n\
             sizes = \"4 of lognormal(median 15kB, sigma 1)\"\n"
        )
    };
    let first = web_sizes(&file("seed = 7", ""));
    assert_eq!(first[0].len(), 4);
    assert!(first[0].iter().all(|n| *n >= 1));
    assert_eq!(web_sizes(&file("seed = 7", "think = [\"1s\"]")), first);
    assert_ne!(web_sizes(&file("seed = 8", "")), first);
    assert_ne!(web_sizes(&file("seed = 7", "name = \"other\"")), first);
    let repeated = web_sizes(&file("seed = 7\nrepeat = 2", ""));
    assert_eq!(repeated[0], first[0]);
    assert_ne!(
        repeated[1], first[0],
        "each repetition has a seed of its own"
    );
}

#[test]
fn both_ends_connect_at_their_times() {
    let points = |keys: &str| {
        let text = format!(
            "[[app]]\nkind = \"echo\"\nstart = \"2s\"\n{keys}\n[[app]]\nkind = \"bulk\"\nclient = \"server\"\nserver = \"client\"\nport = 5001\n"
        );
        Experiment::parse("open.toml", &text).and_then(|e| e.points())
    };
    let connects = |keys: &str| points(keys).unwrap()[0].apps[0].server_connects_ns;
    assert_eq!(connects("open = \"listen\""), None);
    // Both ends have the port: that of the other application's server, too.
    let taken = points("open = \"simultaneous\"").unwrap_err().to_string();
    assert!(
        taken.contains("`echo` has port 5001 of one of its hosts"),
        "{taken}"
    );
    assert_eq!(
        connects("port = 7\nopen = \"simultaneous\""),
        Some(2_000_000_000)
    );
    let later = "port = 7\nopen = \"simultaneous\"\nserver_start = \"5ms\"";
    assert_eq!(connects(later), Some(5_000_000));
}

#[test]
fn messages_are_repeated_ended_and_sent_at_once() {
    let text = "[[app]]\nkind = \"messages\"\nmessages = [\"client 5 x 2 after 1ms\", \"server 7 more at once\", \
                \"client shutdown\", \"client close after 2ms at once\"]\n";
    let points = Experiment::parse("talk.toml", text).and_then(|e| e.points());
    let AppKind::Messages { messages } = &points.unwrap()[0].apps[0].does else {
        panic!("messages");
    };
    let write = Message::write(true, 5, 1_000_000);
    let ends = |does, at_once, after_ns| Message {
        does,
        at_once,
        ..Message::write(true, 0, after_ns)
    };
    let at_once = Message {
        at_once: true,
        more: true,
        ..Message::write(false, 7, 0)
    };
    let close = ends(Act::Close, true, 2_000_000);
    let shutdown = ends(Act::Shutdown, false, 0);
    assert_eq!(messages[..], [write, write, at_once, shutdown, close]);
}
