//! Packets of a real kernel, pinned: relative times, sequence numbers and time stamps, ports by role.
//!
//! Digests hold for one build of tcplab only; these lines hold for every build, as long as Linux 6.1
//! behaves so. `TCPLAB_WRITE_DOCS=1` writes the file anew.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;

use tcplab_capture::{Body, Reader};
use tcplab_wire::{Config, Parsed, TcpFlags, TcpPacket, parse_frame};

use super::{folder, root, tcplab, text};

const EXPERIMENT: &str = "[[app]]\nkind = \"stream\"\nchunk = \"1 kB\"\nevery = \"100ms\"\ncount = 20\n\
                          server_socket = { nodelay = true }\n";

/// Both sides' origins: sequence number and time stamp of their first packets.
#[derive(Default)]
struct Origin {
    seq: Option<u32>,
    tsval: Option<u32>,
}

/// One line for each packet: time in tenths of a millisecond, role, flags, sequence, ACK, length, TSval.
fn normalised(capture: &Path) -> String {
    let mut reader = Reader::new(File::open(capture).unwrap()).unwrap();
    let mut origins = [Origin::default(), Origin::default()];
    let mut begun = None;
    let mut out = String::new();
    while let Some(record) = reader.next().unwrap() {
        let Body::Frame {
            link,
            data,
            orig_len,
        } = record.body
        else {
            continue;
        };
        let Parsed::Tcp(packet) = parse_frame(link, data, orig_len, &Config::default()) else {
            continue;
        };
        let time = record.time.unwrap();
        let tenths = time.since(*begun.get_or_insert(time)).as_micros() / 100;
        line(&mut out, tenths, &packet, &mut origins);
    }
    out
}

fn line(out: &mut String, tenths: i64, p: &TcpPacket, origins: &mut [Origin; 2]) {
    let role = usize::from(p.src.port == 5001);
    let seq = p.seq.0;
    let own = &mut origins[role];
    let relative = seq.wrapping_sub(*own.seq.get_or_insert(seq));
    let tsval = p.options.timestamps.map_or(0, |(value, _)| value);
    let stamp = tsval.wrapping_sub(*own.tsval.get_or_insert(tsval));
    let ack = match (p.flags.has(TcpFlags::ACK), origins[1 - role].seq) {
        (true, Some(first)) => p.ack.0.wrapping_sub(first).to_string(),
        _ => "-".into(),
    };
    let flags: String = [
        (TcpFlags::SYN, 'S'),
        (TcpFlags::FIN, 'F'),
        (TcpFlags::RST, 'R'),
        (TcpFlags::PSH, 'P'),
        (TcpFlags::ACK, '.'),
    ]
    .iter()
    .filter(|(bit, _)| p.flags.has(*bit))
    .map(|(_, letter)| *letter)
    .collect();
    let name = ["client", "server"][role];
    let (whole, rest) = (tenths / 10, tenths % 10);
    let length = p.payload_len;
    writeln!(
        out,
        "{whole}.{rest} ms {name} {flags} seq {relative} ack {ack} len {length} ts {stamp}"
    )
    .unwrap();
}

#[test]
#[ignore = "needs uml:6.1+mss-boundary: tcplab kernel build 6.1 --edit mss-boundary"]
fn the_stream_on_a_kernel_without_the_mss_boundary_commit() {
    let place = folder();
    let experiment = place.path().join("stream.toml");
    fs::write(&experiment, EXPERIMENT).unwrap();
    let out = place.path().join("out");
    let done = tcplab(&[
        "run",
        text(&experiment),
        "--on",
        "uml:6.1+mss-boundary",
        "--out",
        text(&out),
    ]);
    assert_eq!(done.code, 0, "{}", done.err);
    let seen = normalised(&out.join("points/0000/client.eth0.pcapng"));
    let golden = root().join("tests/golden/stream-mss-boundary.txt");
    if std::env::var_os("TCPLAB_WRITE_DOCS").is_some() {
        fs::write(&golden, &seen).unwrap();
    }
    let expected = fs::read_to_string(&golden).unwrap();
    for (n, (seen, expected)) in seen.lines().zip(expected.lines()).enumerate() {
        assert_eq!(seen, expected, "packet {}", n + 1);
    }
    assert_eq!(seen.lines().count(), expected.lines().count());
}
