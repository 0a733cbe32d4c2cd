//! SYNs and SYN-ACKs that had to be sent again (RFC 9293 3.8.3, RFC 6298 5.7).

use tcplab_base::Duration;

use super::{
    Detector, Finding, Found, Id, Need, Severity, Side, accept_queue_overflow, icmp, length,
    packets, time_wait_reuse, unreachable,
};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("syn_retries"),
    severity: "high if unanswered, info if the RTT exceeds the SYN timer, else medium",
    said_when: "A SYN or SYN-ACK was sent again. After a RST that answered the SYN, only a SYN at least 0.8 s later counts: the RST was lost after the capture",
    needs: &[],
    detect,
};

/// A connection that is over is remembered so long: 60 s by Linux (TIME-WAIT), 120 s by its packet filter
/// (`nf_conntrack_tcp_timeout_time_wait`).
const REMEMBERED: Duration = Duration::from_secs(120);

/// What took so long, or is not known, may be a path longer than the first timer.
const LONG_US: u32 = 500_000;

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
    let explained = accept_queue_overflow::explains_handshake(side)
        || time_wait_reuse::explains(side)
        || unreachable::explains(side);
    if explained {
        return None;
    }
    if let Some(trip) = longer_path(side) {
        // Both timers were too short for one reason.
        let told =
            !side.sender_is_client() && side.receiver.loss.as_deref().is_some_and(|l| l.syn > 0);
        return (!told).then(|| was_late(side, loss.syn_packets.as_slice(), trip));
    }
    let h = &side.connection.handshake;
    let from_client = side.sender_is_client();
    let answered = h.synack_at.is_some() || h.done || h.refused;
    let what = if from_client { "SYN" } else { "SYN-ACK" };
    let ports = from_client.then(|| ports_back(side)).flatten();
    let severity = if answered {
        Severity::Medium
    } else {
        Severity::High
    };
    let mut f = side.finding(DETECTOR.id, severity);
    if !side.is_told(DETECTOR.id) {
        return Some(f);
    }
    f.packets = packets(loss.syn_packets.iter().copied());
    let (s, r, tries) = (side.sender_end, side.receiver_end, loss.syn + 1);
    f.title = match (from_client, answered) {
        (true, true) if h.refused => {
            format!("{s} tried {tries} times to connect before {r} refused")
        }
        (true, true) => format!("it took {tries} tries to connect {s} to {r}"),
        (true, false) => format!("{s} tried {tries} times to connect to {r} and got no answer"),
        (false, _) => format!("{s} had to answer {tries} times when {r} connected"),
    };
    f.cause = if answered {
        format!(
            "{}, or the listener dropped it (full accept queue). \
             The first retry comes after 1 s, and the waits grow: one retry makes the connection a \
             second late.",
            what_was_lost(side, what)
        )
    } else {
        format!(
            "Nothing came back to the {what} from {}: a filter drops the packets, the host is down, its \
             listener's queue is full, or the answers take another way and are lost.",
            side.receiver_end
        )
    };
    f.cause.extend(ports.map(|gap| used_before(side, gap)));
    if let Some(refused) = side.sender.icmp().and_then(|i| i.refused.as_ref()) {
        let (from, error) = (refused.error.from, icmp::named(&refused.error));
        f.cause += &format!(" Before it was answered, {from} sent {error}.");
    }
    f.remedy = if answered {
        vec![
            "At the listener: does `nstat -az TcpExtListenOverflows TcpExtListenDrops \
             TcpExtTCPReqQFullDrop` count? Then raise the listen() backlog and net.core.somaxconn."
                .to_owned(),
            "If not, look for loss on the path at that time: `ip -s link`.".to_owned(),
        ]
    } else {
        vec![format!(
            "Capture at {} as well. If the {what} arrives there, check its packet filter, the program on port \
             {}, and the listener's queue: `nstat -az TcpExtListenOverflows`.",
            side.receiver_end.ip, side.receiver_end.port
        )]
    };
    if ports.is_some() {
        f.remedy.insert(0, new_ports(side));
    }
    Some(f)
}

/// The round trip, where it shows that nothing was lost: the answer came too soon after the last SYN (or SYN-ACK) to answer
/// that one, and later answers take as long as that to the first one. A SYN-ACK that comes after the client's answer was
/// too soon, too, if that answer cannot have reached the server.
fn longer_path(side: &Side<'_>) -> Option<Duration> {
    let h = &side.connection.handshake;
    let opening = side.connection.opening.as_deref()?;
    // Without time stamps all that is sent again on such a path leaves doubt what an answer was for.
    if !side.has(Need::TimeStamps) {
        return None;
    }
    let from_client = side.sender_is_client();
    let (client, server) = match from_client {
        true => (side.sender, side.receiver),
        false => (side.receiver, side.sender),
    };
    let [client, server] = [client, server].map(|d| u64::from(d.path_or_zero()));
    let us = |d: Duration| d.as_micros().max(0).unsigned_abs();
    // A SYN that passes behind the SYN-ACK repeats one that had come: that answer was late, or lost.
    let syn = from_client && opening.answered[0].is_some();
    let late_ack = !syn && opening.again > 0 && opening.again == h.synacks_again;
    if late_ack && us(opening.again_after) * 8 < server * 7 {
        return Some(Duration::from_micros(i64::from(
            side.receiver.path_or_zero().max(side.sender.path_or_zero()),
        )));
    }
    let (path, last) = if syn {
        (server, h.server_rtt_us?)
    } else {
        (client, h.client_rtt_us?)
    };
    let first = opening.answered[usize::from(!syn)]?;
    (u64::from(last) * 4 <= path * 3 && path * 8 >= us(first) * 7).then_some(first)
}

/// What may have been lost of a handshake that was answered.
fn what_was_lost(side: &Side<'_>, what: &str) -> String {
    let opening = side.connection.opening.as_deref();
    let h = &side.connection.handshake;
    if side.sender_is_client() && opening.is_some_and(|o| o.names_first) {
        return "The answer to the first SYN was lost or late (its time stamp names that one, so the SYN arrived)".to_owned();
    }
    let path = side.receiver.path_us.max(side.sender.path_us);
    let late = match h.server_rtt_us {
        Some(_) if path >= LONG_US => ", or the round trip is longer than 1 s and nothing was lost",
        _ => "",
    };
    format!("The {what} or its answer was lost{late}")
}

/// Nothing was lost: the timer was shorter than the path.
fn was_late(side: &Side<'_>, again: &[u64], trip: Duration) -> Finding {
    let (s, r) = (side.sender_end, side.receiver_end);
    let what = if side.sender_is_client() {
        "SYN"
    } else {
        "SYN-ACK"
    };
    let mut f = side.finding(DETECTOR.id, Severity::Info);
    f.confidence = None;
    f.packets = packets(again.iter().copied());
    f.title = format!(
        "the {what} of {s} was answered after {}, later than its timer waits",
        length(trip)
    );
    f.cause = format!(
        "{s} sent its {what} again after 1 s (RFC 6298 2.1), though nothing was lost: the answers of {r} take that long, and \
         the first one did not come sooner."
    );
    f.remedy = vec![
        "Find what makes the round trip so long: a satellite link, or a long queue (`ping` while the line is idle tells)."
            .to_owned(),
    ];
    f
}

/// How long ago an open connection of the same ports had ended, if somebody may still remember it.
fn ports_back(side: &Side<'_>) -> Option<Duration> {
    let ended = side.connection.handshake.ports_free.get()?;
    let gap = side.connection.start.since(ended);
    (gap < REMEMBERED).then_some(gap)
}

fn used_before(side: &Side<'_>, gap: Duration) -> String {
    let (client, server) = (side.sender_end, side.receiver_end);
    format!(
        " Its port {} had been used for a connection to {server} that ended only {} before: a firewall or NAT between \
         them, or the server, may still remember that one and drop the SYN.",
        client.port,
        length(gap)
    )
}

fn new_ports(side: &Side<'_>) -> String {
    format!(
        "On {}: keep connections open instead of opening one for each request, or let it have more ports \
         (`sysctl net.ipv4.ip_local_port_range`): its ports come back while the connections before are still \
         remembered. `ss -tan state time-wait | wc -l` tells how many are.",
        side.sender_end.ip
    )
}
