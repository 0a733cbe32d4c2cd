//! `tcplab run` on networks that are not plain: IPv6, narrow links, links that change, options of sockets.

use serde_json::Value;
use tcplab_wire::TcpPacket;

use super::{folder, point, tcp_packets, tcplab, text};

const PLAIN: &str = r#"
measures = ["client.retransmissions.total", "f.server_read_bytes", "client.rtt_us.p95"]
host = [{ name = "client" }, { name = "server" }]
[[link]]
between = ["client", "server"]
rate = "20mbit"
delay = "10ms"
[[app]]
kind = "bulk"
name = "f"
bytes = "200k"
"#;

const NARROW: &str = r#"
measures = ["a.retransmissions.total", "f.server_read_bytes"]
host = [{ name = "a" }, { name = "r1", forward = true }, { name = "r2", forward = true }, { name = "b" }]
link = [
    { between = ["a", "r1"], delay = "1ms" },
    { between = ["r1", "r2"], mtu = 1400, delay = "5ms" },
    { between = ["r2", "b"], delay = "1ms" },
]
[[app]]
kind = "bulk"
name = "f"
client = "a"
server = "b"
bytes = "100k"
connections = 2
stagger = "1s"
"#;

/// The TCP packets of a capture of the point that `point` ran on the model.
fn packets(place: &std::path::Path, file: &str) -> Vec<TcpPacket> {
    tcp_packets(&place.join("model/points/0000").join(file))
}

/// The error of a file that is refused.
fn refused(file_text: &str) -> String {
    let place = folder();
    let file = place.path().join("t.toml");
    std::fs::write(&file, file_text).unwrap();
    let run = tcplab(&["run", text(&file)]);
    assert!([2, 4].contains(&run.code), "{} {}", run.code, run.err);
    let words = format!("{} {}", run.out, run.err);
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn over_ipv6_segments_are_twenty_bytes_shorter() {
    let place = folder();
    let file = format!("run.ip = \"ipv6\"\n{PLAIN}");
    let one = point(&file, "model", place.path());
    assert_eq!(one["measures"]["f.server_read_bytes"], 204_800.0);
    let all = packets(place.path(), "client.eth0.pcapng");
    let (syn, data) = (&all[0], all.iter().find(|p| p.payload_len > 0).unwrap());
    assert_eq!(syn.src.ip.to_string(), "fd77::1");
    assert_eq!((syn.options.mss, syn.ip_id), (Some(1440), None));
    assert_eq!(data.payload_len, 1428);
    // The analyser's figures find their host, and counters of datagrams have IPv6's names.
    assert_eq!(one["measures"]["client.retransmissions.total"], 0.0);
    assert_eq!(one["counters"]["client"]["Udp6OutDatagrams"], 0);
    let narrow = file.replace("delay = ", "mtu = 1000\ndelay = ");
    let said = refused(&narrow);
    assert!(
        said.contains("1000 is too small: IPv6 needs links with an MTU of at least 1280 bytes"),
        "{said}"
    );
}

#[test]
fn a_router_tells_of_a_narrow_link_once() {
    for (ip, counter, least) in [
        ("ipv4", "IcmpOutDestUnreachs", 40),
        ("ipv6", "Icmp6OutPktTooBigs", 60),
    ] {
        let place = folder();
        let one = point(
            &format!("run.ip = \"{ip}\"\n{NARROW}"),
            "model",
            place.path(),
        );
        assert_eq!(one["measures"]["f.server_read_bytes"], 204_800.0);
        let router = &one["counters"]["r1"];
        // The first window of the first connection; the second one knows.
        assert_eq!(router[counter], 10, "{router}");
        // Each goes again in two pieces.
        assert_eq!(one["measures"]["a.retransmissions.total"], 20.0);
        let all = packets(place.path(), "a.eth0.pcapng");
        let largest = |port: u16| {
            let of = all.iter().filter(|p| p.src.port == port);
            of.map(|p| p.payload_len).max().unwrap()
        };
        let second = all.iter().rev().find(|p| p.payload_len > 0).unwrap();
        assert_eq!(largest(second.src.port), 1_400 - least - 12);
    }
    let said = refused(&NARROW.replace("mtu = 1400", "mtu = 500"));
    assert!(
        said.contains("link r1-r2") && said.contains("552 bytes"),
        "{said}"
    );
    let datagrams = PLAIN.replace(
        "kind = \"bulk\"\nname = \"f\"\nbytes = \"200k\"",
        "kind = \"udp-stream\"\nname = \"f\"\nsize = 3000\ncount = 3",
    );
    let datagrams = datagrams.replace("\"client.rtt_us.p95\"", "\"f.server_messages\"");
    let said = refused(&datagrams.replace(", \"f.server_messages\"", ""));
    assert!(said.contains("does not fragment packets"), "{said}");
}

#[test]
fn a_link_changes_at_its_time() {
    let rtt = |change: &str| {
        let place = folder();
        let file = PLAIN.replace("delay = ", &format!("{change}\ndelay = "));
        let one = point(&file, "model", place.path());
        one["measures"]["client.rtt_us.p95"].as_f64().unwrap()
    };
    let plain = rtt("");
    assert!(rtt("change = [\"60ms delay 70ms\"]") > plain + 100_000.0);
    assert_eq!(rtt("change = [\"60s delay 70ms\"]"), plain);
    for (change, why) in [
        ("5s", "write TIME WORDS"),
        ("5s speed 3mbit", "`speed` is not a word of netem"),
        ("5s rate 0bit", "use `outage`"),
        ("5s delay 1ms 3ms", "the jitter is larger than the delay"),
    ] {
        let file = PLAIN.replace("delay = ", &format!("change = [\"{change}\"]\ndelay = "));
        let said = refused(&file);
        assert!(
            said.contains("t.toml:7:") && said.contains(why),
            "{change}: {said}"
        );
    }
    // What a qdisc refuses while it is in use ends the run without an answer, as on kernels.
    let place = folder();
    let file = place.path().join("t.toml");
    let change = "qdisc = \"fq_codel\"\nchange = [\"60ms qdisc fq_codel flows 5\"]\ndelay = ";
    std::fs::write(&file, PLAIN.replace("delay = ", change)).unwrap();
    let run = tcplab(&["run", text(&file)]);
    assert_eq!(run.code, 3, "{}", run.out);
    let said = format!("{} {}", run.out, run.err);
    assert!(said.contains("a link cannot change"), "{said}");
    let twice = PLAIN.replace(
        "delay = ",
        "change = [\"5s loss 1%\", \"5s rate 1mbit\"]\ndelay = ",
    );
    assert!(refused(&twice).contains("is not later than the change before it"));
}

#[test]
fn options_of_sockets_do_what_they_say() {
    let with = |options: &str, what: &dyn Fn(&Value, Vec<TcpPacket>)| {
        let place = folder();
        let one = point(&format!("{PLAIN}{options}\n"), "model", place.path());
        what(&one, packets(place.path(), "client.eth0.pcapng"));
    };
    let goodput = |one: &Value| one["flows"][0]["server"]["closed_ns"].as_i64().unwrap();
    with(
        "client_socket = { max_pacing_rate = \"2mbit\" }",
        &|one, _| {
            // 200 kB at 2 Mbit/s take 0.8 s.
            assert!(goodput(one) > 750_000_000, "{}", goodput(one));
        },
    );
    with("server_socket = { window_clamp = 5000 }", &|_, all| {
        let theirs = all.iter().filter(|p| p.src.port == 5001);
        let scale = all.iter().find(|p| p.src.port == 5001).unwrap();
        let scale = scale.options.window_scale.unwrap_or(0);
        let most = theirs.skip(1).map(|p| u32::from(p.window) << scale).max();
        assert!(most.unwrap() <= 5_000, "{most:?}");
    });
    with("server_socket = { linger = 0 }", &|_, all| {
        use tcplab_wire::TcpFlags;
        let ends = |flag| all.iter().any(|p| p.src.port == 5001 && p.flags.has(flag));
        assert!(ends(TcpFlags::RST) && !ends(TcpFlags::FIN));
    });
}

#[test]
fn a_middle_box_rewrites_and_drops() {
    use tcplab_wire::TcpFlags;
    let with = |rules: &str, what: &dyn Fn(Vec<TcpPacket>, Vec<TcpPacket>)| {
        let place = folder();
        let file = PLAIN.replace("delay = ", &format!("middlebox = {rules}\ndelay = "));
        let one = point(&file, "model", place.path());
        assert_eq!(one["measures"]["f.server_read_bytes"], 204_800.0, "{rules}");
        let seen = |host: &str| packets(place.path(), &format!("{host}.eth0.pcapng"));
        what(seen("client"), seen("server"));
    };
    with(
        r#"["strip-options timestamp,sack-permitted", "set-mss 700"]"#,
        &|sent, came| {
            let (before, after) = (sent[0].options, came[0].options);
            assert!(before.timestamps.is_some() && before.sack_permitted);
            assert_eq!(before.mss, Some(1460));
            assert!(after.timestamps.is_none() && !after.sack_permitted);
            assert_eq!((after.mss, after.window_scale), (Some(700), Some(7)));
            let most = came.iter().map(|p| p.payload_len).max();
            assert_eq!(most, Some(700), "the sender heard the clamped MSS as well");
        },
    );
    with(r#"["ecn-ip-ect 1"]"#, &|sent, came| {
        assert!(
            sent.iter()
                .filter(|p| p.src.port != 5001)
                .all(|p| p.ecn == 0)
        );
        assert!(
            came.iter()
                .filter(|p| p.dst.port == 5001)
                .all(|p| p.ecn == 1)
        );
    });
    // If the SYN does not ask for ECN, there is no ECN, and no second is lost.
    with(r#"["drop-ecn-syn"]"#, &|sent, came| {
        assert_eq!(sent[0].flags, came[0].flags);
        assert!(!sent[0].flags.has(TcpFlags::ECE));
    });
    for (rules, why) in [
        (r#"["strip-options sak"]"#, "`sak` is not an option of TCP"),
        (r#"["strip-options mss,mss"]"#, "`mss` stands twice"),
        (r#"["set-mss 0"]"#, "`0` is not a number from 1 to 65535"),
        (r#"["nat"]"#, "write `strip-options LIST`"),
    ] {
        let said = refused(&PLAIN.replace("delay = ", &format!("middlebox = {rules}\ndelay = ")));
        assert!(said.contains("t.toml:7:") && said.contains(why), "{said}");
    }
}

#[test]
fn forged_segments_reach_the_receiver() {
    use tcplab_wire::TcpFlags;
    let with = |inject: &str| {
        let place = folder();
        let file = PLAIN.replace("delay = ", &format!("inject = [\"{inject}\"]\ndelay = "));
        let one = point(&file, "model", place.path());
        let came = packets(place.path(), "server.eth0.pcapng");
        (one, came)
    };
    let (one, came) = with("60ms rst");
    assert_eq!(one["flows"][0]["server"]["error"], "ECONNRESET");
    assert!(
        came.iter()
            .any(|p| p.dst.port == 5001 && p.flags.0 == TcpFlags::RST)
    );
    // Within the window, but not at its edge: a challenge (RFC 5961 3.2).
    let (one, _) = with("60ms rst seq +1000");
    assert_eq!(one["flows"][0]["server"]["error"], Value::Null);
    assert_eq!(one["counters"]["server"]["TcpExtTCPChallengeACK"], 1);
    for (inject, why) in [
        ("2s", "write TIME and `rst`"),
        ("2s rst seq x", "`x` is not a number"),
        ("2s rst ack +1", "has no acknowledgment number"),
        ("2s data 9999", "`9999` is not a number from 1 to 1200"),
    ] {
        let said =
            refused(&PLAIN.replace("delay = ", &format!("inject = [\"{inject}\"]\ndelay = ")));
        assert!(said.contains("t.toml:7:") && said.contains(why), "{said}");
    }
}

#[test]
fn a_trace_file_says_the_rate() {
    let place = folder();
    let trace = place.path().join("line.up");
    // A full frame each 4 ms: 3.0 Mbit/s.
    std::fs::write(&trace, "4\n").unwrap();
    let file = place.path().join("t.toml");
    let of = |extra: &str| {
        PLAIN.replace(
            "rate = \"20mbit\"",
            &format!("rate_trace = \"line.up\"{extra}"),
        )
    };
    std::fs::write(&file, of("")).unwrap();
    let run = |on: &str| tcplab(&["run", text(&file), "--on", on, "--json"]);
    let ran = run("model");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    let closed = &json["points"][0]["flows"][0]["server"]["closed_ns"];
    // 142 segments, each at its time.
    let ms = closed.as_i64().unwrap() / 1_000_000;
    assert!((560..640).contains(&ms), "{ms}");
    std::fs::write(&file, of("\nchange = [\"1s rate 5mbit\"]")).unwrap();
    assert!(run("model").err.contains("the link has a `rate_trace`"));
    std::fs::write(&file, of("\nrate = \"5mbit\"")).unwrap();
    assert!(run("model").err.contains("contradict each other"));
    std::fs::write(&file, of("")).unwrap();
    std::fs::write(&trace, "4\nfive\n").unwrap();
    let ran = run("model");
    assert_eq!(ran.code, 4, "{}", ran.out);
    let said = format!("{} {}", ran.out, ran.err);
    assert!(
        said.contains("line.up: line 2: is not a whole number"),
        "{said}"
    );
}

#[test]
fn a_sysctl_is_set_during_the_run() {
    let lost = "b_to_a = { drop = [\"data 60-62\"] }\n";
    let with = |change: &str| {
        let place = folder();
        let file = PLAIN.replace("rate = ", &format!("{lost}rate = "));
        let file = file.replace("kind = \"bulk\"", "kind = \"bulk\"\nreverse = true");
        let file = file.replace(
            "{ name = \"client\" }",
            &format!("{{ name = \"client\", change = [\"{change}\"] }}"),
        );
        let file = file.replace("f.server_read_bytes", "f.client_read_bytes");
        let one = point(&file, "model", place.path());
        let all = packets(place.path(), "client.eth0.pcapng");
        (one, all)
    };
    // The socket that is there keeps what it negotiated; the sysctl of DSACK is read when it is sent.
    let (_, all) = with("10s net.ipv4.tcp_sack=0");
    assert!(all.iter().any(|p| !p.options.sack.is_empty()));
    let (_, all) = with("0s net.ipv4.tcp_sack=0");
    assert!(all.iter().all(|p| p.options.sack.is_empty()));
    let said = refused(&PLAIN.replace(
        "{ name = \"client\" }",
        "{ name = \"client\", change = [\"5s net.ipv4.tcp_sack\"] }",
    ));
    assert!(said.contains("write TIME NAME=VALUE"), "{said}");
}

#[test]
fn options_are_set_on_open_sockets() {
    let with = |change: &str| {
        let place = folder();
        let one = point(&format!("{PLAIN}{change}\n"), "model", place.path());
        one["flows"][0]["server"]["closed_ns"].as_i64()
    };
    let plain = with("").unwrap();
    // 200 kB take 120 ms; the second half of them at 1 Mbit/s.
    let paced = with("client_change = [{ at = \"60ms\", max_pacing_rate = \"1mbit\" }]");
    assert!(paced.unwrap() > 2 * plain, "{paced:?}, {plain}");
    assert_eq!(
        with("client_change = [{ at = \"60s\", nodelay = true }]"),
        Some(plain)
    );
    for (change, why) in [
        ("client_change = [{ nodelay = true }]", "`at` is missing"),
        ("client_change = [{ at = \"1s\" }]", "says no option"),
        (
            "server_change = [{ at = \"1s\", maxseg = 500 }]",
            "`maxseg` is told when a connection opens",
        ),
        (
            "server_change = [{ at = \"1s\", nodely = true }]",
            "unknown key `nodely`",
        ),
        (
            "client_change = [{ at = \"1s\", congestion = \"xyz\" }]",
            "no congestion control `xyz`",
        ),
    ] {
        let said = refused(&format!("{PLAIN}{change}\n"));
        assert!(said.contains(why), "{change}: {said}");
    }
}
