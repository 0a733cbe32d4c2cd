//! Switches refuse or mark most requests, or marks take most of what was granted: CAQM at work, at a full port.

use super::{first, percent};
use crate::conn::Tags;
use crate::findings::{Detector, Finding, Id, Severity, Side};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("caqm_congestion"),
    severity: "info",
    said_when: "Most requests were refused or marked, or grants minus marks are worth less than half of what was asked for; in a capture before the switch, feedback shows it",
    needs: &[],
    detect: |side, out| out.extend(find(side)),
};

pub(super) fn find(side: &Side<'_>) -> Option<Finding> {
    let tags = side.requests()?;
    let seen = &tags.seen;
    let stopped = seen.refused + seen.marked;
    let given = given(side, tags)?;
    if stopped * 2 <= seen.requests && given * 2 >= seen.asked_bytes {
        return None;
    }
    let title = format!(
        "switches gave {} {} of the {} bytes of window that it asked for in CAQM tags",
        side.sender_end.ip,
        percent(given, seen.asked_bytes),
        seen.asked_bytes
    );
    let mut f = side.finding(DETECTOR.id, Severity::Info);
    f.packets = first(match tags.first.not_granted {
        0 => tags.first.tag,
        number => number,
    });
    f.title = title;
    f.cause = format!(
        "A switch on the path has no free window to give at its egress port: the queue is at its target, or others share the \
         port. {}The sender's window stays or shrinks; that is what CAQM is for.",
        match seen.last_hop {
            0 => String::new(),
            n => format!("{n} of the tags say that it is the last switch before the receiver. "),
        }
    );
    f.remedy = vec![
        "Nothing, when the port is as busy as it can be. If it is not: raise the switch's target queue (Q_t), and check that \
         hosts and switch have the same units (mtu_unit, data_hint_unit, beta)."
            .to_owned(),
    ];
    Some(f)
}

/// Bytes that the sender is given, less what marks take: by the tags behind the switch; before it, where all of them still
/// look granted, by the receiver's answers.
fn given(side: &Side<'_>, tags: &Tags) -> Option<u64> {
    let is_behind = side.is_at_receiver() || tags.first.not_granted > 0;
    if is_behind {
        return Some(u64::try_from(tags.worth).unwrap_or(0));
    }
    let told = side.told().filter(|_| side.is_whole())?;
    Some(
        told.feedback_plus_bytes
            .saturating_sub(told.feedback_minus_bytes),
    )
}
