//! A request that nothing answered: the server acknowledged it, and its program stayed silent until the connection or the
//! capture ended.

use tcplab_base::Duration;

use super::{
    Detector, Finding, Found, Id, Need, Severity, Side, keepalive_death, large_packets_missing,
    length,
};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("no_answer"),
    severity: "medium; info while the connection stays open, or if the message came within 20 ms of an answer",
    said_when: "A message of the client was ACKed but not answered: the server sent no data for at least 1 s until the close, or 5 s while the connection stayed open. No packet of the server was ahead of missing data, and the client retransmitted nothing. In addition, the message came at least 20 ms after the last answer (an earlier message may be an answer itself); or it was the only message, and took less time than the silence after it (else it is a feed); or the connection was closed, and at least three messages before had been answered (five, if the server spoke first)",
    needs: &[Need::BothDirections, Need::Data],
    detect,
};

/// A shorter silence may be the end of a connection that is just being closed.
pub(super) const SILENT: Duration = Duration::from_secs(1);
/// A connection that stays open may be idle, and mostly is not for so long.
const LONG: Duration = Duration::from_secs(5);

/// A message that comes sooner after data may be the answer to it.
const PAUSE: Duration = Duration::from_millis(20);

/// So many messages before were answered: one that comes at once after an answer asks as well. A server that spoke first
/// may have asked all along, and the client's messages be the answers.
const HABIT: u32 = 3;
const HABIT_AFTER_SERVER: u32 = 5;

/// A message without an answer.
struct Unanswered {
    packet: u64,
    waited: Duration,
    /// The connection began to close; else the capture ended.
    closed: bool,
    /// It came some time after the last answer, and not at once after it.
    apart: bool,
}

fn detect(side: &Side<'_>, out: &mut Found) {
    let Some(message) = unanswered(side) else {
        return;
    };
    if !side.connection.roles_known() {
        out.cannot_tell(Need::Handshake);
    } else if !message.closed && !side.has(Need::LaterPackets) {
        out.cannot_tell(Need::LaterPackets);
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
    let gone =
        keepalive_death::unanswered(side).is_some() || large_packets_missing::hides_answer(side);
    let waited =
        message.until.since(message.sent) - Duration::from_micros(server.path_or_zero().into());
    // What comes at once after the server's data may be the answer to that.
    let pause =
        message.began.since(server.last_data) - Duration::from_micros(client.path_or_zero().into());
    let closed = message.closed || side.connection.handshake.reset;
    let apart = server.first_data.is_none() || pause >= PAUSE;
    let asks = apart || (closed && answered(side) >= habit(side));
    // A lone byte is a keep-alive of a connection that was idle before.
    let sent_once = client.loss.is_none() && client.unique_bytes > 1;
    let least = if closed { SILENT } else { LONG };
    // A program that sent for longer than it has waited since, and never got data back, expects no answer.
    let is_feed = server.first_data.is_none() && message.sent.since(message.began) > waited;
    (!is_feed && acked && asks && sent_once && client.acks_seen && !gone && waited >= least)
        .then_some(Unanswered {
            packet: message.packet,
            waited,
            closed,
            apart,
        })
}

/// How many answered messages show that the next one asks, too.
fn habit(side: &Side<'_>) -> u32 {
    let [client, server] = [side.sender, side.receiver].map(|d| d.first_data.get());
    if client < server {
        HABIT
    } else {
        HABIT_AFTER_SERVER
    }
}

/// How many messages of the client the server answered.
fn answered(side: &Side<'_>) -> u32 {
    let turns = side.connection.turns.as_deref();
    turns.map_or(0, |t| t.sides[usize::from(side.is_a())].turns)
}

fn describe(side: &Side<'_>, message: &Unanswered) -> Finding {
    let severity = match message.closed && message.apart {
        true => Severity::Medium,
        false => Severity::Info,
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
        "Leave TCP alone: the message was acknowledged.".to_owned(),
    ];
    f.cause = format!(
        "All that {client} had sent was acknowledged, and no data came back. If {client} expects no answer to such a \
         message, this is normal. If a proxy or NAT acknowledged it, it may never have reached {server}."
    );
    if large_packets_missing::may_hide_answer(side) {
        f.cause += " If the answer consists of packets too large for the path, none arrives, and the packets here look the same.";
    }
    f
}
