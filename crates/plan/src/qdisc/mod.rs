//! Queueing disciplines by the words of tc(8): read from text, as plain data.
//!
//! What they do is in the crate `qdisc`; the crate `kernel` gives the same data to a kernel.

mod cake;
mod caqm;
mod child;
mod codel;
mod fifo;
mod fq;
mod htb;
mod link_layer;
pub mod netem;
mod prio;
mod red;
mod tbf;
pub(crate) mod words;

pub use cake::{AckFilter, Cake, FlowMode, Framing, TinMode};
pub use caqm::{At, Caqm};
pub use codel::{Codel, FqCodel};
pub use fifo::Fifo;
pub use fq::Fq;
pub use htb::Htb;
pub use link_layer::LinkLayer;
pub use netem::Netem;
pub use prio::Prio;
pub use red::Red;
pub use tbf::{Peak, Tbf};
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
    /// `netem`: tc-netem(8).
    Netem(Netem),
    /// `tbf`: tc-tbf(8).
    Tbf(Tbf),
    /// `codel`: tc-codel(8).
    Codel(Codel),
    /// `fq_codel`: tc-fq_codel(8).
    FqCodel(FqCodel),
    /// `fq`: tc-fq(8).
    Fq(Fq),
    /// `red`: tc-red(8).
    Red(Red),
    /// `prio`: tc-prio(8).
    Prio(Prio),
    /// `htb` with one class: tc-htb(8).
    Htb(Htb),
    /// `caqm`: a switch's egress queue that shares out window; tc has none.
    Caqm(Caqm),
}

impl Kind {
    /// Its first word.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Pfifo(_) => "pfifo",
            Self::Bfifo(_) => "bfifo",
            Self::Cake(_) => "cake",
            Self::Netem(_) => "netem",
            Self::Tbf(_) => "tbf",
            Self::Codel(_) => "codel",
            Self::FqCodel(_) => "fq_codel",
            Self::Fq(_) => "fq",
            Self::Red(_) => "red",
            Self::Prio(_) => "prio",
            Self::Htb(_) => "htb",
            Self::Caqm(_) => "caqm",
        }
    }

    /// Whether it has to know the rate of the wire behind it, and its words do not say one.
    pub fn asks_rate(&self) -> bool {
        match self {
            Self::Caqm(caqm) => caqm.rate.is_none(),
            Self::Prio(prio) => prio.child.asks_rate(),
            _ => false,
        }
    }

    /// Why no kernel has it as it stands; none: kernels have it.
    pub fn not_in_kernels(&self) -> Option<&'static str> {
        match self {
            Self::Caqm(_) => Some("`caqm` is tcplab's own"),
            Self::Cake(cake) => cake.ack_filter.not_in_kernels(),
            Self::Red(red) if red.adaptive && red.nodrop => {
                Some("write `adaptive` or `nodrop`, not both")
            }
            Self::Prio(prio) => prio.child.not_in_kernels(),
            Self::Tbf(tbf) => tbf.child.as_ref()?.not_in_kernels(),
            Self::Htb(htb) => htb.child.not_in_kernels(),
            _ => None,
        }
    }

    /// Reads the words behind the first one.
    fn parse<'a>(kind: &'a str, words: &mut Words<'a>) -> Result<Self, Wrong<'a>> {
        Ok(match kind {
            "pfifo" => Self::Pfifo(Fifo::packets(words)?),
            "bfifo" => Self::Bfifo(Fifo::bytes(words)?),
            "cake" => Self::Cake(Cake::parse(words)?),
            "netem" => Self::Netem(Netem::parse(words)?),
            "tbf" => Self::Tbf(Tbf::parse(words)?),
            "codel" => Self::Codel(Codel::parse(words)?),
            "fq_codel" => Self::FqCodel(FqCodel::parse(words)?),
            "fq" => Self::Fq(Fq::parse(words)?),
            "red" => Self::Red(Red::parse(words)?),
            "prio" => Self::Prio(Prio::parse(words)?),
            "htb" => Self::Htb(Htb::parse(words)?),
            "caqm" => Self::Caqm(Caqm::parse(words)?),
            other => return Err(Wrong::unknown(other, "the kind of a qdisc", &KINDS)),
        })
    }
}

/// The first word of each kind.
pub const KINDS: [&str; 12] = [
    "pfifo", "bfifo", "cake", "netem", "tbf", "codel", "fq_codel", "fq", "red", "prio", "htb",
    "caqm",
];

/// The words that may stand behind the first one; none: there is no such kind.
pub fn words_of(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "pfifo" | "bfifo" => &fifo::KNOWN,
        "cake" => &cake::KNOWN,
        "netem" => &netem::KNOWN,
        "tbf" => &tbf::KNOWN,
        "codel" => &codel::KNOWN[..codel::OF_CODEL],
        "fq_codel" => &codel::KNOWN,
        "fq" => &fq::KNOWN,
        "red" => &red::KNOWN,
        "prio" => &prio::KNOWN,
        "htb" => &htb::KNOWN,
        "caqm" => &caqm::KNOWN,
        _ => return None,
    })
}

impl Qdisc {
    /// Reads `KIND WORDS`, such as `cake bandwidth 30mbit ack-filter`.
    ///
    /// # Errors
    /// The word that is wrong, and what may stand there.
    pub fn parse(text: &str) -> Result<Self, Wrong<'_>> {
        let mut words = Words::new(text);
        let kind = words
            .next()
            .ok_or_else(|| Wrong::new(text, "the text is empty"))?;
        let kind = Kind::parse(kind, &mut words)?;
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
