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
