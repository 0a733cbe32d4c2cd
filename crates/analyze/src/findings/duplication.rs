//! Packets that the network doubled: the receiver got twice what was sent once (RFC 2883).

use super::{Detector, Finding, Id, Need, Severity, Side, packets, times};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("duplication"),
    severity: "info",
    said_when: "DSACK reports that segments arrived twice although they were sent once, or both duplicates passed the capture",
    needs: &[
        Need::Data,
        Need::BothDirections,
        Need::EveryPacket,
        Need::WholeHeaders,
    ],
    detect: |side, out| out.extend(find(side)),
};

fn find(side: &Side<'_>) -> Option<Finding> {
    let rare = side.sender.rare.as_deref()?;
    let copies = rare.network_duplicates + rare.unseen_duplicates;
    if copies == 0 {
        return None;
    }
    let first = [rare.first_doubled].into_iter().filter(|n| *n > 0);
    let (a, b) = (side.sender_end.ip, side.receiver_end.ip);
    let mut f = side.finding(DETECTOR.id, Severity::Info);
    f.packets = packets(first);
    f.title = format!(
        "segments from {a} reached {b} twice ({})",
        times(copies.into())
    );
    f.cause = format!(
        "{b} reported data as received twice (DSACK) that {a} had sent once: something on the way doubles packets, such as \
         a loop of switches, a bonded or meshed link, or a capturing device that sends its copies on."
    );
    f.remedy = vec![
        "Find the place that doubles them: look at bridges without spanning tree, bonds in mode broadcast, mirror ports that \
         lead back into the network."
            .to_owned(),
    ];
    Some(f)
}
