//! `messages`: both ends write the messages of a list in its order, each when its writer has read what the list has of
//! the other end before it. A conversation that was recorded, with its sizes and pauses, is one.

use std::sync::Arc;

use tcplab_base::{Duration, Instant};
use tcplab_plan::app::{AppKind, Message};

use crate::program::{Result, Step};
use crate::record::Record;

/// One end. The client counts a transaction for each of its requests: from the first write to the last byte of the
/// answer.
#[derive(Clone, Debug)]
pub(crate) struct Talk {
    list: Arc<[Message]>,
    is_client: bool,
    /// The message that is next.
    at: usize,
    /// Its pause is over.
    paused: bool,
    /// What it is doing is reading the answer to a request.
    answer: bool,
    /// When the request under way was begun.
    asked: Option<Instant>,
}

impl Talk {
    pub(crate) fn new(app: &AppKind, is_client: bool) -> Self {
        let AppKind::Messages { messages } = app else {
            unreachable!("made from messages")
        };
        Self::of(messages.as_slice().into(), is_client)
    }

    fn of(list: Arc<[Message]>, is_client: bool) -> Self {
        Self {
            list,
            is_client,
            at: 0,
            paused: false,
            answer: false,
            asked: None,
        }
    }

    /// As new.
    pub(crate) fn restart(&mut self) {
        *self = Self::of(self.list.clone(), self.is_client);
    }

    pub(crate) fn next(&mut self, now: Instant, last: Result, record: &mut Record) -> Step {
        if last == Result::End {
            return Step::Close;
        }
        if std::mem::take(&mut self.answer)
            && let Some(asked) = self.asked.take()
        {
            record.transaction(now.since(asked));
        }
        let Some(message) = self.list.get(self.at) else {
            // The client closes; the server waits for that.
            return match self.is_client {
                true => Step::Close,
                false => Step::ReadSome(4096),
            };
        };
        if message.from_client != self.is_client {
            self.answer = self.is_client;
            return Step::Read(self.take_others());
        }
        if message.after_ns > 0 && !std::mem::replace(&mut self.paused, true) {
            return Step::Until(now + Duration::from_nanos(message.after_ns));
        }
        self.paused = false;
        self.at += 1;
        if self.is_client {
            self.asked.get_or_insert(now);
        } else {
            record.count();
        }
        Step::Write(message.bytes)
    }

    /// The bytes of the other end's messages that come now in the list.
    fn take_others(&mut self) -> u64 {
        let rest = self.list.get(self.at..).unwrap_or_default();
        let others = rest.iter().take_while(|m| m.from_client != self.is_client);
        let (count, bytes) = others.fold((0, 0), |(n, sum), m| (n + 1, sum + m.bytes));
        self.at += count;
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app() -> AppKind {
        let message = |from_client, bytes, after_ns| Message {
            from_client,
            bytes,
            after_ns,
        };
        AppKind::Messages {
            messages: vec![
                message(true, 200, 0),
                message(true, 300, 0),
                message(false, 600, 2_000),
                message(false, 50, 0),
                message(true, 10, 5_000),
            ],
        }
    }

    #[test]
    fn each_end_writes_its_own_and_reads_the_others_first() {
        let at = Instant::from_nanos;
        let mut record = Record::default();
        let mut client = Talk::new(&app(), true);
        let mut next = |ns| client.next(at(ns), Result::Done, &mut record);
        assert_eq!(next(0), Step::Write(200));
        assert_eq!(next(1), Step::Write(300));
        assert_eq!(next(2), Step::Read(650), "both messages of the answer");
        assert_eq!(next(900), Step::Until(at(5_900)));
        assert_eq!(next(5_900), Step::Write(10));
        assert_eq!(next(5_901), Step::Close);
        assert_eq!(record.latencies(), [Duration::from_nanos(900)]);

        let mut record = Record::default();
        let mut server = Talk::new(&app(), false);
        let mut next = |ns, last| server.next(at(ns), last, &mut record);
        assert_eq!(next(0, Result::Done), Step::Read(500));
        assert_eq!(next(100, Result::Done), Step::Until(at(2_100)));
        assert_eq!(next(2_100, Result::Done), Step::Write(600));
        assert_eq!(next(2_100, Result::Done), Step::Write(50));
        assert_eq!(next(2_101, Result::Done), Step::Read(10));
        assert_eq!(next(9_000, Result::Done), Step::ReadSome(4096));
        assert_eq!(next(9_100, Result::End), Step::Close);
        assert_eq!(record.completed(), 2);
    }
}
