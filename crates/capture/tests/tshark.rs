//! Frame by frame, what Wireshark's defaults call TCP, which segments have a length, and which. Without tshark, the
//! test still reads the frames.

mod common;
#[path = "common/zoo.rs"]
mod zoo;

use common::{file, installed, output, text};
use tcplab_base::Instant;
use tcplab_capture::{Body, Interface, PcapngWriter, Reader};
use tcplab_wire::{Config, LinkType, NotTcp, Parsed, Reassembler};
use zoo::{Frame, zoo};

/// What is said of a frame: nothing, `tcp` without stream, or a stream with the payload's length where it is known.
fn ours(bytes: &[u8]) -> Vec<String> {
    let mut reader = Reader::new(bytes).expect("written here");
    let mut fragments = Reassembler::default();
    let mut all = Vec::new();
    while let Some(record) = reader.next().expect("written here") {
        let Body::Frame {
            link,
            data,
            orig_len,
        } = record.body
        else {
            panic!("only frames");
        };
        all.push(
            match fragments.parse(link, data, orig_len, &Config::default()) {
                Parsed::Tcp(p) if p.standing.has_length() => format!("stream, {}", p.payload_len),
                Parsed::Tcp(_) => "stream".into(),
                Parsed::NotTcp(NotTcp::TcpStub) => "tcp".into(),
                Parsed::NotTcp(_) => String::new(),
            },
        );
    }
    all
}

/// Frames that we read on purpose and Wireshark 4.0 does not, with the reason.
const KNOWN: [(&str, &str); 3] = [
    (
        "MPLS pseudowire",
        "Wireshark asks for manufacturers of the addresses, ours are made up",
    ),
    ("MPLS alone", "Wireshark has no reader for this link type"),
    (
        "payload length 0",
        "a TSO capture of IPv6; Wireshark reads it with ipv6.tso_support, which is off by default",
    ),
];

/// The frames as a capture.
fn capture(frames: &[Frame]) -> Vec<u8> {
    let mut writer = PcapngWriter::new(Vec::new()).expect("memory");
    let mut links: Vec<u32> = Vec::new();
    for (i, f) in frames.iter().enumerate() {
        let interface = links.iter().position(|l| *l == f.link);
        let interface = interface.unwrap_or_else(|| {
            links.push(f.link);
            let interface = Interface {
                link: LinkType::from_number(f.link),
                snaplen: 0,
                tsresol: 9,
                name: None,
            };
            writer.add_interface(&interface).expect("memory");
            links.len() - 1
        });
        let time = Instant::from_nanos(1_700_000_000_000_000_000 + i as i64);
        writer
            .packet(interface as u32, Some(time), &f.bytes, f.len as u32, &[])
            .expect("memory");
    }
    writer.finish().expect("memory")
}

/// What tshark says, in the same words as [`ours`].
fn theirs(bytes: &[u8]) -> Vec<String> {
    let path = file("zoo.pcapng", bytes);
    // The port is there when the frame is TCP; the stream when the header was; the length when it makes sense.
    let fields = ["tcp.srcport", "tcp.stream", "tcp.len"].map(|f| ["-e", f]);
    let args = [
        "-n",
        "-r",
        text(&path),
        "-T",
        "fields",
        "-E",
        "occurrence=l",
    ];
    let no_reassembly = ["-o", "tcp.desegment_tcp_streams:false"];
    let args = [&args[..], &no_reassembly, &fields.concat()].concat();
    output("tshark", &args)
        .lines()
        .map(|line| match line.split('\t').collect::<Vec<_>>()[..] {
            ["", ..] => String::new(),
            [_, "", _] => "tcp".into(),
            [_, _, ""] => "stream".into(),
            [_, _, len] => format!("stream, {len}"),
            _ => line.to_string(),
        })
        .collect()
}

#[test]
fn frames_are_tcp_when_wireshark_says_so() {
    let frames = zoo();
    let bytes = capture(&frames);
    let ours = ours(&bytes);
    assert_eq!(ours.len(), frames.len());
    let count = |what: &str| ours.iter().filter(|o| o.starts_with(what)).count();
    assert!(count("stream, 100") > 60 && count("tcp") > 20 && ours.iter().any(String::is_empty));
    if !installed("tshark") {
        return;
    }
    let theirs = theirs(&bytes);
    assert_eq!(theirs.len(), frames.len());
    let mut differ = Vec::new();
    for ((frame, ours), theirs) in frames.iter().zip(&ours).zip(&theirs) {
        let known = KNOWN.iter().any(|(name, _)| *name == frame.name);
        assert!(
            !known || theirs != ours,
            "{} agrees now: strike it from the list",
            frame.name
        );
        if theirs != ours && !known {
            differ.push(format!(
                "{}: tshark {theirs:?}, tcplab {ours:?}",
                frame.name
            ));
        }
    }
    assert!(
        differ.is_empty(),
        "{} frames differ:\n{}",
        differ.len(),
        differ.join("\n")
    );
}
