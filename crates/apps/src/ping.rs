//! `udp-ping` and `ping`: a numbered datagram each interval, whether the ones before were answered or not.
//!
//! flent's `udp_rtt` (irtt) and ping(8) do so. Each answer is known by its number. A datagram without an answer
//! within the time-out is lost, and a later answer changes nothing.

use std::collections::VecDeque;

use tcplab_base::{Duration, Instant};
use tcplab_plan::app::{AppKind, Extent};

use crate::extent::Limit;
use crate::program::{Message, Result, Step};
use crate::record::Record;

/// One ping: when it was sent, and how long its answer took; none: it was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ping {
    /// When it left.
    pub sent: Instant,
    /// Time to its answer.
    pub rtt: Option<Duration>,
}

/// The client of both.
#[derive(Clone, Debug)]
pub(crate) struct Pings {
    size: u64,
    every: Duration,
    timeout: Duration,
    until: Extent,
    limit: Limit,
    /// Number `n` is the `n`th.
    sent: Vec<Ping>,
    /// Numbers of those whose answer may still come, the oldest first.
    open: VecDeque<u32>,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Sending,
    Waiting,
}

impl Pings {
    /// More pings of one application are not sent.
    const MOST: usize = tcplab_plan::outcome::MOST_PINGS;

    pub(crate) fn new(app: &AppKind) -> Self {
        let AppKind::Ping {
            size,
            every_ns,
            timeout_ns,
            until,
            ..
        } = *app
        else {
            unreachable!("pings are made from ping applications")
        };
        Self {
            size,
            every: Duration::from_nanos(every_ns.max(1)),
            timeout: Duration::from_nanos(timeout_ns),
            until,
            limit: Limit::default(),
            sent: Vec::new(),
            open: VecDeque::new(),
            phase: Phase::Sending,
        }
    }

    /// All that it sent so far.
    pub(crate) fn sent(&self) -> &[Ping] {
        &self.sent
    }

    /// Whether an answer may still come.
    pub(crate) fn is_owed(&self) -> bool {
        !self.open.is_empty()
    }

    pub(crate) fn memory(&self) -> usize {
        size_of_val(self)
            + self.sent.capacity() * size_of::<Ping>()
            + self.open.capacity() * size_of::<u32>()
    }

    pub(crate) fn next(&mut self, now: Instant, last: Result, record: &mut Record) -> Step {
        if let (Phase::Waiting, Result::Message(answer)) = (self.phase, last) {
            self.answered(now, answer.number, record);
        }
        while let Some(&number) = self.open.front()
            && self.late(number) <= now
        {
            self.open.pop_front();
        }
        let begun = self.limit.begun(now);
        let number = self.sent.len();
        let steps = i64::try_from(number).unwrap_or(i64::MAX);
        let due = begun + Duration::from_nanos(self.every.as_nanos().saturating_mul(steps));
        let mut more = self.limit;
        let is_over = number >= Self::MOST || !more.again(&self.until, due);
        if !is_over && due <= now {
            self.limit = more;
            self.sent.push(Ping {
                sent: now,
                rtt: None,
            });
            self.open.push_back(number as u32);
            self.phase = Phase::Sending;
            return Step::Send(Message {
                size: self.size,
                number: number as u32,
            });
        }
        self.phase = Phase::Waiting;
        match (is_over, self.open.front()) {
            (true, None) => Step::Close,
            (true, Some(&oldest)) => Step::Receive(Some(self.late(oldest))),
            (false, _) => Step::Receive(Some(due)),
        }
    }

    /// When a ping is lost.
    fn late(&self, number: u32) -> Instant {
        self.sent[number as usize].sent + self.timeout
    }

    fn answered(&mut self, now: Instant, number: u32, record: &mut Record) {
        let Some(place) = self.open.iter().position(|open| *open == number) else {
            return;
        };
        self.open.remove(place);
        if now > self.late(number) {
            return;
        }
        let ping = &mut self.sent[number as usize];
        let rtt = now.since(ping.sent);
        ping.rtt = Some(rtt);
        record.transaction(rtt);
    }
}
