//! Packets of small connections, and other programs to compare with, shared by the tests.
#![allow(dead_code)] // each test file uses a part

use std::net::IpAddr;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use tcplab_base::Seq;
use tcplab_wire::{Encap, Endpoint, SackBlocks, Standing, TcpFlags, TcpOptions, TcpPacket};

pub fn endpoint(ip: &str, port: u16) -> Endpoint {
    let ip: IpAddr = ip.parse().expect("an address of this file");
    Endpoint { ip, port }
}

/// A packet without options.
pub fn packet(
    src: Endpoint,
    dst: Endpoint,
    flags: u16,
    seq: u32,
    ack: u32,
    payload_len: u32,
) -> TcpPacket {
    TcpPacket {
        src,
        dst,
        seq: Seq(seq),
        ack: Seq(ack),
        flags: TcpFlags(flags),
        window: 501,
        urgent: 0,
        payload_len,
        header_len: 20,
        options: TcpOptions::default(),
        ecn: 0,
        ttl: 64,
        ip_id: src.ip.is_ipv4().then_some(7),
        header_truncated: false,
        standing: Standing::Whole,
        encap: Encap::default(),
    }
}

const SYN: u16 = TcpFlags::SYN;
const ACK: u16 = TcpFlags::ACK;
const PSH: u16 = TcpFlags::PSH;
const FIN: u16 = TcpFlags::FIN;
const RST: u16 = TcpFlags::RST;

/// A connection with everything that a line of text can show; the client's numbers wrap.
pub fn connection(client: Endpoint, server: Endpoint) -> Vec<TcpPacket> {
    let (c0, s0) = (u32::MAX - 1_000, 77_000);
    let (c, s) = (|n: u32| c0.wrapping_add(n), |n: u32| s0 + n);
    let stamps = |p: TcpPacket, value, echo| TcpPacket {
        header_len: 32,
        options: TcpOptions {
            timestamps: Some((value, echo)),
            ..p.options
        },
        ..p
    };
    let syn_options = TcpOptions {
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: Some((3_000_000_000, 0)),
        ..TcpOptions::default()
    };
    let with = |p: TcpPacket, options, header_len| TcpPacket {
        options,
        header_len,
        ..p
    };
    let mut sack = SackBlocks::default();
    sack.push(Seq(s(2_897)), Seq(s(4_345)));
    sack.push(Seq(s(5_793)), Seq(s(7_241)));
    let to = |flags, seq, ack, len| packet(client, server, flags, seq, ack, len);
    let back = |flags, seq, ack, len| packet(server, client, flags, seq, ack, len);
    let ecn_syn = SYN | TcpFlags::ECE | TcpFlags::CWR;
    vec![
        with(to(ecn_syn, c(0), 0, 0), syn_options, 40),
        with(
            back(SYN | ACK | TcpFlags::ECE, s(0), c(1), 0),
            syn_options,
            40,
        ),
        stamps(to(ACK, c(1), s(1), 0), 5, 6),
        stamps(to(PSH | ACK, c(1), s(1), 1_500), 7, 8),
        stamps(back(ACK, s(1), c(1_501), 0), 9, 10),
        back(ACK, s(1), c(1_501), 1_448),
        back(PSH | ACK, s(2_897), c(1_501), 1_448),
        back(ACK | TcpFlags::CWR, s(5_793), c(1_501), 1_448),
        with(
            to(ACK, c(1_501), s(1_449), 0),
            TcpOptions {
                sack,
                ..TcpOptions::default()
            },
            40,
        ),
        back(FIN | PSH | ACK, s(7_241), c(1_501), 10),
        TcpPacket {
            urgent: 3,
            ..to(TcpFlags::URG | ACK, c(1_501), s(1_449), 5)
        },
        to(RST | ACK, c(1_506), s(1_449), 0),
        to(RST, c(1_506), 0, 0),
    ]
}

/// Whether a program is installed; tests that compare with it say that they were skipped when it is not.
pub fn installed(program: &str) -> bool {
    let found = Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|s| s.success());
    if !found {
        eprintln!("skipped: {program} is not installed");
    }
    found
}

/// What a program prints; its error output with it when it fails.
pub fn output(program: &str, args: &[&str]) -> String {
    let out = Command::new(program)
        .args(args)
        .output()
        .expect("it is installed");
    let text = String::from_utf8_lossy(&out.stdout).into_owned();
    let errors = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{program} {args:?}: {errors}");
    text
}

/// Writes a file into the build's folder for tests.
pub fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).expect("the folder is there");
    path
}

/// The same as text, for arguments.
pub fn text(path: &std::path::Path) -> &str {
    path.to_str().expect("build folders are plain text")
}
