//! After a pause the sender began again with a small congestion window (RFC 5681 4.1, Linux `tcp_cwnd_restart()`).

use tcplab_base::Duration;
use tcplab_base::quantity::bytes;

use super::{Detector, Finding, Found, Id, Need, Severity, Side, length, packets, times};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("window_after_idle"),
    severity: "medium",
    said_when: "After a pause of 200 ms or more, a transfer began with at most half of the largest flight before, grew with each round trip, and waited for ACKs meanwhile (20 ms at least)",
    needs: &[Need::Handshake, Need::BothDirections, Need::Data],
    detect,
};

/// Less is not worth a line.
const WORTH: Duration = Duration::from_millis(20);

fn detect(side: &Side<'_>, out: &mut Found) {
    let starts = side
        .sender
        .rounds
        .as_deref()
        .map_or(0, |r| r.restarts.starts);
    match (find(side), side.scale_lacks()) {
        // The receiver's window may have been the limit.
        (Some(_), Some(lacks)) => out.cannot_tell(lacks),
        (None, _) if starts > 0 && !side.has(Need::EveryPacket) => {
            out.cannot_tell(Need::EveryPacket)
        }
        // Without the options a whole segment cannot be told from a part of one.
        (None, _) if starts > 0 && !side.has(Need::WholeHeaders) => {
            out.cannot_tell(Need::WholeHeaders)
        }
        (found, _) => out.extend(found),
    }
}

fn find(side: &Side<'_>) -> Option<Finding> {
    let r = &side.sender.rounds.as_deref()?.restarts;
    if r.count == 0 || r.silent < WORTH {
        return None;
    }
    let mut f = side.finding(DETECTOR.id, Severity::Medium);
    f.packets = packets(r.packets.iter().copied().filter(|n| *n > 0));
    let sender = side.sender_end.ip;
    f.title = format!(
        "{sender} started slowly again {} after a pause; these transfers waited {} for ACKs",
        times(r.count.into()),
        length(r.silent)
    );
    f.remedy = vec![
        format!(
            "On {sender}, until the next reboot: `sysctl -w net.ipv4.tcp_slow_start_after_idle=0`. It works at once, for \
             open connections, too; the first transfer of a new connection stays slow."
        ),
        format!(
            "Or let {sender} send something within each retransmission timeout (200 ms and a round trip): the window \
             is then kept (keep-alive probes do not count)."
        ),
    ];
    f.cause = format!(
        "Before a pause {sender} had up to {} in flight; after it, it sent {} and waited for the ACKs before it \
         sent more. Linux halves the congestion window for each retransmission timeout of idle time, down to the \
         initial window. BBR does not.",
        bytes(r.before.into()),
        bytes(r.first.into())
    );
    Some(f)
}
