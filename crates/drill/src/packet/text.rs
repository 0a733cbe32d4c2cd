//! Packets as text, in the words of scripts, in columns that two packets can be laid into one above the other.

use std::fmt::Write as _;

use super::{Icmp, Ip, Layer, Packet, Tcp, flag};
use crate::script::{AccEcnField, Body, Direction, PacketSpec, TcpOption, Tos};
use crate::symbols::icmp_names;

/// A column of the text of a packet, in the order of the line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Key {
    Direction,
    /// Headers around it.
    Outer,
    /// The marks in brackets.
    Ip,
    Ports,
    Flags,
    Seq,
    Ack,
    Window,
    Urgent,
    /// The option of this number.
    Option(usize),
    /// UDP, ICMP.
    Body,
    Time,
}

/// Which fields are shown, and which are `*`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown<'a> {
    /// The packet of the script, which says what it leaves open; `None`: show the whole packet.
    pub(crate) spec: Option<&'a PacketSpec>,
    /// The packet is the script's own: what it leaves open is a star.
    pub(crate) is_script: bool,
    /// Which way it goes.
    pub(crate) direction: Direction,
}

/// The packet in columns.
pub(crate) fn columns(packet: &Packet, shown: Shown<'_>) -> Vec<(Key, String)> {
    let mut out = Vec::with_capacity(10);
    let arrow = match shown.direction {
        Direction::In => "<",
        Direction::Out => ">",
    };
    out.push((Key::Direction, arrow.to_string()));
    let count = packet.layers.len();
    for (i, layer) in packet.layers.iter().enumerate() {
        match layer {
            Layer::Ip(ip) if i + 2 == count => {
                let marks = marks(ip, shown);
                if !marks.is_empty() {
                    out.push((Key::Ip, format!("[{marks}]")));
                }
            }
            Layer::Tcp(tcp) => self::tcp(packet, tcp, shown, &mut out),
            Layer::Udp(udp) => {
                if let Some(ports) = ports(shown, (udp.src, udp.dst)) {
                    out.push((Key::Ports, ports));
                }
                out.push((Key::Body, format!("udp ({})", packet.payload_len)));
            }
            Layer::Icmp(header) => out.push((Key::Body, icmp_text(header))),
            outer => match out.iter_mut().find(|(k, _)| *k == Key::Outer) {
                Some((_, text)) => {
                    let _ = write!(text, " {}", outer_text(outer));
                }
                None => out.push((Key::Outer, outer_text(outer))),
            },
        }
    }
    out
}

/// The packet as one line.
pub(crate) fn line(packet: &Packet, shown: Shown<'_>) -> String {
    let mut text = String::new();
    for (key, column) in columns(packet, shown) {
        // Options stand close together, as in scripts.
        if !text.is_empty() && !matches!(key, Key::Option(1..)) {
            text.push(' ');
        }
        text += &column;
    }
    text
}

fn marks(ip: &Ip, shown: Shown<'_>) -> String {
    let ecn = ["noecn", "ect1", "ect0", "ce"][usize::from(ip.tos & 3)];
    let Some(spec) = shown.spec else {
        // As it is, without what is the same everywhere.
        return match ip.tos {
            0 => String::new(),
            1..=3 => ecn.into(),
            tos => format!("tos {tos:#04x}"),
        };
    };
    let mut parts = Vec::new();
    match spec.ip.tos {
        Tos::NotSaid => {}
        Tos::EitherEct if shown.is_script => parts.push("ect01".to_string()),
        Tos::EitherEct | Tos::Ecn(_) => parts.push(ecn.into()),
        Tos::Byte(_) => parts.push(format!("tos {:#04x}", ip.tos)),
    }
    if spec.ip.flow_label != 0 {
        parts.push(format!("flowlabel {:#x}", ip.flow_label));
    }
    if spec.ip.ttl != 0 {
        parts.push(format!("ttl {}", ip.ttl));
    }
    parts.join(",")
}

fn ports(shown: Shown<'_>, (src, dst): (u16, u16)) -> Option<String> {
    let said = match &shown.spec?.body {
        Body::Tcp(tcp) => tcp.ports,
        Body::Udp { ports, .. } => *ports,
        Body::Icmp(_) => None,
    }?;
    let (src, dst) = if shown.is_script { said } else { (src, dst) };
    Some(format!("{src} > {dst}"))
}

fn tcp(packet: &Packet, tcp: &Tcp, shown: Shown<'_>, out: &mut Vec<(Key, String)>) {
    let said = shown.spec.and_then(|s| match &s.body {
        Body::Tcp(said) => Some(said),
        _ => None,
    });
    if let Some(ports) = ports(shown, (tcp.src, tcp.dst)) {
        out.push((Key::Ports, ports));
    }
    let is_ace = said.is_some_and(|s| s.flags.is_ace);
    out.push((Key::Flags, flags_text(tcp.flags, is_ace)));
    let end = tcp.seq.wrapping_add(packet.payload_len);
    out.push((
        Key::Seq,
        format!("{}:{end}({})", tcp.seq, packet.payload_len),
    ));
    if tcp.flags & flag::ACK != 0 || tcp.ack != 0 {
        out.push((Key::Ack, format!("ack {}", tcp.ack)));
    }
    if shown.is_script && said.is_some_and(|s| s.window.is_none()) {
        out.push((Key::Window, "win *".into()));
    } else {
        out.push((Key::Window, format!("win {}", tcp.window)));
    }
    if tcp.urgent != 0 {
        out.push((Key::Urgent, format!("urg {}", tcp.urgent)));
    }
    if shown.is_script && said.is_some_and(|s| s.options.is_none()) {
        out.push((Key::Option(0), "<...>".into()));
        return;
    }
    let last = tcp.options.len().wrapping_sub(1);
    for (i, option) in tcp.options.iter().enumerate() {
        let begin = if i == 0 { "<" } else { "" };
        let end = if i == last { ">" } else { "," };
        out.push((
            Key::Option(i),
            format!("{begin}{}{end}", option_text(option)),
        ));
    }
}

/// Flags as scripts write them, the point last; the three ECN flags as a number behind it where the script has one.
fn flags_text(flags: u16, is_ace: bool) -> String {
    let ecn = if is_ace { 0 } else { flags };
    let mut text: String = [
        (flags & flag::FIN, 'F'),
        (flags & flag::SYN, 'S'),
        (flags & flag::RST, 'R'),
        (flags & flag::PSH, 'P'),
        (flags & flag::URG, 'U'),
        (ecn & flag::ECE, 'E'),
        (ecn & flag::CWR, 'W'),
        (ecn & flag::AE, 'A'),
        (flags & flag::ACK, '.'),
    ]
    .into_iter()
    .filter(|(bit, _)| *bit != 0)
    .map(|(_, c)| c)
    .collect();
    if is_ace {
        let ace = (flags / flag::ECE) & 7;
        text += &ace.to_string();
    }
    if text.is_empty() { "-".into() } else { text }
}

/// An option in the words of scripts.
pub(super) fn option_text(option: &TcpOption) -> String {
    let hex = |bytes: &[u8]| {
        bytes
            .iter()
            .fold(String::new(), |t, b| t + &format!("{b:02x}"))
    };
    let cookie = |name: &str, bytes: &[u8]| match bytes {
        [] => name.to_string(),
        _ => format!("{name} {}", hex(bytes)),
    };
    match option {
        TcpOption::Nop => "nop".into(),
        TcpOption::Eol => "eol".into(),
        TcpOption::Mss(mss) => format!("mss {mss}"),
        TcpOption::WindowScale(shift) => format!("wscale {shift}"),
        TcpOption::SackPermitted => "sackOK".into(),
        TcpOption::Sack(blocks) => blocks
            .iter()
            .fold("sack".into(), |t, (l, r)| format!("{t} {l}:{r}")),
        TcpOption::Timestamps { val, ecr } => format!("TS val {val} ecr {ecr}"),
        TcpOption::Md5(digest) => cookie("md5", digest),
        TcpOption::FastOpen(bytes) => cookie("FO", bytes),
        TcpOption::FastOpenExp(bytes) => cookie("FOEXP", bytes),
        TcpOption::AccEcn(fields) => fields.iter().fold("ECN".into(), |t, (field, n)| {
            let name = match field {
                AccEcnField::E0b => "e0b",
                AccEcnField::Ceb => "ceb",
                AccEcnField::E1b => "e1b",
            };
            format!("{t} {name} {n}")
        }),
        TcpOption::Other { kind, data } => cookie(&format!("kind {kind}"), data),
    }
}

fn icmp_text(header: &Icmp) -> String {
    let names = icmp_names(header.is_v6, header.kind, header.code);
    let mut text = format!("icmp {names}");
    match (header.is_v6, header.kind, header.code, header.word) {
        (_, _, _, 0) => {}
        (false, 3, 4, word) => {
            let _ = write!(text, " mtu {}", word & 0xffff);
        }
        (true, 2, 0, word) => {
            let _ = write!(text, " mtu {word}");
        }
        (false, 0 | 8, ..) | (true, 128 | 129, ..) => {
            let _ = write!(text, " id {}", header.word >> 16);
        }
        _ => {}
    }
    text
}

fn outer_text(layer: &Layer) -> String {
    match layer {
        Layer::Ip(ip) if ip.src.is_ipv6() => format!("ipv6 {} > {}:", ip.src, ip.dst),
        Layer::Ip(ip) => format!("ipv4 {} > {}:", ip.src, ip.dst),
        Layer::Gre(gre, ether_type) => format!(
            "gre flags {:#x} sum {:#x} off {:#x} key {:#x} seq {:#x} (type {ether_type:#06x}):",
            gre.flags, gre.sum, gre.off, gre.key, gre.seq
        ),
        Layer::Mpls(labels) => {
            let mut text = "mpls".to_string();
            for l in labels {
                let bottom = if l.bottom { " [S]," } else { "" };
                let _ = write!(
                    text,
                    " (label {}, tc {},{bottom} ttl {})",
                    l.label, l.tc, l.ttl
                );
            }
            text + ":"
        }
        Layer::Tcp(_) | Layer::Udp(_) | Layer::Icmp(_) => String::new(),
    }
}
