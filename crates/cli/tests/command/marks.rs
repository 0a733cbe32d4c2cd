//! Marks (IP_TOS) and pings: which DS field each packet has, on the model and on kernels.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use serde_json::Value;
use tcplab_capture::{Body, Reader};

use crate::{folder, tcplab, text};

const EXPERIMENT: &str = r#"
measures = ["u.completed", "u.lost", "i.completed", "i.lost"]
[run]
boot = "5s"
[[link]]
delay = "10ms"
a_to_b = { rate = "10mbit", drop = ["data 5"] }
b_to_a = { rate = "10mbit" }
[[app]]
kind = "bulk"
name = "up"
bytes = "40k"
client_socket = { tos = "EF" }
server_socket = { tos = "AF41" }
[[app]]
kind = "bulk"
name = "down"
bytes = "40k"
reverse = true
start = "1s"
client_socket = { tos = 3 }
server_socket = { tos = "CS5" }
[[app]]
kind = "stream"
name = "late"
chunk = "100k"
start = "2s"
count = 2
every = "400ms"
client_timeout = "200ms"
client_socket = { tos = "AF21" }
server_socket = { tos = "BK" }
[[app]]
kind = "udp-ping"
name = "u"
duration = "1s"
start = "4s"
client_socket = { tos = "VA" }
server_socket = { tos = "LE" }
[[app]]
kind = "ping"
name = "i"
duration = "1s"
start = "4s"
client_socket = { tos = "0xbb" }
"#;

/// The client's ports of the three connections are told by these ports of the server.
const UP: u16 = 5001;
const DOWN: u16 = 5002;
const LATE: u16 = 5003;

const RST: u8 = 0x04;

/// Runs it; the point's result.
fn run(stack: &str, place: &Path) -> Value {
    let file = place.join("marks.toml");
    std::fs::write(&file, EXPERIMENT).unwrap();
    let out = place.join(stack.replace(':', "-"));
    let args = ["run", text(&file), "--on", stack, "--json", "--out"];
    let run = tcplab(&[&args[..], &[text(&out)]].concat());
    if run.code == 4 {
        return Value::Null;
    }
    assert_eq!(run.code, 0, "{}\n{}", run.err, run.out);
    run.json()["points"][0].clone()
}

/// A frame of the client's capture.
#[derive(Debug, PartialEq)]
struct Frame {
    at_ns: i64,
    len: u32,
    ip: Vec<u8>,
}

impl Frame {
    fn tos(&self) -> u8 {
        self.ip[1]
    }

    fn is_from_client(&self) -> bool {
        self.ip[12..16] < self.ip[16..20]
    }

    /// The server's port of a segment, and its flags.
    fn tcp(&self) -> Option<(u16, u8)> {
        let port = |at: usize| u16::from_be_bytes([self.ip[at], self.ip[at + 1]]);
        let server = if self.is_from_client() { 22 } else { 20 };
        (self.ip[9] == 6).then(|| (port(server), self.ip[33]))
    }
}

fn frames(place: &Path, stack: &str) -> Vec<Frame> {
    let folder = place.join(stack.replace(':', "-")).join("points/0000");
    let mut reader = Reader::new(File::open(folder.join("client.eth0.pcapng")).unwrap()).unwrap();
    let mut all = Vec::new();
    let mut first = None;
    while let Some(record) = reader.next().unwrap() {
        let at = record.time.expect("it has a time").as_nanos();
        let Body::Frame { data, orig_len, .. } = record.body else {
            continue;
        };
        all.push(Frame {
            at_ns: at - *first.get_or_insert(at),
            len: orig_len,
            ip: data[14..].to_vec(),
        });
    }
    all
}

/// SYN, SYN-ACK, data, ACKs, retransmissions and FIN have their socket's mark; an echo comes back as it went.
fn marked(stack: &str, place: &Path) {
    let (mut kinds, mut pings) = (BTreeSet::new(), [0; 3]);
    for frame in frames(place, stack) {
        let client = frame.is_from_client();
        let wanted = match (frame.tcp(), frame.ip[9], client) {
            (Some((UP, _)), _, true) => 0xb8,
            (Some((UP, _)), _, false) => 0x88,
            // TCP keeps ECN's bits to itself.
            (Some((DOWN, _)), _, true) => 0,
            (Some((DOWN, _)), _, false) => 0xa0,
            // A closed socket's reset has the mark of what it answers (tcp_v4_send_reset()).
            (Some((LATE, RST)), _, true) => 0x20,
            (Some((LATE, _)), _, true) => 0x48,
            (Some((LATE, _)), _, false) => 0x20,
            (_, 17, true) => 0xb0,
            (_, 17, false) => 0x04,
            (_, 1, _) => 0xbb,
            other => panic!("{stack}: {other:?}"),
        };
        assert_eq!(frame.tos(), wanted, "{stack}: {frame:?}");
        match frame.tcp() {
            Some((_, flags)) => drop(kinds.insert((client, flags & 0x17))),
            None if frame.ip[9] == 17 => pings[0] += 1,
            None => pings[if frame.ip[20] == 8 { 1 } else { 2 }] += 1,
        }
    }
    for kind in [
        (true, 0x02),
        (false, 0x12),
        (true, 0x10),
        (true, 0x11),
        (false, 0x11),
        (true, 0x04),
    ] {
        assert!(
            kinds.contains(&kind),
            "{stack} has no {kind:?} in {kinds:?}"
        );
    }
    assert_eq!(pings, [10, 5, 5], "{stack}");
}

/// Each ping takes the way there and back; none is lost.
fn pinged(point: &Value) {
    let measure = |name: &str| point["measures"][name].as_f64();
    for app in ["u", "i"] {
        assert_eq!(measure(&format!("{app}.completed")), Some(5.0), "{point}");
        assert_eq!(measure(&format!("{app}.lost")), Some(0.0), "{point}");
    }
}

#[test]
fn each_packet_of_the_model_has_its_socket_s_mark() {
    let place = folder();
    pinged(&run("model", place.path()));
    marked("model", place.path());
}

/// Real time, so only what no delay of the machine can change; where no namespace can be made there is nothing to test.
#[test]
fn pings_work_on_this_machine_s_kernel() {
    let place = folder();
    let point = run("host", place.path());
    if point.is_null() {
        eprintln!("skipped, no namespaces or TAP devices here");
        return;
    }
    pinged(&point);
}

#[test]
#[ignore = "needs a kernel: tcplab kernel build 6.1"]
fn the_model_s_packets_are_those_of_a_kernel() {
    let place = folder();
    let [model, kernel] = ["model", "uml:6.1"].map(|stack| {
        pinged(&run(stack, place.path()));
        marked(stack, place.path());
        let of = |f: Frame| (f.at_ns, f.len, f.tos(), f.ip[6], f.ip[9], f.tcp());
        frames(place.path(), stack).into_iter().map(of)
    });
    // Timers of connections that nobody holds may be some ns apart.
    for (model, kernel) in model.zip(kernel) {
        assert!((model.0 - kernel.0).abs() < 1_000, "{model:?} {kernel:?}");
        assert_eq!(
            (model.1, model.2, model.3, model.4, model.5),
            (kernel.1, kernel.2, kernel.3, kernel.4, kernel.5)
        );
    }
}
