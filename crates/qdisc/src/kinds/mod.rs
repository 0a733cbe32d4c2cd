//! The kinds of qdiscs: a new one is a room in this folder, and a line in each of the lists here.

#[macro_use]
mod choose;

mod cake;
mod caqm;
mod codel;
mod fifo;
mod fq;
pub mod htb;
pub mod netem;
mod pfifo_head_drop;
mod pie;
mod prio;
mod red;
mod tbf;

use tcplab_base::Instant;

use crate::discipline::{Configure, Discipline, Named, Words};
use crate::netlink::Message;
use crate::packet::Packet;
use crate::qdisc::{Dequeued, Device};
use crate::stats::Stats;
use crate::words::{Lexer, Wrong};

pub use cake::{AckFilter, Framing};

/// Kinds that may be a child of another.
pub const CHILDREN: [&str; 8] = [
    "pfifo",
    "bfifo",
    "pfifo_head_drop",
    "codel",
    "fq_codel",
    "pie",
    "cake",
    "caqm",
];

/// Kinds that Linux has and tcplab does not know, so that they are not taken for mistyped ones.
pub const ONLY_KERNEL: [&str; 8] = [
    "pfifo_fast",
    "hfsc",
    "fq_pie",
    "cake_mq",
    "sfq",
    "sfb",
    "dualpi2",
    "choke",
];

// The settings of each kind, and the queue that they make.
kinds! {
    /// `pfifo`: a queue of so many packets.
    Pfifo(fifo::Pfifo) => Fifo,
    /// `bfifo`: a queue of so many bytes.
    Bfifo(fifo::Bfifo) => Fifo,
    /// `pfifo_head_drop`: a queue of so many packets, of which the first gives way.
    PfifoHeadDrop(pfifo_head_drop::Settings) => HeadDrop,
    /// `cake`: tc-cake(8).
    Cake(cake::Settings) => Cake,
    /// `netem`: tc-netem(8).
    Netem(netem::Settings) => Netem,
    /// `tbf`: tc-tbf(8).
    Tbf(tbf::Settings) => Tbf,
    /// `codel`: tc-codel(8).
    Codel(codel::Settings) => Codel,
    /// `fq_codel`: tc-fq_codel(8).
    FqCodel(codel::FairSettings) => FqCodel,
    /// `fq`: tc-fq(8).
    Fq(fq::Settings) => Fq,
    /// `pie`: tc-pie(8).
    Pie(pie::Settings) => Pie,
    /// `red`: tc-red(8).
    Red(red::Settings) => Red,
    /// `prio`: tc-prio(8).
    Prio(prio::Settings) => Prio,
    /// `htb` with one class: tc-htb(8).
    Htb(htb::Settings) => Htb,
    /// `caqm`: the egress queue of a switch that shares out window; tc lacks it.
    Caqm(caqm::Settings) => Caqm,
}

// The queues.
queues! {
    Fifo(fifo::Fifo<P>),
    HeadDrop(pfifo_head_drop::HeadDrop<P>),
    Cake(Box<cake::Cake<P>>),
    Netem(Box<netem::Netem<P>>),
    Tbf(Box<tbf::Tbf<P>>),
    Codel(Box<codel::CodelQueue<P>>),
    FqCodel(Box<codel::FqCodel<P>>),
    Fq(Box<fq::Fq<P>>),
    Pie(Box<pie::Pie<P>>),
    Red(Box<red::Red<P>>),
    Prio(Box<prio::Prio<P>>),
    Htb(Box<htb::Htb<P>>),
    Caqm(Box<caqm::Caqm<P>>),
}

impl Kind {
    /// Reads the words behind `child`: what queues in a classful qdisc; the words behind its kind are the child's.
    ///
    /// tc takes one more command for each class: `tc qdisc add dev DEV parent 1:N KIND WORDS`.
    pub(crate) fn child<'a>(words: &mut Lexer<'a>) -> Result<Self, Wrong<'a>> {
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
