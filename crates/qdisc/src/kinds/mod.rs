//! The kinds of qdiscs, each with its words and its queue.

pub mod cake;
pub mod caqm;
pub mod codel;
pub mod fifo;
pub mod fq;
pub mod htb;
pub mod netem;
pub mod prio;
pub mod red;
pub mod tbf;

use crate::words::{Words, Wrong};

/// The kinds of qdiscs.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// `pfifo`: a queue of so many packets.
    Pfifo(fifo::Settings),
    /// `bfifo`: a queue of so many bytes.
    Bfifo(fifo::Settings),
    /// `cake`: tc-cake(8).
    Cake(cake::Settings),
    /// `netem`: tc-netem(8).
    Netem(netem::Settings),
    /// `tbf`: tc-tbf(8).
    Tbf(tbf::Settings),
    /// `codel`: tc-codel(8).
    Codel(codel::settings::Codel),
    /// `fq_codel`: tc-fq_codel(8).
    FqCodel(codel::settings::FqCodel),
    /// `fq`: tc-fq(8).
    Fq(fq::Settings),
    /// `red`: tc-red(8).
    Red(red::Settings),
    /// `prio`: tc-prio(8).
    Prio(prio::Settings),
    /// `htb` with one class: tc-htb(8).
    Htb(htb::Settings),
    /// `caqm`: a switch's egress queue that shares out window; tc has none.
    Caqm(caqm::Settings),
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
    pub(crate) fn parse<'a>(kind: &'a str, words: &mut Words<'a>) -> Result<Self, Wrong<'a>> {
        Ok(match kind {
            "pfifo" => Self::Pfifo(fifo::Settings::packets(words)?),
            "bfifo" => Self::Bfifo(fifo::Settings::bytes(words)?),
            "cake" => Self::Cake(cake::Settings::parse(words)?),
            "netem" => Self::Netem(netem::Settings::parse(words)?),
            "tbf" => Self::Tbf(tbf::Settings::parse(words)?),
            "codel" => Self::Codel(codel::settings::Codel::parse(words)?),
            "fq_codel" => Self::FqCodel(codel::settings::FqCodel::parse(words)?),
            "fq" => Self::Fq(fq::Settings::parse(words)?),
            "red" => Self::Red(red::Settings::parse(words)?),
            "prio" => Self::Prio(prio::Settings::parse(words)?),
            "htb" => Self::Htb(htb::Settings::parse(words)?),
            "caqm" => Self::Caqm(caqm::Settings::parse(words)?),
            other => return Err(Wrong::unknown(other, "the kind of a qdisc", &KINDS)),
        })
    }

    /// Reads the words behind `child`: what queues in a classful qdisc; the words behind its kind are the child's.
    ///
    /// tc takes one more command for each class: `tc qdisc add dev DEV parent 1:N KIND WORDS`.
    pub(crate) fn child<'a>(words: &mut Words<'a>) -> Result<Self, Wrong<'a>> {
        let word = words.value()?;
        match CHILDREN.contains(&word) {
            true => Self::parse(word, words),
            false => Err(Wrong::unknown(
                word,
                "a qdisc that a class takes here",
                &CHILDREN,
            )),
        }
    }
}

/// The first word of each kind.
pub const KINDS: [&str; 12] = [
    "pfifo", "bfifo", "cake", "netem", "tbf", "codel", "fq_codel", "fq", "red", "prio", "htb",
    "caqm",
];

/// Kinds that may be a child.
const CHILDREN: [&str; 6] = ["pfifo", "bfifo", "codel", "fq_codel", "cake", "caqm"];

/// The words that may stand behind the first one; none: there is no such kind.
pub fn words_of(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "pfifo" | "bfifo" => &fifo::KNOWN,
        "cake" => &cake::settings::KNOWN,
        "netem" => &netem::settings::KNOWN,
        "tbf" => &tbf::settings::KNOWN,
        "codel" => &codel::settings::KNOWN[..codel::settings::OF_CODEL],
        "fq_codel" => &codel::settings::KNOWN,
        "fq" => &fq::settings::KNOWN,
        "red" => &red::settings::KNOWN,
        "prio" => &prio::KNOWN,
        "htb" => &htb::settings::KNOWN,
        "caqm" => &caqm::settings::KNOWN,
        _ => return None,
    })
}
