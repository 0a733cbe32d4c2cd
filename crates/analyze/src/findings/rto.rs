//! Retransmission timeouts: needed ones that cost time, and spurious ones (RFC 6298, RFC 5682).

use tcplab_base::Duration;

use super::episodes::Episodes;
use super::{Detector, Finding, Found, Id, Need, Severity, Side, length, times};
use crate::conn::Record;
use crate::report::{EpisodeKind, SpuriousEvidence};

pub(crate) const STALL: Detector = Detector {
    id: Id("rto_stall"),
    severity: "high from 1 s of silence, else medium",
    said_when: "Segments were repeated after a silence of a retransmission timeout, and they were needed",
    needs: &[Need::Data],
    detect: stalls,
};

pub(crate) const SPURIOUS: Detector = Detector {
    id: Id("spurious_rto"),
    severity: "medium",
    said_when: "The same, and DSACK, time stamps or the time of the ACK show that nothing was lost",
    needs: &[],
    detect: |side, out| {
        let found = spurious(side);
        if found.is_none() {
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

/// Whether this was begun or continued by the retransmission timer, needed or not.
fn is_timeout(r: &Record, spurious: bool) -> bool {
    r.kind == Some(EpisodeKind::Rto) && r.timeouts > 0 && r.spurious().is_some() == spurious
}

fn stalls(side: &Side<'_>, out: &mut Found) {
    // Segments that were sent again for nothing cost time as well, but they were not lost.
    let blind = if !side.has(Need::BothDirections) {
        Some(Need::BothDirections)
    } else {
        side.stamps_cut().then_some(Need::WholeHeaders)
    };
    let sure = |r: &Record| is_timeout(r, false) && (blind.is_none() || r.lost);
    let found = Episodes::of(side, sure).map(|list| stall(side, &list));
    if let Some(need) = blind
        && found.is_none()
        && side.episodes().iter().any(|r| is_timeout(r, false))
    {
        out.cannot_tell(need);
    }
    out.extend(found);
}

fn stall(side: &Side<'_>, list: &Episodes<'_>) -> Finding {
    let severity = if list.silence() >= Duration::from_secs(1) {
        Severity::High
    } else {
        Severity::Medium
    };
    let mut f = list.finding(side, STALL.id, severity);
    f.title = format!(
        "{} stood still until its retransmission timer fired ({}, longest silence {})",
        side.sender_end.ip,
        times(list.timeouts()),
        length(list.longest())
    );
    f.cause = format!(
        "Segments of {} were lost and no duplicate ACKs or SACK blocks told it so in time, so it \
         waited for the retransmission timeout (RFC 6298; on Linux at least 200 ms plus the round \
         trip, doubled each time it fires) and began again with a window of one segment.",
        side.sender_end.ip
    );
    f.remedy = vec![
        "Find where the packets are lost: compare captures taken at both ends (`tcplab analyze \
         --pair A B`), look at the drops of interfaces and queues (`ip -s link`, `tc -s qdisc`)."
            .to_owned(),
        "Check that SACK and tail loss probes are on at the sender: `sysctl net.ipv4.tcp_sack \
         net.ipv4.tcp_early_retrans` (1 and 3)."
            .to_owned(),
    ];
    f
}

pub(crate) fn spurious(side: &Side<'_>) -> Option<Finding> {
    let list = Episodes::of(side, |r| is_timeout(r, true))?;
    let evidence = list.first.spurious()?;
    let mut f = list.finding(side, SPURIOUS.id, Severity::Medium);
    f.title = format!(
        "{} retransmitted after a timeout though nothing was lost ({}, silence {})",
        side.sender_end.ip,
        times(list.count()),
        length(list.longest())
    );
    f.cause = format!(
        "The round trip grew suddenly beyond the retransmission timeout of {}. {} It then takes the \
         path for congested and slows down, unless F-RTO (RFC 5682) or time stamps undo that.",
        side.sender_end.ip,
        proof(evidence)
    );
    f.remedy = vec![
        "Find what held the packets (a queue without AQM, a wireless link, a paused virtual \
         machine); the RTT chart of the report shows when."
            .to_owned(),
        "Keep time stamps and F-RTO on at the sender: `sysctl net.ipv4.tcp_timestamps \
         net.ipv4.tcp_frto` (1 and 2)."
            .to_owned(),
    ];
    Some(f)
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
    }
}
