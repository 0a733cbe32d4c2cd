//! The program that asks takes its time between an answer and its next request, again and again.

use tcplab_base::Duration;

use super::slow_server::{Thinking, thinking, waits};
use super::{Detector, Finding, Found, Id, Need, Severity, Side, length, packets, times};
use crate::conn::SLOW_US;

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("slow_client"),
    severity: "info",
    said_when: "A connection has eight requests or more, and the client paused for 20 to 500 ms before most of them; the pauses are at least 55 % of the connection's life",
    needs: &[Need::BothDirections],
    detect,
};

/// Fewer requests are no habit.
const REQUESTS: u32 = 8;
/// A person, or a program with nothing to do: nobody waits.
const IDLE: Duration = Duration::from_millis(500);

/// Whether somebody may wonder where the time went.
fn is_worth_saying(side: &Side<'_>, t: &Thinking<'_>) -> bool {
    let life = side.connection.last.since(side.connection.start);
    t.waits.turns >= REQUESTS
        && t.turns * 5 >= t.waits.turns * 4
        && t.each() <= IDLE
        && t.all().as_nanos() >= life.as_nanos() / 20 * 11
}

fn detect(side: &Side<'_>, out: &mut Found) {
    let roles = side.connection.roles_known() && side.sender_is_client();
    let Some(waits) = waits(side).filter(|_| roles) else {
        return;
    };
    let many = waits.turns + waits.unclear >= REQUESTS;
    let found = find(side);
    if found.is_none() && many && waits.unclear > 0 && !side.has(Need::EveryPacket) {
        out.cannot_tell(Need::EveryPacket);
    } else if found.is_none()
        && many
        && !side.has(Need::Handshake)
        && waits.shortest_us >= Some(SLOW_US)
    {
        // The shortest pause was taken for the path.
        out.cannot_tell(Need::Handshake);
    }
    out.extend(found);
}

fn find(side: &Side<'_>) -> Option<Finding> {
    let t = thinking(side).filter(|t| is_worth_saying(side, t))?;
    let mut f = side.finding(DETECTOR.id, Severity::Info);
    f.packets = packets(t.waits.packets().iter().copied());
    let client = side.sender_end.ip;
    f.title = format!(
        "{client} waits {} before its next request: the program, not TCP ({}, {} in all)",
        length(t.each()),
        times(t.turns.into()),
        length(t.all())
    );
    f.remedy = vec![format!(
        "If the whole exchange should be faster, find out what the program on {} does between an answer and its next \
         request, or let it send several requests at once (pipelining, several connections).",
        side.sender_end
    )];
    f.cause = format!(
        "{client} had the whole answer of {} and sent its next request only later. The network and the server had \
         nothing to do meanwhile. If that is a timer or a person, all is well.",
        side.receiver_end
    );
    Some(f)
}
