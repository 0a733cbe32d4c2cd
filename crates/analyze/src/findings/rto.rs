//! Retransmission timeouts: needed ones that cost time, and spurious ones (RFC 6298, RFC 5682).

use tcplab_base::Duration;

use super::episodes::Episodes;
use super::{
    Detector, Finding, Found, Id, Need, Severity, Side, black_hole, length, silence, times, up_to,
};
use crate::conn::Record;
use crate::report::{EpisodeKind, SpuriousEvidence};

pub(crate) const STALL: Detector = Detector {
    id: Id("rto_stall"),
    severity: "high from 1 s of silence, else medium",
    said_when: "Lost segments were retransmitted by timeout, and the cause is not a `black_hole`",
    needs: &[Need::Data],
    detect: stalls,
};

pub(crate) const SPURIOUS: Detector = Detector {
    id: Id("spurious_rto"),
    severity: "medium",
    said_when: "Segments were retransmitted by timeout; DSACK, time stamps or the time of the ACK show that nothing was lost",
    needs: &[],
    detect: |side, out| {
        let found = spurious(side);
        let weak = |r: &Record| is_kind(r, true) && !is_proven(side, r);
        if found.is_none() && side.episodes().iter().any(weak) {
            out.cannot_tell(Need::EveryPacket);
        } else if found.is_none() {
            unproven(side, out, EpisodeKind::Rto);
        }
        out.extend(found);
    },
};

/// The sender repeated segments for this reason, and the capture lacks what would show that they were not needed.
pub(super) fn unproven(side: &Side<'_>, out: &mut Found, kind: EpisodeKind) {
    reason_unknown(side, out);
    let judged = side
        .episodes()
        .iter()
        .any(|r| r.kind == Some(kind) || r.kind == Some(EpisodeKind::Other));
    let hidden = !side.has(Need::Data) && side.is_used();
    if (judged || hidden) && !side.has(Need::BothDirections) {
        out.cannot_tell(Need::BothDirections);
    } else if judged && !side.has(Need::WholeHeaders) {
        out.cannot_tell(Need::WholeHeaders);
    }
}

/// A retransmission was not needed, and the capture does not show what made the sender send it: a timer or ACKs.
fn reason_unknown(side: &Side<'_>, out: &mut Found) {
    let unknown = |r: &&Record| r.spurious().is_some() && r.reason_unknown();
    if side.episodes().iter().any(|r| unknown(&r)) {
        out.cannot_tell(Need::EveryPacket);
    }
}

/// A timeout that was not needed, or one that was.
fn is_kind(r: &Record, spurious: bool) -> bool {
    r.is_timeout() && r.spurious().is_some() == spurious
}

/// What the sender learnt of the loss, it learnt from what its timer had made it send.
fn is_told_by_timer(side: &Side<'_>, r: &Record) -> bool {
    let mut others = r.near(side.episodes()).iter();
    others.any(|n| is_kind(n, true) && n.shares_silence(r))
}

/// A pattern of ACKs tells only where the capture has all data that may have caused them.
fn is_proven(side: &Side<'_>, r: &Record) -> bool {
    r.spurious() != Some(SpuriousEvidence::AckPattern) || side.has(Need::EveryPacket)
}

fn stalls(side: &Side<'_>, out: &mut Found) {
    // Segments that were sent again for nothing cost time as well, but they were not lost.
    let blind = if !side.has(Need::BothDirections) {
        Some(Need::BothDirections)
    } else {
        side.stamps_cut().then_some(Need::WholeHeaders)
    };
    let unaccepted = |r: &Record| side.may_be_unaccepted(r) && !r.lost;
    let needed = |r: &Record| is_kind(r, false) && !black_hole::explains(side, r);
    let sure = |r: &Record| needed(r) && (blind.is_none() || r.lost) && !unaccepted(r);
    let found = Episodes::of(side, sure).map(|list| stall(side, &list));
    let stalled = side.episodes().iter().any(needed);
    if found.is_none() && stalled {
        out.cannot_tell(blind.unwrap_or(Need::Handshake));
    } else if found.is_none() && is_silent(side) {
        out.cannot_tell(Need::AtSender);
    }
    out.extend(found);
}

/// Far from the sender, a silence that its timer may have ended: what was lost never came here.
pub(super) fn is_silent(side: &Side<'_>) -> bool {
    let tracker = side.connection.tracker.as_deref();
    tracker.is_some_and(|t| t.has_silence(usize::from(!side.is_a())))
}

fn stall(side: &Side<'_>, list: &Episodes<'_>) -> Finding {
    let severity = if list.silence() >= Duration::from_secs(1) {
        Severity::High
    } else {
        Severity::Medium
    };
    let mut f = list.finding(side, STALL.id, severity);
    if !side.is_told(STALL.id) {
        return f;
    }
    // Nothing of a client had been ACKed: its server may not have taken the connection.
    let is_first = |r: &Record| r.passed <= 1 && !r.lost && side.sender_is_client();
    let unheard = list.iter().any(is_first);
    let did = match unheard && list.count() == 1 {
        true => "had no answer to its first data",
        false => "lost packets",
    };
    f.title = format!(
        "{} {did} and stood still for {}{}: only its timer noticed ({})",
        side.sender_end.ip,
        up_to(list.timeouts()),
        length(list.longest()),
        times(list.timeouts())
    );
    let blind = if !side.sender.sack_permitted && !side.has(super::Need::TimeStamps) {
        " Without SACK and time stamps the packets do not always tell lost segments from late ones."
    } else {
        ""
    };
    let told = |r: &&Record| r.evidence && !is_told_by_timer(side, r);
    let told = list.iter().filter(told).count();
    let why = if told == 0 {
        "No duplicate ACKs or SACK blocks told it of the loss in time".to_owned()
    } else {
        format!(
            "Duplicate ACKs or SACK blocks told it of a loss {}, and what it sent again then was lost as well",
            times(told as u64)
        )
    };
    f.cause = format!(
        "{why}, so {} waited for the retransmission timeout (RFC 6298: on Linux the round trip plus the minimum RTO \
         of 200 ms or more, doubled each time it fires) and began again with a window of one segment.{blind}",
        side.sender_end.ip
    );
    if unheard {
        // What was measured are stalls that were losses.
        f.confidence = f.confidence.filter(|_| list.count() > 1);
        f.cause += &format!(
            " It was the first data of the connection: a server that has no room in its accept queue drops it, too, and \
             leaves the same packets at {}.",
            side.sender_end.ip
        );
    }
    f.remedy = silence::remedy(side, list);
    if unheard {
        let server = side.receiver_end.ip;
        let first = format!(
            "On {server}, see whether the program accepts connections in time: `nstat -az TcpExtListenOverflows \
             TcpExtListenDrops`, `ss -ltn` (Recv-Q above Send-Q). A capture there tells for sure."
        );
        f.remedy.insert(0, first);
    }
    f
}

pub(crate) fn spurious(side: &Side<'_>) -> Option<Finding> {
    let alone = |r: &Record| is_proven(side, r) && !r.is_of_outage(&side.connection.dirs);
    let list = Episodes::of(side, |r| is_kind(r, true) && alone(r))?;
    let evidence = list.first.spurious()?;
    let mut f = list.finding(side, SPURIOUS.id, Severity::Medium);
    let end = side.sender_end.ip;
    let spike = spike(side, &list);
    let shown = spike.as_ref().map_or_else(
        || format!("silence {}", length(list.longest())),
        |s| {
            format!(
                "an ACK took {} instead of {}",
                length(s.took),
                length(s.usual)
            )
        },
    );
    f.title = format!(
        "{end} timed out and repeated packets {}, though nothing was lost: they were late ({shown})",
        times(list.count())
    );
    let when = spike.map_or_else(String::new, |s| {
        format!(
            " The longest such wait began {} after the connection's first packet.",
            length(s.at)
        )
    });
    f.cause = format!(
        "The round trip suddenly took longer than the retransmission timeout of {end}, or ACKs were lost.{when} {} \
         The sender takes the path for congested and slows down, unless F-RTO (RFC 5682) or time stamps undo \
         that.",
        proof(evidence)
    );
    f.remedy = vec![
        "Find what held the packets: a long queue, a wireless link, a paused virtual machine. The \
         RTT chart of the page (--html) shows when."
            .to_owned(),
        format!(
            "On {}: keep time stamps and F-RTO on: `sysctl net.ipv4.tcp_timestamps \
             net.ipv4.tcp_frto` (1 and 2).",
            side.sender_end.ip
        ),
    ];
    Some(f)
}

/// The delay that fooled the timer.
struct Spike {
    /// From the oldest unACKed segment to its ACK.
    took: Duration,
    /// The round trip before.
    usual: Duration,
    /// Since the connection's first packet.
    at: Duration,
}

/// The longest delay, where the capture shows round trips of the sender.
fn spike(side: &Side<'_>, list: &Episodes<'_>) -> Option<Spike> {
    let longest = list.iter().filter(|r| r.duration.is_some());
    let longest = longest.max_by_key(|r| r.duration)?;
    let path = Duration::from_micros(i64::from(side.receiver.path_or_zero()));
    let spike = Spike {
        took: longest.duration?,
        usual: longest.rtt.max(path),
        at: longest.start.since(side.connection.start),
    };
    let is_one = spike.usual > Duration::ZERO && spike.took >= spike.usual + spike.usual;
    (is_one && spike.took >= list.longest()).then_some(spike)
}

/// The evidence in words.
pub(crate) fn proof(evidence: SpuriousEvidence) -> &'static str {
    match evidence {
        SpuriousEvidence::Dsack => "The receiver reported the segment as a duplicate (DSACK).",
        SpuriousEvidence::Timestamps => {
            "The ACK echoes the time stamp of the original, not of the retransmission."
        }
        SpuriousEvidence::AckTooSoon => {
            "The ACK came sooner after the retransmission than the path allows."
        }
        SpuriousEvidence::AckPattern => {
            "ACKs followed that only the originals can have caused (F-RTO, RFC 5682)."
        }
        SpuriousEvidence::Acked => {
            "The data had arrived and was ACKed before the retransmission passed the capture; the ACK was late or lost."
        }
    }
}
