//! A SYN met what is left of an older connection of the same ports (RFC 9293 3.10.7.3, RFC 5961 4.2, RFC 6191).

use super::{Detector, Finding, Id, Severity, Side, packets};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("time_wait_reuse"),
    severity: "medium",
    said_when: "An ACK with another connection's numbers, not a SYN-ACK, answered the SYN, which had to be sent again",
    needs: &[],
    detect: |side, out| out.extend(find(side)),
};

/// The SYN was answered by an older connection: its retries have that reason.
pub(super) fn explains(side: &Side<'_>) -> bool {
    side.connection
        .opening
        .as_deref()
        .is_some_and(|o| o.older > 0)
}

fn find(side: &Side<'_>) -> Option<Finding> {
    let waited = side.connection.handshake.syns_again > 0;
    if !side.sender_is_client() || !explains(side) || !waited {
        return None;
    }
    let opening = side.connection.opening.as_deref()?;
    let mut f = side.finding(DETECTOR.id, Severity::Medium);
    f.packets = packets(opening.packets.iter().copied());
    let (client, server) = (side.sender_end, side.receiver_end);
    f.title = format!(
        "{} still remembers an older connection from port {}, so the new one had to wait",
        server.ip, client.port
    );
    f.remedy = vec![
        format!(
            "On {}: let the kernel choose the port (no bind() to a fixed one), widen net.ipv4.ip_local_port_range, \
             or keep connections open instead of opening one for each request.",
            client.ip
        ),
        "Keep time stamps on at both ends (`sysctl net.ipv4.tcp_timestamps`, 1): with them a new connection may take \
         the place of one in TIME-WAIT at once."
            .to_owned(),
        format!(
            "If {} restarted without closing its connections, the server kept them: shorten its keep-alive \
             (net.ipv4.tcp_keepalive_time).",
            client.ip
        ),
    ];
    f.cause = format!(
        "{server} had a connection with the same addresses and ports, in TIME-WAIT or never closed. It answered the \
         SYN with an ACK of that one. The client resets that, and may try again only when its SYN timer fires (1 s).",
    );
    Some(f)
}
