//! The figures that a proof compares, read from packets: the captured ones, and those of the experiment.
//!
//! A burst is what a side wrote before it waited for the other one. Its bytes identify it in the capture and in every
//! run.

use tcplab_analyze::findings::Finding;
use tcplab_analyze::trace::{AckClass, Row};
use tcplab_plan::app::Message;

use super::conversation::{Conversation, End, ONE_BURST_NS};

/// Ten segments of 1460 bytes: Linux sends them without an ACK.
const TRANSFER_BYTES: u64 = 14_600;

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Figure {
    /// From the first byte of a request to the first byte of the answer.
    Requests,
    /// Time from the first to the last byte of one write.
    Parts,
    /// The same of what is longer than the initial window.
    Transfers,
    /// How long the receiver's ACKs waited, from the first late one on.
    Acks,
}

impl Figure {
    /// Its name, with how many values there are.
    pub(super) fn words(self, of: usize) -> String {
        let many = |one: &str| match of {
            1 => format!("time of 1 {one}"),
            n => format!("median time of {n} {one}s"),
        };
        match self {
            Self::Requests => many("request"),
            Self::Parts => many("message"),
            Self::Transfers => many("transfer"),
            Self::Acks => format!("median wait of {of} ACKs"),
        }
    }

    /// What the experiment leaves out that can change this figure.
    pub(super) fn assumes(self) -> Option<&'static str> {
        (self == Self::Transfers).then_some(
            "The experiment's path has no rate and no queue. On a line whose queue cannot hold the larger window the cure \
             loses packets and gains less, or costs time: add your line's `--set link.client-server.rate=RATE --set \
             link.client-server.limit=PACKETS`.",
        )
    }
}

/// What a side wrote before it waited, as relative sequence numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Burst {
    pub from: u64,
    /// Behind its last byte.
    pub to: u64,
    /// The first byte of the answer in the other side's numbers.
    pub answer: Option<u64>,
}

/// The bursts of a side.
pub(super) fn bursts(talk: &Conversation, end: End, figure: Figure) -> Vec<Burst> {
    let mut all = all_bursts(&talk.messages, end, figure);
    // Where the repetition ends early, nobody knows how much more the last one had.
    if figure == Figure::Transfers && talk.cut.is_some() && all.len() > 1 {
        all.pop();
    }
    all
}

/// The transfers that the finding names, if it names any; else all of these.
pub(super) fn own(
    bursts: Vec<Burst>,
    finding: &Finding,
    rows: &[Row],
    sender: End,
    figure: Figure,
) -> Vec<Burst> {
    if figure != Figure::Transfers {
        return bursts;
    }
    let named = rows.iter().filter(|row| {
        let own = usize::from(!row.from_client) == sender;
        own && row.len > 0 && finding.packets.contains(&row.number)
    });
    let seqs: Vec<u64> = named.map(|row| row.seq).collect();
    let is_named = |burst: &Burst| seqs.iter().any(|seq| (burst.from..burst.to).contains(seq));
    match bursts.iter().any(is_named) {
        true => bursts.into_iter().filter(is_named).collect(),
        false => bursts,
    }
}

fn all_bursts(messages: &[Message], end: End, figure: Figure) -> Vec<Burst> {
    let mut next = [1_u64; 2];
    let mut all: Vec<Burst> = Vec::new();
    let mut last: Option<End> = None;
    for message in messages {
        let own = usize::from(!message.from_client);
        let at = next[own];
        next[own] = at.saturating_add(message.bytes);
        if own != end {
            if let (Some(burst), true) = (all.last_mut(), last == Some(end)) {
                burst.answer = Some(at);
            }
        } else {
            let at_once = figure == Figure::Requests || message.after_ns <= ONE_BURST_NS;
            match all.last_mut() {
                Some(burst) if last == Some(end) && at_once => burst.to = next[own],
                _ => all.push(Burst {
                    from: at,
                    to: next[own],
                    answer: None,
                }),
            }
        }
        last = Some(own);
    }
    match figure {
        Figure::Requests => all.retain(|burst| burst.answer.is_some()),
        Figure::Transfers => all.retain(|burst| burst.to - burst.from > TRANSFER_BYTES),
        Figure::Parts | Figure::Acks => {}
    }
    all
}

/// Numbers of the bursts in which an ACK of the other side was late.
pub(super) fn late(rows: &[Row], sender: End, bursts: &[Burst], figure: Figure) -> Vec<usize> {
    let is_late = |burst: &Burst| {
        let (Some(from), Some(to)) = (
            first(rows, sender, burst.from),
            end_of(rows, sender, burst, figure),
        ) else {
            return false;
        };
        let between = rows.get(from..=to).unwrap_or_default();
        between.iter().any(|row| is_late_ack(row, sender))
    };
    let numbers = bursts.iter().enumerate();
    numbers
        .filter(|(_, burst)| is_late(burst))
        .map(|(n, _)| n)
        .collect()
}

/// A delayed ACK for data of this sender.
fn is_late_ack(row: &Row, sender: End) -> bool {
    let class = row.acked.as_ref().map(|ack| ack.class);
    usize::from(!row.from_client) != sender && class == Some(AckClass::Delayed)
}

/// The times of these bursts, microseconds.
pub(super) fn times(
    rows: &[Row],
    sender: End,
    bursts: &[Burst],
    which: &[usize],
    figure: Figure,
) -> Vec<u64> {
    let one = |n: &usize| {
        let burst = bursts.get(*n)?;
        let from = rows.get(first(rows, sender, burst.from)?)?;
        let to = rows.get(end_of(rows, sender, burst, figure)?)?;
        u64::try_from(to.time.since(from.time).as_nanos() / 1000).ok()
    };
    which.iter().filter_map(one).collect()
}

/// The first packet that carries this byte of a side.
fn first(rows: &[Row], end: End, byte: u64) -> Option<usize> {
    let carries = |row: &Row| {
        let own = usize::from(!row.from_client) == end;
        own && row.len > 0 && row.seq <= byte && byte < row.seq + u64::from(row.len)
    };
    rows.iter().position(carries)
}

/// The packet at which a burst's time ends.
fn end_of(rows: &[Row], sender: End, burst: &Burst, figure: Figure) -> Option<usize> {
    match figure {
        Figure::Requests => first(rows, 1 - sender, burst.answer?),
        Figure::Parts | Figure::Transfers | Figure::Acks => {
            first(rows, sender, burst.to.saturating_sub(1))
        }
    }
}

/// The first segment of the sender whose ACK was late.
pub(super) fn first_late_segment(rows: &[Row], sender: End) -> Option<u64> {
    let late = rows.iter().find(|row| is_late_ack(row, sender));
    late.and_then(|row| row.acked.as_ref())
        .map(|ack| ack.newest_segment)
}

/// The waits of the ACKs of the sender's data from this segment on, microseconds.
pub(super) fn waits(rows: &[Row], sender: End, from_segment: u64) -> Vec<u64> {
    let acks = rows
        .iter()
        .filter(|row| usize::from(!row.from_client) != sender)
        .filter_map(|row| row.acked.as_ref());
    acks.filter(|ack| ack.newest_segment >= from_segment)
        .map(|ack| u64::from(ack.wait_us))
        .collect()
}

/// The median, the lower one of two.
pub(super) fn median(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len().checked_sub(1)? / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(from_client: bool, bytes: u64, after_ns: i64) -> Message {
        Message::write(from_client, bytes, after_ns)
    }

    #[test]
    fn bursts_are_known_by_their_bytes() {
        let list = [
            message(true, 200, 0),
            message(true, 300, 5_000_000),
            message(false, 600, 0),
            message(true, 100, 60_000_000),
        ];
        let burst = |from, to, answer| Burst { from, to, answer };
        assert_eq!(
            all_bursts(&list, 0, Figure::Requests),
            [burst(1, 501, Some(1))],
            "the last one has no answer"
        );
        assert_eq!(
            all_bursts(&list, 0, Figure::Parts),
            [
                burst(1, 201, None),
                burst(201, 501, Some(1)),
                burst(501, 601, None)
            ]
        );
        assert_eq!(
            all_bursts(&list, 1, Figure::Requests),
            [burst(1, 601, Some(501))]
        );
    }

    #[test]
    fn the_median_is_a_value_that_was_there() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![9, 1]), Some(1));
        assert_eq!(median(vec![9, 1, 4]), Some(4));
    }
}
