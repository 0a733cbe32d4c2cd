//! Rates as times for each byte.

use super::cobalt::Params;

/// A rate, as the kernel computes with it: `len * ns >> shift` nanoseconds for a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Rate {
    /// Bytes a second; 0: unlimited.
    pub bytes: u64,
    ns: u64,
    shift: u32,
}

/// No rate is lower.
const LEAST: u64 = 64;
const NS_A_SECOND: u64 = 1_000_000_000;

impl Rate {
    pub fn new(bytes: u64) -> Self {
        if bytes == 0 {
            return Self::default();
        }
        let mut shift = 34;
        let mut ns = (NS_A_SECOND << shift) / bytes.max(LEAST);
        while ns >> 34 != 0 {
            ns >>= 1;
            shift -= 1;
        }
        Self { bytes, ns, shift }
    }

    pub fn is_unlimited(self) -> bool {
        self.ns == 0
    }

    /// Nanoseconds for so many bytes.
    #[inline]
    pub fn time_ns(self, len: u32) -> u64 {
        (u64::from(len) * self.ns) >> self.shift
    }

    /// Bytes that a flow may send in its turn.
    pub fn flow_quantum(self) -> u32 {
        match self.bytes {
            0 => 1514,
            bytes => (bytes >> 12).clamp(300, 1514) as u32,
        }
    }

    /// COBALT at this rate: the target is not below one and a half of the longest frame's time.
    pub fn cobalt(self, frame: u32, target_ns: u64, interval_ns: u64) -> Params {
        let mtu_time_ns = self.time_ns(frame);
        let target = (mtu_time_ns * 3 / 2).max(target_ns);
        Params {
            interval_ns: (interval_ns + target - target_ns).max(target * 2),
            target_ns: target,
            mtu_time_ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quanta() {
        let of = |bits: u64| Rate::new(bits / 8).flow_quantum();
        assert_eq!(
            [
                831_000, 1_000_000, 10_000_000, 30_000_000, 49_600_000, 49_700_000
            ]
            .map(of),
            [300, 300, 305, 915, 1513, 1514]
        );
        assert_eq!(Rate::new(0).flow_quantum(), 1514);
    }

    #[test]
    fn target_and_interval_of_a_slow_link() {
        // dtaht/sch_cake issue 142: 831 kbit/s shows a target of 21.7 ms and an interval of 116.7 ms.
        let params = Rate::new(831_000 / 8).cobalt(1514, 5_000_000, 100_000_000);
        let tenths = |ns: u64| (ns + 50_000) / 100_000;
        assert_eq!(
            (tenths(params.target_ns), tenths(params.interval_ns)),
            (219, 1169)
        );
        // With an MTU of 1,500 and no link header (PPPoE) it is that figure.
        let params = Rate::new(831_000 / 8).cobalt(1_500, 5_000_000, 100_000_000);
        assert_eq!(
            (tenths(params.target_ns), tenths(params.interval_ns)),
            (217, 1167)
        );
        let fast = Rate::new(100_000_000 / 8).cobalt(1514, 5_000_000, 100_000_000);
        assert_eq!((fast.target_ns, fast.interval_ns), (5_000_000, 100_000_000));
    }

    #[test]
    fn a_packet_takes_its_time() {
        assert_eq!(Rate::new(1_000_000 / 8).time_ns(1_514), 12_112_000);
        assert_eq!(Rate::new(0).time_ns(1_514), 0);
        assert_eq!(Rate::new(1).time_ns(64), 1_000_000_000);
    }
}
