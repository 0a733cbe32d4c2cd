//! The program that answers takes its time: no timer and no loss of TCP explains the wait.

use tcplab_base::Duration;

use super::{Detector, Finding, Found, Id, Need, Severity, Side, length, packets, times};
use crate::conn::{SLOW_US, Waits};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("slow_server"),
    severity: "high from 1 s in all, else medium",
    said_when: "The server's answers came 20 ms or more after the whole request, less the path, a quarter or more of the time that the client waited. Seen at the server, or the server had ACKed the request before, or every answer was as late. Nothing was sent again meanwhile",
    needs: &[Need::BothDirections, Need::EveryPacket],
    detect,
};

/// So many answers, all late alike, without further proof.
const ALIKE: u32 = 5;

/// Slow turns of the sender that its program explains.
pub(super) struct Thinking<'a> {
    pub waits: &'a Waits,
    /// How many, and how long all together.
    pub turns: u32,
    pub us: u64,
}

impl Thinking<'_> {
    /// The time of one of them.
    pub(super) fn each(&self) -> Duration {
        let us = self.us / u64::from(self.turns.max(1));
        Duration::from_micros(i64::try_from(us).unwrap_or(i64::MAX))
    }

    pub(super) fn all(&self) -> Duration {
        Duration::from_micros(i64::try_from(self.us).unwrap_or(i64::MAX))
    }
}

/// How much longer than the least ACK the answer to the SYN took, where that is much: another machine on the way (a NAT or
/// a proxy that ACKs for the end) may have sent the ACKs, and the path is longer than they say.
fn hidden_path_us(side: &Side<'_>) -> u32 {
    let h = &side.connection.handshake;
    let near = side.sender.path_or_zero();
    let told = h
        .server_rtt_us
        .filter(|_| h.syns_again == 0 && !side.sender_is_client());
    told.filter(|told| *told / 4 > near)
        .map_or(0, |told| told - near)
}

/// What the packets prove of the pauses of the sender's program.
pub(super) fn thinking<'a>(side: &Side<'a>) -> Option<Thinking<'a>> {
    let hidden = hidden_path_us(side);
    let mut t = proven(side)?;
    t.us = t.us.saturating_sub(u64::from(t.turns) * u64::from(hidden));
    (t.each() >= Duration::from_micros(SLOW_US.into())).then_some(t)
}

/// The same, less the path that ACKs tell.
fn proven<'a>(side: &Side<'a>) -> Option<Thinking<'a>> {
    let turns = side.connection.turns.as_deref()?;
    let waits = &turns.sides[usize::from(!side.is_a())];
    let slow = &waits.slow;
    let shortest = waits.shortest_us.unwrap_or(0);
    let always = slow.all == waits.turns && shortest >= SLOW_US;
    let alike = always && waits.turns >= ALIKE && waits.longest_us / 2 <= shortest;
    let often = always && waits.turns >= 3 && slow.proven > 0;
    if (alike || often) && slow.doubtful * 2 < slow.all {
        return Some(Thinking {
            waits,
            turns: slow.all - slow.doubtful,
            us: slow.us - slow.doubtful_us,
        });
    }
    if alike || often {
        return Some(Thinking {
            waits,
            turns: slow.all,
            us: slow.us,
        });
    }
    (slow.proven > 0).then_some(Thinking {
        waits,
        turns: slow.proven,
        us: slow.proven_us,
    })
}

fn detect(side: &Side<'_>, out: &mut Found) {
    if side.sender_is_client() {
        return;
    }
    if !side.connection.roles_known() {
        // It may be the client that pauses before its requests.
        if proven(side).is_some() {
            out.cannot_tell(Need::Handshake);
        }
        return;
    }
    match thinking(side).filter(|t| t.us * 4 >= t.waits.waited_us) {
        Some(t) => out.extend([find(side, &t)]),
        // Without the handshake the shortest answer is taken for the path.
        None if !side.has(Need::Handshake) && side.sender.path_or_zero() >= SLOW_US => {
            out.cannot_tell(Need::Handshake);
        }
        None if hidden_path_us(side) > 0 && proven(side).is_some() => {
            out.cannot_tell(Need::RoundTrip);
        }
        None => {}
    }
}

fn find(side: &Side<'_>, t: &Thinking<'_>) -> Finding {
    let severity = if t.all() >= Duration::from_secs(1) {
        Severity::High
    } else {
        Severity::Medium
    };
    let mut f = side.finding(DETECTOR.id, severity);
    f.packets = packets(t.waits.packets.iter().copied());
    let server = side.sender_end.ip;
    f.title = if t.turns == 1 {
        format!(
            "{server} took {} to answer: the program, not TCP",
            length(t.each())
        )
    } else {
        format!(
            "{server} takes {} to answer: the program, not TCP ({}, {} in all)",
            length(t.each()),
            times(t.turns.into()),
            length(t.all())
        )
    };
    f.remedy = vec![
        format!(
            "Find out what the program on {} does between request and answer (its log of slow requests, a \
             profiler, `strace -r -p PID`): a database, a lock, a name lookup, a sleep, another server.",
            side.sender_end
        ),
        "Leave TCP alone: no setting of the network or the kernel makes these answers faster."
            .to_owned(),
    ];
    f.cause = format!(
        "The whole request had arrived at {server}, and the first byte of the answer left {} later. The path's \
         round trip is taken off already. Nothing was lost or sent again meanwhile, and no delayed ACK or full window \
         held the answer back.",
        length(t.each())
    );
    f
}
