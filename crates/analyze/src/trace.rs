//! The detailed record of a stream, kept only when it is asked for (`--acks`, `--html`,
//! `--annotate`, `--tshark-compat`): one row for each packet, with final verdicts.
//!
//! No figure depends on it: what an output needs kept never changes what another one says. Bounded by
//! [`Rows`] for each stream and by a limit over all streams that are held ([`Shelf`]).

use schemars::JsonSchema;
use serde::Serialize;
use tcplab_base::{Duration, Instant};
use tcplab_wire::CaqmInfo;

use crate::budget::Span;
use crate::compat::Verdicts;
use crate::conn::TIMER_US;

/// Which packets of a stream get a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// Each of the first so many packets: what a chart needs.
    pub first: usize,
    /// Each packet that something was found out about: an ACK of new data, a verdict, a CAQM tag, a
    /// segment that is not plainly new.
    pub marked: bool,
}

impl Rows {
    /// No row at all.
    pub const NONE: Self = Self {
        first: 0,
        marked: false,
    };
    /// A row for each packet.
    pub const ALL: Self = Self {
        first: usize::MAX,
        marked: false,
    };
}

/// The packets of one stream, as far as they were kept.
#[derive(Clone, Debug, Default)]
pub struct StreamTrace {
    /// Number of the stream.
    pub stream: u32,
    /// Time stamp of its first packet.
    pub start: Instant,
    /// Packets that it had.
    pub packets: u64,
    /// So many rows at the front are its first packets, without a gap; those behind them are marked ones.
    pub whole: usize,
    /// The packets, in the order of the file.
    pub rows: Vec<Row>,
    /// The windows of the client, and of the server, are lower bounds: the capture lacks the window scale option.
    pub window_unscaled: [bool; 2],
    /// Where the time of the stream went: stretches without a gap, oldest first, as far as they were kept.
    pub spans: Vec<Span>,
    /// Marked rows among them.
    pub(crate) marked: usize,
}

impl StreamTrace {
    /// The capture's clock was set ahead by this much before this packet.
    pub(crate) fn skip(&mut self, packet: u64, by: Duration) {
        for row in self.rows.iter_mut().filter(|r| r.number >= packet) {
            let ns = row.time.as_nanos().saturating_sub(by.as_nanos());
            row.time = Instant::from_nanos(ns);
        }
    }

    /// The trace of a stream with these packets and no others.
    pub fn of(stream: u32, rows: Vec<Row>) -> Self {
        Self {
            stream,
            start: rows.first().map(|r| r.time).unwrap_or_default(),
            packets: rows.len() as u64,
            whole: rows.len(),
            window_unscaled: [false; 2],
            spans: Vec::new(),
            marked: 0,
            rows,
        }
    }

    /// The ACKs of one side that were unclear are of this class, as the end of the connection shows. They have a sample
    /// of the round trip (nothing was sent again) and no class; a FIN and a trigger explain the others.
    pub(crate) fn settle(&mut self, from_a: bool, class: AckClass) {
        let fin = tcplab_wire::TcpFlags::FIN;
        for row in &mut self.rows {
            let whole = row.from_client == from_a && row.rtt_us.is_some() && row.flags & fin == 0;
            if let Some(ack) = row.acked.as_mut().filter(|_| whole)
                && ack.class == AckClass::Other
                && ack.wait_us < ack.path_us.saturating_add(TIMER_US)
            {
                ack.class = class;
            }
        }
    }

    /// The row of a frame, when it was kept.
    pub(crate) fn row_mut(&mut self, number: u64) -> Option<&mut Row> {
        let at = self.rows.binary_search_by_key(&number, |r| r.number).ok()?;
        self.rows.get_mut(at)
    }
}

/// The kept rows of all streams, and their number.
#[derive(Debug)]
pub(crate) struct Shelf {
    keep: Rows,
    /// Most rows of either kind.
    most: usize,
    whole: usize,
    marked: usize,
    /// Wanted packets that found no room: marked ones, or any if all are wanted.
    pub left_out: u64,
}

impl Shelf {
    pub(crate) fn new(keep: Rows, most: Option<usize>) -> Self {
        Self {
            keep,
            most: most.unwrap_or(usize::MAX),
            whole: 0,
            marked: 0,
            left_out: 0,
        }
    }

    /// Whether anything is kept.
    pub(crate) fn is_open(&self) -> bool {
        self.keep != Rows::NONE
    }

    /// Takes a row of `trace`, or leaves it out. The two kinds have a count each: what one output
    /// wants kept leaves the rows of another one as they are.
    pub(crate) fn put(&mut self, trace: &mut StreamTrace, row: Row) {
        let gapless = trace.whole as u64 == trace.packets;
        trace.packets += 1;
        let whole = gapless && trace.whole < self.keep.first && self.whole < self.most;
        let marked = self.keep.marked && row.is_marked();
        if whole {
            self.whole += 1;
            trace.whole += 1;
        }
        let room = self.marked < self.most;
        if marked && room {
            self.marked += 1;
            trace.marked += 1;
        }
        let is_kept = whole || (marked && room);
        let is_wanted = marked || self.keep == Rows::ALL;
        self.left_out += u64::from(is_wanted && !is_kept);
        if is_kept {
            trace.rows.push(row);
        }
    }

    /// A trace was handed out.
    pub(crate) fn took(&mut self, trace: &StreamTrace) {
        self.whole -= trace.whole;
        self.marked -= trace.marked;
    }
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
    /// Advertised window in bytes, scaled; a lower bound where [`StreamTrace::window_unscaled`] says so.
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

impl Row {
    /// Whether something was found out about the packet. A later correction changes only rows that are marked.
    fn is_marked(&self) -> bool {
        let plain = matches!(self.kind, SegmentKind::PureAck | SegmentKind::New);
        !plain || self.acked.is_some() || self.caqm.is_some() || !self.verdicts.is_empty()
    }
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
    /// Tail loss probe, or timeout of a single segment in flight.
    Tlp,
    /// A retransmission of unknown reason.
    Retransmission,
    /// Keep-alive.
    KeepAlive,
    /// Zero-window probe.
    ZeroWindowProbe,
    /// No packet of this end: an ICMP error quotes one.
    Quoted,
}

impl SegmentKind {
    /// Sent before.
    pub(crate) const fn is_again(self) -> bool {
        matches!(
            self,
            Self::Fast | Self::Rto | Self::Tlp | Self::Retransmission
        )
    }
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

/// Reason for the time of an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AckClass {
    /// Immediately, for at most one full segment.
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
