//! Findings: what happened, why, how sure, and what to do about it. One file for each mechanism.
//!
//! A detector looks at one direction of one finished connection (the data of `sender`, the ACKs of
//! `receiver`) and says nothing unless the packets show the cause.

mod artefacts;
mod black_hole;
mod caqm;
mod delayed_ack;
mod episodes;
mod limits;
mod quickack;
mod releases;
mod reordering;
mod rto;
mod syn;
mod tail_loss;
mod zero_window;

use schemars::JsonSchema;
use serde::Serialize;
use tcplab_base::Duration;
use tcplab_wire::Endpoint;

use crate::conn::{Connection, Dir, Record};

pub(crate) use limits::Limits;

/// One thing worth telling a person.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Finding {
    /// Stable name, listed in `docs/findings.md`.
    pub id: Id,
    /// How much it matters.
    pub severity: Severity,
    /// Stream number.
    pub stream: u32,
    /// Packets that show it, at most 16.
    pub packets: Vec<u64>,
    /// One line for the report.
    pub title: String,
    /// The mechanism, with kernel versions where they are known.
    pub cause: String,
    /// What to do, one entry for each way out; commands can be pasted.
    pub remedy: Vec<String>,
    /// Share of findings of this id and grade that were right on labelled captures, 0 to 1.
    pub confidence: f64,
}

/// Stable names of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Id {
    /// The receiver left quick-ACK mode; every ACK waits for the timer.
    QuickackExhausted,
    /// A delayed ACK against Nagle's algorithm (write-write-read).
    DelackNagle,
    /// Data held by a delayed ACK for another reason than Nagle (window, buffer, protocol).
    DelackRequestResponse,
    /// The sender stood still until its retransmission timer fired.
    RtoStall,
    /// The retransmission timer fired though nothing was lost.
    SpuriousRto,
    /// Reordering made the sender retransmit what was not lost.
    SpuriousRetransmissionReordering,
    /// The SYN or SYN-ACK had to be sent again.
    SynRetries,
    /// The receiver's window was zero and the sender waited.
    ZeroWindowStall,
    /// The last segments of a burst were lost.
    TailLoss,
    /// Everything, or everything large, is lost in one direction.
    BlackHole,
    /// The capture does not show what was on the wire.
    CaptureArtefacts,
    /// CAQM: C and I are set together, which a receiver reads as no change.
    CaqmBothBits,
    /// CAQM: the receiver returned something else than what it got.
    CaqmFeedbackLost,
    /// CAQM: all requests were granted, and packets were lost.
    CaqmNoSwitch,
    /// CAQM: switches refused or marked most requests.
    CaqmCongestion,
    /// CAQM: one side sends no tags though both agreed.
    CaqmOneSided,
    /// CAQM: tags on a SYN, or without an agreement.
    CaqmUnnegotiated,
    /// CAQM: tagged frames are longer than the MTU allows.
    CaqmOversize,
    /// CAQM was taken for Accurate ECN, or the other way round.
    CaqmAccecn,
}

impl Id {
    /// All of them.
    pub const ALL: [Self; 19] = [
        Self::QuickackExhausted,
        Self::DelackNagle,
        Self::DelackRequestResponse,
        Self::RtoStall,
        Self::SpuriousRto,
        Self::SpuriousRetransmissionReordering,
        Self::SynRetries,
        Self::ZeroWindowStall,
        Self::TailLoss,
        Self::BlackHole,
        Self::CaptureArtefacts,
        Self::CaqmBothBits,
        Self::CaqmFeedbackLost,
        Self::CaqmNoSwitch,
        Self::CaqmCongestion,
        Self::CaqmOneSided,
        Self::CaqmUnnegotiated,
        Self::CaqmOversize,
        Self::CaqmAccecn,
    ];

    /// The name in JSON and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::QuickackExhausted => "quickack_exhausted",
            Self::DelackNagle => "delack_nagle",
            Self::DelackRequestResponse => "delack_request_response",
            Self::RtoStall => "rto_stall",
            Self::SpuriousRto => "spurious_rto",
            Self::SpuriousRetransmissionReordering => "spurious_retransmission_reordering",
            Self::SynRetries => "syn_retries",
            Self::ZeroWindowStall => "zero_window_stall",
            Self::TailLoss => "tail_loss",
            Self::BlackHole => "black_hole",
            Self::CaptureArtefacts => "capture_artefacts",
            Self::CaqmBothBits => "caqm_both_bits",
            Self::CaqmFeedbackLost => "caqm_feedback_lost",
            Self::CaqmNoSwitch => "caqm_no_switch",
            Self::CaqmCongestion => "caqm_congestion",
            Self::CaqmOneSided => "caqm_one_sided",
            Self::CaqmUnnegotiated => "caqm_unnegotiated",
            Self::CaqmOversize => "caqm_oversize",
            Self::CaqmAccecn => "caqm_accecn",
        }
    }
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Costs time or throughput again and again.
    High,
    /// Cost time once or twice.
    Medium,
    /// Worth knowing.
    Info,
}

/// One direction of a finished connection.
pub(crate) struct Side<'a> {
    pub stream: u32,
    /// Who sends the data.
    pub sender: &'a Dir,
    pub sender_end: Endpoint,
    /// Who ACKs it.
    pub receiver: &'a Dir,
    pub receiver_end: Endpoint,
    pub connection: &'a Connection,
}

impl Side<'_> {
    /// Episodes of the sender that ended or not, oldest first.
    pub(crate) fn episodes(&self) -> &[Record] {
        self.sender.loss.as_ref().map_or(&[], |l| &l.episodes.ended)
    }

    /// The sender is `key.a` of the connection.
    pub(crate) fn is_a(&self) -> bool {
        std::ptr::eq(self.sender, &self.connection.dirs[0])
    }

    /// A finding of this direction, without packets and remedies.
    pub(crate) fn finding(&self, id: Id, severity: Severity, confidence: f64) -> Finding {
        Finding {
            id,
            severity,
            stream: self.stream,
            packets: Vec::new(),
            title: String::new(),
            cause: String::new(),
            remedy: Vec::new(),
            confidence,
        }
    }
}

/// All findings of a connection.
pub(crate) fn of(connection: &Connection) -> Vec<Finding> {
    let mut found = Vec::new();
    let [a, b] = &connection.dirs;
    let plain = [a, b]
        .iter()
        .all(|d| d.loss.is_none() && d.zero.is_none() && d.acks.is_none());
    let has_caqm = caqm::is_spoken(connection);
    if plain && !has_caqm {
        return found;
    }
    let ends = [connection.key.a, connection.key.b];
    for (s, r) in [(0, 1), (1, 0)] {
        let side = Side {
            stream: connection.stream,
            sender: &connection.dirs[s],
            sender_end: ends[s],
            receiver: &connection.dirs[r],
            receiver_end: ends[r],
            connection,
        };
        found.extend(quickack::find(&side));
        found.extend(delayed_ack::find(&side));
        found.extend(rto::stall(&side));
        found.extend(rto::spurious(&side));
        found.extend(reordering::find(&side));
        found.extend(syn::find(&side));
        found.extend(zero_window::find(&side));
        found.extend(tail_loss::find(&side));
        found.extend(black_hole::find(&side));
        if has_caqm {
            caqm::of(&side, &mut found);
        }
    }
    found
}

/// `41.2 ms`, `1.35 s`: a length for a sentence.
pub(crate) fn length(d: Duration) -> String {
    let ns = d.as_nanos().max(0);
    if ns >= 1_000_000_000 {
        format!("{:.2} s", ns as f64 / 1e9)
    } else if ns >= 1_000_000 {
        format!("{:.1} ms", ns as f64 / 1e6)
    } else {
        format!("{} us", ns / 1000)
    }
}

/// The length of so many microseconds.
pub(crate) fn us(us: u32) -> String {
    length(Duration::from_micros(i64::from(us)))
}

/// `1 time`, `5 times`.
pub(crate) fn times(n: u64) -> String {
    if n == 1 {
        "once".to_owned()
    } else {
        format!("{n} times")
    }
}

/// At most 16 packet numbers.
pub(crate) fn packets(numbers: impl IntoIterator<Item = u64>) -> Vec<u64> {
    numbers.into_iter().take(16).collect()
}
