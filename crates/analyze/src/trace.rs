//! The detailed record of a stream, kept only when it is asked for (`--acks`, `--html`,
//! `--annotate`, `--tshark-compat`): one row for each packet, with final verdicts.

use schemars::JsonSchema;
use serde::Serialize;
use tcplab_base::Instant;
use tcplab_wire::CaqmInfo;

use crate::compat::Verdicts;

/// All packets of one stream.
#[derive(Clone, Debug, Default)]
pub struct StreamTrace {
    /// Number of the stream.
    pub stream: u32,
    /// The packets, in the order of the file.
    pub rows: Vec<Row>,
}

/// One packet with everything that was found out about it. Sequence numbers are relative to the
/// ISN (SYN is 0, first byte is 1), as in Wireshark.
#[derive(Clone, Debug)]
pub struct Row {
    /// Frame number.
    pub number: u64,
    /// Time stamp.
    pub time: Instant,
    /// The client sent it.
    pub from_client: bool,
    /// Relative sequence number of the first byte (64 bit: does not wrap).
    pub seq: u64,
    /// Payload bytes.
    pub len: u32,
    /// TCP flags.
    pub flags: u16,
    /// Relative ACK number, when the ACK flag is set.
    pub ack: Option<u64>,
    /// Advertised window in bytes, scaled.
    pub window: u32,
    /// SACK blocks, relative, right edge exclusive.
    pub sack: Vec<(u64, u64)>,
    /// What kind of segment it is.
    pub kind: SegmentKind,
    /// The retransmission was spurious (evidence came later).
    pub spurious: bool,
    /// The packet as an ACK for new data.
    pub acked: Option<AckRow>,
    /// RTT sample that this ACK gives its peer's data, microseconds.
    pub rtt_us: Option<u32>,
    /// Bytes that this packet's sender has in flight after it.
    pub in_flight: u32,
    /// Its CAQM tag.
    pub caqm: Option<CaqmInfo>,
    /// Wireshark's verdicts.
    pub verdicts: Verdicts,
}

/// Kinds of segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum SegmentKind {
    /// No sequence space.
    #[default]
    PureAck,
    /// New data (or SYN, FIN).
    New,
    /// Fills a gap that was never sent before, as seen here.
    OutOfOrder,
    /// Fast retransmit or SACK/RACK recovery.
    Fast,
    /// Retransmission timeout.
    Rto,
    /// Tail loss probe.
    Tlp,
    /// A retransmission of unknown reason.
    Retransmission,
    /// Keep-alive.
    KeepAlive,
    /// Zero-window probe.
    ZeroWindowProbe,
}

/// An ACK for new data.
#[derive(Clone, Copy, Debug)]
pub struct AckRow {
    /// Class of the ACK.
    pub class: AckClass,
    /// Bytes it newly acknowledges.
    pub bytes: u32,
    /// Data segments it newly acknowledges.
    pub segments: u32,
    /// Ordinal of the newest first-transmitted data segment it covers.
    pub newest_segment: u64,
    /// Frame number of the data packet that most likely triggered it.
    pub trigger: u64,
    /// From the first unACKed in-order data packet to the ACK, microseconds, gross.
    pub wait_us: u32,
    /// From the last data packet to the ACK, microseconds.
    pub since_last_us: u32,
    /// The path's share, microseconds (estimated).
    pub path_us: u32,
    /// Quick-ACK credits left in the receiver, when the model can know them.
    pub credits: Option<u8>,
}

/// Why an ACK was sent when it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AckClass {
    /// At once, for at most one full segment.
    Immediate,
    /// More than one full segment was waiting.
    SecondSegment,
    /// By the delayed-ACK timer.
    Delayed,
    /// On a data segment.
    Piggybacked,
    /// None of these.
    Other,
}
