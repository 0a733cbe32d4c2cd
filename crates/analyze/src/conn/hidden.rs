//! Timeouts whose original was lost before the capture: at the receiver a retransmission looks like new data.
//!
//! What tells it is the IP identification (RFC 6864). Linux counts it up one by one for each connection and leaves a gap
//! for packets that were sent and did not come. Windows counts for several connections together; it sends no time stamps
//! unless asked, so only connections with time stamps are looked at. A silence that ends with the very next data and such a gap was
//! the retransmission timer's (RFC 6298), or a probe's (RFC 8985 7.3): the sender had sent that data before.
//!
//! An ACK whose sequence number lies behind that data proves the same (the answer to a request that was repeated, at the client).

use tcplab_base::Duration;
use tcplab_wire::TcpPacket;

use super::data::{At, NEAR_IDS, SURELY_LATE, rtt, silence};
use super::dir::Dir;
use super::loss::{Again, Stamp};

/// The identification counts one by one after so many steps of one.
pub(super) const STEADY: i8 = 2;
/// A gap of more identifications (and of more than four flights, which double in slow start) is not due to losses and
/// retransmissions.
const MOST_LOST: u32 = 8;
/// Most doublings of the timer that are assumed (RFC 6298 5.5).
const BACKED_OFF: u32 = 6;
/// Linux's shortest timer.
const RTO_MIN: Duration = Duration::from_millis(200);

/// New data of `tx` that continues where it stopped: was it sent before, and lost?
pub(super) fn timeout(tx: &Dir, rx: &Dir, p: &TcpPacket, at: At) -> Option<Again> {
    if at.now.since(tx.last_data) < RTO_MIN {
        return None;
    }
    let told = was_sent(tx, p, at);
    if !told && (tx.id_run < STEADY || !tx.timestamps) {
        return None;
    }
    let tsval = p.options.timestamps.map(|t| t.0);
    let (idle, wait) = silence(tx, tsval, at.now);
    let timer = (wait + RTO_MIN).as_nanos().saturating_mul(3) / 2;
    let lost = match told {
        true => sent_in(idle, timer),
        false => p.ip_id?.wrapping_sub(tx.newest_id).checked_sub(1)?,
    };
    let missed = tx.rare.as_deref().map(|r| &r.missed);
    let at_once = told || lost == 1;
    let dropped = missed.is_some_and(|m| m.bytes > 0 && (at_once || m.at >= tx.last_data));
    // The missing packet may be an ACK for data that this packet ACKs once more.
    let acks = rx.progress == at.now;
    let probes = |d: &Dir| d.rare.as_deref().is_some_and(|r| r.keep_alives > 0);
    let alive = probes(tx) || probes(rx);
    let waits = tx.acks_seen && !tx.flight.is_empty();
    let joined = p.payload_len > tx.full_payload(rx.mss);
    if lost == 0
        || u32::from(lost) > MOST_LOST.max(flights(tx))
        || dropped
        || alive
        || acks
        || joined
        || waits
    {
        return None;
    }
    // Each timeout doubles the next one (RFC 6298 5.5). In a longer silence the program had a part. It is reported if
    // it is a pause before one or two packets.
    let most = timer.saturating_mul((1 << u32::from(lost).min(BACKED_OFF)) - 1);
    if idle.as_nanos() > most && lost > 2 {
        return None;
    }
    let again = Again {
        seq: p.seq,
        end: p.seq_end(),
        now: at.now,
        number: at.number,
        idle: idle.min(Duration::from_nanos(most)),
        wait,
        head: true,
        // One lost packet and nothing after it: Linux sends the probe before the timer fires.
        tail: lost == 1,
        tsval,
        stamp: Stamp::of(p),
        fresh: true,
        start: tx.last_data,
        nxt: p.seq_end(),
        sack_permitted: tx.may_sack() && rx.may_sack(),
        acks_seen: tx.acks_seen,
        rtt: rtt(tx),
        acked: false,
        queued: [None; 2],
        flight: 0,
        passed: tx.relative(tx.una),
        lost: true,
        too_big: false,
        smaller: false,
    };
    again.silent().then_some(again)
}

/// How many packets a silence takes whose timer doubles each time: one, as a probe, or more.
fn sent_in(idle: Duration, timer: i64) -> u16 {
    let takes = |sent: u32| timer.saturating_mul((1 << sent) - 1);
    let sent = (1..BACKED_OFF).find(|sent| idle.as_nanos() <= takes(*sent));
    sent.unwrap_or(BACKED_OFF) as u16
}

/// A packet without data that passed before had a sequence number behind this data: that had been sent, and did not come.
/// Right behind that packet it may only be late, unless its identification shows that it left later.
fn was_sent(tx: &Dir, p: &TcpPacket, at: At) -> bool {
    let Some((ahead, bytes)) = tx.never_filled() else {
        return false;
    };
    let left_later = tx.id_run > 0 && tx.is_next(p.ip_id.unwrap_or(0));
    let inside = p.seq == tx.una && p.payload_len <= bytes;
    inside && (left_later || at.now.since(ahead.since) >= SURELY_LATE)
}

/// Segments in four of the sender's largest flights, as captured. Without ACKs, flights are unknown.
fn flights(tx: &Dir) -> u32 {
    if !tx.acks_seen {
        return NEAR_IDS.unsigned_abs().into();
    }
    let largest = tx.rounds.as_deref().map_or(0, |r| r.flight(tx.nxt));
    largest / tx.max_payload.max(1) * 4
}
