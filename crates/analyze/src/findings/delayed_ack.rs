//! Data that waited for a delayed ACK: against Nagle's algorithm (RFC 1122 4.2.3.4, the sender
//! holds a small segment while another one is unACKed), or against a window, a send buffer or a
//! program that waits for the ACK.

use tcplab_base::Duration;

use super::{Finding, Id, Severity, Side, length, packets, quickack, times, us};
use crate::conn::{AckStats, Evidence, Released};

pub(crate) fn find(side: &Side<'_>) -> Vec<Finding> {
    let Some(acks) = side.receiver.acks.as_deref() else {
        return Vec::new();
    };
    let Some(e) = acks.evidence.as_deref() else {
        return Vec::new();
    };
    // A sender that waits for ACKs goes on at once after quick ones, too; one that writes by a
    // clock may only seem to.
    let [quick, at_once] = acks.quick_answers;
    if quick >= 3 && at_once * 2 < quick {
        return Vec::new();
    }
    let share = |r: &Released| r.count >= 2 && r.count * 10 >= u64::from(acks.delayed) * 4;
    let mut found = Vec::new();
    if share(&e.released_nagle) {
        found.push(nagle(side, acks, e));
    }
    // One full segment first, and more at once after its late ACK (an initial window of one):
    // once is enough.
    if share(&e.released_other) || e.released_first {
        found.push(held(side, acks, e));
    }
    found
}

fn lost(acks: &AckStats, e: &Evidence, count: u64) -> String {
    let all = e.delayed_net_us;
    let share = all / u64::from(acks.delayed.max(1)) * count;
    length(Duration::from_micros(
        i64::try_from(share).unwrap_or(i64::MAX),
    ))
}

fn nagle(side: &Side<'_>, acks: &AckStats, e: &Evidence) -> Finding {
    let r = &e.released_nagle;
    let median = e.delayed_us.clone().quantiles().p50;
    let mut f = side.finding(Id::DelackNagle, Severity::High, 0.99);
    f.packets = packets(r.packets.iter().copied());
    f.title = format!(
        "{} held small segments {} times until a delayed ACK came ({} each, {} in all)",
        side.sender_end.ip,
        r.count,
        us(median),
        lost(acks, e, r.count)
    );
    f.cause = format!(
        "{s} writes a message in two or more small parts. Nagle's algorithm holds the second part \
         while the first is not ACKed, and {r} delays that ACK because it has nothing to send yet \
         (write-write-read). The second part left the moment the ACK came.",
        s = side.sender_end.ip,
        r = side.receiver_end.ip
    );
    f.remedy = vec![
        format!(
            "In the program on {}: write each message with one call (writev, a buffer, MSG_MORE or \
             TCP_CORK).",
            side.sender_end.ip
        ),
        format!(
            "Or switch Nagle off there: `setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one)`."
        ),
    ];
    f.remedy.extend(quickack::quickack_routes(side));
    f
}

fn held(side: &Side<'_>, acks: &AckStats, e: &Evidence) -> Finding {
    let r = &e.released_other;
    let median = e.delayed_us.clone().quantiles().p50;
    let mut f = side.finding(Id::DelackRequestResponse, Severity::High, 0.98);
    f.packets = packets(r.packets.iter().copied());
    f.title = format!(
        "{} went on {} only when a delayed ACK came ({} each, {} in all)",
        side.sender_end.ip,
        times(r.count),
        us(median),
        lost(acks, e, r.count)
    );
    f.cause = format!(
        "{s} had more to send and waited for the ACK of what was under way; {r} held that ACK for \
         its delayed-ACK timer. Nagle's algorithm does not explain it (the segments are full), so a \
         small congestion window, receive window or send buffer does: with an odd number of \
         segments in flight the last one waits for the timer.",
        s = side.sender_end.ip,
        r = side.receiver_end.ip
    );
    f.remedy = vec![format!(
        "On {}: allow more in flight (a larger SO_SNDBUF, a larger initial window: ip route ... \
         initcwnd 10, no cwnd reset when idle: `sysctl net.ipv4.tcp_slow_start_after_idle=0`).",
        side.sender_end.ip
    )];
    f.remedy.extend(quickack::quickack_routes(side));
    f
}
