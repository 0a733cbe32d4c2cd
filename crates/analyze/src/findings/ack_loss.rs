//! ACKs that did not come through: the IP identification of a receiver that only ACKs counts its packets (RFC 6864), and
//! numbers are missing.

use super::{Detector, Finding, Id, Need, Severity, Side};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("ack_loss"),
    severity: "medium from a quarter of the ACKs, else info",
    said_when: "1 % or more (at least three) of the packets that a receiver of bulk numbered (IPv4 identification) did not come to the capture: ACKs were lost or filtered",
    needs: &[Need::Data, Need::BothDirections, Need::EveryPacket],
    detect: |side, out| out.extend(find(side)),
};

/// Fewer ACKs are no sample, fewer missing ones may be chance.
const ENOUGH: u32 = 20;
const SOME: u32 = 3;

fn find(side: &Side<'_>) -> Option<Finding> {
    let ids = side.sender.load()?.ack_ids;
    let lost = ids.missing.checked_sub(ids.late)?;
    // Most follow each other: it is a counter of this connection's packets.
    let counts = ids.next >= ENOUGH && ids.next >= ids.gaps && ids.strange * 20 <= ids.next;
    let only_acks = side.receiver.data_segments * 20 <= side.receiver.packets;
    let all = ids.next + ids.gaps + lost;
    let found = counts && only_acks && lost >= SOME && lost * 100 >= all && ids.late * 4 <= lost;
    found.then(|| finding(side, lost, all))
}

fn finding(side: &Side<'_>, lost: u32, all: u32) -> Finding {
    let (a, b) = (side.sender_end.ip, side.receiver_end.ip);
    let severity = if lost * 4 >= all {
        Severity::Medium
    } else {
        Severity::Info
    };
    let mut f = side.finding(DETECTOR.id, severity);
    f.title = format!(
        "at least {lost} of {all} ACKs from {b} did not come through to {a} ({:.1} %)",
        f64::from(lost) * 100.0 / f64::from(all.max(1))
    );
    f.cause = format!(
        "{b} numbers its packets, and numbers are missing: the ACKs were lost, or an ACK filter on the way (CAKE's \
         ack-filter, some cable modems and satellite links) took out those that a later one covers. TCP copes with it, \
         because each ACK covers all before; {a} then sends in larger bursts, and the last ACK of a burst is missed."
    );
    f.remedy = vec![
        format!(
            "Look at the way from {b} to {a}: a slow or full uplink (`tc -s qdisc`, `ip -s link` at {b}) loses ACKs first."
        ),
        "If there is an ACK filter and throughput suffers, switch it off (`tc qdisc change ... cake no-ack-filter`)."
            .to_owned(),
    ];
    f
}
