//! A token bucket that explains the losses of one connection, or of several that share a path.
//!
//! The losses alone do not tell a policer from a queue as long as the bucket: before a queue drops, its packets wait for
//! all of it. Behind a queue packets come at its rate; a policer lets them pass as they were sent.

use std::net::IpAddr;

use super::{Side, packets, policer};
use crate::conn::{Bucket, Dir, Events, Passed};

/// The share of the losses that found the bucket empty, and how many packets passed without room for them, for each loss.
const EXPLAINED: f64 = 0.8;
const OVER: f64 = 0.05;
/// The share that is enough where the rate between losses shows as well.
const HALF: f64 = 0.5;
/// So many moments of loss, and how much less likely chance is (a logarithm).
const MOMENTS: usize = 9;
const UNLIKELY: f64 = 9.0;
/// A bucket of fewer full packets drops what any jitter brings close together.
const PACKETS: f64 = 3.5;
/// Behind the losses so many packets come in half of the time that they take at the rate.
const BURSTS: f64 = 0.2;
/// From here on losses look like those of a bucket, though they do not prove it.
const LIKE: f64 = 6.0;
/// So many packets of a connection passed while the others were there.
const AT_ONCE: usize = 50;
/// Episodes are listed up to a bound, so more repairs may be missing.
const LISTED: usize = 128;

/// The bucket that this side's losses prove.
pub(super) fn of(side: &Side<'_>) -> Option<Bucket> {
    let bucket = side.sender.load()?.bucket.filter(is_proven)?;
    let repaired: u32 = policer::counts(side).sum();
    let wait = waits(side.sender)[usize::from(bucket.behind)];
    (were_lost(repaired, &bucket) && is_unqueued(wait, &bucket)).then_some(bucket)
}

/// These losses do not prove a bucket, but chance would hardly leave them.
pub(super) fn looks_alike(side: &Side<'_>) -> bool {
    let bucket = side.sender.load().and_then(|l| l.bucket);
    bucket.is_some_and(|b| is_like(&b))
}

/// A bucket explains more of this side's losses than chance, though others may have had another cause.
pub(super) fn explains_half(side: &Side<'_>) -> bool {
    let bucket = side.sender.load().and_then(|l| l.bucket);
    bucket.is_some_and(|b| is_half(&b))
}

fn is_half(b: &Bucket) -> bool {
    b.explained >= HALF && b.over <= OVER && b.weight() >= UNLIKELY
}

fn is_like(b: &Bucket) -> bool {
    fits(b) && b.weight() >= LIKE
}

/// One of several connections that may share a bucket.
#[derive(Clone, Debug)]
pub(crate) struct Lossy {
    pub stream: u32,
    pub from: IpAddr,
    pub to: IpAddr,
    /// A bucket of its own explains it.
    pub alone: bool,
    pub packets: Vec<u64>,
    passed: Box<Passed>,
    repaired: u32,
    waits: [Option<u32>; 2],
}

impl Lossy {
    /// One that lost nothing.
    #[cfg(test)]
    pub(super) fn empty(stream: u32, [from, to]: [IpAddr; 2]) -> Self {
        Self {
            stream,
            from,
            to,
            alone: false,
            packets: Vec::new(),
            passed: Box::default(),
            repaired: 0,
            waits: [None; 2],
        }
    }

    pub(super) fn of(side: &Side<'_>) -> Option<Self> {
        let passed = side.sender.load()?.passed.as_ref()?;
        let lost = side.episodes().iter().filter(|r| policer::lost(r));
        Some(Self {
            stream: side.stream,
            from: side.sender_end.ip,
            to: side.receiver_end.ip,
            alone: of(side).is_some(),
            packets: packets(lost.map(|r| r.packet)),
            passed: passed.clone(),
            repaired: policer::counts(side).sum(),
            waits: waits(side.sender),
        })
    }
}

/// The bucket that the losses of all of them together prove.
pub(super) fn shared(all: &[&Lossy]) -> Option<Bucket> {
    let passed: Vec<&Passed> = all.iter().map(|l| &*l.passed).collect();
    // One after the other they share nothing.
    let start = passed.iter().map(|p| p.start).max()?;
    let at_once = passed.iter().filter(|p| p.count_from(start) >= AT_ONCE);
    if at_once.count() < 2 {
        return None;
    }
    let bucket = Events::of(&passed).bucket().filter(is_proven)?;
    let repaired = all.iter().map(|l| l.repaired).sum();
    let wait = all.iter().map(|l| l.waits[usize::from(bucket.behind)]);
    let wait = wait.max().flatten();
    (were_lost(repaired, &bucket) && is_unqueued(wait, &bucket)).then_some(bucket)
}

fn fits(b: &Bucket) -> bool {
    b.explained >= EXPLAINED && b.over <= OVER && b.burst >= PACKETS * b.largest
}

fn is_proven(b: &Bucket) -> bool {
    fits(b) && b.moments >= MOMENTS && b.weight() >= UNLIKELY
}

/// What came late leaves the same holes, but nobody sends it again.
fn were_lost(repaired: u32, b: &Bucket) -> bool {
    repaired as usize * 4 >= b.losses.min(LISTED) * 3
}

/// The longest waits that this sender's packets had, microseconds: on the way to the capture, and to their ACKs.
fn waits(sender: &Dir) -> [Option<u32>; 2] {
    let Some(load) = sender.load() else {
        return [None; 2];
    };
    [&load.arrived, &load.answered].map(|w| w.queued().map(|_| w.longest_us()))
}

/// No queue as long as the bucket dropped them.
fn is_unqueued(wait: Option<u32>, b: &Bucket) -> bool {
    let full_us = b.burst / b.rate * 1e6;
    let short = match wait {
        Some(us) => f64::from(us) <= full_us / 2.0,
        None => !b.behind,
    };
    short && (b.behind || b.bursts >= BURSTS)
}

#[cfg(test)]
mod tests {
    use tcplab_base::Instant;

    use super::*;

    /// A proven bucket of 30 kB at 1 MB/s: a queue of that length takes 30 ms.
    fn bucket() -> Bucket {
        Bucket {
            rate: 1e6,
            burst: 30_000.0,
            explained: 0.95,
            chance: 0.1,
            losses: 40,
            moments: 12,
            behind: true,
            largest: 1500.0,
            ..Bucket::default()
        }
    }

    #[test]
    fn a_queue_of_the_same_length_is_seen_by_its_waits() {
        assert!(is_unqueued(Some(14_000), &bucket()));
        assert!(!is_unqueued(Some(16_000), &bucket()));
        // Before the losses it has to be seen that nothing waits; behind them packets come as they were sent.
        assert!(!is_unqueued(None, &bucket()));
        let after = |bursts| Bucket {
            behind: false,
            bursts,
            ..bucket()
        };
        assert!(is_unqueued(None, &after(0.3)));
        assert!(!is_unqueued(None, &after(0.1)));
    }

    #[test]
    fn few_losses_and_those_that_chance_explains_prove_nothing() {
        assert!(is_proven(&bucket()));
        let others = [
            Bucket {
                explained: 0.7,
                ..bucket()
            },
            Bucket {
                over: 0.1,
                ..bucket()
            },
            Bucket {
                moments: 8,
                ..bucket()
            },
            Bucket {
                chance: 0.8,
                ..bucket()
            },
            Bucket {
                burst: 5000.0,
                ..bucket()
            },
        ];
        for other in &others {
            assert!(!is_proven(other), "{other:?}");
        }
        // Fewer moments do not prove it, and are no chance either.
        let [six, three] = [6, 3].map(|moments| Bucket {
            moments,
            ..bucket()
        });
        assert!(is_like(&six) && !is_proven(&six));
        assert!(!is_like(&three));
        let half = Bucket {
            explained: 0.55,
            moments: 20,
            ..bucket()
        };
        assert!(is_half(&half) && !is_proven(&half));
        assert!(!is_half(&Bucket {
            chance: 0.5,
            ..half
        }));
    }

    #[test]
    fn connections_share_a_bucket_only_while_both_are_there() {
        // Both lose the last of 20 packets, and send as many each 30 ms.
        let lossy = |from_us: i64| {
            let at = |us: i64| Instant::from_nanos((from_us + us) * 1000);
            let mut passed = Passed::begin(at(0));
            for n in 0..400 {
                let now = at(n / 20 * 30_000 + n % 20 * 100);
                passed.passes(1460, true, now);
                if n % 20 == 19 {
                    passed.lost(1460, now);
                }
            }
            Lossy {
                passed: Box::new(passed),
                repaired: 20,
                waits: [None, Some(0)],
                ..Lossy::empty(0, [IpAddr::from([10, 0, 0, 1]); 2])
            }
        };
        let [first, with, after] = [0, 50, 1_000_000].map(lossy);
        assert!(shared(&[&first, &with]).is_some());
        assert!(shared(&[&first, &after]).is_none());
    }

    #[test]
    fn holes_that_nobody_repaired_were_no_losses() {
        assert!(were_lost(30, &bucket()));
        assert!(!were_lost(29, &bucket()));
        let many = Bucket {
            losses: 4000,
            ..bucket()
        };
        assert!(were_lost(96, &many), "episodes are listed up to a bound");
    }
}
