//! How often findings were right on captures with known causes: figures of a campaign, never estimates.
//!
//! `docs/findings.md` says how the captures were made and how this table is written.

use super::Id;

/// Name, findings that were right, findings that were made.
const MEASURED: &[(&str, u32, u32)] = &[
    ("quickack_exhausted", 111, 111),
    ("delack_nagle", 333, 335),
    ("delack_request_response", 33, 33),
    ("rto_stall", 347, 349),
    ("spurious_rto", 157, 161),
    ("spurious_retransmission_reordering", 52, 54),
    ("syn_retries", 258, 258),
    ("zero_window_stall", 661, 661),
    ("tail_loss", 81, 81),
    ("black_hole", 233, 233),
    ("capture_artefacts", 9, 9),
    ("ack_loss", 28, 28),
    ("bufferbloat", 127, 127),
    ("congestion_loss", 58, 58),
    ("duplication", 70, 70),
    ("keepalive_death", 64, 64),
    ("loss", 1127, 1137),
    ("option_not_agreed", 37, 37),
    ("policer", 424, 424),
    ("random_loss", 116, 118),
    ("receive_window_limited", 137, 137),
    ("refused", 88, 88),
    ("reordering", 206, 209),
    ("reset", 189, 189),
    ("reset_by_middlebox", 138, 138),
    ("send_buffer_limited", 121, 121),
    ("slow_client", 123, 123),
    ("slow_server", 797, 802),
    ("slow_start", 160, 160),
    ("window_after_idle", 61, 62),
    ("window_scaling_off", 60, 60),
    ("accept_queue_overflow", 46, 46),
    ("ack_thinning", 80, 80),
    ("capture_clock_step", 99, 99),
    ("no_answer", 98, 98),
    ("time_wait_reuse", 0, 1),
];

/// How many findings of a name weigh as much as all findings together: what was right 22 times of 22 may be wrong the
/// next time, but seldom so.
const WEIGHT: f64 = 2.0;

/// The share of findings of this name that were right, drawn towards the share of all findings the more the fewer there
/// were. `None`: nobody has measured it.
pub(crate) fn confidence(id: Id) -> Option<f64> {
    let &(_, right, made) = MEASURED.iter().find(|m| m.0 == id.name())?;
    Some((f64::from(right) + WEIGHT * share_of_all()) / (f64::from(made) + WEIGHT))
}

/// The share of all findings that were right.
fn share_of_all() -> f64 {
    let all = |of: fn(&(&str, u32, u32)) -> u32| -> u32 { MEASURED.iter().map(of).sum() };
    f64::from(all(|m| m.1)) / f64::from(all(|m| m.2).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_errors_is_less_sure_and_none_is_certain() {
        let all = share_of_all();
        assert!((0.9..1.0).contains(&all), "{all}");
        for &(name, right, made) in MEASURED {
            let id = Id::of(name).expect("the id of a finding");
            let stated = confidence(id).expect("it was measured");
            let own = f64::from(right) / f64::from(made);
            assert!(
                (own.min(all)..=own.max(all)).contains(&stated),
                "{name}: {stated}"
            );
        }
    }
}
