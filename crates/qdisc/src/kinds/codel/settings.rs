//! `codel` (tc-codel(8)) and `fq_codel` (tc-fq_codel(8)).

use super::{fair, single};
use crate::discipline::{Named, Words, read};
use crate::netlink::Attributes;
use crate::words::{Lexer, Wrong};

/// CoDel's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Packets that may wait.
    pub limit: u32,
    /// Time in the queue that is accepted, in microseconds.
    pub target_us: u32,
    /// Time for which the queue may stand above it, in microseconds.
    pub interval_us: u32,
    /// Mark instead of drop where a packet can be marked.
    pub ecn: bool,
    /// Mark each packet that has waited longer, in microseconds.
    pub ce_threshold_us: Option<u32>,
}

/// The settings of `fq_codel`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FairSettings {
    /// Settings of each queue; the limit is for all.
    pub codel: Settings,
    /// Number of queues.
    pub flows: u32,
    /// Bytes that a queue may send in its turn; none: the longest frame.
    pub quantum: Option<u32>,
    /// Bytes of memory that may be used.
    pub memory_limit: u32,
    /// Packets dropped at once when a limit is passed.
    pub drop_batch: u32,
}

/// `enum TCA_CODEL_*`; the first four of fq_codel are the same.
const TARGET: u16 = 1;
const LIMIT: u16 = 2;
const INTERVAL: u16 = 3;
const ECN: u16 = 4;
const CE_THRESHOLD: u16 = 5;

/// `enum TCA_FQ_CODEL_*`.
const FLOWS: u16 = 5;
const QUANTUM: u16 = 6;
const FQ_CE_THRESHOLD: u16 = 7;
const DROP_BATCH: u16 = 8;
const MEMORY_LIMIT: u16 = 9;

/// Number of queues when nobody says another; it can be said of a new qdisc only, not when one is changed.
const DEFAULT_FLOWS: u32 = 1_024;

/// `FQ_CODEL_QUANTUM_MAX`, and the most queues.
const MAX_QUANTUM: u32 = 1 << 20;
const MAX_FLOWS: u32 = 65_536;

impl Default for Settings {
    fn default() -> Self {
        Self {
            limit: 1_000,
            target_us: 5_000,
            interval_us: 100_000,
            ecn: false,
            ce_threshold_us: None,
        }
    }
}

impl Words for Settings {
    const NAME: &'static str = "codel";
    const SUPPORTED: &'static str = "all but `ce_threshold_selector`";
    const WORDS: &'static [&'static str] = FairSettings::WORDS.split_at(6).0;
    const EXAMPLES: &'static [&'static str] = &[
        "codel limit 9 -> codel limit 3 target 100us interval 1ms ecn ce_threshold 50us",
        "codel target 100us interval 1ms -> codel",
        "codel limit 9 ecn target 100us -> codel ce_threshold 1ms",
    ];

    fn parse<'a>(words: &mut Lexer<'a>) -> Result<Self, Wrong<'a>> {
        let mut codel = Self::default();
        while let Some(word) = words.next_word() {
            if !codel.take(word, words)? {
                return Err(Wrong::unknown(word, "a word of codel", Self::WORDS));
            }
        }
        Ok(codel)
    }

    fn options(&self) -> Option<Vec<u8>> {
        let mut out = Attributes::default();
        out.u32(LIMIT, self.limit);
        out.u32(INTERVAL, self.interval_us);
        out.u32(TARGET, self.target_us);
        out.u32(ECN, self.ecn.into());
        out.maybe(CE_THRESHOLD, self.ce_threshold_us);
        Some(out.bytes())
    }

    fn counted(_queue: &[u8], app: &[u8]) -> (Named, Vec<Named>) {
        (read(&single::COUNTERS, app), Vec::new())
    }
}

impl Settings {
    fn take<'a>(&mut self, word: &str, words: &mut Lexer<'a>) -> Result<bool, Wrong<'a>> {
        match word {
            "limit" => self.limit = words.count(u32::MAX)?,
            "target" => self.target_us = words.micros()?,
            "interval" => self.interval_us = words.micros()?,
            "ce_threshold" => self.ce_threshold_us = Some(words.micros()?),
            "ecn" => self.ecn = true,
            "noecn" => self.ecn = false,
            _ => return Ok(false),
        }
        Ok(true)
    }
}

impl Default for FairSettings {
    fn default() -> Self {
        Self {
            codel: Settings {
                limit: 10_240,
                ecn: true,
                ..Settings::default()
            },
            flows: 1_024,
            quantum: None,
            memory_limit: 32 << 20,
            drop_batch: 64,
        }
    }
}

impl Words for FairSettings {
    const NAME: &'static str = "fq_codel";
    const SUPPORTED: &'static str = "all but `ce_threshold_selector`";
    /// The first six are also `codel`'s.
    const WORDS: &'static [&'static str] = &[
        "limit",
        "target",
        "interval",
        "ecn",
        "noecn",
        "ce_threshold",
        "flows",
        "quantum",
        "memory_limit",
        "drop_batch",
    ];
    const EXAMPLES: &'static [&'static str] = &[
        "fq_codel flows 4 limit 9 -> fq_codel flows 4 limit 3 drop_batch 1",
        "fq_codel flows 2 target 100us interval 1ms memory_limit 9k quantum 300 noecn -> fq_codel flows 2 ce_threshold 1us",
        "fq_codel flows 4 limit 9 memory_limit 9k -> fq_codel flows 4 limit 2",
    ];

    fn parse<'a>(words: &mut Lexer<'a>) -> Result<Self, Wrong<'a>> {
        let mut fq = Self::default();
        while let Some(word) = words.next_word() {
            match word {
                "flows" => fq.flows = words.count(MAX_FLOWS)?,
                // The kernel takes no less than 256.
                "quantum" => fq.quantum = Some(words.count(MAX_QUANTUM)?.max(256)),
                "memory_limit" => fq.memory_limit = words.size()?.min(1 << 31),
                "drop_batch" => fq.drop_batch = words.count(u32::MAX)?,
                _ if fq.codel.take(word, words)? => {}
                _ => return Err(Wrong::unknown(word, "a word of fq_codel", Self::WORDS)),
            }
        }
        Ok(fq)
    }

    fn options(&self) -> Option<Vec<u8>> {
        let mut out = Attributes::default();
        out.u32(LIMIT, self.codel.limit);
        out.maybe(FLOWS, Some(self.flows).filter(|n| *n != DEFAULT_FLOWS));
        out.maybe(QUANTUM, self.quantum);
        out.u32(INTERVAL, self.codel.interval_us);
        out.u32(TARGET, self.codel.target_us);
        out.u32(ECN, self.codel.ecn.into());
        out.maybe(FQ_CE_THRESHOLD, self.codel.ce_threshold_us);
        out.u32(MEMORY_LIMIT, self.memory_limit);
        out.u32(DROP_BATCH, self.drop_batch);
        Some(out.bytes())
    }

    fn counted(_queue: &[u8], app: &[u8]) -> (Named, Vec<Named>) {
        (read(&fair::COUNTERS, app), Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kind;

    #[test]
    fn words_and_defaults() {
        let Kind::FqCodel(fq) = *crate::Settings::parse(
            "fq_codel limit 100 flows 16 target 1ms interval 20ms quantum 30 noecn ce_threshold 1ms \
             memory_limit 5mb drop_batch 4",
        )
        .unwrap()
        .kind() else {
            panic!("no fq_codel")
        };
        let codel = Settings {
            limit: 100,
            target_us: 1_000,
            interval_us: 20_000,
            ecn: false,
            ce_threshold_us: Some(1_000),
        };
        assert_eq!(fq.codel, codel);
        assert_eq!((fq.flows, fq.quantum, fq.drop_batch), (16, Some(256), 4));
        assert_eq!(fq.memory_limit, 5 << 20);
        let wrong = crate::Settings::parse("codel flows 3").expect_err("a word of fq_codel");
        assert_eq!(wrong.word, "flows");
        let wrong = crate::Settings::parse("fq_codel flows 65537").expect_err("too many");
        assert_eq!(wrong.word, "65537");
    }
}
