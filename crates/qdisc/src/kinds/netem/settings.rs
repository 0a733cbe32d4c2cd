//! `netem` (tc-netem(8)): delay, loss and the like.
//!
//! Chances are what the kernel takes: parts of 2^32, rounded as tc rounds them. Times are nanoseconds, which the kernel
//! takes as well; tc itself cuts them to 64 ns.

use crate::words::{Words, Wrong, begins_with_digit, percent, time};

/// The settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Packets that it may hold.
    pub limit: u32,
    /// `delay`.
    pub latency_ns: i64,
    /// How far a packet's delay may lie from it.
    pub jitter_ns: i64,
    /// How much a packet's delay is like that of the one before, in parts of 2^32.
    pub delay_correlation: u32,
    /// How delays are spread.
    pub distribution: Distribution,
    /// Which packets are lost.
    pub loss: Loss,
    /// Mark what would be lost, where it can be marked.
    pub ecn: bool,
    /// Every so many-th packet may go at once; 0: none.
    pub gap: u32,
    /// The chance of such a packet to do so.
    pub reorder: Chance,
    /// The chance of a packet to come twice.
    pub duplicate: Chance,
    /// The chance of a packet to have one bit flipped.
    pub corrupt: Chance,
    /// The rate; none: unlimited.
    pub rate: Option<Rate>,
    /// Times at which packets leave, as on a radio link.
    pub slot: Option<Slot>,
    /// The seed of its draws; none: that of the run.
    pub seed: Option<u64>,
}

/// A chance in parts of 2^32, and how much a draw is like the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chance {
    /// The chance.
    pub probability: u32,
    /// The correlation.
    pub correlation: u32,
}

/// How draws are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Evenly.
    Uniform,
    /// By the normal distribution.
    Normal,
    /// By that of Pareto, with the exponent 3.
    Pareto,
    /// A quarter normal, three quarters Pareto.
    ParetoNormal,
}

/// Which packets are lost; chances in parts of 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// `loss random`: each by itself, but for the correlation.
    Random(Chance),
    /// `loss state`: a chain of four states: good, bursts of loss, good inside a burst, a single loss.
    State {
        /// Good to burst.
        p13: u32,
        /// Burst to good.
        p31: u32,
        /// Burst to good inside the burst.
        p32: u32,
        /// And back.
        p23: u32,
        /// Good to a single loss.
        p14: u32,
    },
    /// `loss gemodel`: Gilbert and Elliott's chain of two states.
    Gemodel {
        /// Good to bad.
        p: u32,
        /// Bad to good.
        r: u32,
        /// The chance to get through in the bad state.
        h: u32,
        /// The chance of loss in the good state.
        k1: u32,
    },
}

/// A rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Bytes a second.
    pub bytes: u64,
    /// Bytes added to each packet.
    pub packet_overhead: i32,
    /// Bytes of a cell; 0: there are none.
    pub cell_size: u32,
    /// Bytes added to each cell.
    pub cell_overhead: i32,
}

/// Times at which packets leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// From one to the next.
    pub every: Every,
    /// Packets that one takes; 0: any number.
    pub packets: u32,
    /// Bytes that one takes; 0: any number.
    pub bytes: u32,
}

/// Time between slots, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// Evenly drawn.
    Between {
        /// At least.
        min_ns: i64,
        /// At most.
        max_ns: i64,
    },
    /// Drawn from a distribution.
    Distributed {
        /// Which.
        by: Distribution,
        /// Its middle.
        delay_ns: i64,
        /// Its deviation.
        jitter_ns: i64,
    },
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limit: 1_000,
            latency_ns: 0,
            jitter_ns: 0,
            delay_correlation: 0,
            distribution: Distribution::Uniform,
            loss: Loss::Random(Chance::default()),
            ecn: false,
            gap: 0,
            reorder: Chance::default(),
            duplicate: Chance::default(),
            corrupt: Chance::default(),
            rate: None,
            slot: None,
            seed: None,
        }
    }
}

pub(crate) const KNOWN: [&str; 14] = [
    "limit",
    "delay",
    "latency",
    "distribution",
    "loss",
    "drop",
    "ecn",
    "reorder",
    "gap",
    "duplicate",
    "corrupt",
    "rate",
    "slot",
    "seed",
];

const DISTRIBUTIONS: [&str; 4] = ["uniform", "normal", "pareto", "paretonormal"];

/// The longest jitter: the kernel keeps 31 bits (`tabledist()`).
const MAX_JITTER: i64 = i32::MAX as i64;

impl Settings {
    pub(crate) fn parse<'a>(words: &mut Words<'a>) -> Result<Self, Wrong<'a>> {
        let mut netem = Self::default();
        while let Some(word) = words.next() {
            let known = netem.delays(word, words)?
                || netem.harms(word, words)?
                || netem.paces(word, words)?;
            if !known {
                return Err(Wrong::unknown(word, "a word of netem", &KNOWN));
            }
        }
        let whole = words.whole();
        netem
            .settle()
            .map_err(|why| Wrong::new(whole, format!("netem: {why}")))?;
        Ok(netem)
    }

    fn delays<'a>(&mut self, word: &str, words: &mut Words<'a>) -> Result<bool, Wrong<'a>> {
        match word {
            "limit" => self.limit = words.size()?,
            "delay" | "latency" => {
                self.latency_ns = words.time()?;
                if let Some(jitter) = words.take_time()? {
                    self.jitter_ns = jitter.min(MAX_JITTER);
                    self.delay_correlation = optional(words)?;
                }
            }
            "distribution" => self.distribution = distribution(words)?,
            "reorder" => self.reorder = chance(words)?,
            "gap" => self.gap = words.unsigned()?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn harms<'a>(&mut self, word: &str, words: &mut Words<'a>) -> Result<bool, Wrong<'a>> {
        match word {
            "loss" | "drop" => self.loss = loss(words)?,
            "ecn" => self.ecn = true,
            "duplicate" => self.duplicate = chance(words)?,
            "corrupt" => self.corrupt = chance(words)?,
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn paces<'a>(&mut self, word: &str, words: &mut Words<'a>) -> Result<bool, Wrong<'a>> {
        match word {
            "rate" => self.rate = rate(words)?,
            "slot" => self.slot = Some(slot(words)?),
            "seed" => {
                let word = words.value()?;
                let wrong =
                    |_| Wrong::new(word, format!("`seed` takes a whole number, not `{word}`"));
                self.seed = Some(word.parse().map_err(wrong)?);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// What tc asks of the words together.
    fn settle(&mut self) -> Result<(), &'static str> {
        let has_delay = self.latency_ns > 0;
        if self.reorder.probability > 0 {
            if !has_delay {
                return Err("`reorder` needs a `delay`: reordered packets skip the delay");
            }
            self.gap = self.gap.max(1);
        } else if self.gap > 0 {
            return Err("`gap` needs `reorder`");
        }
        if self.distribution != Distribution::Uniform && !(has_delay && self.jitter_ns > 0) {
            return Err("`distribution` needs a `delay` with jitter");
        }
        let loses = !matches!(self.loss, Loss::Random(Chance { probability: 0, .. }));
        if self.ecn && !loses {
            return Err("`ecn` needs `loss`: it marks packets instead of dropping them");
        }
        Ok(())
    }
}

/// Parts of 2^32, as tc rounds them.
fn parts(word: &str) -> Result<u32, Wrong<'_>> {
    Ok(scaled(percent(word)?))
}

fn scaled(ppb: u32) -> u32 {
    // The product is exact to far less than a half.
    (f64::from(ppb) / 1e9 * f64::from(u32::MAX)).round_ties_even() as u32
}

fn optional<'a>(words: &mut Words<'a>) -> Result<u32, Wrong<'a>> {
    words.take_value().map_or(Ok(0), parts)
}

fn chance<'a>(words: &mut Words<'a>) -> Result<Chance, Wrong<'a>> {
    Ok(Chance {
        probability: parts(words.value()?)?,
        correlation: optional(words)?,
    })
}

fn distribution<'a>(words: &mut Words<'a>) -> Result<Distribution, Wrong<'a>> {
    let word = words.value()?;
    Ok(match word {
        "uniform" => Distribution::Uniform,
        "normal" => Distribution::Normal,
        "pareto" => Distribution::Pareto,
        "paretonormal" => Distribution::ParetoNormal,
        _ => return Err(Wrong::unknown(word, "a distribution", &DISTRIBUTIONS)),
    })
}

fn loss<'a>(words: &mut Words<'a>) -> Result<Loss, Wrong<'a>> {
    if words.take("state") {
        let p13 = words.percent()?;
        let mut next = |default: u32| words.take_value().map_or(Ok(default), percent);
        let (p31, p32) = (next(1_000_000_000 - p13)?, next(0)?);
        let (p23, p14) = (next(1_000_000_000)?, next(0)?);
        let [p13, p31, p32, p23, p14] = [p13, p31, p32, p23, p14].map(scaled);
        return Ok(Loss::State {
            p13,
            p31,
            p32,
            p23,
            p14,
        });
    }
    if words.take("gemodel") {
        let p = words.percent()?;
        let mut next = |default: Option<u32>| match words.take_value() {
            Some(word) => percent(word).map(Some),
            None => Ok(default),
        };
        let r = next(Some(1_000_000_000 - p))?.unwrap_or(0);
        // Without a word for it, everything is lost in the bad state.
        let h = next(None)?.map_or(0, |lost| u32::MAX - scaled(lost));
        let k1 = next(Some(0))?.unwrap_or(0);
        let [p, r, k1] = [p, r, k1].map(scaled);
        return Ok(Loss::Gemodel { p, r, h, k1 });
    }
    words.take("random");
    Ok(Loss::Random(chance(words)?))
}

fn rate<'a>(words: &mut Words<'a>) -> Result<Option<Rate>, Wrong<'a>> {
    let bytes = words.rate()? / 8;
    let packet_overhead = overhead(words)?;
    let cell_size = match words.take_value() {
        Some(word) => number(word, u32::MAX)?,
        None => 0,
    };
    let cell_overhead = overhead(words)?;
    Ok((bytes > 0).then_some(Rate {
        bytes,
        packet_overhead,
        cell_size,
        cell_overhead,
    }))
}

/// Bytes that may be less than none; 0 when there is no such word.
fn overhead<'a>(words: &mut Words<'a>) -> Result<i32, Wrong<'a>> {
    let is_number = |word: &&str| begins_with_digit(word.strip_prefix('-').unwrap_or(word));
    let Some(word) = words.peek().filter(is_number) else {
        return Ok(0);
    };
    words.next();
    let wrong = |_| Wrong::new(word, format!("`{word}` is not a number of bytes"));
    word.parse().map_err(wrong)
}

fn number(word: &str, most: u32) -> Result<u32, Wrong<'_>> {
    let n: Option<u32> = word.parse().ok().filter(|n| *n <= most);
    n.ok_or_else(|| Wrong::new(word, format!("`{word}` is not a whole number up to {most}")))
}

fn slot<'a>(words: &mut Words<'a>) -> Result<Slot, Wrong<'a>> {
    let every = if words.take("distribution") {
        Every::Distributed {
            by: distribution(words)?,
            delay_ns: words.value().and_then(time)?,
            jitter_ns: words.value().and_then(time)?.min(MAX_JITTER),
        }
    } else {
        let min_ns = words.time()?;
        let max = words.take_value();
        let max_ns = max.map_or(Ok(min_ns), time)?;
        if max_ns < min_ns {
            let why = "the time between slots is at most less than at least";
            return Err(Wrong::new(max.unwrap_or_default(), why));
        }
        Every::Between { min_ns, max_ns }
    };
    let mut slot = Slot {
        every,
        packets: 0,
        bytes: 0,
    };
    const MOST: u32 = i32::MAX as u32;
    loop {
        if words.take("packets") {
            slot.packets = number(words.value()?, MOST)?;
        } else if words.take("bytes") {
            slot.bytes = words.size()?.min(MOST);
        } else {
            return Ok(slot);
        }
    }
}

#[cfg(test)]
mod tests;
