//! The near side of a session: messages to the far side and from it, and its end.

use std::collections::BTreeMap;
use std::io::Read;
use std::net::IpAddr;
use std::process::{Child, ChildStdin};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use tcplab_guest::stack::Host;
use tcplab_os::Stop;

use super::clock::{self, Offset};
use super::frame::{self, News, Order};
use super::open::{self, Opened};
use super::pending::{Heard, Pending};
use super::program::Program;
use super::words::Words;
use super::{Facts, Reply, Request, SshError, SshOptions};

/// Where a line of progress goes.
pub type Say<'a> = &'a (dyn Fn(&str) + Sync);

/// How often the near side says that it is there.
pub(super) const BEAT: Duration = Duration::from_secs(10);

/// Round trips of which the shortest tells the clocks' difference.
const TRIPS: usize = 15;

/// A machine, reached through ssh, with this program on it. Dropped, the far side ends.
#[derive(Debug)]
pub struct Session {
    /// As the user named it.
    pub host: Host,
    /// What it said of itself.
    pub facts: Facts,
    line: Arc<Line>,
    child: Client,
    next: AtomicU32,
    /// Its end ends the thread that says that we are here.
    _beat: mpsc::Sender<()>,
}

/// What the threads of a session share.
#[derive(Debug)]
struct Line {
    to: Mutex<Option<ChildStdin>>,
    /// None: nothing will be heard any more.
    waiting: Mutex<Option<BTreeMap<u32, mpsc::Sender<Heard>>>>,
    words: Words,
}

/// Opens sessions to all hosts, at the same time.
///
/// # Errors
/// The first host's that failed.
pub fn open_all(
    hosts: &[Host],
    options: &SshOptions,
    stop: &Stop,
    say: Say<'_>,
) -> Result<Vec<Session>, SshError> {
    let program = Program::load(options.program.as_deref())?;
    thread::scope(|scope| {
        let open = |host| {
            let program = &program;
            scope.spawn(move || Session::open_with(host, options, program, stop, say))
        };
        let threads: Vec<_> = hosts.iter().map(open).collect();
        let ended = threads.into_iter().zip(hosts);
        ended
            .map(|(thread, host)| match thread.join() {
                Ok(done) => done,
                Err(_) => Err(SshError::odd(
                    &host.word,
                    "the thread that opened it panicked",
                )),
            })
            .collect()
    })
}

impl Session {
    /// Connects, copies this program where it is not yet, starts it.
    ///
    /// # Errors
    /// All of [`SshError`].
    pub fn open(
        host: &Host,
        options: &SshOptions,
        stop: &Stop,
        say: Say<'_>,
    ) -> Result<Self, SshError> {
        let program = Program::load(options.program.as_deref())?;
        Self::open_with(host, options, &program, stop, say)
    }

    fn open_with(
        host: &Host,
        options: &SshOptions,
        program: &Program,
        stop: &Stop,
        say: Say<'_>,
    ) -> Result<Self, SshError> {
        let Opened {
            child,
            input,
            output,
            words,
            facts,
        } = open::open(host, options, program, stop, say)?;
        let line = Arc::new(Line {
            to: Mutex::new(Some(input)),
            waiting: Mutex::new(Some(BTreeMap::new())),
            words,
        });
        let listener = Arc::clone(&line);
        thread::spawn(move || listener.listen(output));
        let (beat, ended) = mpsc::channel::<()>();
        let speaker = Arc::clone(&line);
        thread::spawn(move || {
            while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(BEAT) {
                speaker.send(&Order::Alive);
            }
        });
        Ok(Self {
            host: host.clone(),
            facts,
            line,
            child,
            next: AtomicU32::new(1),
            _beat: beat,
        })
    }

    /// Begins a request; what comes of it is read from the [`Pending`].
    pub fn start(&self, request: &Request) -> Pending<'_> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, from) = mpsc::channel();
        // A sender that is dropped here says that the connection is gone.
        if let Some(waiting) = lock(&self.line.waiting).as_mut() {
            waiting.insert(id, sender);
        }
        self.line.send(&Order::Call(id, request.clone()));
        Pending {
            session: self,
            id,
            from,
            is_over: false,
        }
    }

    /// Asks and waits for the last word of the answer.
    ///
    /// # Errors
    /// It failed there, the connection went away, or the user wants an end.
    pub fn call(&self, request: &Request, stop: &Stop) -> Result<Reply, SshError> {
        self.start(request).wait(stop)
    }

    /// How far the clock there is from ours.
    ///
    /// # Errors
    /// As [`Session::call`].
    pub fn clock(&self, stop: &Stop) -> Result<Offset, SshError> {
        let mut best: Option<Offset> = None;
        for _ in 0..TRIPS {
            let sent = clock::real_time();
            let message = self.start(&Request::Clock).next(stop)?;
            let Reply::Clock(far) = message.reply else {
                return Err(self.odd(&message.reply));
            };
            let found = Offset::of(sent.as_nanos(), far, message.at.as_nanos());
            if best.is_none_or(|best| found.error_ns < best.error_ns) {
                best = Some(found);
            }
        }
        Ok(best.unwrap_or_default())
    }

    /// The address by which other hosts reach this one, as the user said or as ssh found it.
    pub fn address(&self) -> Option<IpAddr> {
        self.host.address.or(self.facts.address)
    }

    /// The same, for a run that cannot do without.
    pub(super) fn need_address(&self) -> Result<IpAddr, SshError> {
        self.address().ok_or_else(|| {
            self.far(format!(
                "its address is unknown; write {}=ADDRESS, the address by which the other host reaches it",
                self.host.word
            ))
        })
    }

    /// An error of this host, in these words.
    pub fn far(&self, words: impl Into<String>) -> SshError {
        SshError::far(&self.host.word, words)
    }

    /// The error of an answer that does not fit its question.
    pub fn odd(&self, reply: &Reply) -> SshError {
        let text = format!("{reply:?}");
        let short: String = text.chars().take(80).collect();
        SshError::odd(&self.host.word, short)
    }

    /// The error of a connection that is gone, with the last words that came.
    pub(super) fn gone(&self) -> SshError {
        SshError::Gone {
            host: self.host.word.clone(),
            words: self.line.words.last(),
        }
    }

    pub(super) fn go(&self, id: u32) {
        self.line.send(&Order::Go(id));
    }

    pub(super) fn stop(&self, id: u32) {
        self.line.send(&Order::Stop(id));
    }

    pub(super) fn forget(&self, id: u32) {
        if let Some(waiting) = lock(&self.line.waiting).as_mut() {
            waiting.remove(&id);
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // The far side ends with its input, and the client with the far side.
        drop(lock(&self.line.to).take());
        self.child.end();
    }
}

impl Line {
    /// Sends an order. A failed write is not reported here: the reader of the line notices its end.
    fn send(&self, order: &Order) {
        let mut to = lock(&self.to);
        if let Some(pipe) = to.as_mut()
            && frame::write(pipe, order, &[]).is_err()
        {
            *to = None;
        }
    }

    /// Hands out what comes, to the end.
    fn listen(&self, mut from: impl Read) {
        while let Ok(Some((News { id, what }, bytes))) = frame::read(&mut from) {
            let at = clock::real_time();
            if let Some(Some(sender)) = lock(&self.waiting).as_ref().map(|map| map.get(&id)) {
                // Nobody may be interested any more.
                let _ = sender.send(Heard { what, bytes, at });
            }
        }
        *lock(&self.waiting) = None;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The client's process, which ends with this value.
#[derive(Debug)]
pub(super) struct Client(pub(super) Child);

impl Client {
    /// Waits a while for its end, then makes it.
    pub(super) fn end(&mut self) {
        /// The far side puts back what it has changed before it ends.
        const PATIENCE: Duration = Duration::from_secs(5);
        const LOOK: Duration = Duration::from_millis(10);
        let mut left = PATIENCE;
        while !left.is_zero() {
            if !matches!(self.0.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(LOOK);
            left = left.saturating_sub(LOOK);
        }
        self.kill();
    }

    pub(super) fn kill(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
