//! `messages`: both ends do the items of a list in its order: writes, and the end of a direction or of the connection. Each
//! waits until its end has read what the list has of the other end before it, or goes at once. A conversation that was
//! recorded, with its sizes and pauses, is one.

use std::sync::Arc;

use tcplab_base::{Duration, Instant};
use tcplab_plan::app::{Act, AppKind, Message};

use crate::program::{Flag, Result, Step};
use crate::record::Record;

/// One end. The client counts a transaction for each of its requests: from the first write to the last byte of the
/// answer.
#[derive(Clone, Debug)]
pub(crate) struct Talk {
    list: Arc<[Message]>,
    is_client: bool,
    /// The item that is next.
    at: usize,
    /// Its pause is over.
    paused: bool,
    /// What of them was not read yet.
    owed: Owed,
    /// What is being read.
    reads: u64,
    /// Something of the other end came into `owed` since the request under way was begun.
    answered: bool,
    /// When the request under way was begun.
    asked: Option<Instant>,
}

/// What an end has to read.
#[derive(Clone, Copy, Debug, Default)]
struct Owed {
    bytes: u64,
    /// The end of the stream.
    end: bool,
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
            owed: Owed::default(),
            reads: 0,
            answered: false,
            asked: None,
        }
    }

    /// As new.
    pub(crate) fn restart(&mut self) {
        *self = Self::of(self.list.clone(), self.is_client);
    }

    pub(crate) fn next(&mut self, now: Instant, last: Result, record: &mut Record) -> Step {
        let reads = std::mem::take(&mut self.reads);
        match last {
            Result::End if self.owed.bytes == 0 && self.owed.end => self.owed.end = false,
            Result::End => return Step::Close,
            Result::Meanwhile { left } => self.owed.bytes = left,
            Result::Done => self.owed.bytes -= reads,
            _ => {}
        }
        self.pass_others();
        let item = self.list.get(self.at).copied();
        if !item.is_some_and(|item| item.at_once) {
            if self.owed.bytes > 0 {
                self.reads = self.owed.bytes;
                return Step::Read(self.reads);
            }
            if self.owed.end {
                return Step::ReadSome(END);
            }
            if std::mem::take(&mut self.answered)
                && let Some(asked) = self.asked.take()
            {
                record.transaction(now.since(asked));
            }
        }
        let Some(item) = item else {
            // The client closes; the server waits for that.
            return match self.is_client {
                true => Step::Close,
                false => Step::ReadSome(END),
            };
        };
        if item.after_ns > 0 && !std::mem::replace(&mut self.paused, true) {
            return Step::Until(now + Duration::from_nanos(item.after_ns));
        }
        self.paused = false;
        self.at += 1;
        match item.does {
            Act::Write => self.write(now, item, record),
            Act::Shutdown => Step::Shutdown,
            Act::Close => Step::Close,
        }
    }

    fn write(&mut self, now: Instant, item: Message, record: &mut Record) -> Step {
        if self.is_client {
            self.asked.get_or_insert(now);
        } else {
            record.count();
        }
        let flag = item.more.then_some(Flag::More);
        match (self.owed.bytes, flag) {
            (read @ 1.., _) if item.at_once => Step::WriteReading {
                write: item.bytes,
                flag,
                read,
            },
            (_, Some(flag)) => Step::WriteWith(flag, item.bytes),
            (_, None) => Step::Write(item.bytes),
        }
    }

    /// Goes to the next item of its own, and counts what the other end does before it.
    fn pass_others(&mut self) {
        let rest = self.list.get(self.at..).unwrap_or_default();
        let others = rest.iter().take_while(|m| m.from_client != self.is_client);
        for item in others {
            self.owed.bytes += item.bytes;
            self.owed.end |= item.does != Act::Write;
            self.answered |= self.is_client;
            self.at += 1;
        }
    }
}

/// Bytes of a read that is to find the end of the stream.
const END: u64 = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    fn app(list: &[Message]) -> AppKind {
        AppKind::Messages {
            messages: list.to_vec(),
        }
    }

    fn at_once(message: Message) -> Message {
        Message {
            at_once: true,
            ..message
        }
    }

    fn ends(from_client: bool, does: Act) -> Message {
        Message {
            does,
            ..Message::write(from_client, 0, 0)
        }
    }

    #[test]
    fn each_end_writes_its_own_and_reads_the_others_first() {
        let at = Instant::from_nanos;
        let app = app(&[
            Message::write(true, 200, 0),
            Message::write(true, 300, 0),
            Message::write(false, 600, 2_000),
            Message::write(false, 50, 0),
            Message::write(true, 10, 5_000),
        ]);
        let mut record = Record::default();
        let mut client = Talk::new(&app, true);
        let mut next = |ns| client.next(at(ns), Result::Done, &mut record);
        assert_eq!(next(0), Step::Write(200));
        assert_eq!(next(1), Step::Write(300));
        assert_eq!(next(2), Step::Read(650), "both messages of the answer");
        assert_eq!(next(900), Step::Until(at(5_900)));
        assert_eq!(next(5_900), Step::Write(10));
        assert_eq!(next(5_901), Step::Close);
        assert_eq!(record.latencies(), [Duration::from_nanos(900)]);

        let mut record = Record::default();
        let mut server = Talk::new(&app, false);
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

    #[test]
    fn what_goes_at_once_reads_meanwhile() {
        let now = Instant::from_nanos(0);
        let app = app(&[
            Message::write(true, 100, 0),
            at_once(Message::write(false, 70, 0)),
            Message::write(true, 30, 0),
            Message::write(false, 5, 0),
        ]);
        let mut record = Record::default();
        let mut server = Talk::new(&app, false);
        let mut next = |last| server.next(now, last, &mut record);
        let both = Step::WriteReading {
            write: 70,
            flag: None,
            read: 100,
        };
        assert_eq!(next(Result::Done), both);
        assert_eq!(next(Result::Meanwhile { left: 60 }), Step::Read(90));
        assert_eq!(next(Result::Done), Step::Write(5));
        assert_eq!(next(Result::Done), Step::ReadSome(END));
    }

    #[test]
    fn more_goes_with_its_write_alone() {
        let now = Instant::from_nanos(0);
        let more = |message| Message {
            more: true,
            ..message
        };
        let app = app(&[
            more(Message::write(true, 100, 0)),
            Message::write(true, 30, 0),
            more(at_once(Message::write(false, 5, 0))),
        ]);
        let mut record = Record::default();
        let mut client = Talk::new(&app, true);
        let mut next = |last| client.next(now, last, &mut record);
        assert_eq!(next(Result::Done), Step::WriteWith(Flag::More, 100));
        assert_eq!(next(Result::Done), Step::Write(30));
        let mut server = Talk::new(&app, false);
        let both = Step::WriteReading {
            write: 5,
            flag: Some(Flag::More),
            read: 130,
        };
        assert_eq!(server.next(now, Result::Done, &mut record), both);
    }

    #[test]
    fn half_a_connection_goes_on_after_its_other_half_has_ended() {
        let now = Instant::from_nanos(0);
        let app = app(&[
            Message::write(true, 100, 0),
            ends(true, Act::Shutdown),
            Message::write(false, 70, 0),
            ends(false, Act::Shutdown),
        ]);
        let mut record = Record::default();
        let mut client = Talk::new(&app, true);
        let mut next = |last| client.next(now, last, &mut record);
        assert_eq!(next(Result::Done), Step::Write(100));
        assert_eq!(next(Result::Done), Step::Shutdown);
        assert_eq!(next(Result::Done), Step::Read(70));
        assert_eq!(next(Result::Done), Step::ReadSome(END));
        assert_eq!(next(Result::End), Step::Close);
        let mut server = Talk::new(&app, false);
        let mut next = |last| server.next(now, last, &mut record);
        assert_eq!(next(Result::Done), Step::Read(100));
        assert_eq!(next(Result::Done), Step::ReadSome(END));
        assert_eq!(next(Result::End), Step::Write(70));
        assert_eq!(next(Result::Done), Step::Shutdown);
        assert_eq!(next(Result::Done), Step::ReadSome(END));
        assert_eq!(next(Result::End), Step::Close);
    }

    #[test]
    fn a_close_at_once_leaves_unread_what_has_come() {
        let at = Instant::from_nanos;
        let close = Message {
            after_ns: 9,
            ..at_once(ends(true, Act::Close))
        };
        let app = app(&[
            Message::write(true, 100, 0),
            Message::write(false, 70, 0),
            close,
        ]);
        let mut record = Record::default();
        let mut client = Talk::new(&app, true);
        let mut next = |ns| client.next(at(ns), Result::Done, &mut record);
        assert_eq!(next(0), Step::Write(100));
        assert_eq!(next(0), Step::Until(at(9)));
        assert_eq!(next(9), Step::Close);
    }
}
