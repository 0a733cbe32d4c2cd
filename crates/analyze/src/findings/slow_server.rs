//! The program that answers takes its time: no timer and no loss of TCP explains the wait.

use tcplab_base::Duration;

use super::{Detector, Finding, Found, Id, Need, Severity, Side, length, packets, times};
use crate::conn::{SLOW_US, Slow, Waits};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("slow_server"),
    severity: "high from 1 s in all, else medium",
    said_when: "The server's answers came at least 20 ms after the whole request (path subtracted), and this was a quarter or more of the client's waiting time. In addition, the capture was taken at the server, or the server had ACKed the request before answering, or every answer was as late. Alternatively, the server paused that long within an answer, with everything ACKed. Nothing was retransmitted meanwhile",
    needs: &[Need::BothDirections],
    detect,
};

/// So many answers, all late alike, without further proof.
const ALIKE: u32 = 5;

/// TCP_CORK and MSG_MORE hold a last small segment until a timer as long as the retransmission timer fires.
const CORK: [Duration; 2] = [Duration::from_millis(190), Duration::from_millis(400)];

/// So many pauses for each answer are a stream's own pace.
const PACE: u32 = 4;

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
        time(self.us / u64::from(self.turns.max(1)))
    }

    pub(super) fn all(&self) -> Duration {
        time(self.us)
    }
}

fn time(us: u64) -> Duration {
    Duration::from_micros(i64::try_from(us).unwrap_or(i64::MAX))
}

/// How much longer the answer to the SYN took than the fastest ACK, if that is much. A NAT or proxy may have sent the
/// ACKs for the end, so the path is longer than they show.
fn hidden_path_us(side: &Side<'_>) -> u32 {
    let h = &side.connection.handshake;
    let near = side.sender.path_or_zero();
    let told = h
        .server_rtt_us
        .filter(|_| h.syns_again == 0 && !side.sender_is_client());
    told.filter(|told| *told / 4 > near)
        .map_or(0, |told| told - near)
}

/// How the sender answered.
pub(super) fn waits<'a>(side: &Side<'a>) -> Option<&'a Waits> {
    let turns = side.connection.turns.as_deref()?;
    Some(&turns.sides[usize::from(!side.is_a())])
}

/// Pauses within answers that the socket may have made, not the program.
fn may_be_corked(within: Option<&Thinking<'_>>) -> bool {
    within.is_some_and(|t| (CORK[0]..=CORK[1]).contains(&t.each()))
}

/// What the packets prove of these.
fn proven(side: &Side<'_>, slow: Slow) -> Slow {
    if side.has(Need::EveryPacket) {
        slow
    } else {
        slow.with_drops()
    }
}

/// What the packets prove of the times that the sender's program took before it began to answer.
pub(super) fn thinking<'a>(side: &Side<'a>) -> Option<Thinking<'a>> {
    let mut t = told(side)?;
    let hidden = u64::from(t.turns) * u64::from(hidden_path_us(side));
    t.us = t.us.saturating_sub(hidden);
    (t.each() >= time(SLOW_US.into())).then_some(t)
}

/// The same, less no more of the path than ACKs tell.
fn told<'a>(side: &Side<'a>) -> Option<Thinking<'a>> {
    let waits = waits(side)?;
    let path = side.sender.path_or_zero();
    let shortest = waits.shortest_us?.saturating_sub(path);
    let mut slow = proven(side, waits.answers());
    if shortest >= SLOW_US && slow.all < waits.turns {
        // The path was known only later.
        (slow.all, slow.us) = (
            waits.turns,
            waits.all_us - u64::from(waits.turns) * u64::from(path),
        );
        if side.sender.is_here(side.receiver) {
            (slow.proven, slow.proven_us) = (slow.all - slow.doubtful, slow.us - slow.doubtful_us);
        }
    }
    let always = slow.all == waits.turns && shortest >= SLOW_US;
    let alike =
        always && waits.turns >= ALIKE && waits.longest_us.saturating_sub(path) / 2 <= shortest;
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

/// The pauses of the sender in the middle of its answers.
fn pauses<'a>(side: &Side<'a>) -> Option<Thinking<'a>> {
    let waits = waits(side)?;
    let pauses = proven(side, waits.pauses());
    let few = pauses.all <= waits.turns.saturating_mul(PACE);
    (few && pauses.proven > 0).then_some(Thinking {
        waits,
        turns: pauses.proven,
        us: pauses.proven_us,
    })
}

fn detect(side: &Side<'_>, out: &mut Found) {
    let Some(waits) = waits(side).filter(|_| !side.sender_is_client()) else {
        return;
    };
    if !side.connection.roles_known() {
        // It may be the client that pauses before its requests.
        if told(side).is_some() {
            out.cannot_tell(Need::Handshake);
        }
        return;
    }
    let (before, within) = (thinking(side), pauses(side));
    let us = |t: &Option<Thinking<'_>>| t.as_ref().map_or(0, |t| t.us);
    let all = us(&before) + us(&within);
    if all > 0 && all.saturating_mul(4) >= waits.waited_us {
        out.extend([find(side, before.as_ref(), within.as_ref())]);
    } else if !side.has(Need::Handshake) && waits.shortest_us.is_some_and(|us| us >= SLOW_US) {
        // The shortest answer was taken for the path.
        out.cannot_tell(Need::Handshake);
    } else if hidden_path_us(side) > 0 && told(side).is_some() {
        out.cannot_tell(Need::RoundTrip);
    } else if !side.has(Need::EveryPacket)
        && waits.unclear + waits.answers().all + waits.pauses().all > 0
    {
        out.cannot_tell(Need::EveryPacket);
    } else if waits.answers().doubtful > 0 {
        out.cannot_tell(Need::AtSender);
    }
}

fn find(side: &Side<'_>, before: Option<&Thinking<'_>>, within: Option<&Thinking<'_>>) -> Finding {
    let us = |t: Option<&Thinking<'_>>| t.map_or(0, |t| t.us);
    let severity = if time(us(before) + us(within)) >= Duration::from_secs(1) {
        Severity::High
    } else {
        Severity::Medium
    };
    let mut f = side.finding(DETECTOR.id, severity);
    if !side.is_told(DETECTOR.id) {
        return f;
    }
    let mainly_within = us(within) > us(before);
    if let Some(t) = if mainly_within { within } else { before } {
        f.packets = packets(t.waits.packets().iter().copied());
        f.title = title(side, t, mainly_within);
    }
    let server = side.sender_end.ip;
    f.remedy = vec![
        format!(
            "Find out what the program on {} does between request and answer (its log of slow requests, a \
             profiler, `strace -r -p PID`): a database, a lock, a name lookup, a sleep, another server, or an accept that comes late (`ss -ltn`).",
            side.sender_end
        ),
        if may_be_corked(within) {
            "If the program sets TCP_CORK or MSG_MORE, end that after the last write of an answer: a small last segment \
             waits for a timer of 200 ms or more."
        } else {
            "Leave TCP alone: no setting of the network or the kernel makes these answers faster."
        }
        .to_owned(),
    ];
    let mut shown = Vec::new();
    if let Some(t) = before {
        shown.push(format!(
            "The whole request had arrived at {server}, and the first byte of the answer left {} later. The path's \
             round trip is taken off already.",
            length(t.each())
        ));
    }
    if let Some(t) = within {
        shown.push(format!(
            "In the middle of an answer {server} sent nothing for {}, though the client had acknowledged everything \
             and had room for more.",
            length(t.each())
        ));
    }
    f.cause = format!(
        "{} Nothing was lost or sent again meanwhile, and no delayed ACK or full window held the answer back.",
        shown.join(" ")
    );
    f
}

fn title(side: &Side<'_>, t: &Thinking<'_>, within: bool) -> String {
    let (server, each) = (side.sender_end.ip, length(t.each()));
    let again = format!("({}, {} in all)", times(t.turns.into()), length(t.all()));
    let who = if within && may_be_corked(Some(t)) {
        "the program, or TCP_CORK"
    } else {
        "the program, not TCP"
    };
    match (t.turns, within) {
        (1, false) => format!("{server} took {each} to answer: the program, not TCP"),
        (_, false) => format!("{server} takes {each} to answer: the program, not TCP {again}"),
        (1, true) => {
            format!("{server} paused for {each} in the middle of its answer: {who}")
        }
        (_, true) => {
            format!("{server} pauses for {each} in the middle of its answers: {who} {again}")
        }
    }
}
