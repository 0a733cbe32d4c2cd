//! Packets from lines of text, for tests that build their conversations by hand.
//!
//! The left side is 192.0.2.1:2000, the right one 192.0.2.2:80.
//! A line is `ms direction flags seq ack len window [option...]`, direction `>` or `<`, flags as
//! tcpdump writes them (S F R P E W, `.` for ACK), A for AE, V for CAQM's 0x200. Options: `ws=SHIFT`, `mss=N`, `sackok`,
//! `ts=VAL,ECR`, `sack=LEFT-RIGHT` (more than once), `id=N` (IP identification), `ttl=N`, `ecn=N` (the two bits of IP),
//! `caqm=HEX` (INFO of a tag).

use std::net::{IpAddr, Ipv4Addr};

use tcplab_base::{Instant, Seq};
use tcplab_wire::{CaqmInfo, Encap, Endpoint, Standing, TcpFlags, TcpOptions, TcpPacket};

fn flags(text: &str) -> TcpFlags {
    let bit = |c| match c {
        'S' => TcpFlags::SYN,
        'F' => TcpFlags::FIN,
        'R' => TcpFlags::RST,
        'P' => TcpFlags::PSH,
        '.' => TcpFlags::ACK,
        'E' => TcpFlags::ECE,
        'W' => TcpFlags::CWR,
        'A' => TcpFlags::AE,
        'V' => 0x200,
        _ => panic!("flag {c}"),
    };
    TcpFlags(text.chars().map(bit).fold(0, |all, b| all | b))
}

fn number<T: std::str::FromStr>(text: &str) -> T {
    text.parse().unwrap_or_else(|_| panic!("number {text}"))
}

fn pair(text: &str, between: char) -> (u32, u32) {
    let (a, b) = text.split_once(between).expect("two numbers");
    (number(a), number(b))
}

/// Time, whether the left side sends, and the packet of a line.
pub fn parse(line: &str) -> (Instant, bool, TcpPacket) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [ms, direction, flag_text, seq, ack, len, window, more @ ..] = &words[..] else {
        panic!("line {line}");
    };
    let end = |host, port| Endpoint {
        ip: IpAddr::V4(Ipv4Addr::new(192, 0, 2, host)),
        port,
    };
    let from_a = *direction == ">";
    let (left, right) = (end(1, 2000), end(2, 80));
    let (src, dst) = if from_a { (left, right) } else { (right, left) };
    let (mut options, mut ip_id, mut option_bytes) = (TcpOptions::default(), None, 0);
    let (mut caqm, mut ttl, mut ecn) = (None, 64, 0);
    for option in more {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        option_bytes += match name {
            "ts" => 12,
            "sack" => 8,
            "id" | "caqm" | "ttl" | "ecn" => 0,
            _ => 4,
        };
        match name {
            "ws" => options.window_scale = Some(number(value)),
            "mss" => options.mss = Some(number(value)),
            "sackok" => options.sack_permitted = true,
            "ts" => options.timestamps = Some(pair(value, ',')),
            "sack" => {
                let (left, right) = pair(value, '-');
                options.sack.push(Seq(left), Seq(right));
            }
            "ttl" => ttl = number(value),
            "ecn" => ecn = number(value),
            "id" => ip_id = Some(number(value)),
            "caqm" => caqm = Some(CaqmInfo(u16::from_str_radix(value, 16).expect("hex"))),
            _ => panic!("option {option}"),
        }
    }
    let packet = TcpPacket {
        src,
        dst,
        seq: Seq(number(seq)),
        ack: Seq(number(ack)),
        flags: flags(flag_text),
        window: number(window),
        urgent: 0,
        payload_len: number(len),
        header_len: 20 + option_bytes,
        options,
        ecn,
        ttl,
        ip_id,
        header_truncated: false,
        standing: Standing::Whole,
        encap: Encap {
            caqm,
            ..Encap::default()
        },
    };
    let time = Instant::from_nanos(1_000_000_000 + (number::<f64>(ms) * 1e6) as i64);
    (time, from_a, packet)
}
