//! One run on this machine: the server end, and the client end when it serves.

use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use super::Ready;
use crate::Stop;
use crate::bench::end::{Task, WORD};
use crate::bench::measure::{Begun, Machine, Measured, Running, failed, read, wait};
use crate::bench::{BenchError, Spec, Tried};

/// Runs a workload in the current network namespace. `None`: the user wants an end.
pub(in crate::bench) fn run(
    spec: &Spec,
    folder: &Path,
    stop: &Stop,
) -> Result<Option<Measured>, BenchError> {
    let reports = ["client", "server"].map(|name| folder.join(name));
    let task = |side: usize, server| Task {
        spec: spec.clone(),
        is_client: side == 0,
        server,
        report: reports[side].clone(),
    };
    let mut server = start(&task(1, None))?;
    let ready = match ready(&mut server) {
        Some(ready) => ready,
        None if stop.wanted() => return Ok(None),
        None => {
            let _ = server.0.wait();
            return Err(failed(&mut server));
        }
    };
    let watch = Begun::now();
    let mut client = [start(&task(0, Some(ready.address)))?];
    if !wait(&mut client, spec, stop)? {
        return Ok(None);
    }
    let Machine { noise, counters } = watch.over();
    // Its input ends: nobody asks any more.
    drop(server.0.stdin.take());
    if !wait(&mut [server], spec, stop)? {
        return Ok(None);
    }
    let [client, server] = reports.map(|path| read(&path));
    Ok(Some(Measured {
        client: client?,
        server: server?,
        noise,
        counters,
        server_machine: None,
    }))
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
