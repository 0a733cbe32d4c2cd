//! Ethernet addresses of neighbours: RFC 826 for IPv4, [`super::ndp`] for IPv6, with the waits of Linux
//! (`neigh_resolve_output()`).

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use tcplab_base::{Duration, Instant};

use super::{Mac, ndp};

/// EtherType of ARP.
const ARP: [u8; 2] = [0x08, 0x06];
/// Ethernet, IPv4, and the lengths of their addresses.
const KINDS: [u8; 6] = [0, 1, 8, 0, 6, 4];
const REQUEST: u16 = 1;
const REPLY: u16 = 2;
const ALL: Mac = [0xff; 6];
const UNKNOWN: Mac = [0; 6];

/// `retrans_time_ms` and `mcast_solicit` of a neighbour table.
const AGAIN: Duration = Duration::from_millis(1_000);
const TRIES: u32 = 3;
/// Frames that wait for one address. Linux counts bytes, 212,992 of memory: about so many of 1,500.
const WAITING: usize = 101;

/// Who sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Own {
    pub(super) mac: Mac,
    pub(super) ip: IpAddr,
}

/// An address that was asked for.
#[derive(Debug)]
struct Asked {
    again: Instant,
    tries: u32,
    waiting: Vec<Vec<u8>>,
}

/// What is known of the neighbours.
#[derive(Debug)]
pub(super) struct Neighbours {
    own: Own,
    known: BTreeMap<IpAddr, Mac>,
    asked: BTreeMap<IpAddr, Asked>,
    /// Frames for addresses that nobody answered for.
    pub(super) unreachable: u64,
}

impl Neighbours {
    pub(super) fn new(own: Own) -> Self {
        Self {
            own,
            known: BTreeMap::new(),
            asked: BTreeMap::new(),
            unreachable: 0,
        }
    }

    /// Puts the address of `ip` into a frame and gives it back, or keeps it until the address is known; then `ask` gets
    /// a request, unless one is on its way.
    pub(super) fn address(
        &mut self,
        now: Instant,
        ip: IpAddr,
        mut frame: Vec<u8>,
        ask: &mut Vec<Vec<u8>>,
    ) -> Option<Vec<u8>> {
        if let Some(mac) = self.known.get(&ip) {
            head(&mut frame, *mac, self.own.mac);
            return Some(frame);
        }
        let asked = self.asked.entry(ip).or_insert_with(|| {
            ask.extend(request(self.own, ip));
            Asked {
                again: now + AGAIN,
                tries: 1,
                waiting: Vec::new(),
            }
        });
        match asked.waiting.len() {
            WAITING => self.unreachable += 1,
            _ => asked.waiting.push(frame),
        }
        None
    }

    /// When a request is to be repeated.
    pub(super) fn next_time(&self) -> Option<Instant> {
        self.asked.values().map(|asked| asked.again).min()
    }

    /// Repeats requests. After the third, the neighbour counts as absent and the waiting frames are dropped.
    pub(super) fn repeat(&mut self, now: Instant, ask: &mut Vec<Vec<u8>>) {
        let own = self.own;
        let mut dropped = 0;
        self.asked.retain(|ip, asked| {
            if asked.again > now {
                return true;
            }
            if asked.tries == TRIES {
                dropped += asked.waiting.len() as u64;
                return false;
            }
            asked.tries += 1;
            asked.again = now + AGAIN;
            ask.extend(request(own, *ip));
            true
        });
        self.unreachable += dropped;
    }

    /// Reads a frame of ARP or of neighbour discovery. The addresses are kept, a request for this host is answered, and
    /// frames that waited for the sender go out. False: it is neither, or not for us.
    pub(super) fn hear(&mut self, frame: &[u8], out: &mut Vec<Vec<u8>>) -> bool {
        let Some(message) = Message::read(frame) else {
            return false;
        };
        if message.target != self.own.ip || message.mac == self.own.mac {
            return false;
        }
        // arp_process(), ndisc_recv_ns(): only a host that asks for our address is remembered; it is about to talk to us.
        self.known.insert(message.ip, message.mac);
        if message.asks {
            out.extend(reply(self.own, &message));
        }
        if let Some(asked) = self.asked.remove(&message.ip) {
            let own = self.own.mac;
            out.extend(asked.waiting.into_iter().map(|mut frame| {
                head(&mut frame, message.mac, own);
                frame
            }));
        }
        true
    }
}

/// What a neighbour says.
#[derive(Debug)]
pub(super) struct Message {
    /// It wants an answer.
    pub(super) asks: bool,
    /// Who has which address.
    pub(super) mac: Mac,
    pub(super) ip: IpAddr,
    /// Whom it asks or tells.
    pub(super) target: IpAddr,
}

impl Message {
    fn read(frame: &[u8]) -> Option<Self> {
        Self::of_arp(frame).or_else(|| ndp::read(frame))
    }

    fn of_arp(frame: &[u8]) -> Option<Self> {
        let body: &[u8; 28] = frame.get(14..)?.first_chunk()?;
        if frame.get(12..14)? != ARP || body[..6] != KINDS {
            return None;
        }
        let ip = |at: usize| Ipv4Addr::from([body[at], body[at + 1], body[at + 2], body[at + 3]]);
        let mac = [body[8], body[9], body[10], body[11], body[12], body[13]];
        // A group's address is nobody's, and 0.0.0.0 asks whether an address is free (RFC 5227).
        let is_one = mac[0] & 1 == 0 && mac != UNKNOWN && !ip(14).is_unspecified();
        is_one.then_some(Self {
            asks: u16::from_be_bytes([body[6], body[7]]) == REQUEST,
            mac,
            ip: ip(14).into(),
            target: ip(24).into(),
        })
    }
}

/// The Ethernet addresses of a frame.
pub(super) fn head(frame: &mut [u8], to: Mac, from: Mac) {
    if let Some(head) = frame.first_chunk_mut::<12>() {
        head[..6].copy_from_slice(&to);
        head[6..].copy_from_slice(&from);
    }
}

/// Who has this address? None: it is of another protocol.
fn request(own: Own, ip: IpAddr) -> Option<Vec<u8>> {
    Some(match (own.ip, ip) {
        (IpAddr::V4(from), IpAddr::V4(ip)) => arp(REQUEST, (own.mac, from), (UNKNOWN, ip), ALL),
        (IpAddr::V6(from), IpAddr::V6(ip)) => ndp::solicitation(own, (from, ip)),
        _ => return None,
    })
}

/// The answer to a request for one of our addresses.
fn reply(own: Own, message: &Message) -> Option<Vec<u8>> {
    let mac = message.mac;
    Some(match (own.ip, message.ip) {
        (IpAddr::V4(from), IpAddr::V4(to)) => arp(REPLY, (own.mac, from), (mac, to), mac),
        (IpAddr::V6(from), IpAddr::V6(to)) => ndp::advertisement(own, (from, to), mac),
        _ => return None,
    })
}

fn arp(op: u16, own: (Mac, Ipv4Addr), target: (Mac, Ipv4Addr), to: Mac) -> Vec<u8> {
    let mut frame = vec![0; 12];
    head(&mut frame, to, own.0);
    frame.extend(ARP);
    frame.extend(KINDS);
    frame.extend(op.to_be_bytes());
    frame.extend(own.0);
    frame.extend(own.1.octets());
    frame.extend(target.0);
    frame.extend(target.1.octets());
    frame
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: Own = Own {
        mac: [2, 0, 0, 0, 0, 1],
        ip: IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)),
    };
    const THEM: Own = Own {
        mac: [2, 0, 0, 0, 0, 2],
        ip: IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)),
    };

    fn v6(own: Own, n: u16) -> Own {
        Own {
            ip: [0xfd77, 0, 0, 0, 0, 0, 0, n].into(),
            ..own
        }
    }

    #[test]
    fn frames_wait_for_an_answer_and_go_out_in_order() {
        wait_for_an_answer(US, THEM);
        wait_for_an_answer(v6(US, 1), v6(THEM, 2));
    }

    fn wait_for_an_answer(one: Own, other: Own) {
        let (mut us, mut them) = (Neighbours::new(one), Neighbours::new(other));
        let now = Instant::from_nanos(0);
        let mut ask = Vec::new();
        for n in 0..2 {
            let frame = vec![n; 20];
            assert_eq!(us.address(now, other.ip, frame, &mut ask), None);
        }
        assert_eq!(ask.len(), 1, "one request for both");
        let mut answer = Vec::new();
        assert!(them.hear(&ask[0], &mut answer));
        assert_eq!(&answer[0][..6], &US.mac);
        let mut out = Vec::new();
        assert!(us.hear(&answer[0], &mut out));
        let firsts: Vec<u8> = out.iter().map(|frame| frame[14]).collect();
        assert_eq!(firsts, [0, 1]);
        assert_eq!(&out[0][..12], &[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1]);
        // Both know each other now: who was asked has learnt from the question.
        assert!(us.address(now, other.ip, vec![0; 20], &mut ask).is_some());
        assert!(them.address(now, one.ip, vec![0; 20], &mut ask).is_some());
        assert_eq!((ask.len(), us.next_time()), (1, None));
    }

    #[test]
    fn three_requests_without_an_answer_drop_what_waits() {
        let mut us = Neighbours::new(US);
        let mut ask = Vec::new();
        let mut now = Instant::from_nanos(0);
        for _ in 0..WAITING + 4 {
            us.address(now, THEM.ip, vec![0; 20], &mut ask);
        }
        while let Some(next) = us.next_time() {
            now = next;
            us.repeat(now, &mut ask);
        }
        assert_eq!((ask.len(), now.as_nanos()), (3, 3_000_000_000));
        assert_eq!(us.unreachable, WAITING as u64 + 4);
    }

    #[test]
    fn foreign_arp_is_not_kept() {
        let mut us = Neighbours::new(US);
        let mut out = Vec::new();
        let other = Ipv4Addr::new(10, 0, 0, 3).into();
        assert!(
            !us.hear(&request(THEM, other).unwrap(), &mut out),
            "another's"
        );
        assert!(
            !us.hear(&request(US, US.ip).unwrap(), &mut out),
            "an echo of ours"
        );
        let group = Own { mac: ALL, ..THEM };
        assert!(
            !us.hear(&request(group, US.ip).unwrap(), &mut out),
            "a group"
        );
        let whole = request(THEM, US.ip).unwrap();
        for length in 0..whole.len() {
            assert!(!us.hear(&whole[..length], &mut out), "{length} bytes");
        }
        assert!(us.hear(&whole, &mut out));
        assert_eq!(out.len(), 1);
    }
}
