//! Tags before, or without, an agreement: a host that does not know them drops the frames.

use super::first;
use crate::findings::{Detector, Finding, Id, Severity, Side};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("caqm_unnegotiated"),
    severity: "medium",
    said_when: "A tag on a SYN, or tags after a handshake that did not agree",
    needs: &[],
    detect: |side, out| out.extend(find(side)),
};

pub(super) fn find(side: &Side<'_>) -> Option<Finding> {
    let tags = side.sender.caqm()?;
    let h = &side.connection.handshake;
    let is_known = h.syn_at.is_some() && h.synack_at.is_some();
    let (title, packet) = if tags.seen.on_syn > 0 {
        (
            format!("{} puts a CAQM tag on its SYN", side.sender_end.ip),
            tags.first.on_syn,
        )
    } else if is_known && !h.caqm.is_negotiated() {
        (
            format!(
                "{} tags its packets though CAQM was not agreed upon",
                side.sender_end.ip
            ),
            tags.first.tag,
        )
    } else {
        return None;
    };
    let mut f = side.finding(DETECTOR.id, Severity::Medium);
    f.packets = first(packet);
    f.title = title;
    f.cause = "A kernel without CAQM does not know the EtherType and drops the frame. So tags may follow only when the SYN asks \
               (0x01 of the TCP header's byte 12) and the SYN-ACK agrees (0x02), and never stand on either."
        .to_owned();
    f.remedy = vec![
        "If a middlebox clears reserved bits of the handshake, only this direction of the capture shows them: capture at the \
         other host, too."
            .to_owned(),
        format!(
            "On {}: `sysctl net.core.sysctl_caqm_enable=0` until it is mended.",
            side.sender_end.ip
        ),
    ];
    Some(f)
}
