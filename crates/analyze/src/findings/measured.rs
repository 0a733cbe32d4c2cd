//! How often findings were right on captures with known causes: figures of a campaign, never estimates.
//!
//! `docs/findings.md` says how the captures were made and how this table is written.

use super::Id;

/// Name, findings that were right, findings that were made.
const MEASURED: &[(&str, u32, u32)] = &[
    ("quickack_exhausted", 59, 59),
    ("delack_nagle", 72, 72),
    ("delack_request_response", 35, 35),
    ("rto_stall", 31, 31),
    ("spurious_rto", 22, 22),
    ("spurious_retransmission_reordering", 40, 40),
    ("syn_retries", 22, 22),
    ("zero_window_stall", 43, 43),
    ("tail_loss", 30, 30),
    ("black_hole", 28, 28),
    ("capture_artefacts", 43, 43),
];

/// The share of findings of this name that were right, by Laplace's rule: what was right 22 times of 22 may be wrong
/// the next time. `None`: nobody has measured it.
pub(crate) fn confidence(id: Id) -> Option<f64> {
    let &(_, right, made) = MEASURED.iter().find(|m| m.0 == id.name())?;
    Some((f64::from(right) + 1.0) / (f64::from(made) + 2.0))
}
