//! Seeds of [`crate::experiment`], [`crate::expression`] and [`crate::distribution`].

/// The shipped examples, and a file with what they leave out.
pub fn experiments() -> Vec<Vec<u8>> {
    const REST: &str = r#"[run]
seed = 7
repeat = 2
max = "200s"
tcp_info_every = "1s"
snap = 0
[[host]]
name = "a"
sysctl = { "net.ipv4.tcp_rmem" = "4096 131072 6291456", "net.ipv4.tcp_sack" = { axis = [0, 1] } }
route = "quickack 1 initcwnd 20 rto_min 5ms congctl bbr"
socket = { quickack = "each 1", rcvbuf = "256k", keepalive = "2s" }
[[host]]
name = "b"
[[link]]
between = ["a", "b"]
rate = "10mbit"
a_to_b = { drop = ["data 20", "data 30-35"], late = ["data 3 by 5ms"] }
b_to_a = "netem delay 25ms 1ms loss random 0.1% limit 100"
[[app]]
kind = "web"
client = "a"
server = "b"
sizes = ["10k", 500]
think = "2s"
[[app]]
kind = "udp-rr"
client = "b"
server = "a"
[[variant]]
name = "far"
set = { "link.a-b.delay" = "50ms", "app.web.connections" = 3 }
"#;
    let names = [
        "delayed-ack.toml",
        "delayed-ack-echo.toml",
        "write-write-read.toml",
    ];
    let examples = names
        .iter()
        .filter_map(|name| tcplab_examples::example(name));
    let texts = examples.chain([REST]);
    texts.map(|text| text.as_bytes().to_vec()).collect()
}

/// Each part of the grammar.
pub fn expressions() -> Vec<Vec<u8>> {
    let texts = [
        "client.TcpExtDelayedACKs > 0",
        "not (present(a.b) and a.b - 1 / c <= 2.5e3) or -d == e * 3",
        "a && !b != 1 || c-d >= 1",
    ];
    texts.map(|text| text.as_bytes().to_vec()).into()
}

/// Each form of a distribution.
pub fn distributions() -> Vec<Vec<u8>> {
    let texts = [
        "lognormal(median 80ms, sigma 0.668) clip 5ms..1500ms",
        "(60% lognormal(median 2.5kB, sigma 0.9) | else pareto(minimum 1kB, alpha 1.1)) clip 100B..3MB",
        "exponential(mean 2ms + 3% rtt) + uniform(1ms..2ms)",
        "50% uniform(0.5 bdp..4 bdp) | 50% uniform(100ms..250ms) clip 15kB..",
        "10% 1% | 2% uniform(5%..10%) | else 0%",
        "geometric(mean 3) clip ..12",
        "table(0% 1ms, 50% 12ms, 100% 1s)",
        "100% ((1 clip 2..) clip ..3) + 4",
    ];
    texts.map(|text| text.as_bytes().to_vec()).into()
}
