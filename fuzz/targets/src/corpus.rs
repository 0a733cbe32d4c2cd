//! The inputs that fuzzing begins with: small files of every kind that the readers know, made here,
//! and the captures that ship with the project.

mod drill;
mod endpoint;
mod metrics;
mod packets;
mod plans;
mod qdisc;

use std::io::Write;
use std::path::{Path, PathBuf};

pub use drill::drill;
pub use endpoint::endpoint;
pub use metrics::metrics;
use packets::ethernet_frames;
pub use packets::frames;
pub use plans::{distributions, experiments, expressions};
pub use qdisc::qdisc;

/// Seeds have at most this many bytes: the mutator reaches the end of a short input more often.
const SEED_BYTES: usize = 6_000;

/// The captures in `tests/captures`, sorted by name.
pub fn shipped() -> Vec<(PathBuf, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    let Ok(folder) = std::fs::read_dir(root.join("tests/captures")) else {
        return files;
    };
    for entry in folder.flatten() {
        let path = entry.path();
        let is_capture = path.extension().is_some_and(|e| {
            ["pcap", "pcapng", "cap", "gz", "zst", "txt"]
                .iter()
                .any(|known| e == *known)
        });
        if is_capture && let Ok(bytes) = std::fs::read(&path) {
            files.push((path, bytes));
        }
    }
    files.sort();
    files
}

fn prefixed(choice: u8, rest: &[u8]) -> Vec<u8> {
    [&[choice], rest].concat()
}

fn cut(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(SEED_BYTES)]
}

/// Manifests of every construct.
pub fn manifests() -> Vec<Vec<u8>> {
    let trees = crate::manifest::trees();
    trees
        .iter()
        .map(|tree| tree.to_string().into_bytes())
        .collect()
}

/// Packs with gzip.
pub fn gzip(data: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(data)
        .and_then(|()| out.finish())
        .unwrap_or_default()
}

/// Packs with zstd.
pub fn zstd(data: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(data, 1).unwrap_or_default()
}

/// Whether `data` begins as gzip or zstd does.
pub fn is_packed(data: &[u8]) -> bool {
    data.starts_with(&[0x1f, 0x8b]) || data.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
}

/// Numbers in the byte order of a file.
#[derive(Clone, Copy)]
struct Order {
    big: bool,
}

impl Order {
    fn u32(self, n: u32) -> [u8; 4] {
        if self.big {
            n.to_be_bytes()
        } else {
            n.to_le_bytes()
        }
    }

    fn u16(self, n: u16) -> [u8; 2] {
        if self.big {
            n.to_be_bytes()
        } else {
            n.to_le_bytes()
        }
    }
}

/// Classic pcap without its magic number; `modified` adds the 8 bytes of the patched format to each record.
fn pcap_body(order: Order, modified: bool) -> Vec<u8> {
    let mut out = [order.u16(2), order.u16(4)].concat();
    for n in [0, 0, 65535, 1] {
        out.extend(order.u32(n));
    }
    for (i, frame) in ethernet_frames().iter().enumerate() {
        let length = frame.len() as u32;
        for n in [1_700_000_000, 1000 * i as u32, length, length] {
            out.extend(order.u32(n));
        }
        if modified {
            out.extend([0; 8]);
        }
        out.extend(frame);
    }
    out
}

/// Seeds of [`crate::pcap`].
pub fn pcap() -> Vec<Vec<u8>> {
    let mut out: Vec<_> = (0..6)
        .map(|choice| {
            prefixed(
                choice,
                &pcap_body(
                    Order {
                        big: choice % 2 == 1,
                    },
                    choice >= 4,
                ),
            )
        })
        .collect();
    for (_, bytes) in shipped() {
        out.push(prefixed(6, cut(&bytes)));
    }
    out
}

/// One whole file of each format, the same five packets in each.
pub fn files() -> Vec<Vec<u8>> {
    let mut out: Vec<_> = pcap()
        .iter()
        .filter_map(|seed| crate::readers::pcap_file(seed))
        .take(6)
        .collect();
    out.extend(
        pcapng()
            .iter()
            .filter_map(|seed| crate::readers::pcapng_file(seed))
            .take(2),
    );
    out.push(gzip(&pcap_file()));
    out.push(zstd(&pcap_file()));
    out
}

/// A plain little-endian pcap file.
fn pcap_file() -> Vec<u8> {
    [
        &[0xd4, 0xc3, 0xb2, 0xa1],
        &pcap_body(Order { big: false }, false)[..],
    ]
    .concat()
}

fn block(order: Order, kind: u32, body: &[u8]) -> Vec<u8> {
    let mut body = body.to_vec();
    body.resize(body.len().next_multiple_of(4), 0);
    let length = order.u32(body.len() as u32 + 12);
    [&order.u32(kind), &length, &body[..], &length].concat()
}

fn option(order: Order, code: u16, value: &[u8]) -> Vec<u8> {
    let mut out = [order.u16(code), order.u16(value.len() as u16)].concat();
    out.extend(value);
    out.resize(out.len().next_multiple_of(4), 0);
    out
}

/// A section of pcapng after the section header's first 12 bytes: two interfaces, every kind of block.
fn pcapng_body(order: Order) -> Vec<u8> {
    let mut out = [order.u16(1), order.u16(0)].concat();
    out.extend([0xff; 8]);
    out.extend(order.u32(28));
    let end = option(order, 0, &[]);
    for resolution in [&[9u8][..], &[0x94]] {
        let mut body = [order.u16(1), order.u16(0)].concat();
        body.extend(order.u32(0));
        body.extend(option(order, 9, resolution));
        body.extend(option(order, 14, &[0; 8]));
        body.extend(&end);
        out.extend(block(order, 1, &body));
    }
    for (i, frame) in ethernet_frames().iter().enumerate() {
        let i = i as u32;
        let length = frame.len() as u32;
        let mut body = Vec::new();
        let kind = match i {
            0..=2 => {
                for n in [i % 2, 0x5f5e1, 1000 * i, length, length] {
                    body.extend(order.u32(n));
                }
                6
            }
            3 => {
                body.extend(order.u32(length));
                3
            }
            _ => {
                body.extend([order.u16(0), order.u16(0)].concat());
                for n in [0x5f5e1, 1000 * i, length, length] {
                    body.extend(order.u32(n));
                }
                2
            }
        };
        body.extend(frame);
        body.resize(body.len().next_multiple_of(4), 0);
        if kind != 3 {
            body.extend(option(order, 1, b"a comment"));
            body.extend(&end);
        }
        out.extend(block(order, kind, &body));
    }
    // Names, statistics, a block that nobody knows.
    out.extend(block(
        order,
        4,
        &[0, 1, 0, 8, 192, 0, 2, 1, b'a', b'.', b'b', 0, 0, 0, 0, 0],
    ));
    out.extend(block(order, 5, &[0; 12]));
    out.extend(block(order, 0x0bad, &[1, 2, 3, 4]));
    out
}

/// Seeds of [`crate::pcapng`].
pub fn pcapng() -> Vec<Vec<u8>> {
    let little = pcapng_body(Order { big: false });
    let big = pcapng_body(Order { big: true });
    let mut out = vec![prefixed(0, &little), prefixed(1, &big)];
    // Two sections, the second in the other byte order.
    let mut two = little;
    two.extend([0x0a, 0x0d, 0x0d, 0x0a, 0, 0, 0, 28, 0x1a, 0x2b, 0x3c, 0x4d]);
    two.extend(&big);
    out.push(prefixed(0, &two));
    for (_, bytes) in shipped() {
        out.push(prefixed(2, cut(&bytes)));
    }
    out
}

/// Seeds of [`crate::text`]: the forms of tcpdump's lines.
pub fn text() -> Vec<Vec<u8>> {
    const PACKETS: [&str; 6] = [
        "IP 192.0.2.1.40000 > 192.0.2.2.80: Flags [S], seq 100, win 64240, options [mss 1460,sackOK,TS val 1 ecr 0,nop,wscale 7], length 0",
        "IP 192.0.2.2.80 > 192.0.2.1.40000: Flags [S.], seq 500, ack 101, win 65160, options [mss 1460,sackOK,TS val 7 ecr 1,nop,wscale 7], length 0",
        "IP 192.0.2.1.40000 > 192.0.2.2.80: Flags [P.], seq 1:1025, ack 1, win 502, options [nop,nop,TS val 9 ecr 7], length 1024: HTTP",
        "IP 192.0.2.2.80 > 192.0.2.1.40000: Flags [.], ack 1, win 501, options [nop,nop,sack 2 {2049:3073}{4097:5121}], length 0",
        "IP6 2001:db8::1.40000 > 2001:db8::2.80: Flags [F.], seq 1025, ack 1, win 502, length 0",
        "ARP, Request who-has 192.0.2.1 tell 192.0.2.2, length 28",
    ];
    const STARTS: [&str; 6] = [
        "",
        "12:34:56.789012 ",
        "2026-11-21 12:34:56.789012 ",
        "1700000000.123456 ",
        " 00:00:00.040123 ",
        "0.000000 0.000000 ",
    ];
    let mut out: Vec<Vec<u8>> = STARTS
        .iter()
        .map(|start| {
            PACKETS
                .iter()
                .map(|packet| format!("{start}{packet}\n"))
                .collect::<String>()
                .into_bytes()
        })
        .collect();
    // With -v the IP header has a line of its own.
    let verbose = PACKETS.iter().map(|packet| match packet.strip_prefix("IP ") {
        Some(rest) => format!(
            "12:34:56.789012 IP (tos 0x2,ECT(0), ttl 64, id 7, offset 0, flags [DF], proto TCP (6), length 60)\n    {rest}\n"
        ),
        None => format!("12:34:56.789012 {packet}\n"),
    });
    out.push(verbose.collect::<String>().into_bytes());
    out.push(
        b"tcpdump: listening on eth0, link-type EN10MB (Ethernet)\n0 packets captured\n".to_vec(),
    );
    out
}

/// Seeds of [`crate::packed`].
pub fn packed() -> Vec<Vec<u8>> {
    let plain = pcap_file();
    vec![
        prefixed(0, &gzip(&plain)),
        prefixed(0, &zstd(&plain)),
        prefixed(1, &plain),
        prefixed(2, &plain),
    ]
}

/// Seeds of [`crate::analyser`]: random programs of several lengths, and one that repeats a calm packet.
pub fn analyser() -> Vec<Vec<u8>> {
    let mut random = crate::mutate::Random::new(1);
    let mut out: Vec<Vec<u8>> = [30, 200, 1000, 3000]
        .iter()
        .map(|n| (0..*n).map(|_| random.draw() as u8).collect())
        .collect();
    let calm = [0, 0x10, 0, 0, 100, 10, 0, 0, 0, 0];
    out.push(calm.iter().copied().cycle().take(2000).collect());
    out
}

/// Seeds of [`crate::whole`]: files.
pub fn whole() -> Vec<Vec<u8>> {
    let mut out = vec![pcap_file()];
    out.extend(text());
    out.extend(shipped().iter().map(|(_, bytes)| cut(bytes).to_vec()));
    out
}
