//! Queueing disciplines by the words of tc(8): read from text, as plain data.
//!
//! What they do is in the crate `qdisc`; the crate `kernel` gives the same data to a kernel.

mod cake;
mod fifo;
mod words;

pub use cake::{AckFilter, Cake, FlowMode, Framing, TinMode};
pub use fifo::Fifo;
pub use words::Wrong;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use words::Words;

/// A qdisc with its options; its text form is tc's words, as they were written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Qdisc {
    words: String,
    kind: Kind,
}

/// The kinds of qdiscs.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// `pfifo`: a queue of so many packets.
    Pfifo(Fifo),
    /// `bfifo`: a queue of so many bytes.
    Bfifo(Fifo),
    /// `cake`: tc-cake(8).
    Cake(Cake),
}

impl Kind {
    /// Its first word.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Pfifo(_) => "pfifo",
            Self::Bfifo(_) => "bfifo",
            Self::Cake(_) => "cake",
        }
    }
}

/// The first word of each kind.
pub(crate) const KINDS: [&str; 3] = ["pfifo", "bfifo", "cake"];

impl Qdisc {
    /// Reads `KIND WORDS`, such as `cake bandwidth 30mbit ack-filter`.
    ///
    /// # Errors
    /// The word that is wrong, and what may stand there.
    pub fn parse(text: &str) -> Result<Self, Wrong<'_>> {
        let mut words = Words::new(text);
        let kind = words
            .next()
            .ok_or_else(|| Wrong::new(text, "there is no word"))?;
        let kind = match kind {
            "pfifo" => Kind::Pfifo(Fifo::packets(&mut words)?),
            "bfifo" => Kind::Bfifo(Fifo::bytes(&mut words)?),
            "cake" => Kind::Cake(Cake::parse(&mut words)?),
            other => return Err(Wrong::unknown(other, "the kind of a qdisc", &KINDS)),
        };
        Ok(Self {
            words: text.split_whitespace().collect::<Vec<_>>().join(" "),
            kind,
        })
    }

    /// The words that it was read from.
    pub fn words(&self) -> &str {
        &self.words
    }

    /// What it is.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }
}

impl TryFrom<String> for Qdisc {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text).map_err(|wrong| wrong.why)
    }
}

impl From<Qdisc> for String {
    fn from(qdisc: Qdisc) -> Self {
        qdisc.words
    }
}
