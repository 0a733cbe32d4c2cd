//! Segments that overtook each other on the way, whether or not anything was sent again for it (RFC 4737).

use super::{Detector, Finding, Id, Need, Severity, Side, length, packets, times};
use crate::conn::{Loss, Reordered};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("reordering"),
    severity: "info",
    said_when: "Segments arrived after others that were sent later. They were not requested again, and no ACKed retransmission reveals them to the sender (RACK). Shown by time stamps or IP identification downstream of the reordering, by SACK at the sender",
    needs: &[Need::Data, Need::BothDirections, Need::EveryPacket],
    detect: |side, out| {
        let loss = side.sender.loss.as_deref();
        let late = loss.and_then(|l| l.reordered.as_deref());
        let found = late.filter(|r| r.segments > 0);
        let sack = side.sender.sack_permitted && side.receiver.sack_permitted;
        if side.connection.out_of_order() > 0 {
            out.cannot_tell(Need::Order);
        } else if let Some(found) = found {
            out.extend([finding(side, found)]);
        } else if loss.is_some_and(Loss::told_of_holes) && !side.has(Need::WholeHeaders) {
            // The SACK blocks that show it at the sender, or the time stamps behind it, were cut off.
            out.cannot_tell(Need::WholeHeaders);
        } else if late.is_some() {
            out.cannot_tell(Need::Handshake);
        } else if !sack && side.has(Need::AtSender) && side.sender.load().is_some() {
            out.cannot_tell(Need::AtReceiver);
        }
    },
};

fn finding(side: &Side<'_>, r: &Reordered) -> Finding {
    let mss = side.sender.wire_mss(side.receiver.mss).unwrap_or(1460);
    let overtaken = r.bytes.div_ceil(mss.max(1)).max(1);
    let (a, b) = (side.sender_end.ip, side.receiver_end.ip);
    let mut f = side.finding(DETECTOR.id, Severity::Info);
    f.packets = packets(r.packets.iter().copied());
    f.title = format!(
        "segments from {a} to {b} came in another order than they were sent {}, up to {overtaken} {} or {} late",
        times(u64::from(r.segments)),
        if overtaken == 1 {
            "segment"
        } else {
            "segments"
        },
        length(r.longest)
    );
    f.cause = format!(
        "Segments overtook each other on the way to {b}. Up to about three segments, or a quarter of a round trip, a sender \
         waits before it takes the late one for lost (RFC 5681, RFC 8985); beyond that it sends again and slows down."
    );
    f.remedy = vec![
        "Find the place that reorders: per-packet load balancing, link aggregation that hashes by packet, parallel queues \
         on one path. While nothing is sent again for it, it costs little."
            .to_owned(),
    ];
    f
}
