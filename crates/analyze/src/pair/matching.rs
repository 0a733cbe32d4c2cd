//! Finds the same packets in two captures: a merge of both lists, sorted by [`Key`].

use std::collections::BTreeSet;

use tcplab_base::Duration;

use super::{Key, Packet, resegmented};

/// A capture shows the same packet twice less far apart: two interfaces, or a mirror port.
const COPIES: Duration = Duration::from_millis(20);

/// The outcome.
#[derive(Debug, Default)]
pub(crate) struct Matched {
    /// Packets of A and B that are the same, in the order of A's file.
    pub pairs: Vec<(Packet, Packet)>,
    /// Packets that only A has.
    pub only_a: Vec<Packet>,
    /// Packets that only B has.
    pub only_b: Vec<Packet>,
    /// Equal packets (identical ACKs, mostly) of which one capture has more than the other, so
    /// that nothing tells which belongs to which.
    pub ambiguous: u64,
    /// The packets of A and of B that are too many in those, where they are no copies of the capture.
    pub excess: [Vec<Packet>; 2],
    /// Others of A and of B: a capture may have them twice.
    pub doubtful: [Vec<Packet>; 2],
    /// Further copies of a packet in A and in B: captured twice, or duplicated by the network.
    pub copies: [u64; 2],
    /// Packets of A and of B that carry the same bytes in other segments.
    pub resegmented: [u64; 2],
}

/// Joins two captures; sorts both.
pub(crate) fn join(a: &mut [Packet], b: &mut [Packet]) -> Matched {
    for side in [&mut *a, &mut *b] {
        side.sort_unstable_by_key(|p| (p.key, p.number));
    }
    let (mut a, mut b) = (&*a, &*b);
    let mut out = Matched::default();
    loop {
        let (first_a, first_b) = (a.first().map(|p| p.key), b.first().map(|p| p.key));
        let key = match (first_a, first_b) {
            (None, None) => break,
            (Some(k), None) | (None, Some(k)) => k,
            (Some(x), Some(y)) => x.min(y),
        };
        let ours = equal(&mut a, &key);
        let theirs = equal(&mut b, &key);
        match (ours, theirs) {
            ([] | [_], [] | [_]) => group(ours, theirs, &mut out),
            _ => {
                let [ours, theirs] = [ours, theirs].map(once);
                out.copies[0] += ours.1;
                out.copies[1] += theirs.1;
                group(&ours.0, &theirs.0, &mut out);
            }
        }
    }
    out.resegmented = resegmented::take_out(&mut out.only_a, &mut out.only_b);
    out.pairs.sort_unstable_by_key(|(p, _)| p.number);
    out
}

/// Takes the packets with this key off the front.
fn equal<'a>(list: &mut &'a [Packet], key: &Key) -> &'a [Packet] {
    let n = list.partition_point(|p| p.key <= *key);
    let (taken, rest) = list.split_at(n);
    *list = rest;
    taken
}

/// Each packet once, and the number of copies removed: equal packets with the same IP identification are one
/// packet. 0 is no identification: many systems write it into all packets that may not be fragmented (RFC 6864).
fn once(equal: &[Packet]) -> (Vec<Packet>, u64) {
    let mut seen = BTreeSet::new();
    let first = |p: &&Packet| match p.ip_id {
        None | Some(0) => true,
        Some(id) => seen.insert(id),
    };
    let kept: Vec<Packet> = equal.iter().filter(first).copied().collect();
    let copies = (equal.len() - kept.len()) as u64;
    (kept, copies)
}

/// Packets that are equal in all that stays the same.
fn group(a: &[Packet], b: &[Packet], out: &mut Matched) {
    match (a, b) {
        (_, []) => out.only_a.extend(a),
        ([], _) => out.only_b.extend(b),
        ([one], [other]) => out.pairs.push((*one, *other)),
        _ if by_ip_id(a, b, out) => {}
        // Without an identification: in order, when nothing was lost between.
        _ if a.len() == b.len() => out.pairs.extend(a.iter().copied().zip(b.iter().copied())),
        _ => {
            out.ambiguous += a.len().max(b.len()) as u64;
            let (side, more, fewer) = match a.len() > b.len() {
                true => (0, a, b.len()),
                false => (1, b, a.len()),
            };
            let apart = more.windows(2).all(|w| match w {
                [x, y] => y.time.since(x.time).as_nanos().abs() > COPIES.as_nanos(),
                _ => true,
            });
            let list = match apart {
                true => &mut out.excess,
                false => &mut out.doubtful,
            };
            let first = more.iter().take(more.len() - fewer);
            list[side].extend(first);
        }
    }
}

/// Matches by the IP identification where that is different in every packet of a side.
fn by_ip_id(a: &[Packet], b: &[Packet], out: &mut Matched) -> bool {
    let (Some(left), Some(right)) = (sorted(a), sorted(b)) else {
        return false;
    };
    let mut theirs = right.into_iter().peekable();
    for (id, packet) in left {
        while let Some((_, other)) = theirs.next_if(|(i, _)| *i < id) {
            out.only_b.push(other);
        }
        match theirs.next_if(|(i, _)| *i == id) {
            Some((_, other)) => out.pairs.push((packet, other)),
            None => out.only_a.push(packet),
        }
    }
    out.only_b.extend(theirs.map(|(_, p)| p));
    true
}

/// By identification; `None` when one is missing or comes twice.
fn sorted(packets: &[Packet]) -> Option<Vec<(u16, Packet)>> {
    let mut all = Vec::with_capacity(packets.len());
    for p in packets {
        all.push((p.ip_id?, *p));
    }
    all.sort_unstable_by_key(|(id, _)| *id);
    let twice = all.windows(2).any(|w| matches!(w, [x, y] if x.0 == y.0));
    (!twice).then_some(all)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use tcplab_base::Instant;
    use tcplab_wire::Endpoint;

    pub(in super::super) fn packet(number: u64, seq: u32, ip_id: Option<u16>) -> Packet {
        let end = |port| Endpoint {
            ip: [10, 0, 0, 1].into(),
            port,
        };
        Packet {
            key: Key {
                src: end(1),
                dst: end(2),
                seq,
                ack: 0,
                flags: 16,
                len: 0,
                stamps: None,
            },
            ip_id,
            number,
            time: Instant::default(),
            ecn: 0,
            window: 0,
        }
    }

    fn numbers(m: &Matched) -> Vec<(u64, u64)> {
        m.pairs.iter().map(|(a, b)| (a.number, b.number)).collect()
    }

    #[test]
    fn a_lost_packet_is_in_one_capture_only() {
        let mut a = vec![
            packet(1, 10, None),
            packet(2, 20, None),
            packet(3, 30, None),
        ];
        let mut b = vec![
            packet(1, 10, None),
            packet(2, 30, None),
            packet(3, 40, None),
        ];
        let m = join(&mut a, &mut b);
        assert_eq!(numbers(&m), [(1, 1), (3, 2)]);
        assert_eq!((m.only_a.len(), m.only_b.len(), m.ambiguous), (1, 1, 0));
    }

    #[test]
    fn equal_packets_are_told_apart_by_their_identification() {
        let mut a: Vec<_> = (1..4).map(|n| packet(n, 7, Some(100 + n as u16))).collect();
        let mut b = vec![packet(1, 7, Some(103)), packet(2, 7, Some(101))];
        let m = join(&mut a, &mut b);
        assert_eq!(numbers(&m), [(1, 2), (3, 1)]);
        assert_eq!(m.only_a.len(), 1);
    }

    /// A mirror port, or `-i any`: the first copy counts, the others are neither lost nor told apart in vain.
    #[test]
    fn copies_of_a_packet_are_taken_out() {
        let all = |n: u64| (1..=n).map(|i| packet(i, 7, Some(100 + i as u16)));
        let mut twice: Vec<_> = all(3).chain(all(3)).collect();
        for (number, p) in (1..).zip(&mut twice) {
            p.number = number;
        }
        let m = join(&mut all(3).collect::<Vec<_>>(), &mut twice);
        assert_eq!(numbers(&m), [(1, 1), (2, 2), (3, 3)]);
        assert_eq!((m.only_b.len(), m.ambiguous, m.copies), (0, 0, [0, 3]));
        let one = |id| (1..=2).map(|i| packet(i, 7, id)).collect::<Vec<_>>();
        let m = join(&mut one(Some(0))[..1], &mut one(Some(0)));
        assert_eq!((m.ambiguous, m.copies), (2, [0, 0]));
    }

    #[test]
    fn without_one_they_match_in_order_or_not_at_all() {
        let all = |n: u64| (1..=n).map(|i| packet(i, 7, Some(0))).collect::<Vec<_>>();
        assert_eq!(numbers(&join(&mut all(2), &mut all(2))), [(1, 1), (2, 2)]);
        let m = join(&mut all(3), &mut all(2));
        assert_eq!((m.pairs.len(), m.ambiguous), (0, 3));
    }
}
