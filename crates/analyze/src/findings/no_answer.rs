//! A request that nothing answered: the server acknowledged it, and its program stayed silent until the connection or the
//! capture ended.

use tcplab_base::Duration;

use super::{Detector, Finding, Found, Id, Need, Severity, Side, keepalive_death, length};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("no_answer"),
    severity: "high from 5 s, else medium",
    said_when: "The server acknowledged the client's last message, which came after earlier answers or in one piece, and sent no data for 1 s or more until the connection was closed, or for 5 s or more while it stayed open",
    needs: &[Need::BothDirections, Need::Data],
    detect,
};

/// A shorter silence may be the end of a connection that is just being closed.
pub(super) const SILENT: Duration = Duration::from_secs(1);
/// A person gives up about then. A connection that is still open is idle for longer, if it is.
const LONG: Duration = Duration::from_secs(5);

/// A message without an answer.
struct Unanswered {
    packet: u64,
    waited: Duration,
    /// The connection began to close; else the capture ended.
    closed: bool,
}

fn detect(side: &Side<'_>, out: &mut Found) {
    let Some(message) = unanswered(side) else {
        return;
    };
    if !side.connection.roles_known() {
        out.cannot_tell(Need::Handshake);
    } else if !side.has(Need::EveryPacket) {
        out.cannot_tell(Need::EveryPacket);
    } else if side.sender_is_client() {
        out.extend([describe(side, &message)]);
    }
}

fn unanswered(side: &Side<'_>) -> Option<Unanswered> {
    let (client, server) = (side.sender, side.receiver);
    let message = side.connection.unanswered(side.is_a())?;
    let acked = (client.una + u32::from(client.fin_seen)).at_or_after(client.nxt);
    let gone = keepalive_death::unanswered(side).is_some();
    let waited =
        message.until.since(message.sent) - Duration::from_micros(server.path_or_zero().into());
    let closed = message.closed || side.connection.handshake.reset;
    let least = if closed { SILENT } else { LONG };
    (acked && client.acks_seen && !gone && waited >= least).then_some(Unanswered {
        packet: message.packet,
        waited,
        closed,
    })
}

fn describe(side: &Side<'_>, message: &Unanswered) -> Finding {
    let severity = match message.waited >= LONG {
        true => Severity::High,
        false => Severity::Medium,
    };
    let (client, server) = (side.sender_end.ip, side.receiver_end.ip);
    let until = match message.closed {
        true => " until the connection was closed",
        false => " or more",
    };
    let mut f = side.finding(DETECTOR.id, severity);
    f.packets = vec![message.packet];
    f.title = format!(
        "{server} never answered the last message of {client}: it was silent for {}{until}",
        length(message.waited)
    );
    f.remedy = vec![
        format!(
            "Find out what the program on {} did with this message (its log, `strace -p PID`, a stack trace): a lock, a \
             database, another server, or a message that it took for incomplete.",
            side.receiver_end
        ),
        "Leave TCP alone: the message had arrived and was acknowledged.".to_owned(),
    ];
    f.cause = format!(
        "{server} acknowledged all that {client} had sent, so the message had reached its kernel. No data came back, and \
         nothing was sent again. If {client} expects no answer to such a message, this is normal."
    );
    f
}
