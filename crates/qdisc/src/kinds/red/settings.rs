//! `red` (tc-red(8)): random early detection, with what tc works out before it asks the kernel.

use tcplab_base::quantity::NUMBER;

use super::COUNTERS;
use crate::discipline::{Named, Words, read};
use crate::link_layer::byte_rate;
use crate::words::{Lexer, Word, Wrong, names, put, quantity, set};

/// The settings, as tc gives them to the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Bytes that may wait.
    pub limit: u32,
    /// The mean queue in bytes from which on packets are marked.
    pub min: u32,
    /// That from which on all are.
    pub max: u32,
    /// Logarithm of the weight of the past in the mean (`Wlog`).
    pub wlog: u8,
    /// Logarithm of microseconds for which one cell of the table stands (`Scell_log`).
    pub scell_log: u8,
    /// How the mean falls while nothing waits: logarithms by the time (`Stab`).
    pub damping: Box<[u8; 256]>,
    /// The chance at `max`, in parts of 2^32.
    pub max_p: u32,
    /// Mark instead of drop where a packet can be marked.
    pub ecn: bool,
    /// With `ecn`, packets that cannot be marked are not dropped.
    pub nodrop: bool,
    /// Above `max`, drop even what could be marked.
    pub harddrop: bool,
    /// Every half second, the chance follows the mean queue. (tc since 5.7 says so in `TCA_RED_FLAGS`, where the kernel
    /// does not look when it starts the timer: with that tc, the word does nothing there.)
    pub adaptive: bool,
}

/// 10 Mbit/s in bytes a second, 2 %: tc's defaults.
const BANDWIDTH: u64 = 1_250_000;
const PROBABILITY: f64 = 0.02;

#[derive(Default)]
struct Said {
    limit: u32,
    min: u32,
    max: u32,
    avpkt: u32,
    burst: u32,
    probability: Option<f64>,
    bandwidth: Option<u64>,
    ecn: bool,
    nodrop: bool,
    harddrop: bool,
    adaptive: bool,
}

const TABLE: [Word<Said>; 12] = [
    ("limit", |s, w| set(&mut s.limit, w.size())),
    ("min", |s, w| set(&mut s.min, w.size())),
    ("max", |s, w| set(&mut s.max, w.size())),
    ("avpkt", |s, w| set(&mut s.avpkt, w.size())),
    ("burst", |s, w| set(&mut s.burst, w.unsigned())),
    ("probability", |s, w| {
        set(&mut s.probability, probability(w).map(Some))
    }),
    ("bandwidth", |s, w| {
        set(&mut s.bandwidth, byte_rate(w).map(Some))
    }),
    ("ecn", |s, _| put(&mut s.ecn, true)),
    ("nodrop", |s, _| put(&mut s.nodrop, true)),
    ("harddrop", |s, _| put(&mut s.harddrop, true)),
    ("adaptive", |s, _| put(&mut s.adaptive, true)),
    ("adaptative", |s, _| put(&mut s.adaptive, true)),
];

impl Words for Settings {
    const NAME: &'static str = "red";
    const SUPPORTED: &'static str = "all but `qevent`";
    const WORDS: &'static [&'static str] = &names(&TABLE);
    const EXAMPLES: &'static [&'static str] = &[
        "red limit 20000 min 1000 max 3000 avpkt 500 burst 5 adaptive -> red limit 9000 min 1000 max 3000 avpkt 500 burst 5 ecn probability 0.5",
        "red limit 20000 min 1000 max 3000 avpkt 500 burst 5 ecn adaptive -> red limit 9000 avpkt 500",
    ];

    fn parse<'a>(words: &mut Lexer<'a>) -> Result<Self, Wrong<'a>> {
        let mut said = Said::default();
        Self::read(&mut said, &TABLE, words)?;
        said.settle()
            .map_err(|why| Wrong::new(words.whole(), format!("red: {why}")))
    }

    fn not_in_kernels(&self) -> Option<&'static str> {
        let both = self.adaptive && self.nodrop;
        both.then_some("write `adaptive` or `nodrop`, not both")
    }

    fn options(&self) -> Option<Vec<u8>> {
        Some(super::netlink::options(self))
    }

    fn counted(_queue: &[u8], app: &[u8]) -> (Named, Vec<Named>) {
        (read(&COUNTERS, app), Vec::new())
    }
}

fn probability<'a>(words: &mut Lexer<'a>) -> Result<f64, Wrong<'a>> {
    const ONE: u64 = 1_000_000_000;
    let word = words.value()?;
    match quantity(word, &NUMBER)? {
        n @ 1..ONE => Ok(n as f64 / ONE as f64),
        _ => {
            let why = format!("`probability` must be between 0 and 1, not `{word}`");
            Err(Wrong::new(word, why))
        }
    }
}

impl Said {
    /// Derives tc's values and applies the kernel's checks (`red_check_params()`).
    fn settle(self) -> Result<Settings, &'static str> {
        if self.limit == 0 || self.avpkt == 0 {
            return Err("write `limit` and `avpkt`, such as `limit 60kb avpkt 1000`");
        }
        if self.nodrop && !self.ecn {
            return Err("`nodrop` needs `ecn`");
        }
        let (min, max) = self.thresholds();
        if max < min {
            return Err("`max` is less than `min`");
        }
        let burst = match self.burst {
            0 => {
                let bytes = 2 * u64::from(min) + u64::from(max);
                (bytes / (3 * u64::from(self.avpkt))) as u32
            }
            burst => burst,
        };
        let too_short = "`burst` is too small: it must be above `min` / `avpkt`";
        let wlog = weight(min, burst, self.avpkt).ok_or(too_short)?;
        let bits = |n: u32| 32 - n.leading_zeros() + u32::from(wlog);
        if bits(min) >= 32 || bits(max) >= 32 {
            return Err(
                "`burst` is so near `min` / `avpkt`, or so large, that the kernel refuses it",
            );
        }
        let rate = self.bandwidth.unwrap_or(BANDWIDTH);
        let (scell_log, damping) = damping(wlog, self.avpkt, rate)
            .ok_or("the kernel cannot count the time of `avpkt` at this `bandwidth`")?;
        Ok(Settings {
            limit: self.limit,
            min,
            max,
            wlog,
            scell_log,
            damping,
            max_p: (self.probability.unwrap_or(PROBABILITY) * 4_294_967_296.0) as u32,
            ecn: self.ecn,
            nodrop: self.nodrop,
            harddrop: self.harddrop,
            adaptive: self.adaptive,
        })
    }

    /// Those not said follow from the others, by Floyd's advice.
    fn thresholds(&self) -> (u32, u32) {
        let max = match (self.max, self.min) {
            (0, 0) => self.limit / 4,
            (0, min) => min.saturating_mul(3),
            (max, _) => max,
        };
        let min = if self.min == 0 { max / 3 } else { self.min };
        (min, max)
    }
}

/// The smallest weight with which a burst of so many packets does not reach `min`: W with
/// burst + 1 - min / avpkt <= (1 - (1 - W)^burst) / W, as 2^-wlog.
fn weight(min: u32, burst: u32, avpkt: u32) -> Option<u8> {
    let over = f64::from(burst) + 1.0 - f64::from(min) / f64::from(avpkt);
    if over < 1.0 {
        return None;
    }
    let mut w = 0.5;
    for log in 1..32 {
        if over <= (1.0 - libm::pow(1.0 - w, f64::from(burst))) / w {
            return Some(log);
        }
        w /= 2.0;
    }
    None
}

/// How far the mean falls within each number of cells of time, as a logarithm to base 2, and the logarithm of
/// a cell.
///
/// tc counts the time of a packet in ticks of 64 ns, but the kernel counts cells in microseconds. So the mean falls
/// 15.6 times more slowly than meant, here too.
fn damping(wlog: u8, avpkt: u32, rate: u64) -> Option<(u8, Box<[u8; 256]>)> {
    let us = u64::from(avpkt) * 1_000_000 / rate;
    let ticks = (us * 1_000 / 64) as f64;
    let keeps = 1.0 - 1.0 / f64::from(1_u32 << wlog);
    let by_tick = -libm::log(keeps) / ticks;
    let longest = 31.0 / by_tick;
    let log = (0..32_u8).find(|log| longest / f64::from(1_u32 << log) < 512.0)?;
    let mut table = Box::new([31; 256]);
    table[0] = 0;
    for (n, cell) in table.iter_mut().enumerate().take(255).skip(1) {
        *cell = (((n as u64) << log) as f64 * by_tick).min(31.0) as u8;
    }
    Some((log, table))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    fn read(text: &str) -> Settings {
        let qdisc =
            crate::Settings::parse(text).unwrap_or_else(|wrong| panic!("{text}: {}", wrong.why));
        match qdisc.kind() {
            Kind::Red(red) => red.clone(),
            _ => panic!("{text} is not a red"),
        }
    }

    /// Thresholds, Wlog, Scell_log and the places of the table's first 1, 2 and 3, as tc 6.1 sends them.
    #[test]
    fn what_tc_works_out() {
        for (text, numbers, table) in [
            (
                "red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 ecn adaptive bandwidth 10mbit",
                [30_000, 90_000, 5, 15],
                [13, 25, 37],
            ),
            (
                "red limit 400000 avpkt 1000",
                [33_333, 100_000, 5, 15],
                [13, 25, 37],
            ),
            (
                "red limit 60000 min 5000 max 15000 avpkt 1000 burst 20 bandwidth 100mbit probability 0.5 \
                 harddrop ecn nodrop",
                [5_000, 15_000, 6, 13],
                [10, 20, 30],
            ),
            (
                "red limit 60000 min 5000 avpkt 1000",
                [5_000, 15_000, 3, 13],
                [12, 23, 35],
            ),
            (
                "red limit 60000 min 5000 avpkt 1000 bandwidth 5mbit",
                [5_000, 15_000, 3, 14],
                [12, 23, 35],
            ),
            (
                "red limit 60000 avpkt 1000 burst 200",
                [5_000, 15_000, 13, 23],
                [13, 25, 37],
            ),
            (
                "red limit 60k avpkt 1k probability 0.1",
                [5_120, 15_360, 3, 13],
                [12, 24, 36],
            ),
        ] {
            let red = read(text);
            let is = [
                red.min,
                red.max,
                u32::from(red.wlog),
                u32::from(red.scell_log),
            ];
            assert_eq!(is, numbers, "{text}");
            let first = |n: u8| red.damping.iter().position(|cell| *cell == n).unwrap();
            assert_eq!([first(1), first(2), first(3)], table, "{text}");
            assert_eq!((red.damping[0], red.damping[255]), (0, 31));
        }
        assert_eq!(
            read("red limit 60k avpkt 1k probability 0.5").max_p,
            1 << 31
        );
    }

    #[test]
    fn what_tc_and_the_kernel_refuse() {
        for (text, why) in [
            ("red limit 60000", "write `limit` and `avpkt`"),
            ("red limit 60000 avpkt 1000 burst 1", "too small"),
            ("red limit 60000 min 5000 avpkt 1000 nodrop", "needs `ecn`"),
            (
                "red limit 60000 min 1000 max 5000 avpkt 1000",
                "kernel refuses",
            ),
            ("red limit 60000 min 5000 max 400 avpkt 1000", "less than"),
            (
                "red limit 60000 avpkt 1000 probability 1.5",
                "between 0 and 1",
            ),
            ("red limit 60000 avpkt 1000 ecm", "word of red"),
        ] {
            let wrong = crate::Settings::parse(text).expect_err(text);
            assert!(wrong.why.contains(why), "{text}: {wrong:?}");
        }
    }
}
