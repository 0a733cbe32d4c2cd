//! CAQM and Accurate ECN use one bit of the SYN (RFC 9768 3.1.1: AE; once NS), and one side took the other for what it is not.

use super::first;
use crate::findings::{Detector, Finding, Id, Severity, Side};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("caqm_accecn"),
    severity: "medium",
    said_when: "A server took an Accurate ECN SYN for CAQM, or the reverse: both use the same bit",
    needs: &[],
    detect: |side, out| out.extend(find(side)),
};

pub(super) fn find(side: &Side<'_>) -> Option<Finding> {
    let offer = side.connection.handshake.caqm;
    let from_client = side.connection.client_index() == usize::from(!side.is_a());
    // Once for a connection: it is the server that takes one for the other.
    if from_client {
        return None;
    }
    let (server, client) = (side.sender_end.ip, side.receiver_end.ip);
    let (title, cause) = if offer.took_accecn_for_caqm() {
        (
            format!("{server} agreed to CAQM, but {client} had asked for Accurate ECN"),
            "The SYN has AE with CWR or ECE, which is how Accurate ECN begins (RFC 9768). openEuler's server reads AE alone as a \
             wish for CAQM."
                .to_owned(),
        )
    } else if offer.took_caqm_for_accecn() {
        (
            format!("{server} agreed to Accurate ECN, but {client} had asked for CAQM"),
            "CAQM's bit in the SYN is AE of Accurate ECN. A server with Accurate ECN has to answer a SYN with AE alone as if \
             it had asked for that (RFC 9768 3.1.3), and counts marks in bits that the client does not read."
                .to_owned(),
        )
    } else {
        return None;
    };
    let mut f = side.finding(DETECTOR.id, Severity::Medium);
    f.packets = first(side.sender.caqm_answer());
    f.title = title;
    f.cause = cause;
    f.remedy = vec![
        "Use one of them between these hosts: `sysctl net.ipv4.tcp_ecn=0` (or 1, without Accurate ECN), or \
         `net.core.sysctl_caqm_enable=0`."
            .to_owned(),
    ];
    Some(f)
}
