//! Losses that were repaired without a timeout: how many, what they cost, and of which kind they look.
//!
//! A queue that overflows is full when it drops: the packets around the lost ones waited longest. What is lost while
//! the queue is empty, though longer waits had gone well, was not lost by that queue. Everything else stays untold.

use tcplab_base::Duration;

use super::episodes::Episodes;
use super::{
    Detector, Finding, Id, Need, Severity, Side, length, policer, reordering, tail_loss,
    token_bucket,
};
use crate::conn::Record;

pub(crate) const QUEUE: Detector = Detector {
    id: Id("congestion_loss"),
    severity: "medium from 1 % of the segments, else info",
    said_when: "Losses were repaired without a timeout, most of them while packets waited longest in a queue of the path",
    needs: &[
        Need::Data,
        Need::BothDirections,
        Need::EveryPacket,
        Need::WholeHeaders,
    ],
    detect: |side, out| out.extend(find(side, Kind::Queue)),
};

pub(crate) const RANDOM: Detector = Detector {
    id: Id("random_loss"),
    severity: "medium from 1 % of the segments, else info",
    said_when: "Losses were repaired without a timeout, most of them while no packet waited, though much longer waits or much more data in flight had caused no loss. No token bucket explains them",
    needs: &[
        Need::Data,
        Need::BothDirections,
        Need::EveryPacket,
        Need::WholeHeaders,
    ],
    detect: |side, out| out.extend(find(side, Kind::Random)),
};

pub(crate) const UNTOLD: Detector = Detector {
    id: Id("loss"),
    severity: "medium from 1 % of the segments, else info",
    said_when: "Losses were repaired without a timeout; the packets do not tell a full queue from a bad link",
    needs: &[Need::Data, Need::EveryPacket, Need::WholeHeaders],
    detect: |side, out| out.extend(find(side, Kind::Untold)),
};

/// Waits below this are no queue on any path, microseconds: clocks and hosts blur as much.
const BLUR_US: u32 = 1_000;
/// Shortest queueing delay at which an AQM drops (target: CoDel 5 ms, PIE 15 ms).
pub(super) const AQM_US: u32 = 3_500;
/// So many times is a habit. A queue that runs over lets one of two or three segments in, so the holes are many; a link
/// that goes away for a moment makes one.
const OFTEN: usize = 3;
const MANY: u32 = 4;

/// What lost the segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Queue,
    Random,
    Untold,
    /// Another finding speaks of it.
    Policed,
}

/// Repaired, needed, and no other finding speaks of it.
fn is_quick(side: &Side<'_>, r: &Record) -> bool {
    r.spurious().is_none()
        && r.duration.is_some()
        && !reordering::is_false_alarm(side, r)
        && !r.is_timeout()
        && !tail_loss::is_tail(r)
}

/// What the path looked like around the losses.
pub(crate) struct Path {
    /// Which of the two waits of a record the queue shows in.
    wait: usize,
    pub idle_us: u32,
    /// What is no wait.
    base: i64,
    longest_us: u32,
    /// The most that was in flight when losses were told, 0 when the capture does not show it.
    most_in_flight: u32,
}

impl Path {
    pub(crate) fn of(side: &Side<'_>) -> Option<Self> {
        let load = side.sender.load()?;
        let at_sender = side.has(Need::AtSender);
        let waits = if at_sender {
            &load.answered
        } else {
            &load.arrived
        };
        waits.queued()?;
        let ends = [side.sender, side.receiver].map(|d| d.path_or_zero());
        Some(Self {
            wait: usize::from(!at_sender),
            idle_us: ends[0].saturating_add(ends[1]),
            base: waits.base(),
            longest_us: waits.longest_us(),
            most_in_flight: if at_sender {
                side.episodes().iter().map(|r| r.flight).max()?
            } else {
                0
            },
        })
    }

    /// What a record looks like.
    fn kind(&self, r: &Record) -> Kind {
        let Some(queued) = r.queued[self.wait].map(|queued| queued.above(self.base)) else {
            return Kind::Untold;
        };
        let longest = self.longest_us;
        let crowded = r.flight >= self.most_in_flight / 5 * 2;
        if longest >= self.blur().max(self.idle_us / 20)
            && crowded
            && queued.least >= longest / 10 * 7
        {
            Kind::Queue
        } else if longest >= 2 * self.blur() && queued.most <= (longest / 2).min(AQM_US) {
            Kind::Random
        } else {
            Kind::Untold
        }
    }

    /// No queue worth the name was ever seen.
    pub(crate) fn is_empty(&self) -> bool {
        self.longest_us <= (self.idle_us / 10).max(self.blur())
    }

    /// Where time stamps tell, they tell milliseconds.
    fn blur(&self) -> u32 {
        BLUR_US * (1 + self.wait as u32)
    }
}

/// What most of the losses look like: a full queue loses many at once, or again and again at one length; chance loses at
/// every length.
fn kind(side: &Side<'_>, list: &[&Record]) -> Kind {
    if policer::explains(side) {
        return Kind::Policed;
    }
    let Some(path) = Path::of(side) else {
        return Kind::Untold;
    };
    let count = |kind| list.iter().filter(|r| path.kind(r) == kind).count();
    let [queue, random] = [Kind::Queue, Kind::Random].map(count);
    let often = list.len() >= OFTEN;
    let apart = lie_apart(list.iter().filter(|r| path.kind(r) == Kind::Queue));
    let many = list.iter().any(|r| r.runs >= MANY);
    let long = path.longest_us >= (path.idle_us / 4).max(2 * path.blur());
    if queue * 4 >= list.len() * 3 && apart && (often || (many && long)) {
        Kind::Queue
    } else if random * 2 >= list.len() && often && !token_bucket::looks_alike(side) {
        Kind::Random
    } else {
        Kind::Untold
    }
}

/// A queue that runs over lets a segment in for each that leaves, so those that it drops seldom follow one another. A link
/// that is gone for a moment loses several in a row.
fn lie_apart<'a>(list: impl Iterator<Item = &'a &'a Record>) -> bool {
    let sums = list.fold((0, 0), |(lost, runs), r| {
        (lost + r.retransmissions, runs + r.runs)
    });
    sums.0 * 4 <= sums.1 * 5
}

/// Those of the sender that this file speaks of.
pub(crate) fn episodes<'a>(side: &'a Side<'_>) -> Option<Episodes<'a>> {
    Episodes::of(side, |r| is_quick(side, r))
}

/// How many segments were lost in them.
pub(crate) fn lost(list: &Episodes<'_>) -> u64 {
    let lost = list
        .iter()
        .map(|r| r.retransmissions.saturating_sub(r.dsacked + r.unneeded));
    lost.map(u64::from).sum()
}

fn find(side: &Side<'_>, wanted: Kind) -> Option<Finding> {
    let list = episodes(side)?;
    // Everything arrived in the end, and no repair was needed.
    if lost(&list) == 0 {
        return None;
    }
    (kind(side, list.as_slice()) == wanted).then(|| finding(side, &list, wanted))
}

fn finding(side: &Side<'_>, list: &Episodes<'_>, kind: Kind) -> Finding {
    let lost = lost(list);
    let sent = side.sender.wire_segments().max(1);
    let cost = list.iter().filter_map(|r| r.duration);
    let cost = cost.fold(Duration::ZERO, |sum, d| sum + d);
    let severity = if lost * 100 >= sent {
        Severity::Medium
    } else {
        Severity::Info
    };
    let id = match kind {
        Kind::Queue => QUEUE.id,
        Kind::Random => RANDOM.id,
        Kind::Untold | Kind::Policed => UNTOLD.id,
    };
    let mut f = list.finding(side, id, severity);
    if !side.is_told(id) {
        return f;
    }
    let segments = if lost == 1 { "segment" } else { "segments" };
    let end = side.sender_end.ip;
    let how = match kind {
        Kind::Queue => "dropped by a full queue",
        Kind::Random => "lost though no queue was full",
        Kind::Untold | Kind::Policed => "lost on the way",
    };
    f.title = format!(
        "{lost} {segments} from {end} ({:.2} %) {how}; the repairs took {} in all",
        lost as f64 * 100.0 / sent as f64,
        length(cost)
    );
    f.cause = cause(side, kind);
    f.remedy = remedy(side, kind);
    f
}

fn cause(side: &Side<'_>, kind: Kind) -> String {
    let reported = side
        .sender
        .loss
        .as_deref()
        .is_some_and(|l| l.told.is_some());
    let quick = match reported {
        true => {
            "The receiver reported the holes in time (duplicate ACKs, SACK), so no retransmission timeout was needed; \
             the sender still cuts its window by a third to a half each time."
        }
        false => "The sender repeated them without a retransmission timeout.",
    };
    let path = Path::of(side);
    let waits = path.map_or(0, |p| p.longest_us);
    let waits = super::us(waits);
    let told = match kind {
        Kind::Queue => format!(
            "Packets around the lost ones waited about as long as any ({waits} over the idle path): the queue in front of \
             the slowest link was full and dropped. That is how TCP finds its rate (RFC 5681)."
        ),
        Kind::Random => format!(
            "Packets around most of the lost ones hardly waited, while others waited {waits} and arrived: no full queue \
             dropped them. A radio link, a bad cable or port, or a policer loses packets like that."
        ),
        Kind::Untold | Kind::Policed => {
            "The packets do not tell whether a full queue or a bad link lost them.".to_owned()
        }
    };
    format!("{told} {quick}")
}

fn remedy(side: &Side<'_>, kind: Kind) -> Vec<String> {
    let end = side.sender_end.ip;
    match kind {
        Kind::Queue => vec![
            "A few such losses are normal. If they are too many, look at the queue that drops (`tc -s qdisc`, `ip -s \
             link`, counters of the switch): an AQM there (`tc qdisc replace dev DEVICE root fq_codel`) drops fewer."
                .to_owned(),
            format!("On {end}, pace what is sent: `tc qdisc replace dev DEVICE root fq`."),
        ],
        Kind::Random => vec![
            "Find the link that loses: errors of interfaces (`ip -s -s link`, `ethtool -S DEVICE | grep -i err`), the \
             signal of radio links, a policer of the provider."
                .to_owned(),
            format!(
                "On {end}, a congestion control that does not take each loss for congestion helps: `sysctl \
                 net.ipv4.tcp_congestion_control=bbr`."
            ),
        ],
        Kind::Untold | Kind::Policed => vec![
            "Find where the packets are lost: capture at both ends and compare (`tcplab analyze --pair A B`), look at the \
             drops of interfaces and queues (`ip -s link`, `tc -s qdisc`)."
                .to_owned(),
        ],
    }
}
