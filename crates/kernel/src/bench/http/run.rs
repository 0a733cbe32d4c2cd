//! A server end while it serves, and a run with both ends on this machine.

use std::io::{self, BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Command, Stdio};

use super::Ready;
use crate::bench::end::{Task, WORD};
use crate::bench::measure::{Begun, Machine, Measured, Running, Side, failed, read, wait};
use crate::bench::{BenchError, Spec, Tried};
use crate::{Scratch, Stop};

/// Runs a workload in the current network namespace. `None`: the user wants an end.
pub(in crate::bench) fn run(spec: &Spec, stop: &Stop) -> Result<Option<Measured>, BenchError> {
    let folder = folder()?;
    let serving = match Serving::start(spec, SocketAddr::from((Ipv4Addr::LOCALHOST, 0))) {
        Ok(serving) => serving,
        // Ctrl-C is heard by the server, too.
        Err(_) if stop.wanted() => return Ok(None),
        Err(e) => return Err(e),
    };
    let report = folder.path().join("client");
    let watch = Begun::now();
    let mut client = [start(&Task {
        spec: spec.clone(),
        is_client: true,
        server: Some(serving.address()),
        report: report.clone(),
    })?];
    if !wait(&mut client, spec, stop)? {
        return Ok(None);
    }
    let Machine { noise, counters } = watch.over();
    Ok(Some(Measured {
        client: read(&report)?,
        server: serving.finish()?.report,
        noise,
        counters,
        server_machine: None,
    }))
}

/// A server end that serves.
pub(in crate::bench) struct Serving {
    end: Running,
    spec: Spec,
    address: SocketAddr,
    folder: Scratch,
    watch: Begun,
}

impl Serving {
    /// Starts it; it listens at this address (port 0: the kernel chooses one).
    pub(in crate::bench) fn start(spec: &Spec, at: SocketAddr) -> Result<Self, BenchError> {
        let folder = folder()?;
        let mut end = start(&Task {
            spec: spec.clone(),
            is_client: false,
            server: Some(at),
            report: folder.path().join("server"),
        })?;
        let Some(Ready { address }) = ready(&mut end) else {
            let _ = end.0.wait();
            return Err(failed(&mut end));
        };
        Ok(Self {
            end,
            spec: spec.clone(),
            address,
            folder,
            watch: Begun::now(),
        })
    }

    /// Where clients connect.
    pub(in crate::bench) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends it: nobody asks any more.
    pub(in crate::bench) fn finish(mut self) -> Result<Side, BenchError> {
        let machine = self.watch.over();
        drop(self.end.0.stdin.take());
        // It ends by itself, also when the user wants an end.
        wait(&mut [self.end], &self.spec, &Stop::never())?;
        Ok(Side {
            machine,
            report: read(&self.folder.path().join("server"))?,
        })
    }
}

fn folder() -> Result<Scratch, BenchError> {
    Scratch::new().tried("cannot make a folder for the ends' reports")
}

fn start(task: &Task) -> Result<Running, BenchError> {
    let what = "cannot start an end of the workload";
    let words = serde_json::to_string(task)
        .map_err(io::Error::other)
        .tried(what)?;
    let child = Command::new("/proc/self/exe")
        .args([WORD, &words])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    Ok(Running(child.tried(what)?))
}

/// What the server says when it serves; none: it ended.
fn ready(server: &mut Running) -> Option<Ready> {
    let mut line = String::new();
    BufReader::new(server.0.stdout.take()?)
        .read_line(&mut line)
        .ok()?;
    serde_json::from_str(&line).ok()
}
