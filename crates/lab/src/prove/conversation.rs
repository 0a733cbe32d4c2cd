//! What the two programs of a captured connection wrote, and when: the experiment repeats it.
//!
//! A segment that left the moment an ACK came had waited for it. The time of its write is unknown, so it counts as
//! part of the write before. Whoever writes after data of the other end came has waited for these data. Segments
//! without PSH belong to the write that the next one ends (Linux `tcp_push()`).

use tcplab_analyze::report::{Direction, Stream};
use tcplab_analyze::trace::{Row, SegmentKind, StreamTrace};
use tcplab_plan::app::Message;
use tcplab_wire::TcpFlags;

use super::table::LOST;

/// Messages of an experiment at most.
pub const MOST_MESSAGES: usize = 200;
/// Payload of an experiment at most.
const MOST_BYTES: u64 = 20_000_000;
/// Rows of a stream that are looked at.
pub const MOST_ROWS: usize = 5_000;
/// A pause up to this does not part what is one burst of writes.
pub(super) const ONE_BURST_NS: i64 = 1_000_000;
/// From an ACK to the segment that it let go, beside the path.
const RELEASE_NS: i64 = 100_000;
/// A flight that waited so long for its ACK was held by a window.
const HELD_NS: i64 = 5_000_000;
/// Flights that a window held back before it is the receiver's buffer that is small.
const HELD_OFTEN: u32 = 8;
/// Smallest unscaled window that counts as full (65,535 in whole segments).
const LARGEST_UNSCALED: u64 = 60_000;
/// The initial window of Linux (RFC 6928).
const INITIAL_WINDOW: u64 = 10;

/// Number of a side: 0 is the client, 1 the server.
pub(super) type End = usize;

/// What the experiment needs to know of a connection.
#[derive(Clone, Debug)]
pub(super) struct Conversation {
    pub messages: Vec<Message>,
    /// Round trip of the path, nanoseconds.
    pub rtt_ns: i64,
    /// The smaller MSS option of the two.
    pub mss: u16,
    /// Both use this option.
    pub timestamps: bool,
    pub sack: bool,
    pub scaling: bool,
    /// What each side's segments show.
    pub sides: [Shown; 2],
    /// Frame number of the last packet that it covers.
    pub last_frame: u64,
    /// Why it ends before the connection does.
    pub cut: Option<&'static str>,
}

/// What the segments of a side show of its socket and its route.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shown {
    /// A small segment left while an earlier small one was not ACKed: TCP_NODELAY.
    pub nodelay: bool,
    /// Another initial window than Linux's: the fewest segments after which it waited for an ACK with more to send, or
    /// more than ten before the first ACK.
    pub initcwnd: Option<u64>,
    /// The largest window that it offered, where that held the other side back again and again.
    pub window: Option<u64>,
}

/// A side while the rows are read.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    /// Path between the capture and it, there and back.
    gap_ns: i64,
    /// Relative number of its next new byte.
    next: u64,
    /// ACKed by the other side.
    acked: u64,
    /// Its last data.
    sent_ns: Option<i64>,
    /// End of its last small segment.
    small_end: u64,
    /// In flight after its last data, and the other side's window then.
    flight: u64,
    allowed: u64,
    /// When a pure ACK came after these.
    let_go: Option<i64>,
    /// Its last message goes on: no PSH yet.
    open: bool,
    /// The window that it offers, and the largest so far.
    window: u64,
    most_window: u64,
    /// Flights of the other side that its window held back.
    filled: u32,
    shown: Shown,
}

struct Reader {
    sides: [Side; 2],
    /// Payload of a full segment.
    full: u64,
    /// When the client's ACK of the SYN-ACK was captured.
    stands_ns: Option<i64>,
    bytes: u64,
    messages: Vec<Message>,
    last_frame: u64,
}

/// Why a connection cannot be repeated from here on.
type Stops = &'static str;

const NO_HANDSHAKE: &str =
    "the capture lacks the handshake, so the round-trip time and the options are unknown";
const MISSED: &str = "the capture lacks some of its packets";
const BOTH: &str =
    "both ends send at the same time, but the experiment can only let them take turns";
const LONG: &str = "the connection is longer than the part that the experiment can replay";

impl Conversation {
    /// Reads it from the packets of a stream.
    ///
    /// # Errors
    /// Why the stream cannot be repeated.
    pub(super) fn of(stream: &Stream, trace: &StreamTrace) -> Result<Self, Stops> {
        let [client, server] = sides(stream);
        if client.packets == 0 || server.packets == 0 {
            return Err("only one direction was captured");
        }
        let handshake = stream.handshake.ok_or(NO_HANDSHAKE)?;
        let gap = |us: Option<u32>| us.map(|us| i64::from(us) * 1000).ok_or(NO_HANDSHAKE);
        let gaps = [gap(handshake.client_rtt_us)?, gap(handshake.server_rtt_us)?];
        let mss = |d: &Direction| d.mss.ok_or(NO_HANDSHAKE);
        let mss = mss(client)?.min(mss(server)?);
        let both = |has: fn(&Direction) -> bool| has(client) && has(server);
        let timestamps = both(|d| d.timestamps);
        let mut reader = Reader {
            sides: gaps.map(|gap_ns| Side {
                gap_ns,
                next: 1,
                acked: 1,
                ..Side::default()
            }),
            full: u64::from(mss).saturating_sub(if timestamps { 12 } else { 0 }),
            stands_ns: None,
            bytes: 0,
            messages: Vec::new(),
            last_frame: 0,
        };
        let cut = reader.read(trace).err();
        if reader.messages.is_empty() {
            return Err(cut.unwrap_or("no data were captured"));
        }
        let scaling = both(|d| d.window_scale.is_some());
        let mut shown = reader.sides.map(|side| side.shown);
        if !scaling {
            // The field of 16 bits is the limit, not the buffer.
            let fills = |window: &u64| *window < LARGEST_UNSCALED;
            shown
                .iter_mut()
                .for_each(|side| side.window = side.window.filter(fills));
        }
        Ok(Self {
            rtt_ns: gaps.iter().sum(),
            mss,
            timestamps,
            sack: both(|d| d.sack_permitted),
            scaling,
            sides: shown,
            last_frame: reader.last_frame,
            messages: reader.messages,
            cut,
        })
    }
}

fn sides(stream: &Stream) -> [&Direction; 2] {
    [&stream.client_to_server, &stream.server_to_client]
}

impl Reader {
    fn read(&mut self, trace: &StreamTrace) -> Result<(), Stops> {
        for row in trace.rows.iter().take(trace.whole.min(MOST_ROWS)) {
            self.row(row)?;
            self.last_frame = row.number;
        }
        match (trace.whole as u64) < trace.packets {
            true => Err(LONG),
            false => Ok(()),
        }
    }

    fn row(&mut self, row: &Row) -> Result<(), Stops> {
        let flags = TcpFlags(row.flags);
        if flags.has(TcpFlags::SYN) || flags.has(TcpFlags::RST) {
            return Ok(());
        }
        match row.kind {
            SegmentKind::PureAck | SegmentKind::New => {}
            SegmentKind::KeepAlive | SegmentKind::ZeroWindowProbe => return Ok(()),
            _ => return Err(LOST),
        }
        let (own, other) = ends(row);
        let now = row.time.as_nanos();
        if own == 0 && self.stands_ns.is_none() {
            self.stands_ns = Some(now);
        }
        let side = &mut self.sides[own];
        side.window = u64::from(row.window);
        side.most_window = side.most_window.max(side.window);
        if let Some(ack) = row.ack {
            self.acked(other, ack, now, row.len == 0);
        }
        if row.len > 0 {
            self.data(row, now, own, other)?;
        }
        Ok(())
    }

    /// The other side ACKed data of `end`.
    fn acked(&mut self, end: End, ack: u64, now: i64, is_pure: bool) {
        let full = self.full.max(1);
        let side = &mut self.sides[end];
        if ack <= side.acked {
            return;
        }
        let first_flight = (side.next - 1).div_ceil(full);
        if side.acked == 1 && first_flight > INITIAL_WINDOW {
            side.shown.initcwnd = Some(first_flight);
        }
        side.let_go = is_pure.then_some(now);
        side.acked = ack;
    }

    fn data(&mut self, row: &Row, now: i64, own: End, other: End) -> Result<(), Stops> {
        let len = u64::from(row.len);
        if row.seq != self.sides[own].next {
            return Err(if row.seq < self.sides[own].next {
                LOST
            } else {
                MISSED
            });
        }
        if self.messages.len() >= MOST_MESSAGES || self.bytes + len > MOST_BYTES {
            return Err(LONG);
        }
        self.note_nagle(row, own, len);
        let last = self.messages.last().map(|m| usize::from(!m.from_client));
        let let_go = self.let_go(own, now);
        match last {
            Some(end) if end == own => self.goes_on(now, own, other, len, let_go),
            _ => {
                let seen = row.ack.unwrap_or(0);
                if seen < self.sides[other].next {
                    return Err(BOTH);
                }
                self.say(own, len, self.since_turn(now, own, other));
            }
        }
        self.bytes += len;
        let allowed = self.sides[other].window;
        let side = &mut self.sides[own];
        side.allowed = allowed;
        side.next += len;
        side.sent_ns = Some(now);
        side.let_go = None;
        side.flight = side.next.saturating_sub(side.acked);
        side.open = !TcpFlags(row.flags).has(TcpFlags::PSH);
        if len < self.full {
            side.small_end = side.next;
        }
        Ok(())
    }

    /// The side that wrote last sends more.
    fn goes_on(&mut self, now: i64, own: End, other: End, len: u64, let_go: bool) {
        let side = &self.sides[own];
        let since = now.saturating_sub(side.sent_ns.unwrap_or(now));
        let open = side.open;
        if let_go && since >= HELD_NS {
            self.note_window(own, other, len, open);
        }
        if open {
            if let Some(message) = self.messages.last_mut() {
                message.bytes += len;
            }
        } else {
            let after = if let_go { 0 } else { since };
            self.say(own, len, after);
        }
    }

    /// Whether an ACK let this segment go.
    fn let_go(&self, own: End, now: i64) -> bool {
        let side = &self.sides[own];
        let Some(at) = side.let_go else { return false };
        let since = now.saturating_sub(at).saturating_sub(side.gap_ns);
        // Never before the ACK can have come: a path's jitter is small beside it.
        let (early, late) = (side.gap_ns / 50, side.gap_ns / 20);
        (-RELEASE_NS - early..=RELEASE_NS + late).contains(&since)
    }

    /// How long a side waited until it wrote: since the other one's data came, or since the connection stood.
    fn since_turn(&self, now: i64, own: End, other: End) -> i64 {
        let gap = self.sides[own].gap_ns;
        let came = match (self.sides[other].sent_ns, self.stands_ns) {
            (Some(sent), _) => Some(sent.saturating_add(gap)),
            // The client's ACK was captured on its way to the server.
            (None, Some(stands)) if own == 0 => Some(stands),
            (None, stands) => stands.map(|at| at.saturating_add(gap)),
        };
        now.saturating_sub(came.unwrap_or(now))
    }

    fn say(&mut self, own: End, bytes: u64, after_ns: i64) {
        // Whole microseconds: less is the noise of any capture.
        let after_ns = after_ns.max(0) / 1000 * 1000;
        let message = Message::write(own == 0, bytes, after_ns);
        self.messages.push(message);
    }

    /// RFC 896 and Minshall's variant, which Linux has: a small segment waits for an earlier small one.
    fn note_nagle(&mut self, row: &Row, own: End, len: u64) {
        let side = &mut self.sides[own];
        let ends = TcpFlags(row.flags).has(TcpFlags::FIN);
        if len < self.full && side.small_end > side.acked && !ends {
            side.shown.nodelay = true;
        }
    }

    /// A flight waited for its ACK: was it the peer's window, or, with more to send, the congestion window?
    fn note_window(&mut self, own: End, other: End, len: u64, more: bool) {
        let Side {
            flight, allowed, ..
        } = self.sides[own];
        let segments = flight.div_ceil(self.full.max(1));
        if flight + len.min(self.full) > allowed {
            let receiver = &mut self.sides[other];
            receiver.filled += 1;
            if receiver.filled >= HELD_OFTEN {
                receiver.shown.window = Some(receiver.most_window);
            }
            return;
        }
        if segments >= INITIAL_WINDOW || !more {
            return;
        }
        let fewest = &mut self.sides[own].shown.initcwnd;
        *fewest = Some(fewest.unwrap_or(segments).min(segments));
    }
}

/// The sender of a row and the other end.
fn ends(row: &Row) -> (End, End) {
    match row.from_client {
        true => (0, 1),
        false => (1, 0),
    }
}
