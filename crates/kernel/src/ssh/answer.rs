//! The far side's work: what it does for a request.

use std::io;
use std::sync::Arc;

use super::frame::{News, What};
use super::remote::Out;
use super::{Reply, Request, clock, half, reach};
use crate::Stop;
use crate::bench::{self, BenchError, Side};

/// The way back for a request that is being worked on.
pub(crate) struct Way {
    /// The near side wants an end, or is gone.
    pub(crate) stop: Stop,
    /// The near side wants it to begin, where it waits for that.
    pub(crate) go: Stop,
    pub(super) id: u32,
    pub(super) out: Arc<Out>,
}

impl Way {
    /// Sends something before the end.
    ///
    /// # Errors
    /// The near side is gone.
    pub(crate) fn note(&self, reply: Reply, bytes: &[u8]) -> Result<(), String> {
        self.send(What::Note(reply), bytes)
    }

    pub(super) fn send(&self, what: What, bytes: &[u8]) -> Result<(), String> {
        let news = News { id: self.id, what };
        let sent = self.out.send(&news, bytes);
        sent.map_err(|e| format!("the near side is gone: {e}"))
    }
}

/// Does what was asked for. Runs in a thread of its own; processes that it starts end with the thread.
pub(super) fn answer(request: Request, way: &Way) -> Result<Reply, String> {
    match request {
        Request::Clock => Ok(Reply::Clock(clock::real_time().as_nanos())),
        Request::Listen { address } => reach::listen(address, way),
        Request::Reach { to } => reach::reach(to, way),
        Request::Run(half) => half::run(&half, way),
        Request::BenchServe { spec, address } => {
            let told = |port| {
                let note = way.note(Reply::Listening(port), &[]);
                note.map_err(io::Error::other)
            };
            side(bench::serve(&spec, address, &way.stop, told))
        }
        Request::BenchAsk { spec, to } => side(bench::ask(&spec, to, &way.stop)),
    }
}

/// The answer of an end of a bench.
fn side(found: Result<Option<Side>, BenchError>) -> Result<Reply, String> {
    match found {
        Ok(Some(side)) => Ok(Reply::Bench(Box::new(side))),
        Ok(None) => Err("stopped".into()),
        Err(e) => Err(e.to_string()),
    }
}
