//! How often findings were right on captures with known causes: figures of a campaign, never estimates.
//!
//! `docs/findings.md` says how the captures were made and how this table is written.

use super::Id;

/// Name, findings that were right, findings that were made.
const MEASURED: &[(&str, u32, u32)] = &[
    ("quickack_exhausted", 117, 117),
    ("delack_nagle", 333, 334),
    ("delack_request_response", 45, 45),
    ("rto_stall", 247, 249),
    ("spurious_rto", 161, 161),
    ("spurious_retransmission_reordering", 114, 114),
    ("syn_retries", 201, 201),
    ("zero_window_stall", 552, 552),
    ("tail_loss", 78, 83),
    ("black_hole", 269, 269),
    ("capture_artefacts", 37, 37),
    ("ack_loss", 51, 51),
    ("bufferbloat", 44, 44),
    ("congestion_loss", 54, 54),
    ("duplication", 71, 72),
    ("keepalive_death", 64, 64),
    ("loss", 831, 850),
    ("option_not_agreed", 41, 41),
    ("policer", 93, 93),
    ("random_loss", 93, 93),
    ("receive_window_limited", 154, 154),
    ("refused", 89, 89),
    ("reordering", 217, 220),
    ("reset", 193, 193),
    ("reset_by_middlebox", 139, 139),
    ("send_buffer_limited", 113, 113),
    ("slow_client", 107, 107),
    ("slow_server", 865, 866),
    ("slow_start", 161, 161),
    ("window_after_idle", 62, 62),
    ("window_scaling_off", 44, 44),
    ("accept_queue_overflow", 49, 49),
    ("ack_thinning", 86, 86),
    ("capture_clock_step", 70, 70),
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
