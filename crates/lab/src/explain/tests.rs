//! The shipped and the shared captures: which rule their receivers' ACKs followed.

use std::fs::File;
use std::path::{Path, PathBuf};

use tcplab_base::Duration;
use tcplab_capture::{Body, Reader};
use tcplab_wire::{Config, Parsed, TcpPacket, parse_frame};

use super::*;

/// The packets of a file, as far as `keep` wants them.
fn read(path: &Path, keep: impl Fn(u64, &TcpPacket) -> bool) -> Gather {
    let mut gather = Gather::default();
    let mut reader = Reader::new(File::open(path).unwrap()).unwrap();
    while let Some(record) = reader.next().unwrap() {
        let Body::Frame {
            link,
            data,
            orig_len,
        } = record.body
        else {
            continue;
        };
        if let Parsed::Tcp(p) = parse_frame(link, data, orig_len, &Config::default())
            && keep(record.number, &p)
        {
            gather.packet(record.number, record.time, &p);
        }
    }
    gather
}

fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/captures")
        .join(name)
}

/// The result for the receiver of the data, which opened the connection.
fn client(path: &Path) -> Found {
    let receivers = explain(&read(path, |_, _| true), &[]);
    let client = receivers.into_iter().find_map(|r| r.found);
    client.unwrap_or_else(|| panic!("{} is not explained", path.display()))
}

fn profile<'a>(found: &'a Found, name: &str) -> &'a Ranked {
    let ranked = found.profiles.iter().find(|p| p.profile == name);
    ranked.unwrap_or_else(|| panic!("no {name}"))
}

/// `old`: the receiver does not ACK on a read of exactly one segment.
fn check_rule(path: &Path, old: bool) {
    let found = client(path);
    let (right, wrong) = match old {
        true => ("linux-6.1.56", "linux-6.1"),
        false => ("linux-6.1", "linux-6.1.56"),
    };
    let at = path.display();
    assert!(found.best.contains(&right), "{at}: {found:?}");
    assert!(!found.best.contains(&wrong), "{at}: {found:?}");
    let best = profile(&found, right);
    assert_eq!((best.matched, best.missed), (found.acks, 0), "{at}");
    let tick_us = 1_000_000 / i64::from(best.hz);
    assert!(best.worst_error_us <= tick_us + found.noise_us, "{at}");
    // The rules part at the 17th ACK: sixteen are credits.
    let other = profile(&found, wrong);
    assert_eq!(other.first_mismatch.as_ref().unwrap().ack, 17, "{at}");
}

#[test]
fn shipped_captures_distinguish_6_1_56_from_6_1_57() {
    for end in ["a", "b"] {
        check_rule(&shipped(&format!("quickack-5.10.46.{end}.pcap")), true);
        check_rule(&shipped(&format!("quickack-rtt50-hz1000.{end}.pcap")), true);
        check_rule(&shipped(&format!("quickack-6.1.176.{end}.pcap")), false);
    }
}

#[test]
fn shared_captures_distinguish_6_1_56_from_6_1_57() {
    let folder = std::env::var_os("TCPLAB_SHARED_CAPTURES").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/captures"),
        PathBuf::from,
    );
    if !folder.is_dir() {
        println!("skipped: {} is not here", folder.display());
        return;
    }
    check_rule(&folder.join("linux-6.1.0-9-client.cap"), true);
    check_rule(&folder.join("linux-6.1.0-26-client.cap"), false);
    check_rule(&folder.join("debian12-1k-100ms.cap"), true);
}

#[test]
fn the_frequency_of_the_tick_is_found_where_the_capture_tells() {
    let found = client(&shipped("quickack-rtt50-hz1000.a.pcap"));
    assert_eq!(profile(&found, "linux-6.1.56").hz, 1000);
    let found = client(&shipped("quickack-5.10.46.a.pcap"));
    assert_eq!(profile(&found, "linux-6.1.56").hz, 100);
}

#[test]
fn equal_profiles_are_a_tie() {
    let found = client(&shipped("request-response-clean.a.pcap"));
    assert!(found.is_exact);
    for name in ["linux-6.1", "linux-6.1.56"] {
        assert!(found.best.contains(&name), "{found:?}");
    }
}

#[test]
fn model_takes_every_profiles_sysctls_and_has_those_of_6_1() {
    use tcplab_plan::profile::SYSCTL_6_1;
    use tcplab_tcp::Sysctl;
    let mut sysctl = Sysctl::default();
    for (name, value) in SYSCTL_6_1 {
        sysctl.set(name, value).unwrap();
    }
    assert_eq!(sysctl, Sysctl::default());
    for known in KNOWN {
        for (name, value) in known.profile().sysctl {
            sysctl.set(name, value).unwrap();
        }
    }
}

#[test]
fn what_a_capture_lacks_is_said() {
    let path = shipped("quickack-5.10.46.a.pcap");
    let lacks = |keep: &dyn Fn(u64, &TcpPacket) -> bool| {
        let receivers = explain(&read(&path, keep), &[]);
        assert!(receivers.iter().all(|r| r.found.is_none()));
        receivers[0].lacks.unwrap()
    };
    let middle = lacks(&|number, _| number > 10);
    assert_eq!(middle, Lack::Handshake.text());
    let one_way = lacks(&|_, p| p.src.port == 5001);
    assert_eq!(one_way, Lack::Direction.text());
    let unacked = lacks(&|number, p| p.src.port == 5001 || number < 4);
    assert_eq!(unacked, Lack::Acks.text());
    assert!(explain(&Gather::default(), &[]).is_empty());
}

/// What is lacking when each packet of a capture, and a copy of it, is given as `change` makes it, if it wants it.
fn changed(change: impl Fn(u64, bool, &mut TcpPacket) -> bool) -> Option<&'static str> {
    let path = shipped("quickack-5.10.46.a.pcap");
    let all = std::cell::RefCell::new(Vec::new());
    let whole = read(&path, |number, p| {
        all.borrow_mut().push((number, *p));
        true
    });
    let times: Vec<_> = whole.streams[0].packets.iter().map(|p| p.time).collect();
    let mut gather = Gather::default();
    for ((number, p), time) in all.into_inner().into_iter().zip(times) {
        for copy in [false, true] {
            let mut p = p;
            if change(number, copy, &mut p) {
                gather.packet(number, Some(time), &p);
            }
        }
    }
    explain(&gather, &[])[0].lacks
}

/// The answer for the server of `request-response-clean.a.pcap`, captured at the far client, when its first request is
/// sent again 10 ms before its answer, which echoes the time stamp of the first or of the second one.
fn repeated(echoes_second: bool) -> Receiver {
    let mut gather = Gather::default();
    let whole = read(&shipped("request-response-clean.a.pcap"), |_, _| true);
    let own = &whole.streams[0];
    let request = own.packets.iter().position(|p| p.from == 0 && p.len > 0);
    let request = request.expect("a request");
    let answer = request + 1;
    assert!(own.packets[answer].from == 1);
    let mut packets = own.packets.clone();
    for late in &mut packets[answer..] {
        late.time = late.time + Duration::from_millis(300);
    }
    let mut again = packets[request];
    again.time = packets[answer].time - Duration::from_millis(80);
    let (stamp, echo) = again.options.timestamps.expect("time stamps");
    again.options.timestamps = Some((stamp + 300, echo));
    if echoes_second {
        let (stamp, echo) = packets[answer].options.timestamps.expect("time stamps");
        packets[answer].options.timestamps = Some((stamp, echo + 300));
    }
    packets.insert(answer, again);
    gather.streams.push(super::gather::Stream {
        ends: own.ends,
        packets,
    });
    explain(&gather, &[]).remove(1)
}

#[test]
fn lost_acks_of_a_far_receiver_are_not_lost_segments() {
    assert_eq!(repeated(false).lacks, Some(Lack::AcksLost.text()));
    let found = repeated(true).found.expect("a lost request is left out");
    assert_eq!(found.lost_behind, 1);
}

#[test]
fn a_probe_behind_waiting_data_echoes_that_data() {
    // Two requests left in one tick; the second was lost, and the answer to its probe echoes the first one's time stamp.
    let whole = read(&shipped("request-response-clean.a.pcap"), |_, _| true);
    let own = &whole.streams[0];
    let request = own.packets.iter().position(|p| p.from == 0 && p.len > 0);
    let request = request.expect("a request");
    let mut packets = own.packets.clone();
    let mut second = packets[request];
    second.seq = second.end();
    let mut again = second;
    again.time = packets[request + 1].time + Duration::from_millis(100);
    let (stamp, echo) = again.options.timestamps.expect("time stamps");
    again.options.timestamps = Some((stamp + 180, echo));
    packets[request + 1].ack = second.end();
    for late in &mut packets[request + 1..] {
        late.time = late.time + Duration::from_millis(300);
    }
    packets.insert(request + 1, again);
    packets.insert(request + 1, second);
    let mut gather = Gather::default();
    gather.streams.push(super::gather::Stream {
        ends: own.ends,
        packets,
    });
    let server = explain(&gather, &[]).remove(1);
    assert_ne!(server.lacks, Some(Lack::AcksLost.text()), "{server:?}");
}

#[test]
fn packets_that_are_not_what_the_ends_sent_explain_nothing() {
    assert_eq!(changed(|_, copy, _| !copy), None);
    let twice = changed(|n, copy, _| !copy || n == 9);
    assert_eq!(twice, Some(Lack::Copies.text()));
    let cut = changed(|n, copy, p| {
        p.header_truncated = n == 9;
        !copy
    });
    assert_eq!(cut, Some(Lack::Headers.text()));
    let again = changed(|n, copy, p| {
        p.ip_id = p.ip_id.map(|id| id.wrapping_add(u16::from(copy)));
        !copy || n == 2
    });
    assert_eq!(again, Some(Lack::SynAck.text()));
}
