//! The last segments of a burst were lost: nothing after them could tell the sender (RFC 8985 7).

use super::episodes::Episodes;
use super::{
    Detector, Finding, Found, Id, Need, Severity, Side, length, rto, silence, times, up_to,
};
use crate::conn::Record;
use crate::report::EpisodeKind;

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("tail_loss"),
    severity: "medium",
    said_when: "The end of a burst was lost, and the sender had nothing more to send. A tail loss probe or timeout repaired it, without SACK or duplicate ACKs",
    needs: &[],
    detect,
};

/// A burst ended with a loss: repaired by a probe or a timeout without any SACK or duplicate ACK
/// before it, and the sender had nothing more to send.
pub(crate) fn is_tail(r: &Record) -> bool {
    let by_timer = matches!(r.kind, Some(EpisodeKind::Tlp | EpisodeKind::Rto));
    let by_probe_then_sack = r.kind == Some(EpisodeKind::Fast) && !r.evidence;
    (by_timer || by_probe_then_sack)
        && !r.evidence
        && !r.acked
        && r.spurious().is_none()
        && !r.more_to_send
        && r.duration.is_some()
}

fn detect(side: &Side<'_>, out: &mut Found) {
    if !side.has(Need::BothDirections) {
        let by_timer = |r: &Record| matches!(r.kind, Some(EpisodeKind::Tlp | EpisodeKind::Rto));
        let hidden = !side.has(Need::Data) && side.is_used();
        if hidden || side.episodes().iter().any(by_timer) {
            out.cannot_tell(Need::BothDirections);
        }
        return;
    }
    let found = find(side);
    let unsure = |r: &Record| is_tail(r) && side.may_be_unaccepted(r);
    if found.is_none() && side.episodes().iter().any(unsure) {
        out.cannot_tell(Need::Handshake);
    }
    if found.is_some() && side.stamps_cut() {
        out.cannot_tell(Need::WholeHeaders);
    } else {
        if found.is_none() && rto::is_silent(side) {
            out.cannot_tell(Need::AtSender);
        }
        out.extend(found);
    }
}

fn find(side: &Side<'_>) -> Option<Finding> {
    let list = Episodes::of(side, |r| is_tail(r) && !side.may_be_unaccepted(r))?;
    let mut f = list.finding(side, DETECTOR.id, Severity::Medium);
    if !side.is_told(DETECTOR.id) {
        return Some(f);
    }
    f.title = format!(
        "the end of what {} sent was lost {}: it noticed after {}{} of silence",
        side.sender_end.ip,
        times(list.count()),
        up_to(list.count()),
        length(list.longest())
    );
    f.cause = format!(
        "Nothing followed the lost segments, so no duplicate ACK or SACK block could report them. {} had to wait for its \
         tail loss probe or its retransmission timeout. {}",
        side.sender_end.ip,
        silence::timing(&list)
    );
    f.remedy = silence::remedy(side, &list);
    if side.has_no_probes() {
        f.cause += &format!(
            " It was the timeout: the window of {} was two segments afterwards, as no probe leaves it.",
            side.sender_end.ip
        );
    }
    Some(f)
}
