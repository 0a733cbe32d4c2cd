//! A policer: it drops what goes beyond a rate at once, where a shaper would let it wait (RFC 2475).
//!
//! Its bucket of tokens is empty whenever it drops, so as many bytes pass between two losses as the rate gives in that
//! time: always the same rate, while no packet waits. A sender that its program holds to a rate and that loses by chance
//! shows such rates as well; it does not lose many at once.

use tcplab_base::Instant;

use super::loss::{self, Path};
use super::{Detector, Finding, Id, Need, Severity, Side};
use crate::conn::Record;

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("policer"),
    severity: "medium",
    said_when: "Segments were lost again and again and many at once, no queue was seen, and between most losses the same rate passed, to 4 %",
    needs: &[Need::Data, Need::BothDirections],
    detect: |side, out| out.extend(find(side)),
};

/// At least so many segments lost, in one episode and in all.
const AT_ONCE: u32 = 6;
const IN_ALL: u32 = 10;
/// At least so many times between losses with the same rate.
const ALIKE: usize = 4;
/// Shorter times between losses are too short to measure a rate, microseconds; behind the policer, where a packet that is
/// let through or not makes a difference, so many bytes have to pass as well.
const SHORT_US: i64 = 50_000;
const FEW: u64 = 40_000;

/// The rate that passes, bit/s, when these losses look like a policer's.
pub(crate) fn rate(path: &Path, list: &[&Record]) -> Option<f64> {
    let lost = list.iter().map(|r| r.retransmissions);
    if lost.clone().max()? < AT_ONCE || lost.sum::<u32>() < IN_ALL || !path.is_empty() {
        return None;
    }
    let long = SHORT_US.max(2 * i64::from(path.idle_us));
    let rates = if path.is_behind() {
        let holes = list.iter().filter_map(|r| r.hole);
        rates(holes, long, FEW)
    } else {
        // The sender sees a loss a round trip later, and of what arrived only what is ACKed in order.
        let pairs = list.windows(2).flat_map(|pair| {
            let [a, b] = [pair.first(), pair.last()].map(|r| r.map(|r| (r.start, r.passed)));
            rates(a.into_iter().chain(b), long, 0)
        });
        pairs.collect()
    };
    let alike = |rate: f64| {
        rates
            .iter()
            .filter(|r| (**r - rate).abs() <= rate * 0.04)
            .count()
    };
    let best = rates.iter().copied().max_by_key(|r| alike(*r))?;
    (alike(best) >= ALIKE && alike(best) * 2 >= rates.len()).then_some(best)
}

/// Rates between losses, each of which has its time and the bytes that had passed by then, at least `long` microseconds and
/// `many` bytes apart.
fn rates(losses: impl Iterator<Item = (Instant, u64)>, long: i64, many: u64) -> Vec<f64> {
    let mut from: Option<(Instant, u64)> = None;
    let mut rates = Vec::new();
    for (time, passed) in losses {
        let Some((began, before)) = from else {
            from = Some((time, passed));
            continue;
        };
        let us = time.since(began).as_micros();
        let bytes = passed.checked_sub(before);
        if us >= long && bytes.is_none_or(|b| b >= many) {
            rates.extend(bytes.map(|b| b as f64 * 8e6 / us as f64));
            from = Some((time, passed));
        }
    }
    rates
}

fn find(side: &Side<'_>) -> Option<Finding> {
    let list = loss::episodes(side)?;
    let records: Vec<&Record> = list.iter().collect();
    let rate = rate(&Path::of(side)?, &records)?;
    let lost = loss::lost(&list);
    let (a, b) = (side.sender_end.ip, side.receiver_end.ip);
    let mut f = list.finding(side, DETECTOR.id, Severity::Medium);
    let mbit = rate / 1e6;
    f.title = format!(
        "{a} is held to about {mbit:.2} Mbit/s: what goes beyond is dropped at once, without a queue ({lost} segments)"
    );
    f.cause = format!(
        "Between losses {mbit:.2} Mbit/s of data passed, again and again, and no packet waited before a loss: a policer \
         between {a} and {b} has a bucket of tokens that fills at that rate, lets bursts pass, and drops the rest. A queue \
         too short to be seen looks alike."
    );
    f.remedy = vec![
        format!(
            "If the limit is yours, shape instead (`tc qdisc replace dev DEVICE root cake bandwidth RATE` before the \
             policer), or raise its burst to the rate times the round trip at least."
        ),
        format!(
            "If it is the provider's, let {a} send a little less than it: `tc qdisc replace dev DEVICE root fq maxrate \
             {:.0}kbit`.",
            rate * 0.95 / 1e3
        ),
    ];
    Some(f)
}
