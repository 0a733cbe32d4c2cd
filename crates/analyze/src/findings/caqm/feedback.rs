//! The receiver tells its sender something else than what arrived: grants or marks are lost in the host.

use super::first;
use crate::findings::{Detector, Finding, Id, Severity, Side};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("caqm_feedback_lost"),
    severity: "medium",
    said_when: "At the receiver: CAQM feedback sent and tags received differ by more than one ACK can hold and by over 10 %",
    needs: &[],
    detect: |side, out| out.extend(find(side)),
};

/// Most bytes of feedback that may wait for the next ACK. One ACK holds up to 255 units of 64 bytes.
const WAITING: u64 = 255 * 64;

pub(super) fn find(side: &Side<'_>) -> Option<Finding> {
    let tags = side.requests()?;
    let told = side.told()?;
    let has_more = side.receiver.caqm()?.last_hint == u8::MAX;
    let (plus, minus) = (told.feedback_plus_bytes, told.feedback_minus_bytes);
    let said = i64::try_from(plus).ok()? - i64::try_from(minus).ok()?;
    let off = said.abs_diff(tags.worth_told);
    // Marks and grants may nearly outweigh one another: the difference is measured at all that came.
    let moved = tags.seen.granted_bytes + tags.seen.taken_bytes;
    let is_off = off > WAITING && off * 10 > moved;
    (is_off && !has_more && side.is_at_receiver() && side.is_whole()).then(|| {
        let mut f = side.finding(DETECTOR.id, Severity::Medium);
        f.packets = first(tags.first.tag);
        f.title = format!(
            "{} got CAQM grants and marks worth {} bytes of window and told {} of {said}",
            side.receiver_end.ip, tags.worth_told, side.sender_end.ip
        );
        f.cause = "The receiver adds up the hints of the data it gets and returns the sum on segments without payload. Here the \
                   sums differ: its network card or driver merges frames and drops their tags (LRO, GRO without CAQM), or its \
                   units are not those of the sender (data_hint_unit, ack_hint_unit, beta)."
            .to_owned();
        f.remedy = vec![
            format!(
                "On {}: compare `sysctl net.core | grep caqm` with the sender's; `ethtool -K DEVICE lro off`.",
                side.receiver_end.ip
            ),
            "If the units are not the defaults, tell them: `tcplab analyze --caqm-units DATA/ACK/BETA`."
                .to_owned(),
        ];
        f
    })
}
