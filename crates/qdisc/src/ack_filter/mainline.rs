//! The filter of Linux since 4.19 (`cake_ack_filter`).

use std::cmp::Ordering;

use tcplab_base::Seq;

use super::AckHeader;

/// See [`super::redundant`].
pub(super) fn redundant<'a, T: Copy>(
    queue: impl Iterator<Item = (T, Option<&'a AckHeader>)>,
    trigger: &AckHeader,
    aggressive: bool,
) -> Option<T> {
    // The eligible ACK next to the head, and whether it is the last packet so far.
    let mut eligible: Option<(T, u16)> = None;
    let mut is_last = false;
    let mut found = 0;
    for (place, header) in queue {
        is_last = false;
        let Some(header) = header.filter(|header| header.same_flow(trigger)) else {
            continue;
        };
        // Where ECE or CWR change, the ACK before the change says something.
        if eligible.is_some_and(|(_, ecn)| ecn != header.ecn()) {
            eligible = None;
            found -= 1;
        }
        if !may_drop(header, trigger) {
            continue;
        }
        if eligible.is_none() {
            eligible = Some((place, header.ecn()));
            is_last = true;
        }
        found += 1;
        if found > 1 {
            return eligible.map(|(place, _)| place);
        }
    }
    let (place, ecn) = eligible?;
    (aggressive && is_last && ecn == trigger.ecn()).then_some(place)
}

/// Whether all that this ACK says, the trigger says too.
fn may_drop(header: &AckHeader, trigger: &AckHeader) -> bool {
    // Flags must be ACK alone; the caller compares ECE and CWR.
    let flags = header.flags & !(AckHeader::ECE | AckHeader::CWR);
    if flags != AckHeader::ACK || !header.no_payload || !header.options.are_harmless {
        return false;
    }
    if header.ack.after(trigger.ack) || !stamps_are_older(header, trigger) {
        return false;
    }
    match compare_sack(header, trigger) {
        None => false,
        Some(Ordering::Equal) => header.ack != trigger.ack,
        Some(_) => true,
    }
}

/// Whether no time stamp is newer than the trigger's. A trigger without time stamps counts as 0, 0.
fn stamps_are_older(header: &AckHeader, trigger: &AckHeader) -> bool {
    let (value, echo) = trigger.options.stamps().first().copied().unwrap_or((0, 0));
    let is_after = |a: u32, b: u32| Seq(a).after(Seq(b));
    let newer = |stamp: &(u32, u32)| is_after(stamp.0, value) || is_after(stamp.1, echo);
    !header.options.stamps().iter().any(newer)
}

/// Whether the trigger SACKs as much as the header or more. `None`: the header SACKs data that the trigger does not,
/// or reports a segment that came twice (RFC 2883).
fn compare_sack(header: &AckHeader, trigger: &AckHeader) -> Option<Ordering> {
    match (header.options.has_blocks(), trigger.options.has_blocks()) {
        (true, false) => return None,
        (false, true) => return Some(Ordering::Less),
        (false, false) => return Some(Ordering::Equal),
        (true, true) => {}
    }
    let bytes = |(begin, end): (Seq, Seq)| end - begin;
    let mut own = 0_u32;
    for (begin, end) in header.options.blocks() {
        if begin.before(header.ack) {
            return None;
        }
        own = own.wrapping_add(bytes((begin, end)));
        let covers = |(b, e): (Seq, Seq)| !b.after(begin) && !e.before(end);
        if !trigger.options.blocks().any(covers) {
            return None;
        }
    }
    let of_trigger = trigger
        .options
        .blocks()
        .map(bytes)
        .fold(0, u32::wrapping_add);
    Some(match of_trigger > own {
        true => Ordering::Less,
        false => Ordering::Equal,
    })
}
