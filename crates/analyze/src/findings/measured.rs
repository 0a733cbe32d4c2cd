//! How often findings were right on captures with known causes: figures of a campaign, never estimates.
//!
//! `docs/findings.md` says how the captures were made and how this table is written.

use super::Id;

/// Name, findings that were right, findings that were made.
const MEASURED: &[(&str, u32, u32)] = &[
    ("quickack_exhausted", 121, 121),
    ("delack_nagle", 336, 336),
    ("delack_request_response", 41, 42),
    ("rto_stall", 350, 350),
    ("spurious_rto", 146, 151),
    ("spurious_retransmission_reordering", 94, 94),
    ("syn_retries", 243, 243),
    ("zero_window_stall", 629, 629),
    ("tail_loss", 74, 74),
    ("black_hole", 268, 268),
    ("capture_artefacts", 31, 31),
    ("ack_loss", 64, 65),
    ("bufferbloat", 122, 122),
    ("congestion_loss", 64, 64),
    ("duplication", 68, 68),
    ("keepalive_death", 54, 54),
    ("loss", 1186, 1203),
    ("option_not_agreed", 41, 41),
    ("policer", 327, 328),
    ("random_loss", 129, 137),
    ("receive_window_limited", 148, 148),
    ("refused", 84, 84),
    ("reordering", 207, 215),
    ("reset", 206, 206),
    ("reset_by_middlebox", 143, 143),
    ("send_buffer_limited", 111, 115),
    ("slow_client", 111, 111),
    ("slow_server", 861, 866),
    ("slow_start", 171, 171),
    ("window_after_idle", 63, 64),
    ("window_scaling_off", 49, 49),
    ("accept_queue_overflow", 39, 39),
    ("ack_thinning", 109, 109),
    ("capture_clock_step", 77, 77),
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
