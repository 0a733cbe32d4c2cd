//! `web`: one connection, a request and a response for each page, think times between them.

use std::sync::Arc;

use tcplab_base::{Duration, Instant};
use tcplab_plan::app::AppKind;

use crate::program::{Result, Step};
use crate::record::Record;

/// What is asked for: one for all connections of an application.
#[derive(Debug)]
struct Site {
    request: u64,
    sizes: Vec<u64>,
    think: Vec<Duration>,
}

impl Site {
    fn of(app: &AppKind) -> Arc<Self> {
        let AppKind::Web {
            request,
            sizes,
            think_ns,
        } = app
        else {
            unreachable!("web programs are made from web")
        };
        let think = think_ns.iter().map(|ns| Duration::from_nanos(*ns));
        Arc::new(Self {
            request: *request,
            sizes: sizes.clone(),
            think: think.collect(),
        })
    }
}

/// The client.
#[derive(Clone, Debug)]
pub(crate) struct Pages {
    site: Arc<Site>,
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
        Self {
            site: Site::of(app),
            page: 0,
            phase: Phase::Ask,
            asked: Instant::default(),
        }
    }

    /// As new.
    pub(crate) fn restart(&mut self) {
        self.page = 0;
        self.phase = Phase::Ask;
        self.asked = Instant::default();
    }

    pub(crate) fn next(&mut self, now: Instant, last: Result, record: &mut Record) -> Step {
        if last == Result::End {
            return Step::Close;
        }
        match self.phase {
            Phase::Ask if self.page < self.site.sizes.len() => {
                self.phase = Phase::Read;
                self.asked = now;
                Step::Write(self.site.request)
            }
            Phase::Ask => Step::Close,
            Phase::Read => {
                self.phase = Phase::Done;
                Step::Read(self.site.sizes[self.page])
            }
            Phase::Done => {
                record.transaction(now.since(self.asked));
                self.page += 1;
                self.phase = Phase::Ask;
                let think = self
                    .site
                    .think
                    .get(self.page - 1)
                    .or(self.site.think.last());
                match (think, self.page < self.site.sizes.len()) {
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
    site: Arc<Site>,
    page: usize,
    asked: bool,
}

impl Serve {
    pub(crate) fn new(app: &AppKind) -> Self {
        Self {
            site: Site::of(app),
            page: 0,
            asked: false,
        }
    }

    /// As new.
    pub(crate) fn restart(&mut self) {
        self.page = 0;
        self.asked = false;
    }

    pub(crate) fn next(&mut self, last: Result, record: &mut Record) -> Step {
        let size = self.site.sizes.get(self.page).copied();
        match (last, size) {
            (Result::End, _) => Step::Close,
            (_, Some(size)) if std::mem::take(&mut self.asked) => {
                self.page += 1;
                record.count();
                Step::Write(size)
            }
            (_, Some(_)) => {
                self.asked = true;
                Step::Read(self.site.request)
            }
            // All pages are served: wait for the client's end.
            (_, None) => Step::ReadSome(4096),
        }
    }
}
