//! A queue that other connections fill, seen by one of requests and answers: its ACKs come later than any timer holds
//! them back, for a second or more.

use tcplab_base::Duration;

use super::{Finding, Need, Severity, Side, bufferbloat, length, packets, us};
use crate::conn::{Alone, HELD_US, STANDING_US};

/// A queue that stands for less is a spike.
const LONG: Duration = Duration::from_secs(1);

pub(super) fn find(side: &Side<'_>) -> Option<Finding> {
    let alone = side.sender.load()?.alone.as_deref()?;
    let idle = alone.least_us;
    // Without every packet an ACK that came earlier may be missing.
    let stood = alone.longest >= LONG && side.has(Need::EveryPacket);
    (stood && !is_another_path(alone, idle)).then(|| describe(side, alone, idle))
}

/// The wait was there from one message to the next: a queue takes time to fill.
fn is_another_path(alone: &Alone, idle: u32) -> bool {
    alone.leap_us >= STANDING_US
        && u64::from(alone.leap_us) * 2 >= u64::from(alone.worst_us.saturating_sub(idle))
}

fn describe(side: &Side<'_>, alone: &Alone, idle: u32) -> Finding {
    let (from, to) = (side.sender_end.ip, side.receiver_end.ip);
    let mut f = side.finding(bufferbloat::DETECTOR.id, Severity::High);
    f.packets = packets([alone.packet]);
    f.title = format!(
        "the round trip from {from} to {to} grows from {} to {}: packets wait in a long queue that others fill",
        us(idle),
        us(alone.worst_us)
    );
    f.cause = format!(
        "For {} the ACKs of {from}'s messages came up to {} after them. A receiver holds an ACK back for {} at most (Linux, Windows), so the path \
         took the rest, {} or more. {from} sends too little to fill a queue: other connections over the slowest link do \
         (\"bufferbloat\"), and everybody on that link waits as long.",
        length(alone.longest),
        us(alone.worst_us),
        us(HELD_US),
        us(alone.worst_us.saturating_sub(HELD_US))
    );
    f.remedy = vec![
        bufferbloat::AQM.to_owned(),
        format!(
            "Find what else is sent over the slowest link between {from} and {to} at that time (`iftop` on its router), \
             and limit it."
        ),
    ];
    f
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sudden_longer_path_is_no_queue() {
        let grows = Alone::of_waits(&[40, 40, 150, 270, 360, 430, 500, 540, 40]);
        assert!(!is_another_path(&grows, 40_000), "{grows:?}");
        let other = Alone::of_waits(&[40, 40, 540, 540, 540, 540]);
        assert!(
            other.longest >= LONG && is_another_path(&other, 40_000),
            "{other:?}"
        );
    }
}
