//! The words of `netem` (tc-netem(8)).

use super::settings::{Chance, Distribution, Every, Loss, Rate, Settings, Slot};
use crate::discipline::{Named, Words};
use crate::netlink;
use crate::words::{Lexer, Word, Wrong, begins_with_digit, names, percent, put, set, time};

const DISTRIBUTIONS: [&str; 4] = ["uniform", "normal", "pareto", "paretonormal"];

/// The longest jitter: the kernel keeps 31 bits (`tabledist()`).
const MAX_JITTER: i64 = i32::MAX as i64;

const TABLE: [Word<Settings>; 14] = [
    ("limit", |n, w| set(&mut n.limit, w.size())),
    ("delay", delay),
    ("latency", delay),
    ("distribution", |n, w| {
        set(&mut n.distribution, distribution(w))
    }),
    ("loss", |n, w| set(&mut n.loss, loss(w))),
    ("drop", |n, w| set(&mut n.loss, loss(w))),
    ("ecn", |n, _| put(&mut n.ecn, true)),
    ("reorder", |n, w| set(&mut n.reorder, chance(w))),
    ("gap", |n, w| set(&mut n.gap, w.unsigned())),
    ("duplicate", |n, w| set(&mut n.duplicate, chance(w))),
    ("corrupt", |n, w| set(&mut n.corrupt, chance(w))),
    ("rate", |n, w| set(&mut n.rate, rate(w))),
    ("slot", |n, w| set(&mut n.slot, slot(w).map(Some))),
    ("seed", |n, w| set(&mut n.seed, seed(w))),
];

impl Words for Settings {
    const NAME: &'static str = "netem";
    const SUPPORTED: &'static str = "delay, jitter with correlation and distribution, loss (random, state, gemodel), reorder, duplicate, corrupt, rate, slot";
    const WORDS: &'static [&'static str] = &names(&TABLE);
    const EXAMPLES: &'static [&'static str] = &[
        "netem delay 10ms 20ms 25% limit 12 -> netem rate 1mbit -20 48 5 limit 7",
        "netem loss 20% 10% duplicate 30% corrupt 20% limit 9 -> netem loss state 10% ecn",
        "netem delay 5ms reorder 25% 50% gap 3 rate 1mbit -> netem slot 1ms 3ms packets 2 bytes 900",
        "netem delay 5ms 3ms distribution normal loss gemodel 10% 30% seed 3 -> netem slot distribution pareto 1ms 1ms",
        "netem slot 1ms 3ms packets 2 reorder 20% gap 3 delay 1ms -> netem delay 1ms 2ms corrupt 20% duplicate 20%",
        "netem delay 2ms 1ms loss 10% duplicate 20% corrupt 30% limit 9 -> netem loss gemodel 10% 30%",
    ];

    fn parse<'a>(words: &mut Lexer<'a>) -> Result<Self, Wrong<'a>> {
        let mut netem = Self::default();
        Self::read(&mut netem, &TABLE, words)?;
        let whole = words.whole();
        netem
            .settle()
            .map_err(|why| Wrong::new(whole, format!("netem: {why}")))?;
        Ok(netem)
    }

    fn options(&self) -> Option<Vec<u8>> {
        Some(super::netlink::options(self))
    }

    /// A packet that overtakes others counts as requeued, among the counters of every qdisc.
    fn counted(queue: &[u8], _app: &[u8]) -> (Named, Vec<Named>) {
        let requeues = netlink::number(queue, 12, 4);
        (vec![("requeues", requeues)], Vec::new())
    }
}

impl Settings {
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

fn delay<'a>(netem: &mut Settings, words: &mut Lexer<'a>) -> Result<(), Wrong<'a>> {
    netem.latency_ns = words.time()?;
    if let Some(jitter) = words.take_time()? {
        netem.jitter_ns = jitter.min(MAX_JITTER);
        netem.delay_correlation = optional(words)?;
    }
    Ok(())
}

fn seed<'a>(words: &mut Lexer<'a>) -> Result<Option<u64>, Wrong<'a>> {
    let word = words.value()?;
    let wrong = |_| Wrong::new(word, format!("`seed` takes a whole number, not `{word}`"));
    word.parse().map(Some).map_err(wrong)
}

/// Parts of 2^32, as tc rounds them.
fn parts(word: &str) -> Result<u32, Wrong<'_>> {
    Ok(scaled(percent(word)?))
}

fn scaled(ppb: u32) -> u32 {
    // The product is exact to far less than a half.
    (f64::from(ppb) / 1e9 * f64::from(u32::MAX)).round_ties_even() as u32
}

fn optional<'a>(words: &mut Lexer<'a>) -> Result<u32, Wrong<'a>> {
    words.take_value().map_or(Ok(0), parts)
}

fn chance<'a>(words: &mut Lexer<'a>) -> Result<Chance, Wrong<'a>> {
    Ok(Chance {
        probability: parts(words.value()?)?,
        correlation: optional(words)?,
    })
}

fn distribution<'a>(words: &mut Lexer<'a>) -> Result<Distribution, Wrong<'a>> {
    let word = words.value()?;
    Ok(match word {
        "uniform" => Distribution::Uniform,
        "normal" => Distribution::Normal,
        "pareto" => Distribution::Pareto,
        "paretonormal" => Distribution::ParetoNormal,
        _ => return Err(Wrong::unknown(word, "a distribution", &DISTRIBUTIONS)),
    })
}

fn loss<'a>(words: &mut Lexer<'a>) -> Result<Loss, Wrong<'a>> {
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

fn rate<'a>(words: &mut Lexer<'a>) -> Result<Option<Rate>, Wrong<'a>> {
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

/// A number of bytes that may be negative; 0 if the word is missing.
fn overhead<'a>(words: &mut Lexer<'a>) -> Result<i32, Wrong<'a>> {
    let is_number = |word: &&str| begins_with_digit(word.strip_prefix('-').unwrap_or(word));
    let Some(word) = words.peek().filter(is_number) else {
        return Ok(0);
    };
    words.next_word();
    let wrong = |_| Wrong::new(word, format!("`{word}` is not a number of bytes"));
    word.parse().map_err(wrong)
}

fn number(word: &str, most: u32) -> Result<u32, Wrong<'_>> {
    let n: Option<u32> = word.parse().ok().filter(|n| *n <= most);
    n.ok_or_else(|| Wrong::new(word, format!("`{word}` is not a whole number up to {most}")))
}

fn slot<'a>(words: &mut Lexer<'a>) -> Result<Slot, Wrong<'a>> {
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
