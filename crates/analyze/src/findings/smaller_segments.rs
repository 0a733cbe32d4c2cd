//! A sender gets around a path-MTU black hole: what was sent in full segments without an ACK arrives in smaller ones
//! (RFC 4821; Linux `net.ipv4.tcp_mtu_probing`).

use tcplab_base::Duration;

use crate::conn::{Dir, Record};

/// A silence that two timeouts make at least (RFC 6298 2.1, 5.5: 1 s, then 2 s).
const LONG: Duration = Duration::from_secs(3);
/// So many timeouts before the segments become smaller: Linux probes after `tcp_retries1` of them, three.
const ENOUGH: u32 = 2;

/// Whether smaller segments ended this episode of `sender`: its full ones were too large for the path, not lost.
pub(super) fn is_cure(sender: &Dir, receiver: &Dir, r: &Record) -> bool {
    [is_failed_probe, at_sender, at_receiver]
        .iter()
        .any(|is| is(sender, receiver, r))
}

/// So much had been ACKed before the episode that a full segment was among it.
fn full_passed(sender: &Dir, receiver: &Dir, r: &Record) -> bool {
    let full = sender.mss_bound(receiver.mss);
    full.is_none_or(|full| r.passed >= u64::from(full))
}

/// A sender that knows of a smaller MTU tried a larger segment, and sent its data again in smaller ones.
fn is_failed_probe(sender: &Dir, receiver: &Dir, r: &Record) -> bool {
    let knows = sender.found_size().is_some() && full_passed(sender, receiver, r);
    r.smaller && r.timeouts == 0 && knows && r.duration.is_some()
}

/// Full segments went out again and again, none of which had ever been ACKed, and then smaller ones.
pub(super) fn at_sender(sender: &Dir, receiver: &Dir, r: &Record) -> bool {
    let untold = !r.too_big && !full_passed(sender, receiver, r);
    r.smaller && r.timeouts >= ENOUGH && untold && r.duration.is_some()
}

/// After a long silence, the data came in smaller segments. No full segment ever came, though the sender's own
/// interface takes them.
pub(super) fn at_receiver(sender: &Dir, receiver: &Dir, r: &Record) -> bool {
    let own = sender.mss.zip(receiver.mss);
    let full = sender.mss_bound(receiver.mss);
    let none_came = full.is_some_and(|full| sender.max_payload < full);
    let larger = own.is_some_and(|(own, peer)| own >= peer);
    let is_first = !full_passed(sender, receiver, r) && r.duration.is_some();
    let silent = r.longest_idle >= LONG || silence(sender, receiver) >= Some(LONG);
    none_came && larger && is_first && silent && sender.found_size().is_some()
}

/// How long the receiver had waited for the first data since its own first data: its request.
pub(super) fn silence(sender: &Dir, receiver: &Dir) -> Option<Duration> {
    let (data, request) = (sender.first_data.get()?, receiver.first_data.get()?);
    Some(data.since(request))
}

/// The first episode of the sender of which `of` is true.
pub(super) fn first<'a>(
    sender: &'a Dir,
    receiver: &Dir,
    of: fn(&Dir, &Dir, &Record) -> bool,
) -> Option<&'a Record> {
    let ended = &sender.loss.as_deref()?.episodes.ended;
    ended.iter().find(|r| of(sender, receiver, r))
}
