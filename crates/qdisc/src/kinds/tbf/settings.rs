//! `tbf` (tc-tbf(8)): a token bucket.

use crate::Kind;
use crate::discipline::Words;
use crate::link_layer::{LinkLayer, byte_rate, is_high, low, size_with_cell, spec};
use crate::netlink::Attributes;
use crate::words::{Lexer, Wrong};

/// The settings, as tc gives them to the kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Bytes a second.
    pub rate: u64,
    /// Bytes of the bucket.
    pub burst: u32,
    /// Bytes that may wait.
    pub limit: u32,
    /// The second bucket.
    pub peak: Option<Peak>,
    /// What a packet costs.
    pub link: LinkLayer,
    /// What queues in place of the `bfifo` of `limit` bytes.
    pub child: Option<Box<Kind>>,
}

/// The bucket that bounds how fast the first one empties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peak {
    /// Bytes a second.
    pub rate: u64,
    /// Bytes of the bucket (`mtu` or `minburst`).
    pub burst: u32,
}

/// `enum TCA_TBF_*` (linux/pkt_sched.h).
const PARMS: u16 = 1;
const RATE64: u16 = 4;
const PRATE64: u16 = 5;
const BURST: u16 = 6;
const PBURST: u16 = 7;

#[derive(Default)]
struct Said {
    rate: Option<u64>,
    burst: Option<u32>,
    limit: Option<u32>,
    latency_us: Option<u32>,
    peak_rate: Option<u64>,
    mtu: Option<u32>,
    link: LinkLayer,
    child: Option<Box<Kind>>,
}

impl Words for Settings {
    const NAME: &'static str = "tbf";
    const SUPPORTED: &'static str = "rate, burst, limit or latency, peakrate, mpu, overhead, linklayer; `child KIND WORDS` in place of its FIFO";
    const WORDS: &'static [&'static str] = &[
        "child",
        "rate",
        "burst",
        "buffer",
        "maxburst",
        "limit",
        "latency",
        "mtu",
        "minburst",
        "peakrate",
        "mpu",
        "overhead",
        "linklayer",
    ];
    const EXAMPLES: &'static [&'static str] = &[
        "tbf rate 1mbit burst 2000 limit 9000 -> tbf rate 100kbit burst 900 limit 3000",
        "tbf rate 1mbit burst 5k latency 50ms peakrate 2mbit mtu 1600 linklayer atm overhead 14 -> tbf rate 2mbit burst 1 latency 1s",
        "tbf rate 1mbit burst 2000 limit 9000 child fq_codel flows 4 limit 9 -> tbf rate 100kbit burst 900 limit 3000 child fq_codel flows 4 limit 5",
        "tbf rate 1mbit burst 2000 limit 9000 child cake bandwidth 500kbit -> tbf rate 2mbit burst 700 limit 9000 child cake unlimited",
        "tbf rate 1mbit burst 1600 limit 9000 -> tbf rate 2mbit burst 5k latency 10ms",
    ];

    fn parse<'a>(words: &mut Lexer<'a>) -> Result<Self, Wrong<'a>> {
        let mut said = Said::default();
        while let Some(word) = words.next_word() {
            match word {
                "rate" => said.rate = Some(byte_rate(words)?),
                "burst" | "buffer" | "maxburst" => said.burst = Some(size_with_cell(words)?),
                "limit" => said.limit = Some(size_with_cell(words)?),
                "latency" => said.latency_us = Some(words.micros()?),
                "peakrate" => said.peak_rate = Some(byte_rate(words)?),
                "mtu" | "minburst" => said.mtu = Some(size_with_cell(words)?),
                "child" => said.child = Some(Box::new(Kind::child(words)?)),
                _ if said.link.take(word, words)? => {}
                _ => return Err(Wrong::unknown(word, "a word of tbf", Self::WORDS)),
            }
            if said.limit.is_some() && said.latency_us.is_some() {
                let why = "write `limit` or `latency`, not both";
                return Err(Wrong::new(word, why));
            }
        }
        said.settle()
            .map_err(|why| Wrong::new(words.whole(), format!("tbf: {why}")))
    }

    fn child(&self) -> Option<(&Kind, u8)> {
        self.child.as_deref().map(|child| (child, 1))
    }

    fn options(&self) -> Option<Vec<u8>> {
        // struct tc_tbf_qopt; the buckets as times are for kernels before 3.14, which the attributes in bytes are not for.
        let mut parms = spec(self.rate, self.link);
        match self.peak {
            Some(peak) => parms.extend(spec(peak.rate, self.link)),
            None => parms.extend([0; 12]),
        }
        let peak = self.peak.map_or(0, |peak| ticks(peak.rate, peak.burst));
        for word in [self.limit, ticks(self.rate, self.burst), peak] {
            parms.extend_from_slice(&word.to_ne_bytes());
        }
        let mut out = Attributes::default();
        out.put(PARMS, &parms);
        out.u32(BURST, self.burst);
        if is_high(self.rate) {
            out.u64(RATE64, self.rate);
        }
        if let Some(peak) = self.peak {
            out.u32(PBURST, peak.burst);
            if is_high(peak.rate) {
                out.u64(PRATE64, peak.rate);
            }
        }
        Some(out.bytes())
    }
}

impl Said {
    /// What follows from the words, as tc computes it.
    fn settle(self) -> Result<Settings, &'static str> {
        let rate = self.rate.ok_or("`rate` is missing")?;
        let burst = self
            .burst
            .ok_or("`burst` is missing, such as `burst 32kb`")?;
        let peak = match (self.peak_rate, self.mtu) {
            (Some(peak), _) if peak <= rate => return Err("`peakrate` must be above `rate`"),
            (Some(rate), Some(burst)) => Some(Peak { rate, burst }),
            (Some(_), None) => return Err("`peakrate` needs `mtu`, such as `mtu 1540`"),
            (None, _) => None,
        };
        let limit = match (self.limit, self.latency_us) {
            (Some(limit), _) => limit,
            (None, Some(us)) => latency(rate, burst, peak, us),
            (None, None) => return Err("write `limit` or `latency`"),
        };
        Ok(Settings {
            rate,
            burst,
            limit,
            peak,
            link: self.link,
            child: self.child,
        })
    }
}

/// Bytes that go in this time, and the bucket; by the slower of the two buckets.
fn latency(rate: u64, burst: u32, peak: Option<Peak>, us: u32) -> u32 {
    let bytes =
        |rate: u64, burst: u32| u128::from(rate) * u128::from(us) / 1_000_000 + u128::from(burst);
    let by_peak = peak.map_or(u128::MAX, |peak| bytes(peak.rate, peak.burst));
    u32::try_from(bytes(rate, burst).min(by_peak)).unwrap_or(u32::MAX)
}

/// Time that a bucket takes at this rate, cut to 32 bits, microseconds and then ticks of 64 ns, as tc does it.
fn ticks(rate: u64, bytes: u32) -> u32 {
    let us = u64::from(bytes) * 1_000_000 / u64::from(low(rate).max(1));
    u32::try_from(us * 1_000 / 64).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use crate::Kind;

    /// Limits that tc 6.1 sends for these words.
    #[test]
    fn a_latency_becomes_a_limit() {
        for (text, limit) in [
            ("tbf rate 10mbit burst 32k latency 50ms", 0x17424),
            (
                "tbf rate 1mbit burst 5k latency 70ms mpu 64 overhead 14 linklayer atm",
                0x362e,
            ),
            ("tbf rate 100gbit burst 1m latency 1ms", 0xcebc20),
            ("tbf rate 10mbit burst 1 latency 5ms", 0x186b),
            (
                "tbf rate 10mbit buffer 32k/8 limit 10k mtu 2000 peakrate 20mbit",
                10_240,
            ),
        ] {
            let qdisc =
                crate::Settings::parse(text).unwrap_or_else(|wrong| panic!("{text}: {wrong:?}"));
            let Kind::Tbf(tbf) = qdisc.kind() else {
                panic!("{text}")
            };
            assert_eq!(tbf.limit, limit, "{text}");
        }
    }

    #[test]
    fn errors_say_what_is_missing() {
        for (text, word, why) in [
            (
                "tbf rate 10mbit burst 32k",
                "tbf rate 10mbit burst 32k",
                "limit",
            ),
            ("tbf rate 0 burst 5 limit 5", "0", "under 8bit"),
            (
                "tbf rate 1mbit limit 5k",
                "tbf rate 1mbit limit 5k",
                "`burst` is missing",
            ),
            ("tbf rate 1mbit limit 5k latency 5ms", "latency", "not both"),
            ("tbf linklayer x25", "x25", "ethernet, atm"),
        ] {
            let wrong = crate::Settings::parse(text).expect_err(text);
            assert!(wrong.word == word && wrong.why.contains(why), "{wrong:?}");
        }
    }
}
