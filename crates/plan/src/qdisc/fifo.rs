//! `pfifo` and `bfifo` (tc-bfifo(8)).

use super::words::{Words, Wrong};

/// A plain queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fifo {
    /// Packets of `pfifo`, bytes of `bfifo`; none: the interface's transmit queue length, which is 1,000 packets of
    /// its MTU and header.
    pub limit: Option<u32>,
}

/// txqueuelen of an Ethernet device (linux/netdevice.h).
const TX_QUEUE_LEN: u32 = 1_000;

pub(super) const KNOWN: [&str; 1] = ["limit"];

impl Fifo {
    pub(super) fn packets<'a>(words: &mut Words<'a>) -> Result<Self, Wrong<'a>> {
        Self::parse(words, Words::unsigned)
    }

    pub(super) fn bytes<'a>(words: &mut Words<'a>) -> Result<Self, Wrong<'a>> {
        Self::parse(words, Words::size)
    }

    fn parse<'a>(
        words: &mut Words<'a>,
        limit: impl Fn(&mut Words<'a>) -> Result<u32, Wrong<'a>>,
    ) -> Result<Self, Wrong<'a>> {
        let mut fifo = Self { limit: None };
        while let Some(word) = words.next() {
            match word {
                "limit" => fifo.limit = Some(limit(words)?),
                _ => return Err(Wrong::unknown(word, "a word of a FIFO", &KNOWN)),
            }
        }
        Ok(fifo)
    }

    /// The limit of a `pfifo`.
    pub fn limit_pkts(&self) -> u32 {
        self.limit.unwrap_or(TX_QUEUE_LEN)
    }

    /// The limit of a `bfifo` on a device with frames of this many bytes at most, header included.
    pub fn limit_bytes(&self, frame: u32) -> u32 {
        self.limit.unwrap_or(TX_QUEUE_LEN.saturating_mul(frame))
    }
}
