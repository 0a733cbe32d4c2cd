//! Names of measures, their values, and expressions over them.

use std::collections::BTreeMap;

use tcplab_plan::measure::{CannotSay, Expression, Formula, Measure, PACKETS, Sent, Sources, Unit};
use tcplab_plan::outcome::{End, Flow, LinkCount, LogLine, Outcome, QueueCount};
use tcplab_plan::{Experiment, Point};

fn point() -> Point {
    let text =
        "[[app]]\nkind = \"stream\"\ncount = 10\n[[app]]\nname = \"my-echo\"\nkind = \"echo\"\n";
    let experiment = Experiment::parse("x.toml", text).unwrap();
    experiment.points().unwrap().remove(0)
}

fn flow(app: &str, latency_ns: Vec<i64>) -> Flow {
    let end = |written_bytes, read_bytes| End {
        opened_ns: Some(0),
        closed_ns: Some(1_000_000_000),
        written_bytes,
        read_bytes,
        completed: 10,
        tcp_info: BTreeMap::from([("tcpi_rtt".to_owned(), 123)]),
        ..End::default()
    };
    Flow {
        app: app.to_owned(),
        client: End {
            latency_ns,
            ..end(0, 1000)
        },
        server: end(1000, 0),
        ..Flow::default()
    }
}

fn outcome() -> Outcome {
    let counters = BTreeMap::from([
        ("TcpExtDelayedACKs".to_owned(), 84),
        ("rx_queue_0_packets".to_owned(), 7),
    ]);
    let mut outcome = Outcome {
        virtual_ns: 1_500_000_000,
        counters: BTreeMap::from([("client".to_owned(), counters)]),
        flows: vec![
            flow("stream", Vec::new()),
            flow("my-echo", (1..=200).map(|n| n * 1000).collect()),
            flow("my-echo", Vec::new()),
        ],
        links: vec![LinkCount::default()],
        ..Outcome::default()
    };
    outcome.links[0].b_to_a.lost = 3;
    outcome.links[0].b_to_a_queue = Some(QueueCount {
        ns: 1_000,
        mean_bytes: 10,
        p50_bytes: 11,
        p99_bytes: 12,
        max_bytes: 13,
    });
    outcome
}

/// What the analyser would say of two connections, of which the first has no samples.
fn packets() -> BTreeMap<String, Vec<Sent>> {
    let none = |name: &str| match name {
        "packets" => Some(3.0),
        _ => (!name.contains("_us.") && name != "acks.first_delayed_segment").then_some(0.0),
    };
    let some = |name: &str| {
        Some(match name {
            "packets" => 7.0,
            "dsacks" => 2.0,
            "rtt_us.min" => 20.0,
            "acks.total" => 100.0,
            "acks.delayed" => 84.0,
            "acks.first_delayed_segment" => 17.0,
            "acks.delayed_us.p50" => 40_512.0,
            _ => 0.0,
        })
    };
    BTreeMap::from([
        (
            "client".to_owned(),
            vec![Sent::of(none, None), Sent::of(some, Some((0, 1)))],
        ),
        ("server".to_owned(), Vec::new()),
    ])
}

#[test]
fn values() {
    let (point, outcome, packets) = (point(), outcome(), packets());
    let sources = Sources {
        point: &point,
        outcome: &outcome,
        packets: &packets,
    };
    for (name, right) in [
        ("client.TcpExtDelayedACKs", 84.0),
        ("client.rx_queue_0_packets", 7.0),
        ("client.packets", 10.0),
        ("client.dsacks", 2.0),
        ("client.acks.total", 100.0),
        ("client.acks.delayed", 84.0),
        ("client.acks.first_delayed_segment", 17.0),
        ("client.acks.delayed_us.p50", 40_512.0),
        ("client.rtt_us.min", 20.0),
        ("client.tcpi_rtt", 123.0),
        ("server.tcpi_rtt", 123.0),
        ("stream.completed", 10.0),
        ("stream.goodput_bps", 8_000.0),
        ("my-echo.completed", 20.0),
        ("my-echo.connections", 2.0),
        ("my-echo.failed", 0.0),
        ("my-echo.latency_us.min", 1.0),
        ("my-echo.latency_us.p50", 100.0),
        ("my-echo.latency_us.p99", 198.0),
        ("my-echo.latency_us.max", 200.0),
        ("my-echo.server.tcpi_rtt", 123.0),
        ("link.client-server.b_to_a.lost", 3.0),
        ("link.client-server.b_to_a.queue_mean_bytes", 10.0),
        ("link.client-server.b_to_a.queue_p99_bytes", 12.0),
        ("link.client-server.b_to_a.queue_max_bytes", 13.0),
        ("run.virtual_s", 1.5),
        ("run.cut_short", 0.0),
    ] {
        assert_eq!(sources.named(name).unwrap(), Ok(right), "{name}");
    }
    for (name, why) in [
        (
            "client.TcpExtDelayedACKLocked",
            "no counter `TcpExtDelayedACKLocked`",
        ),
        (
            "client.TcpExtDelayedACK",
            "did you mean `TcpExtDelayedACKs`?",
        ),
        ("server.TcpExtDelayedACKs", "no counters for this host"),
        ("server.acks.total", "no TCP connection"),
        ("stream.sent", "sent no ping"),
        ("stream.latency_us.p50", "no timed transaction"),
        ("client.tcpi_ato", "does not report `tcpi_ato`"),
    ] {
        let error = sources.named(name).unwrap().expect_err(name);
        assert!(error.contains(why), "{name}: {error}");
    }
    // Every listed name is one, and says its own name.
    let names = sources.names();
    assert!(names.len() > 2 * PACKETS.len());
    for name in &names {
        let measure = Measure::parse(name, &point).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(&measure.name(), name);
    }
}

/// A path that loses what is late must not look fast: what was lost is slower than all that was answered.
#[test]
fn lost_transactions_count_as_the_slowest() {
    let text = "[[app]]\nname = \"call\"\nkind = \"udp-ping\"\ncount = 200\ntimeout = \"100ms\"\n[[app]]\nname = \"rr\"\nkind = \"udp-rr\"\n";
    let experiment = Experiment::parse("x.toml", text).unwrap();
    let point = experiment.points().unwrap().remove(0);
    // Pings 1 ms apart; the last ones have no answer. The very last one was still under way at the end.
    let outcome = |answered: usize, lost: usize| {
        let mut call = flow("call", (1..=answered as i64).map(|n| n * 1000).collect());
        let rtt = |n: usize| (n < answered).then_some(1000);
        call.client.pings = (0..=answered + lost)
            .map(|n| (n as i64 * 1_000_000, rtt(n)))
            .collect();
        call.client.pings[answered + lost].0 = 1_450_000_000;
        call.client.completed = answered as u64;
        let mut rr = flow("rr", (1..=answered as i64).map(|n| n * 1000).collect());
        (rr.client.completed, rr.client.lost) = (answered as u64, lost as u64);
        Outcome {
            flows: vec![call, rr],
            ..outcome()
        }
    };
    let packets = BTreeMap::new();
    for (answered, lost, p50, p99, max) in [
        (200, 0, Some(100.0), Some(198.0), Some(200.0)),
        (198, 2, Some(100.0), Some(198.0), None),
        (197, 3, Some(100.0), None, None),
        (99, 101, None, None, None),
        (0, 200, None, None, None),
    ] {
        let outcome = outcome(answered, lost);
        let sources = Sources {
            point: &point,
            outcome: &outcome,
            packets: &packets,
        };
        for app in ["call", "rr"] {
            let value = |field: &str| sources.named(&format!("{app}.{field}")).unwrap();
            for (field, right) in [("p50", p50), ("p99", p99), ("max", max)] {
                let value = value(&format!("latency_us.{field}"));
                assert_eq!(value.clone().ok(), right, "{app} {lost} {field}: {value:?}");
                if let Err(why) = value {
                    assert!(why.contains(&format!("`{app}.sent`")), "{why}");
                    assert!(why.contains(tcplab_plan::measure::IS_SLOWEST), "{why}");
                }
            }
            assert_eq!(value("lost"), Ok(lost as f64));
            // The ping that waits was sent, too.
            let waits = f64::from(u8::from(app == "call"));
            assert_eq!(value("sent"), Ok(200.0 + waits), "{app}");
        }
    }
}

/// Two connections of 8,000 bit each: the bits of both over the time in which one of them had data.
#[test]
fn rates_of_connections_are_over_the_time_in_which_any_had_data() {
    const S: i64 = 1_000_000_000;
    let (point, outcome) = (point(), outcome());
    for (times, right) in [
        ([(0, S), (S, 2 * S)], 8_000.0),
        ([(3 * S, 4 * S), (0, S)], 8_000.0),
        ([(0, S), (0, S)], 16_000.0),
        ([(0, 2 * S), (S, 2 * S)], 8_000.0),
    ] {
        let sent = |(first, last): (i64, i64)| {
            let bps = 8_000.0 / ((last - first) as f64 / 1e9);
            let value = |name: &str| (name == "goodput_bps").then_some(bps);
            Sent::of(value, Some((first, last)))
        };
        let packets = BTreeMap::from([("client".to_owned(), times.map(sent).to_vec())]);
        let sources = Sources {
            point: &point,
            outcome: &outcome,
            packets: &packets,
        };
        let value = sources.named("client.goodput_bps").unwrap();
        assert_eq!(value, Ok(right), "{times:?}");
    }
}

#[test]
fn unknown_names_say_which_is_near() {
    let point = point();
    for (name, message) in [
        ("client.acks.delayd", "did you mean `client.acks.delayed`?"),
        ("cleint.acks.delayed", "did you mean `client.acks.delayed`?"),
        (
            "my-echo.latency_us.p95",
            "did you mean `my-echo.latency_us.p",
        ),
        (
            "link.client-sever.a_to_b.lost",
            "did you mean `link.client-server.a_to_b.lost`?",
        ),
        (
            "link.client-server.a_to_c.lost",
            "did you mean `link.client-server.a_to_b`?",
        ),
        ("run.virtual", "did you mean `run.virtual_s`?"),
        ("my-echo.goodput", "did you mean `my-echo.goodput_bps`?"),
        (
            "nothing.at.all",
            "begins with one of client, server, stream, my-echo, run, link",
        ),
        ("client", "is incomplete"),
        ("", "begins with one of"),
    ] {
        let error = Measure::parse(name, &point).expect_err(name).to_string();
        assert!(error.contains(message), "{name}: {error}");
    }
}

fn say(text: &str) -> Result<bool, CannotSay> {
    let value = |name: &str| match name {
        "a" => Some(2.0),
        "b" => Some(3.0),
        "zero" => Some(0.0),
        "big" => Some(1e308),
        "nan" => Some(f64::NAN),
        "client.acks-x.delayed" => Some(84.0),
        _ => None,
    };
    Expression::parse(text)
        .unwrap_or_else(|e| panic!("{e}"))
        .evaluate(&value)
}

#[test]
fn expressions() {
    for (text, right) in [
        ("a > 1", true),
        ("a == 2 and b == 3", true),
        ("a != 2 or b != 3", false),
        ("not a > 1", false),
        ("not (a > 1) or b >= 3", true),
        ("a + b * 2 == 8", true),
        ("(a + b) * 2 == 10", true),
        ("b - a - 1 == 0", true),
        ("12 / a / b == 2", true),
        ("-a < -1", true),
        ("- -a == 2", true),
        ("a<b", true),
        ("a <= 1.5e0 || b >= 3 && !(a == b)", true),
        ("client.acks-x.delayed - a == 82", true),
        ("present(a) and not present(x) and not present(nan)", true),
        // `and` binds stronger than `or`.
        ("a == 2 or a == 9 and b == 9", true),
        ("(a == 2 or a == 9) and b == 9", false),
        // What cannot be known does not matter here.
        ("x > 0 and a == 9", false),
        ("a == 9 and x > 0", false),
        ("x > 0 or a == 2", true),
        ("a == 2 or x > 0", true),
        ("a == 9 and b / zero > 1", false),
    ] {
        assert_eq!(say(text), Ok(right), "{text}");
    }
}

#[test]
fn what_cannot_be_said() {
    for (text, name) in [
        ("x > 0", Some("x")),
        ("a == 2 and x > 0", Some("x")),
        ("not x == 0", Some("x")),
        ("nan == nan", Some("nan")),
        ("a / zero > 0", None),
        ("zero / zero == 0", None),
        ("big * 10 > 0", None),
    ] {
        let error = say(text).expect_err(text);
        assert_eq!(error.missing(), name, "{text}");
    }
    let error = say("client.TcpExtDelayedAKCs > 0").expect_err("missing");
    assert_eq!(
        error.nearest(["client.TcpExtDelayedACKs", "a"]),
        Some("client.TcpExtDelayedACKs")
    );
}

#[test]
fn bad_expressions_show_their_place() {
    for (text, column, message) in [
        ("", 1, "expected a measure or a number"),
        ("a", 1, "not a condition"),
        ("a >", 4, "expected a measure or a number"),
        ("a = 1", 3, "write =="),
        ("a > 10ms", 5, "without a unit"),
        ("1 < a < 3", 7, "cannot be chained"),
        ("(a > 1", 1, "not closed"),
        ("a > 1)", 6, "text after the end"),
        ("a > 1 b", 7, "text after the end"),
        ("a and b > 1", 1, "not a condition"),
        ("(a > 1) + 2 > 3", 1, "is not a number"),
        ("present a", 1, "present(NAME)"),
        ("a > $b", 5, "not part of an expression"),
        ("ä > 1", 1, "not part of an expression"),
        ("a > 1e999", 5, "not a number"),
        ("a > and", 5, "expected a measure or a number"),
        ("a > 0 or or", 10, "expected a measure or a number"),
    ] {
        let error = Expression::parse(text).expect_err(text);
        assert!(error.message().contains(message), "{text}: {error}");
        assert_eq!(error.column(), column, "{text}: {error}");
    }
    let error = Expression::parse("client.acks.delayed > 10ms").expect_err("unit");
    assert_eq!(
        error.to_string(),
        "column 23: write the number without a unit: the measure's name shows the unit (`_us`, `_bps`)\n  \
         client.acks.delayed > 10ms\n                        ^^^^"
    );
}

#[test]
fn deep_and_long_expressions_are_refused_or_answered() {
    assert!(Expression::parse(&format!("{}1 > 0{}", "(".repeat(1000), ")".repeat(1000))).is_err());
    assert!(Expression::parse(&format!("{}1 > 0", "not ".repeat(1000))).is_err());
    assert!(Expression::parse(&format!("{}1 > 0", "-".repeat(1000))).is_err());
    assert!(Expression::parse(&"1+".repeat(3000)).is_err());
    let sum = format!("1{} == 1501", "+1".repeat(1500));
    assert_eq!(say(&sum), Ok(true));
    let names = Expression::parse("a > b or present(c) and a / d < 1").unwrap();
    assert_eq!(
        names.names().into_iter().collect::<Vec<_>>(),
        ["a", "b", "c", "d"]
    );
}

#[test]
fn a_log_shows_the_option_and_the_credits_of_reads_with_data() {
    let (point, mut outcome, packets) = (point(), outcome(), packets());
    let line = |what: &str, value, quickack, quick| LogLine {
        what: what.to_owned(),
        value,
        quickack: Some(quickack),
        quick: Some(quick),
        pingpong: Some(quickack == 0),
        ..LogLine::default()
    };
    outcome.flows[0].client.log = vec![
        line("connected", 0, 1, 0),
        line("readable", 0, 1, 15),
        line("read", 1024, 1, 14),
        line("write", 1, 0, 99),
        // The end of the data: a FIN has made the connection interactive.
        line("readable", 0, 0, 7),
        line("read", 0, 0, 7),
    ];
    let sources = Sources {
        point: &point,
        outcome: &outcome,
        packets: &packets,
    };
    let value = |name: &str| sources.named(name).unwrap();
    for (name, expected) in [
        ("quickack.first", 1.0),
        ("quickack.min", 1.0),
        ("quickack.max", 1.0),
        ("credits.first", 0.0),
        ("credits.min", 14.0),
        ("credits.max", 15.0),
        ("pingpong.min", 0.0),
        ("pingpong.max", 0.0),
    ] {
        assert_eq!(
            value(&format!("stream.client.{name}")),
            Ok(expected),
            "{name}"
        );
    }
    let why = value("stream.server.credits.min").unwrap_err();
    assert!(why.contains("log = true"), "{why}");
    let unknown = sources.named("stream.client.credits.mim").unwrap_err();
    assert!(
        unknown.to_string().contains("stream.client.credits.min"),
        "{unknown}"
    );
}

#[test]
fn formulas() {
    let value = |name: &str| (name == "client.a").then_some(6.0);
    let of = |text: &str| Formula::parse(text).unwrap().evaluate(&value);
    assert_eq!(of("client.a"), Ok(6.0));
    assert_eq!(of("(client.a - 2) / 8 * -1"), Ok(-0.5));
    assert_eq!(
        of("server.b + 1"),
        Err(CannotSay::Missing("server.b".into()))
    );
    assert!(of("client.a / (client.a - 6)").is_err());
    for bad in ["client.a > 1", "client.a +", "", "client.a client.a"] {
        assert!(Formula::parse(bad).is_err(), "{bad}");
    }
    let formula = Formula::parse("a.b - c.d / a.b").unwrap();
    assert_eq!(
        formula.names().into_iter().collect::<Vec<_>>(),
        ["a.b", "c.d"]
    );
}

#[test]
fn a_formula_has_the_unit_of_its_measures() {
    for (text, unit) in [
        ("flow.goodput_bps / 1000000", Some("Mbit/s")),
        (
            "a.latency_us.p50 / 1000 - b.latency_us.p50 / 1000",
            Some("ms"),
        ),
        ("client.acks.delayed / client.acks.total", Some("")),
        ("-client.retransmissions.rto", Some("segments")),
        ("a.latency_us.p50 - a.goodput_bps", None),
        ("a.latency_us.p50 * 3", None),
        ("a.nothing", None),
    ] {
        let formula = Formula::parse(text).unwrap();
        assert_eq!(formula.unit().map(Unit::name), unit, "{text}");
    }
}

#[test]
fn capture_behind_a_kernels_qdisc_gives_no_round_trip() {
    let outcome = outcome();
    let mut packets = packets();
    packets.insert("server".to_owned(), packets["client"].clone());
    let link = |way: &str| {
        format!(
            "[[host]]\nname = \"client\"\n[[host]]\nname = \"server\"\n[[link]]\nby = \"kernel\"\n{way}\n\
             [[app]]\nkind = \"stream\"\ncount = 10\n"
        )
    };
    let named = |way: &str, name: &str| {
        let point = Experiment::parse("x.toml", &link(way)).unwrap();
        let point = point.points().unwrap().remove(0);
        let sources = Sources {
            point: &point,
            outcome: &outcome,
            packets: &packets,
        };
        sources.named(name).unwrap()
    };
    let one_way = "a_to_b = { delay = \"5ms\" }";
    let why = named(one_way, "client.rtt_us.min").unwrap_err();
    assert!(why.contains("behind the qdisc of its own link"), "{why}");
    assert!(named(one_way, "client.max_in_flight_bytes").is_err());
    assert_eq!(named(one_way, "client.packets"), Ok(10.0));
    assert_eq!(named(one_way, "server.rtt_us.min"), Ok(20.0));
    assert_eq!(named("", "client.rtt_us.min"), Ok(20.0));
    // Only what can be lost there is missing.
    assert!(named(one_way, "client.retransmissions.total").is_ok());
    let loses = "a_to_b = { loss = \"5%\" }";
    assert_eq!(named(loses, "client.rtt_us.min"), Ok(20.0));
    assert!(named(loses, "client.max_in_flight_bytes").is_err());
    let why = named(loses, "client.retransmissions.total").unwrap_err();
    assert!(why.contains("`client.TcpRetransSegs`"), "{why}");
    assert!(named(loses, "server.retransmissions.total").is_ok());
}

/// The value of a measure of a file, with this outcome.
fn value_of(text: &str, outcome: &Outcome, name: &str) -> Result<f64, String> {
    let experiment = Experiment::parse("x.toml", text).unwrap();
    let point = experiment.points().unwrap().remove(0);
    let packets = packets();
    let sources = Sources {
        point: &point,
        outcome,
        packets: &packets,
    };
    sources.named(name).unwrap()
}

const TWO_HOSTS: &str = "[[host]]\nname = \"client\"\n[[host]]\nname = \"server\"\n";
const STREAM: &str = "[[app]]\nkind = \"stream\"\ncount = 10\n";

#[test]
fn counter_that_did_not_move_is_0() {
    let text = format!("{TWO_HOSTS}{STREAM}");
    let value = |name| value_of(&text, &outcome(), name);
    assert_eq!(value("client.IcmpInEchoReps"), Ok(0.0));
    assert_eq!(value("client.IcmpMsgInType3"), Ok(0.0));
    for name in [
        "client.Icmp6InEchos",
        "client.IcmpInEchoRepz",
        "client.IcmpMsgInType300",
    ] {
        assert!(value(name).is_err(), "{name}");
    }
}

#[test]
fn connection_that_never_stood_has_no_tcp_info_and_no_duration() {
    let text = format!("{TWO_HOSTS}[[app]]\nkind = \"ping\"\n{STREAM}");
    let mut outcome = outcome();
    outcome.flows[0].client.opened_ns = None;
    let value = |outcome: &Outcome, name| value_of(&text, outcome, name);
    let why = value(&outcome, "client.tcpi_rtt").unwrap_err();
    assert!(why.contains("not established"), "{why}");
    // Its client's patience ended after a minute.
    outcome.flows[0].client.closed_ns = Some(60_000_000_000);
    let mut other = flow("stream", Vec::new());
    other.client.opened_ns = Some(500_000_000);
    outcome.flows.push(other);
    assert_eq!(value(&outcome, "stream.duration_us"), Ok(1e6));
    // The ping is no connection: the stream's is the first.
    outcome.flows.insert(0, flow("ping", Vec::new()));
    assert_eq!(value(&outcome, "client.tcpi_rtt"), Ok(123.0));
}

#[test]
fn values_that_stand_for_none_are_none() {
    let text = format!("{TWO_HOSTS}{STREAM}");
    for (field, none) in [
        ("tcpi_snd_ssthresh", 0x7fff_ffff),
        ("tcpi_min_rtt", 0xffff_ffff),
    ] {
        let mut outcome = outcome();
        let info = &mut outcome.flows[0].client.tcp_info;
        info.insert(field.to_owned(), none);
        let name = format!("client.{field}");
        assert!(value_of(&text, &outcome, &name).is_err(), "{field}");
        let info = &mut outcome.flows[0].client.tcp_info;
        info.insert(field.to_owned(), 40);
        assert_eq!(value_of(&text, &outcome, &name), Ok(40.0));
    }
}

#[test]
fn connection_is_open_until_both_ends_have_closed() {
    let text = format!("{TWO_HOSTS}{STREAM}");
    let mut outcome = outcome();
    outcome.flows.truncate(1);
    assert_eq!(value_of(&text, &outcome, "stream.duration_us"), Ok(1e6));
    outcome.flows[0].server.closed_ns = None;
    let why = value_of(&text, &outcome, "stream.duration_us").unwrap_err();
    assert!(
        why.starts_with("1 of 1 connections were still open"),
        "{why}"
    );
    // 1,000 bytes until the run's end.
    let bps = value_of(&text, &outcome, "stream.goodput_bps").unwrap();
    assert!((bps - 8_000.0 / 1.5).abs() < 1e-6, "{bps}");
}

#[test]
fn timers_that_packets_do_not_show_have_no_figure() {
    let rto = |ms: u32| {
        format!(
            "[[host]]\nname = \"client\"\nroute = \"rto_min {ms}ms\"\n[[host]]\nname = \"server\"\n{STREAM}"
        )
    };
    let value = |text: &str, name| value_of(text, &outcome(), name);
    let why = value(&rto(50), "client.retransmissions.rto").unwrap_err();
    assert!(why.contains("client.TcpExtTCPTimeouts"), "{why}");
    assert!(value(&rto(50), "client.retransmissions.total").is_ok());
    assert!(value(&rto(200), "client.retransmissions.rto").is_ok());
    let delack =
        |ms: u32| format!("{TWO_HOSTS}{STREAM}client_socket = {{ delack_max = \"{ms}ms\" }}\n");
    assert!(value(&delack(10), "client.acks.delayed").is_err());
    assert!(value(&delack(10), "client.acks.total").is_ok());
    assert!(value(&delack(40), "client.acks.delayed").is_ok());
}

#[test]
fn a_router_says_that_its_packets_are_not_its_own() {
    let text = "[[host]]\nname = \"a\"\n[[host]]\nname = \"mid\"\nforward = true\n[[host]]\nname = \"b\"\n[[link]]\nbetween = [\"a\", \"mid\"]\n[[link]]\nbetween = [\"mid\", \"b\"]\n[[app]]\nkind = \"bulk\"\nclient = \"a\"\nserver = \"b\"\n";
    let point = Experiment::parse("x.toml", text)
        .unwrap()
        .points()
        .unwrap()
        .remove(0);
    let packets = ["a", "mid"].map(|name| (name.to_owned(), Vec::new()));
    let sources = Sources {
        point: &point,
        outcome: &Outcome::default(),
        packets: &packets.into(),
    };
    let why = |name: &str| sources.named(name).unwrap().unwrap_err();
    assert_eq!(why("a.packets"), "the capture has no TCP connection");
    assert_eq!(
        why("mid.packets"),
        "this counts what the host sends itself, and it has no TCP connection: measure a host at an end, or a link's `frames`"
    );
}
