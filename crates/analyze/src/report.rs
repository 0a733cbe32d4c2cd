//! What the analyser says of a capture: plain data, and the schema `tcplab.analyze/1`.
//!
//! The fixed parts of the schema are documented in `docs/analyze.md`. Fields that say nothing
//! (an empty list, a zero counter outside the fixed parts) are left out of the JSON.

mod caqm;
mod unexplained;

use schemars::JsonSchema;
use serde::Serialize;

use crate::budget::{Budget, Request};
use crate::findings::{Finding, Id, Lacks, NotChecked, Severity};

pub use caqm::{CaqmOffer, CaqmTags};
pub use unexplained::{Effect, Unexplained};

/// `schema` of the document.
pub const SCHEMA: &str = "tcplab.analyze/1";

/// The whole answer of `tcplab analyze --json`.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Report {
    /// Always `tcplab.analyze/1`.
    pub schema: String,
    /// One per file, in the order given.
    pub captures: Vec<Capture>,
}

/// One capture file.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Capture {
    /// Name as given; `-`: standard input; `interface:NAME`: live capture.
    pub file: String,
    /// By number; in very large captures, in the order in which they closed.
    pub streams: Vec<Stream>,
    /// Most severe first.
    pub findings: Vec<Finding>,
    /// What packets show and no finding explains: segments sent again, delayed ACKs, waits of TCP, connections without
    /// success. With such an entry, an empty `findings` is no all-clear.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_explained: Vec<Unexplained>,
    /// Streams that waited mostly for a program, its send buffer (`sender`) or its window (`receive_window`), and that
    /// have no finding about this. It is no fault of the network.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub two_ends: Vec<Unexplained>,
    /// The counts.
    #[serde(flatten)]
    pub totals: Totals,
}

/// Counts over one capture.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Totals {
    /// Frames in the file.
    pub packets: u64,
    /// Frames that hold TCP, also inside ICMP errors that quote it.
    pub tcp_packets: u64,
    /// TCP connections, numbered as Wireshark's `tcp.stream`.
    pub tcp_streams: u64,
    /// Numbers of `--stream`: only these streams, if the capture has them, are in `streams`, `findings`, `not_checked`
    /// and the times. The other counts are those of the whole capture.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub only_streams: Vec<u32>,
    /// IP fragments that were not put together: a piece is missing, came twice, or was cut.
    #[serde(skip_serializing_if = "is_zero")]
    pub fragments: u64,
    /// Frames that end before the TCP header.
    #[serde(skip_serializing_if = "is_zero")]
    pub truncated: u64,
    /// Frames with contradictory headers.
    #[serde(skip_serializing_if = "is_zero")]
    pub malformed: u64,
    /// Frames of a link type unknown to tcplab.
    #[serde(skip_serializing_if = "is_zero")]
    pub unknown_link: u64,
    /// Frames without a time stamp, with one earlier than a previous frame's, or with one that the next frames prove
    /// wrong.
    #[serde(skip_serializing_if = "is_zero")]
    pub time_out_of_order: u64,
    /// Packets of connections already written out; no figure counts them.
    #[serde(skip_serializing_if = "is_zero")]
    pub late_packets: u64,
    /// Connections written out before their end, for `--max-streams` or memory; later packets are `late_packets`.
    #[serde(skip_serializing_if = "is_zero")]
    pub evicted_streams: u64,
    /// Ended connections forgotten for `--max-streams`: a late packet of one counts as a new stream.
    #[serde(skip_serializing_if = "is_zero")]
    pub forgotten_streams: u64,
    /// Packets without a row in `--acks`, `--annotate`, `--tshark-compat` or `--pair`, for `--max-packets`.
    #[serde(skip_serializing_if = "is_zero")]
    pub rows_left_out: u64,
    /// Live capture: frames dropped by the kernel because they came too fast.
    #[serde(skip_serializing_if = "is_zero")]
    pub dropped: u64,
    /// Unix times of the first and last packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_ns: Option<(i64, i64)>,
    /// Findings beyond the limit per id: counted, not listed.
    #[serde(skip_serializing_if = "is_zero")]
    pub findings_not_listed: u64,
    /// Findings that could not be checked in some streams, and what the capture lacks. Other streams were checked
    /// for all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_checked: Vec<NotChecked>,
    /// Where the time of all streams went.
    #[serde(skip_serializing_if = "Budget::is_empty")]
    pub budget_us: Budget,
    /// Part of `budget_us` in which a client waited: for the handshake, from each request to the end of its answer, and
    /// for repairs of losses.
    #[serde(skip_serializing_if = "Budget::is_empty")]
    pub waited_us: Budget,
    /// Where the file could not be read further.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ReadError>,
}

/// A damaged file.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct ReadError {
    /// Byte offset, in the unpacked stream, of the damage.
    pub offset: u64,
    /// What was wrong.
    pub message: String,
}

/// One TCP connection.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Stream {
    /// As Wireshark's `tcp.stream`.
    pub stream: u32,
    /// `ip:port` of the SYN's sender; without a SYN, of the side taken for the client.
    pub client: String,
    /// `ip:port` of the other side.
    pub server: String,
    /// Unix time of the first packet; in tcpdump's text the printed time taken as UTC, without a date since midnight.
    pub start_ns: i64,
    /// First to last packet.
    pub duration_us: u64,
    /// State at the last packet.
    pub state: State,
    /// Absent if not captured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub handshake: Option<Handshake>,
    /// Place of the capture.
    pub vantage: Vantage,
    /// Round trip of the whole path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_trip: Option<RoundTrip>,
    /// Written out before its end, for `--max-streams` or memory: packets that came later, if any, are in no
    /// figure; see `late_packets`.
    #[serde(skip_serializing_if = "is_false")]
    pub reported_early: bool,
    /// What the capture cannot show.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub artefacts: Vec<Artefact>,
    /// Findings that could not be checked, by what the capture lacks.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_checked: Vec<Lacks>,
    /// Its findings that are counted in `findings_not_listed` and not handed out.
    #[serde(skip)]
    pub unlisted: Vec<(Id, Severity)>,
    /// Where the time went; the sum is `duration_us`.
    #[serde(skip_serializing_if = "Budget::is_empty")]
    pub budget_us: Budget,
    /// Requests of the client with their answers, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requests: Vec<Request>,
    /// Requests beyond the listed ones.
    #[serde(skip_serializing_if = "is_zero")]
    pub requests_not_listed: u64,
    /// What the client sent.
    pub client_to_server: Box<Direction>,
    /// What the server sent.
    pub server_to_client: Box<Direction>,
}

/// Connection at its last packet.
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
    /// No handshake captured.
    Middle,
}

/// Three-way handshake.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct Handshake {
    /// SYNs sent again.
    pub syn_retransmissions: u32,
    /// SYN-ACKs sent again.
    pub synack_retransmissions: u32,
    /// From the last SYN to the SYN-ACK: the path to the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_rtt_us: Option<u32>,
    /// From SYN-ACK to ACK: the path to the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_rtt_us: Option<u32>,
    /// Negotiation of CAQM.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caqm: Option<CaqmOffer>,
}

/// Place of the capture, estimated from the gaps of the handshake and ACK times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Vantage {
    /// At or very near the client.
    Client,
    /// At or very near the server.
    Server,
    /// Somewhere between.
    Between,
    /// The packets do not tell.
    #[default]
    Unknown,
}

/// What a capture cannot show, or shows altered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Artefact {
    /// Segments larger than the MSS: made by TSO or GRO, not on the wire.
    SuperSegments,
    /// Only one direction was captured.
    OneDirection,
    /// The receiver ACKed data that was not captured.
    MissedPackets,
    /// Packets captured twice (two interfaces, a mirror port).
    Duplicates,
    /// Time stamps go backwards.
    TimeOutOfOrder,
    /// Headers were cut.
    Snapped,
    /// IP fragments were cut: what they carried is in no figure.
    CutFragments,
}

/// What one side sent. The fixed fields come first, in the order of the schema.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Direction {
    /// Packets, each once; ICMP errors that quote one count as well.
    pub packets: u64,
    /// Packets with payload, retransmissions included.
    pub data_segments: u64,
    /// Payload bytes, retransmissions included.
    pub data_bytes: u64,
    /// Segments sent again.
    pub retransmissions: Retransmissions,
    /// Segments that came late and were not sent again: those that `--annotate` marks `out_of_order`. Wireshark's
    /// `tcp.analysis.out_of_order` can differ.
    pub out_of_order: u64,
    /// Duplicate ACKs.
    pub duplicate_acks: u64,
    /// Gaps in the sequence numbers, as Wireshark's `tcp.analysis.lost_segment`.
    pub lost_segments: u64,
    /// Segments with a window of zero.
    pub zero_windows: u64,
    /// From a data packet to its ACK, at the capture; Karn's rule. Includes the receiver's waits; covers the whole
    /// round trip only in a capture at this side, see `round_trip`.
    pub rtt_us: Rtt,
    /// ACKs of the peer's new data.
    pub acks_sent: AcksSent,
    // What follows is left out of the JSON where it says nothing.
    /// Payload bytes, without retransmissions; like `goodput_bps` and `max_in_flight_bytes`, absent if only this side
    /// was captured.
    #[serde(skip_serializing_if = "is_nothing")]
    pub unique_bytes: Option<u64>,
    /// Unique payload over the time from the first to the last data packet.
    #[serde(skip_serializing_if = "is_zero")]
    pub goodput_bps: u64,
    /// When the first data passed, and the last data or its ACK; not in the JSON.
    #[serde(skip)]
    pub data_ns: Option<(i64, i64)>,
    /// Largest payload of one packet.
    #[serde(skip_serializing_if = "is_zero")]
    pub max_payload_bytes: u64,
    /// Most bytes in flight (sent, not ACKed as seen here).
    #[serde(skip_serializing_if = "is_nothing")]
    pub max_in_flight_bytes: Option<u64>,
    /// Smallest and largest advertised window, scaled; lower bounds with `window_unscaled`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_bytes: Option<(u64, u64)>,
    /// The capture lacks the window scale option: true windows are these, or larger by an unknown power of two.
    #[serde(skip_serializing_if = "is_false")]
    pub window_unscaled: bool,
    /// Without the option: smallest shift that explains what the peer had in flight.
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
    /// ACKs with a DSACK block (RFC 2883).
    #[serde(skip_serializing_if = "is_zero")]
    pub dsacks: u64,
    /// Zero-window probes sent.
    #[serde(skip_serializing_if = "is_zero")]
    pub zero_window_probes: u64,
    /// Packets that came once more, doubled by the capture or the network; no other figure counts them.
    #[serde(skip_serializing_if = "is_zero")]
    pub copies: u64,
    /// Keep-alives sent.
    #[serde(skip_serializing_if = "is_zero")]
    pub keep_alives: u64,
    /// Window updates sent.
    #[serde(skip_serializing_if = "is_zero")]
    pub window_updates: u64,
    /// Data segments that fill the peer's window.
    #[serde(skip_serializing_if = "is_zero")]
    pub window_full: u64,
    /// Round trip of this side's data, without ACKs that were delayed or rode on data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round_trip: Option<RoundTrip>,
    /// RTT by time stamp echo (resolution of the peer's clock, mostly 1 ms).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_ts_us: Option<Rtt>,
    /// Packets with ECT(0) or ECT(1).
    #[serde(skip_serializing_if = "is_zero")]
    pub ecn_ect: u64,
    /// Packets with CE.
    #[serde(skip_serializing_if = "is_zero")]
    pub ecn_ce: u64,
    /// Packets with ECE after the handshake.
    #[serde(skip_serializing_if = "is_zero")]
    pub ecn_ece: u64,
    /// Packets with CWR after the handshake.
    #[serde(skip_serializing_if = "is_zero")]
    pub ecn_cwr: u64,
    /// Packets with CAQM tag.
    #[serde(skip_serializing_if = "is_zero")]
    pub caqm: u64,
    /// What the tags say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caqm_tags: Option<Box<CaqmTags>>,
    /// Recovery episodes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub episodes: Vec<Episode>,
    /// Episodes beyond the listed ones.
    #[serde(skip_serializing_if = "is_zero")]
    pub episodes_not_listed: u64,
}

/// By the sender's reason. `total` = `fast` + `rto` + `tlp` + `other`.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct Retransmissions {
    /// All.
    pub total: u64,
    /// Fast retransmit and SACK/RACK recovery.
    pub fast: u64,
    /// Retransmission timeout, and what followed in the same recovery; SYN and SYN-ACK sent again.
    pub rto: u64,
    /// Tail loss probe, or timeout of a single segment in flight: both are due at the same time.
    pub tlp: u64,
    /// No reason visible.
    pub other: u64,
    /// The original had arrived (DSACK, time stamps). Overlaps the other classes.
    pub spurious: u64,
    /// The data was already ACKed when the segment passed the capture. Overlaps the other classes.
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
    /// Number of samples.
    pub samples: u64,
}

/// Round trip of the whole path, as far as the capture point shows it.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct RoundTrip {
    /// Round-trip times; a handshake gives one sample.
    pub us: Rtt,
    /// Packets that gave it.
    pub from: RoundTripFrom,
}

/// Packets that gave a round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RoundTripFrom {
    /// SYN, SYN-ACK and ACK: the sum of both halves, wherever the capture was taken.
    Handshake,
    /// Data and its immediate ACKs, plus the path between capture and sender.
    Acks,
    /// Shortest answer of each side, by ACK number or time stamp echo (1 ms coarse): an upper bound.
    TimeStamps,
}

/// ACKs of new data that one side sent. `total` is the sum of the classes.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct AcksSent {
    /// Sum of the classes.
    pub total: u64,
    /// Immediately, for at most one full segment.
    pub immediate: u64,
    /// For more than one full segment.
    pub second_segment: u64,
    /// By the delayed-ACK timer.
    pub delayed: u64,
    /// On a data segment.
    pub piggybacked: u64,
    /// None of these.
    pub other: u64,
    /// Part of `other`: perhaps delayed. The path is unknown, and the shortest wait is as long as a delayed-ACK
    /// timer.
    #[serde(skip_serializing_if = "is_zero")]
    pub unclear: u64,
    /// Number, from 1, of the newest first-transmitted data segment that the first delayed ACK covers.
    pub first_delayed_segment: Option<u64>,
    /// Waits of `immediate`, path included.
    pub immediate_us: Spread,
    /// Waits of `delayed`, path included.
    pub delayed_us: Spread,
    /// Estimated share of the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_us: Option<u32>,
    /// Waits of `unclear`: the path, a timer, or both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unclear_us: Option<Spread>,
    /// From the newest data packet to each delayed ACK, path included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_last_us: Option<Spread>,
    /// Runs of quick and of delayed ACKs.
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

/// Consecutive ACKs of one mode.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct AckMode {
    /// `quick` or `delayed`.
    pub mode: Mode,
    /// First data segment (from 1) that they cover.
    pub from_segment: u64,
    /// Bytes of the peer's data before these ACKs.
    pub from_byte: u64,
    /// ACKs in the stretch.
    pub acks: u64,
    /// Mean wait, path included.
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

/// Recovery episode: from the first transmission of the packet that was the oldest unACKed one at its beginning, to
/// the ACK of the highest sequence sent by then.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Episode {
    /// Trigger.
    pub kind: EpisodeKind,
    /// Frame number of the first retransmission.
    pub packet: u64,
    /// Unix time of the start.
    pub start_ns: i64,
    /// Null if the capture or the connection ended first.
    pub duration_us: Option<u64>,
    /// Retransmissions in it.
    pub retransmissions: u32,
    /// Evidence that it was spurious.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spurious: Option<SpuriousEvidence>,
}

/// Trigger of a recovery episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EpisodeKind {
    /// Duplicate ACKs or SACK.
    Fast,
    /// Retransmission timeout.
    Rto,
    /// Tail loss probe, or timeout of a single segment in flight: both are due at the same time.
    Tlp,
    /// Not known.
    Other,
}

/// Why a retransmission is called spurious.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SpuriousEvidence {
    /// The receiver reported a duplicate (RFC 2883).
    Dsack,
    /// The ACK echoes a time stamp older than the retransmission (Eifel, RFC 3522).
    Timestamps,
    /// The ACK came sooner after the retransmission than the path allows.
    AckTooSoon,
    /// Later ACKs covered what was sent once, before the timeout (F-RTO, RFC 5682), or a duplicate ACK answered the
    /// retransmission.
    AckPattern,
    /// The data had been ACKed when its retransmission passed.
    Acked,
}

pub(crate) fn is_zero(n: &u64) -> bool {
    *n == 0
}

/// Unknown, or zero.
fn is_nothing(n: &Option<u64>) -> bool {
    n.is_none_or(|n| n == 0)
}

fn is_false(b: &bool) -> bool {
    !*b
}
