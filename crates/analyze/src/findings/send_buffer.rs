//! The sender sends the same amount in each round trip, far below the receiver's window, without losses: the limit is
//! its send buffer or a fixed congestion window.

use tcplab_base::Duration;

use tcplab_base::quantity::bytes;

use super::receive_window::{ROUND_TRIP, level, rate, unsteady};
use super::{Detector, Finding, Found, Id, Need, Severity, Side, length, packets};
use crate::conn::{Flat, Level};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("send_buffer_limited"),
    severity: "medium",
    said_when: "For sixteen round trips or more, and a third or more of the transfer, the same amount was in flight, at most half of the receiver's window, with silence until the ACKs came. The whole connection lost nothing, so a congestion window would have grown",
    needs: &[Need::Handshake, Need::BothDirections, Need::Data],
    detect,
};

/// A congestion window that grows by half a segment in each round trip has left the level by then.
const ROUNDS: u32 = 16;

fn detect(side: &Side<'_>, out: &mut Found) {
    let Some(rounds) = side.sender.rounds.as_deref() else {
        return;
    };
    if waits(side, &rounds.below).is_none() {
        unsteady(side, out, &rounds.below, ROUNDS / 2);
    }
    if waits(side, &rounds.below).is_none() && is_flat(side, rounds.flat) {
        out.cannot_tell(Need::SteadyPath);
    }
    // A window of which the scale is not known may be larger than it looks.
    match side.scale_lacks() {
        Some(lacks) if waits(side, &rounds.at_window).is_some() => out.cannot_tell(lacks),
        _ => out.extend(waits(side, &rounds.below).map(|found| describe(side, found))),
    }
}

/// The rounds, if the sender waits in them and its congestion window is not the reason.
fn waits<'a>(side: &Side<'a>, rounds: &'a Level) -> Option<(&'a Level, Duration)> {
    let (level, each) = level(side, rounds, ROUNDS)?;
    let marked = side.receiver.rare.as_deref().is_some_and(|r| r.ecn_ece > 0);
    let lost = side
        .sender
        .loss
        .as_deref()
        .is_some_and(|l| l.total() > u64::from(l.syn));
    let waits = level.silent * 5 >= level.rounds * 4;
    (waits && !marked && !lost).then_some((level, each))
}

/// The flights reached the same size all along, but round trips vary too much to tell whether the sender waited for ACKs.
fn is_flat(side: &Side<'_>, flat: Flat) -> bool {
    let (tx, rx) = (side.sender, side.receiver);
    let trip = i64::from(tx.path_or_zero()) + i64::from(rx.path_or_zero());
    let life = tx
        .first_data
        .get()
        .map_or(Duration::ZERO, |first| tx.last_data.since(first));
    let marked = rx.rare.as_deref().is_some_and(|r| r.ecn_ece > 0);
    let lost = tx
        .loss
        .as_deref()
        .is_some_and(|l| l.total() > u64::from(l.syn));
    // A program that writes by a clock of its own is later than the round trips vary.
    let varies = tx.rtt.as_ref().map_or(0, |rtt| {
        let us = rtt.by_ack.clone().quantiles();
        us.p95 - us.min
    });
    let late = 1_000 + u64::from(tx.path_or_zero() / 8) + u64::from(varies);
    flat.rounds >= ROUNDS
        && flat.late_us <= u64::from(flat.rounds) * late
        && u64::from(flat.most) * 2 <= u64::from(rx.window_range.1)
        && i64::from(flat.rounds) * trip * 3 >= life.as_micros()
        && Duration::from_micros(trip) >= ROUND_TRIP
        && !marked
        && !lost
}

fn describe(side: &Side<'_>, (level, each): (&Level, Duration)) -> Finding {
    let mut f = side.finding(DETECTOR.id, Severity::Medium);
    f.packets = packets([level.number].into_iter().filter(|n| *n > 0));
    let (sender, receiver) = (side.sender_end, side.receiver_end);
    f.title = format!(
        "{} sends only {} per round trip of {} ({}): its own limit, not the network's",
        sender.ip,
        bytes(level.bytes.into()),
        length(each),
        rate(level.bytes, each)
    );
    f.remedy = vec![
        format!(
            "In the program on {}: do not set SO_SNDBUF (it switches Linux's automatic growth off), or set it to \
             several times this amount.",
            sender.ip
        ),
        format!(
            "On {}: let the send buffer grow, `sysctl -w net.ipv4.tcp_wmem='4096 65536 33554432'`.",
            sender.ip
        ),
        "If neither is set, look for a fixed congestion window (`ip route show`: cwnd, window) or for a program that \
         waits for its data to be acknowledged before it writes more."
            .to_owned(),
    ];
    if !side.has(Need::AtSender) {
        f.remedy.push(format!(
            "A device between the two can make {}'s window smaller than it is here: capture at {} too, and compare \
             (`tcplab analyze --pair A B`).",
            receiver.ip, sender.ip
        ));
    }
    f.cause = format!(
        "In each of {} round trips {} sent about {} bytes and waited for the ACKs, though {} had room for {}. Nothing \
         was lost, so the congestion window would have grown. A send buffer holds all that is not ACKed yet: when it \
         is full, the program must wait. A program that writes as much at times of its own, hardly further apart than a round \
         trip, looks the same.",
        level.rounds, sender.ip, level.bytes, receiver.ip, level.window
    );
    f
}
