//! A listener that did not take a connection though the packets of the handshake reached it: its accept queue or its
//! SYN queue was full (Linux `tcp_conn_request()`, `tcp_v4_syn_recv_sock()` with `tcp_abort_on_overflow` 0).

use super::{Detector, Finding, Found, Id, Need, Severity, Side, packets, times};
use crate::conn::{Connection, Opening, Record};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("accept_queue_overflow"),
    severity: "high",
    said_when: "Seen at the server: it repeated its SYN-ACK although the handshake's last ACK and data had come, or ignored SYNs or the first data until the client retransmitted them",
    needs: &[],
    detect,
};

fn detect(side: &Side<'_>, out: &mut Found) {
    let found = find(side);
    if found.is_none() && side.sender_is_client() {
        let repeats = |r: &Record| r.passed <= 1 && r.spurious().is_none();
        let data = side.episodes().iter().any(repeats);
        let h = &side.connection.handshake;
        // A capture of the server alone does not show what the server ignored.
        let again =
            h.synacks_again > 0 || h.syns_again > 0 || h.syn_at.is_none() && h.synack_at.is_some();
        if !side.has(Need::BothDirections) && (data || again) {
            out.cannot_tell(Need::BothDirections);
        } else if side.episodes().iter().any(|r| side.may_be_unaccepted(r)) {
            out.cannot_tell(Need::Handshake);
        } else if may_be_deferred(side.connection) {
            out.cannot_tell(Need::Data);
        }
    }
    out.extend(found);
}

/// What the server ignored.
enum Ignored {
    Ack(u32),
    Syn(u32),
    /// With SYN cookies, the server does not repeat the SYN-ACK.
    Data(u32),
}

/// The capture was taken at the server. A host that talks to itself is at both ends.
fn at_server(c: &Connection) -> bool {
    if c.key.a.ip == c.key.b.ip {
        return true;
    }
    let client = c.client_index();
    let told = c.handshake.server_rtt_us.unwrap_or(u32::MAX);
    let near = c.dirs[1 - client].path_us.min(told);
    // Not the handshake's: it is no round trip where a SYN-ACK was sent again before its answer.
    let far = c.dirs[client].path_us;
    far != u32::MAX && u64::from(near) * 4 < u64::from(far) && far >= 100
}

/// What the packets show, if they do.
fn ignored(c: &Connection) -> Option<Ignored> {
    let opening = c.opening.as_deref().filter(|_| at_server(c))?;
    if opening.deaf > 0 {
        Some(Ignored::Ack(opening.deaf))
    } else if opening.ignored > 0 {
        Some(Ignored::Data(opening.ignored))
    } else {
        let syns = opening.unanswered_syns;
        (syns > 0).then_some(Ignored::Syn(syns))
    }
}

/// The SYN-ACK came again before the client had sent any data: a full queue, or a listener that waits for data
/// (`TCP_DEFER_ACCEPT`, tcp(7)), which is no trouble.
fn may_be_deferred(c: &Connection) -> bool {
    let opening = c.opening.as_deref().filter(|_| at_server(c));
    opening.is_some_and(|o| o.deferred > 0)
}

/// The server's listener explains that SYNs or SYN-ACKs were sent again.
pub(super) fn explains_handshake(side: &Side<'_>) -> bool {
    ignored(side.connection).is_some() || may_be_deferred(side.connection)
}

/// How many of these episodes, the oldest first, came of it that the server had not taken the connection.
pub(super) fn episodes_explained(side: &Side<'_>, all: &[Record]) -> usize {
    let before_taken = |r: &&Record| {
        let opening = side.connection.opening.as_deref();
        opening
            .and_then(|o| o.taken.get())
            .is_none_or(|t| r.start < t)
    };
    match all.first().and_then(|_| ignored(side.connection)) {
        Some(Ignored::Ack(_) | Ignored::Data(_)) => all.iter().take_while(before_taken).count(),
        Some(Ignored::Syn(_)) | None => 0,
    }
}

fn find(side: &Side<'_>) -> Option<Finding> {
    if !side.sender_is_client() {
        return None;
    }
    let ignored = ignored(side.connection)?;
    let mut f = side.finding(DETECTOR.id, Severity::High);
    let opening = side.connection.opening.as_deref();
    let again = side
        .sender
        .loss
        .as_deref()
        .map(|l| l.syn_packets.as_slice());
    let shown = opening
        .map(|o| o.packets.as_slice())
        .filter(|p| !p.is_empty());
    f.packets = packets(shown.or(again).unwrap_or_default().iter().copied());
    let (client, server) = (side.sender_end, side.receiver_end);
    f.title = title(side, opening);
    f.remedy = vec![
        format!(
            "On {}: confirm it: `nstat -az TcpExtListenOverflows TcpExtListenDrops \
             TcpExtTCPReqQFullDrop`; `ss -ltn 'sport = :{}'` shows the queue (Recv-Q) and its length (Send-Q).",
            server.ip, server.port
        ),
        "Let the program call accept() sooner (more workers, no work in the accepting thread).".to_owned(),
        "Make the queue longer: the second argument of listen() in the program, and net.core.somaxconn, which caps \
         it (`sysctl -w net.core.somaxconn=4096`)."
            .to_owned(),
    ];
    f.cause = match ignored {
        Ignored::Ack(n) => format!(
            "{server} sent its SYN-ACK again {}, though {} had answered it and sent data. On Linux a full accept queue looks like \
             this: the kernel drops the ACK that ends the handshake and all data with it, while the client takes the \
             connection for open and repeats its request. Packet loss does not explain it.",
            times(n.into()),
            client.ip
        ),
        Ignored::Syn(n) => format!(
            "The capture was taken at {}: {} reached it and no SYN-ACK left. Linux drops SYNs while the accept \
             queue or the SYN queue is full; a filter of that host may do so, too.",
            server.ip,
            if n == 1 {
                "one SYN".to_owned()
            } else {
                format!("{n} SYNs")
            }
        ),
        Ignored::Data(n) => format!(
            "The capture was taken at {}: it answered the SYN, and then ignored the data of {}, which sent it again {}. \
             On Linux a full accept queue looks like this when SYN cookies are in use: the SYN-ACK is not repeated then.",
            server.ip,
            client.ip,
            times(n.into())
        ),
    };
    Some(f)
}

fn title(side: &Side<'_>, opening: Option<&Opening>) -> String {
    let (client, server) = (side.sender_end, side.receiver_end);
    let taken = opening.is_none_or(|o| o.taken.is_some());
    let what = if taken && side.receiver.packets > 1 {
        "kept the connection of"
    } else {
        "never took the connection of"
    };
    let wait = if taken && side.receiver.packets > 1 {
        " waiting"
    } else {
        ""
    };
    format!(
        "{server} {what} {}{wait}: its queue of new connections was full",
        client.ip
    )
}
