//! A connection whose packets have no usable times: records without a time stamp, or stamps in whole seconds.
//!
//! Lengths, the classes of ACKs and the reasons for retransmissions go by times. They are unknown then, and left out.

use super::Connection;
use crate::report::{AcksSent, Direction, EpisodeKind, Retransmissions, Rtt, Stream, Vantage};
use crate::trace::{AckClass, SegmentKind, StreamTrace};

impl Connection {
    /// A packet had no time stamp, or (`moved`) one that was wrong and was moved to its place.
    #[cold]
    pub(crate) fn odd_time(&mut self, moved: bool) {
        if moved {
            self.steps.get_or_insert_default().out_of_order += 1;
        } else {
            self.lacks_times();
        }
    }

    /// Nothing can be said that goes by the times of its packets.
    #[cold]
    pub(crate) fn lacks_times(&mut self) {
        self.steps.get_or_insert_default().untimed = true;
    }

    /// Whether [`Connection::lacks_times`] was said.
    pub(crate) fn is_untimed(&self) -> bool {
        self.steps.as_deref().is_some_and(|s| s.untimed)
    }

    /// Each side once answered the other in no time: the stamps are coarser than the whole round trip.
    pub(crate) fn answers_at_once(&self) -> bool {
        self.dirs.iter().all(|d| d.path_us == 0)
    }

    /// Takes out of the report what goes by times.
    #[cold]
    pub(super) fn without_times(&mut self, stream: &mut Stream) {
        stream.vantage = Vantage::Unknown;
        stream.round_trip = None;
        if let Some(h) = &mut stream.handshake {
            (h.server_rtt_us, h.client_rtt_us) = (None, None);
        }
        for d in [&mut stream.client_to_server, &mut stream.server_to_client] {
            untimed(d);
        }
        if let Some(trace) = self.trace.as_deref_mut() {
            rows(trace);
        }
    }
}

/// The same, of what one side sent.
fn untimed(d: &mut Direction) {
    (d.rtt_us, d.rtt_ts_us, d.round_trip, d.goodput_bps) = (Rtt::default(), None, None, 0);
    d.data_ns = None;
    let r = d.retransmissions;
    d.retransmissions = Retransmissions {
        total: r.total,
        other: r.total,
        unneeded: r.unneeded,
        ..Retransmissions::default()
    };
    let a = &d.acks_sent;
    d.acks_sent = AcksSent {
        total: a.total,
        piggybacked: a.piggybacked,
        other: a.total - a.piggybacked,
        ..AcksSent::default()
    };
    for e in &mut d.episodes {
        (e.kind, e.duration_us, e.spurious) = (EpisodeKind::Other, None, None);
    }
}

/// The same, of the packets.
fn rows(trace: &mut StreamTrace) {
    for row in &mut trace.rows {
        row.rtt_us = None;
        row.spurious = false;
        if row.kind.is_again() {
            row.kind = SegmentKind::Retransmission;
        }
        if let Some(ack) = row.acked.as_mut()
            && ack.class != AckClass::Piggybacked
        {
            ack.class = AckClass::Other;
        }
    }
}
