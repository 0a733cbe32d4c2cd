//! The receiver: adds up what tags grant, and tells it in segments without payload.

use tcplab_wire::{CaqmInfo, TcpFlags};

use super::super::Congestion;
use crate::cx::Cx;
use crate::endpoint::{AckPending, Endpoint};
use crate::segment::{Caqm as Tag, Segment};

/// Units that one ACK can tell.
const MOST: i64 = 255;

impl Endpoint {
    /// A segment with a tag arrived, in any state, before any check: the public kernel code counts it already here
    /// (`tcp_rcv_established()`, `tcp_rcv_state_process()`).
    #[cold]
    #[inline(never)]
    pub(crate) fn caqm_arrives(&mut self, cx: &Cx<'_>, seg: &Segment) {
        if cx.host.profile.caqm_counts_all {
            self.caqm_receive(cx, seg);
        }
    }

    /// A segment with a tag is acceptable: in the window, no old duplicate by its time stamp.
    #[cold]
    #[inline(never)]
    pub(crate) fn caqm_accepted(&mut self, cx: &Cx<'_>, seg: &Segment) {
        if !cx.host.profile.caqm_counts_all {
            self.caqm_receive(cx, seg);
        }
    }

    fn caqm_receive(&mut self, cx: &Cx<'_>, seg: &Segment) {
        if seg.flags.has(TcpFlags::SYN) {
            return;
        }
        let units = cx.host.sysctl.caqm_units();
        let reads_all = cx.host.profile.caqm_foreign_type_counts;
        let is_data = match seg.caqm {
            Tag::Plain => return,
            Tag::Joined(_) => true,
            // It does not concern this flow's window. The kernel reads it as one that grants
            // nothing.
            Tag::Tag(info) if info.cc_type() != units.cc_type && !reads_all => return,
            Tag::Tag(info) => info.is_data(),
        };
        let bytes = seg.caqm.bytes(&units);
        let Congestion::Caqm(caqm) = &mut self.cc else {
            return;
        };
        caqm.heard = true;
        if !is_data {
            self.caqm_verdict(cx, bytes, seg.ack.after(self.snd.snd_una));
            return;
        }
        let is_new = seg.end_seq().after(self.rcv.rcv_nxt);
        if is_new || cx.host.profile.caqm_counts_all {
            caqm.owed = caqm.owed.saturating_add(bytes);
            self.caqm_hurries(cx, seg.caqm);
        }
    }

    /// Sends feedback early. An ACK goes out at once in three cases:
    ///
    /// - One ACK cannot carry all feedback that is owed.
    /// - Half a round trip has passed since the last feedback, as with data in both directions.
    /// - The packet asks for half a packet of window or more. Its sender is in slow start, or has a window of one or
    ///   two packets and would wait for a delayed ACK.
    fn caqm_hurries(&mut self, cx: &Cx<'_>, tag: Tag) {
        let Congestion::Caqm(caqm) = &self.cc else {
            return;
        };
        if cx.host.profile.caqm_feedback_waits {
            return;
        }
        let waits = cx.now_us().saturating_sub(caqm.told_us);
        let sysctl = &cx.host.sysctl;
        let full =
            caqm.owed.unsigned_abs() > MOST as u64 * u64::from(sysctl.sysctl_caqm_ack_hint_unit);
        let asks = tag.info().map_or(0, |info| u32::from(info.hint()));
        let is_small = 2 * asks * sysctl.sysctl_caqm_data_hint_unit >= sysctl.sysctl_caqm_mtu_unit;
        if full || is_small || waits > u64::from(self.rtt.srtt_us >> 4) {
            self.ack.pending |= AckPending::NOW;
        }
    }

    /// What a segment without payload tells; the rest, less than a unit or more than an ACK can tell, stays for the next.
    pub(super) fn caqm_feedback(&mut self, cx: &Cx<'_>) -> Tag {
        let sysctl = &cx.host.sysctl;
        let unit = i64::from(sysctl.sysctl_caqm_ack_hint_unit.max(1));
        let Congestion::Caqm(caqm) = &mut self.cc else {
            return Tag::Plain;
        };
        let told = (caqm.owed / unit).clamp(-MOST, MOST);
        caqm.owed -= told * unit;
        caqm.told_us = cx.now_us();
        Tag::Tag(CaqmInfo::feedback(sysctl.sysctl_caqm_cc_type, told as i16))
    }

    /// The tag of a segment without payload that is not queued.
    #[inline]
    pub(crate) fn caqm_control_tag(&mut self, cx: &Cx<'_>) -> Tag {
        match self.cc {
            Congestion::Caqm(_) if self.caqm_may_send(cx) => self.caqm_feedback(cx),
            _ => Tag::Plain,
        }
    }
}
