//! Retransmission timeouts: needed ones that cost time, and spurious ones (RFC 6298, RFC 5682).

use tcplab_base::Duration;

use super::episodes::Episodes;
use super::{Detector, Finding, Found, Id, Need, Severity, Side, length, times, up_to};
use crate::conn::Record;
use crate::report::{EpisodeKind, SpuriousEvidence};

pub(crate) const STALL: Detector = Detector {
    id: Id("rto_stall"),
    severity: "high from 1 s of silence, else medium",
    said_when: "Segments were repeated after a silence of a retransmission timeout, and they were needed",
    needs: &[Need::Data],
    detect: |side, out| out.extend(stall(side)),
};

pub(crate) const SPURIOUS: Detector = Detector {
    id: Id("spurious_rto"),
    severity: "medium",
    said_when: "The same, and DSACK, time stamps or the time of the ACK show that nothing was lost",
    needs: &[Need::BothDirections, Need::WholeHeaders],
    detect: |side, out| {
        reason_unknown(side, out);
        out.extend(spurious(side));
    },
};

/// A retransmission was not needed, and the capture does not show what made the sender send it: a timer or ACKs.
pub(super) fn reason_unknown(side: &Side<'_>, out: &mut Found) {
    let unknown = |r: &&Record| r.spurious().is_some() && r.reason_unknown();
    if side.episodes().iter().any(|r| unknown(&r)) {
        out.cannot_tell(Need::EveryPacket);
    }
}

/// Episodes begun or continued by the retransmission timer.
fn timeouts<'a>(side: &'a Side<'_>, spurious: bool) -> Option<Episodes<'a>> {
    Episodes::of(side, |r| {
        r.kind == Some(EpisodeKind::Rto) && r.timeouts > 0 && r.spurious().is_some() == spurious
    })
}

pub(crate) fn stall(side: &Side<'_>) -> Option<Finding> {
    let list = timeouts(side, false)?;
    let severity = if list.silence() >= Duration::from_secs(1) {
        Severity::High
    } else {
        Severity::Medium
    };
    let mut f = list.finding(side, STALL.id, severity);
    f.title = format!(
        "{} lost packets and stood still for {}{}: only its timer noticed ({})",
        side.sender_end.ip,
        up_to(list.timeouts()),
        length(list.longest()),
        times(list.timeouts())
    );
    f.cause = format!(
        "No duplicate ACKs or SACK blocks told {} of the loss in time, so it waited for the \
         retransmission timeout (RFC 6298: on Linux at least 200 ms plus the round trip, doubled \
         each time it fires) and began again with a window of one segment.",
        side.sender_end.ip
    );
    f.remedy = vec![
        "Find where the packets are lost: `ip -s link` and `tc -s qdisc` count drops; `tcplab \
         analyze --pair A B` compares captures of both ends."
            .to_owned(),
        format!(
            "On {}: keep SACK and tail loss probes on: `sysctl net.ipv4.tcp_sack \
             net.ipv4.tcp_early_retrans` (1 and 3).",
            side.sender_end.ip
        ),
    ];
    Some(f)
}

pub(crate) fn spurious(side: &Side<'_>) -> Option<Finding> {
    let list = timeouts(side, true)?;
    let evidence = list.first.spurious()?;
    let mut f = list.finding(side, SPURIOUS.id, Severity::Medium);
    f.title = format!(
        "{} sent packets twice for nothing after {}{} of silence ({}): they were late, not lost",
        side.sender_end.ip,
        up_to(list.count()),
        length(list.longest()),
        times(list.count())
    );
    f.cause = format!(
        "The round trip suddenly took longer than the retransmission timeout of {}. {} The sender \
         takes the path for congested and slows down, unless F-RTO (RFC 5682) or time stamps undo \
         that.",
        side.sender_end.ip,
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
