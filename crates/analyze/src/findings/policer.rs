//! A policer: it drops what goes beyond a rate at once, where a shaper would let it wait (RFC 2475).
//!
//! Its bucket of tokens is empty whenever it drops, so as many bytes pass between two losses as the rate gives in that
//! time: always the same rate, while no packet waits. A program that sends blocks of one size at equal times into a short
//! queue shows such rates as well; no bucket explains its losses ([`token_bucket`]).

use std::net::IpAddr;

use tcplab_base::Instant;
use tcplab_base::quantity::{BITS_PER_SECOND, BYTES, Digits, figure};

use super::episodes::Episodes;
use super::loss::{self, Path};
use super::token_bucket::{self, Lossy};
use super::{Detector, Finding, Id, Need, Severity, Side};
use crate::conn::Record;

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("policer"),
    severity: "medium",
    said_when: "A token bucket explains the losses of one connection, or of several between two hosts: four of five losses found it empty, too often for chance; almost nothing exceeded it; and no packet waited as long as in a queue of that length. A capture downstream of the losses must also show a fifth of the packets at twice the bucket's rate, or gaps from half of the losses. Or: many segments were lost together, repeatedly; no queue was seen; the same rate (within 6 %) passed between most losses; retransmissions passed no faster; and a bucket explains at least half of the losses",
    needs: &[Need::Data, Need::BothDirections, Need::WholeHeaders],
    detect: |side, out| {
        let sampled = is_sampled(side);
        let found = find(side).filter(|_| !sampled || side.has(Need::AtSender));
        if !sampled {
            out.lossy.extend(Lossy::of(side));
        }
        match found {
            Some(finding) => out.extend([finding]),
            None if sampled => out.cannot_tell(Need::EveryPacket),
            // Nothing tells on which side of the losses it was captured.
            None if (loses_much(side) || loses_long(side)) && !side.has(Need::Handshake) => {
                out.cannot_tell(Need::Handshake);
            }
            None => {}
        }
    },
};

/// At least so many segments lost, in one episode and in all.
const AT_ONCE: u32 = 6;
const IN_ALL: u32 = 10;
/// At least so many times between losses with the same rate.
const ALIKE: usize = 4;
/// Most losses between which rates are compared with each other.
const COMPARED: usize = 1_024;
/// Shorter times between losses are too short to measure a rate, microseconds, and fewer bytes too few.
const SHORT_US: i64 = 50_000;
const FEW: u64 = 40_000;
/// Rates that differ by less are one: a packet more or less at either end of a stretch.
const SAME: f64 = 1.5 * 1514.0 / FEW as f64;
/// A repair of so many segments has a rate; some of them pass with what is left in the bucket.
const REPAIRS: u32 = 3;
const SPARE: u32 = 2;
/// Rates that differ by this much are told as one.
const ONE_RATE: f64 = 1.15;
/// Behind a queue segments come at its rate. A policer lets them pass as they were sent: so many come in half the time.
const BURSTS: f64 = 0.25;

/// Behind the losses the holes of a capture that missed packets look like losses. What was in flight when it began does not
/// matter.
fn is_sampled(side: &Side<'_>) -> bool {
    let c = side.connection;
    let missed = side.sender.rare.as_deref().map(|r| &r.missed);
    let [late, all] = [missed.map_or(c.start, |m| m.at), c.last].map(|at| at.since(c.start));
    let later = late.as_nanos() > all.as_nanos() / 8;
    loses_much(side) && !side.has(Need::EveryPacket) && later
}

/// Enough was lost for a policer.
fn loses_much(side: &Side<'_>) -> bool {
    counts(side).max().is_some_and(|most| most >= AT_ONCE) && counts(side).sum::<u32>() >= IN_ALL
}

/// The same, but for the many at once that a connection may have lost at its beginning.
fn loses_long(side: &Side<'_>) -> bool {
    counts(side).sum::<u32>() >= 3 * IN_ALL
}

/// How many segments each episode sent again.
pub(super) fn counts<'a>(side: &'a Side<'_>) -> impl Iterator<Item = u32> + 'a {
    let lost = side.episodes().iter().filter(|r| lost(r));
    lost.map(|r| r.retransmissions)
}

/// The episode repaired a real loss: at least one retransmission was needed.
pub(super) fn lost(r: &Record) -> bool {
    r.spurious().is_none() && r.retransmissions > r.unneeded
}

/// Whether a policer explains the losses of this side.
pub(super) fn explains(side: &Side<'_>) -> bool {
    token_bucket::of(side).is_some() || rate(side).is_some()
}

/// The rate that passes between losses, bit/s, when it is always the same.
fn rate(side: &Side<'_>) -> Option<f64> {
    if !loses_much(side) || !token_bucket::explains_half(side) {
        return None;
    }
    let again = |r: &&Record| lost(r);
    let lost = side.episodes().iter().filter(again);
    let list: Vec<&Record> = lost.take(COMPARED).collect();
    let load = side.sender.load()?;
    let path = Path::of(side);
    if path.as_ref().is_some_and(|p| !p.is_empty()) {
        return None;
    }
    let ends = [side.sender, side.receiver].map(|d| i64::from(d.path_or_zero()));
    let long = SHORT_US.max(2 * (ends[0] + ends[1]));
    let rates = if side.has(Need::AtSender) {
        rates(list.iter().map(|r| (r.start, r.passed)), long)
    } else {
        rates(load.holes.iter().copied(), long)
    };
    let alike = |rate: f64| {
        rates
            .iter()
            .filter(|r| (**r - rate).abs() <= rate * SAME)
            .count()
    };
    let best = rates.iter().copied().max_by_key(|r| alike(*r))?;
    let segment_us = f64::from(side.sender.max_payload.min(1460)) * 8e6 / best;
    // Where nothing tells how long packets waited.
    let no_queue = path.is_some() || load.closer_than((segment_us / 2.0) as u32) >= BURSTS;
    let fits = alike(best) >= ALIKE && alike(best) * 2 >= rates.len();
    (fits && no_queue && !repairs_faster(side, best)).then_some(best)
}

/// After a loss the bucket is empty, so what is sent again passes at its rate as well. Where most repairs were much faster,
/// the rate between losses was the program's: blocks of one size at equal times that a short queue cuts.
fn repairs_faster(side: &Side<'_>, rate: f64) -> bool {
    let segment = f64::from(side.sender.max_payload.min(1460)) * 8e9;
    let timed = |r: &&Record| lost(r) && r.retransmissions >= REPAIRS;
    let bits = |r: &Record| f64::from(r.retransmissions - SPARE) * segment;
    let rates = side.episodes().iter().filter(timed).filter_map(|r| {
        let ns = r.duration?.as_nanos().max(1);
        Some(bits(r) / ns as f64)
    });
    let (faster, much, all) = rates.fold((0, 0, 0), |(faster, much, all), r| {
        let than = |times: f64| usize::from(r > times * rate);
        (faster + than(2.0), much + than(4.0), all + 1)
    });
    faster * 2 > all || much > 0
}

/// Rates between losses, each of which has its time and the bytes that had passed by then.
fn rates(losses: impl Iterator<Item = (Instant, u64)>, long: i64) -> Vec<f64> {
    let mut from: Option<(Instant, u64)> = None;
    let mut rates = Vec::new();
    for (time, passed) in losses {
        let Some((began, before)) = from else {
            from = Some((time, passed));
            continue;
        };
        let us = time.since(began).as_micros();
        let bytes = passed.saturating_sub(before);
        if us >= long && bytes >= FEW {
            rates.push(bytes as f64 * 8e6 / us as f64);
            from = Some((time, passed));
        }
    }
    rates
}

fn find(side: &Side<'_>) -> Option<Finding> {
    let bucket = token_bucket::of(side);
    let rate = match bucket {
        Some(b) => b.between.map(|r| r * 8.0),
        None => [rate(side)?; 2],
    };
    let list = Episodes::of(side, lost)?;
    let words = Words {
        from: side.sender_end.ip,
        to: side.receiver_end.ip,
        rate,
        burst: bucket.map(|b| b.burst),
        unqueued: if Path::of(side).is_some() {
            "no packet waited before a loss"
        } else {
            "segments came faster than that, as no queue lets them pass"
        },
        lost: loss::lost(&list),
        connections: 1,
    };
    Some(words.put_into(list.finding(side, DETECTOR.id, Severity::Medium)))
}

/// What a finding says.
pub(super) struct Words {
    pub from: IpAddr,
    pub to: IpAddr,
    /// Bits per second: the lowest and the highest that explain the losses.
    pub rate: [f64; 2],
    /// Bytes of the bucket, where it was fitted.
    pub burst: Option<f64>,
    /// Else the reason why no queue dropped them.
    pub unqueued: &'static str,
    pub lost: u64,
    pub connections: usize,
}

impl Words {
    pub(super) fn put_into(&self, mut f: Finding) -> Finding {
        let (a, b) = (self.from, self.to);
        let held = self.held();
        let lost = self.lost;
        let together = match self.connections {
            1 => String::new(),
            n => format!(", {n} connections together,"),
        };
        f.title = format!(
            "{a}{together} is held to {held}: what goes beyond is dropped at once, without a queue ({lost} segments)"
        );
        let evidence = match self.burst {
            Some(burst) => format!(
                "A bucket of {} or more that fills at {held} explains the losses: what was lost found it empty, and \
                 what passed found room. No packet waited as long as a queue of that length takes",
                figure(burst, BYTES, Digits::Three)
            ),
            None => format!(
                "Between losses {held} of data passed, again and again, and {}",
                self.unqueued
            ),
        };
        f.cause = format!(
            "{evidence}: a policer between {a} and {b} has a bucket of tokens that fills at that rate, lets bursts pass, \
             and drops the rest."
        );
        f.remedy = self.remedy();
        f
    }

    /// The rate in words.
    fn held(&self) -> String {
        let [low, high] = self.rate;
        let text = |rate| figure(rate, BITS_PER_SECOND, Digits::Three);
        if high <= low * ONE_RATE {
            format!("about {}", text((low * high).sqrt()))
        } else {
            format!("between {} and {}", text(low), text(high))
        }
    }

    fn remedy(&self) -> Vec<String> {
        vec![
            "If the limit is yours, shape instead (`tc qdisc replace dev DEVICE root cake bandwidth RATE` before the \
             policer), or raise its burst to the rate times the round trip at least."
                .to_owned(),
            format!(
                "If it is the provider's, let {} send a little less than it: `tc qdisc replace dev DEVICE root fq maxrate \
                 {:.0}kbit`.",
                self.from,
                self.rate[0] * 0.95 / 1e3
            ),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_is_shown_at_its_known_precision() {
        let words = |rate| Words {
            from: IpAddr::from([10, 0, 0, 1]),
            to: IpAddr::from([10, 0, 0, 2]),
            rate,
            burst: None,
            unqueued: "",
            lost: 20,
            connections: 1,
        };
        assert_eq!(words([3.9e6, 4.1e6]).held(), "about 4.00 Mbit/s");
        let wide = words([2e6, 4e6]);
        assert_eq!(wide.held(), "between 2.00 Mbit/s and 4.00 Mbit/s");
        // Whatever it is, this is less.
        assert!(wide.remedy()[1].contains("maxrate 1900kbit"));
    }
}
