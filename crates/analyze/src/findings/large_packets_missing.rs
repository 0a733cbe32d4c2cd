//! A path-MTU black hole as its receiver sees it (RFC 2923 2.1): what is full never comes, what is small does.
//!
//! The sender's small packets carry sequence numbers beyond data that never passed: that data was sent.

use tcplab_base::Duration;

use super::{
    Detector, Finding, Id, Need, Severity, Side, length, packets, route, smaller_segments,
};
use crate::conn::{Ahead, Connection, Dir};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("large_packets_missing"),
    severity: "medium",
    said_when: "A suspicion, seen at the receiver: no full segment ever arrived. A small packet was at least two full segments ahead of the data received, the missing data never came, and the sender was silent for 3 s before that packet or the gap stayed open for 3 s. Or the missing data came after 3 s of silence, in segments smaller than both MSS options allow",
    needs: &[
        Need::BothDirections,
        Need::Handshake,
        Need::EveryPacket,
        Need::WholeHeaders,
    ],
    detect: |side, out| out.extend(find(side).or_else(|| came_smaller(side))),
};

/// A hole that stays open so long was not filled by two timeouts at least (RFC 6298 2.1, 5.5: 1 s, then 2 s).
const LONG: Duration = Duration::from_secs(3);
/// So many full segments: one may have been lost by chance, again and again.
const SEGMENTS: u32 = 2;
/// What every host takes (RFC 9293 3.7.1): a longer segment that was not pushed is a full one of its sender.
const LEAST_MSS: u16 = 536;

/// What never came.
struct Missing<'a> {
    ahead: &'a Ahead,
    bytes: u32,
    /// Payload of a full segment.
    full: u32,
}

/// The full segments of `sender` never passed.
fn missing<'a>(connection: &Connection, sender: &'a Dir, receiver: &Dir) -> Option<Missing<'a>> {
    let (ahead, bytes) = sender.never_filled()?;
    let full = sender.mss_bound(receiver.mss)?;
    let none_came = sender.max_payload < full && sender.unpushed < LEAST_MSS;
    let long = ahead.silent >= LONG || connection.last.since(ahead.since) >= LONG;
    let is_it = none_came && long && bytes >= SEGMENTS.saturating_mul(full);
    is_it.then_some(Missing { ahead, bytes, full })
}

/// The peer sent an answer that never came, large or not.
pub(super) fn hides_answer(side: &Side<'_>) -> bool {
    side.receiver.never_filled().is_some()
}

/// No full segment came, so the capture cannot tell whether the peer sent any.
pub(super) fn may_hide_answer(side: &Side<'_>) -> bool {
    let full = side.receiver.full_payload(side.sender.mss);
    side.receiver.max_payload < full && !side.has(Need::AtReceiver)
}

/// The missing data came at last, in smaller segments.
fn came_smaller(side: &Side<'_>) -> Option<Finding> {
    let r = smaller_segments::first(side.sender, side.receiver, smaller_segments::at_receiver)?;
    let mut f = side.finding(DETECTOR.id, Severity::Medium);
    f.packets = packets([r.packet]);
    let (sender, receiver) = (side.sender_end.ip, side.receiver_end.ip);
    let full = side.sender.mss_bound(side.receiver.mss).unwrap_or(0);
    let found = side.sender.found_size().unwrap_or(0);
    let waited = smaller_segments::silence(side.sender, side.receiver).unwrap_or_default();
    f.title = format!(
        "large packets of {sender} may not get through: nothing came for {}, then segments of {found} bytes, not {full}",
        length(waited.max(r.longest_idle))
    );
    f.cause = format!(
        "Both ends allow segments of {full} bytes, and none ever came. What {sender} had sent before the silence came in smaller \
         ones: it sends smaller segments after some timeouts (Linux `tcp_mtu_probing`, RFC 4821). Either the path has a smaller \
         MTU and its ICMP messages are lost (path-MTU black hole), or the path was broken for that long."
    );
    f.remedy = vec![
        format!(
            "Measure the path: `tracepath -n {sender}` here, `tracepath -n {receiver}` on {sender}."
        ),
        format!(
            "If its MTU is smaller: let ICMP \"fragmentation needed\" and \"packet too big\" pass to {sender}, or announce a \
             smaller MSS here: {}.",
            route::with(sender, "advmss BYTES")
        ),
    ];
    Some(f)
}

fn find(side: &Side<'_>) -> Option<Finding> {
    let missing = missing(side.connection, side.sender, side.receiver)?;
    let mut f = side.finding(DETECTOR.id, Severity::Medium);
    if !side.is_told(DETECTOR.id) {
        return Some(f);
    }
    let [first, newest] = missing.ahead.packets;
    let numbers = if first == newest {
        &[first][..]
    } else {
        &[first, newest]
    };
    f.packets = packets(numbers.iter().copied());
    let (sender, receiver) = (side.sender_end.ip, side.receiver_end.ip);
    f.title = format!(
        "large packets of {sender} may not get through: {} bytes that it sent never came, while its small packets arrive",
        missing.bytes
    );
    let open = side.connection.last.since(missing.ahead.since);
    f.cause = format!(
        "Packet {first} is {} bytes ahead of all data that had come from {sender}, so {sender} had sent that data. None of it \
         came{}, and no full segment of {} bytes ever did. Two causes leave these packets at {receiver}: a path with a smaller \
         MTU whose ICMP messages are lost (path-MTU black hole), or a path that was broken while the data was sent.",
        missing.bytes,
        if open >= LONG {
            format!(" in {}", length(open))
        } else {
            String::new()
        },
        missing.full,
    );
    f.remedy = vec![
        format!(
            "Measure the path: `tracepath -n {sender}` here, `tracepath -n {receiver}` on {sender}."
        ),
        format!(
            "Capture on {sender}: the same full segments sent again and again, without an ACK, show a black hole."
        ),
        format!(
            "If it is one: let ICMP \"fragmentation needed\" and \"packet too big\" pass to {sender}, or set \
             `sysctl net.ipv4.tcp_mtu_probing=1` there."
        ),
    ];
    Some(f)
}
