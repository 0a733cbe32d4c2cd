//! A token bucket that explains the losses of one connection, or of several that share a path.
//!
//! Losses alone cannot distinguish a policer from a queue as long as the bucket. Before a queue drops, packets wait
//! for its full length, and they leave it at its rate. A policer passes packets as they were sent.

use std::net::IpAddr;

use super::{Side, loss, packets, policer};
use crate::conn::{Bucket, Dir, Events, Passed};

/// The share that is enough where the rate between losses shows as well.
const HALF: f64 = 0.5;
/// So many moments of loss, and how much less likely chance is (a logarithm).
const MOMENTS: usize = 9;
const UNLIKELY: f64 = 9.0;
/// Share of packets behind a loss that come in half of their time at the rate.
const BURSTS: f64 = 0.2;
/// Share of losses that leave a gap. Behind a full queue, packets follow each other without gaps.
const GAPS: f64 = 0.5;
/// From here on losses look like those of a bucket, though they do not prove it.
const LIKE: f64 = 6.0;
/// So many packets of a connection passed while the others were there.
const AT_ONCE: usize = 50;
/// A queue is full when it drops, so some packets wait for its full length. A measured wait below this share of the
/// length rules a queue out; the margin covers errors of the fitted length. Waits are those of [`IN_A_ROW`] packets in a
/// row, and a short queue does not stay full that long, so their bytes are subtracted first.
const SHORT: f64 = 0.75;
const SHORT_OF_FEW: f64 = 0.5;
const IN_A_ROW: f64 = 4.0;
/// A queue is idle at a loss if packets wait for less than this share of its length.
const IDLE: f64 = 0.1;
/// Episodes are listed up to a bound, so more repairs may be missing.
const LISTED: usize = 128;

/// The bucket that this side's losses prove.
pub(super) fn of(side: &Side<'_>) -> Option<Bucket> {
    let bucket = side.sender.load()?.bucket.filter(is_proven)?;
    let repaired: u32 = policer::counts(side).sum();
    let at = usize::from(bucket.behind);
    let [wait, standing] = [waits(side.sender), standing(side)].map(|w| w[at]);
    let unqueued = is_unqueued(wait, standing, &bucket) && !may_be_managed(standing, &bucket);
    (were_lost(repaired, &bucket) && unqueued).then_some(bucket)
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
    b.explains(HALF) && b.weight() >= UNLIKELY
}

fn is_like(b: &Bucket) -> bool {
    b.fits() && b.weight() >= LIKE
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
    standing: [Option<u32>; 2],
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
            standing: [None; 2],
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
            standing: standing(side),
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
    let at = usize::from(bucket.behind);
    let wait = all.iter().map(|l| l.waits[at]).max().flatten();
    let standing = all.iter().map(|l| l.standing[at]).max().flatten();
    let unqueued = is_unqueued(wait, standing, &bucket) && !may_be_managed(standing, &bucket);
    (were_lost(repaired, &bucket) && unqueued).then_some(bucket)
}

fn is_proven(b: &Bucket) -> bool {
    let enough = b.moments >= MOMENTS && b.weight() >= UNLIKELY;
    b.fits() && (enough || b.weight_beyond_fit() >= UNLIKELY)
}

/// Late packets leave the same holes, but are not sent again.
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

/// How long packets waited when this sender's were lost, microseconds: on the way to the capture, and to their ACKs. With
/// four losses of five some of them waited no longer.
fn standing(side: &Side<'_>) -> [Option<u32>; 2] {
    // A record has them in the other order.
    let bases = side
        .sender
        .load()
        .map(|load| [load.answered.base(), load.arrived.base()]);
    [1, 0].map(|at| {
        let base = bases?[at];
        let lost = side.episodes().iter().filter(|r| policer::lost(r));
        let told = lost
            .filter_map(|r| r.queued[at])
            .map(|q| q.above(base).least);
        let mut told: Vec<u32> = told.collect();
        told.sort_unstable();
        told.iter().rev().nth(told.len() / 5).copied()
    })
}

/// An active queue management drops one packet at a time while packets wait: a sender that it halves again and again finds
/// it at the same level each time, as it would a bucket.
fn may_be_managed(standing: Option<u32>, b: &Bucket) -> bool {
    standing.is_some_and(|us| us > loss::AQM_US) && b.losses < 2 * b.moments
}

/// No queue as long as the bucket dropped them.
fn is_unqueued(wait: Option<u32>, standing: Option<u32>, b: &Bucket) -> bool {
    let us = |bytes: f64| bytes / b.rate * 1e6;
    let full = us(b.burst);
    let idle = standing.is_some_and(|us| f64::from(us) <= full * IDLE);
    let row = if idle { 0.0 } else { IN_A_ROW * b.largest };
    let most = (us(b.burst - row) * SHORT).max(full * SHORT_OF_FEW);
    let short = wait.map_or(!b.behind, |us| f64::from(us) <= most);
    b.gaps >= GAPS || (short && (b.behind || b.bursts >= BURSTS))
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
        let unqueued = |wait, standing| is_unqueued(wait, standing, &bucket());
        // Of twenty packets sixteen wait in a row for less than the whole.
        assert!(unqueued(Some(17_000), None) && !unqueued(Some(19_000), None));
        assert!(unqueued(Some(22_000), Some(2_000)) && !unqueued(Some(22_000), Some(4_000)));
        let few = Bucket {
            burst: 6_000.0,
            ..bucket()
        };
        assert!(is_unqueued(Some(2_900), None, &few) && !is_unqueued(Some(3_100), None, &few));
        // Before the losses it has to be seen that nothing waits; behind them packets come as they were sent, or not where
        // one is missing.
        assert!(!unqueued(None, None));
        let after = |bursts, gaps| Bucket {
            behind: false,
            bursts,
            gaps,
            ..bucket()
        };
        assert!(is_unqueued(None, None, &after(0.3, 0.0)));
        assert!(is_unqueued(None, None, &after(0.0, 0.6)));
        assert!(
            is_unqueued(Some(25_000), None, &after(0.0, 0.6)),
            "a shaper behind it"
        );
        assert!(!is_unqueued(None, None, &after(0.1, 0.4)));
    }

    #[test]
    fn single_losses_while_packets_wait_may_be_an_active_queue_managements() {
        let single = Bucket {
            losses: 13,
            ..bucket()
        };
        assert!(may_be_managed(Some(5_000), &single));
        assert!(!may_be_managed(Some(1_000), &single) && !may_be_managed(None, &single));
        assert!(!may_be_managed(Some(5_000), &bucket()), "many at once");
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
                moments: 7,
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
        // Three moments can be fitted; those beyond them prove it if they are clear.
        let eight = Bucket {
            moments: 8,
            ..bucket()
        };
        assert!(is_proven(&eight));
        assert!(!is_proven(&Bucket {
            moments: 6,
            chance: 0.01,
            ..eight
        }));
        assert!(!is_proven(&Bucket {
            chance: 0.2,
            ..eight
        }));
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
    fn unrepaired_holes_are_no_losses() {
        assert!(were_lost(30, &bucket()));
        assert!(!were_lost(29, &bucket()));
        let many = Bucket {
            losses: 4000,
            ..bucket()
        };
        assert!(were_lost(96, &many), "episodes are listed up to a bound");
    }
}
