//! Data that waited for a delayed ACK: against Nagle's algorithm (RFC 1122 4.2.3.4, the sender
//! holds a small segment while another one is unACKed), or against a window, a send buffer or a
//! program that waits for the ACK.

use tcplab_base::Duration;

use super::{Detector, Finding, Found, Id, Need, Severity, Side, length, packets, quickack, times};
use crate::conn::{AckStats, Evidence, Released};

pub(crate) const NAGLE: Detector = Detector {
    id: Id("delack_nagle"),
    severity: "high",
    said_when: "A small segment left the moment a delayed ACK of an earlier small segment came (write-write-read)",
    needs: &[Need::BothDirections],
    detect: |side, out| {
        unclear(side, out, |e| e.released_nagle.count >= 2);
        let found = find_nagle(side);
        if found.is_none() && may_be_nagle(side) {
            out.cannot_tell(Need::AtSender);
        }
        out.extend(found);
    },
};

pub(crate) const HELD: Detector = Detector {
    id: Id("delack_request_response"),
    severity: "high",
    said_when: "A small congestion window, receive window or send buffer held a full segment until a delayed ACK came",
    needs: &[Need::BothDirections],
    detect: |side, out| {
        unclear(side, out, |e| e.released_other.count >= 2);
        let found = find_held(side);
        match found.as_ref().and_then(|_| full_window_lacks(side)) {
            Some(lacks) => out.cannot_tell(lacks),
            None => out.extend(found),
        }
    },
};

/// What the receiver's delayed ACKs show; nothing when its sender does not wait for ACKs.
fn evidence<'a>(side: &Side<'a>) -> Option<(&'a AckStats, &'a Evidence)> {
    let acks = side.receiver.acks.as_ref()?;
    let evidence = acks.evidence.as_deref()?;
    acks.peer_waits().then_some((acks, evidence))
}

/// The receiver's window was closed or full now and then: where the capture lacks this, an ACK that came late may have
/// waited for the program that reads, and opened the window.
fn full_window_lacks(side: &Side<'_>) -> Option<Need> {
    let closed = side.receiver.zero.is_some();
    let dropped = closed && !side.has(Need::EveryPacket);
    let lacks = side.scale_lacks().filter(|_| closed || may_be_full(side));
    lacks.or(dropped.then_some(Need::EveryPacket))
}

/// Whether the flight filled the window, under the smallest scale that fits the flight.
fn may_be_full(side: &Side<'_>) -> bool {
    let (flight, window) = (
        u64::from(side.sender.max_in_flight),
        u64::from(side.receiver.window_range.1),
    );
    let scaled = (0..=14).map(|shift| window << shift);
    let fits = scaled.into_iter().find(|window| *window >= flight);
    fits.is_some_and(|window| flight * 8 >= window * 7)
}

/// Data waited for ACKs of which nobody can tell whether the timer held them.
fn unclear(side: &Side<'_>, out: &mut Found, waited: fn(&Evidence) -> bool) {
    let acks = side.receiver.acks.as_ref();
    if let Some(unclear) = acks.and_then(AckStats::unclear)
        && waited(&unclear.evidence)
    {
        out.cannot_tell(Need::RoundTrip);
    }
}

/// Whether these are more than a few of the delayed ACKs.
fn is_share(r: &Released, acks: &AckStats) -> bool {
    r.count >= 2 && r.count * 10 >= u64::from(acks.delayed) * 4
}

fn find_nagle(side: &Side<'_>) -> Option<Finding> {
    let (acks, e) = evidence(side)?;
    is_share(&e.released_nagle, acks).then(|| nagle(side, acks, e))
}

/// Small segments came after late ACKs, at times that jitter makes uncertain: only at their sender the packets tell.
fn may_be_nagle(side: &Side<'_>) -> bool {
    let near = side.sender.path_or_zero();
    let steady = side.sender.acks.as_ref().is_some_and(|acks| {
        let us = acks.immediate_us.clone().quantiles();
        us.samples >= 3 && us.p95 - us.min < near / 10
    });
    let told = evidence(side).filter(|_| !steady);
    told.is_some_and(|(acks, e)| {
        let count = e.released_nagle.count + e.perhaps_nagle;
        count >= 2 && count * 10 >= u64::from(acks.delayed) * 4
    })
}

fn find_held(side: &Side<'_>) -> Option<Finding> {
    let (acks, e) = evidence(side)?;
    // One full segment first, and more at once after its late ACK (an initial window of one):
    // once is enough.
    (is_share(&e.released_other, acks) || e.released_first).then(|| held(side, acks, e))
}

/// How long so many delayed ACKs waited at the receiver, without the path's share.
pub(super) fn net_wait(acks: &AckStats, e: &Evidence, count: u64) -> String {
    let all = e.delayed_net_us;
    let share = all / u64::from(acks.delayed.max(1)) * count;
    length(Duration::from_micros(
        i64::try_from(share).unwrap_or(i64::MAX),
    ))
}

/// Without time stamps nothing tells whether an ACK left late or was late on its way, unless the waits are as long as a timer
/// in use.
pub(super) fn hedge(side: &Side<'_>, acks: &AckStats, f: &mut Finding) {
    if side.has(Need::TimeStamps) || acks.shows_timer(side.receiver.path_or_zero()) {
        return;
    }
    f.confidence = None;
    f.cause += " Without TCP time stamps, ACKs that a queue or jitter held up on the way back look the same.";
}

fn nagle(side: &Side<'_>, acks: &AckStats, e: &Evidence) -> Finding {
    let r = &e.released_nagle;
    let mut f = side.finding(NAGLE.id, Severity::High);
    f.packets = packets(r.packets.iter().copied());
    f.title = format!(
        "{} held back {} small packets for {} each ({} in all), because {} delays its ACKs",
        side.sender_end.ip,
        r.count,
        net_wait(acks, e, 1),
        net_wait(acks, e, r.count),
        side.receiver_end.ip
    );
    f.cause = format!(
        "{s} writes a message in two or more small parts. Nagle's algorithm holds the second part \
         until the ACK of the first, and {r} delays that ACK because it has nothing to send yet \
         (write-write-read). The second part left the moment the ACK came.",
        s = side.sender_end.ip,
        r = side.receiver_end.ip
    );
    f.remedy = vec![
        format!(
            "In the program on {}: write each message with one call (writev, or a buffer).",
            side.sender_end.ip
        ),
        "Or switch Nagle's algorithm off there: \
         `setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one)`."
            .to_owned(),
    ];
    f.remedy.extend(quickack::quickack_routes(side));
    hedge(side, acks, &mut f);
    f
}

fn held(side: &Side<'_>, acks: &AckStats, e: &Evidence) -> Finding {
    let r = &e.released_other;
    let mut f = side.finding(HELD.id, Severity::High);
    f.packets = packets(r.packets.iter().copied());
    let (each, all) = (net_wait(acks, e, 1), net_wait(acks, e, r.count));
    let cost = match r.count {
        1 => each,
        _ => format!("{each} each, {all} in all"),
    };
    f.title = format!(
        "{} stood still {} ({cost}), because {} delays its ACKs",
        side.sender_end.ip,
        times(r.count),
        side.receiver_end.ip
    );
    f.cause = format!(
        "{s} had more to send and waited for the ACK of what was in flight; {r} held that ACK for \
         its delayed-ACK timer. The segments are full, so Nagle's algorithm does not explain it. A \
         small congestion window, receive window or send buffer does: with an odd number of \
         segments in flight the last one waits for the timer.",
        s = side.sender_end.ip,
        r = side.receiver_end.ip
    );
    f.remedy = vec![format!(
        "On {}: allow more in flight: a larger SO_SNDBUF, a larger initial window (ip route ... \
         initcwnd 10), and `sysctl net.ipv4.tcp_slow_start_after_idle=0`.",
        side.sender_end.ip
    )];
    f.remedy.extend(quickack::quickack_routes(side));
    hedge(side, acks, &mut f);
    f
}
