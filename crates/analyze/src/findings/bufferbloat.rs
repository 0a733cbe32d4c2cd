//! A queue that stands while data is sent: the round trip under load is many times that of the idle path.

use super::{Detector, Finding, Id, Need, Severity, Side, packets, us};
use crate::conn::{QueueWaits, STANDING_US};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("bufferbloat"),
    severity: "high",
    said_when: "For 0.4 s or more, and a fifth of the time of sending, every packet waited 100 ms and twice the idle round trip longer than on the idle path: by the ACKs at the sender, by time stamps behind the queue",
    needs: &[Need::Data, Need::BothDirections],
    detect: |side, out| {
        let waits = waits(side);
        if waits.is_none() && side.sender.load().is_some() {
            out.cannot_tell(if side.has(Need::TimeStamps) {
                Need::AtSender
            } else {
                Need::TimeStamps
            });
        }
        out.extend(waits.and_then(|w| find(side, w)));
    },
};

/// Stretches of 100 ms (or of the idle round trip) in a row.
const ROW: u32 = 4;

/// The waits that a queue of this direction shows in.
fn waits<'a>(side: &Side<'a>) -> Option<&'a QueueWaits> {
    let load = side.sender.load()?;
    if load.arrived.standing > load.answered.standing {
        return Some(&load.arrived);
    }
    let told = side.has(Need::AtSender) || load.answered.standing > 0;
    if told {
        Some(&load.answered)
    } else {
        load.arrived.queued().map(|_| &load.arrived)
    }
}

fn find(side: &Side<'_>, waits: &QueueWaits) -> Option<Finding> {
    if waits.longest_row < ROW || waits.standing * 5 < waits.stretches {
        return None;
    }
    let waited = u32::try_from(waits.worst)
        .ok()
        .filter(|w| *w >= STANDING_US)?;
    let ends = [side.sender, side.receiver].map(|d| d.path_or_zero());
    let idle = ends[0].saturating_add(ends[1]);
    let mut f = side.finding(DETECTOR.id, Severity::High);
    f.packets = packets([waits.packet]);
    let end = side.sender_end.ip;
    f.title = if idle > 0 {
        format!(
            "while {end} sends, the round trip grows from {} to {}: packets wait in a long queue",
            us(idle),
            us(idle.saturating_add(waited))
        )
    } else {
        format!(
            "while {end} sends, its packets wait {} in a long queue",
            us(waited)
        )
    };
    f.cause = format!(
        "{end} keeps a long queue in front of the slowest link filled (\"bufferbloat\"): each packet then waits {}, and so \
         does every other connection over that link. The queue is longer than the path needs.",
        us(waited)
    );
    f.remedy = vec![
        "Put an AQM on the queue, with a shaper a little below the rate of the slowest link: `tc qdisc replace dev DEVICE \
         root cake bandwidth RATE`, or `... root fq_codel` where the queue is the interface's own."
            .to_owned(),
        format!(
            "Where the queue is somebody else's, let {end} send less ahead: `sysctl net.ipv4.tcp_congestion_control=bbr`."
        ),
    ];
    Some(f)
}
