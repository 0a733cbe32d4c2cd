//! Packets seen twice: captured twice, or duplicated by the network. A DSACK tells which (RFC 2883).
//!
//! An immediate copy repeats all fields of the previous packet. A later copy is known by its IP identification (RFC
//! 6864) and time stamp: it left no later than the newest data seen, so neither a timer nor a request caused it.
//! Without these fields, only the time between the two shows it.

use tcplab_base::{Duration, Instant, Seq};
use tcplab_wire::{TcpFlags, TcpPacket};

use super::data::{NEAR_IDS, near, rtt};
use super::dir::{self, Dir};
use super::{Connection, loss};

/// So soon nothing can have told the sender of a loss.
const AT_ONCE: Duration = Duration::from_micros(100);
/// After so long a timer may have sent it again: some stacks and tunnels keep the IP identification then.
const TIMER: Duration = Duration::from_millis(150);

/// No timer in use sends a SYN again sooner (RFC 6298 2.1: 1 s; Windows after a RST: 500 ms).
const SYN_TIMER: Duration = Duration::from_millis(50);
/// Two interfaces, or a mirror port, show the same packet less far apart.
const APART: Duration = Duration::from_millis(20);
/// From this part (1 of so many) of the packets on, what looks like a copy is one.
const OFTEN: u64 = 4;
/// So many packets of a side may pass between the two.
const BETWEEN: usize = 256;

/// The newest packets of a side, from the first copy of the connection on.
#[derive(Clone, Debug)]
pub(crate) struct Recent {
    /// What tells them apart ([`dir::mark`]), and when they passed.
    packets: [(u64, Instant); BETWEEN],
    next: usize,
}

impl Recent {
    fn new(mark: u64, now: Instant) -> Box<Self> {
        let mut recent = Box::new(Self {
            packets: [(0, now); BETWEEN],
            next: 0,
        });
        recent.add(mark, now);
        recent
    }

    pub(super) fn add(&mut self, mark: u64, now: Instant) {
        self.packets[self.next % BETWEEN] = (mark, now);
        self.next += 1;
    }

    /// Whether a packet is among them; `once`: no other one is a copy of the same.
    fn takes(&mut self, mark: u64, now: Instant, once: bool) -> bool {
        // With an identification it is the same packet: both ends of a path are further apart than two interfaces.
        let apart = if once { APART } else { TIMER };
        let is_it = |(of, at): &&mut (u64, Instant)| *of == mark && now.since(*at) <= apart;
        let Some(found) = self.packets.iter_mut().find(is_it) else {
            return false;
        };
        if once {
            found.0 = 0;
        }
        true
    }
}

impl Connection {
    /// A copy passes: from now on more of them are expected, of both sides.
    #[cold]
    pub(super) fn note_copy(&mut self, dir: usize, p: &TcpPacket, now: Instant) {
        self.dirs[dir].rare().capture_duplicates += 1;
        if let Some(loss) = self.dirs[dir].loss.as_deref_mut() {
            loss.passes_again(p);
        }
        for d in &mut self.dirs {
            let (mark, at) = (d.previous, d.last_packet);
            let recent = &mut d.seldom_mut().recent;
            recent.get_or_insert_with(|| Recent::new(mark, at));
        }
        if !is_told(p) {
            // Its one copy has come.
            let recent = self.dirs[dir].seldom_mut().recent.as_deref_mut();
            if let Some(recent) = recent {
                recent.takes(dir::mark(p), now, true);
            }
        }
    }

    /// Whether this is a packet that was there before, once more.
    pub(super) fn is_copy(&mut self, dir: usize, mark: u64, p: &TcpPacket, now: Instant) -> bool {
        let d = &self.dirs[dir];
        let timed = is_told(p) || !self.is_untimed();
        (d.previous == mark && d.packets > 0 && timed && self.repeats(d, p, now))
            || (p.payload_len > 1
                && p.seq.before(d.nxt)
                && !self.is_untimed()
                && (came_later(d, p, now) || is_doubled(d, p, now)))
            || (p.flags.has(TcpFlags::SYN) && self.copies_syn(dir, p, now))
            || self.passed_lately(dir, mark, p, now)
    }

    /// A SYN or SYN-ACK of a side passes once more: sooner than any timer sends it again, so it is a copy. Two SYN-ACKs that
    /// follow each other closely are no copies if the second answers a repeated SYN of the peer, or has another time stamp.
    fn copies_syn(&self, dir: usize, p: &TcpPacket, now: Instant) -> bool {
        let (own, peer, h) = (&self.dirs[dir], &self.dirs[1 - dir], &self.handshake);
        let first = if p.flags.has(TcpFlags::ACK) {
            h.synack_at
        } else {
            h.syn_at
        };
        let was_there = first.is_some() && p.seq.before(own.nxt) && !super::crosses(own, peer, p);
        let repeated = peer.loss.as_deref().is_some_and(|l| l.syn > 0);
        let answers = repeated && !own.acks_seen && peer.last_packet >= own.last_packet;
        let stamp = p.options.timestamps;
        let differs = stamp.is_some_and(|(tsval, _)| tsval as u16 != h.syn_stamps[dir]);
        was_there && now.since(own.last_packet) < SYN_TIMER && !answers && !differs
    }

    /// It looks like one of the newest packets. Without an identification a packet sent again may look the same: there each
    /// packet has one copy, and only if many have one. A second SYN-ACK may answer a second SYN.
    fn passed_lately(&mut self, dir: usize, mark: u64, p: &TcpPacket, now: Instant) -> bool {
        if self.dirs[dir].seldom().is_none_or(|s| s.recent.is_none()) {
            return false;
        }
        let peer = &self.dirs[1 - dir];
        let repeated = peer.loss.as_deref().is_some_and(|l| l.syn > 0);
        let told = is_told(p);
        // A device may copy one direction only: where this one has no copies yet, what was asked for is sent again.
        let [own, peer_often] = [dir, 1 - dir].map(|d| self.dirs[d].has_copies(OFTEN));
        let asked = was_asked_for(&self.dirs[dir], now);
        let often = (own || (peer_often && !asked)) && !self.is_untimed();
        let once = !told && often && !(p.flags.has(TcpFlags::SYN) && repeated);
        let rare = self.dirs[dir].rare.as_deref_mut();
        let recent = rare.and_then(|r| r.seldom.as_deref_mut()?.recent.as_deref_mut());
        (told || once) && recent.is_some_and(|r| r.takes(mark, now, once))
    }

    /// It looks like the packet before.
    fn repeats(&self, d: &Dir, p: &TcpPacket, now: Instant) -> bool {
        let doubled = self
            .dirs
            .iter()
            .filter_map(|d| d.rare.as_ref())
            .any(|r| r.capture_duplicates > 0);
        dir::repeats(p, now.since(d.last_packet), doubled)
    }
}

/// Its IP identification tells it from what is sent again.
fn is_told(p: &TcpPacket) -> bool {
    p.ip_id.unwrap_or(0) != 0
}

/// A retransmission passes twice, as the same packet: a timer would have given it another number, or waited longer.
fn is_doubled(tx: &Dir, p: &TcpPacket, now: Instant) -> bool {
    let soon = now.since(tx.last_data) < TIMER;
    soon && tx.loss.as_deref().is_some_and(|l| l.is_same(p))
}

/// `p` repeats what `tx` sent before. Did it leave with that, and not later?
fn came_later(tx: &Dir, p: &TcpPacket, now: Instant) -> bool {
    let end = p.seq_end();
    let alone = !p.flags.has(TcpFlags::SYN | TcpFlags::FIN | TcpFlags::RST);
    // What the capture missed, or what was sent again meanwhile, may turn up late, and come for the first time.
    let missed = tx.rare.as_deref().is_some_and(|r| r.missed.bytes > 0);
    let missed = missed || tx.loss.as_deref().is_some_and(|l| l.has_repaired(p));
    if !alone || missed || end.after(tx.nxt) || !tx.acks_seen || was_asked_for(tx, now) {
        return false;
    }
    let was_there = end.at_or_before(tx.una) || tx.flight.holds(p.seq, end);
    let soon = now.since(tx.last_data) < TIMER;
    (was_there && soon && left_before(tx, p, now)) || came_at_once(tx, p, now)
}

/// Whether the packet repeats one that passed a moment ago and contains nothing newer. Either a card cut a large
/// segment that was captured before and after the cut, or the capture has the packet twice. After a stall of the path
/// a retransmission can follow as closely; its time stamp shows it, or else the length of the stall.
fn came_at_once(tx: &Dir, p: &TcpPacket, now: Instant) -> bool {
    let newest = tx.clock.newest();
    let newer = match p.options.timestamps {
        Some((tsval, _)) => Seq(tsval).after(Seq(newest)),
        None => now.since(tx.progress) >= TIMER,
    };
    !newer && tx.flight.passed_since(p.seq, p.seq_end(), now - AT_ONCE)
}

/// It left no later than the newest data that was seen.
fn left_before(tx: &Dir, p: &TcpPacket, now: Instant) -> bool {
    let newest = tx.clock.newest();
    let stamps = p.options.timestamps.filter(|_| tx.clock.runs());
    let by_stamp = stamps.map(|(tsval, _)| Seq(tsval).at_or_before(Seq(newest)));
    let (id, before) = (p.ip_id.unwrap_or(0), tx.newest_id);
    let step = id.wrapping_sub(before) as i16;
    let counts = id != 0 && before != 0 && step.unsigned_abs() < NEAR_IDS as u16;
    match (counts, by_stamp) {
        (true, Some(stamp)) => step <= 0 && stamp,
        // Without time stamps: a random identification may be near by chance.
        (true, None) => step <= 0 && tx.id_run >= 1,
        (false, Some(stamp)) => stamp,
        (false, None) => soon(tx, now),
    }
}

/// Without IP identifications and time stamps: data came without a pause, so no timer of its sender had expired.
fn soon(tx: &Dir, now: Instant) -> bool {
    let (Some(load), Some(near)) = (tx.load(), near(tx)) else {
        return false;
    };
    // A hole that closed since may have been told of all the same: what it asked for is still to come.
    let told = tx.loss.as_deref().and_then(|l| l.told.get());
    if told.is_some_and(|told| now.since(told) <= lately(tx)) {
        return false;
    }
    let idle = now.since(tx.last_data.max(tx.progress));
    idle.as_nanos() < near.as_nanos() / 2 && !load.resumed_lately(now, lately(tx))
}

/// As long as what was told may still come.
fn lately(tx: &Dir) -> Duration {
    rtt(tx) + rtt(tx) + Duration::from_millis(20)
}

/// Something told the sender of a hole, now or a moment ago: a retransmission may have been overtaken.
fn was_asked_for(tx: &Dir, now: Instant) -> bool {
    let asked = |l: &loss::Loss| {
        l.dupacks > 0
            || l.sacked_high.is_some()
            || l.recovering()
            || l.episodes.just_ended(now, lately(tx)).is_some()
    };
    tx.loss.as_deref().is_some_and(asked)
}
