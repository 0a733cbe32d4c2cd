//! Connections that a RST ended: by an end, or by somebody between (RFC 9293 3.5.2, RFC 3360). And those that a RST did
//! not end (RFC 5961 3.2).

use std::net::IpAddr;

use super::{Detector, Finding, Found, Id, Need, Severity, Side, keepalive_death, packets};
use crate::conn::{Dir, Ignored, Reset, Went};

pub(crate) const BY_MIDDLEBOX: Detector = Detector {
    id: Id("reset_by_middlebox"),
    severity: "high",
    said_when: "Before any FIN, the peer accepted a RST that the named end did not send: the RST's TTL differs from the end's other packets, or the end continued with data beyond the RST or with at least three advancing ACKs",
    needs: &[],
    detect: |side, out| look(side, out, middlebox, |_| false),
};

pub(crate) const BY_END: Detector = Detector {
    id: Id("reset"),
    severity: "medium if data was not ACKed, else info",
    said_when: "An end reset a connection that had carried data, before any FIN. Or the client ACKed the server's FIN, still sent data, and got a RST",
    needs: &[],
    detect: |side, out| look(side, out, end, is_told),
};

pub(crate) const IGNORED: Detector = Detector {
    id: Id("reset_ignored"),
    severity: "info",
    said_when: "The peer ignored a RST in an end's name: the peer ACKed data that the end sent later, or sent new data while the end kept sending ACKs",
    needs: &[],
    detect: |side, out| {
        let found = ignored(side);
        // Half of a connection does not tell what became of a RST.
        let untold = found.is_none() && standing(side.sender).is_some();
        if untold && !side.has(Need::BothDirections) {
            out.cannot_tell(Need::BothDirections);
        }
        out.extend(found);
    },
};

/// Looks for a reset, or says why nobody can tell: the capture shows no end of the connection, and `told` does not hold.
fn look(
    side: &Side<'_>,
    out: &mut Found,
    find: fn(&Side<'_>) -> Option<Finding>,
    told: fn(&[Dir; 2]) -> bool,
) {
    let found = find(side);
    let dirs = &side.connection.dirs;
    let by_fin = dirs.iter().any(|d| d.fin_seen);
    // No RST breaks what has only begun.
    let stood = dirs.iter().any(|d| d.packets > 1);
    let lacks = [Need::BothDirections, Need::EveryPacket];
    let lacks = lacks.into_iter().find(|need| !side.has(*need));
    match lacks.filter(|_| found.is_none() && stood && !by_fin && !told(dirs)) {
        Some(lacks) => out.cannot_tell(lacks),
        None => out.extend(found),
    }
}

/// The capture has a RST and what it broke.
fn is_told(dirs: &[Dir; 2]) -> bool {
    let [a, b] = dirs;
    let reset = |d, peer| standing(d).is_some_and(|r| !r.is_doubtful(peer));
    let data = dirs.iter().any(|d| d.data_segments > 0);
    let alone = dirs.iter().any(|d| d.packets == 0);
    (reset(a, b) || reset(b, a)) && (data || !alone)
}

/// The first RST of the connection, if it came from this side and the connection stood.
fn reset<'a>(side: &'a Side<'_>) -> Option<&'a Reset> {
    let (own, peer) = (
        first(side.sender, side.receiver),
        first(side.receiver, side.sender),
    );
    let earlier = |r: &Reset| peer.is_some_and(|peer| peer.packet < r.packet);
    own.filter(|r| side.sender.started && !earlier(r) && !r.is_doubtful(side.receiver))
}

/// The first RST of side `d` that its peer took.
fn first<'a>(d: &'a Dir, peer: &Dir) -> Option<&'a Reset> {
    let taken = d.seldom().and_then(|s| s.ignored.as_deref());
    let taken = taken.filter(|i| is_refuted(i, peer)).map(|i| &i.first);
    taken.or_else(|| standing(d))
}

/// The first RST of a side that nothing shows to be ignored.
fn standing(d: &Dir) -> Option<&Reset> {
    d.rare.as_deref()?.reset.as_deref()
}

/// `peer` took the RST after all: the contrary packet was already in flight, and the peer's own RST shows that its
/// connection was closed.
fn is_refuted(ignored: &Ignored, peer: &Dir) -> bool {
    ignored.first.proof.is_some_and(|p| p.0 == Went::Sent)
        && standing(peer).is_some_and(|r| r.answers && r.open)
}

/// Made in the name of its end. One that follows the end's own IP identification is the end's.
fn is_foreign(r: &Reset) -> bool {
    r.usual_ttl.is_some_and(|ttl| ttl != r.ttl) || (r.went_on > 0 && !r.own_id)
}

fn middlebox(side: &Side<'_>) -> Option<Finding> {
    let r = reset(side).filter(|r| r.open && is_foreign(r))?;
    let end = side.sender_end.ip;
    let mut f = side.finding(BY_MIDDLEBOX.id, Severity::High);
    f.packets = packets(
        [r.packet]
            .into_iter()
            .chain((r.went_on > 0).then_some(r.went_on)),
    );
    f.title = format!("a device on the path, not {end}, reset the connection");
    let ttl = r.usual_ttl.filter(|ttl| *ttl != r.ttl).map(|ttl| {
        format!(
            "The RST came with TTL {}, all other packets of {end} with {ttl}.",
            r.ttl
        )
    });
    let went_on = (r.went_on > 0).then(|| {
        let went_on = if r.acks_on {
            "ACKed more data"
        } else {
            "sent more data"
        };
        format!("{end} {went_on} after it: it does not know of the RST.")
    });
    let shown: Vec<String> = ttl.into_iter().chain(went_on).collect();
    f.cause = format!(
        "{} So another machine made it in the name of {end}: a firewall, a load balancer, a filter, or a NAT whose entry had \
         run out.",
        shown.join(" ")
    );
    f.remedy = vec![
        format!(
            "Look for devices that keep state between {} and {}: their rules, their logs and their idle times.",
            side.receiver_end.ip, end
        ),
        "If connections die after a pause, keep them busy: `sysctl net.ipv4.tcp_keepalive_time=60`, with SO_KEEPALIVE in \
         the program."
            .to_owned(),
    ];
    Some(f)
}

fn end(side: &Side<'_>) -> Option<Finding> {
    let stale = |r: &Reset| r.stale && side.connection.roles_known() && !side.sender_is_client();
    let r = reset(side).filter(|r| (r.open || stale(r)) && !is_foreign(r) && r.went_on == 0)?;
    let data = side.sender.data_segments + side.receiver.data_segments;
    // The side that sent them in vain gives up by a RST.
    let probed = side
        .sender
        .rare
        .as_deref()
        .is_some_and(|r| r.keep_alives > 0);
    let gave_up =
        keepalive_death::unanswered(side).is_some() || probed && !side.has(Need::BothDirections);
    if data == 0 || gave_up {
        return None;
    }
    let (a, b) = (side.sender_end.ip, side.receiver_end.ip);
    let unacked = r.unacked[0].max(r.unacked[1]);
    let severity = if unacked > 0 {
        Severity::Medium
    } else {
        Severity::Info
    };
    let mut f = side.finding(BY_END.id, severity);
    f.packets = packets([r.packet]);
    if !r.open {
        after_close(&mut f, (a, b), unacked);
        return Some(f);
    }
    f.title = if unacked > 0 {
        format!("{a} reset the connection with {b}; {unacked} bytes in flight may be lost")
    } else {
        format!("{a} reset the connection with {b}")
    };
    f.cause = format!(
        "A RST ends a connection at once, and {b} gets an error (ECONNRESET). The program on {a} was killed or closed its \
         socket while data was unread (or with SO_LINGER 0), or the system on {a} no longer knew the connection."
    );
    f.remedy = vec![format!(
        "Look at the program on {a}: its log at that time, whether it reads everything before it closes (`shutdown(SHUT_WR)`, \
         then read to the end)."
    )];
    Some(f)
}

/// The server `a` had closed a connection that it kept for more requests, and the client `b` used it once more.
fn after_close(f: &mut Finding, (a, b): (IpAddr, IpAddr), bytes: u32) {
    f.title =
        format!("{a} had closed the connection when {b} sent {bytes} more bytes: they were lost");
    f.cause = format!(
        "{a} sent its FIN, {b} ACKed it and then sent a request: nobody read that, and a RST answered. A server closes \
         connections that were idle for its keep-alive time; a client that reuses one at that moment gets an error \
         (ECONNRESET)."
    );
    f.remedy = vec![
        format!(
            "In the program on {b}: before sending a request, check whether {a} has closed the connection; repeat a request \
             that failed this way on a new connection; and keep idle connections for a shorter time than {a} does."
        ),
        format!("Or let {a} keep idle connections for longer."),
    ];
}

/// The side that got the RST went on.
fn ignored(side: &Side<'_>) -> Option<Finding> {
    let ignored = side.sender.seldom()?.ignored.as_deref()?;
    if is_refuted(ignored, side.receiver) {
        return None;
    }
    let (a, b) = (side.sender_end.ip, side.receiver_end.ip);
    let r = &ignored.first;
    let mut f = side.finding(IGNORED.id, Severity::Info);
    let (went, proof) = r.proof?;
    let shown = [r.packet, r.challenge, proof];
    f.packets = packets(shown.into_iter().filter(|n| *n > 0));
    f.title = match ignored.count {
        1 => format!("{b} ignored a RST that came in the name of {a}"),
        n => format!("{b} ignored {n} RSTs that came in the name of {a}"),
    };
    let number = match r.off {
        0 => "Its sequence number may have been the next one, so the RST was lost after the capture, or a filter dropped it."
            .to_owned(),
        off if off > 0 => format!(
            "Its sequence number was {off} bytes ahead of the next one, and TCP takes a RST only at the next one (RFC 5961)."
        ),
        off => format!(
            "Its sequence number was {} bytes behind what {b} had, and TCP takes a RST only at the next one (RFC 5961).",
            off.unsigned_abs()
        ),
    };
    let challenge = (r.challenge > 0).then(|| format!(" {b} answered with a challenge ACK."));
    let lived = match went {
        Went::Acked => format!("{b} ACKed data that {a} sent after it."),
        Went::Sent => format!("{b} sent new data after it, and {a} went on ACKing."),
        Went::Echoed => format!("{b} answered packets that {a} sent after it."),
    };
    f.cause = format!(
        "{number}{} The connection went on: {lived}",
        challenge.unwrap_or_default()
    );
    f.remedy = vec![format!(
        "Nothing to do for this connection. If {a} did not send the RST, another machine forges packets: look for devices \
         that keep state between {a} and {b}. On {b}, `nstat -az TcpExtTCPChallengeACK` counts challenge ACKs."
    )];
    Some(f)
}
