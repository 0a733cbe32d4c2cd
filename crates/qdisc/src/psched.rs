//! Time that bytes take at a rate, with the kernel's rounding (`psched_ratecfg_precompute()`, `psched_l2t_ns()`).

use crate::link_layer::LinkLayer;

/// A rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate {
    /// Nanoseconds of a byte, times 2^shift.
    mult: u32,
    shift: u8,
    link: LinkLayer,
}

const NS_PER_S: u64 = 1_000_000_000;

impl Rate {
    /// A rate in bytes a second; 0 is taken as a nanosecond a byte.
    pub fn new(bytes: u64, link: LinkLayer) -> Self {
        let (mut mult, mut shift, mut factor) = (1, 0, NS_PER_S);
        // As many bits of the quotient as fit; those above 32 are cut off, as in the kernel.
        while let Some(quotient) = factor.checked_div(bytes) {
            mult = quotient as u32;
            if mult >> 31 == 1 || factor >> 63 == 1 {
                break;
            }
            factor <<= 1;
            shift += 1;
        }
        Self { mult, shift, link }
    }

    /// Nanoseconds of a packet.
    pub fn time(&self, len: u32) -> i64 {
        let link = self.link;
        let len = len
            .wrapping_add(u32::from(link.overhead))
            .max(u32::from(link.mpu));
        let len = match link.is_atm {
            true => len.div_ceil(48).wrapping_mul(53),
            false => len,
        };
        ((u64::from(len) * u64::from(self.mult)) >> self.shift) as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: bytes (with overhead, at least mpu, in cells) x 1e9 / rate, cut down by less than 1 in 2^31.
    #[test]
    fn times() {
        let plain = LinkLayer::default();
        let atm = LinkLayer {
            overhead: 14,
            mpu: 64,
            is_atm: true,
        };
        for (rate, link, len, right) in [
            (1_250_000, plain, 1_514, 1_211_200),
            // 512 ns: exact. A rate that is no divisor: 80 / 3e6 s.
            (125_000_000, plain, 64, 512),
            (3_000_000, plain, 80, 26_666),
            // 1,514 + 14 bytes are 32 cells, 1 + 14 bytes count as 64, which are 2 cells.
            (125_000, atm, 1_514, 32 * 53 * 8_000),
            (125_000, atm, 1, 2 * 53 * 8_000),
            (12_500_000_000, plain, 1_514, 121),
        ] {
            let time = Rate::new(rate, link).time(len);
            let err = right - time;
            assert!((0..=1).contains(&err), "{rate} {len}: {time} for {right}");
        }
    }

    #[test]
    fn no_rate_panics() {
        for rate in [0, 1, 2, u64::MAX] {
            Rate::new(rate, LinkLayer::default()).time(u32::MAX);
        }
    }
}
