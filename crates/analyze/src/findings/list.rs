//! All detectors: a new one is a file, its `mod` line in `findings/mod.rs` and its row here.

use super::{
    Detector, Id, Need, accept_queue_overflow, ack_loss, ack_thinning, artefacts, black_hole,
    bufferbloat, caqm, clock_step, delayed_ack, duplication, keepalive_death, loss, no_answer,
    options, policer, quickack, receive_window, refused, releases::mss_boundary, reordered,
    reordering, reset, rto, send_buffer, slow_client, slow_server, slow_start, syn, tail_loss,
    time_wait_reuse, window_after_idle, zero_window,
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
    ack_thinning::DETECTOR,
    options::DETECTOR,
    policer::DETECTOR,
    reset::BY_MIDDLEBOX,
    reset::BY_END,
    clock_step::DETECTOR,
    artefacts::DETECTOR,
    // The two ends.
    slow_server::DETECTOR,
    no_answer::DETECTOR,
    accept_queue_overflow::DETECTOR,
    refused::DETECTOR,
    time_wait_reuse::DETECTOR,
    keepalive_death::DETECTOR,
    receive_window::LIMITED,
    receive_window::UNSCALED,
    send_buffer::DETECTOR,
    window_after_idle::DETECTOR,
    slow_start::DETECTOR,
    slow_client::DETECTOR,
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

/// What a finding has to see.
pub fn needs(id: &str) -> &'static [Need] {
    all().find(|d| d.id.name() == id).map_or(&[], |d| d.needs)
}

/// How many causes are looked for in every connection; those of CAQM are looked for only where it is spoken.
pub fn looked_for() -> usize {
    LIST.len()
}

/// What is known of a finding beyond a report: releases that have it.
pub fn releases(id: &str) -> Option<String> {
    (id == quickack::DETECTOR.id.name()).then(mss_boundary)
}

/// The table of all findings, as it stands in `docs/findings.md`.
pub fn table() -> String {
    let rows = all().map(|d| {
        let (id, severity, said) = (d.id.name(), d.severity, d.said_when);
        format!("| `{id}` | {severity} | {said} |\n")
    });
    rows.collect()
}
