//! CAQM was agreed upon and one side sends no tags: openEuler sends them only on interfaces whose bit is set in
//! `net.core.sysctl_caqm_filter_nics`, which is 0 by default.

use super::first;
use crate::findings::{Detector, Finding, Id, Severity, Side};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("caqm_one_sided"),
    severity: "medium",
    said_when: "Both agreed to CAQM, but one side sends no tags (its interface is not in `sysctl_caqm_filter_nics`)",
    needs: &[],
    detect: |side, out| out.extend(find(side)),
};

/// Packets without a tag that rule out an accident: after the handshake, and if it was not seen.
const ENOUGH: [u64; 2] = [8, 32];

pub(super) fn find(side: &Side<'_>) -> Option<Finding> {
    let offer = side.connection.handshake.caqm;
    let is_seen = side.connection.handshake.syn_at.is_some();
    let peer = side.receiver.caqm();
    let packets_sent = u64::from(side.sender.packets);
    let tags = |n: u64| peer.is_some_and(|t| t.seen.requests + t.seen.feedback >= n);
    let is_silent = side.sender.caqm().is_none()
        && match offer.is_negotiated() {
            true => packets_sent >= ENOUGH[0],
            false => !is_seen && packets_sent >= ENOUGH[1] && tags(ENOUGH[1]),
        };
    is_silent.then(|| {
        let mut f = side.finding(DETECTOR.id, Severity::Medium);
        f.packets = first(match peer {
            Some(tags) => tags.first.tag,
            None => side.sender.caqm_answer().max(side.receiver.caqm_answer()),
        });
        let agreed = match offer.is_negotiated() {
            true => "agreed to CAQM",
            false => "gets CAQM tags",
        };
        f.title = format!("{} {agreed} and sends no tags", side.sender_end.ip);
        f.cause = match peer {
            Some(_) => format!(
                "Its peer {} tags packets and gets neither requests nor feedback, so CAQM never begins to steer: until a \
                 tag comes, openEuler's sender keeps to Reno.",
                side.receiver_end.ip
            ),
            None => "Neither side tags: the connection is one of Reno.".to_owned(),
        };
        f.remedy = vec![format!(
            "On {}: set the bit of the interface (1 shifted by its index, `ip link`) in `net.core.sysctl_caqm_filter_nics`; \
             by default no interface sends tags. If it is set, look for a switch or card that removes tags.",
            side.sender_end.ip
        )];
        f
    })
}
