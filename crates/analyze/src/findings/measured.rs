//! How often findings were right on captures with known causes: figures of a campaign, never estimates.
//!
//! `docs/findings.md` says how the captures were made and how this table is written.

use super::Id;

/// Name, findings that were right, findings that were made.
const MEASURED: &[(&str, u32, u32)] = &[
    ("quickack_exhausted", 41, 41),
    ("delack_nagle", 213, 213),
    ("delack_request_response", 35, 35),
    ("rto_stall", 267, 282),
    ("spurious_rto", 120, 120),
    ("spurious_retransmission_reordering", 82, 83),
    ("syn_retries", 103, 103),
    ("zero_window_stall", 373, 373),
    ("tail_loss", 41, 41),
    ("black_hole", 122, 122),
    ("capture_artefacts", 6, 6),
    ("ack_loss", 12, 12),
    ("bufferbloat", 43, 43),
    ("congestion_loss", 55, 55),
    ("duplication", 17, 17),
    ("keepalive_death", 25, 25),
    ("loss", 685, 694),
    ("option_not_agreed", 24, 24),
    ("policer", 73, 131),
    ("random_loss", 63, 65),
    ("receive_window_limited", 99, 99),
    ("refused", 26, 26),
    ("reordering", 165, 167),
    ("reset", 101, 101),
    ("reset_by_middlebox", 52, 52),
    ("send_buffer_limited", 84, 84),
    ("slow_client", 42, 42),
    ("slow_server", 699, 699),
    ("slow_start", 62, 62),
    ("window_after_idle", 15, 15),
    ("window_scaling_off", 16, 16),
    ("accept_queue_overflow", 13, 14),
    ("ack_thinning", 48, 48),
    ("capture_clock_step", 48, 48),
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
