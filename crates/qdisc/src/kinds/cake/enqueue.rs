//! A packet comes.

use tcplab_base::Instant;

use super::flow::{List, QUEUES, Set};
use super::overflow::Which;
use super::settings::AckFilter;
use super::{Cake, backlog};
use crate::ack_filter;
use crate::packet::Packet;
use crate::store::Waiting;

impl<P: Packet> Cake<P> {
    /// [`crate::Qdisc::enqueue`].
    pub fn arrives(&mut self, now: Instant, mut packet: P) -> bool {
        let len = packet.size();
        let tin = self.select_tin(&mut packet);
        let n = self.select_flow(tin, &packet);
        self.wake(tin, now);
        let count = &mut self.tins[tin].count;
        count.longest = count.longest.max(len);
        let mut arrived = 0_i64;
        let was_split = self.split && {
            let mut pieces = Vec::new();
            let split = packet.split(&mut |piece| pieces.push(piece));
            for piece in pieces {
                arrived += i64::from(self.add(tin, n, piece, now));
            }
            split
        };
        if !was_split {
            arrived += i64::from(self.add(tin, n, packet, now));
            if self.filter != AckFilter::Off {
                // The ACK that leaves may be longer than the packet that comes.
                arrived -= i64::from(self.filter_acks(tin, n, now));
            }
        }
        if self.overflow.is_kept() {
            let (tins, which) = (&self.tins, which(tin, n));
            self.overflow.grew(which, |which| backlog(tins, which));
        }
        self.estimate(now, arrived);
        self.enter_rotation(tin, n);
        self.memory.most = self.memory.most.max(self.memory.used);
        self.make_room(tin, n, now)
    }

    /// The tin of a packet, by its code point, which is cleared with `wash`.
    fn select_tin(&self, packet: &mut P) -> usize {
        let point = usize::from(packet.dscp()) & 63;
        if self.wash && point != 0 {
            packet.wash();
        }
        usize::from(self.plan.of_dscp[point])
    }

    fn select_flow(&mut self, tin: usize, packet: &P) -> usize {
        if self.isolation.is_blind() {
            return 0;
        }
        let hashes = self.isolation.hashes(&packet.flow_keys(), self.key);
        self.tins[tin].classify(hashes, self.isolation)
    }

    /// Clocks of what was empty do not lie in the past.
    fn wake(&mut self, tin: usize, now: Instant) {
        let tin = &mut self.tins[tin];
        if tin.backlog > 0 {
            return;
        }
        tin.time_next = tin.time_next.max(now);
        if self.stats.qlen == 0 && self.shaper.wake(now) {
            self.stats.overlimits += 1;
        }
    }

    /// Puts a packet at the end of its queue; gives its bytes.
    fn add(&mut self, tin: usize, n: usize, packet: P, now: Instant) -> u32 {
        let len = packet.size();
        let header = match self.filter {
            AckFilter::Off => None,
            _ => packet.ack_header(),
        };
        let offset = packet.network_offset();
        let charged = match packet.segments() {
            None => self.overhead.charge(len, offset),
            Some(segments) => self.overhead.charge_all(segments, offset),
        };
        let waiting = Waiting {
            len,
            truesize: packet.truesize(),
            charged,
            since: now,
            packet,
        };
        self.memory.used = self.memory.used.saturating_add(waiting.truesize);
        self.stats.enters(len);
        let tin = &mut self.tins[tin];
        tin.count.packets += 1;
        tin.count.bytes += u64::from(len);
        tin.backlog += len;
        let flow = tin.flows.get_mut(n);
        flow.backlog += len;
        self.store.push(&mut flow.chain, waiting);
        if self.filter != AckFilter::Off {
            self.store.note_header(flow.chain, header);
        }
        len
    }

    /// Drops an ACK that the last packet of the queue makes redundant; gives its bytes.
    fn filter_acks(&mut self, tin: usize, n: usize, now: Instant) -> u32 {
        let flow = self.tins[tin].flows.get_mut(n);
        let Some(trigger) = self.store.last_header(flow.chain) else {
            return 0;
        };
        let before = self.store.headers(flow.chain);
        let Some(place) = ack_filter::redundant(self.filter, before, trigger) else {
            return 0;
        };
        let Some(ack) = self.store.remove(&mut flow.chain, place) else {
            return 0;
        };
        self.shorten(tin, n, &ack);
        self.stats.drops(ack.len);
        let tin = &mut self.tins[tin];
        tin.count.ack_drops += 1;
        if self.ingress {
            self.shaper.charge(tin, ack.charged, now, true);
        }
        ack.len
    }

    fn estimate(&mut self, now: Instant, bytes: i64) {
        if !self.autorate_on {
            self.autorate.idle(now);
        } else if let Some(rate) = self.autorate.on_packet(now, bytes) {
            self.set_rate(rate);
        }
    }

    /// A queue that was empty begins as a sparse flow, unless it is still in the rotation of the bulk flows.
    fn enter_rotation(&mut self, tin: usize, n: usize) {
        let tin = &mut self.tins[tin];
        match tin.flows.get(n).set {
            Set::None | Set::Decaying => {
                tin.flows.move_to(n, List::New);
                tin.becomes(n, Set::Sparse, self.isolation);
                let quantum = tin.quantum_of(n, self.isolation, &mut self.draws);
                tin.flows.get_mut(n).deficit = quantum;
            }
            Set::SparseWait => tin.becomes(n, Set::Bulk, self.isolation),
            Set::Sparse | Set::Bulk => {}
        }
    }

    /// Drops from the longest queues until memory suffices; false: from the queue of the packet that came.
    fn make_room(&mut self, tin: usize, n: usize, now: Instant) -> bool {
        let mut own = false;
        while self.memory.used > self.memory.limit {
            let Some(dropped) = self.drop_from_longest(now) else {
                break;
            };
            own |= dropped == which(tin, n);
        }
        !own
    }

    /// Packets without a byte, which no kernel has, make no queue long: then it is any that holds one.
    #[cold]
    fn any_waiting(&mut self) -> Option<Which> {
        self.overflow.distrust();
        let all = (0..self.tins.len()).flat_map(|tin| (0..QUEUES).map(move |n| (tin, n)));
        let mut waiting = all.filter(|(tin, n)| !self.tins[*tin].flows.get(*n).chain.is_empty());
        waiting.next().map(|(tin, n)| which(tin, n))
    }

    fn drop_from_longest(&mut self, now: Instant) -> Option<Which> {
        let tins = &self.tins;
        let mut longest = self.overflow.longest(|which| backlog(tins, which));
        if backlog(tins, longest) == 0 {
            longest = self.any_waiting()?;
        }
        let (tin, n) = (usize::from(longest.tin), usize::from(longest.flow));
        let flow = self.tins.get_mut(tin)?.flows.get_mut(n);
        let waiting = self.store.pop(&mut flow.chain)?;
        self.shorten(tin, n, &waiting);
        self.stats.drops(waiting.len);
        let of = &mut self.tins[tin];
        let params = of.params;
        if of.flows.get_mut(n).cobalt.queue_full(&params, now) {
            of.count.unresponsive += 1;
        }
        of.count.drops += 1;
        if self.ingress {
            self.shaper.charge(of, waiting.charged, now, true);
        }
        let tins = &self.tins;
        if self.overflow.is_kept() {
            self.overflow.longest_shrank(|which| backlog(tins, which));
        }
        Some(longest)
    }
}

fn which(tin: usize, n: usize) -> Which {
    Which {
        tin: tin as u8,
        flow: n as u16,
    }
}
