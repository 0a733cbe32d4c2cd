//! C and I set together: the receiver reads "no change" (openEuler decodes a grant and a mark only when one of them stands
//! alone).

use super::first;
use crate::findings::{Detector, Finding, Id, Severity, Side};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("caqm_both_bits"),
    severity: "medium",
    said_when: "A request has C and I set: a switch marks without clearing I, and receivers read \"no change\"",
    needs: &[],
    detect: |side, out| out.extend(find(side)),
};

pub(super) fn find(side: &Side<'_>) -> Option<Finding> {
    let tags = side.sender.caqm()?;
    let seen = &tags.seen;
    (seen.contradictory > 0).then(|| {
        let mut f = side.finding(DETECTOR.id, Severity::Medium);
        f.packets = first(tags.first.contradictory);
        f.title = format!(
            "{} of {} CAQM requests of {} have both C and I set: the marks have no effect",
            seen.contradictory, seen.requests, side.sender_end.ip
        );
        f.cause = "A switch that marks a packet (C) has to clear I. With both bits set openEuler's receiver counts neither the \
                   hint nor the mark, so the sender keeps its window while the queue grows."
            .to_owned();
        f.remedy = vec![
            "Have the switch clear I when it sets C; until then its queue has no hold on the senders but loss."
                .to_owned(),
        ];
        f
    })
}
