//! How often findings were right on captures with known causes: figures of a campaign, never estimates.
//!
//! `docs/findings.md` says how the captures were made and how this table is written.

use super::Id;

/// Name, findings that were right, findings that were made.
const MEASURED: &[(&str, u32, u32)] = &[
    ("quickack_exhausted", 86, 86),
    ("delack_nagle", 300, 301),
    ("delack_request_response", 23, 23),
    ("rto_stall", 215, 215),
    ("spurious_rto", 109, 109),
    ("spurious_retransmission_reordering", 103, 103),
    ("syn_retries", 160, 160),
    ("zero_window_stall", 350, 350),
    ("tail_loss", 56, 56),
    ("black_hole", 208, 208),
    ("capture_artefacts", 12, 12),
    ("ack_loss", 29, 29),
    ("bufferbloat", 65, 65),
    ("congestion_loss", 30, 36),
    ("duplication", 36, 36),
    ("keepalive_death", 39, 39),
    ("loss", 406, 414),
    ("option_not_agreed", 22, 22),
    ("policer", 53, 54),
    ("random_loss", 39, 39),
    ("receive_window_limited", 94, 94),
    ("refused", 50, 50),
    ("reordering", 173, 173),
    ("reset", 144, 144),
    ("reset_by_middlebox", 100, 100),
    ("send_buffer_limited", 24, 27),
    ("slow_client", 66, 66),
    ("slow_server", 654, 655),
    ("slow_start", 89, 89),
    ("window_after_idle", 31, 32),
    ("window_scaling_off", 33, 33),
    ("accept_queue_overflow", 22, 22),
    ("ack_thinning", 47, 47),
    ("capture_clock_step", 42, 42),
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
