//! What something between the two captures changed in a SYN: options that left one end and did not arrive at the other.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use tcplab_wire::{Endpoint, TcpFlags, TcpPacket};

use super::{Capture, Verdict};

/// A SYN or SYN-ACK, whole.
#[derive(Clone, Copy, Debug)]
pub(super) struct Syn {
    key: (Endpoint, Endpoint, u32, bool),
    number: u64,
    /// What it says of each option; nothing: it does not have it.
    says: [Option<u32>; Offer::ALL.len()],
}

/// Options of a SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Offer {
    /// MSS, bytes.
    Mss,
    /// Window shift.
    WindowScale,
    /// SACK permitted.
    Sack,
    /// Time stamps.
    TimeStamps,
    /// ECE and CWR in a SYN, ECE in a SYN-ACK.
    Ecn,
}

impl Offer {
    const ALL: [Self; 5] = [
        Self::Mss,
        Self::WindowScale,
        Self::Sack,
        Self::TimeStamps,
        Self::Ecn,
    ];

    /// Its name in a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mss => "MSS",
            Self::WindowScale => "window scale",
            Self::Sack => "SACK",
            Self::TimeStamps => "time stamps",
            Self::Ecn => "ECN",
        }
    }
}

/// Option of a SYN changed between the captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Changed {
    /// The changed option.
    pub offer: Offer,
    /// True: the client's SYN; false: the server's SYN-ACK.
    pub from_client: bool,
    /// Frame number in A.
    pub packet_a: u64,
    /// Frame number in B.
    pub packet_b: u64,
    /// Value in A: MSS, shift, 1 for options without a number; null if absent.
    pub in_a: Option<u32>,
    /// Value in B.
    pub in_b: Option<u32>,
}

impl Syn {
    /// A SYN of which all options are there.
    pub(super) fn of(number: u64, p: &TcpPacket) -> Option<Self> {
        if !p.flags.has(TcpFlags::SYN) || p.header_truncated {
            return None;
        }
        let answer = p.flags.has(TcpFlags::ACK);
        let ecn = p.flags.has(TcpFlags::ECE) && (answer || p.flags.has(TcpFlags::CWR));
        let o = &p.options;
        let says = [
            o.mss.map(u32::from),
            o.window_scale.map(u32::from),
            o.sack_permitted.then_some(1),
            o.timestamps.map(|_| 1),
            ecn.then_some(1),
        ];
        Some(Self {
            key: (p.src, p.dst, p.seq.0, answer),
            number,
            says,
        })
    }
}

/// All that was changed, each with its stream in A and in B.
pub(super) fn find(a: &Capture, b: &Capture) -> Vec<((u32, u32), Changed)> {
    // The first of those that were sent again.
    let first: BTreeMap<_, _> = b.syns.iter().rev().map(|s| (s.key, s)).collect();
    let mut seen = std::collections::BTreeSet::new();
    let mut all = Vec::new();
    for x in a.syns.iter().filter(|s| seen.insert(s.key)) {
        let Some(y) = first.get(&x.key) else { continue };
        let streams = (a.verdict(x.number), b.verdict(y.number));
        let (Some(in_a), Some(in_b)) = streams else {
            continue;
        };
        let changed = between(x, y, in_a);
        all.extend(changed.map(|c| ((in_a.stream, in_b.stream), c)));
    }
    all
}

fn between(x: &Syn, y: &Syn, verdict: &Verdict) -> impl Iterator<Item = Changed> {
    let says = Offer::ALL.into_iter().zip(x.says).zip(y.says);
    let base = (verdict.from_client, x.number, y.number);
    let changed = says.filter(|((_, in_a), in_b)| in_a != in_b);
    changed.map(move |((offer, in_a), in_b)| Changed {
        offer,
        from_client: base.0,
        packet_a: base.1,
        packet_b: base.2,
        in_a,
        in_b,
    })
}
