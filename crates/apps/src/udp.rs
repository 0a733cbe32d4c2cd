//! `udp-stream` and `udp-rr`: the same schedules over datagrams; the server of these and of `udp-ping`.

use tcplab_base::{Duration, Instant};
use tcplab_plan::app::{AppKind, Extent};

use crate::extent::Limit;
use crate::program::{Message, Result, Step};
use crate::record::Record;

/// The client of a stream or of transactions.
#[derive(Clone, Debug)]
pub(crate) struct Datagrams {
    size: u64,
    /// Time between two datagrams of a stream.
    every: Duration,
    /// A transaction's pause and time-out; none: a stream.
    answered: Option<(Duration, Duration)>,
    until: Extent,
    limit: Limit,
    phase: Phase,
    sent: Instant,
    /// Transactions begun.
    number: u32,
    /// The bits of the number for which request and response have room: the answer to a request that was given up has
    /// another number than the one that is open.
    mask: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Send,
    Sent,
    Waiting,
}

impl Datagrams {
    pub(crate) fn new(app: &AppKind) -> Self {
        let mut mask = 0;
        let (size, every_ns, answered, until): (_, _, _, Extent) = match *app {
            AppKind::UdpStream {
                size,
                every_ns,
                until,
            } => (size, every_ns, None, until),
            AppKind::UdpRr {
                request,
                response,
                pause_ns,
                timeout_ns,
                until,
            } => {
                mask = Message::room(request.min(response));
                let times = (
                    Duration::from_nanos(pause_ns),
                    Duration::from_nanos(timeout_ns),
                );
                (request, 0, Some(times), until)
            }
            _ => unreachable!("datagrams are made from udp applications"),
        };
        Self {
            size,
            every: Duration::from_nanos(every_ns),
            answered,
            until,
            limit: Limit::default(),
            phase: Phase::Send,
            sent: Instant::default(),
            number: 0,
            mask,
        }
    }

    /// Requests that had no answer in time: all but those that had one, and one that waits.
    pub(crate) fn lost(&self, completed: u64) -> u64 {
        let open = u32::from(self.phase != Phase::Send);
        match self.answered {
            Some(_) => (self.number.wrapping_sub(completed as u32))
                .wrapping_sub(open)
                .into(),
            None => 0,
        }
    }

    pub(crate) fn next(&mut self, now: Instant, last: Result, record: &mut Record) -> Step {
        match self.phase {
            Phase::Send => self.send(now),
            Phase::Sent => {
                self.phase = Phase::Send;
                let Some((_, timeout)) = self.answered else {
                    record.count();
                    return self.send(now);
                };
                self.phase = Phase::Waiting;
                Step::Receive(Some(now + timeout))
            }
            Phase::Waiting => {
                if let (Result::Message(answer), Some((_, timeout))) = (&last, self.answered)
                    && (answer.number ^ self.number) & self.mask != 0
                {
                    // The answer to a transaction that was given up.
                    return Step::Receive(Some(self.sent + timeout));
                }
                self.phase = Phase::Send;
                if let Result::Message(_) = last {
                    record.transaction(now.since(self.sent));
                }
                match self.answered {
                    Some((pause, _)) if pause > Duration::ZERO => Step::Until(now + pause),
                    _ => self.send(now),
                }
            }
        }
    }

    fn send(&mut self, now: Instant) -> Step {
        let begun = self.limit.begun(now);
        let done = i64::try_from(self.limit.done()).unwrap_or(i64::MAX);
        let due = begun + Duration::from_nanos(self.every.as_nanos().saturating_mul(done));
        if due > now {
            return Step::Until(due);
        }
        // Transactions have no schedule: `every` is 0 and they are over by the clock.
        if !self
            .limit
            .again_on_schedule(&self.until, (due, now), self.every)
        {
            return Step::Close;
        }
        self.sent = now;
        self.phase = Phase::Sent;
        self.number = self.number.wrapping_add(1);
        let number = if self.answered.is_some() {
            self.number
        } else {
            0
        };
        Step::Send(Message {
            size: self.size,
            number,
        })
    }
}

/// The server of all datagrams: counts, and answers a transaction or a ping. It ends with the run.
#[derive(Clone, Debug)]
pub(crate) struct Replies {
    response: Response,
    got: Option<Message>,
}

#[derive(Clone, Copy, Debug)]
enum Response {
    None,
    Of(u64),
    /// As it came.
    Same,
}

impl Replies {
    pub(crate) fn new(app: &AppKind) -> Self {
        let response = match *app {
            AppKind::UdpRr { response, .. } => Response::Of(response),
            AppKind::Ping { .. } => Response::Same,
            _ => Response::None,
        };
        Self {
            response,
            got: None,
        }
    }

    pub(crate) fn next(&mut self, last: Result, record: &mut Record) -> Step {
        if let Result::Message(message) = last {
            record.count();
            self.got = Some(message);
        }
        match (self.response, self.got.take()) {
            (Response::Of(size), Some(Message { number, .. })) => {
                Step::Send(Message { size, number })
            }
            (Response::Same, Some(message)) => Step::Send(message),
            _ => Step::Receive(None),
        }
    }
}
