//! Findings: what happened, why, how sure, and what to do about it. One file for each mechanism: a new one is a file, its
//! `mod` line and its row of the list below.
//!
//! A detector looks at one direction of one finished connection (the data of `sender`, the ACKs of
//! `receiver`) and says nothing unless the packets show the cause.

mod accept_queue_overflow;
mod ack_loss;
mod ack_thinning;
mod artefacts;
mod black_hole;
mod bufferbloat;
mod caqm;
mod clock_step;
mod delayed_ack;
mod detector;
mod duplication;
mod episodes;
mod finding;
mod icmp;
mod keepalive_death;
mod large_packets_missing;
mod limits;
mod loss;
mod measured;
mod needs;
mod no_answer;
mod options;
mod others_queue;
mod path_mtu;
mod policer;
pub mod proof;
mod quickack;
mod quiet;
mod receive_window;
mod refused;
mod releases;
mod reordered;
mod reordering;
mod reset;
mod route;
mod rto;
mod send_buffer;
mod shared_policer;
mod silence;
mod slow_client;
mod slow_server;
mod slow_start;
mod small_mss;
mod smaller_segments;
mod syn;
mod tail_loss;
mod time_wait_reuse;
mod token_bucket;
mod unreachable;
mod window_after_idle;
mod zero_window;

use tcplab_base::quantity::micros;
pub(crate) use tcplab_base::quantity::time as length;

use detector::Detector;
pub(crate) use detector::{Found, Side, of};
pub use finding::{Finding, Id, Severity};
pub(crate) use limits::Limits;
use needs::Missing;
pub use needs::{Lacks, Need, NotChecked};
pub use proof::Proof;
use releases::mss_boundary;
pub(crate) use shared_policer::Shared;

/// The detectors that look at each connection, in the order in which their findings are handed out.
static LIST: &[Detector] = &[
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
    large_packets_missing::DETECTOR,
    path_mtu::DETECTOR,
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
    reset::IGNORED,
    clock_step::DETECTOR,
    artefacts::DETECTOR,
    // The two ends.
    slow_server::DETECTOR,
    no_answer::DETECTOR,
    accept_queue_overflow::DETECTOR,
    refused::DETECTOR,
    unreachable::DETECTOR,
    time_wait_reuse::DETECTOR,
    keepalive_death::DETECTOR,
    receive_window::LIMITED,
    receive_window::UNSCALED,
    send_buffer::DETECTOR,
    window_after_idle::DETECTOR,
    slow_start::DETECTOR,
    slow_client::DETECTOR,
    small_mss::DETECTOR,
];

/// Those that look at connections that speak CAQM.
static CAQM: &[Detector] = &[
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
fn all() -> impl Iterator<Item = &'static Detector> {
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

/// Whether a finding of this id may be at least this severe: the detector's text names each severity that it gives
/// (`Found::run` checks it).
pub fn may_be(id: Id, least: Severity) -> bool {
    let text = all().find(|d| d.id == id).map_or("", |d| d.severity);
    let names = [
        (Severity::High, "high"),
        (Severity::Medium, "medium"),
        (Severity::Info, "info"),
    ];
    let mut as_severe = names.iter().filter(|(s, _)| *s <= least);
    as_severe.any(|(_, name)| text.contains(name))
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

/// The length of so many microseconds.
pub(crate) fn us(us: u32) -> String {
    micros(us.into())
}

/// `1 time`, `5 times`.
pub(crate) fn times(n: u64) -> String {
    if n == 1 {
        "once".to_owned()
    } else {
        format!("{n} times")
    }
}

/// Before the longest of so many lengths.
pub(crate) fn up_to(n: u64) -> &'static str {
    if n == 1 { "" } else { "up to " }
}

/// At most 16 packet numbers.
pub(crate) fn packets(numbers: impl IntoIterator<Item = u64>) -> Vec<u64> {
    numbers.into_iter().take(16).collect()
}
