//! A short transfer that spent its time in slow start (RFC 5681 3.1, RFC 6928): the sender may send little at first and
//! waits a round trip before it may send twice as much.

use tcplab_base::Duration;
use tcplab_base::quantity::bytes;

use super::{Detector, Finding, Found, Id, Need, Severity, Side, length, packets, route};
use crate::conn::Run;

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("slow_start"),
    severity: "info",
    said_when: "The first transfer of a connection took three round trips or more, with flights that grew from a small first one, and waited for ACKs for at least half of its time (100 ms at least)",
    needs: &[Need::Handshake, Need::BothDirections, Need::Data],
    detect,
};

/// Less is not worth a line.
const WORTH: Duration = Duration::from_millis(100);

fn detect(side: &Side<'_>, out: &mut Found) {
    let opening = side.sender.rounds.as_deref().and_then(|r| r.opening);
    let may_be = |run: &Run| run.rounds >= 2 && run.length >= WORTH;
    match (find(side), side.scale_lacks()) {
        // The receiver's window may have been the limit.
        (Some(_), Some(lacks)) => out.cannot_tell(lacks),
        (None, _) if !side.has(Need::EveryPacket) && opening.as_ref().is_some_and(may_be) => {
            out.cannot_tell(Need::EveryPacket);
        }
        (found, _) => out.extend(found),
    }
}

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
        "{sender} needed {} round trips for {}, because TCP starts slowly ({} of {} went to waiting)",
        run.rounds + 1,
        bytes(run.bytes),
        length(run.silent),
        length(run.length)
    );
    f.remedy = vec![
        format!(
            "Keep the connection open and use it again. It starts slowly after pauses longer than the retransmission \
             timeout (200 ms and a round trip), unless {sender} has `net.ipv4.tcp_slow_start_after_idle=0`."
        ),
        "Bring the data nearer (a cache, a CDN), or send less of it (compression): each doubling costs a round trip."
            .to_owned(),
        format!(
            "On {sender}, until the next reboot, a larger first window (the default is 10 segments): {}.",
            route::with(side.receiver_end.ip, "initcwnd 20")
        ),
    ];
    f.cause = format!(
        "{sender} may send {} at first and about twice as much in each later round trip. The transfer was over \
         before the path was full, so the round trip and not the path's rate made its time.",
        bytes(run.first.into())
    );
    Some(f)
}
