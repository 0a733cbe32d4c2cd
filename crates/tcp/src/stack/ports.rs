//! Ports in use towards one peer, a bit each, for a host with many connections to it.
//!
//! The search of connect(2) (Linux `__inet_hash_connect()`) asks the table for every second port of the range, from an
//! offset on. Beyond 14,000 connections nearly all are taken; the bits lead to the same port 64 at a time. A peer gets
//! them at the first search that walks far: 8 kB, kept as long as the host.

use std::collections::BTreeMap;

use super::secret::ends;
use crate::segment::Addr;

/// The ports of a search: `start` is the first, as a distance from `low`; every second one of `count` follows, around
/// the end of the range.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walk {
    pub(crate) low: u32,
    /// Even, or 1.
    pub(crate) count: u32,
    pub(crate) start: u32,
}

impl Walk {
    /// The port at a step; steps are even and less than `count`.
    pub(crate) fn port(self, step: u32) -> u16 {
        (self.low + (self.start + step) % self.count.max(1)) as u16
    }
}

/// Which ports are in use.
#[derive(Clone, Debug)]
pub(crate) struct PortSet(Box<[u64; 1024]>);

impl PortSet {
    fn set(&mut self, port: u16, is_used: bool) {
        let bit = 1 << (port % 64);
        if let Some(word) = self.0.get_mut(usize::from(port / 64)) {
            *word = match is_used {
                true => *word | bit,
                false => *word & !bit,
            };
        }
    }

    /// The first free one of `from`, `from + 2` and so on to `to`.
    fn first_free(&self, from: u32, to: u32) -> Option<u32> {
        let parity = 0x5555_5555_5555_5555_u64 << (from % 2);
        let mut at = from;
        while at <= to {
            let first = at / 64 * 64;
            let free = !self.0.get(at as usize / 64)? & parity & (u64::MAX << (at % 64));
            if free != 0 {
                let port = first + free.trailing_zeros();
                return (port <= to).then_some(port);
            }
            at = first + 64;
        }
        None
    }

    /// The first step from `step` on whose port is free.
    pub(crate) fn next(&self, walk: Walk, mut step: u32) -> Option<u32> {
        let Walk { low, count, start } = walk;
        if start + step < count {
            let found = self.first_free(low + start + step, low + count - 1);
            if let Some(port) = found {
                return Some(port - low - start);
            }
            // The first step beyond the end of the range.
            step = (count - start).next_multiple_of(2);
        }
        let from = low + start + step - count;
        let found = self.first_free(from, (low + start).checked_sub(1)?)?;
        Some(found + count - low - start)
    }
}

/// The sets of one host's crowded peers.
#[derive(Debug, Default)]
pub(crate) struct Crowds(BTreeMap<u64, PortSet>);

/// What stays of both ends without the local port.
const PEER: u64 = !(0xffff << 32);

impl Crowds {
    /// These ends (see `secret::ends`) are in use from now on, or free.
    #[inline]
    pub(crate) fn note(&mut self, ends: u64, is_used: bool) {
        if !self.0.is_empty() {
            self.mark(ends, is_used);
        }
    }

    #[cold]
    fn mark(&mut self, ends: u64, is_used: bool) {
        if let Some(set) = self.0.get_mut(&(ends & PEER)) {
            set.set((ends >> 32) as u16, is_used);
        }
    }

    /// The ports in use towards `remote`, when that is known.
    pub(crate) fn get(&self, local_host: u16, remote: Addr) -> Option<&PortSet> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&peer(local_host, remote))
    }

    /// Begins to keep the ports in use towards `remote`; `used` are the current ports.
    pub(crate) fn begin(&mut self, local_host: u16, remote: Addr, used: impl Iterator<Item = u16>) {
        let mut set = PortSet(Box::new([0; 1024]));
        for port in used {
            set.set(port, true);
        }
        self.0.insert(peer(local_host, remote), set);
    }
}

fn peer(local_host: u16, remote: Addr) -> u64 {
    let local = Addr {
        host: local_host,
        port: 0,
    };
    ends(local, remote)
}

#[cfg(test)]
mod tests {
    use tcplab_base::{Instant, Random};

    use super::*;
    use crate::options::OpenOptions;
    use crate::stack::{ConnId, tests::stack};

    #[test]
    fn the_next_free_port_is_that_of_a_walk() {
        let mut random = Random::stream(3, "ports");
        for (low, count) in [
            (0, 2),
            (1, 1),
            (63, 2),
            (1000, 130),
            (32_768, 28_232),
            (65_001, 534),
        ] {
            for used_of_100 in [0, 50, 99, 100] {
                let mut used: Vec<u16> = (low..low + count).map(|port| port as u16).collect();
                used.retain(|_| random.below(100) < used_of_100);
                let mut set = PortSet(Box::new([0; 1024]));
                for port in &used {
                    set.set(*port, true);
                }
                for _ in 0..50 {
                    let start = random.below(u64::from(count)) as u32;
                    let walk = Walk { low, count, start };
                    let from = random.below(u64::from(count)) as u32 & !1;
                    let mut steps = (from..count).step_by(2);
                    let plain = steps.find(|step| used.binary_search(&walk.port(*step)).is_err());
                    assert_eq!(set.next(walk, from), plain, "{walk:?} from {from}");
                }
            }
        }
    }

    /// With tcp_tw_reuse, every port is checked; without connections in TIME-WAIT, the choice stays the
    /// same.
    #[test]
    fn a_crowded_host_chooses_the_ports_of_the_plain_walk() {
        let (mut quick, mut plain) = (stack(), stack());
        plain.host.sysctl.tcp_tw_reuse = 1;
        let remotes = [80, 81].map(|port| Addr { host: 1, port });
        for stack in [&mut quick, &mut plain] {
            stack.host.sysctl.ip_local_port_range = [40_001, 40_400];
            let at = Addr {
                host: 0,
                port: 40_100,
            };
            stack.listen(at, &OpenOptions::default(), 1, 1500);
        }
        let mut random = Random::stream(1, "ports");
        let mut open: Vec<ConnId> = Vec::new();
        let (mut chosen, mut refused) = (0, 0);
        for n in 0..4000 {
            let now = Instant::from_nanos(n * 20_000_000);
            // More are opened than closed until nearly all ports of both peers are taken.
            if random.below(100) < 38 && !open.is_empty() {
                let id = open.swap_remove(random.below(open.len() as u64) as usize);
                quick.close(now, id);
                plain.close(now, id);
                continue;
            }
            let to = remotes[usize::from(random.below(3) == 0)];
            let options = OpenOptions::default();
            let [a, b] = [&mut quick, &mut plain].map(|s| s.connect(now, 0, to, &options, 1500));
            match (a, b) {
                (Ok(a), Ok(b)) => {
                    assert_eq!(a, b, "connection {n}");
                    open.push(a.0);
                    chosen += 1;
                }
                (a, b) => {
                    assert!(a.is_err() && b.is_err(), "connection {n}");
                    refused += 1;
                }
            }
        }
        assert!(quick.table.used_ports(0, remotes[0]).is_some());
        assert!(plain.table.used_ports(0, remotes[0]).is_none());
        println!(
            "{chosen} connections, {refused} without a port, {} open",
            open.len()
        );
        assert!(refused > 0 && chosen > 1000);
    }
}
