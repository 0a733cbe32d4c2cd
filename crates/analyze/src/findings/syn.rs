//! SYNs and SYN-ACKs that had to be sent again (RFC 9293 3.8.3, RFC 6298 5.7).

use super::{Detector, Finding, Found, Id, Need, Severity, Side, packets, times};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("syn_retries"),
    severity: "high without an answer, else medium",
    said_when: "A SYN or SYN-ACK was sent again",
    needs: &[],
    detect,
};

fn detect(side: &Side<'_>, out: &mut Found) {
    let h = &side.connection.handshake;
    let seen = h.syn_at.is_some() || (!side.sender_is_client() && h.synack_at.is_some());
    if !seen {
        out.cannot_tell(Need::Handshake);
    }
    out.extend(find(side));
}

fn find(side: &Side<'_>) -> Option<Finding> {
    let loss = side.sender.loss.as_deref().filter(|l| l.syn > 0)?;
    let h = &side.connection.handshake;
    let from_client = side.sender_is_client();
    let answered = h.synack_at.is_some() || h.done;
    let what = if from_client { "SYN" } else { "SYN-ACK" };
    let severity = if answered {
        Severity::Medium
    } else {
        Severity::High
    };
    let mut f = side.finding(DETECTOR.id, severity);
    f.packets = packets(loss.syn_packets.iter().copied());
    f.title = format!(
        "{} sent its {what} again {}{}",
        side.sender_end,
        times(u64::from(loss.syn)),
        if answered { "" } else { " and got no answer" }
    );
    f.cause = if answered {
        format!(
            "The {what} or its answer was lost, or the listener dropped it (full accept queue). \
             The first retry comes after 1 s, then the wait doubles: a connection that needs one \
             retry takes a second longer."
        )
    } else {
        format!(
            "Nothing came back from {}: a filter drops the packets, the host is down, or the \
             answers take another way and are lost.",
            side.receiver_end
        )
    };
    f.remedy = if answered {
        vec![
            "Look at the listener: `nstat -az TcpExtListenOverflows TcpExtListenDrops \
             TcpExtTCPReqQFullDrop`; raise the listen() backlog and net.core.somaxconn."
                .to_owned(),
            "Look for loss on the path at that time.".to_owned(),
        ]
    } else {
        vec![format!(
            "Capture at {} as well: does the SYN arrive? Then check its filter and that something \
             listens on port {}.",
            side.receiver_end.ip, side.receiver_end.port
        )]
    };
    Some(f)
}
