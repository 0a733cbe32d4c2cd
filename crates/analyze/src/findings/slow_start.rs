//! A short transfer that spent its time in slow start (RFC 5681 3.1, RFC 6928): the sender may send little at first and
//! waits a round trip before it may send twice as much.

use tcplab_base::Duration;

use super::{Detector, Finding, Id, Need, Severity, Side, length, packets};
use crate::conn::Run;

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("slow_start"),
    severity: "info",
    said_when: "The first transfer of a connection took three round trips or more that grew from a small first one, and waited for ACKs in half of its time or more (50 ms at least)",
    needs: &[Need::Handshake, Need::BothDirections, Need::Data],
    detect: |side, out| out.extend(find(side)),
};

/// Less is not worth a line.
const WORTH: Duration = Duration::from_millis(50);

fn is_slow_start(run: &Run) -> bool {
    !run.harmed
        && run.grew >= 2
        && run.silent >= WORTH
        && run.silent.as_nanos() * 2 >= run.length.as_nanos()
}

fn find(side: &Side<'_>) -> Option<Finding> {
    let opening = side.sender.rounds.as_deref()?.opening?;
    let run = Some(opening).filter(is_slow_start)?;
    let mut f = side.finding(DETECTOR.id, Severity::Info);
    f.packets = packets([run.number].into_iter().filter(|n| *n > 0));
    let sender = side.sender_end.ip;
    f.title = format!(
        "{sender} needed {} round trips for {} kB, because TCP starts slowly ({} of {} went to waiting)",
        run.rounds + 1,
        run.bytes / 1000,
        length(run.silent),
        length(run.length)
    );
    f.remedy = vec![
        "Keep connections open and use them again: a connection that has sent before need not start slowly."
            .to_owned(),
        "Bring the data nearer (a cache, a CDN), or send less of it (compression): each doubling costs a round trip."
            .to_owned(),
        format!(
            "On {sender}: a larger first window, `ip route change default via GATEWAY initcwnd 20` (the default is 10 \
             segments)."
        ),
    ];
    f.cause = format!(
        "{sender} may send {} kB at first and about twice as much in each later round trip. The transfer was over \
         before the path was full, so the round trip and not the path's rate made its time.",
        run.first / 1000
    );
    Some(f)
}
