//! Experiments whose senders meet losses, timeouts, marks, idle times and reordering.

/// Hosts with Reno; `SEED` and `SYSCTLS` are put in.
const HOSTS: &str = r#"
[run]
seed = SEED
max = "60s"
tcp_info = true
captures = true

[[host]]
name = "client"
sysctl = { "net.ipv4.tcp_congestion_control" = "reno", SYSCTLS }

[[host]]
name = "server"
sysctl = { "net.ipv4.tcp_congestion_control" = "reno", SYSCTLS }
"#;

/// Chance losses: fast recovery, now and then a timeout.
pub const LOSS: (&str, &str) = (
    "\"net.ipv4.tcp_ecn\" = 0",
    r#"
[[link]]
rate = "20mbit"
delay = "10ms"
limit = 40
loss = "1%"

[[app]]
kind = "bulk"
bytes = "600 kB"

[[app]]
kind = "web"
connections = 4
stagger = "30ms"
sizes = ["4 kB", "40 kB"]
think = "50ms"
"#,
);

/// Outages and bursts: timeouts, some of them one after the other.
pub const TIMEOUTS: (&str, &str) = (
    "\"net.ipv4.tcp_ecn\" = 0",
    r#"
[[link]]
rate = "10mbit"
delay = "20ms"
limit = 60
burst_loss = "1% 15%"
outage = ["300ms..900ms", "2s..4500ms"]

[[app]]
kind = "bulk"
bytes = "1 MB"

[[app]]
name = "back"
kind = "bulk"
bytes = "300 kB"
reverse = true
"#,
);

/// Marks of a queue that speaks ECN (RFC 3168).
pub const ECN: (&str, &str) = (
    "\"net.ipv4.tcp_ecn\" = 1",
    r#"
[[link]]
rate = "20mbit"
delay = "15ms"
qdisc = "codel limit 200 target 2ms interval 30ms ecn"
a_to_b = { loss = "0.1%" }

[[app]]
kind = "bulk"
connections = 2
bytes = "1 MB"
"#,
);

/// Pauses longer than a retransmission timeout: the window begins anew (`net.ipv4.tcp_slow_start_after_idle`).
pub const IDLE: (&str, &str) = (
    "\"net.ipv4.tcp_slow_start_after_idle\" = 1",
    r#"
[[link]]
rate = "50mbit"
delay = "20ms"
limit = 50
loss = "0.2%"

[[app]]
kind = "stream"
chunk = "120 kB"
every = "1500ms"
count = 12
"#,
);

/// Frames that come late are taken for lost, and the reduction is taken back.
pub const REORDERING: (&str, &str) = (
    "\"net.ipv4.tcp_ecn\" = 0",
    r#"
[[link]]
rate = "20mbit"
delay = "10ms"
limit = 100
reordering = "0.3% by 25ms"
spikes = "0.4% median 600ms sigma 0.3"

[[app]]
kind = "bulk"
bytes = "1 MB"
"#,
);

/// All of them by name.
pub const ALL: [(&str, (&str, &str)); 5] = [
    ("loss", LOSS),
    ("timeouts", TIMEOUTS),
    ("ecn", ECN),
    ("idle", IDLE),
    ("reordering", REORDERING),
];

/// The text of one with this seed.
pub fn text((sysctls, rest): (&str, &str), seed: u64) -> String {
    let hosts = HOSTS.replace("SYSCTLS", sysctls);
    hosts.replace("SEED", &seed.to_string()) + rest
}
