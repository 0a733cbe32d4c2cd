//! Tagged frames that are longer than the MTU allows: the sender's MSS was not lowered by the tag's 4 bytes.

use super::first;
use crate::findings::{Detector, Finding, Id, Severity, Side, route};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("caqm_oversize"),
    severity: "info",
    said_when: "Tagged packets of 1,497 to 1,500 (8,997 to 9,000) bytes: with the tag the frame is longer than the MTU allows",
    needs: &[],
    detect: |side, out| out.extend(find(side)),
};

pub(super) fn find(side: &Side<'_>) -> Option<Finding> {
    let tags = side.sender.caqm()?;
    let oversize = tags.seen.oversize;
    (oversize > 0).then(|| {
        let mut f = side.finding(DETECTOR.id, Severity::Info);
        f.packets = first(tags.first.oversize);
        f.title = format!(
            "{oversize} tagged frames of {} are up to 4 bytes longer than the MTU allows",
            side.sender_end.ip
        );
        f.cause = "The tag takes 4 bytes of the frame. openEuler's first code kept the MSS, so a full segment makes a frame of \
                   1518 bytes (9018 with jumbo frames), which a switch may drop as too long; later code lowers the MSS by 4."
            .to_owned();
        f.remedy = vec![format!(
            "On {}, announce a smaller MSS: {}. Or use a larger MTU on the switches and cards of the path.",
            side.receiver_end.ip,
            route::with(side.sender_end.ip, "advmss 1456")
        )];
        f
    })
}
