//! Every request is granted, and packets are lost: nobody on the path judges tags.

use crate::conn::Tags;
use crate::findings::{Detector, Finding, Id, Severity, Side, packets, times};
use crate::report::CaqmTags;

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("caqm_no_switch"),
    severity: "medium",
    said_when: "All requests (32 or more) were granted, by their tags at the receiver or by the feedback, yet at least three segments had to be retransmitted",
    needs: &[],
    detect: |side, out| out.extend(find(side)),
};

/// Fewer losses may be the wire's.
const LOSSES: u64 = 3;

pub(super) fn find(side: &Side<'_>) -> Option<Finding> {
    let tags = side.requests()?;
    let seen = &tags.seen;
    let lost = side.lost();
    let is_all_granted = seen.granted == seen.requests
        && match side.told() {
            _ if side.is_at_receiver() => true,
            Some(told) => is_all_told(side, tags, told),
            None => false,
        };
    (is_all_granted && lost >= LOSSES).then(|| {
        let mut f = side.finding(DETECTOR.id, Severity::Medium);
        let episodes = side.episodes().iter().map(|e| e.packet);
        f.packets = packets(episodes.chain([tags.first.tag]));
        f.title = format!(
            "all {} CAQM requests of {} were granted, and it had to repeat segments {}: no switch judges them",
            seen.requests,
            side.sender_end.ip,
            times(lost)
        );
        f.cause = "A switch that does not know the tag forwards it untouched, and an untouched request is a granted one: the \
                   window doubles each round trip until a queue overflows."
            .to_owned();
        f.remedy = vec![
            "Turn CAQM on at the port where the packets are dropped (the hosts' tags and the switch's must have the same \
             EtherType and type), or use another congestion control on this path."
                .to_owned(),
            "If no queue overflows there (`ethtool -S`, the switch's drop counters), the losses have another cause: cables, \
             filters."
                .to_owned(),
        ];
        f
    })
}

/// Whether the capture is before the last switch: the receiver reported nearly all of the requested window, except
/// that of lost packets. Most of these are lost at the end of slow start, where each packet asks for most.
fn is_all_told(side: &Side<'_>, tags: &Tags, told: &CaqmTags) -> bool {
    let lost = side.lost().saturating_mul(tags.boldest);
    let heard = told.feedback_plus_bytes.saturating_add(lost);
    side.is_whole()
        && told.feedback_minus_bytes == 0
        && heard.saturating_mul(10) >= tags.seen.asked_bytes.saturating_mul(9)
}
