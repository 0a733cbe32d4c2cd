//! `caqm`: the egress queue of a switch that grants, refuses or takes away window, packet by packet (CAQM).
//!
//! Only packets of data with a tag of type 0 are judged; feedback on its way back and everything else passes. Of a judged
//! packet the first byte of INFO may change, and nothing else: C is only set, I only cleared. What waits is a FIFO.
//!
//! DEVIATION: where the reference model and the public text are silent (when a switch judges, how long its period is, what it
//! does with other types), this follows `docs/caqm.md`.

mod credit;
mod settings;

pub use settings::{At, Settings};

use tcplab_base::{Instant, Random};
use tcplab_wire::CaqmInfo;

use crate::discipline::{Configure, Discipline, Named};
use crate::kinds::fifo::{Fifo, Limit};
use crate::packet::Packet;
use crate::qdisc::{Dequeued, Device};
use crate::stats::Stats;
use credit::{Credit, Verdict};

/// The type of congestion control that a switch acts on.
const TYPE: u8 = 0;

/// The qdisc.
#[derive(Clone, Debug)]
pub(crate) struct Caqm<P> {
    settings: Settings,
    /// Bytes of the wire beside a frame's own.
    overhead: u32,
    credit: Credit,
    queue: Fifo<P>,
    own: Own,
    draws: Random,
}

/// What became of packets. The sum of all packets that were judged or passed is what came to be judged.
#[derive(Clone, Copy, Debug, Default)]
struct Own {
    /// Packets that got the window they asked for.
    granted: u64,
    /// Of these: from window that others gave up in the same period.
    shuffled: u64,
    /// Packets whose hint was refused.
    refused: u64,
    /// Packets that were marked: their flow gives up window.
    marked: u64,
    /// Packets that a switch before had marked.
    already_marked: u64,
    /// Packets that ask for nothing, as a switch before had refused them.
    already_refused: u64,
    /// Packets with feedback, which is left alone.
    feedback: u64,
    /// Packets with a tag of another type.
    other_type: u64,
    /// Packets without a tag, or with one that is cut off.
    untagged: u64,
    /// Bytes of window granted.
    granted_bytes: u64,
    /// Bytes of window asked for in vain, those of marked packets included.
    refused_bytes: u64,
    /// The most bytes that waited.
    max_backlog: u64,
}

/// The wire's rate, as it is said here or known of the link.
fn rate(settings: &Settings, device: Device) -> Option<u64> {
    settings.rate.or(device.rate_bps)
}

impl<P: Packet> Configure<Settings> for Caqm<P> {
    fn new(settings: &Settings, device: Device, seed: u64, name: &str) -> Self {
        Self {
            overhead: settings.overhead.unwrap_or(device.overhead),
            credit: Credit::new(settings, rate(settings, device)),
            queue: Fifo::new(Limit::Bytes(settings.limit)),
            own: Own::default(),
            draws: Random::stream(seed, name),
            settings: settings.clone(),
        }
    }

    /// Other settings; what waits stays.
    fn change(&mut self, settings: &Settings, device: Device) -> bool {
        self.overhead = settings.overhead.unwrap_or(device.overhead);
        self.credit.change(settings, rate(settings, device));
        self.queue.set_limit(Limit::Bytes(settings.limit));
        self.settings = settings.clone();
        true
    }
}

impl<P: Packet> Discipline<P> for Caqm<P> {
    /// A super-segment is cut: each packet of the wire asks for itself.
    fn enqueue(&mut self, now: Instant, packet: P) -> bool {
        if packet.segments().is_none() {
            return self.enqueue_one(now, packet);
        }
        let mut pieces = Vec::new();
        if !packet.split(&mut |piece| pieces.push(piece)) {
            return self.enqueue_one(now, packet);
        }
        let mut taken = 0;
        for piece in pieces {
            taken += u32::from(self.enqueue_one(now, piece));
        }
        taken > 0
    }

    fn dequeue(&mut self, now: Instant) -> Dequeued<P> {
        let backlog = self.queue.stats.backlog;
        let Some(mut packet) = self.queue.pop() else {
            return Dequeued::Empty;
        };
        self.credit.at(now, backlog);
        if self.settings.at == At::Dequeue {
            self.judge(&mut packet);
        }
        self.credit.sends(packet.size() + self.overhead);
        Dequeued::Packet(packet)
    }

    fn stats(&self) -> Stats {
        self.queue.stats
    }

    /// Counters have no sign: a negative credit is `debt`.
    fn own(&self) -> Named {
        let (own, credit) = (&self.own, self.credit.left());
        vec![
            ("granted", own.granted),
            ("shuffled", own.shuffled),
            ("refused", own.refused),
            ("marked", own.marked),
            ("already_marked", own.already_marked),
            ("already_refused", own.already_refused),
            ("feedback", own.feedback),
            ("other_type", own.other_type),
            ("untagged", own.untagged),
            ("granted_bytes", own.granted_bytes),
            ("refused_bytes", own.refused_bytes),
            ("credit", credit.max(0) as u64),
            ("debt", (-credit).max(0) as u64),
            ("max_backlog", own.max_backlog),
        ]
    }
}

impl<P: Packet> Caqm<P> {
    fn enqueue_one(&mut self, now: Instant, mut packet: P) -> bool {
        let stats = &mut self.queue.stats;
        let len = packet.size();
        if self.settings.packets.is_some_and(|most| stats.qlen >= most)
            || stats.backlog + u64::from(len) > u64::from(self.settings.limit)
        {
            stats.drops(len);
            return false;
        }
        if self.settings.at == At::Enqueue {
            self.credit.at(now, self.queue.stats.backlog);
            self.judge(&mut packet);
        }
        let fits = self.queue.push(packet);
        self.own.max_backlog = self.own.max_backlog.max(self.queue.stats.backlog);
        fits
    }

    /// The verdict on a packet that has a tag of data; anything else is only counted.
    fn judge(&mut self, packet: &mut P) {
        let own = &mut self.own;
        let Some(info) = packet.caqm(self.settings.ethertype) else {
            own.untagged += 1;
            return;
        };
        if info.cc_type() != TYPE {
            own.other_type += 1;
            return;
        }
        if !info.is_data() {
            own.feedback += 1;
            return;
        }
        let asked = self.credit.asked(info) as u64;
        let verdict = self.credit.judge(info, &mut self.draws);
        match verdict {
            Verdict::AlreadyMarked => own.already_marked += 1,
            Verdict::Granted if !info.has(CaqmInfo::I) => own.already_refused += 1,
            Verdict::Granted | Verdict::GrantedByOthers => {
                own.granted += 1;
                own.granted_bytes += asked;
                own.shuffled += u64::from(verdict == Verdict::GrantedByOthers);
            }
            Verdict::Refused | Verdict::Marked => own.refused_bytes += asked,
        }
        let ethertype = self.settings.ethertype;
        match verdict {
            Verdict::Refused => {
                own.refused += 1;
                packet.set_caqm(ethertype, info.refused());
            }
            Verdict::Marked => {
                own.marked += 1;
                packet.set_caqm(ethertype, info.marked(self.settings.last_hop));
            }
            _ => {}
        }
    }
}
