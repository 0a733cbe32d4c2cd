//! The ACK filter of CAKE: a queued ACK that later ones make redundant gives way.
//!
//! It looks at the queue of one flow when a packet has been added: at most one ACK leaves, never the one that came.
//! Three versions: the mainline one (`cake_ack_filter`), the first one posted, and a naive one to compare them with.

mod bytes;
mod first;
mod header;
mod mainline;
mod naive;

pub use header::{AckHeader, AckOptions};

use crate::kinds::AckFilter;

/// Which of the packets in `queue` gives way to the trigger; `queue` is the flow's, head first, without the trigger.
/// A packet that is no TCP segment has no header.
pub fn redundant<'a, T: Copy>(
    filter: AckFilter,
    queue: impl Iterator<Item = (T, Option<&'a AckHeader>)>,
    trigger: &AckHeader,
) -> Option<T> {
    if !trigger.is_trigger() {
        return None;
    }
    match filter {
        AckFilter::Off => None,
        AckFilter::Conservative => mainline::redundant(queue, trigger, false),
        AckFilter::Aggressive => mainline::redundant(queue, trigger, true),
        AckFilter::First => first::redundant(queue, trigger, false),
        AckFilter::FirstAggressive => first::redundant(queue, trigger, true),
        AckFilter::Naive => naive::redundant(queue, trigger),
    }
}

#[cfg(test)]
mod tests;
