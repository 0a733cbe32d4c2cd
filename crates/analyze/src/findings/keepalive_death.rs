//! The peer is gone: keep-alive probes are not answered any more (RFC 9293 3.8.4).

use tcplab_base::Duration;

use super::{Detector, Finding, Id, Need, Severity, Side, length, packets};
use crate::conn::Unanswered;

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("keepalive_death"),
    severity: "high",
    said_when: "Three keep-alives or more within a second or longer, none answered to the end of the connection or capture",
    needs: &[Need::BothDirections],
    detect: |side, out| {
        let found = find(side);
        if found.is_some() && side.may_go_on() {
            out.cannot_tell(Need::LaterPackets);
        } else {
            out.extend(found);
        }
    },
};

/// Fewer may just have been lost.
const ENOUGH: u32 = 3;

/// No keep-alive follows the one before sooner (Linux: TCP_KEEPINTVL is in seconds).
const INTERVAL: Duration = Duration::from_secs(1);

/// Keep-alives of the sender that nobody answered, enough of them.
pub(super) fn unanswered<'a>(side: &'a Side<'_>) -> Option<&'a Unanswered> {
    let probes = side.sender.seldom()?.unanswered.as_ref()?;
    let heard = side.receiver.last_packet;
    let apart = probes.last.since(probes.since) >= INTERVAL;
    (probes.count >= ENOUGH && apart && heard < probes.since).then_some(probes)
}

fn find(side: &Side<'_>) -> Option<Finding> {
    let probes = unanswered(side)?;
    let (alive, gone) = (side.sender_end, side.receiver_end);
    let mut f = side.finding(DETECTOR.id, Severity::High);
    f.packets = packets(probes.packets.iter().copied());
    f.title = format!(
        "{} is gone: it answered none of {} keep-alives of {}",
        gone.ip, probes.count, alive.ip
    );
    f.remedy = vec![
        format!(
            "Find out what happened to {} at that time: did it crash or restart, lose its address or its network?",
            gone.ip
        ),
        "If it runs, a NAT or firewall on the way forgot the idle connection: send keep-alives more often than its \
         timeout (net.ipv4.tcp_keepalive_time, TCP_KEEPIDLE), or raise that timeout."
            .to_owned(),
    ];
    let end = if side.connection.handshake.reset {
        " Then it gave the connection up with a RST."
    } else {
        ""
    };
    f.cause = format!(
        "{} was idle and asked whether {} is still there. Nothing came back for {}; a living host answers each probe \
         at once, with an ACK or a RST.{end}",
        alive.ip,
        gone.ip,
        length(probes.last.since(side.receiver.last_packet))
    );
    Some(f)
}
