//! What the writers write is read again, by us and by Wireshark's programs.

mod common;

use common::{connection, endpoint, file, installed, output, text};
use proptest::prelude::*;
use tcplab_base::Instant;
use tcplab_capture::{Body, Interface, PcapWriter, PcapngWriter, Reader};
use tcplab_wire::LinkType;
use tcplab_wire::emit::{Payload, emit};

fn ethernet() -> Interface {
    Interface {
        link: LinkType::Ethernet,
        snaplen: 0,
        tsresol: 9,
        name: Some("lab0".into()),
    }
}

/// Time, interface, bytes, length on the wire.
type Row = (Option<i64>, u32, Vec<u8>, u32);

fn rows(bytes: &[u8]) -> Vec<Row> {
    let mut reader = Reader::new(bytes).expect("written here");
    let mut rows = Vec::new();
    while let Some(record) = reader.next().expect("written here") {
        let Body::Frame { data, orig_len, .. } = record.body else {
            panic!("only frames were written");
        };
        rows.push((
            record.time.map(Instant::as_nanos),
            record.interface,
            data.to_vec(),
            orig_len,
        ));
    }
    rows
}

prop_compose! {
    fn frame()(data in prop::collection::vec(any::<u8>(), 0..300), more in 0_u32..2_000,
               time in 0_i64..4_000_000_000_000_000_000, interface in 0_u32..3, comments in 0_usize..3) -> (Row, usize) {
        let len = data.len() as u32 + more;
        ((Some(time), interface, data, len), comments)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..Default::default() })]

    #[test]
    fn pcapng_round_trip(frames in prop::collection::vec(frame(), 0..20)) {
        let mut writer = PcapngWriter::new(Vec::new()).expect("memory");
        for link in [LinkType::Ethernet, LinkType::Raw, LinkType::Sll2] {
            writer.add_interface(&Interface { link, ..ethernet() }).expect("memory");
        }
        for ((time, interface, data, len), comments) in &frames {
            let time = time.map(Instant::from_nanos);
            let comments = vec!["tcplab: ein Wort über ACKs"; *comments];
            writer.packet(*interface, time, data, *len, &comments).expect("memory");
        }
        let bytes = writer.finish().expect("memory");
        let want: Vec<Row> = frames.into_iter().map(|f| f.0).collect();
        prop_assert_eq!(rows(&bytes), want);
    }

    #[test]
    fn pcap_round_trip(frames in prop::collection::vec(frame(), 0..20)) {
        let mut writer = PcapWriter::new(Vec::new(), LinkType::Ethernet, 65_535).expect("memory");
        for ((time, _, data, len), _) in &frames {
            writer.packet(time.map(Instant::from_nanos), data, *len).expect("memory");
        }
        let bytes = writer.finish().expect("memory");
        let want: Vec<Row> = frames.into_iter().map(|f| (f.0.0, 0, f.0.2, f.0.3)).collect();
        prop_assert_eq!(rows(&bytes), want);
    }
}

#[test]
fn packets_without_time_or_outside_its_range() {
    let times = [None, Some(5), None, Some(-7), Some(i64::MAX)]
        .map(|t: Option<i64>| t.map(Instant::from_nanos));
    let mut pcapng = PcapngWriter::new(Vec::new()).expect("memory");
    pcapng.add_interface(&ethernet()).expect("memory");
    let mut pcap = PcapWriter::new(Vec::new(), LinkType::Ethernet, 65_535).expect("memory");
    for time in times {
        pcapng.packet(0, time, b"frame", 5, &[]).expect("memory");
        pcap.packet(time, b"frame", 5).expect("memory");
    }
    let times = |bytes: Vec<u8>| rows(&bytes).into_iter().map(|r| r.0).collect::<Vec<_>>();
    let got = times(pcapng.finish().expect("memory"));
    assert_eq!(got, [0, 5, 5, 0, i64::MAX].map(Some));
    let got = times(pcap.finish().expect("memory"));
    assert_eq!(got[..4], [0, 5, 5, 0].map(Some));
    // The last second of the format, in 2106.
    assert_eq!(
        got[4],
        Some(4_294_967_295 * 1_000_000_000 + i64::MAX % 1_000_000_000)
    );
}

#[test]
fn an_interface_must_be_added_first() {
    let mut writer = PcapngWriter::new(Vec::new()).expect("memory");
    let refused = writer.packet(0, None, b"frame", 5, &[]);
    assert_eq!(
        refused.map_err(|e| e.kind()),
        Err(std::io::ErrorKind::InvalidInput)
    );
}

#[test]
fn long_comment_is_cut_at_a_character() {
    let long = "ü".repeat(40_000);
    let mut writer = PcapngWriter::new(Vec::new()).expect("memory");
    writer.add_interface(&ethernet()).expect("memory");
    writer
        .packet(0, None, b"frame", 5, &[&long, "short"])
        .expect("memory");
    let bytes = writer.finish().expect("memory");
    assert_eq!(rows(&bytes).len(), 1);
    let value = bytes.windows(2).filter(|w| *w == "ü".as_bytes()).count();
    assert_eq!(value, 32_767);
}

#[test]
fn wireshark_opens_the_files_and_filters_the_comments() {
    if !installed("tshark") || !installed("capinfos") {
        return;
    }
    let packets = connection(endpoint("192.0.2.1", 40_000), endpoint("198.51.100.2", 80));
    let mut pcapng = PcapngWriter::new(Vec::new()).expect("memory");
    pcapng.add_interface(&ethernet()).expect("memory");
    let mut pcap = PcapWriter::new(Vec::new(), LinkType::Ethernet, 262_144).expect("memory");
    for (i, p) in packets.iter().enumerate() {
        let mut frame = Vec::new();
        let len = emit(
            LinkType::Ethernet,
            p,
            Payload::Len,
            &Default::default(),
            &mut frame,
        )
        .expect("plain");
        let time = Some(Instant::from_nanos(1_700_000_000_123_456_789 + i as i64));
        let comments: &[&str] = match i {
            3 => &["tcplab delayed_ack: 40 ms", "tcplab note"],
            5 => &["tcplab retransmission"],
            _ => &[],
        };
        pcapng
            .packet(0, time, &frame, len, comments)
            .expect("memory");
        pcap.packet(time, &frame, len).expect("memory");
    }
    let pcapng = file("written.pcapng", &pcapng.finish().expect("memory"));
    let pcap = file("written.pcap", &pcap.finish().expect("memory"));
    let count = packets.len().to_string();
    for (path, kind) in [(&pcapng, "pcapng"), (&pcap, "nsecpcap")] {
        let info = output("capinfos", &["-t", "-c", "-T", "-r", text(path)]);
        assert!(info.contains(&count) && info.contains(kind), "{info}");
        let args = [
            "-n",
            "-r",
            text(path),
            "-T",
            "fields",
            "-e",
            "frame.time_epoch",
            "-e",
            "tcp.len",
            "-e",
            "tcp.checksum.status",
        ];
        let fields = output(
            "tshark",
            &[&args[..], &["-o", "tcp.check_checksum:true"]].concat(),
        );
        let first = fields.lines().next().unwrap_or_default();
        assert!(first.starts_with("1700000000.123456789\t0\t1"), "{first}");
        assert_eq!(fields.lines().count(), packets.len());
    }
    let filter = |f: &str| {
        output(
            "tshark",
            &[
                "-n",
                "-r",
                text(&pcapng),
                "-Y",
                f,
                "-T",
                "fields",
                "-e",
                "frame.number",
            ],
        )
    };
    assert_eq!(
        filter("frame.comment contains \"tcplab delayed_ack\"").trim(),
        "4"
    );
    assert_eq!(filter("frame.comment contains \"tcplab note\"").trim(), "4");
    assert_eq!(filter("frame.comment"), "4\n6\n");
}
