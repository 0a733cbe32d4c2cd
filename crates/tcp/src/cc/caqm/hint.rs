//! What a packet of data asks for.

use tcplab_wire::CaqmInfo;

use super::super::Congestion;
use super::Caqm;
use crate::cx::Cx;
use crate::endpoint::Endpoint;
use crate::queue::Id;
use crate::segment::Caqm as Tag;
use crate::sysctl::Sysctl;

/// Bits of a hint's fraction.
const FRACTION: u32 = 20;
/// Bits of alpha's fraction (`sysctl_caqm_alpha_fx_8`).
const ALPHA: u32 = 3;
/// The largest hint.
const MOST: u64 = 255;

/// What the hint of congestion avoidance depends on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask<'a> {
    pub(super) sysctl: &'a Sysctl,
    /// Window in packets.
    pub(super) cwnd: u32,
    /// Smoothed round-trip time in 1/8 us.
    pub(super) srtt: u32,
    /// Products of 32 bits, as in the kernel.
    pub(super) narrow: bool,
}

impl Ask<'_> {
    /// The round-trip time that counts: the measured one near the standard one, else that.
    fn rtt(&self) -> u32 {
        let standard = self.sysctl.sysctl_caqm_rtt_standard;
        let near = self.srtt > standard / 4 && u64::from(self.srtt) < 4 * u64::from(standard);
        if near { self.srtt } else { standard }
    }

    /// alpha x `mtu_unit` x RTT, and window x unit of hint x standard RTT: the hint is the first over the second.
    fn factors(&self) -> [[u32; 3]; 2] {
        let s = self.sysctl;
        let below = [
            self.cwnd,
            s.sysctl_caqm_data_hint_unit,
            s.sysctl_caqm_rtt_standard,
        ];
        [
            [s.sysctl_caqm_alpha_fx_8, s.sysctl_caqm_mtu_unit, self.rtt()],
            below,
        ]
    }

    /// The hint: whole units, and the rest in 1/2^20.
    fn wide(&self) -> (u64, i64) {
        let product = |factors: [u32; 3]| factors.iter().map(|&f| u128::from(f)).product::<u128>();
        let [above, below] = self.factors().map(product);
        let exact = (above << (FRACTION - ALPHA)) / below.max(1);
        let whole = (exact >> FRACTION).min(MOST.into()) as u64;
        (whole, (exact & ((1 << FRACTION) - 1)) as i64)
    }

    /// The same as the kernel has it: of the whole units both products are cut to 32 bits, of the rest the one below only.
    /// Where the one above does not fit, the rest is what the whole units lack, and it is too large for a carry to work off.
    fn narrow(&self) -> (u64, i64) {
        let product = |factors: [u32; 3]| factors.iter().fold(1_u32, |p, &f| p.wrapping_mul(f));
        let [above, below] = self.factors().map(product);
        let below = below.max(1);
        let whole = u64::from((above / below) >> ALPHA);
        let [alpha, unit, rtt] = self.factors()[0].map(u64::from);
        let above = ((rtt * unit) << FRACTION).wrapping_mul(alpha) >> ALPHA;
        let exact = above / u64::from(below);
        (
            whole,
            (exact as i64).wrapping_sub((whole as i64) << FRACTION),
        )
    }

    /// Slow start asks for a whole packet.
    fn start(&self) -> u8 {
        let s = self.sysctl;
        let hint = s.sysctl_caqm_mtu_unit / s.sysctl_caqm_data_hint_unit.max(1);
        match self.narrow {
            true => hint as u8,
            false => u64::from(hint).min(MOST) as u8,
        }
    }
}

impl Caqm {
    /// The hint of the next packet, or of each packet of the next super-segment; what is less than a unit is kept for
    /// later ones.
    pub(super) fn hint(&mut self, ask: Ask<'_>) -> u8 {
        if !self.avoids {
            return ask.start();
        }
        let (mut whole, rest) = match ask.narrow {
            true => ask.narrow(),
            false => ask.wide(),
        };
        if whole >= MOST {
            return MOST as u8;
        }
        self.carry = self.carry.wrapping_add(rest);
        if self.carry >= 1 << FRACTION {
            self.carry -= 1 << FRACTION;
            whole += 1;
        }
        whole as u8
    }
}

impl Endpoint {
    /// The tag of a queued segment. One that is sent again carries what it carried the first time; one without data
    /// carries feedback.
    #[inline]
    pub(crate) fn caqm_tag(&mut self, cx: &Cx<'_>, id: Id) -> Tag {
        match self.cc {
            Congestion::Caqm(_) => self.caqm_tag_of(cx, id),
            _ => Tag::Plain,
        }
    }

    #[inline(never)]
    fn caqm_tag_of(&mut self, cx: &Cx<'_>, id: Id) -> Tag {
        if !self.caqm_may_send(cx) {
            return Tag::Plain;
        }
        if self.loss.in_flight() == 0 {
            self.caqm_tx_start(cx);
        }
        let (cwnd, srtt) = (self.snd.snd_cwnd, self.rtt.srtt_us);
        let (Congestion::Caqm(caqm), Some(skb)) = (&mut self.cc, self.queue.get_mut(id)) else {
            return Tag::Plain;
        };
        if skb.len == 0 {
            return self.caqm_feedback(cx);
        }
        if skb.caqm == CaqmInfo::default() {
            let sysctl = &cx.host.sysctl;
            let narrow = cx.host.profile.caqm_hint_32bit;
            let hint = caqm.hint(Ask {
                sysctl,
                cwnd,
                srtt,
                narrow,
            });
            skb.caqm = CaqmInfo::request(sysctl.sysctl_caqm_cc_type, hint);
        }
        caqm.sent_us = cx.now_us();
        Tag::Tag(skb.caqm)
    }
}
