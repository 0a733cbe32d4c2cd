//! `tbf` (tc-tbf(8)): a token bucket.

use crate::Kind;
use crate::link_layer::{LinkLayer, byte_rate, size_with_cell};
use crate::words::{Words, Wrong};

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

pub(crate) const KNOWN: [&str; 13] = [
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

impl Settings {
    pub(crate) fn parse<'a>(words: &mut Words<'a>) -> Result<Self, Wrong<'a>> {
        let mut said = Said::default();
        while let Some(word) = words.next() {
            match word {
                "rate" => said.rate = Some(byte_rate(words)?),
                "burst" | "buffer" | "maxburst" => said.burst = Some(size_with_cell(words)?),
                "limit" => said.limit = Some(size_with_cell(words)?),
                "latency" => said.latency_us = Some(words.micros()?),
                "peakrate" => said.peak_rate = Some(byte_rate(words)?),
                "mtu" | "minburst" => said.mtu = Some(size_with_cell(words)?),
                "child" => said.child = Some(Box::new(Kind::child(words)?)),
                _ if said.link.take(word, words)? => {}
                _ => return Err(Wrong::unknown(word, "a word of tbf", &KNOWN)),
            }
            if said.limit.is_some() && said.latency_us.is_some() {
                let why = "write `limit` or `latency`, not both";
                return Err(Wrong::new(word, why));
            }
        }
        said.settle()
            .map_err(|why| Wrong::new(words.whole(), format!("tbf: {why}")))
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
