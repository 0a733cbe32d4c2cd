//! The columns of `--flows`: those of the stream, then those of each direction with the prefix
//! `c2s_` (client to server) or `s2c_`. Names and units are those of the JSON.

use tcplab_analyze::report::{CaqmTags, Direction, Handshake, Rtt, Spread, Stream};

use crate::analyze::fail_on::name;

/// A cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number, or none where it does not apply.
    Int(Option<i64>),
    /// A text.
    Text(String),
}

/// Kind of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// [`Value::Int`].
    Int,
    /// [`Value::Text`].
    Text,
}

/// Place of the column that findings are added to.
pub const FINDINGS: usize = 1;

type OfStream = (&'static str, Kind, fn(&Stream) -> Value);
type OfDirection = (&'static str, fn(&Direction) -> Option<i64>);

/// Names and kinds, in order.
pub fn schema() -> Vec<(String, Kind)> {
    let mut all = vec![("file".into(), Kind::Text), ("findings".into(), Kind::Text)];
    all.extend(STREAM.iter().map(|(n, k, _)| ((*n).to_owned(), *k)));
    for side in ["c2s", "s2c"] {
        let named = |(n, _): &OfDirection| (format!("{side}_{n}"), Kind::Int);
        all.extend(DIRECTION.iter().map(named));
    }
    all
}

/// One row.
pub fn row(file: &str, s: &Stream) -> Vec<Value> {
    let mut all = vec![Value::Text(file.into()), Value::Text(String::new())];
    all.extend(STREAM.iter().map(|(_, _, get)| get(s)));
    for direction in [&s.client_to_server, &s.server_to_client] {
        all.extend(DIRECTION.iter().map(|(_, get)| Value::Int(get(direction))));
    }
    all
}

fn int(n: impl TryInto<i64>) -> Option<i64> {
    n.try_into().ok()
}

fn of(n: Option<i64>) -> Value {
    Value::Int(n)
}

fn handshake(s: &Stream, get: fn(&Handshake) -> Option<u32>) -> Value {
    of(s.handshake.as_ref().and_then(get).map(i64::from))
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

const STREAM: &[OfStream] = &[
    ("stream", Kind::Int, |s| of(int(s.stream))),
    ("client", Kind::Text, |s| Value::Text(s.client.clone())),
    ("server", Kind::Text, |s| Value::Text(s.server.clone())),
    ("start_ns", Kind::Int, |s| of(int(s.start_ns))),
    ("duration_us", Kind::Int, |s| of(int(s.duration_us))),
    ("state", Kind::Text, |s| Value::Text(name(&s.state))),
    ("vantage", Kind::Text, |s| Value::Text(name(&s.vantage))),
    ("artefacts", Kind::Text, |s| {
        let names: Vec<String> = s.artefacts.iter().map(name).collect();
        Value::Text(names.join(","))
    }),
    ("syn_retransmissions", Kind::Int, |s| {
        handshake(s, |h| Some(h.syn_retransmissions))
    }),
    ("synack_retransmissions", Kind::Int, |s| {
        handshake(s, |h| Some(h.synack_retransmissions))
    }),
    ("server_rtt_us", Kind::Int, |s| {
        handshake(s, |h| h.server_rtt_us)
    }),
    ("client_rtt_us", Kind::Int, |s| {
        handshake(s, |h| h.client_rtt_us)
    }),
    ("caqm", Kind::Text, |s| {
        let offer = s.handshake.as_ref().and_then(|h| h.caqm);
        Value::Text(offer.map_or_else(String::new, |o| name(&o)))
    }),
];

const DIRECTION: &[OfDirection] = &[
    ("packets", |d| int(d.packets)),
    ("data_segments", |d| int(d.data_segments)),
    ("data_bytes", |d| int(d.data_bytes)),
    ("unique_bytes", |d| int(d.unique_bytes)),
    ("goodput_bps", |d| int(d.goodput_bps)),
    ("max_in_flight_bytes", |d| int(d.max_in_flight_bytes)),
    ("mss_bytes", |d| d.mss.map(i64::from)),
    ("retransmissions", |d| int(d.retransmissions.total)),
    ("retransmissions_fast", |d| int(d.retransmissions.fast)),
    ("retransmissions_rto", |d| int(d.retransmissions.rto)),
    ("retransmissions_tlp", |d| int(d.retransmissions.tlp)),
    ("retransmissions_other", |d| int(d.retransmissions.other)),
    ("retransmissions_spurious", |d| {
        int(d.retransmissions.spurious)
    }),
    ("retransmissions_unneeded", |d| {
        int(d.retransmissions.unneeded)
    }),
    ("out_of_order", |d| int(d.out_of_order)),
    ("duplicate_acks", |d| int(d.duplicate_acks)),
    ("dsacks", |d| int(d.dsacks)),
    ("lost_segments", |d| int(d.lost_segments)),
    ("zero_windows", |d| int(d.zero_windows)),
    ("window_updates", |d| int(d.window_updates)),
    ("window_full", |d| int(d.window_full)),
    ("keep_alives", |d| int(d.keep_alives)),
    ("ecn_ce", |d| int(d.ecn_ce)),
    ("caqm", |d| int(d.caqm)),
    ("caqm_requests", |d| caqm(d, |t| t.requests)),
    ("caqm_granted", |d| caqm(d, |t| t.granted)),
    ("caqm_refused", |d| caqm(d, |t| t.refused)),
    ("caqm_marked", |d| caqm(d, |t| t.marked)),
    ("caqm_contradictory", |d| caqm(d, |t| t.contradictory)),
    ("caqm_last_hop", |d| caqm(d, |t| t.last_hop)),
    ("caqm_asked_bytes", |d| caqm(d, |t| t.asked_bytes)),
    ("caqm_granted_bytes", |d| caqm(d, |t| t.granted_bytes)),
    ("caqm_taken_bytes", |d| caqm(d, |t| t.taken_bytes)),
    ("caqm_feedback", |d| caqm(d, |t| t.feedback)),
    ("caqm_feedback_plus_bytes", |d| {
        caqm(d, |t| t.feedback_plus_bytes)
    }),
    ("caqm_feedback_minus_bytes", |d| {
        caqm(d, |t| t.feedback_minus_bytes)
    }),
    ("caqm_foreign", |d| caqm(d, |t| t.foreign)),
    ("caqm_on_syn", |d| caqm(d, |t| t.on_syn)),
    ("caqm_oversize", |d| caqm(d, |t| t.oversize)),
    ("episodes", |d| {
        int(d.episodes.len() as u64 + d.episodes_not_listed)
    }),
    ("rtt_samples", |d| int(d.rtt_us.samples)),
    ("rtt_min_us", |d| rtt(&d.rtt_us, |r| r.min)),
    ("rtt_p50_us", |d| rtt(&d.rtt_us, |r| r.p50)),
    ("rtt_p95_us", |d| rtt(&d.rtt_us, |r| r.p95)),
    ("rtt_max_us", |d| rtt(&d.rtt_us, |r| r.max)),
    ("acks", |d| int(d.acks_sent.total)),
    ("acks_immediate", |d| int(d.acks_sent.immediate)),
    ("acks_second_segment", |d| int(d.acks_sent.second_segment)),
    ("acks_delayed", |d| int(d.acks_sent.delayed)),
    ("acks_piggybacked", |d| int(d.acks_sent.piggybacked)),
    ("acks_other", |d| int(d.acks_sent.other)),
    ("first_delayed_segment", |d| {
        d.acks_sent.first_delayed_segment.and_then(int)
    }),
    ("ack_immediate_p50_us", |d| {
        spread(d.acks_sent.immediate, &d.acks_sent.immediate_us, |s| s.p50)
    }),
    ("ack_delayed_min_us", |d| {
        spread(d.acks_sent.delayed, &d.acks_sent.delayed_us, |s| s.min)
    }),
    ("ack_delayed_p50_us", |d| {
        spread(d.acks_sent.delayed, &d.acks_sent.delayed_us, |s| s.p50)
    }),
    ("ack_delayed_max_us", |d| {
        spread(d.acks_sent.delayed, &d.acks_sent.delayed_us, |s| s.max)
    }),
    ("ack_path_us", |d| d.acks_sent.path_us.map(i64::from)),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_the_columns_of_the_schema() {
        let (schema, row) = (schema(), row("x", &Stream::default()));
        assert_eq!(schema.len(), row.len());
        for ((name, kind), value) in schema.iter().zip(&row) {
            let same = match value {
                Value::Int(_) => *kind == Kind::Int,
                Value::Text(_) => *kind == Kind::Text,
            };
            assert!(same, "{name}");
        }
        let mut names: Vec<_> = schema.into_iter().map(|c| c.0).collect();
        assert_eq!(names[FINDINGS], "findings");
        names.sort();
        names.dedup();
        assert_eq!(names.len(), row.len());
    }
}
