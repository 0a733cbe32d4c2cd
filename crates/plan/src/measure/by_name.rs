//! What the values of a measure are, by its name: for results, which have names and no experiment.
//!
//! Every name is looked up as a whole; no ending of a name says anything.

use super::known::{APP, Known, LINK, LOG, PACKETS, RUN, SAMPLES};
use super::unit::Direction::{self, Less, More, Neither};
use super::unit::{Unit, Values, bytes, count, packets, rate, segments, time};
use super::{is_counter, is_of_card, is_tcp_info};
use crate::set::{PING, STATISTICS};

const COUNTER: Direction =
    Neither("the kernel counts events; which are good depends on the experiment");
const STATE: Direction = Neither("it is the connection's state at its end");

/// Counters of the kernel that are beyond doubt: less is better. All others are [`COUNTER`].
pub static COUNTERS: [(&str, Values); 18] = [
    ("TcpRetransSegs", segments(Less)),
    ("TcpInErrs", segments(Less)),
    ("TcpExtTCPTimeouts", count(Less)),
    ("TcpExtTCPSpuriousRTOs", count(Less)),
    ("TcpExtListenOverflows", count(Less)),
    ("TcpExtListenDrops", count(Less)),
    ("TcpExtTCPTimeWaitOverflow", count(Less)),
    ("TcpExtTCPAbortOnTimeout", count(Less)),
    ("TcpExtTCPAbortOnMemory", count(Less)),
    ("TcpExtTCPSynRetrans", segments(Less)),
    ("TcpExtTCPLostRetransmit", segments(Less)),
    ("TcpExtTCPRetransFail", count(Less)),
    ("TcpAttemptFails", count(Less)),
    ("TcpInCsumErrors", segments(Less)),
    ("UdpInErrors", count(Less)),
    ("UdpInCsumErrors", count(Less)),
    ("UdpRcvbufErrors", count(Less)),
    ("UdpSndbufErrors", count(Less)),
];

/// Fields of tcp_info by what they hold.
pub static TCP_INFO: [(Values, &[&str]); 12] = [
    (
        time(Unit::Microseconds, Less),
        &["tcpi_rtt", "tcpi_rttvar", "tcpi_rcv_rtt", "tcpi_min_rtt"],
    ),
    (
        time(Unit::Microseconds, STATE),
        &[
            "tcpi_rto",
            "tcpi_ato",
            "tcpi_busy_time",
            "tcpi_rwnd_limited",
            "tcpi_sndbuf_limited",
        ],
    ),
    (
        time(Unit::Milliseconds, STATE),
        &[
            "tcpi_last_data_sent",
            "tcpi_last_ack_sent",
            "tcpi_last_data_recv",
            "tcpi_last_ack_recv",
        ],
    ),
    (time(Unit::Milliseconds, Less), &["tcpi_total_rto_time"]),
    (
        rate(Unit::BytesPerSecond, STATE),
        &[
            "tcpi_pacing_rate",
            "tcpi_max_pacing_rate",
            "tcpi_delivery_rate",
        ],
    ),
    (
        bytes(STATE),
        &[
            "tcpi_snd_mss",
            "tcpi_rcv_mss",
            "tcpi_pmtu",
            "tcpi_rcv_ssthresh",
            "tcpi_advmss",
            "tcpi_rcv_space",
            "tcpi_bytes_acked",
            "tcpi_bytes_received",
            "tcpi_notsent_bytes",
            "tcpi_bytes_sent",
            "tcpi_snd_wnd",
            "tcpi_rcv_wnd",
            "tcpi_delivered_e1_bytes",
            "tcpi_delivered_e0_bytes",
            "tcpi_delivered_ce_bytes",
            "tcpi_received_e1_bytes",
            "tcpi_received_e0_bytes",
            "tcpi_received_ce_bytes",
        ],
    ),
    (bytes(Less), &["tcpi_bytes_retrans"]),
    (segments(Less), &["tcpi_total_retrans"]),
    (
        segments(STATE),
        &[
            "tcpi_unacked",
            "tcpi_sacked",
            "tcpi_lost",
            "tcpi_retrans",
            "tcpi_fackets",
            "tcpi_snd_ssthresh",
            "tcpi_snd_cwnd",
            "tcpi_reordering",
            "tcpi_segs_out",
            "tcpi_segs_in",
            "tcpi_data_segs_in",
            "tcpi_data_segs_out",
            "tcpi_delivered",
            "tcpi_delivered_ce",
            "tcpi_rcv_ooopack",
            "tcpi_received_ce",
        ],
    ),
    (
        count(Less),
        &["tcpi_total_rto", "tcpi_total_rto_recoveries"],
    ),
    (
        count(Neither(
            "it describes what TCP did; either direction may be right",
        )),
        &["tcpi_dsack_dups", "tcpi_reord_seen", "tcpi_rehash"],
    ),
    (
        count(STATE),
        &[
            "tcpi_state",
            "tcpi_ca_state",
            "tcpi_retransmits",
            "tcpi_probes",
            "tcpi_backoff",
            "tcpi_options",
            "tcpi_snd_wscale",
            "tcpi_rcv_wscale",
            "tcpi_delivery_rate_app_limited",
            "tcpi_fastopen_client_fail",
        ],
    ),
];

/// The unit and kind of a measure's values; `None` for an unknown name.
pub fn values_of(name: &str) -> Option<Values> {
    let (owner, field) = name.split_once('.')?;
    match owner {
        "run" => of(&RUN, field),
        "link" => {
            let mut parts = field.splitn(3, '.');
            let (_, way, field) = (parts.next()?, parts.next()?, parts.next()?);
            of(&LINK, field).filter(|_| ["a_to_b", "b_to_a"].contains(&way))
        }
        _ => packets_of(field)
            .or_else(|| of(&APP, field))
            .or_else(|| of_end(field))
            .or_else(|| of_series(field))
            .or_else(|| of_host(field)),
    }
}

fn of(known: &[Known], field: &str) -> Option<Values> {
    let found = known.iter().find(|known| known.name == field);
    found.map(|known| known.values)
}

fn packets_of(field: &str) -> Option<Values> {
    let found = PACKETS.iter().find(|of| of.known.name == field);
    found.map(|of| of.known.values)
}

fn of_end(field: &str) -> Option<Values> {
    let ends = ["client.", "server."].into_iter();
    let field = ends.filter_map(|end| field.strip_prefix(end)).next()?;
    of(&LOG, field).or_else(|| tcp_info(field))
}

/// A statistic of a set's series: flent's names have a space.
fn of_series(field: &str) -> Option<Values> {
    let (series, statistic) = field.rsplit_once('.')?;
    let is_one = series.contains(' ') && STATISTICS.iter().any(|(name, _)| *name == statistic);
    is_one.then(|| match (statistic, series.starts_with(PING)) {
        ("points", _) => count(SAMPLES),
        (_, true) => time(Unit::Milliseconds, Less),
        (_, false) => rate(Unit::MegabitsPerSecond, More),
    })
}

fn of_host(field: &str) -> Option<Values> {
    let counter = COUNTERS.iter().find(|(name, _)| *name == field);
    match counter {
        Some((_, values)) => Some(*values),
        None if is_tcp_info(field) => tcp_info(field),
        None if is_of_card(field) => Some(of_card(field)),
        None => is_counter(field).then_some(count(COUNTER)),
    }
}

fn tcp_info(field: &str) -> Option<Values> {
    let found = TCP_INFO.iter().find(|(_, names)| names.contains(&field));
    found.map(|(values, _)| *values)
}

/// A counter of a network card: those of a queue have units, what others count only the driver knows.
fn of_card(field: &str) -> Values {
    let of_queue = field
        .strip_prefix("rx_queue_")
        .and_then(|rest| rest.split_once('_'))
        .filter(|(number, _)| number.bytes().all(|b| b.is_ascii_digit()));
    match of_queue {
        Some((_, "packets" | "drops")) => packets(COUNTER),
        Some((_, "bytes")) => bytes(COUNTER),
        _ => count(COUNTER),
    }
}

#[cfg(test)]
mod tests {
    use super::super::unit::{Better, Described, Kind};
    use super::*;

    /// Every measure that has a name, and its values.
    fn all() -> Vec<(String, Values)> {
        let owned = |owner: &str, known: &'static [Known]| {
            let name = |of: &Known| (format!("{owner}.{}", of.name), of.values);
            known.iter().map(name).collect::<Vec<_>>()
        };
        let mut all: Vec<(String, Values)> = Vec::new();
        all.extend(owned("app", &APP));
        all.extend(owned("app.client", &LOG));
        all.extend(owned("link.a-b.a_to_b", &LINK));
        all.extend(owned("run", &RUN));
        let packets = PACKETS.iter();
        all.extend(packets.map(|of| (format!("host.{}", of.known.name), of.known.values)));
        all.extend(COUNTERS.map(|(name, values)| (format!("host.{name}"), values)));
        for (values, names) in TCP_INFO {
            all.extend(names.iter().map(|name| (format!("host.{name}"), values)));
            let ends = names
                .iter()
                .map(|name| (format!("app.server.{name}"), values));
            all.extend(ends);
        }
        for (statistic, _) in STATISTICS {
            for series in ["TCP download sum", "Ping (ms) avg"] {
                let name = format!("rrul.{series}.{statistic}");
                let values = values_of(&name).unwrap_or_else(|| panic!("{name}"));
                all.push((name, values));
            }
        }
        all
    }

    #[test]
    fn every_known_measure_has_a_unit_a_kind_and_a_direction() {
        let all = all();
        assert!(all.len() > 200, "{}", all.len());
        for (name, values) in all {
            assert_eq!(values_of(&name), Some(values), "{name}");
            let right = match values.unit {
                Unit::Number => matches!(values.kind, Kind::Count | Kind::Share),
                Unit::Segments | Unit::Packets => values.kind == Kind::Count,
                Unit::Bytes => values.kind == Kind::Size,
                Unit::BitsPerSecond
                | Unit::MegabitsPerSecond
                | Unit::GigabitsPerSecond
                | Unit::BytesPerSecond => values.kind == Kind::Rate,
                Unit::Microseconds | Unit::Milliseconds | Unit::Seconds => {
                    values.kind == Kind::Duration
                }
            };
            assert!(right, "{name}: {values:?}");
            if let Neither(why) = values.direction {
                assert!(why.contains(' '), "{name} says no reason");
            }
        }
    }

    #[test]
    fn a_name_counts_as_a_whole() {
        for (name, unit, better) in [
            ("flow.retransmissions.total", "segments", Better::Lower),
            ("flow.retransmissions.rto", "segments", Better::Lower),
            ("a.latency_us.p99", "us", Better::Lower),
            ("rrul.TCP totals.mean", "Mbit/s", Better::Higher),
            ("rrul.Ping (ms) avg.p99", "ms", Better::Lower),
            ("rrul.Ping (ms) avg.points", "", Better::Neither),
            ("link.a-b.b_to_a.queue_mean_bytes", "B", Better::Neither),
            ("host.TcpRetransSegs", "segments", Better::Lower),
            ("host.TcpExtDelayedACKs", "", Better::Neither),
            ("host.rx_queue_12_bytes", "B", Better::Neither),
            ("host.tcpi_snd_cwnd", "segments", Better::Neither),
        ] {
            let found = Described::of(name);
            assert_eq!((found.unit.name(), found.better), (unit, better), "{name}");
            assert!(found.kind.is_some(), "{name}");
        }
        // Endings that once were guessed at.
        for name in [
            "flow.my_bps",
            "host.total_us",
            "link.a-b.queue_p50_bytes",
            "host.tcpi_future_field",
            "goodput_bps",
            "run.goodput_bps",
        ] {
            let unknown = Described::of(name);
            assert_eq!(unknown.kind, None, "{name}");
            assert_eq!(
                (unknown.unit, unknown.better),
                (Unit::Number, Better::Neither)
            );
        }
    }
}
