//! `codel` (tc-codel(8)) and `fq_codel` (tc-fq_codel(8)).

use crate::words::{Words, Wrong};

/// CoDel's settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Codel {
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
pub struct FqCodel {
    /// Of each queue; the limit is that of all.
    pub codel: Codel,
    /// Number of queues.
    pub flows: u32,
    /// Bytes that a queue may send in its turn; none: the longest frame.
    pub quantum: Option<u32>,
    /// Bytes of memory that may be used.
    pub memory_limit: u32,
    /// Packets dropped at once when a limit is passed.
    pub drop_batch: u32,
}

/// The first of them are those of `codel`.
pub(crate) const OF_CODEL: usize = 6;
pub(crate) const KNOWN: [&str; 10] = [
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

/// `FQ_CODEL_QUANTUM_MAX`, and the most queues.
const MAX_QUANTUM: u32 = 1 << 20;
const MAX_FLOWS: u32 = 65_536;

impl Default for Codel {
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

impl Codel {
    pub(crate) fn parse<'a>(words: &mut Words<'a>) -> Result<Self, Wrong<'a>> {
        let mut codel = Self::default();
        while let Some(word) = words.next() {
            if !codel.take(word, words)? {
                return Err(Wrong::unknown(word, "a word of codel", &KNOWN[..OF_CODEL]));
            }
        }
        Ok(codel)
    }

    fn take<'a>(&mut self, word: &str, words: &mut Words<'a>) -> Result<bool, Wrong<'a>> {
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

impl Default for FqCodel {
    fn default() -> Self {
        Self {
            codel: Codel {
                limit: 10_240,
                ecn: true,
                ..Codel::default()
            },
            flows: 1_024,
            quantum: None,
            memory_limit: 32 << 20,
            drop_batch: 64,
        }
    }
}

impl FqCodel {
    pub(crate) fn parse<'a>(words: &mut Words<'a>) -> Result<Self, Wrong<'a>> {
        let mut fq = Self::default();
        while let Some(word) = words.next() {
            match word {
                "flows" => fq.flows = words.count(MAX_FLOWS)?,
                // The kernel takes no less than 256.
                "quantum" => fq.quantum = Some(words.count(MAX_QUANTUM)?.max(256)),
                "memory_limit" => fq.memory_limit = words.size()?.min(1 << 31),
                "drop_batch" => fq.drop_batch = words.count(u32::MAX)?,
                _ if fq.codel.take(word, words)? => {}
                _ => return Err(Wrong::unknown(word, "a word of fq_codel", &KNOWN)),
            }
        }
        Ok(fq)
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
        let codel = Codel {
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
