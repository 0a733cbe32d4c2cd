//! The far side's work: what it does for a request.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;
use tcplab_os::Stop;

use super::frame::{MOST_BYTES, News, What};
use super::remote::Out;
use super::{Reply, Request, clock, half, reach};

/// Something that crates above this one know how to do on a far side.
#[derive(Clone, Copy, Debug)]
pub struct Errand {
    /// Its name in a [`Request::Errand`].
    pub name: &'static str,
    /// Does it, with notes on the way; what it gives is [`Reply::Found`]. The error is told to the near side.
    pub work: fn(Value, &Way) -> Result<Value, String>,
}

/// The way back for a request that is being worked on.
#[derive(Debug)]
pub struct Way {
    /// The near side wants an end, or is gone.
    pub stop: Stop,
    /// The near side wants it to begin, where it waits for that.
    pub(super) go: Stop,
    pub(super) id: u32,
    pub(super) out: Arc<Out>,
}

impl Way {
    /// Sends something before the end.
    ///
    /// # Errors
    /// The near side is gone.
    pub fn note(&self, reply: Reply, bytes: &[u8]) -> Result<(), String> {
        self.send(What::Note(reply), bytes)
    }

    /// Sends the files of a folder, piece by piece ([`Reply::File`]).
    ///
    /// # Errors
    /// One cannot be read, or the near side is gone.
    pub fn files(&self, folder: &Path) -> Result<(), String> {
        let wrong = |e: io::Error| format!("cannot read a capture: {e}");
        for entry in fs::read_dir(folder).map_err(wrong)? {
            let entry = entry.map_err(wrong)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let mut file = File::open(entry.path()).map_err(wrong)?;
            let mut piece = Vec::new();
            loop {
                piece.clear();
                let mut part = (&mut file).take(MOST_BYTES as u64);
                if part.read_to_end(&mut piece).map_err(wrong)? == 0 {
                    break;
                }
                self.note(Reply::File(name.clone()), &piece)?;
            }
        }
        Ok(())
    }

    pub(super) fn send(&self, what: What, bytes: &[u8]) -> Result<(), String> {
        let news = News { id: self.id, what };
        let sent = self.out.send(&news, bytes);
        sent.map_err(|e| format!("the near side is gone: {e}"))
    }
}

/// Does what was asked for. Runs in a thread of its own; processes that it starts end with the thread.
pub(super) fn answer(request: Request, errands: &[Errand], way: &Way) -> Result<Reply, String> {
    match request {
        Request::Clock => Ok(Reply::Clock(clock::real_time().as_nanos())),
        Request::Listen { address } => reach::listen(address, way),
        Request::Reach { to } => reach::reach(to, way),
        Request::Run(half) => half::run(&half, way),
        Request::Errand { name, task } => {
            let errand = errands.iter().find(|errand| errand.name == name);
            let errand = errand.ok_or_else(|| format!("nothing here is called {name}"))?;
            (errand.work)(task, way).map(Reply::Found)
        }
    }
}
