//! Switches refuse or mark most requests: CAQM at work, at a full port.

use super::{first, percent};
use crate::findings::{Finding, Id, Severity, Side};

pub(super) fn find(side: &Side<'_>) -> Option<Finding> {
    let tags = side.requests()?;
    let seen = &tags.seen;
    let stopped = seen.refused + seen.marked;
    let title = if stopped * 2 > seen.requests {
        format!(
            "switches granted {} of {} CAQM requests of {}: {} refused, {} marked",
            percent(seen.granted, seen.requests),
            seen.requests,
            side.sender_end.ip,
            seen.refused,
            seen.marked
        )
    } else {
        told_less(side)?
    };
    let mut f = side.finding(Id::CaqmCongestion, Severity::Info, 0.95);
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

/// Before the switch only the receiver's answer shows it.
fn told_less(side: &Side<'_>) -> Option<String> {
    let (asked, told) = (side.requests()?.seen.asked_bytes, side.told()?);
    let given = told
        .feedback_plus_bytes
        .saturating_sub(told.feedback_minus_bytes);
    let one_way = side.is_whole() && !side.is_at_receiver();
    (one_way && given * 2 < asked).then(|| {
        format!(
            "{} asked for {asked} bytes of window in CAQM tags and was told {} of them",
            side.sender_end.ip,
            percent(given, asked)
        )
    })
}
