//! The rules: one segment against what both directions have shown so far.

use tcplab_base::{Instant, Seq};
use tcplab_wire::{TcpFlags, TcpPacket};

use super::Verdicts as V;

/// A segment this soon after the highest one is out of order rather than retransmitted, when the
/// handshake gave no RTT.
const OUT_OF_ORDER_NS: u64 = 3_000_000;

/// A retransmission this soon after the last ACK is a fast one.
const FAST_RETRANSMISSION_NS: u64 = 20_000_000;

/// Wireshark remembers this many segments that nobody ACKed; beyond it a SYN or FIN takes no
/// sequence number.
const MAX_UNACKED_SEGMENTS: u32 = 10_000;

/// Window scaling of a direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Scale {
    /// No SYN was seen.
    #[default]
    Unknown,
    /// Not used in this connection.
    None,
    /// The shift.
    Shift(u8),
}

/// What one direction has shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Flow {
    /// The initial sequence number, seen or guessed.
    pub base_seq: Option<Seq>,
    /// After the highest byte sent; 0 means not known.
    pub next_seq: Seq,
    /// After the highest byte without a hole below it; 0 means not known. What the peer may ACK.
    pub contiguous: Seq,
    /// ACK field of the last packet, whether or not its ACK flag was set.
    pub last_ack: Seq,
    /// How often that ACK was repeated; `u32::MAX` after an ACK of something not captured, which
    /// both silences further ones and counts as "two or more".
    pub dup_acks: u32,
    /// Frame of the ACK that is repeated (the low 32 bits of its number).
    pub last_new_ack: u32,
    /// Window field of the last packet; `u32::MAX` before the first.
    pub window: u32,
    /// Time of the last packet.
    pub last_time_ns: i64,
    /// Time of the packet that moved `next_seq`.
    pub next_seq_time_ns: i64,
    /// Scaling of the windows that this direction announces.
    pub scale: Scale,
    /// The last window announced stood in a SYN, where scaling does not hold.
    pub unscaled: bool,
    /// KEEP_ALIVE and ZERO_WINDOW_PROBE as the last packet had them.
    pub last_probe: u16,
    /// Kinds of Multipath TCP options that the connection had shown before the last packet.
    pub mptcp: u8,
    pub unacked: Unacked,
}

impl Flow {
    /// Right edge of the window that this direction announced last.
    #[inline]
    pub(super) fn window_edge(&self) -> Option<Seq> {
        let shift = match self.scale {
            Scale::Unknown => return None,
            Scale::Shift(shift) if !self.unscaled => shift,
            Scale::Shift(_) | Scale::None => 0,
        };
        Some(self.last_ack + (self.window << shift))
    }
}

/// About how many segments wait for an ACK. Exact while no ACK comes at all (a capture of one
/// direction, the only case where the limit is met); otherwise counted in two portions, so at
/// most one portion too high.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Unacked {
    /// End of the older portion.
    mark: Seq,
    older: u16,
    newer: u16,
}

impl Unacked {
    #[inline]
    pub(super) fn is_full(self) -> bool {
        u32::from(self.older) + u32::from(self.newer) >= MAX_UNACKED_SEGMENTS
    }

    #[inline]
    pub(super) fn add(&mut self, end: Seq) {
        if self.older == 0 {
            self.mark = end;
            self.older = 1;
        } else {
            self.newer += 1;
        }
    }

    #[inline]
    pub(super) fn acked(&mut self, ack: Seq, next_seq: Seq) {
        if self.older == 0 || self.mark.after(ack) {
            return;
        }
        if next_seq.at_or_before(ack) {
            (self.older, self.newer) = (0, 0);
        } else {
            (self.older, self.newer) = (self.newer, 0);
            self.mark = next_seq;
        }
    }
}

/// The packet in hand, in the terms of the rules.
pub(super) struct Segment {
    time_ns: i64,
    number: u32,
    seq: Seq,
    ack: Seq,
    len: u32,
    window: u32,
    flags: TcpFlags,
    /// What the connection knew before this packet.
    context: Context,
}

/// What the rules need to know of the connection, beside its two directions.
#[derive(Clone, Copy)]
pub(super) struct Context {
    /// From SYN to ACK, 0 when not known.
    pub first_rtt_ns: i64,
    /// Kinds of Multipath TCP options seen.
    pub mptcp: u8,
}

impl Segment {
    pub fn new(time: Instant, number: u64, p: &TcpPacket, context: Context) -> Self {
        Self {
            time_ns: time.as_nanos(),
            number: number as u32,
            seq: p.seq,
            ack: p.ack,
            len: p.payload_len,
            window: u32::from(p.window),
            flags: p.flags,
            context,
        }
    }

    fn is_control(&self) -> bool {
        self.flags
            .has(TcpFlags::SYN | TcpFlags::FIN | TcpFlags::RST)
    }

    fn has_syn_or_fin(&self) -> bool {
        self.flags.has(TcpFlags::SYN | TcpFlags::FIN)
    }

    /// All verdicts that the numbers give, and the new state. `so_far` holds REUSED_PORTS or nothing.
    pub fn judge(&self, fwd: &mut Flow, rev: &mut Flow, so_far: u32) -> u32 {
        let mut v = so_far | self.against_windows(fwd, rev);
        if v & V::DUPLICATE_ACK != 0 {
            // u32::MAX becomes 1, like 0.
            fwd.dup_acks = fwd.dup_acks.checked_add(1).unwrap_or(1);
        }
        if self.ack != fwd.last_ack {
            fwd.last_new_ack = self.number;
            fwd.dup_acks = 0;
        }
        v |= self.acked_unseen(rev);
        if v & V::KEEP_ALIVE == 0 && (self.len > 0 || self.has_syn_or_fin()) {
            v |= self.sent_before(fwd, rev);
        }
        self.advance(fwd, v);
        rev.unacked.acked(self.ack, rev.next_seq);
        v
    }

    /// What follows from position and windows.
    fn against_windows(&self, fwd: &Flow, rev: &Flow) -> u32 {
        if self.len == 1 && self.seq == fwd.next_seq && rev.window == 0 {
            return V::ZERO_WINDOW_PROBE;
        }
        let mut v = 0;
        let beyond = fwd.next_seq != Seq(0) && self.seq.after(fwd.next_seq);
        if beyond && !self.flags.has(TcpFlags::RST) {
            v |= V::LOST_SEGMENT;
        }
        if self.is_control() {
            return v;
        }
        if self.window == 0 {
            v |= V::ZERO_WINDOW;
        }
        if self.len <= 1 && self.seq == fwd.next_seq - 1 {
            v |= V::KEEP_ALIVE;
        }
        if self.len > 0 {
            if rev.window_edge() == Some(self.seq + self.len) {
                v |= V::WINDOW_FULL;
            }
        } else if self.seq == fwd.next_seq && self.ack == fwd.last_ack {
            v |= self.repeated_ack(fwd, rev);
        }
        v
    }

    /// An empty segment with the numbers of the one before: which kind depends on the window.
    fn repeated_ack(&self, fwd: &Flow, rev: &Flow) -> u32 {
        let same = self.window == fwd.window;
        match (self.window, same) {
            (0, true) if u32::from(rev.last_probe) & V::ZERO_WINDOW_PROBE != 0 => {
                V::ZERO_WINDOW_PROBE_ACK
            }
            (0, _) => 0,
            (_, false) => V::WINDOW_UPDATE,
            (_, true) if u32::from(rev.last_probe) & V::KEEP_ALIVE != 0 => V::KEEP_ALIVE_ACK,
            // Multipath TCP sends its options on ACKs that repeat (RFC 8684 4).
            (_, true) if self.context.mptcp != fwd.mptcp => 0,
            (_, true) => V::DUPLICATE_ACK,
        }
    }

    /// An ACK beyond what was captured of the peer.
    fn acked_unseen(&self, rev: &mut Flow) -> u32 {
        let beyond = rev.contiguous != Seq(0) && self.ack.after(rev.contiguous);
        if !beyond || !self.flags.has(TcpFlags::ACK) {
            return 0;
        }
        if rev.contiguous.before(rev.next_seq) {
            rev.contiguous = rev.next_seq;
            return V::ACK_LOST_SEGMENT;
        }
        // Said once; again only after the peer has sent another ACK itself.
        let first = rev.dup_acks == 0;
        rev.dup_acks = u32::MAX;
        if first { V::ACK_LOST_SEGMENT } else { 0 }
    }

    /// Retransmission or reordering of data, SYN or FIN.
    fn sent_before(&self, fwd: &Flow, rev: &Flow) -> u32 {
        let end = self.seq + self.len;
        if self.len > 0 && rev.last_ack != Seq(0) && end.at_or_before(rev.last_ack) {
            return V::SPURIOUS_RETRANSMISSION | V::RETRANSMISSION;
        }
        let known = fwd.next_seq != Seq(0) && self.seq.before(fwd.next_seq);
        // More data after a probe of one byte that nobody took.
        let after_probe = self.len > 1 && self.seq == fwd.next_seq - 1;
        if !known || after_probe {
            return 0;
        }
        let since = |then: i64| self.time_ns.wrapping_sub(then) as u64;
        if rev.dup_acks >= 2
            && rev.last_ack == self.seq
            && since(rev.last_time_ns) < FAST_RETRANSMISSION_NS
        {
            return V::FAST_RETRANSMISSION | V::RETRANSMISSION;
        }
        let soon = match self.context.first_rtt_ns {
            0 => OUT_OF_ORDER_NS,
            // A negative one counts as very long.
            rtt => rtt as u64,
        };
        let highest = end + u32::from(self.has_syn_or_fin()) == fwd.next_seq;
        if since(fwd.next_seq_time_ns) < soon && !highest {
            return V::OUT_OF_ORDER;
        }
        V::RETRANSMISSION
    }

    /// Moves the direction's state past the segment.
    fn advance(&self, fwd: &mut Flow, v: u32) {
        let mut end = self.seq + self.len;
        if (self.len > 0 || self.has_syn_or_fin()) && !fwd.unacked.is_full() {
            end = end + u32::from(self.has_syn_or_fin());
            fwd.unacked.add(end);
        }
        if v & V::ZERO_WINDOW_PROBE == 0 {
            if fwd.next_seq == Seq(0) || end.after(fwd.next_seq) {
                fwd.next_seq = end;
                fwd.next_seq_time_ns = self.time_ns;
            }
            if fwd.contiguous == Seq(0) || self.seq == fwd.contiguous {
                fwd.contiguous = fwd.next_seq;
            }
        }
        fwd.window = self.window;
        fwd.last_ack = self.ack;
        fwd.last_time_ns = self.time_ns;
        fwd.mptcp = self.context.mptcp;
        fwd.last_probe = (v & (V::KEEP_ALIVE | V::ZERO_WINDOW_PROBE)) as u16;
    }
}
