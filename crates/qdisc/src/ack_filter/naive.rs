//! A filter with one pointer for each flow: the last packet's ACK gives way to the next one.
//!
//! What modems do that keep state for a flow and do not look into the queue. Numbers only: duplicate ACKs, which fast
//! retransmission counts (RFC 5681 3.2), and marks of ECN are lost.

use super::AckHeader;

/// See [`super::redundant`].
pub(super) fn redundant<'a, T: Copy>(
    queue: impl Iterator<Item = (T, Option<&'a AckHeader>)>,
    trigger: &AckHeader,
) -> Option<T> {
    let (place, header) = queue.last()?;
    let header = header.filter(|header| header.same_flow(trigger))?;
    let is_plain = |header: &AckHeader| header.flags & 0x3f == AckHeader::ACK && header.no_payload;
    let gives_way = is_plain(header) && is_plain(trigger) && !header.ack.after(trigger.ack);
    gives_way.then_some(place)
}
