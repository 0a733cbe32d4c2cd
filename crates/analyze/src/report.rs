//! What the analyser says of a capture: plain data, and the schema `tcplab.analyze/1`.
//!
//! The fixed parts of the schema are documented in `docs/analyze.md`. Fields that say nothing
//! (an empty list, a zero counter outside the fixed parts) are left out of the JSON.

mod caqm;

use schemars::JsonSchema;
use serde::Serialize;

use crate::budget::{Budget, Request};
use crate::findings::{Finding, Lacks, NotChecked};

pub use caqm::{CaqmOffer, CaqmTags};

/// `schema` of the document.
pub const SCHEMA: &str = "tcplab.analyze/1";

/// The whole answer of `tcplab analyze --json`.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Report {
    /// Always `tcplab.analyze/1`.
    pub schema: String,
    /// One for each file, in the order given.
    pub captures: Vec<Capture>,
}

/// One capture file.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Capture {
    /// Name as given, `-` for standard input, `interface:NAME` for a live capture.
    pub file: String,
    /// The streams, by number; streams of very large captures come in the order in which they closed.
    pub streams: Vec<Stream>,
    /// What was found, most severe first.
    pub findings: Vec<Finding>,
    /// The counts.
    #[serde(flatten)]
    pub totals: Totals,
}

/// Counts over one capture.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Totals {
    /// Frames in the file.
    pub packets: u64,
    /// Frames that hold TCP.
    pub tcp_packets: u64,
    /// TCP connections, numbered as Wireshark numbers `tcp.stream`.
    pub tcp_streams: u64,
    /// IP fragments; tcplab does not put them together.
    #[serde(skip_serializing_if = "is_zero")]
    pub fragments: u64,
    /// Frames that end before the TCP header.
    #[serde(skip_serializing_if = "is_zero")]
    pub truncated: u64,
    /// Frames with headers that contradict themselves.
    #[serde(skip_serializing_if = "is_zero")]
    pub malformed: u64,
    /// Frames of a link type that tcplab does not read.
    #[serde(skip_serializing_if = "is_zero")]
    pub unknown_link: u64,
    /// Frames without a time stamp, with one before that of an earlier frame, or with one that the next frames show to be wrong.
    #[serde(skip_serializing_if = "is_zero")]
    pub time_out_of_order: u64,
    /// Packets of connections that had been written out already; no figure counts them.
    #[serde(skip_serializing_if = "is_zero")]
    pub late_packets: u64,
    /// Connections written out before their end, for `--max-streams` or for memory. Their later packets are `late_packets`.
    #[serde(skip_serializing_if = "is_zero")]
    pub evicted_streams: u64,
    /// Ended connections that were forgotten because there were more than `--max-streams`: a late packet of
    /// one counts as a new stream.
    #[serde(skip_serializing_if = "is_zero")]
    pub forgotten_streams: u64,
    /// Packets without a row in `--acks`, `--annotate`, `--tshark-compat` or `--pair`, for `--max-packets`.
    #[serde(skip_serializing_if = "is_zero")]
    pub rows_left_out: u64,
    /// Frames that the kernel dropped in a live capture because they came too fast.
    #[serde(skip_serializing_if = "is_zero")]
    pub dropped: u64,
    /// First and last time stamp, nanoseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<(i64, i64)>,
    /// Findings beyond the limit of each kind, which were counted but not listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub findings_not_listed: u64,
    /// Findings that could not be checked in some streams, and what the capture lacks. Other streams were checked for
    /// everything.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_checked: Vec<NotChecked>,
    /// Where the time of all streams went, microseconds.
    #[serde(skip_serializing_if = "Budget::is_empty")]
    pub budget_us: Budget,
    /// Of it, the time in which a client waited: for the handshake, and from each request to the end of its answer.
    #[serde(skip_serializing_if = "Budget::is_empty")]
    pub waited_us: Budget,
    /// Where the file could not be read further.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ReadError>,
}

/// A damaged file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReadError {
    /// Byte offset, in the unpacked stream, of what could not be read.
    pub offset: u64,
    /// What was wrong.
    pub message: String,
}

/// One TCP connection.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Stream {
    /// Number, as Wireshark's `tcp.stream`.
    pub stream: u32,
    /// `ip:port` of the side that sent the SYN; without one, of the side with the higher port.
    pub client: String,
    /// `ip:port` of the other side.
    pub server: String,
    /// Time stamp of the first packet, nanoseconds since 1970.
    pub start_ns: i64,
    /// First to last packet, microseconds.
    pub duration_us: u64,
    /// `complete` (handshake and end seen), `open` (no end seen), `reset`, `half_open` (no answer
    /// to the SYN), `refused`, `middle` (no handshake seen).
    pub state: State,
    /// The handshake, where it was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handshake: Option<Handshake>,
    /// Where the capture was taken.
    pub vantage: Vantage,
    /// The round trip of the whole path, from one end to the other and back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_trip: Option<RoundTrip>,
    /// What the capture cannot show.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artefacts: Vec<Artefact>,
    /// Findings that could not be checked here, by what the capture lacks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_checked: Vec<Lacks>,
    /// Where the time went, microseconds; the sum is `duration_us`.
    #[serde(skip_serializing_if = "Budget::is_empty")]
    pub budget_us: Budget,
    /// Requests of the client with the answers to them, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<Request>,
    /// Requests beyond those listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub requests_not_listed: u64,
    /// What the client sent.
    pub client_to_server: Box<Direction>,
    /// What the server sent.
    pub server_to_client: Box<Direction>,
}

/// State of a connection at its last packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Handshake seen and both FINs ACKed.
    Complete,
    /// Handshake seen, no end.
    #[default]
    Open,
    /// A RST ended it.
    Reset,
    /// SYN without answer.
    HalfOpen,
    /// SYN answered by a RST.
    Refused,
    /// The capture has no handshake of it.
    Middle,
}

/// The three-way handshake.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct Handshake {
    /// SYNs sent again.
    pub syn_retransmissions: u32,
    /// SYN-ACKs sent again.
    pub synack_retransmissions: u32,
    /// From the last SYN to the SYN-ACK, microseconds: the path between the capture and the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_rtt_us: Option<u32>,
    /// From the SYN-ACK to the ACK, microseconds: the path between the capture and the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_rtt_us: Option<u32>,
    /// How the negotiation of CAQM went: `negotiated`, `not_answered`, `not_asked`, `ambiguous`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caqm: Option<CaqmOffer>,
}

/// Where the capture was taken, estimated from the gaps of the handshake and from ACK times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Vantage {
    /// At (or very near) the client.
    Client,
    /// At (or very near) the server.
    Server,
    /// Somewhere between.
    Between,
    /// The packets do not tell.
    #[default]
    Unknown,
}

/// What a capture cannot show, or shows changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Artefact {
    /// Packets larger than the MSS: the sender's TSO or the receiver's GRO, not the wire.
    SuperSegments,
    /// Only one direction was captured.
    OneDirection,
    /// Packets were not captured though the receiver got them (ACKed data never seen).
    MissedPackets,
    /// The same packets twice (two interfaces, a mirror port).
    Duplicates,
    /// Time stamps go backwards.
    TimeOutOfOrder,
    /// Headers were cut.
    Snapped,
}

/// What one side sent. The fixed fields come first, in the order of the schema.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Direction {
    /// Packets.
    pub packets: u64,
    /// Packets with payload, retransmissions included.
    pub data_segments: u64,
    /// Payload bytes, retransmissions included.
    pub data_bytes: u64,
    /// Segments sent again.
    pub retransmissions: Retransmissions,
    /// Segments that arrived out of order.
    pub out_of_order: u64,
    /// Duplicate ACKs.
    pub duplicate_acks: u64,
    /// Gaps in the sequence numbers, counted as Wireshark's `tcp.analysis.lost_segment`.
    pub lost_segments: u64,
    /// Segments that advertise a window of zero.
    pub zero_windows: u64,
    /// From a data packet of this side to its ACK, at the capture point; Karn's rule. It includes the receiver's waits, and is
    /// the whole round trip only at this side; see `round_trip`.
    pub rtt_us: Rtt,
    /// The ACKs that this side sent for new data of its peer.
    pub acks_sent: AcksSent,
    // What follows is left out of the JSON where it says nothing.
    /// Payload bytes sent for the first time.
    #[serde(skip_serializing_if = "is_zero")]
    pub unique_bytes: u64,
    /// Unique payload over the time from the first to the last data packet, bit/s.
    #[serde(skip_serializing_if = "is_zero")]
    pub goodput_bps: u64,
    /// Largest payload of one packet.
    #[serde(skip_serializing_if = "is_zero")]
    pub max_payload_bytes: u64,
    /// Most bytes in flight (sent and not ACKed, as seen here).
    #[serde(skip_serializing_if = "is_zero")]
    pub max_in_flight_bytes: u64,
    /// Smallest and largest window that this side advertised, scaled; lower bounds with `window_unscaled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_bytes: Option<(u64, u64)>,
    /// The capture lacks the window scale option: true windows are larger by an unknown power of two, or equal.
    #[serde(skip_serializing_if = "is_false")]
    pub window_unscaled: bool,
    /// Without the option: the smallest window shift that explains what the peer had in flight.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_scale_at_least: Option<u8>,
    /// MSS option of the SYN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mss: Option<u16>,
    /// Window scale option of the SYN.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_scale: Option<u8>,
    /// SACK permitted in the SYN.
    #[serde(skip_serializing_if = "is_false")]
    pub sack_permitted: bool,
    /// Time stamps option used.
    #[serde(skip_serializing_if = "is_false")]
    pub timestamps: bool,
    /// ACKs with a DSACK block (RFC 2883) that this side sent.
    #[serde(skip_serializing_if = "is_zero")]
    pub dsacks: u64,
    /// Zero-window probes sent.
    #[serde(skip_serializing_if = "is_zero")]
    pub zero_window_probes: u64,
    /// Keep-alives sent.
    #[serde(skip_serializing_if = "is_zero")]
    pub keep_alives: u64,
    /// Window updates sent.
    #[serde(skip_serializing_if = "is_zero")]
    pub window_updates: u64,
    /// Data segments that filled the peer's window to its edge.
    #[serde(skip_serializing_if = "is_zero")]
    pub window_full: u64,
    /// The round trip of this side's data, without ACKs that were delayed or rode on data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_trip: Option<RoundTrip>,
    /// RTT by time stamp echo, microseconds (resolution of the peer's clock, mostly 1 ms).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_ts_us: Option<Rtt>,
    /// Packets with ECT(0) or ECT(1).
    #[serde(skip_serializing_if = "is_zero")]
    pub ecn_ect: u64,
    /// Packets with CE.
    #[serde(skip_serializing_if = "is_zero")]
    pub ecn_ce: u64,
    /// Packets with the ECE flag (after the handshake).
    #[serde(skip_serializing_if = "is_zero")]
    pub ecn_ece: u64,
    /// Packets with the CWR flag (after the handshake).
    #[serde(skip_serializing_if = "is_zero")]
    pub ecn_cwr: u64,
    /// Packets with a CAQM tag.
    #[serde(skip_serializing_if = "is_zero")]
    pub caqm: u64,
    /// What these tags say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caqm_tags: Option<Box<CaqmTags>>,
    /// Recovery episodes of this sender.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub episodes: Vec<Episode>,
    /// Episodes beyond those listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub episodes_not_listed: u64,
}

/// Segments sent again, by the sender's reason. `total` = `fast` + `rto` + `tlp` + `other`.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct Retransmissions {
    /// All.
    pub total: u64,
    /// Fast retransmit and SACK/RACK recovery.
    pub fast: u64,
    /// Retransmission timeout, and what followed it in the same recovery; SYN and SYN-ACK sent again.
    pub rto: u64,
    /// Tail loss probe.
    pub tlp: u64,
    /// No reason could be read from the packets.
    pub other: u64,
    /// Of these: the original had arrived (DSACK, time stamps). Overlaps the others.
    pub spurious: u64,
    /// Of these: the data was already ACKed when the segment passed the capture. Overlaps the others.
    pub unneeded: u64,
}

/// Round-trip times, microseconds.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct Rtt {
    /// Smallest.
    pub min: u32,
    /// Median.
    pub p50: u32,
    /// 95th percentile.
    pub p95: u32,
    /// Largest.
    pub max: u32,
    /// How many samples.
    pub samples: u64,
}

/// The round trip of the whole path, as far as the capture point can tell it.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct RoundTrip {
    /// How long it took, microseconds. A handshake gives one sample.
    pub us: Rtt,
    /// Which packets gave it.
    pub from: RoundTripFrom,
}

/// Packets from which a round trip was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RoundTripFrom {
    /// SYN, SYN-ACK and ACK: the sum of both halves, wherever the capture was taken.
    Handshake,
    /// Data and the ACKs that were sent at once for it, plus the way between the capture and the sender.
    Acks,
    /// The shortest answer of each side, by ACK number or by the echo of a time stamp (1 ms coarse): an upper bound.
    TimeStamps,
}

/// The ACKs for new data that one side sent. `total` is the sum of the classes.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct AcksSent {
    /// All of them.
    pub total: u64,
    /// At once, for at most one full segment.
    pub immediate: u64,
    /// For more than one full segment.
    pub second_segment: u64,
    /// Sent by the delayed-ACK timer.
    pub delayed: u64,
    /// On a data segment.
    pub piggybacked: u64,
    /// None of these.
    pub other: u64,
    /// Of `other`: perhaps late. The path is unknown, and the shortest wait is as long as a delayed-ACK timer.
    #[serde(skip_serializing_if = "is_zero")]
    pub unclear: u64,
    /// Ordinal, from 1, of the newest first-transmitted data segment that the first delayed ACK covers.
    pub first_delayed_segment: Option<u64>,
    /// Waiting times of the immediate ones, microseconds, gross.
    pub immediate_us: Spread,
    /// Waiting times of the delayed ones, microseconds, gross.
    pub delayed_us: Spread,
    /// The path's share in the waiting times, microseconds (estimated).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_us: Option<u32>,
    /// Waiting times of the unclear ones, microseconds, gross: the path, a timer, or both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unclear_us: Option<Spread>,
    /// From the newest data packet to the delayed ACKs, microseconds, gross.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_last_us: Option<Spread>,
    /// Stretches of quick and delayed ACKs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<AckMode>,
}

/// Minimum, median, maximum in microseconds.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct Spread {
    /// Smallest.
    pub min: u32,
    /// Median.
    pub p50: u32,
    /// Largest.
    pub max: u32,
}

/// A stretch of ACKs of one mode.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct AckMode {
    /// `quick` or `delayed`.
    pub mode: Mode,
    /// First data segment (ordinal from 1) that the stretch covers.
    pub from_segment: u64,
    /// Bytes of the peer's data before the stretch.
    pub from_byte: u64,
    /// ACKs in the stretch.
    pub acks: u64,
    /// Mean wait, microseconds, gross.
    pub mean_us: u32,
}

/// How a receiver acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// At once.
    Quick,
    /// By the timer or with the second segment.
    Delayed,
}

/// One recovery episode (start: first transmission of the first unACKed packet when recovery
/// began; end: the ACK that covers the highest sequence sent when it began).
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Episode {
    /// What began it.
    pub kind: EpisodeKind,
    /// Packet number of the first retransmission.
    pub packet: u64,
    /// Start, nanoseconds since 1970.
    pub start_ns: i64,
    /// Start to end in microseconds; `None` when the capture or the connection ended first.
    pub duration_us: Option<u64>,
    /// Retransmissions in it.
    pub retransmissions: u32,
    /// Whether it was spurious, with the evidence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spurious: Option<SpuriousEvidence>,
}

/// What began a recovery episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EpisodeKind {
    /// Duplicate ACKs or SACK.
    Fast,
    /// Retransmission timeout.
    Rto,
    /// Tail loss probe.
    Tlp,
    /// Not known.
    Other,
}

/// Why a retransmission is called spurious.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpuriousEvidence {
    /// The receiver reported the duplicate (RFC 2883).
    Dsack,
    /// The ACK echoes a time stamp older than the retransmission (Eifel, RFC 3522).
    Timestamps,
    /// The ACK came sooner after the retransmission than the path allows.
    AckTooSoon,
    /// Later ACKs covered what had been sent once, before the timeout (F-RTO, RFC 5682), or a duplicate ACK answered the
    /// retransmission.
    AckPattern,
    /// The data had been ACKed when its retransmission passed.
    Acked,
}

pub(crate) fn is_zero(n: &u64) -> bool {
    *n == 0
}

fn is_false(b: &bool) -> bool {
    !*b
}
