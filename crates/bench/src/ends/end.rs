//! An end of a workload: this executable, started again, with what lies between the ends at descriptors 0 and 1.

use std::fs::File;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use nix::sys::prctl::set_pdeathsig;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::Signal;
use nix::sys::socket::{MsgFlags, recv, send};
use nix::sys::time::TimeValLike;
use serde::{Deserialize, Serialize};
use tcplab_base::Instant;
use tcplab_os::cpu;
use tcplab_os::tcp_info::tcp_info;

use super::drag::Drag;
use super::measure::EndReport;
use super::phase::Phase;
use super::workload::{Over, Work};
use super::{Spec, connect, request, stream, udp};
use tcplab_os::clock::monotonic as now;

/// The first argument of an end; the second is its task as JSON.
pub(super) const WORD: &str = "__bench-end";

/// What an end shall do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Task {
    pub(super) spec: Spec,
    pub(super) is_client: bool,
    /// Where the server is, for a client that connects by itself.
    pub(super) server: Option<SocketAddr>,
    /// Where the report goes.
    pub(super) report: PathBuf,
}

/// Acts as an end when this process was started as one. The first thing that `main` does.
pub fn end() -> Option<ExitCode> {
    let mut words = std::env::args().skip(1);
    if words.next()? != WORD {
        return None;
    }
    Some(match work(&words.next().unwrap_or_default()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            tcplab_os::say(&e.to_string());
            ExitCode::FAILURE
        }
    })
}

fn work(task: &str) -> io::Result<()> {
    set_pdeathsig(Signal::SIGKILL)?;
    let task: Task = serde_json::from_str(task)?;
    let cpu = task.spec.cpus[usize::from(!task.is_client)];
    if let Some(n) = cpu
        && !cpu::pin(n)
    {
        return Err(io::Error::other(format!(
            "this process may not run on CPU {n}: `taskset -p $$` tells where"
        )));
    }
    // Opened before it counts.
    let mut file = File::create(&task.report)?;
    let is_socket = task.spec.workload.over != Over::Pipe;
    let mut pipe = Pipe {
        reads: io::stdin().as_fd().try_clone_to_owned()?,
        writes: io::stdout().as_fd().try_clone_to_owned()?,
        is_socket,
        drag: Drag::of(slowed(&task)),
        only_reads: task.spec.workload.is_stream() && !task.is_client,
    };
    let span = |ns: i64| Duration::from_nanos(ns.unsigned_abs());
    let phase = Phase::start(span(task.spec.warm_ns), span(task.spec.time_ns))?;
    let workload = task.spec.workload;
    let mut report = match (workload.work, workload.over, task.is_client) {
        (Work::Connect, _, true) => connect::client(&task, &phase)?,
        (Work::Connect, _, false) => connect::server(&pipe, &phase)?,
        (Work::Stream, Over::Udp, true) => udp::sender(&mut pipe, workload.size, &phase)?,
        (Work::Stream, Over::Udp, false) => udp::receiver(&mut pipe, &phase)?,
        (Work::Request, Over::Udp, true) => udp::asker(&mut pipe, workload.size, &phase)?,
        (Work::Request, Over::Udp, false) => udp::answerer(&mut pipe, workload.size, &phase)?,
        (Work::Stream, _, true) => stream::sender(&mut pipe, workload.size, &phase)?,
        (Work::Stream, _, false) => stream::receiver(&mut pipe, &phase)?,
        (Work::Request, _, true) => request::client(&mut pipe, workload.size, &phase)?,
        (Work::Request, _, false) => request::server(&mut pipe, workload.size, &phase)?,
    };
    if workload.over == Over::Tcp
        && workload.work != Work::Connect
        && let Ok(info) = tcp_info(&pipe.reads)
    {
        report.tcp_info = info
            .fields()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
    }
    file.write_all(serde_json::to_string(&report)?.as_bytes())
}

/// The ends of a stream work at the same time, those of a transaction one after the other: both slowed would be twice.
fn slowed(task: &Task) -> u32 {
    match (task.is_client, task.spec.workload.work) {
        (true, _) | (_, Work::Stream) => task.spec.slowed_percent,
        (false, _) => 0,
    }
}

/// Where an end reads and writes. The calls of sockets are send(2) and recv(2), as netperf's.
#[derive(Debug)]
pub(super) struct Pipe {
    pub(super) reads: OwnedFd,
    pub(super) writes: OwnedFd,
    is_socket: bool,
    /// Before a write, so that nothing is on its way meanwhile; of an end that writes nothing before a read.
    drag: Drag,
    only_reads: bool,
}

impl Pipe {
    /// Both directions of a connected socket.
    #[cfg(test)]
    pub(super) fn datagrams(socket: OwnedFd) -> io::Result<Self> {
        Ok(Self {
            reads: socket.try_clone()?,
            writes: socket,
            is_socket: true,
            drag: Drag::of(0),
            only_reads: false,
        })
    }

    /// One call; at least a byte, or an error.
    #[inline]
    pub(super) fn write(&mut self, bytes: &[u8]) -> nix::Result<usize> {
        self.drag.call();
        match self.is_socket {
            true => send(self.writes.as_raw_fd(), bytes, MsgFlags::empty()),
            false => nix::unistd::write(&self.writes, bytes),
        }
    }

    /// One call; 0: the other end is gone.
    #[inline]
    pub(super) fn read(&mut self, room: &mut [u8]) -> nix::Result<usize> {
        if self.only_reads {
            self.drag.call();
        }
        match self.is_socket {
            true => recv(self.reads.as_raw_fd(), room, MsgFlags::empty()),
            false => nix::unistd::read(&self.reads, room),
        }
    }

    /// The other end reads an end of data.
    pub(super) fn finish(&mut self) {
        match self.is_socket {
            // Another one may be gone already.
            true => {
                let _ = nix::sys::socket::shutdown(
                    self.writes.as_raw_fd(),
                    nix::sys::socket::Shutdown::Write,
                );
            }
            // A pipe ends with its last writer; this process leaves in a moment.
            false => {
                let _ = nix::unistd::dup2_stdout(&self.reads);
                if let Ok(other) = self.reads.try_clone() {
                    self.writes = other;
                }
            }
        }
    }
}

/// Seconds on a processor, of user and of kernel code, of this process.
pub(super) fn spent() -> [f64; 2] {
    let Ok(used) = getrusage(UsageWho::RUSAGE_SELF) else {
        return [0.0; 2];
    };
    [used.user_time(), used.system_time()].map(|t| t.num_microseconds() as f64 / 1e6)
}

/// Counts from where a run counts to where it ends.
#[derive(Debug)]
pub(super) struct Tally {
    begun: Instant,
    spent: [f64; 2],
}

impl Tally {
    pub(super) fn begin() -> Self {
        Self {
            begun: now(),
            spent: spent(),
        }
    }

    /// The end of an end that asked so many times: `size` bytes there, and as many back.
    pub(super) fn asked(&self, transactions: u64, size: u32) -> EndReport {
        let bytes = 2 * transactions * u64::from(size);
        self.end(bytes, 2 * transactions, transactions)
    }

    pub(super) fn end(&self, bytes: u64, calls: u64, transactions: u64) -> EndReport {
        let time = now().since(self.begun);
        let [user, system] = spent();
        EndReport {
            time_ns: time.as_nanos(),
            bytes,
            calls,
            transactions,
            cpu_user_s: user - self.spent[0],
            cpu_system_s: system - self.spent[1],
            ..EndReport::default()
        }
    }
}

/// Counts what an end has answered while the run counts.
#[derive(Debug, Default)]
pub(super) struct Answered {
    /// From the first answer that counts.
    tally: Option<Tally>,
    number: u64,
}

impl Answered {
    #[inline]
    pub(super) fn one(&mut self, phase: &Phase) {
        if phase.counts() {
            self.tally.get_or_insert_with(Tally::begin);
            self.number += 1;
        }
    }

    pub(super) fn end(self) -> (Tally, u64) {
        (self.tally.unwrap_or_else(Tally::begin), self.number)
    }
}
