//! `web`: one connection, a request and a response for each page, think times between them.

use tcplab_base::{Duration, Instant};
use tcplab_plan::app::AppKind;

use crate::program::{Result, Step};
use crate::record::Record;

/// The client.
#[derive(Clone, Debug)]
pub(crate) struct Pages {
    request: u64,
    sizes: Vec<u64>,
    think: Vec<Duration>,
    page: usize,
    phase: Phase,
    asked: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Ask,
    Read,
    Done,
}

impl Pages {
    pub(crate) fn new(app: &AppKind) -> Self {
        let AppKind::Web {
            request,
            sizes,
            think_ns,
        } = app
        else {
            unreachable!("web programs are made from web")
        };
        Self {
            request: *request,
            sizes: sizes.clone(),
            think: think_ns
                .iter()
                .map(|ns| Duration::from_nanos(*ns))
                .collect(),
            page: 0,
            phase: Phase::Ask,
            asked: Instant::default(),
        }
    }

    pub(crate) fn next(&mut self, now: Instant, last: Result, record: &mut Record) -> Step {
        if last == Result::End {
            return Step::Close;
        }
        match self.phase {
            Phase::Ask if self.page < self.sizes.len() => {
                self.phase = Phase::Read;
                self.asked = now;
                Step::Write(self.request)
            }
            Phase::Ask => Step::Close,
            Phase::Read => {
                self.phase = Phase::Done;
                Step::Read(self.sizes[self.page])
            }
            Phase::Done => {
                record.transaction(now.since(self.asked));
                self.page += 1;
                self.phase = Phase::Ask;
                let think = self.think.get(self.page - 1).or(self.think.last());
                match (think, self.page < self.sizes.len()) {
                    (Some(&think), true) if think > Duration::ZERO => Step::Until(now + think),
                    _ => self.next(now, Result::Done, record),
                }
            }
        }
    }
}

/// The server.
#[derive(Clone, Debug)]
pub(crate) struct Serve {
    request: u64,
    sizes: Vec<u64>,
    page: usize,
    asked: bool,
}

impl Serve {
    pub(crate) fn new(app: &AppKind) -> Self {
        let AppKind::Web { request, sizes, .. } = app else {
            unreachable!("web programs are made from web")
        };
        Self {
            request: *request,
            sizes: sizes.clone(),
            page: 0,
            asked: false,
        }
    }

    pub(crate) fn next(&mut self, last: Result, record: &mut Record) -> Step {
        let size = self.sizes.get(self.page).copied();
        match (last, size) {
            (Result::End, _) => Step::Close,
            (_, Some(size)) if std::mem::take(&mut self.asked) => {
                self.page += 1;
                record.count();
                Step::Write(size)
            }
            (_, Some(_)) => {
                self.asked = true;
                Step::Read(self.request)
            }
            // All pages are served: wait for the client's end.
            (_, None) => Step::ReadSome(4096),
        }
    }
}
