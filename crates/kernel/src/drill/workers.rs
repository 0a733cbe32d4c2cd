//! Calls that may wait: each on a thread of its own, so that the script goes on.
//!
//! A waiting call is observed, not guessed: its thread sleeps in the kernel, and the call is not
//! back. In virtual time that takes no time; on a running machine some microseconds.

use std::collections::VecDeque;
use std::fs;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle};

use nix::poll::{PollFd, PollFlags};
use nix::sys::eventfd::{EfdFlags, EventFd};
use nix::sys::signal::SigSet;
use nix::sys::time::{TimeSpec, TimeValLike};
use tcplab_base::Instant;
use tcplab_drill::TargetError;
use tcplab_drill::call::{Call, Outcome};
use tcplab_os::sys;
use tcplab_os::{Context, OsError};

use super::calls::Maker;
use super::clock::Clock;

/// How long a call is watched at first, and how often its thread is looked at.
const WATCH_NS: i64 = 1_000;
/// A thread that neither returns nor sleeps for so many looks counts as one that waits.
const LOOKS: u32 = 20_000;
/// Signals that a thread gets before it is given up: one a millisecond.
const WAKES: u32 = 2_000;

/// A call that has come back.
pub(super) struct Returned {
    pub(super) number: u32,
    pub(super) at: Instant,
    pub(super) outcome: Result<Outcome, TargetError>,
}

/// What the script's thread and the workers share.
#[derive(Debug)]
struct Shared {
    returned: Mutex<VecDeque<Returned>>,
    /// Readable while something has returned.
    ready: EventFd,
}

impl std::fmt::Debug for Returned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "call {} at {:?}", self.number, self.at)
    }
}

impl Shared {
    fn returned(&self) -> MutexGuard<'_, VecDeque<Returned>> {
        self.returned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Job {
    number: u32,
    call: Call,
    clock: Clock,
}

struct Worker {
    jobs: mpsc::Sender<Job>,
    state: Arc<State>,
    thread: JoinHandle<()>,
}

/// What is seen of a worker from outside.
#[derive(Default)]
struct State {
    /// Its number in the kernel; 0: not known yet.
    thread: AtomicI32,
    /// It is about to make its call, or in it.
    inside: AtomicBool,
    /// It waits for a job.
    idle: AtomicBool,
}

/// The threads of one script.
pub(super) struct Workers {
    maker: Maker,
    shared: Arc<Shared>,
    workers: Vec<Worker>,
    next: u32,
}

impl Workers {
    pub(super) fn new(maker: Maker) -> Result<Self, OsError> {
        sys::prepare_wake().tried("cannot set a signal's handler")?;
        let ready = EventFd::from_flags(EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)
            .tried("cannot make an eventfd")?;
        Ok(Self {
            maker,
            shared: Arc::new(Shared {
                returned: Mutex::default(),
                ready,
            }),
            workers: Vec::new(),
            next: 0,
        })
    }

    /// What is readable while a call has come back.
    pub(super) fn ready(&self) -> BorrowedFd<'_> {
        self.shared.ready.as_fd()
    }

    /// The first call that has come back since the last time.
    pub(super) fn take(&self) -> Option<Returned> {
        let mut returned = self.shared.returned();
        let first = returned.pop_front();
        if first.is_some() && returned.is_empty() {
            // Readable again with the next one.
            let _ = self.shared.ready.read();
        }
        first
    }

    /// Makes a call; gives its number when it waits.
    pub(super) fn make(&mut self, call: &Call, clock: Clock) -> Result<Returned, u32> {
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        let job = Job {
            number,
            call: call.clone(),
            clock,
        };
        let state = match self.start(job) {
            Ok(state) => state,
            Err(e) => {
                let outcome = Err(TargetError(format!("cannot start a thread: {e}")));
                let at = clock.now();
                return Ok(Returned {
                    number,
                    at,
                    outcome,
                });
            }
        };
        for _ in 0..LOOKS {
            self.watch();
            if let Some(back) = self.take_number(number) {
                return Ok(back);
            }
            if state.inside.load(Ordering::Acquire) && sleeps(state.thread.load(Ordering::Acquire))
            {
                // It may have come back between the two looks.
                return self.take_number(number).ok_or(number);
            }
        }
        Err(number)
    }

    /// Hands a job to an idle worker, or to a new one.
    fn start(&mut self, job: Job) -> std::io::Result<Arc<State>> {
        let idle = |w: &&Worker| w.state.idle.swap(false, Ordering::AcqRel);
        if let Some(worker) = self.workers.iter().find(idle) {
            // The receiver lives as long as the thread, which ends with the sender.
            let _ = worker.jobs.send(job);
            return Ok(Arc::clone(&worker.state));
        }
        let (jobs, queue) = mpsc::channel();
        let state = Arc::new(State::default());
        let thread = thread::Builder::new().stack_size(256 << 10).spawn({
            let (state, shared) = (Arc::clone(&state), Arc::clone(&self.shared));
            let maker = self.maker.clone();
            move || work(&maker, &queue, &state, &shared)
        })?;
        let _ = jobs.send(job);
        self.workers.push(Worker {
            jobs,
            state: Arc::clone(&state),
            thread,
        });
        Ok(state)
    }

    /// Waits a moment for something to return.
    fn watch(&self) {
        let mut fds = [PollFd::new(self.ready(), PollFlags::POLLIN)];
        let moment = TimeSpec::nanoseconds(WATCH_NS);
        let _ = nix::poll::ppoll(&mut fds, Some(moment), None::<SigSet>);
    }

    fn take_number(&self, number: u32) -> Option<Returned> {
        let mut returned = self.shared.returned();
        let at = returned.iter().position(|r| r.number == number)?;
        let found = returned.remove(at);
        if returned.is_empty() {
            let _ = self.shared.ready.read();
        }
        found
    }

    /// Ends all threads, waking those that wait; gives what has come back but nobody has taken.
    pub(super) fn end(&mut self) -> Vec<Returned> {
        for worker in self.workers.drain(..) {
            drop(worker.jobs);
            for _ in 0..WAKES {
                if worker.thread.is_finished() {
                    break;
                }
                if worker.state.inside.load(Ordering::Acquire) {
                    sys::wake(worker.state.thread.load(Ordering::Acquire));
                }
                thread::sleep(std::time::Duration::from_millis(1));
            }
            // One that cannot be woken is left behind: the process ends it.
            if worker.thread.is_finished() {
                let _ = worker.thread.join();
            }
        }
        self.shared.returned().drain(..).collect()
    }
}

/// A worker's life.
fn work(maker: &Maker, queue: &mpsc::Receiver<Job>, state: &State, shared: &Shared) {
    state.thread.store(sys::thread_id(), Ordering::Release);
    while let Ok(job) = queue.recv() {
        state.inside.store(true, Ordering::Release);
        let outcome = maker.make(&job.call, &job.clock);
        let at = job.clock.now();
        state.inside.store(false, Ordering::Release);
        shared.returned().push_back(Returned {
            number: job.number,
            at,
            outcome,
        });
        state.idle.store(true, Ordering::Release);
        let _ = shared.ready.write(1);
    }
}

/// Whether a thread of this process waits in the kernel (proc(5), the state in `stat`).
fn sleeps(thread: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/self/task/{thread}/stat"));
    let stat = stat.unwrap_or_default();
    let state = stat.rsplit_once(')').map(|(_, rest)| rest.trim_start());
    state.is_some_and(|s| s.starts_with('S'))
}
