//! The analyser's figures by the names of measures of packets (`plan::measure::PACKETS`).

use tcplab_analyze::report::{Direction, Rtt, Spread};

/// A figure of the analyser for one direction of a connection; `None` when the analyser saw nothing to derive it from.
pub(crate) fn figure(of: &Direction, name: &str) -> Option<f64> {
    let (group, field) = name.split_once('.').unwrap_or((name, ""));
    match group {
        "retransmissions" => retransmissions(of, field),
        "caqm" => caqm(of, field),
        "rtt_us" => rtt(&of.rtt_us, field),
        "acks" => acks(of, field),
        _ => whole(of, name),
    }
}

fn whole(of: &Direction, name: &str) -> Option<f64> {
    let n = match name {
        "packets" => of.packets,
        "data_segments" => of.data_segments,
        "data_bytes" => of.data_bytes,
        "unique_bytes" => of.unique_bytes?,
        "goodput_bps" => return goodput(of),
        "out_of_order" => of.out_of_order,
        "duplicate_acks" => of.duplicate_acks,
        "lost_segments" => of.lost_segments,
        "zero_windows" => of.zero_windows,
        "dsacks" => of.dsacks,
        "zero_window_probes" => of.zero_window_probes,
        "keep_alives" => of.keep_alives,
        "window_updates" => of.window_updates,
        "max_in_flight_bytes" => of.max_in_flight_bytes?,
        _ => return None,
    };
    Some(n as f64)
}

/// Until the last ACK: what waits in the sender's own queue has not arrived.
fn goodput(of: &Direction) -> Option<f64> {
    let bits = of.unique_bytes? as f64 * 8.0;
    let Some((first, last)) = of.data_ns else {
        return (bits == 0.0).then_some(0.0);
    };
    let seconds = last.saturating_sub(first) as f64 / 1e9;
    // All at one instant: a rate needs time.
    (seconds > 0.0).then(|| bits / seconds)
}

fn retransmissions(of: &Direction, field: &str) -> Option<f64> {
    let all = &of.retransmissions;
    let n = match field {
        "total" => all.total,
        "fast" => all.fast,
        "rto" => all.rto,
        "tlp" => all.tlp,
        "other" => all.other,
        "spurious" => all.spurious,
        "unneeded" => all.unneeded,
        _ => return None,
    };
    Some(n as f64)
}

fn caqm(of: &Direction, field: &str) -> Option<f64> {
    let tags = of.caqm_tags.as_deref().copied().unwrap_or_default();
    let n = match field {
        "tags" => of.caqm,
        "requests" => tags.requests,
        "granted" => tags.granted,
        "refused" => tags.refused,
        "marked" => tags.marked,
        "feedback" => tags.feedback,
        _ => return None,
    };
    Some(n as f64)
}

fn rtt(of: &Rtt, field: &str) -> Option<f64> {
    let us = match field {
        "min" => of.min,
        "p50" => of.p50,
        "p95" => of.p95,
        "max" => of.max,
        "samples" => return Some(of.samples as f64),
        _ => return None,
    };
    (of.samples > 0).then_some(us.into())
}

fn acks(of: &Direction, field: &str) -> Option<f64> {
    let acks = &of.acks_sent;
    let n = match field {
        "total" => acks.total,
        "immediate" => acks.immediate,
        "second_segment" => acks.second_segment,
        "delayed" => acks.delayed,
        "piggybacked" => acks.piggybacked,
        "other" => acks.other,
        "first_delayed_segment" => acks.first_delayed_segment?,
        _ => {
            return match field.split_once('.')? {
                ("immediate_us", which) => spread(&acks.immediate_us, which, acks.immediate),
                ("delayed_us", which) => spread(&acks.delayed_us, which, acks.delayed),
                _ => None,
            };
        }
    };
    Some(n as f64)
}

/// Of so many waits.
fn spread(of: &Spread, which: &str, waits: u64) -> Option<f64> {
    let us = match which {
        "min" => of.min,
        "p50" => of.p50,
        "max" => of.max,
        _ => return None,
    };
    (waits > 0).then_some(us.into())
}

#[cfg(test)]
mod tests {
    use tcplab_analyze::report::AcksSent;
    use tcplab_plan::measure::PACKETS;

    use super::*;

    #[test]
    fn every_measure_of_packets_has_a_figure() {
        let both = Direction {
            unique_bytes: Some(0),
            max_in_flight_bytes: Some(0),
            ..Direction::default()
        };
        let of = Direction {
            rtt_us: Rtt {
                samples: 1,
                ..Rtt::default()
            },
            acks_sent: AcksSent {
                immediate: 1,
                delayed: 1,
                first_delayed_segment: Some(1),
                ..AcksSent::default()
            },
            ..both.clone()
        };
        for field in &PACKETS {
            let name = field.known.name;
            assert!(figure(&of, name).is_some(), "{name}");
            let of_samples = name.contains("_us.") && name != "rtt_us.samples";
            let needs = of_samples || name == "acks.first_delayed_segment";
            let nothing = figure(&both, name);
            assert_eq!(nothing, (!needs).then_some(0.0), "{name}");
        }
    }
}
