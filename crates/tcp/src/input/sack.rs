//! The SACK blocks to send (RFC 2018 4, RFC 2883 4; Linux `tcp_sack_new_ofo_skb()`, `tcp_sack_remove()`,
//! `tcp_dsack_set()`, `tcp_sack_maybe_coalesce()`).
//!
//! The block of the segment that came last stands first.

use tcplab_base::Seq;

use crate::cx::Cx;
use crate::endpoint::{Endpoint, Rcv, RcvQueue};
use crate::mib::Counter;

/// `TCP_SACK_BLOCKS_EXPECTED`: more blocks than that fit into no option beside time stamps for sure.
const EXPECTED: usize = 2;

/// `tcp_sack_extend()`: joins `[seq, end_seq)` to a block that it touches.
fn extend(block: &mut (Seq, Seq), seq: Seq, end_seq: Seq) -> bool {
    let touches = seq.at_or_before(block.1) && block.0.at_or_before(end_seq);
    if touches {
        block.0 = block.0.min(seq);
        block.1 = block.1.max(end_seq);
    }
    touches
}

impl Endpoint {
    /// `tcp_rcv_spurious_retrans()`: the same data came once more, so our ACKs may be lost on their path. Later
    /// releases detect that by a changed flow label, which IPv4 lacks.
    pub(super) fn is_spurious(&self, cx: &Cx<'_>, seq: Seq) -> bool {
        let has_label = cx.host.ip_header == 40;
        seq == self.rcvq.dsack_start && (has_label || !cx.host.profile.rehash_by_label)
    }
}

impl RcvQueue {
    fn blocks(&mut self) -> &mut [(Seq, Seq)] {
        let have = usize::from(self.num_sacks);
        self.sacks.get_mut(..have).unwrap_or_default()
    }

    /// `tcp_sack_maybe_coalesce()`: the first block may touch others now.
    fn coalesce_sacks(&mut self) {
        let have = usize::from(self.num_sacks);
        let [mut first, rest @ ..] = self.sacks;
        let mut n = 0;
        let mut kept = [(Seq(0), Seq(0)); 3];
        for (seq, end_seq) in rest.into_iter().take(have.saturating_sub(1)) {
            if extend(&mut first, seq, end_seq) {
                continue;
            }
            if let Some(slot) = kept.get_mut(n) {
                *slot = (seq, end_seq);
                n += 1;
            }
        }
        let [a, b, c] = kept;
        self.sacks = [first, a, b, c];
        self.num_sacks = n as u8 + 1;
    }

    /// `tcp_sack_remove()`: `rcv_nxt` has moved over some blocks.
    #[inline(never)]
    pub(super) fn sack_remove(&mut self, rcv: &Rcv) {
        if self.ofo.is_empty() {
            self.num_sacks = 0;
            return;
        }
        let rcv_nxt = rcv.rcv_nxt;
        let mut n = 0;
        for place in 0..usize::from(self.num_sacks) {
            let Some(block) = self.sacks.get(place).copied() else {
                break;
            };
            if rcv_nxt.before(block.0)
                && let Some(slot) = self.sacks.get_mut(n)
            {
                *slot = block;
                n += 1;
            }
        }
        self.num_sacks = n as u8;
    }

    /// The end of the highest block.
    pub(super) fn highest_sack_end(&self) -> Option<Seq> {
        let have = usize::from(self.num_sacks);
        let blocks = self.sacks.get(..have).unwrap_or_default();
        blocks.iter().map(|block| block.1).reduce(Seq::max)
    }
}

impl Endpoint {
    /// `tcp_dsack_set()`: the next ACK says that this came twice.
    pub(super) fn dsack_set(&mut self, cx: &mut Cx<'_>, seq: Seq, end_seq: Seq) {
        if !self.neg.sack_ok || !cx.host.sysctl.tcp_dsack {
            return;
        }
        cx.count(if seq.before(self.rcv.rcv_nxt) {
            Counter::DSACKOldSent
        } else {
            Counter::DSACKOfoSent
        });
        self.rcvq.dsack = Some((seq, end_seq));
        self.rcvq.dsack_start = seq;
    }

    /// `tcp_dsack_extend()`.
    pub(super) fn dsack_extend(&mut self, cx: &mut Cx<'_>, seq: Seq, end_seq: Seq) {
        match &mut self.rcvq.dsack {
            Some(block) => {
                extend(block, seq, end_seq);
                self.rcvq.dsack_start = block.0;
            }
            None => self.dsack_set(cx, seq, end_seq),
        }
    }

    /// `tcp_sack_new_ofo_skb()`: `[seq, end_seq)` came out of order.
    pub(super) fn sack_new_ofo(&mut self, cx: &mut Cx<'_>, seq: Seq, end_seq: Seq) {
        let have = usize::from(self.rcvq.num_sacks);
        let known = self
            .rcvq
            .blocks()
            .iter_mut()
            .position(|block| extend(block, seq, end_seq));
        if let Some(place) = known {
            if place >= EXPECTED {
                self.send_compressed_ack(cx);
            }
            if let Some(upto) = self.rcvq.sacks.get_mut(..=place) {
                upto.rotate_right(1);
            }
            self.rcvq.coalesce_sacks();
            return;
        }
        if have >= EXPECTED {
            self.send_compressed_ack(cx);
        }
        // A full list forgets its last block.
        self.rcvq.sacks.rotate_right(1);
        if let Some(first) = self.rcvq.sacks.first_mut() {
            *first = (seq, end_seq);
        }
        self.rcvq.num_sacks = (have + 1).min(self.rcvq.sacks.len()) as u8;
    }
}
