//! A queue that stands while data is sent: the round trip under load is many times that of the idle path.

use super::{Detector, Finding, Found, Id, Need, Severity, Side, others_queue, packets, us};
use crate::conn::{QueueWaits, STANDING_US};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("bufferbloat"),
    severity: "high",
    said_when: "For at least 0.4 s, and a fifth of the sending time, every packet waited longer than on the idle path by at least 100 ms and twice the idle round trip (shown by ACKs at the sender, by time stamps downstream of the queue). Or, for at least 1 s, ACKs of three or more messages in a row came later than on the idle path by at least twice the idle round trip, and by 200 ms (the longest that Linux and Windows hold an ACK) plus the idle round trip or, if longer, 20 ms",
    needs: &[Need::Data, Need::BothDirections],
    detect,
};

/// The cure, whoever fills the queue.
pub(super) const AQM: &str = "Put an AQM on the queue, with a shaper a little below the rate of the slowest link: `tc qdisc \
     replace dev DEVICE root cake bandwidth RATE`, or `... root fq_codel` where the queue is the interface's own.";

fn detect(side: &Side<'_>, out: &mut Found) {
    let waits = waits(side);
    let found = waits.and_then(|w| find(side, w));
    let found = found.or_else(|| others_queue::find(side));
    if let Some(load) = side.sender.load()
        && found.is_none()
        && !is_ruled_out(side)
    {
        // A capture that begins in the middle may never have seen the path without its queue.
        let seen_idle = side.has(Need::AtSender) && load.answered.least < i64::from(STANDING_US);
        if waits.is_none() {
            out.cannot_tell(if !side.has(Need::WholeHeaders) {
                Need::WholeHeaders
            } else if side.has(Need::TimeStamps) {
                Need::AtSender
            } else {
                Need::TimeStamps
            });
        } else if !side.has(Need::Handshake) && !seen_idle {
            out.cannot_tell(Need::RoundTrip);
        }
    }
    out.extend(found);
}

/// Stretches of 100 ms (or of the idle round trip) in a row.
const ROW: u32 = 4;

/// No such queue can have stood, though its waits cannot be seen.
fn is_ruled_out(side: &Side<'_>) -> bool {
    // A sender that never has a full segment to send fills no queue.
    let full = side.sender.full_payload(side.receiver.mss);
    side.sender.max_payload < full || answers_in_time(side) || fits_into_window(side)
}

/// What the peer sent was answered in time all along, by packets that had passed the same queue.
fn answers_in_time(side: &Side<'_>) -> bool {
    let Some(trips) = side.receiver.rtt.as_ref() else {
        return false;
    };
    let us = trips.by_ack.clone().quantiles();
    us.samples >= 3 && us.max - us.min < STANDING_US
}

/// The receiver's window held less than half of what had to be on its way.
fn fits_into_window(side: &Side<'_>) -> bool {
    let window = u64::from(side.receiver.window_range.1);
    let first = side.sender.first_data.get();
    let time = first.map_or(0, |first| side.sender.last_data.since(first).as_micros());
    let passed = side.sender.unique_bytes.max(1);
    let trip = window.saturating_mul(time.max(0).unsigned_abs()) / passed;
    side.scale_lacks().is_none() && trip * 2 < u64::from(STANDING_US)
}

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

/// The waits came from one packet to the next: a queue takes as long to fill as its packets wait.
fn is_another_path(waits: &QueueWaits) -> bool {
    waits.leap >= STANDING_US.into() && waits.leap * 2 >= waits.worst
}

fn find(side: &Side<'_>, waits: &QueueWaits) -> Option<Finding> {
    if waits.longest_row < ROW || waits.standing * 5 < waits.stretches {
        return None;
    }
    let waited = u32::try_from(waits.worst)
        .ok()
        .filter(|w| *w >= STANDING_US && !is_another_path(waits))?;
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
        AQM.to_owned(),
        format!(
            "Where the queue is somebody else's, let {end} send less ahead: `sysctl net.ipv4.tcp_congestion_control=bbr`."
        ),
    ];
    Some(f)
}
