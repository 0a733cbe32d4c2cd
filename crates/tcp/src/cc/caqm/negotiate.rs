//! Who speaks CAQM: two of TCP's reserved bits, in the SYN and in the SYN-ACK (openEuler `tcp_caqm.h`).

use tcplab_wire::TcpFlags;

use super::super::Congestion;
use crate::cx::Cx;
use crate::endpoint::Endpoint;
use crate::options::{Ecn, Negotiated};
use crate::segment::Segment;

/// The reserved bit with which a client's SYN asks: that of RFC 3540's nonce sum, and of AccECN's AE (RFC 9768).
pub(crate) const CLI: u16 = 0x100;
/// The reserved bit with which a SYN-ACK agrees.
pub(crate) const SRV: u16 = 0x200;

impl Negotiated {
    /// Both ends speak it.
    #[inline]
    pub(super) fn speaks_caqm(&self) -> bool {
        self.ecn_flags.contains(Ecn::CAQM_CLI.union(Ecn::CAQM_SRV))
    }

    /// The SYN-ACK came.
    pub(crate) fn caqm_answered(&mut self, seg: &Segment) {
        let asked = self.ecn_flags.intersects(Ecn::CAQM_CLI);
        match asked && seg.flags.0 & SRV != 0 {
            true => self.ecn_flags |= Ecn::CAQM_SRV,
            false => self.ecn_flags &= !Ecn::CAQM_CLI,
        }
    }
}

/// Whether this host and this congestion control speak it.
pub(crate) fn speaks(cx: &Cx<'_>, congestion: &str) -> bool {
    cx.host.sysctl.sysctl_caqm_enable && congestion == "caqm"
}

/// Whether a SYN asks for it. Beside ECE and CWR the bit is AccECN's.
pub(crate) fn asks(cx: &Cx<'_>, seg: &Segment) -> bool {
    const ECN: u16 = TcpFlags::ECE | TcpFlags::CWR;
    let alone = seg.flags.0 & ECN == 0 || cx.host.profile.caqm_syn_with_ecn;
    seg.flags.0 & CLI != 0 && alone
}

impl Endpoint {
    /// The SYN of this connection asks for it.
    pub(crate) fn caqm_asks(&mut self, cx: &Cx<'_>) -> bool {
        let asks = matches!(self.cc, Congestion::Caqm(_)) && cx.host.sysctl.sysctl_caqm_enable;
        if asks {
            self.neg.ecn_flags |= Ecn::CAQM_CLI;
        }
        asks
    }

    /// Bytes of a full segment that the tag takes, so that its frame is no longer than others. The handshake reserves
    /// them before it knows whether the peer speaks CAQM. That MSS stays until it is computed anew: when the peer
    /// offers a larger window than ever before, or the path's MTU changes.
    pub(crate) fn caqm_room(&self, cx: &Cx<'_>) -> u32 {
        let speaks = matches!(self.cc, Congestion::Caqm(_)) && cx.host.sysctl.sysctl_caqm_enable;
        match speaks && !cx.host.profile.caqm_long_frames {
            true => crate::segment::Caqm::BYTES,
            false => 0,
        }
    }

    /// Whether tags leave by the interface to the peer (`sysctl_caqm_filter_nics`).
    pub(super) fn caqm_may_send(&self, cx: &Cx<'_>) -> bool {
        let interface = cx.host.interface_to(self.remote.host);
        let mask = cx.host.sysctl.sysctl_caqm_filter_nics;
        interface < 64 && mask >> interface & 1 != 0
    }
}
