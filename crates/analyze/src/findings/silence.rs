//! What helps a sender that waited for a timer, because nothing told it of the loss in time (`tail_loss`, `rto_stall`).
//!
//! Linux tcp_schedule_loss_probe() and tcp_rearm_rto() arm both timers with each data and each ACK of new data: the probe
//! for two smoothed round trips, plus `tcp_rto_min` with one segment in flight, but never for later than the timeout; the
//! timeout for srtt + rttvar, where rttvar is at least `tcp_rto_min` (tcp_rtt_estimator()). So `rto_min` comes on top of
//! the round trip, and a value above the receiver's delayed-ACK timer is enough.

use tcplab_base::Duration;

use super::episodes::Episodes;
use super::{Need, Side, length, route};
use crate::conn::Record;

/// The path's round trips that are so much shorter than the minimum RTO that a lower one shortens the silence.
const NEAR: Duration = Duration::from_millis(50);
/// Linux's delayed-ACK timer: `TCP_DELACK_MIN`. tcp_send_delayed_ack() may take a longer round trip instead.
const HELD: Duration = Duration::from_millis(40);
/// Ticks by which that timer is late (HZ=100), and as much again for the path.
const SPARE: Duration = Duration::from_millis(20);
/// Linux's minimum RTO.
const MINIMUM_MS: i64 = 200;
/// A second timeout of the same segment waits longer (RFC 6298 5.5).
const AGAIN: Duration = Duration::from_millis(2 * MINIMUM_MS);
/// No timer with the minimum RTO fires sooner, as far as clocks tell.
const FLOOR: Duration = Duration::from_millis(150);

/// What to do about it.
pub(super) fn remedy(side: &Side<'_>, list: &Episodes<'_>) -> Vec<String> {
    let mut remedy = vec![place(side, list), timers(side, list)];
    remedy.extend(minimum(side, list).into_iter().flatten());
    remedy
}

/// One segment was in flight each time: no probe could have come before the timeout.
pub(super) fn were_lone(list: &Episodes<'_>) -> bool {
    list.iter().all(|r| r.lone)
}

/// Where to look for the losses.
fn place(side: &Side<'_>, list: &Episodes<'_>) -> String {
    let (sender, receiver) = (side.sender_end.ip, side.receiver_end.ip);
    let has_all = list.iter().all(|r| r.seen);
    let has_any = list.iter().any(|r| r.seen);
    let place = if has_all && side.has(Need::AtSender) {
        // Linux dev_hard_start_xmit() shows a packet to captures when it has left the qdisc.
        format!("after the qdisc of {sender} (the capture there has them)")
    } else if has_all {
        format!("between the capture, which has them, and {receiver}")
    } else if !has_any && side.has(Need::EveryPacket) {
        format!("between {sender} and the capture, which lacks them")
    } else {
        format!("between {sender} and {receiver}")
    };
    format!(
        "Find where the packets are lost: {place}. `ip -s link` and `tc -s qdisc` count drops; `tcplab analyze --pair A B` \
         compares captures of both ends."
    )
}

/// What the sender's timers tell, and what switches its probes on.
fn timers(side: &Side<'_>, list: &Episodes<'_>) -> String {
    let sender = side.sender_end.ip;
    let count = "`nstat -az TcpExtTCPLossProbes TcpExtTCPTimeouts`";
    if were_lone(list) {
        return format!(
            "On {sender}, {count} tells probes from timeouts. `net.ipv4.tcp_early_retrans` makes no difference: with one \
             segment in flight, both are due together."
        );
    }
    let sack = if !side.sender.may_sack() || !side.receiver.may_sack() {
        " Linux sends probes only with SACK, and the handshake did not agree on it: `sysctl net.ipv4.tcp_sack` should print 1 \
         at both ends."
    } else if side.sender.sack_permitted && side.receiver.sack_permitted {
        ""
    } else {
        " Linux sends probes only with SACK: `sysctl net.ipv4.tcp_sack` should print 1."
    };
    let told = if list.iter().any(|r| r.lone) {
        format!(" {count} counts probes and timeouts.")
    } else {
        String::new()
    };
    format!(
        "On {sender}, switch tail loss probes on if `sysctl net.ipv4.tcp_early_retrans` prints 0: \
         `sysctl -w net.ipv4.tcp_early_retrans=3`.{sack}{told}"
    )
}

/// A lower minimum RTO, if that shortens the silence, and by how much.
fn minimum(side: &Side<'_>, list: &Episodes<'_>) -> Option<[String; 2]> {
    let (sender, receiver) = (side.sender_end.ip, side.receiver_end.ip);
    let trip = list.iter().map(|r| r.rtt).max().unwrap_or(Duration::ZERO);
    let longest = list.longest();
    if trip == Duration::ZERO || trip > NEAR || longest < FLOOR {
        return None;
    }
    let ms = lower(trip);
    let saved = Duration::from_millis(MINIMUM_MS - ms);
    let gain = if longest < AGAIN && longest > saved {
        format!(
            "The silence of {} then becomes about {}.",
            length(longest),
            length(longest - saved)
        )
    } else {
        format!(
            "The first wait of a silence then becomes {} shorter.",
            length(saved)
        )
    };
    let route = route::with(receiver, &format!("rto_min {ms}ms"));
    // A socket takes the sysctl when it is made, and one that is accepted takes its listener's (inet_csk_clone_lock()).
    Some([
        format!(
            "On {sender}, lower the minimum RTO (200 ms) until the next reboot: {route}. {gain} Keep rto_min above the delayed-ACK \
             timer of {receiver} (on Linux 40 ms, or a longer round trip)."
        ),
        format!(
            "Or for all peers, from Linux 6.11 on: `sysctl -w net.ipv4.tcp_rto_min_us={ms}000`; restart the program."
        ),
    ])
}

/// The minimum RTO to suggest for such a round trip, ms: above the delayed-ACK timer of a Linux receiver.
fn lower(trip: Duration) -> i64 {
    (trip.max(HELD) + SPARE).as_micros().div_euclid(10_000) * 10
}

/// When the timers of Linux are due, for the explanation.
pub(super) fn timing(list: &Episodes<'_>) -> &'static str {
    let lone = |r: &Record| r.lone;
    if were_lone(list) {
        "One segment was in flight, so probe and timeout were due together: on Linux a round trip and the minimum RTO \
         (200 ms) after the last data or ACK."
    } else if list.iter().any(lone) {
        "On Linux, a probe is due two round trips after the last data or ACK, but no later than the timeout. With one \
         segment in flight, both are due together: after a round trip and the minimum RTO (200 ms)."
    } else {
        "On Linux, a probe is due two round trips after the last data or ACK, but no later than the timeout."
    }
}
