//! The far side: this program, started there by ssh. It lives as long as its standard input.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::{dup2_stdin, dup2_stdout};
use serde::Serialize;
use tcplab_os::Stop;

use super::answer::{Errand, Way, answer};
use super::frame::{self, News, Order, What};
use super::{Reply, Request, clock, facts};

/// The first argument of a far side.
pub(super) const WORD: &str = "__remote";

/// The second one of a copy that has just been made: it says what is in it.
pub(super) const NEW: &str = "new";

/// Without a word from the near side for so long, it is gone: a line may die without a sign. The
/// near side speaks every [`super::session::BEAT`].
const SILENCE_MS: u16 = 60_000;

/// Acts as a far side when this process was started as one; `errands` are what it can be asked for besides halves of runs.
/// The first thing that `main` does.
pub fn remote(errands: &'static [Errand]) -> Option<ExitCode> {
    if std::env::args_os().nth(1)? != WORD {
        return None;
    }
    Some(match serve(errands) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            tcplab_os::say(&format!("tcplab: {e}"));
            ExitCode::FAILURE
        }
    })
}

fn serve(errands: &'static [Errand]) -> Result<(), String> {
    let is_new = std::env::args_os().nth(2).is_some_and(|word| word == NEW);
    let (input, output) = streams().map_err(|e| format!("no standard streams: {e}"))?;
    let out = Arc::new(Out(Mutex::new(output)));
    let hello = News {
        id: 0,
        what: What::Done(Reply::Hello(Box::new(facts::look(is_new)))),
    };
    out.send(&hello, &[]).map_err(|e| e.to_string())?;
    let mut work = Work::default();
    let mut input = Patient(input);
    let end = loop {
        match frame::read::<Order>(&mut input) {
            Ok(None) => break Ok(()),
            Err(e) => break Err(format!("from the near side: {e}")),
            Ok(Some((Order::Alive, _))) => {}
            Ok(Some((Order::Stop(id), _))) => work.stop(id),
            Ok(Some((Order::Go(id), _))) => work.go(id),
            Ok(Some((Order::Call(id, request), _))) => work.begin(id, (request, errands), &out),
        }
    };
    work.end();
    end
}

/// Input and output for messages alone: nothing that is started here, and no stray line, gets at them.
fn streams() -> io::Result<(File, File)> {
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    let nothing: OwnedFd = OpenOptions::new().read(true).open("/dev/null")?.into();
    dup2_stdin(&nothing)?;
    dup2_stdout(io::stderr())?;
    Ok((input.into(), output.into()))
}

/// Where all threads send their messages.
#[derive(Debug)]
pub(crate) struct Out(Mutex<File>);

impl Out {
    pub(super) fn send(&self, head: &impl Serialize, bytes: &[u8]) -> io::Result<()> {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        frame::write(&mut *file, head, bytes)
    }
}

/// Input that ends when nothing comes for too long.
struct Patient(File);

impl Read for Patient {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut fds = [PollFd::new(self.0.as_fd(), PollFlags::POLLIN)];
        loop {
            match poll(&mut fds, PollTimeout::from(SILENCE_MS)) {
                Ok(0) => return Err(io::Error::new(io::ErrorKind::TimedOut, "no word for 60 s")),
                Err(nix::errno::Errno::EINTR) => {}
                Err(e) => return Err(e.into()),
                Ok(_) => return self.0.read(buffer),
            }
        }
    }
}

/// The requests that are being worked on.
#[derive(Default)]
struct Work(BTreeMap<u32, Begun>);

/// One of them.
struct Begun {
    stop: Stop,
    go: Stop,
    thread: JoinHandle<()>,
}

impl Work {
    fn begin(&mut self, id: u32, (request, errands): (Request, &'static [Errand]), out: &Arc<Out>) {
        self.0.retain(|_, begun| !begun.thread.is_finished());
        let way = Way {
            stop: Stop::never(),
            go: Stop::never(),
            id,
            out: Arc::clone(out),
        };
        if matches!(request, Request::Clock) {
            // At once: the time to start a thread would count.
            let now = Reply::Clock(clock::real_time().as_nanos());
            let _ = way.send(What::Done(now), &[]);
            return;
        }
        let (stop, go) = (way.stop.clone(), way.go.clone());
        let thread = thread::spawn(move || {
            let last = Last(Some(way));
            let Some(way) = &last.0 else { return };
            let what = match answer(request, errands, way) {
                Ok(reply) => What::Done(reply),
                Err(words) => What::Failed(words),
            };
            last.say(what);
        });
        self.0.insert(id, Begun { stop, go, thread });
    }

    fn stop(&mut self, id: u32) {
        if let Some(begun) = self.0.get(&id) {
            begun.stop.request();
        }
    }

    fn go(&mut self, id: u32) {
        if let Some(begun) = self.0.get(&id) {
            begun.go.request();
        }
    }

    /// Ends all of them in good order.
    fn end(self) {
        for begun in self.0.values() {
            begun.stop.request();
        }
        for begun in self.0.into_values() {
            let _ = begun.thread.join();
        }
    }
}

/// A request always has a last message, also when its thread panics.
struct Last(Option<Way>);

impl Last {
    fn say(mut self, what: What) {
        if let Some(way) = self.0.take() {
            // A near side that is gone needs no answer.
            let _ = way.send(what, &[]);
        }
    }
}

impl Drop for Last {
    fn drop(&mut self) {
        if let Some(way) = self.0.take() {
            let words = "a defect of tcplab: the request ended in a panic".to_owned();
            let _ = way.send(What::Failed(words), &[]);
        }
    }
}
