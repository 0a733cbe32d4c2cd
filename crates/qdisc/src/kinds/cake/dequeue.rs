//! The interface asks for a packet.

use tcplab_base::Instant;

use super::Cake;
use super::flow::{List, Set};
use crate::packet::Packet;
use crate::qdisc::Dequeued;
use crate::store::Waiting;

/// A packet and the queue that it is from.
struct Served<P> {
    n: usize,
    waiting: Waiting<P>,
}

/// What came of asking a queue.
enum Take<P> {
    Packet(Waiting<P>),
    /// A packet was dropped and charged: the turn may have ended.
    Again,
    /// The queue has no packet.
    Empty,
}

impl<P: Packet> Cake<P> {
    /// [`crate::Qdisc::dequeue`].
    pub fn next(&mut self, now: Instant) -> Dequeued<P> {
        // A decaying flow is looked at once for each packet.
        let mut first = true;
        while self.stats.qlen > 0 {
            if let Some(until) = self.held_until(now) {
                self.stats.overlimits += 1;
                return Dequeued::Wait(until);
            }
            if !self.choose_tin(now) {
                return Dequeued::Empty;
            }
            if let Some(served) = self.serve(now, &mut first) {
                return Dequeued::Packet(self.leaves(served, now));
            }
        }
        Dequeued::Empty
    }

    /// Sets the tin to serve; false: no queue of any tin is in a rotation.
    fn choose_tin(&mut self, now: Instant) -> bool {
        match self.shaper.rate.is_unlimited() {
            true => self.choose_by_weight(),
            false => self.choose_by_time(now),
        }
    }

    /// The tin of highest priority that keeps to its rate; else the one whose time comes first.
    fn choose_by_time(&mut self, now: Instant) -> bool {
        let mut best = None;
        for (n, tin) in self.tins.iter().enumerate().take(self.plan.tins()) {
            if !tin.is_active() {
                continue;
            }
            let wait = tin.time_next.since(now).as_nanos();
            if wait <= 0 || best.is_none_or(|(_, least)| wait <= least) {
                best = Some((n, wait));
            }
        }
        self.tin = best.map_or(0, |(n, _)| n);
        best.is_some()
    }

    /// Without a shaper: tins in turn, by their weights.
    fn choose_by_weight(&mut self) -> bool {
        let tins = self.plan.tins();
        if !self.tins[..tins].iter().any(super::Tin::is_active) {
            return false;
        }
        self.tin %= tins;
        loop {
            let tin = &mut self.tins[self.tin];
            if tin.deficit >= 0 && tin.is_active() {
                return true;
            }
            if tin.deficit <= 0 {
                tin.deficit += i32::from(tin.quantum);
            }
            self.tin = (self.tin + 1) % tins;
        }
    }

    /// The next packet of the tin by DRR++ (the sparse flows first); none: the queue whose turn it was is empty, or all
    /// its packets were dropped.
    fn serve(&mut self, now: Instant, first: &mut bool) -> Option<Served<P>> {
        loop {
            let n = self.next_flow(first)?;
            if self.tins[self.tin].flows.get(n).deficit <= 0 {
                self.end_turn(n);
                continue;
            }
            match self.take(n, now) {
                Take::Packet(waiting) => return Some(Served { n, waiting }),
                Take::Again => {}
                Take::Empty => return None,
            }
        }
    }

    /// The first decaying flow once, then new flows, old flows, decaying flows.
    fn next_flow(&self, first: &mut bool) -> Option<usize> {
        let flows = &self.tins[self.tin].flows;
        let decaying = || flows.first(List::Decaying);
        let once = if *first { decaying() } else { None };
        *first = false;
        once.or_else(|| flows.first(List::New))
            .or_else(|| flows.first(List::Old))
            .or_else(decaying)
    }

    /// A flow has used its quantum: it gets another and waits among the old flows.
    fn end_turn(&mut self, n: usize) {
        let tin = &mut self.tins[self.tin];
        let flow = tin.flows.get(n);
        if flow.set == Set::Sparse {
            let set = match flow.chain.is_empty() {
                true => Set::SparseWait,
                false => Set::Bulk,
            };
            tin.becomes(n, set, self.isolation);
        }
        let quantum = tin.quantum_of(n, self.isolation, &mut self.draws);
        tin.flows.get_mut(n).deficit += quantum;
        tin.flows.move_to(n, List::Old);
    }

    /// A packet of a queue, through COBALT.
    fn take(&mut self, n: usize, now: Instant) -> Take<P> {
        loop {
            let Some(mut waiting) = self.take_head(self.tin, n) else {
                self.retire(n, now);
                return Take::Empty;
            };
            let tin = &mut self.tins[self.tin];
            let params = tin.params;
            let bulk = match self.ingress {
                true => u64::from(tin.bulk),
                false => 0,
            };
            let flow = tin.flows.get_mut(n);
            let (entered, packet) = (waiting.since, &mut waiting.packet);
            let mark = || packet.set_ce();
            let verdict =
                flow.cobalt
                    .on_dequeue(&params, now, entered, bulk, mark, &mut self.draws);
            // The last packet of a queue may be marked, it is never dropped.
            if !verdict.drop || flow.chain.is_empty() {
                tin.count.marks += u32::from(verdict.marked);
                return Take::Packet(waiting);
            }
            tin.count.drops += 1;
            self.stats.drops(waiting.len);
            if self.ingress {
                self.charge(n, &waiting, now, true);
                return Take::Again;
            }
        }
    }

    /// An empty queue leaves the rotation when COBALT is at rest, and decays otherwise.
    fn retire(&mut self, n: usize, now: Instant) {
        let tin = &mut self.tins[self.tin];
        let params = tin.params;
        let cobalt = &mut tin.flows.get_mut(n).cobalt;
        if cobalt.queue_empty(&params, now) {
            tin.count.unresponsive = tin.count.unresponsive.saturating_sub(1);
        }
        if tin.flows.get(n).cobalt.is_at_rest(now) {
            tin.flows.unlink(n);
            tin.becomes(n, Set::None, self.isolation);
        } else {
            tin.flows.move_to(n, List::Decaying);
            tin.becomes(n, Set::Decaying, self.isolation);
        }
    }

    /// A packet is charged to its flow, its tin and the link.
    fn charge(&mut self, n: usize, waiting: &Waiting<P>, now: Instant, dropped: bool) {
        let tin = &mut self.tins[self.tin];
        self.shaper.charge(tin, waiting.charged, now, dropped);
        tin.flows.get_mut(n).deficit -= waiting.charged as i32;
        // Without a meaning while the shaper works, and never refilled then.
        tin.deficit = tin.deficit.wrapping_sub(waiting.charged as i32);
    }

    fn leaves(&mut self, served: Served<P>, now: Instant) -> P {
        let Served { n, waiting } = served;
        self.stats.leaves(waiting.len);
        let sojourn = now.since(waiting.since).as_nanos();
        self.tins[self.tin].left(sojourn.max(0) as u64);
        self.charge(n, &waiting, now, false);
        self.overflow.age();
        waiting.packet
    }
}
