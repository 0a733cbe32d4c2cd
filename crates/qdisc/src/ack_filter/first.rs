//! The filter as it was first posted (version 8 of the patch, 2018-05-04): it looks at no option but the presence of
//! SACK, and not at ECE and CWR.

use super::AckHeader;

/// See [`super::redundant`].
pub(super) fn redundant<'a, T: Copy>(
    queue: impl Iterator<Item = (T, Option<&'a AckHeader>)>,
    trigger: &AckHeader,
    aggressive: bool,
) -> Option<T> {
    let mut eligible = queue.filter_map(|(place, header)| {
        let header = header.filter(|header| header.same_flow(trigger))?;
        may_drop(header, trigger).then_some(place)
    });
    let first = eligible.next()?;
    (aggressive || eligible.next().is_some()).then_some(first)
}

/// Whether its number is lower, or the trigger has the same and SACKs anything.
fn may_drop(header: &AckHeader, trigger: &AckHeader) -> bool {
    let flags = header.flags & !(AckHeader::ECE | AckHeader::CWR | AckHeader::NS);
    if flags != AckHeader::ACK || !header.no_payload {
        return false;
    }
    header.ack.before(trigger.ack) || (header.ack == trigger.ack && trigger.options.has_sack)
}
