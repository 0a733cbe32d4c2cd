//! `fq` (tc-fq(8)): fair queueing with pacing.

use super::COUNTERS;
use crate::discipline::{Named, Words, read};
use crate::link_layer::{byte_rate, low};
use crate::netlink::Attributes;
use crate::words::{Lexer, Word, Wrong, names, put, set};

/// The settings, with the defaults of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Packets that may wait.
    pub limit: u32,
    /// Packets of one flow that may wait.
    pub flow_limit: u32,
    /// Bytes that a flow may send in its turn; none: two of the longest frames.
    pub quantum: Option<u32>,
    /// Bytes that a new flow may send at once; none: ten of the longest frames.
    pub initial_quantum: Option<u32>,
    /// Bytes a second of one flow at most.
    pub max_rate: Option<u64>,
    /// Whether flows have a rate at all.
    pub pacing: bool,
    /// Logarithm of the number of trees that flows are looked up in.
    pub buckets_log: u32,
    /// Bits of the hash that tell flows apart where there is no socket.
    pub orphan_mask: u32,
    /// Bytes a second: flows that are slower get no bursts.
    pub low_rate_threshold: u32,
    /// Lateness from which a leaving packet is marked.
    pub ce_threshold_us: u32,
    /// A flow idle for this long gets a full quantum.
    pub refill_delay_us: u32,
    /// How much later than asked its timer may fire.
    pub timer_slack_ns: u32,
    /// How far ahead a packet's time of departure may lie.
    pub horizon_us: u32,
    /// What lies beyond is dropped, else it leaves at the horizon.
    pub horizon_drop: bool,
}

/// `enum TCA_FQ_*` (linux/pkt_sched.h).
const PLIMIT: u16 = 1;
const FLOW_PLIMIT: u16 = 2;
const QUANTUM: u16 = 3;
const INITIAL_QUANTUM: u16 = 4;
const RATE_ENABLE: u16 = 5;
const FLOW_MAX_RATE: u16 = 7;
const BUCKETS_LOG: u16 = 8;
const FLOW_REFILL_DELAY: u16 = 9;
const ORPHAN_MASK: u16 = 10;
const LOW_RATE_THRESHOLD: u16 = 11;
const CE_THRESHOLD: u16 = 12;
const TIMER_SLACK: u16 = 13;
const HORIZON: u16 = 14;
const HORIZON_DROP: u16 = 15;

const MAX_QUANTUM: u32 = 1 << 20;
const MAX_BUCKETS: u32 = 256 * 1_024;

impl Default for Settings {
    fn default() -> Self {
        Self {
            limit: 10_000,
            flow_limit: 100,
            quantum: None,
            initial_quantum: None,
            max_rate: None,
            pacing: true,
            buckets_log: 10,
            orphan_mask: 1_023,
            low_rate_threshold: 550_000 / 8,
            ce_threshold_us: u32::MAX,
            refill_delay_us: 40_000,
            timer_slack_ns: 10_000,
            horizon_us: 10_000_000,
            horizon_drop: true,
        }
    }
}

const TABLE: [Word<Settings>; 16] = [
    ("limit", |f, w| set(&mut f.limit, w.unsigned())),
    ("flow_limit", |f, w| set(&mut f.flow_limit, w.unsigned())),
    ("quantum", |f, w| {
        set(&mut f.quantum, w.count(MAX_QUANTUM).map(Some))
    }),
    ("initial_quantum", |f, w| {
        set(&mut f.initial_quantum, initial_quantum(w))
    }),
    ("maxrate", |f, w| set(&mut f.max_rate, max_rate(w))),
    ("buckets", |f, w| set(&mut f.buckets_log, buckets_log(w))),
    ("orphan_mask", |f, w| set(&mut f.orphan_mask, w.unsigned())),
    ("low_rate_threshold", |f, w| {
        set(&mut f.low_rate_threshold, byte_rate(w).map(low))
    }),
    ("ce_threshold", |f, w| {
        set(&mut f.ce_threshold_us, w.micros())
    }),
    ("refill_delay", |f, w| {
        set(&mut f.refill_delay_us, w.micros())
    }),
    ("timer_slack", |f, w| set(&mut f.timer_slack_ns, nanos(w))),
    ("horizon", |f, w| set(&mut f.horizon_us, w.micros())),
    ("horizon_cap", |f, _| put(&mut f.horizon_drop, false)),
    ("horizon_drop", |f, _| put(&mut f.horizon_drop, true)),
    ("pacing", |f, _| put(&mut f.pacing, true)),
    ("nopacing", |f, _| put(&mut f.pacing, false)),
];

impl Words for Settings {
    const NAME: &'static str = "fq";
    const SUPPORTED: &'static str =
        "all; packets of the simulator have no departure time, so `fq` paces by `maxrate` only";
    const WORDS: &'static [&'static str] = &names(&TABLE);
    const EXAMPLES: &'static [&'static str] = &[
        "fq limit 9 flow_limit 4 -> fq limit 3 maxrate 1mbit",
        "fq maxrate 1mbit buckets 2 horizon 20ms quantum 1 initial_quantum 0 -> fq horizon_cap horizon 1us ce_threshold 1us orphan_mask 1 low_rate_threshold 10mbit",
        "fq limit 9 maxrate 1mbit -> fq flow_limit 2 horizon_cap",
    ];

    fn parse<'a>(words: &mut Lexer<'a>) -> Result<Self, Wrong<'a>> {
        let mut fq = Self::default();
        Self::read(&mut fq, &TABLE, words)?;
        Ok(fq)
    }

    fn options(&self) -> Option<Vec<u8>> {
        let mut out = Attributes::default();
        out.u32(BUCKETS_LOG, self.buckets_log);
        out.u32(PLIMIT, self.limit);
        out.u32(FLOW_PLIMIT, self.flow_limit);
        out.maybe(QUANTUM, self.quantum);
        out.maybe(INITIAL_QUANTUM, self.initial_quantum);
        out.u32(RATE_ENABLE, self.pacing.into());
        // The largest is no limit.
        out.maybe(FLOW_MAX_RATE, self.max_rate.map(low));
        out.u32(LOW_RATE_THRESHOLD, self.low_rate_threshold);
        out.u32(FLOW_REFILL_DELAY, self.refill_delay_us);
        out.u32(ORPHAN_MASK, self.orphan_mask);
        out.u32(CE_THRESHOLD, self.ce_threshold_us);
        out.u32(TIMER_SLACK, self.timer_slack_ns);
        out.u32(HORIZON, self.horizon_us);
        out.put(HORIZON_DROP, &[self.horizon_drop.into()]);
        Some(out.bytes())
    }

    fn counted(_queue: &[u8], app: &[u8]) -> (Named, Vec<Named>) {
        (read(&COUNTERS, app), Vec::new())
    }
}

fn initial_quantum<'a>(words: &mut Lexer<'a>) -> Result<Option<u32>, Wrong<'a>> {
    let n = words.number(0, i64::from(i32::MAX))?;
    Ok(u32::try_from(n).ok())
}

/// The attribute has 32 bits, of which the last value is no limit.
fn max_rate<'a>(words: &mut Lexer<'a>) -> Result<Option<u64>, Wrong<'a>> {
    let rate = byte_rate(words)?;
    Ok((rate < u64::from(u32::MAX)).then_some(rate))
}

/// tc rounds up to a power of two; the kernel takes no single tree.
fn buckets_log<'a>(words: &mut Lexer<'a>) -> Result<u32, Wrong<'a>> {
    let n = words.number(2, i64::from(MAX_BUCKETS))?;
    Ok((n as u64).next_power_of_two().ilog2())
}

fn nanos<'a>(words: &mut Lexer<'a>) -> Result<u32, Wrong<'a>> {
    Ok(u32::try_from(words.time()?).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    /// The values that tc 6.1 sends for these words.
    #[test]
    fn words_and_defaults() {
        let text = "fq limit 5 flow_limit 6 quantum 3000 initial_quantum 15000 maxrate 5mbit buckets 500 \
            orphan_mask 0xff low_rate_threshold 5mbit ce_threshold 1ms refill_delay 10ms timer_slack 3us \
            horizon 2s horizon_cap nopacing";
        let right = Settings {
            limit: 5,
            flow_limit: 6,
            quantum: Some(3_000),
            initial_quantum: Some(15_000),
            max_rate: Some(0x98968),
            pacing: false,
            buckets_log: 9,
            orphan_mask: 255,
            low_rate_threshold: 0x98968,
            ce_threshold_us: 1_000,
            refill_delay_us: 10_000,
            timer_slack_ns: 3_000,
            horizon_us: 2_000_000,
            horizon_drop: false,
        };
        assert_eq!(
            *crate::Settings::parse(text).unwrap().kind(),
            Kind::Fq(right)
        );
        let Kind::Fq(fast) = *crate::Settings::parse("fq maxrate 100gbit").unwrap().kind() else {
            panic!("no fq")
        };
        assert_eq!(fast.max_rate, None);
        assert_eq!(
            crate::Settings::parse("fq quantum 5kb")
                .expect_err("a size")
                .word,
            "5kb"
        );
    }
}
