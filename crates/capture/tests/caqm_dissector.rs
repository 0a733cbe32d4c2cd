//! The dissector of extras/wireshark, frame by frame: what tshark shows of CAQM's tags is what we read. Without tshark,
//! the test still makes and reads the frames.

mod common;

use std::path::Path;

use common::{endpoint, file, installed, output, packet, text};
use tcplab_base::Instant;
use tcplab_capture::{Interface, PcapngWriter};
use tcplab_wire::emit::{Payload, emit};
use tcplab_wire::{
    CaqmInfo, CaqmUnits, Config, Encap, LinkType, NotTcp, Parsed, TcpFlags, TcpPacket, parse_frame,
};

/// A frame: captured bytes, and how many the wire had.
struct Frame {
    bytes: Vec<u8>,
    len: usize,
}

impl Frame {
    fn whole(bytes: Vec<u8>) -> Self {
        let len = bytes.len();
        Self { bytes, len }
    }
}

/// Each verdict in data and feedback, every bit of INFO, and types that are not CAQM's.
fn infos() -> Vec<CaqmInfo> {
    let data = CaqmInfo::request(0, 128);
    let mut all = vec![
        data,
        data.refused(),
        data.marked(false),
        data.marked(true),
        CaqmInfo::request(0, 255),
        CaqmInfo::request(2, 1),
        CaqmInfo::request(7, 255).marked(true),
    ];
    all.extend([-255, -1, 0, 1, 255].map(|units| CaqmInfo::feedback(0, units)));
    for byte in 0..=255 {
        all.push(CaqmInfo(u16::from_be_bytes([byte, byte ^ 0x5a])));
    }
    all
}

fn tagged(caqm: Option<CaqmInfo>, vlan_tags: u8, ipv6: bool, config: &Config) -> Vec<u8> {
    let ends = match ipv6 {
        false => [("192.0.2.1", 40_000), ("192.0.2.2", 80)],
        true => [("2001:db8::1", 40_000), ("2001:db8::2", 80)],
    };
    let [from, to] = ends.map(|(ip, port)| endpoint(ip, port));
    let plain = packet(from, to, TcpFlags::ACK, 1, 1, 100);
    let tagged = TcpPacket {
        encap: Encap {
            caqm,
            vlan_tags,
            ..plain.encap
        },
        ..plain
    };
    let mut bytes = Vec::new();
    let body = Payload::Bytes(&[7; 100]);
    emit(LinkType::Ethernet, &tagged, body, config, &mut bytes).expect("can be written");
    bytes
}

/// With these bytes in place of the EtherType.
fn with(frame: &[u8], insert: &[u8], rest: &[u8]) -> Vec<u8> {
    [&frame[..12], insert, rest].concat()
}

fn frames(config: &Config) -> Vec<Frame> {
    let mut all = Vec::new();
    for info in infos() {
        let n = usize::from(info.0 >> 8);
        let bytes = tagged(Some(info), (n % 3) as u8, n % 5 == 0, config);
        all.push(Frame::whole(bytes));
    }
    let plain = tagged(None, 0, false, config);
    let [a, b] = config.caqm_ethertype.to_be_bytes();
    let tag = [a, b, 0x05, 0x80];
    let vlan = [0x81, 0, 0, 5];
    // Outside a VLAN tag; twice, and with a VLAN tag between.
    for tags in [
        vec![tag, vlan],
        vec![tag, tag],
        vec![tag, vlan, tag],
        vec![vlan, vlan, tag, tag],
    ] {
        all.push(Frame::whole(with(&plain, &tags.concat(), &plain[12..])));
    }
    // Types inside that are lengths, of nobody, of ARP and of the other IP.
    for inner in [
        0_u16, 46, 1500, 1501, 1535, 1536, 0x0806, 0x86dd, 0x88b6, 0xffff,
    ] {
        let inner = [&inner.to_be_bytes(), &plain[14..]].concat();
        all.push(Frame::whole(with(&plain, &tag, &inner)));
    }
    // Cut behind each byte: by the capture, and on the wire.
    for tags in [vec![tag], vec![vlan, tag], vec![vlan, vlan, tag]] {
        let whole = with(&plain, &tags.concat(), &plain[12..]);
        for cut in 12 + 4 * tags.len() - 2..=whole.len() {
            let bytes = whole[..cut].to_vec();
            all.push(Frame::whole(bytes.clone()));
            all.push(Frame {
                bytes,
                len: whole.len(),
            });
        }
    }
    all
}

fn capture(frames: &[Frame]) -> Vec<u8> {
    let mut writer = PcapngWriter::new(Vec::new()).expect("memory");
    writer
        .add_interface(&Interface {
            link: LinkType::Ethernet,
            snaplen: 0,
            tsresol: 9,
            name: None,
        })
        .expect("memory");
    for (n, frame) in frames.iter().enumerate() {
        let time = Some(Instant::from_nanos(n as i64 * 1_000));
        writer
            .packet(0, time, &frame.bytes, frame.len as u32, &[])
            .expect("memory");
    }
    writer.finish().expect("memory")
}

const FIELDS: [&str; 15] = [
    "caqm.info",
    "caqm.cc_type",
    "caqm.last_hop",
    "caqm.reserved",
    "caqm.en",
    "caqm.c",
    "caqm.i",
    "caqm.hint",
    "caqm.value",
    "caqm.verdict",
    "caqm.both",
    "caqm.foreign",
    "caqm.etype",
    "frame.protocols",
    "tcp.len",
];

/// The EtherType in the tag, by the frame's bytes.
fn inner(frame: &[u8], caqm: u16) -> u16 {
    let word = |at: usize| u16::from_be_bytes([frame[at], frame[at + 1]]);
    let mut places = (12..).step_by(4);
    let at = places.find(|at| word(*at) == caqm).expect("it has a tag");
    word(at + 4)
}

/// What a packet's tag says, in tshark's words; the last two columns are VLAN tags and payload.
fn ours(p: &TcpPacket, units: &CaqmUnits, inner: u16) -> String {
    let info = p.encap.caqm.expect("it has a tag");
    let [en, c, i] = [CaqmInfo::EN, CaqmInfo::C, CaqmInfo::I].map(|bit| info.has(bit));
    let is_ours = info.cc_type() == units.cc_type;
    let verdict = match (is_ours, en, c, i) {
        (false, ..) => "foreign",
        (_, false, ..) => "feedback",
        (.., false, true) => "granted",
        (.., false, false) => "refused",
        (.., true, false) => "marked",
        (.., true, true) => "contradictory",
    };
    let mark = |is: bool| if is { "set" } else { "" }.to_owned();
    let bit = |is: bool| u8::from(is).to_string();
    [
        format!("0x{:04x}", info.0),
        info.cc_type().to_string(),
        bit(info.has(CaqmInfo::LAST_HOP)),
        bit(info.has(0x0800)),
        bit(en),
        bit(c),
        bit(i),
        info.hint().to_string(),
        info.value(units).to_string(),
        verdict.into(),
        mark(is_ours && c && i),
        mark(!is_ours),
        format!("0x{inner:04x}"),
        p.encap.vlan_tags.to_string(),
        p.payload_len.to_string(),
    ]
    .join(" ")
}

/// One line of tshark for each frame: the fields, then the malformed frames' complaint.
fn theirs(bytes: &[u8], name: &str, preferences: &[&str]) -> Vec<Vec<String>> {
    let path = file(name, bytes);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../extras/wireshark/caqm.lua");
    let script = format!("lua_script:{}", text(&script));
    let mut args = vec!["-n", "-X", &script, "-r", text(&path), "-T", "fields"];
    args.extend(["-E", "occurrence=a", "-E", "aggregator=,"]);
    for preference in preferences {
        args.extend(["-o", preference]);
    }
    for field in FIELDS {
        args.extend(["-e", field]);
    }
    args.extend(["-e", "caqm.short", "-e", "caqm.second"]);
    let printed = output("tshark", &args);
    let cells = |line: &str| line.split('\t').map(str::to_owned).collect();
    printed.lines().map(cells).collect()
}

/// A line with tags counted and complaints as such.
fn line(cells: &[String]) -> String {
    let cell = |(n, text): (usize, &String)| match FIELDS[n] {
        "caqm.both" | "caqm.foreign" if !text.is_empty() => "set".into(),
        "frame.protocols" => {
            let is_tag = |name: &&str| matches!(*name, "vlan" | "ieee8021ad");
            text.split(':').filter(is_tag).count().to_string()
        }
        _ => text.replace("True", "1").replace("False", "0"),
    };
    let cells: Vec<String> = cells
        .iter()
        .take(FIELDS.len())
        .enumerate()
        .map(cell)
        .collect();
    cells.join(" ")
}

fn compare(name: &str, config: &Config, units: &CaqmUnits, preferences: &[&str]) {
    let frames = frames(config);
    let parsed: Vec<Parsed> = frames
        .iter()
        .map(|f| parse_frame(LinkType::Ethernet, &f.bytes, f.len as u32, config))
        .collect();
    let is_tcp = |p: &&Parsed| matches!(p, Parsed::Tcp(_));
    assert!(parsed.iter().filter(is_tcp).count() > 500);
    if !installed("tshark") {
        return;
    }
    let theirs = theirs(&capture(&frames), name, preferences);
    assert_eq!(theirs.len(), frames.len());
    for (n, (parsed, cells)) in parsed.iter().zip(&theirs).enumerate() {
        let (short, second) = (&cells[FIELDS.len()], &cells[FIELDS.len() + 1]);
        let has_tcp = !cells[FIELDS.len() - 1].is_empty();
        match parsed {
            // Lua cannot tell the dissectors inside that the capture cut their headers.
            Parsed::Tcp(p) if p.header_truncated => {}
            Parsed::Tcp(p) if p.standing.has_length() => {
                let inner = inner(&frames[n].bytes, config.caqm_ethertype);
                assert_eq!(line(cells), ours(p, units, inner), "frame {}", n + 1);
                assert_eq!((short.as_str(), second.as_str()), ("", ""));
            }
            Parsed::Tcp(_) | Parsed::NotTcp(NotTcp::TcpStub) => {}
            Parsed::NotTcp(why) => {
                assert!(!has_tcp, "frame {}: {why:?}, {cells:?}", n + 1);
                let tags = cells[0].split(',').filter(|info| !info.is_empty()).count();
                assert_eq!(!second.is_empty(), tags == 2, "frame {}", n + 1);
                assert!(second.is_empty() || *why == NotTcp::Malformed);
                assert!(short.is_empty() || *why == NotTcp::Malformed, "{why:?}");
            }
        }
    }
    let complaints = |column: usize| theirs.iter().filter(|c| !c[column].is_empty()).count();
    assert_eq!(
        complaints(FIELDS.len()),
        3 * 4,
        "frames that end in the tag"
    );
    assert_eq!(complaints(FIELDS.len() + 1), 3, "second tags");
}

#[test]
fn tshark_shows_what_we_read() {
    let config = Config::default();
    compare("caqm.pcapng", &config, &CaqmUnits::default(), &[]);
}

#[test]
fn ethertype_and_units_are_preferences() {
    let config = Config {
        caqm_ethertype: 0x88b5,
        ..Config::default()
    };
    let units = CaqmUnits {
        cc_type: 2,
        data_hint_unit: 4,
        ack_hint_unit: 128,
        beta: 1_000,
    };
    let preferences = [
        "caqm.ethertype:34997",
        "caqm.cc_type:2",
        "caqm.data_unit:4",
        "caqm.ack_unit:128",
        "caqm.beta:1000",
    ];
    compare("caqm-88b5.pcapng", &config, &units, &preferences);
}
