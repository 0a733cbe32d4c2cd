//! The first RST of a side, and the packets after it: its sender, the exchange it broke, and whether it broke any (RFC
//! 9293 3.5.2, RFC 5961 3.2, Linux `tcp_validate_incoming()`).

use tcplab_base::{Duration, Instant, Seq};
use tcplab_wire::{TcpFlags, TcpPacket};

use super::data::{At, SANE};
use super::dir::Dir;

/// Data that follows the ACK of a FIN sooner is the end of what its sender was about to say.
const STALE: Duration = Duration::from_millis(20);
/// Longest time by which a RST overtakes data.
const OVERTAKEN: Duration = Duration::from_millis(100);
/// So many ACKs that advance, the last one so long after a RST: it overtook none of them.
const ACKS_ON: u8 = 3;
const ACKS_FOR: Duration = Duration::from_millis(1);
/// Data that its sender sent before a RST reached it passes no later, beside two paths; where the path is not known, no later
/// than the second.
const ON_ITS_WAY: Duration = Duration::from_millis(5);
const ON_ITS_WAY_FAR: Duration = Duration::from_secs(1);
const UNKNOWN_WINDOW: u32 = 1 << 24;

/// A RST with the packets before and after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reset {
    pub packet: u64,
    /// RSTs of this side, this one among them.
    pub count: u32,
    pub ttl: u8,
    /// TTL of the packets of this side before, if they had one and the same.
    pub usual_ttl: Option<u8>,
    /// TTL of the previous packet; 0 before the first.
    before_ttl: u8,
    /// This side had sent its FIN, the other side had ACKed it, and sent data a while later.
    pub stale: bool,
    /// No side had sent its FIN.
    pub open: bool,
    /// Bytes that its peer had sent and it had not ACKed, and the other way round.
    pub unacked: [u32; 2],
    /// First later packet of this side that a side which had sent the RST would not send.
    pub went_on: u64,
    /// That packet is an ACK without data.
    pub acks_on: bool,
    /// Its IP identification follows that of this side's last packet: this side made it.
    pub own_id: bool,
    /// It has no ACK: the answer to a packet that arrived (RFC 9293 3.5.2).
    pub answers: bool,
    /// How far its number is ahead of all that this side had sent; negative: behind what its peer had ACKed.
    pub off: i32,
    /// It is in the window of the peer, as far as known.
    pub in_window: bool,
    /// The peer's next packet: an ACK that brings no news (RFC 5961 3.2, a challenge ACK). 0: another one.
    pub challenge: u64,
    /// What shows that the peer did not take the RST, and its packet.
    pub proof: Option<(Went, u64)>,
    /// This side sent news after it.
    pub sent_on: bool,
    peer_sent: bool,
    newest: Newest,
}

/// How the peer of a RST went on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Went {
    /// It ACKed data that came after the RST.
    Acked,
    /// It sent new data later than what was on its way, and the other end ACKed on.
    Sent,
    /// It echoed the time stamp of a packet that came after the RST.
    Echoed,
}

/// Where the connection stood when the newest RST passed.
#[derive(Clone, Copy, Debug)]
struct Newest {
    at: Instant,
    /// What this side had sent by then, as the RST or its packets tell.
    end: Seq,
    /// What the peer had sent.
    peer_nxt: Seq,
    /// What this side has ACKed.
    acked: Seq,
    /// How often it ACKed more since then, and the first packet that did.
    acks: u8,
    first_ack: u64,
    /// TSval of the first packet that the RST did not overtake.
    stamp: Option<u32>,
}

/// RSTs that the peer did not take.
#[derive(Clone, Debug)]
pub(crate) struct Ignored {
    /// The first of them.
    pub first: Reset,
    pub count: u32,
}

impl Reset {
    /// Its end went on, the number was not the next one, and the packets of the peer are not there: it may have ignored it.
    pub(crate) fn is_doubtful(&self, peer: &Dir) -> bool {
        self.sent_on && self.off != 0 && peer.packets == 0
    }
}

impl Newest {
    fn new(tx: &Dir, peer: &Dir, p: &TcpPacket, now: Instant) -> Self {
        let ahead = p.seq.distance(tx.nxt);
        let overtakes = ahead > 0 && ahead.unsigned_abs() <= reach(peer);
        Self {
            at: now,
            end: if overtakes { p.seq } else { tx.nxt },
            peer_nxt: peer.nxt,
            acked: peer.una,
            acks: 0,
            first_ack: 0,
            stamp: None,
        }
    }

    /// Data of `peer` that passes later was not on its way when the RST passed.
    fn was_on_its_way_until(&self, peer: &Dir, path_us: u32) -> Instant {
        let longest = if peer.knows_path() {
            Duration::from_micros(i64::from(path_us) * 2) + ON_ITS_WAY
        } else {
            ON_ITS_WAY_FAR
        };
        self.at + longest
    }
}

/// So far ahead of what it has a side takes data: its largest window. Where its packets are not there, a large one.
fn reach(d: &Dir) -> u32 {
    if d.packets == 0 {
        return UNKNOWN_WINDOW;
    }
    d.window.max(d.window_range.1)
}

impl Dir {
    /// Notes a RST of this side; `peer` is the other side.
    pub(crate) fn note_reset(&mut self, peer: &Self, p: &TcpPacket, at: At) {
        let newest = Newest::new(self, peer, p, at.now);
        let rare = self.rare.as_deref_mut();
        if let Some(reset) = rare.and_then(|r| r.reset.as_deref_mut()) {
            reset.count += 1;
            reset.newest = newest;
            return;
        }
        let usual = self.ttl != 0 && !self.ttl_varies && self.packets > 2;
        let ack = p.flags.has(TcpFlags::ACK).then_some(p.ack);
        let by_rst = ack.filter(|a| a.at_or_before(peer.nxt));
        let unacked = |d: &Self, by: Option<Seq>| {
            let una = by.map_or(d.una, |a| a.max(d.una));
            // Without any captured ACK nobody can tell.
            if d.acks_seen {
                d.nxt - una.min(d.nxt)
            } else {
                0
            }
        };
        let behind = p.seq.distance(self.una).min(0);
        let off = p.seq.distance(self.nxt).max(behind);
        let reset = Reset {
            packet: at.number,
            count: 1,
            ttl: p.ttl,
            usual_ttl: usual.then_some(self.ttl),
            before_ttl: self.ttl,
            stale: self.fin_acked
                && unacked(peer, by_rst) > 1
                && peer.last_data.since(self.progress) >= STALE,
            open: !self.fin_seen && !peer.fin_seen,
            unacked: [unacked(peer, by_rst), unacked(self, None)],
            went_on: 0,
            acks_on: false,
            own_id: p.ip_id.is_some_and(|id| self.is_next(id)),
            answers: ack.is_none(),
            off,
            in_window: off >= 0 && p.seq.distance(self.una).unsigned_abs() < peer.window,
            challenge: 0,
            proof: None,
            sent_on: false,
            peer_sent: false,
            newest,
        };
        self.rare().reset = Some(Box::new(reset));
    }

    /// A packet of `peer`, the peer of a side that may have sent a RST. True: it shows that the RST was ignored.
    pub(crate) fn peer_after_reset(&mut self, peer: &Self, p: &TcpPacket, at: At) -> bool {
        let path = peer.path_us.max(self.srtt_us);
        let (una, nxt) = (self.una, self.nxt);
        let rare = self.rare.as_deref_mut();
        let Some(reset) = rare.and_then(|r| r.reset.as_deref_mut()) else {
            return false;
        };
        if p.flags.has(TcpFlags::RST) {
            return false;
        }
        let new = &reset.newest;
        let bare = p.payload_len == 0 && !p.flags.has(TcpFlags::SYN | TcpFlags::FIN);
        let ack = p.flags.has(TcpFlags::ACK);
        if !std::mem::replace(&mut reset.peer_sent, true)
            && bare
            && ack
            && reset.in_window
            && reset.off > 0
            && p.ack == una
            && p.ack.at_or_before(new.end)
        {
            reset.challenge = at.number;
        }
        let echo = p.options.timestamps.map(|t| t.1);
        let went = if ack && p.ack.after(new.end) && p.ack.at_or_before(nxt) {
            Went::Acked
        } else if new.was_on_its_way_until(peer, path) <= at.now
            && p.seq_end() != p.seq
            && p.seq_end().after(new.peer_nxt)
            && (new.acks >= ACKS_ON || new.acked.after(new.peer_nxt))
        {
            Went::Sent
        } else if new
            .stamp
            .zip(echo)
            .is_some_and(|(s, e)| Seq(e).after(Seq(s)))
        {
            Went::Echoed
        } else {
            return false;
        };
        reset.proof = Some((went, at.number));
        true
    }

    /// Its peer did not take the RST.
    pub(crate) fn ignore_reset(&mut self) {
        let Some(reset) = self.rare().reset.take() else {
            return;
        };
        match &mut self.seldom_mut().ignored {
            Some(ignored) => ignored.count = ignored.count.saturating_add(reset.count),
            none => {
                *none = Some(Box::new(Ignored {
                    count: reset.count,
                    first: *reset,
                }));
            }
        }
    }

    /// A packet after a RST of some side.
    pub(crate) fn after_reset(&mut self, p: &TcpPacket, at: At) {
        let nxt = self.nxt;
        let rare = self.rare.as_deref_mut();
        let Some(reset) = rare.and_then(|r| r.reset.as_deref_mut()) else {
            return;
        };
        if p.ttl == reset.before_ttl && p.ttl != reset.ttl {
            // The packets around the RST agree.
            reset.usual_ttl = Some(p.ttl);
        }
        if p.flags.has(TcpFlags::RST) {
            return;
        }
        let new = &mut reset.newest;
        let late = at.now.since(new.at);
        if late >= ACKS_FOR && new.stamp.is_none() {
            new.stamp = p.options.timestamps.map(|t| t.0);
        }
        if p.payload_len > 0 {
            reset.sent_on = true;
            // New data, so late that it was not sent before the RST.
            if late >= OVERTAKEN && p.seq_end() == nxt && p.seq.before(new.end) {
                new.end = p.seq;
            }
            if reset.went_on == 0 && p.seq_end().after(new.end) {
                reset.went_on = at.number;
            }
        }
        let more = p.ack.distance(new.acked);
        if p.flags.has(TcpFlags::ACK) && more > 0 && more.unsigned_abs() < SANE {
            reset.sent_on = true;
            new.acked = p.ack;
            new.acks = new.acks.saturating_add(1);
            if new.acks == 1 {
                new.first_ack = at.number;
            }
            let on = new.acks >= ACKS_ON && late >= ACKS_FOR && !reset.own_id;
            if on && reset.went_on == 0 && p.payload_len == 0 {
                reset.went_on = new.first_ack;
                reset.acks_on = true;
            }
        }
    }
}
