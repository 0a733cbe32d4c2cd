//! The first RST of a side, and what passes after it: who made it, and what it broke (RFC 9293 3.5.2).

use tcplab_base::{Duration, Seq};
use tcplab_wire::{TcpFlags, TcpPacket};

use super::dir::Dir;

/// Data that follows the ACK of a FIN sooner is the end of what its sender was about to say.
const STALE: Duration = Duration::from_millis(20);

/// A RST, and what was there before and after it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reset {
    pub packet: u64,
    /// What this side had sent by then, as the RST or its packets tell.
    end: Seq,
    pub ttl: u8,
    /// TTL of the packets of this side before, if they had one and the same.
    pub usual_ttl: Option<u8>,
    /// TTL of the packet before; 0: there was none.
    before_ttl: u8,
    /// This side had sent its FIN, the other side had ACKed it, and sent data a while later.
    pub stale: bool,
    /// No side had sent its FIN.
    pub open: bool,
    /// Bytes that its peer had sent and it had not ACKed, and the other way round.
    pub unacked: [u32; 2],
    /// First later packet of this side with data that the RST does not know of.
    pub went_on: u64,
    /// Its IP identification follows that of this side's last packet: this side made it.
    pub own_id: bool,
    /// It has no ACK: the answer to a packet that arrived (RFC 9293 3.5.2).
    pub answers: bool,
    /// The peer ACKed data that this side sent later: it did not take the RST.
    pub ignored: bool,
}

impl Dir {
    /// Notes its first RST; `peer` is the other side.
    pub(crate) fn note_reset(&mut self, peer: &Self, p: &TcpPacket, number: u64) {
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
        let near = p.seq.distance(self.nxt).unsigned_abs() < 1 << 24;
        let reset = Reset {
            packet: number,
            end: if near { p.seq.max(self.nxt) } else { self.nxt },
            ttl: p.ttl,
            usual_ttl: usual.then_some(self.ttl),
            before_ttl: self.ttl,
            stale: self.fin_acked
                && unacked(peer, by_rst) > 1
                && peer.last_data.since(self.progress) >= STALE,
            open: !self.fin_seen && !peer.fin_seen,
            unacked: [unacked(peer, by_rst), unacked(self, None)],
            went_on: 0,
            own_id: p.ip_id.is_some_and(|id| self.is_next(id)),
            answers: ack.is_none(),
            ignored: false,
        };
        self.rare().reset.get_or_insert(Box::new(reset));
    }

    /// A packet of the peer of a side that sent a RST.
    pub(crate) fn peer_after_reset(&mut self, p: &TcpPacket) {
        let rare = self.rare.as_deref_mut();
        if let Some(reset) = rare.and_then(|r| r.reset.as_deref_mut()) {
            reset.ignored |= p.flags.has(TcpFlags::ACK) && p.ack.after(reset.end);
        }
    }

    /// A packet after a RST of some side.
    pub(crate) fn after_reset(&mut self, p: &TcpPacket, number: u64) {
        let rare = self.rare.as_deref_mut();
        if let Some(reset) = rare.and_then(|r| r.reset.as_deref_mut())
            && p.ttl == reset.before_ttl
            && p.ttl != reset.ttl
        {
            // The packets around the RST agree.
            reset.usual_ttl = Some(p.ttl);
        }
        if let Some(reset) = self
            .rare
            .as_deref_mut()
            .and_then(|r| r.reset.as_deref_mut())
            && reset.went_on == 0
            && p.payload_len > 0
            && !p.flags.has(TcpFlags::RST)
            && p.seq_end().after(reset.end)
        {
            reset.went_on = number;
        }
    }
}
