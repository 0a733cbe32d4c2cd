//! All detectors: a new one is a file, its `mod` line in `findings/mod.rs` and its row here.

use super::{
    Detector, Id, ack_loss, artefacts, black_hole, bufferbloat, caqm, delayed_ack, duplication,
    loss, options, policer, quickack, reordered, reordering, reset, rto, syn, tail_loss,
    zero_window,
};

/// The detectors that look at each connection, in the order in which their findings are handed out.
pub(super) static LIST: &[Detector] = &[
    quickack::DETECTOR,
    delayed_ack::NAGLE,
    delayed_ack::HELD,
    rto::STALL,
    rto::SPURIOUS,
    reordering::DETECTOR,
    syn::DETECTOR,
    zero_window::DETECTOR,
    tail_loss::DETECTOR,
    black_hole::DETECTOR,
    // The path.
    loss::QUEUE,
    loss::RANDOM,
    loss::UNTOLD,
    bufferbloat::DETECTOR,
    reordered::DETECTOR,
    duplication::DETECTOR,
    ack_loss::DETECTOR,
    options::DETECTOR,
    policer::DETECTOR,
    reset::BY_MIDDLEBOX,
    reset::BY_END,
    artefacts::DETECTOR,
];

/// Those that look at connections that speak CAQM.
pub(super) static CAQM: &[Detector] = &[
    caqm::both_bits::DETECTOR,
    caqm::feedback::DETECTOR,
    caqm::no_switch::DETECTOR,
    caqm::congestion::DETECTOR,
    caqm::one_sided::DETECTOR,
    caqm::unnegotiated::DETECTOR,
    caqm::oversize::DETECTOR,
    caqm::accecn::DETECTOR,
];

/// Every detector, those of CAQM last.
pub(super) fn all() -> impl Iterator<Item = &'static Detector> {
    LIST.iter().chain(CAQM)
}

/// The names of all findings.
pub fn ids() -> impl Iterator<Item = Id> {
    all().map(|d| d.id)
}

/// When a finding is said, and how severe it is, as in `docs/findings.md`.
pub fn about(id: &str) -> Option<(&'static str, &'static str)> {
    let detector = all().find(|d| d.id.name() == id)?;
    Some((detector.severity, detector.said_when))
}

/// The table of all findings, as it stands in `docs/findings.md`.
pub fn table() -> String {
    let rows = all().map(|d| {
        let (id, severity, said) = (d.id.name(), d.severity, d.said_when);
        format!("| `{id}` | {severity} | {said} |\n")
    });
    rows.collect()
}
