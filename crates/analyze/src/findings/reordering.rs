//! Fast retransmissions of what was only late (RFC 5681 3.2, RFC 2883, RFC 8985).

use super::episodes::Episodes;
use super::{Detector, Finding, Id, Severity, Side, rto, times};
use crate::conn::Record;
use crate::report::{EpisodeKind, SpuriousEvidence};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("spurious_retransmission_reordering"),
    severity: "medium from 3 times, else info",
    said_when: "Fast retransmissions repeated segments that were only late; evidence as in `spurious_rto`",
    needs: &[],
    detect: |side, out| {
        let found = find(side);
        if found.is_none() {
            rto::unproven(side, out, EpisodeKind::Fast);
        }
        out.extend(found);
    },
};

/// Nothing was lost. Without SACK, a sender that falsely assumes a loss of the first segment also repeats later
/// ones that arrived.
pub(crate) fn is_false_alarm(side: &Side<'_>, r: &Record) -> bool {
    let sack = side.sender.sack_permitted && side.receiver.sack_permitted;
    let first_only = r.too_early.is_some() && !sack;
    r.kind == Some(EpisodeKind::Fast)
        && !r.reason_unknown()
        && (r.spurious().is_some() || first_only)
}

pub(crate) fn find(side: &Side<'_>) -> Option<Finding> {
    let overtaken = side
        .sender
        .loss
        .as_deref()
        .and_then(|l| l.reordered.as_deref())
        .is_some_and(|r| r.segments > 0);
    // That the data had arrived does not tell why it was sent again: without SACK a sender repeats more than was lost.
    let list = Episodes::of(side, |r| {
        let told = r.spurious() != Some(SpuriousEvidence::Acked) || overtaken;
        told && is_false_alarm(side, r)
    })?;
    let evidence = list.first.spurious().or(list.first.too_early)?;
    let severity = if list.count() >= 3 {
        Severity::Medium
    } else {
        Severity::Info
    };
    let mut f = list.finding(side, DETECTOR.id, severity);
    f.title = format!(
        "{} repeated packets {}, though nothing was lost: they overtook each other",
        side.sender_end.ip,
        times(list.count())
    );
    f.cause = format!(
        "Segments overtook each other on the way to {}. Duplicate ACKs or SACK blocks made {} take \
         the late ones for lost. {}",
        side.receiver_end.ip,
        side.sender_end.ip,
        rto::proof(evidence)
    );
    f.remedy = vec![
        "Make the path keep the order: no load balancing or link aggregation packet by packet, no \
         parallel queues."
            .to_owned(),
        format!(
            "On {}: keep RACK and DSACK on: `sysctl net.ipv4.tcp_recovery net.ipv4.tcp_dsack` (both \
             1). On old kernels raise net.ipv4.tcp_reordering.",
            side.sender_end.ip
        ),
    ];
    Some(f)
}
