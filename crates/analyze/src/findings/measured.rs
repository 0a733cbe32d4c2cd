//! How often findings were right on captures with known causes: figures of a campaign, never estimates.
//!
//! `docs/findings.md` says how the captures were made and how this table is written.

use super::Id;

/// Name, findings that were right, findings that were made.
const MEASURED: &[(&str, u32, u32)] = &[
    ("quickack_exhausted", 18, 18),
    ("delack_nagle", 63, 63),
    ("delack_request_response", 9, 9),
    ("rto_stall", 60, 60),
    ("spurious_rto", 24, 24),
    ("spurious_retransmission_reordering", 6, 6),
    ("syn_retries", 41, 41),
    ("zero_window_stall", 69, 69),
    ("tail_loss", 15, 15),
    ("black_hole", 38, 38),
    ("capture_artefacts", 9, 9),
    ("ack_loss", 7, 7),
    ("bufferbloat", 14, 14),
    ("congestion_loss", 10, 12),
    ("duplication", 12, 12),
    ("keepalive_death", 8, 8),
    ("loss", 145, 145),
    ("option_not_agreed", 11, 11),
    ("policer", 21, 21),
    ("random_loss", 14, 14),
    ("receive_window_limited", 51, 51),
    ("refused", 18, 18),
    ("reordering", 55, 55),
    ("reset", 27, 27),
    ("reset_by_middlebox", 18, 18),
    ("send_buffer_limited", 18, 21),
    ("slow_client", 15, 15),
    ("slow_server", 141, 141),
    ("slow_start", 54, 54),
    ("window_after_idle", 18, 18),
    ("window_scaling_off", 18, 18),
    ("accept_queue_overflow", 6, 6),
    ("ack_thinning", 12, 12),
    ("capture_clock_step", 9, 9),
];

/// The share of findings of this name that were right, by Laplace's rule: what was right 22 times of 22 may be wrong
/// the next time. `None`: nobody has measured it.
pub(crate) fn confidence(id: Id) -> Option<f64> {
    let &(_, right, made) = MEASURED.iter().find(|m| m.0 == id.name())?;
    Some((f64::from(right) + 1.0) / (f64::from(made) + 2.0))
}
