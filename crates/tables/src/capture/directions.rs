//! The columns of each direction of a stream, and its episodes of recovery.

use tcplab_analyze::report::{CaqmTags, Direction, Rtt, Spread, Stream};

use super::{name, side};
use crate::field::{Field, Kind};
use crate::table::Table;

/// A name, what it says, and how it is found.
type OfDirection = (&'static str, &'static str, fn(&Direction) -> Option<i64>);

fn int(n: impl TryInto<i64>) -> Option<i64> {
    n.try_into().ok()
}

fn rtt(rtt: &Rtt, get: fn(&Rtt) -> u32) -> Option<i64> {
    (rtt.samples > 0).then(|| get(rtt).into())
}

/// None: it sent no tag.
fn caqm(d: &Direction, get: fn(&CaqmTags) -> u64) -> Option<i64> {
    d.caqm_tags.as_deref().and_then(|tags| int(get(tags)))
}

fn spread(count: u64, spread: &Spread, get: fn(&Spread) -> u32) -> Option<i64> {
    (count > 0).then(|| get(spread).into())
}

pub(super) const DIRECTION: &[OfDirection] = &[
    ("packets", "packets.", |d| int(d.packets)),
    ("data_segments", "packets with payload.", |d| {
        int(d.data_segments)
    }),
    (
        "data_bytes",
        "payload, what was sent again included.",
        |d| int(d.data_bytes),
    ),
    ("unique_bytes", "payload, each byte once.", |d| {
        d.unique_bytes.and_then(int)
    }),
    (
        "goodput_bps",
        "unique bytes over the time from the first data to the last; null without such a time.",
        |d| int(d.goodput_bps).filter(|bps| *bps > 0),
    ),
    ("max_in_flight_bytes", "the most that was in flight.", |d| {
        d.max_in_flight_bytes.and_then(int)
    }),
    ("mss_bytes", "MSS that its sender announced.", |d| {
        d.mss.map(i64::from)
    }),
    ("retransmissions", "segments sent again.", |d| {
        int(d.retransmissions.total)
    }),
    ("retransmissions_fast", "by duplicate ACKs or SACK.", |d| {
        int(d.retransmissions.fast)
    }),
    ("retransmissions_rto", "by the retransmission timer.", |d| {
        int(d.retransmissions.rto)
    }),
    (
        "retransmissions_tlp",
        "tail loss probes, or timeouts of a single segment in flight.",
        |d| int(d.retransmissions.tlp),
    ),
    (
        "retransmissions_other",
        "sent again for a reason that the capture does not show.",
        |d| int(d.retransmissions.other),
    ),
    (
        "retransmissions_spurious",
        "sent again though nothing was lost.",
        |d| int(d.retransmissions.spurious),
    ),
    (
        "retransmissions_unneeded",
        "sent again though the receiver had them.",
        |d| int(d.retransmissions.unneeded),
    ),
    ("out_of_order", "segments that came late.", |d| {
        int(d.out_of_order)
    }),
    ("duplicate_acks", "duplicate ACKs.", |d| {
        int(d.duplicate_acks)
    }),
    ("dsacks", "reports of duplicates (RFC 2883).", |d| {
        int(d.dsacks)
    }),
    ("lost_segments", "segments that the capture lacks.", |d| {
        int(d.lost_segments)
    }),
    ("zero_windows", "packets that advertise no window.", |d| {
        int(d.zero_windows)
    }),
    (
        "window_updates",
        "packets that only open the window.",
        |d| int(d.window_updates),
    ),
    ("window_full", "packets that fill the window.", |d| {
        int(d.window_full)
    }),
    (
        "copies",
        "packets that came once more, doubled by the capture or the network; no other column counts them.",
        |d| int(d.copies),
    ),
    ("keep_alives", "keep-alives.", |d| int(d.keep_alives)),
    ("ecn_ce", "packets with Congestion Experienced.", |d| {
        int(d.ecn_ce)
    }),
    ("caqm", "packets with a CAQM tag.", |d| int(d.caqm)),
    ("caqm_requests", "CAQM: tags that ask for window.", |d| {
        caqm(d, |t| t.requests)
    }),
    ("caqm_granted", "CAQM: of these granted.", |d| {
        caqm(d, |t| t.granted)
    }),
    ("caqm_refused", "CAQM: of these refused.", |d| {
        caqm(d, |t| t.refused)
    }),
    ("caqm_marked", "CAQM: tags that a queue marked.", |d| {
        caqm(d, |t| t.marked)
    }),
    (
        "caqm_contradictory",
        "CAQM: tags whose fields contradict each other.",
        |d| caqm(d, |t| t.contradictory),
    ),
    ("caqm_last_hop", "CAQM: tags of the last hop.", |d| {
        caqm(d, |t| t.last_hop)
    }),
    ("caqm_asked_bytes", "CAQM: window asked for.", |d| {
        caqm(d, |t| t.asked_bytes)
    }),
    ("caqm_granted_bytes", "CAQM: window granted.", |d| {
        caqm(d, |t| t.granted_bytes)
    }),
    ("caqm_taken_bytes", "CAQM: window taken away.", |d| {
        caqm(d, |t| t.taken_bytes)
    }),
    ("caqm_feedback", "CAQM: packets with feedback.", |d| {
        caqm(d, |t| t.feedback)
    }),
    (
        "caqm_feedback_plus_bytes",
        "CAQM: feedback that adds window.",
        |d| caqm(d, |t| t.feedback_plus_bytes),
    ),
    (
        "caqm_feedback_minus_bytes",
        "CAQM: feedback that takes window.",
        |d| caqm(d, |t| t.feedback_minus_bytes),
    ),
    ("caqm_foreign", "CAQM: tags of another version.", |d| {
        caqm(d, |t| t.foreign)
    }),
    ("caqm_on_syn", "CAQM: tags on SYNs.", |d| {
        caqm(d, |t| t.on_syn)
    }),
    (
        "caqm_oversize",
        "CAQM: tags on packets that are too long.",
        |d| caqm(d, |t| t.oversize),
    ),
    (
        "episodes",
        "episodes of recovery; the table `episodes` has the first 256 of them.",
        |d| int(d.episodes.len() as u64 + d.episodes_not_listed),
    ),
    ("rtt_samples", "samples of the round trip.", |d| {
        int(d.rtt_us.samples)
    }),
    ("rtt_min_us", "the shortest round trip.", |d| {
        rtt(&d.rtt_us, |r| r.min)
    }),
    ("rtt_p50_us", "the median round trip.", |d| {
        rtt(&d.rtt_us, |r| r.p50)
    }),
    (
        "rtt_p95_us",
        "the 95th percentile of the round trip.",
        |d| rtt(&d.rtt_us, |r| r.p95),
    ),
    ("rtt_max_us", "the longest round trip.", |d| {
        rtt(&d.rtt_us, |r| r.max)
    }),
    ("acks", "ACKs of new data.", |d| int(d.acks_sent.total)),
    ("acks_immediate", "ACKs sent at once.", |d| {
        int(d.acks_sent.immediate)
    }),
    ("acks_second_segment", "ACKs of a second segment.", |d| {
        int(d.acks_sent.second_segment)
    }),
    ("acks_delayed", "ACKs sent by the delayed-ACK timer.", |d| {
        int(d.acks_sent.delayed)
    }),
    ("acks_piggybacked", "ACKs on data.", |d| {
        int(d.acks_sent.piggybacked)
    }),
    ("acks_other", "ACKs of no class.", |d| {
        int(d.acks_sent.other)
    }),
    (
        "first_delayed_segment",
        "ordinal of the first segment whose ACK was delayed.",
        |d| d.acks_sent.first_delayed_segment.and_then(int),
    ),
    (
        "ack_immediate_p50_us",
        "median wait of immediate ACKs.",
        |d| spread(d.acks_sent.immediate, &d.acks_sent.immediate_us, |s| s.p50),
    ),
    (
        "ack_delayed_min_us",
        "shortest wait of delayed ACKs.",
        |d| spread(d.acks_sent.delayed, &d.acks_sent.delayed_us, |s| s.min),
    ),
    ("ack_delayed_p50_us", "median wait of delayed ACKs.", |d| {
        spread(d.acks_sent.delayed, &d.acks_sent.delayed_us, |s| s.p50)
    }),
    ("ack_delayed_max_us", "longest wait of delayed ACKs.", |d| {
        spread(d.acks_sent.delayed, &d.acks_sent.delayed_us, |s| s.max)
    }),
    ("ack_path_us", "the path's share of these waits.", |d| {
        d.acks_sent.path_us.map(i64::from)
    }),
];

pub(super) fn episodes_table() -> Table {
    Table::new(
        "episodes",
        Field::all(&[
            ("file", Kind::Word, "Capture."),
            ("stream", Kind::Int, "Number of the stream, as tcp.stream."),
            ("from", Kind::Word, "Whose data: `client` or `server`."),
            (
                "kind",
                Kind::Word,
                "What began it: `fast`, `rto`, `tlp` (a tail loss probe, or the timeout of a single segment in flight) or `other`.",
            ),
            (
                "packet",
                Kind::Int,
                "Frame number of the first retransmission.",
            ),
            ("start_ns", Kind::Int, "When it began, since 1970."),
            (
                "duration_us",
                Kind::Int,
                "How long; missing: it did not end.",
            ),
            ("retransmissions", Kind::Int, "Retransmissions in it."),
            (
                "spurious",
                Kind::Text,
                "Evidence that nothing was lost; missing: none.",
            ),
        ]),
    )
}

/// Episodes of recovery, of both directions.
pub(super) fn episodes(table: &mut Table, file: &str, stream: &Stream) {
    for (is_client, direction) in [
        (true, &stream.client_to_server),
        (false, &stream.server_to_client),
    ] {
        for episode in &direction.episodes {
            let mut row = table.row();
            row.text(file);
            row.int(stream.stream);
            row.text(side(is_client));
            row.text(&name(&episode.kind));
            row.int(episode.packet);
            row.int(episode.start_ns);
            row.maybe(episode.duration_us.and_then(int));
            row.int(episode.retransmissions);
            row.maybe_text(episode.spurious.as_ref().map(name).as_deref());
        }
    }
}
