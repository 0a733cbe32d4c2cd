//! The window that an egress queue can grant: CAQM's credit, and the verdict on a packet.
//!
//! As in the reference model of UB. Each period T the credit is lambda x (eta x rate x T + Q_t - sent - waiting -
//! granted): half of the wire's unused capacity, less the packets that wait beyond Q_t. Randomly marked packets give
//! up window into a second, smaller account, which other packets use within the same period (XCP's shuffle). Counts
//! are signed, with 64 bits.

use tcplab_base::{Duration, Instant, Random};
use tcplab_wire::CaqmInfo;

use super::settings::Settings;

/// Bytes of the longest frame of Ethernet on the wire, and how many of them a period is long.
const FRAME: u128 = 1_538;
const FRAMES: u128 = 16;
const SHORTEST: i64 = 500;
const ONE: i128 = 1_000_000_000;
/// Bytes of a period where no rate is known: all is granted.
const UNLIMITED: i64 = 1 << 50;

/// What a switch says to a packet of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Another switch has marked it; this one only counts what comes back.
    AlreadyMarked,
    /// It gets what it asks for.
    Granted,
    /// It gets it from what others gave up.
    GrantedByOthers,
    /// It gets nothing.
    Refused,
    /// It gives up window.
    Marked,
}

/// The credit of a queue.
#[derive(Clone, Debug)]
pub(crate) struct Credit {
    /// Eta x rate x T in bytes.
    capacity: i64,
    period: Duration,
    lambda_ppb: u32,
    p_ppb: u32,
    qt: i64,
    beta: i64,
    unit: i64,
    /// CC: what may be granted.
    credit: i64,
    /// DC: what packets gave up that were marked by chance.
    donated: i64,
    sent: i64,
    granted: i64,
    /// When the period began; none: nothing has come yet.
    began: Option<Instant>,
}

impl Credit {
    /// The credit of a queue in front of a wire of so many bits a second.
    pub fn new(settings: &Settings, rate_bps: Option<u64>) -> Self {
        let period = settings.t_ns.unwrap_or_else(|| period(rate_bps));
        Self {
            capacity: rate_bps.map_or(UNLIMITED, |rate| capacity(settings, rate, period)),
            period: Duration::from_nanos(period),
            lambda_ppb: settings.lambda_ppb,
            p_ppb: settings.p_ppb,
            qt: i64::from(settings.qt),
            beta: i64::from(settings.beta),
            unit: i64::from(settings.unit),
            credit: 0,
            donated: 0,
            sent: 0,
            granted: 0,
            began: None,
        }
    }

    /// Other settings, from the next period on.
    pub fn change(&mut self, settings: &Settings, rate_bps: Option<u64>) {
        let Self {
            credit,
            donated,
            sent,
            granted,
            began,
            ..
        } = *self;
        *self = Self {
            credit,
            donated,
            sent,
            granted,
            began,
            ..Self::new(settings, rate_bps)
        };
    }

    /// Begins a new period when it is time, with so many bytes waiting. What was sent and granted belongs to the period
    /// that it was counted in: after one in which nothing happened both are 0.
    pub fn at(&mut self, now: Instant, waiting: u64) {
        let periods = match self.began {
            None => i64::MAX,
            Some(began) => now.since(began).as_nanos() / self.period.as_nanos().max(1),
        };
        if periods < 1 {
            return;
        }
        self.began = Some(match self.began {
            None => now,
            Some(began) => {
                began + Duration::from_nanos(self.period.as_nanos().saturating_mul(periods))
            }
        });
        if periods > 1 {
            (self.sent, self.granted) = (0, 0);
        }
        let waiting = i64::try_from(waiting).unwrap_or(i64::MAX).min(UNLIMITED);
        let free = self.capacity - self.sent + self.qt - waiting - self.granted;
        self.credit = self.part(free);
        (self.sent, self.granted, self.donated) = (0, 0, 0);
        self.clamp();
    }

    /// Judges a packet of data.
    pub fn judge(&mut self, info: CaqmInfo, draws: &mut Random) -> Verdict {
        if info.has(CaqmInfo::C) {
            self.credit += self.beta;
            self.granted -= self.beta;
            self.clamp();
            return Verdict::AlreadyMarked;
        }
        let asked = self.asked(info);
        if self.credit >= asked {
            self.credit -= asked;
            self.granted += asked;
            Verdict::Granted
        } else if self.credit < 0 {
            self.credit += self.beta;
            self.clamp();
            Verdict::Marked
        } else if draws.chance(self.p_ppb) {
            self.donated += self.beta;
            Verdict::Marked
        } else if self.donated >= asked {
            self.donated -= asked;
            Verdict::GrantedByOthers
        } else {
            Verdict::Refused
        }
    }

    /// Bytes of window that a packet asks for.
    pub fn asked(&self, info: CaqmInfo) -> i64 {
        match info.has(CaqmInfo::I) {
            true => i64::from(info.hint()) * self.unit,
            false => 0,
        }
    }

    /// A packet leaves that takes so many bytes of the wire.
    pub fn sends(&mut self, bytes: u32) {
        self.sent += i64::from(bytes);
    }

    /// CC: bytes that may be granted; negative: packets are marked.
    pub fn left(&self) -> i64 {
        self.credit
    }

    fn part(&self, of: i64) -> i64 {
        (i128::from(of) * i128::from(self.lambda_ppb) / ONE) as i64
    }

    /// A burst must not take the credit so far that it stays away for long, nor save more than a period's.
    fn clamp(&mut self) {
        let most = self.part(self.capacity + self.qt);
        self.credit = self.credit.clamp(-2 * self.capacity, most);
    }
}

/// T by the rate: 16 full frames, at least 500 ns; in less, the credit would be that of single packets.
fn period(rate_bps: Option<u64>) -> i64 {
    let Some(rate) = rate_bps else {
        return SHORTEST;
    };
    let ns = FRAMES * FRAME * 8_000_000_000 / u128::from(rate.max(1));
    i64::try_from(ns)
        .unwrap_or(i64::MAX)
        .clamp(SHORTEST, 1_000_000_000)
}

fn capacity(settings: &Settings, rate_bps: u64, period_ns: i64) -> i64 {
    let bits = i128::from(rate_bps) * i128::from(period_ns);
    let bytes = bits / (8 * ONE) * i128::from(settings.target_ppb) / ONE;
    i64::try_from(bytes).unwrap_or(UNLIMITED).min(UNLIMITED)
}

#[cfg(test)]
mod tests {
    use super::*;

    const H: CaqmInfo = CaqmInfo::request(0, 128);

    fn at(us: i64) -> Instant {
        Instant::from_nanos(us * 1_000)
    }

    /// 10 Gbit/s, T = 20 us (25,000 bytes), Q_t = 10,000, lambda = 1/2.
    fn credit(p_ppb: u32) -> Credit {
        let settings = Settings {
            qt: 10_000,
            t_ns: Some(20_000),
            p_ppb,
            ..Settings::default()
        };
        Credit::new(&settings, Some(10_000_000_000))
    }

    fn draws() -> Random {
        Random::stream(1, "test")
    }

    #[test]
    fn periods_of_rates() {
        for (rate, ns, bytes) in [
            (1_000_000_000, 196_864, 24_608),
            (10_000_000_000, 19_686, 24_607),
            (25_000_000_000, 7_874, 24_606),
            (100_000_000_000, 1_968, 24_600),
            (800_000_000_000, 500, 50_000),
        ] {
            let credit = Credit::new(&Settings::default(), Some(rate));
            assert_eq!((credit.period.as_nanos(), credit.capacity), (ns, bytes));
        }
        let settings = Settings {
            target_ppb: 950_000_000,
            t_ns: Some(20_000),
            ..Settings::default()
        };
        assert_eq!(
            Credit::new(&settings, Some(10_000_000_000)).capacity,
            23_750
        );
    }

    /// CC = 1/2 (25,000 - sent + 10,000 - waiting - granted).
    #[test]
    fn a_period() {
        let mut credit = credit(0);
        credit.at(at(100), 0);
        assert_eq!(credit.left(), 17_500, "idle: the most there can be");
        for _ in 0..4 {
            assert_eq!(credit.judge(H, &mut draws()), Verdict::Granted);
            credit.sends(1_538);
        }
        assert_eq!(credit.left(), 17_500 - 4_096);
        credit.at(at(119), 50_000);
        assert_eq!(credit.left(), 13_404, "the period is not over");
        credit.at(at(120), 3_000);
        assert_eq!(credit.left(), (25_000 - 6_152 + 10_000 - 3_000 - 4_096) / 2);
        // Nothing was sent nor granted in the last one.
        credit.at(at(145), 21_000);
        assert_eq!(credit.left(), 7_000);
        // Periods stand where they stood: the next one begins at 160.
        credit.sends(1_000);
        credit.at(at(159), 0);
        assert_eq!(credit.left(), 7_000);
        credit.at(at(160), 0);
        assert_eq!(credit.left(), 17_000);
        // Two periods without a packet.
        credit.sends(1_000);
        credit.at(at(200), 0);
        assert_eq!(credit.left(), 17_500);
    }

    #[test]
    fn the_clamp() {
        let mut credit = credit(0);
        credit.at(at(0), 1_000_000);
        assert_eq!(credit.left(), -50_000, "two periods");
        credit.at(at(20), 0);
        let marked = H.marked(false);
        assert_eq!(credit.judge(marked, &mut draws()), Verdict::AlreadyMarked);
        assert_eq!(credit.left(), 17_500, "no more than an idle period's");
        assert_eq!(credit.granted, -512);
    }

    /// The four cases, by hand: credit before, hint, whether it is marked by chance; the verdict, credit and what others
    /// gave up after it.
    #[test]
    fn verdicts() {
        for (before, info, gifts, p, verdict, after, left) in [
            (1_024, H, 0, 0, Verdict::Granted, 0, 0),
            (1_023, H, 0, 0, Verdict::Refused, 1_023, 0),
            (1_023, H, 1_024, 0, Verdict::GrantedByOthers, 1_023, 0),
            (1_023, H, 1_023, 0, Verdict::Refused, 1_023, 1_023),
            (
                1_023,
                H,
                9_999,
                1_000_000_000,
                Verdict::Marked,
                1_023,
                10_511,
            ),
            (0, H, 0, 1_000_000_000, Verdict::Marked, 0, 512),
            (0, H.refused(), 0, 1_000_000_000, Verdict::Granted, 0, 0),
            (-1, H.refused(), 0, 0, Verdict::Marked, 511, 0),
            (-1, H, 9_999, 0, Verdict::Marked, 511, 9_999),
            (-600, H, 0, 1_000_000_000, Verdict::Marked, -88, 0),
            (-600, H.marked(false), 0, 0, Verdict::AlreadyMarked, -88, 0),
            (100, CaqmInfo(0x0780), 0, 0, Verdict::AlreadyMarked, 612, 0),
            (0, CaqmInfo::request(0, 0), 0, 0, Verdict::Granted, 0, 0),
            (
                2_040,
                CaqmInfo::request(0, 255),
                0,
                0,
                Verdict::Granted,
                0,
                0,
            ),
        ] {
            let mut credit = credit(p);
            (credit.credit, credit.donated) = (before, gifts);
            let is = credit.judge(info, &mut draws());
            assert_eq!(
                (is, credit.credit, credit.donated),
                (verdict, after, left),
                "{before} {info:?}"
            );
        }
    }
}
