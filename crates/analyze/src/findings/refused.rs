//! A RST answered the SYN (RFC 9293 3.10.7.1).

use super::{Detector, Finding, Found, Id, Need, Severity, Side};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("refused"),
    severity: "medium",
    said_when: "A RST answered the SYN",
    needs: &[],
    detect,
};

fn detect(side: &Side<'_>, out: &mut Found) {
    let h = &side.connection.handshake;
    // A SYN without an answer, or the RST alone.
    let asked = h.syn_at.is_some() && h.syns_again == 0 && side.sender.packets == 1;
    let answered = side.sender.packets == 0 && h.reset && side.receiver.data_segments == 0;
    if side.sender_is_client() && !side.has(Need::BothDirections) && (asked || answered) {
        out.cannot_tell(Need::BothDirections);
    }
    out.extend(find(side));
}

fn find(side: &Side<'_>) -> Option<Finding> {
    if !side.connection.handshake.refused || !side.sender_is_client() {
        return None;
    }
    let mut f = side.finding(DETECTOR.id, Severity::Medium);
    let server = side.receiver_end;
    f.title = format!("{server} refused the connection of {}", side.sender_end.ip);
    f.remedy = vec![
        format!(
            "On {}: check that a program listens on port {} and on this address: `ss -ltn 'sport = :{}'`.",
            server.ip, server.port, server.port
        ),
        "If one listens, look for a filter that rejects: `nft list ruleset` or `iptables -S` there and on the way \
         (REJECT with tcp-reset looks like this)."
            .to_owned(),
    ];
    f.cause = format!(
        "The SYN was answered with a RST: no program listens on port {}, or a filter answers in its place.",
        server.port
    );
    Some(f)
}
