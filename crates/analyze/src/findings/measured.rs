//! How often findings were right on captures with known causes: figures of a campaign, never estimates.
//!
//! `docs/findings.md` says how the captures were made and how this table is written.

use super::Id;

/// Name, findings that were right, findings that were made.
const MEASURED: &[(&str, u32, u32)] = &[
    ("quickack_exhausted", 18, 18),
    ("delack_nagle", 27, 27),
    ("delack_request_response", 9, 9),
    ("rto_stall", 24, 24),
    ("spurious_rto", 8, 13),
    ("spurious_retransmission_reordering", 5, 5),
    ("syn_retries", 23, 23),
    ("zero_window_stall", 36, 36),
    ("tail_loss", 17, 17),
    ("black_hole", 21, 21),
    ("capture_artefacts", 9, 9),
    ("ack_loss", 7, 7),
    ("bufferbloat", 6, 6),
    ("congestion_loss", 13, 13),
    ("duplication", 4, 4),
    ("keepalive_death", 8, 8),
    ("loss", 76, 76),
    ("option_not_agreed", 2, 2),
    ("policer", 16, 16),
    ("random_loss", 5, 5),
    ("receive_window_limited", 43, 43),
    ("refused", 18, 18),
    ("reordering", 34, 34),
    ("reset", 27, 27),
    ("reset_by_middlebox", 18, 18),
    ("send_buffer_limited", 18, 18),
    ("slow_client", 12, 12),
    ("slow_server", 59, 59),
    ("slow_start", 16, 16),
    ("window_after_idle", 18, 25),
    ("window_scaling_off", 15, 15),
];

/// The share of findings of this name that were right, by Laplace's rule: what was right 22 times of 22 may be wrong
/// the next time. `None`: nobody has measured it.
pub(crate) fn confidence(id: Id) -> Option<f64> {
    let &(_, right, made) = MEASURED.iter().find(|m| m.0 == id.name())?;
    Some((f64::from(right) + 1.0) / (f64::from(made) + 2.0))
}
