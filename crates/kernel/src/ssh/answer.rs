//! The far side's work: what it does for a request.

use std::io;
use std::sync::Arc;

use tcplab_base::Duration as Span;
use tcplab_os::{Scratch, Stop};

use super::frame::{News, What};
use super::remote::Out;
use super::{Reply, Request, clock, half, reach};
use crate::bench::{self, BenchError, Beside, Side};

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
        Request::BenchServe {
            spec,
            address,
            capture,
        } => bench(capture, way, |beside| {
            bench::serve(&spec, address, beside, |port| {
                let note = way.note(Reply::Listening(port), &[]);
                note.map_err(io::Error::other)
            })
        }),
        Request::BenchAsk { spec, to, capture } => {
            bench(capture, way, |beside| bench::ask(&spec, to, beside))
        }
    }
}

/// An end of a bench, with its capture.
fn bench(
    capture: Option<i64>,
    way: &Way,
    run: impl FnOnce(Beside<'_>) -> Result<Option<Side>, BenchError>,
) -> Result<Reply, String> {
    let folder = Scratch::new().map_err(|e| format!("no folder for a capture: {e}"))?;
    let path = folder.path().join("capture.pcapng");
    let beside = Beside {
        stop: &way.stop,
        capture: capture.map(|shift_ns| (path.as_path(), Span::from_nanos(shift_ns))),
    };
    let found = run(beside).map_err(|e| e.to_string())?;
    half::send_files(folder.path(), way)?;
    match found {
        Some(side) => Ok(Reply::Bench(Box::new(side))),
        None => Err("stopped".into()),
    }
}
