//! Retransmission timeouts: needed ones that cost time, and spurious ones (RFC 6298, RFC 5682).

use tcplab_base::Duration;

use super::episodes::Episodes;
use super::{Detector, Finding, Id, Need, Severity, Side, length, times};
use crate::conn::Record;
use crate::report::{EpisodeKind, SpuriousEvidence};

pub(crate) const STALL: Detector = Detector {
    id: Id("rto_stall"),
    severity: "high from 1 s of silence, else medium",
    said_when: "Segments were repeated after a silence of a retransmission timeout, and they were needed",
    needs: &[Need::Data],
    detect: |side, out| out.extend(stall(side)),
};

pub(crate) const SPURIOUS: Detector = Detector {
    id: Id("spurious_rto"),
    severity: "medium",
    said_when: "The same, and DSACK, time stamps or the time of the ACK show that nothing was lost",
    needs: &[Need::BothDirections, Need::WholeHeaders],
    detect: |side, out| out.extend(spurious(side)),
};

/// The retransmission timer began the episode, or fired in it.
pub(crate) fn is_timeout(r: &Record) -> bool {
    r.kind == Some(EpisodeKind::Rto) && r.timeouts > 0
}

fn timeouts<'a>(side: &'a Side<'_>, spurious: bool) -> Option<Episodes<'a>> {
    Episodes::of(side, |r| {
        is_timeout(r) && r.spurious().is_some() == spurious
    })
}

pub(crate) fn stall(side: &Side<'_>) -> Option<Finding> {
    let list = timeouts(side, false)?;
    let severity = if list.silence() >= Duration::from_secs(1) {
        Severity::High
    } else {
        Severity::Medium
    };
    let mut f = list.finding(side, STALL.id, severity);
    f.title = format!(
        "{} stood still until its retransmission timer fired ({}, longest silence {})",
        side.sender_end.ip,
        times(list.timeouts()),
        length(list.longest())
    );
    let blind = if !side.sender.sack_permitted && !side.has(super::Need::TimeStamps) {
        " Without SACK and time stamps the packets do not always tell lost segments from late ones."
    } else {
        ""
    };
    f.cause = format!(
        "Segments of {} were lost and no duplicate ACKs or SACK blocks told it so in time, so it \
         waited for the retransmission timeout (RFC 6298; on Linux at least 200 ms plus the round \
         trip, doubled each time it fires) and began again with a window of one segment.{blind}",
        side.sender_end.ip
    );
    f.remedy = vec![
        "Find where the packets are lost: compare captures taken at both ends (`tcplab analyze \
         --pair A B`), look at the drops of interfaces and queues (`ip -s link`, `tc -s qdisc`)."
            .to_owned(),
        "Check that SACK and tail loss probes are on at the sender: `sysctl net.ipv4.tcp_sack \
         net.ipv4.tcp_early_retrans` (1 and 3)."
            .to_owned(),
    ];
    Some(f)
}

pub(crate) fn spurious(side: &Side<'_>) -> Option<Finding> {
    let list = timeouts(side, true)?;
    let evidence = list.first.spurious()?;
    let mut f = list.finding(side, SPURIOUS.id, Severity::Medium);
    let end = side.sender_end.ip;
    let spike = spike(side, &list);
    let shown = spike.as_ref().map_or_else(
        || format!("silence {}", length(list.longest())),
        |s| {
            format!(
                "an ACK took {} instead of {}",
                length(s.took),
                length(s.usual)
            )
        },
    );
    f.title = format!(
        "{end} sent again after a timeout what was not lost ({}, {shown})",
        times(list.count())
    );
    let when = spike.map_or_else(String::new, |s| {
        format!(
            " The longest such wait began {} after the connection's first packet.",
            length(s.at)
        )
    });
    f.cause = format!(
        "The round trip grew suddenly beyond the retransmission timeout of {end}, or ACKs were lost.{when} {} It then takes \
         the path for congested and slows down, unless F-RTO (RFC 5682) or time stamps undo that.",
        proof(evidence)
    );
    f.remedy = vec![
        "Find what held the packets (a queue without AQM, a wireless link, a paused virtual \
         machine); the RTT chart of the report shows when."
            .to_owned(),
        "Keep time stamps and F-RTO on at the sender: `sysctl net.ipv4.tcp_timestamps \
         net.ipv4.tcp_frto` (1 and 2)."
            .to_owned(),
    ];
    Some(f)
}

/// The delay that fooled the timer.
struct Spike {
    /// From the oldest unACKed segment to its ACK.
    took: Duration,
    /// The round trip before.
    usual: Duration,
    /// Since the connection's first packet.
    at: Duration,
}

/// The longest delay, where the capture shows round trips of the sender.
fn spike(side: &Side<'_>, list: &Episodes<'_>) -> Option<Spike> {
    let longest = list.iter().filter(|r| r.duration.is_some());
    let longest = longest.max_by_key(|r| r.duration)?;
    let path = Duration::from_micros(i64::from(side.receiver.path_or_zero()));
    let spike = Spike {
        took: longest.duration?,
        usual: longest.rtt.max(path),
        at: longest.start.since(side.connection.start),
    };
    let is_one = spike.usual > Duration::ZERO && spike.took >= spike.usual + spike.usual;
    (is_one && spike.took >= list.longest()).then_some(spike)
}

/// The evidence in words.
pub(crate) fn proof(evidence: SpuriousEvidence) -> &'static str {
    match evidence {
        SpuriousEvidence::Dsack => "The receiver reported the segment as a duplicate (DSACK).",
        SpuriousEvidence::Timestamps => {
            "The ACK echoes the time stamp of the original, not of the retransmission."
        }
        SpuriousEvidence::AckTooSoon => {
            "The ACK came sooner after the retransmission than the path allows."
        }
        SpuriousEvidence::AckPattern => {
            "ACKs followed that only the originals can have caused (F-RTO, RFC 5682)."
        }
        SpuriousEvidence::Acked => {
            "The data had arrived and was ACKed before the retransmission passed the capture; the ACK was late or lost."
        }
    }
}
