//! Data that offloads joined or split between the captures (TSO at the sender, GRO at the receiver): packets of one
//! capture that together carry exactly the bytes of packets of the other one.

use std::collections::BTreeMap;

use tcplab_wire::Endpoint;

use super::Packet;

/// Most packets of a side that are laid against the other side: 1 MB of segments.
const MOST: usize = 1_024;

type Starts = BTreeMap<(Endpoint, Endpoint, u32), Vec<usize>>;

/// Takes such packets out of those that only one capture has, and returns how many of each.
pub(super) fn take_out(only_a: &mut Vec<Packet>, only_b: &mut Vec<Packet>) -> [u64; 2] {
    let (mut at_a, mut at_b) = (starts(only_a), starts(only_b));
    let (mut used_a, mut used_b) = (vec![false; only_a.len()], vec![false; only_b.len()]);
    for (first, packet) in only_a.iter().enumerate() {
        let here = (packet.key.src, packet.key.dst, packet.key.seq);
        // Each byte of B accounts for one copy in A; retransmissions stay.
        if used_a.get(first) != Some(&false) || !at_b.contains_key(&here) {
            continue;
        }
        let Some(run) = cover(here, [(&*only_a, &at_a), (&*only_b, &at_b)]) else {
            continue;
        };
        let [of_a, of_b] = run;
        for (used, starts, run, all) in [
            (&mut used_a, &mut at_a, of_a, &*only_a),
            (&mut used_b, &mut at_b, of_b, &*only_b),
        ] {
            for index in run {
                take(index, used, starts, all);
            }
        }
    }
    [(only_a, used_a), (only_b, used_b)].map(|(only, used)| {
        let before = only.len();
        let mut used = used.into_iter();
        only.retain(|_| used.next() == Some(false));
        (before - only.len()) as u64
    })
}

/// The data packets by where they begin.
fn starts(packets: &[Packet]) -> Starts {
    let mut starts = Starts::new();
    for (index, p) in packets.iter().enumerate().rev() {
        if p.key.len > 0 {
            let here = (p.key.src, p.key.dst, p.key.seq);
            starts.entry(here).or_default().push(index);
        }
    }
    starts
}

fn take(index: usize, used: &mut [bool], starts: &mut Starts, all: &[Packet]) {
    let (Some(used), Some(p)) = (used.get_mut(index), all.get(index)) else {
        return;
    };
    *used = true;
    let here = (p.key.src, p.key.dst, p.key.seq);
    if let Some(list) = starts.get_mut(&here) {
        list.retain(|i| *i != index);
        if list.is_empty() {
            starts.remove(&here);
        }
    }
}

/// Packets of both sides from here that cover the same bytes.
fn cover(
    here: (Endpoint, Endpoint, u32),
    sides: [(&[Packet], &Starts); 2],
) -> Option<[Vec<usize>; 2]> {
    let mut runs = [Vec::new(), Vec::new()];
    let mut ends = [0_u32; 2];
    loop {
        // The side that covers less goes on.
        let side = usize::from(ends[1] < ends[0]);
        let seq = here.2.wrapping_add(ends[side]);
        let (packets, starts) = sides[side];
        let index = *starts.get(&(here.0, here.1, seq))?.last()?;
        ends[side] = ends[side].checked_add(packets.get(index)?.key.len)?;
        runs[side].push(index);
        if ends[0] == ends[1] {
            // One for one is no joining: the packets differ in something else.
            return (runs[0].len() + runs[1].len() > 2).then_some(runs);
        }
        if runs[side].len() > MOST {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::matching::tests::packet;
    use super::*;

    fn data(number: u64, seq: u32, len: u32) -> Packet {
        let mut p = packet(number, seq, None);
        p.key.len = len;
        p
    }

    #[test]
    fn joined_segments_are_not_lost() {
        // 100..200 was lost and sent again: one copy of two arrived, in a super-segment.
        let mut a = vec![
            data(1, 0, 100),
            data(2, 100, 100),
            data(3, 100, 100),
            data(4, 200, 100),
            data(5, 300, 100),
        ];
        let mut b = vec![data(1, 0, 200), data(2, 200, 200)];
        assert_eq!(take_out(&mut a, &mut b), [4, 2]);
        assert_eq!((a.len(), b.len()), (1, 0));
        assert_eq!(a[0].key.seq, 100);
        // Split at the sender, past the end of the sequence space; boundaries that agree nowhere.
        let mut a = vec![data(1, u32::MAX - 99, 200), data(2, 500, 100)];
        let mut b = vec![
            data(1, u32::MAX - 99, 100),
            data(2, 0, 100),
            data(3, 500, 70),
        ];
        assert_eq!(take_out(&mut a, &mut b), [1, 2]);
        // The same bytes, one packet each: something else differs.
        let mut same = vec![data(1, 0, 100)];
        assert_eq!(take_out(&mut same.clone(), &mut same), [0, 0]);
    }
}
