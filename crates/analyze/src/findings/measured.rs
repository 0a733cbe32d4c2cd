//! How often findings were right on captures with known causes: figures of a campaign, never estimates.
//!
//! `docs/findings.md` says how the captures were made and how this table is written.

use super::Id;

/// Name, findings that were right, findings that were made.
const MEASURED: &[(&str, u32, u32)] = &[
    ("quickack_exhausted", 111, 111),
    ("delack_nagle", 334, 334),
    ("delack_request_response", 32, 35),
    ("rto_stall", 385, 385),
    ("spurious_rto", 161, 161),
    ("spurious_retransmission_reordering", 79, 79),
    ("syn_retries", 274, 274),
    ("zero_window_stall", 659, 659),
    ("tail_loss", 62, 62),
    ("black_hole", 243, 243),
    ("capture_artefacts", 19, 19),
    ("ack_loss", 61, 61),
    ("bufferbloat", 120, 120),
    ("congestion_loss", 69, 71),
    ("duplication", 70, 70),
    ("keepalive_death", 65, 65),
    ("loss", 1131, 1140),
    ("option_not_agreed", 45, 45),
    ("policer", 399, 399),
    ("random_loss", 146, 151),
    ("receive_window_limited", 150, 150),
    ("refused", 93, 93),
    ("reordering", 229, 234),
    ("reset", 177, 177),
    ("reset_by_middlebox", 150, 150),
    ("send_buffer_limited", 107, 107),
    ("slow_client", 135, 135),
    ("slow_server", 926, 933),
    ("slow_start", 161, 161),
    ("window_after_idle", 63, 63),
    ("window_scaling_off", 49, 49),
    ("accept_queue_overflow", 45, 45),
    ("ack_thinning", 103, 103),
    ("capture_clock_step", 88, 88),
    ("no_answer", 100, 100),
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
