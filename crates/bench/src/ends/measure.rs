//! One run: both ends are started and watched, and give their results.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use nix::sys::signal::Signal;
use serde::{Deserialize, Serialize};
use tcplab_base::Duration as Span;
use tcplab_os::counters::{self, Counters};
use tcplab_os::noise::{Noise, Watch};
use tcplab_os::{Scratch, Stop};

use super::Spec;
use super::end::{Task, WORD};
use super::place::Place;
use super::wire::{self, Fds, Wire};
use tcplab_os::clock::monotonic as now;
use tcplab_os::{Context, OsError};

/// Beyond its time a run may take so long before its ends are ended.
const GRACE: Duration = Duration::from_secs(5);

/// How often ends are polled when they may end, and before that. Polling takes processor time from the ends.
const LOOK: Duration = Duration::from_millis(2);
const LOOK_EARLY: Duration = Duration::from_millis(25);

/// What one end counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EndReport {
    /// How long it counted.
    pub time_ns: i64,
    /// Bytes that it wrote or read.
    pub bytes: u64,
    /// Calls that did so.
    pub calls: u64,
    /// Messages there and back.
    pub transactions: u64,
    /// Datagrams that were not answered in time.
    pub lost: u64,
    /// Seconds on a processor, in user code.
    pub cpu_user_s: f64,
    /// Seconds on a processor, in the kernel.
    pub cpu_system_s: f64,
    /// Median time of a transaction.
    pub latency_p50_ns: Option<u64>,
    /// 99 of 100 transactions took at most this.
    pub latency_p99_ns: Option<u64>,
    /// tcp_info at the end, by the kernel's names.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub tcp_info: BTreeMap<String, i64>,
}

impl EndReport {
    /// Bits a second.
    pub fn bps(&self) -> f64 {
        self.bytes as f64 * 8.0 / self.seconds()
    }

    /// Transactions a second.
    pub fn rate(&self) -> f64 {
        self.transactions as f64 / self.seconds()
    }

    fn seconds(&self) -> f64 {
        self.time_ns.max(1) as f64 / 1e9
    }
}

/// What a run found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The end that writes, asks or connects.
    pub client: EndReport,
    /// The other one.
    pub server: EndReport,
    /// What the machine did beside it.
    pub noise: Noise,
    /// How much the counters of the network namespace grew, by nstat's names; those that did not are left out.
    pub counters: Counters,
    /// The server's machine, where it is another one; `noise` and `counters` are the client's then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_machine: Option<Machine>,
}

/// What a machine did beside a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// What else it did.
    pub noise: Noise,
    /// How much its counters grew.
    pub counters: Counters,
}

/// Runs a workload once.
///
/// # Errors
/// What the system refuses; an end that fails or does not end. `Ok(None)`: the user wants an end.
pub fn run(spec: &Spec, place: &Place, stop: &Stop) -> Result<Option<Measured>, OsError> {
    if let Place::Hosts(hosts) = place {
        return hosts.run(spec, None, stop);
    }
    let folder = Scratch::new().tried("cannot make a folder for the ends' reports")?;
    place.within(|| within(spec, folder.path(), stop))?
}

fn within(spec: &Spec, folder: &Path, stop: &Stop) -> Result<Option<Measured>, OsError> {
    let Wire { ends, server } = wire::make(spec)?;
    let watch = Begun::now();
    let [client_end, server_end] = ends;
    let report = |name| folder.join(name);
    // The server first: a client may find nobody otherwise.
    let mut children = vec![
        Running::start(spec, None, server_end, &report("server"))?,
        Running::start(spec, Some(server), client_end, &report("client"))?,
    ];
    if !wait(&mut children, spec, stop)? {
        return Ok(None);
    }
    let Machine { noise, counters } = watch.over();
    Ok(Some(Measured {
        client: read(&report("client"))?,
        server: read(&report("server"))?,
        noise,
        counters,
        server_machine: None,
    }))
}

/// One end of a run, with the machine that it was on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// What the end counted.
    pub report: EndReport,
    /// What the machine did.
    pub machine: Machine,
}

/// Runs one end here; `server`: it is the client's, and what it connects to where it does so itself.
pub(super) fn side(
    spec: &Spec,
    server: Option<Option<SocketAddr>>,
    fds: Fds,
    stop: &Stop,
) -> Result<Option<Side>, OsError> {
    let folder = Scratch::new().tried("cannot make a folder for the end's report")?;
    let report = folder.path().join("report");
    let watch = Begun::now();
    let mut children = vec![Running::start(spec, server, fds, &report)?];
    if !wait(&mut children, spec, stop)? {
        return Ok(None);
    }
    Ok(Some(Side {
        machine: watch.over(),
        report: read(&report)?,
    }))
}

/// What a machine was at the beginning.
pub(super) struct Begun {
    watch: Watch,
    counters: Counters,
}

impl Begun {
    pub(super) fn now() -> Self {
        Self {
            watch: Watch::start(),
            counters: counters::read().unwrap_or_default(),
        }
    }

    pub(super) fn over(&self) -> Machine {
        let after = counters::read().unwrap_or_default();
        let mut counters = counters::difference(&self.counters, &after);
        counters.retain(|_, value| *value != 0);
        Machine {
            noise: self.watch.stop(),
            counters,
        }
    }
}

/// A process that ends with this value.
pub(super) struct Running(pub(super) Child);

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(None)) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
}

impl Running {
    /// Starts an end; `server`: it is the client's, and what it connects to where it does so itself.
    fn start(
        spec: &Spec,
        server: Option<Option<SocketAddr>>,
        fds: Fds,
        report: &Path,
    ) -> Result<Self, OsError> {
        let what = "cannot start an end of the workload";
        let task = Task {
            spec: spec.clone(),
            is_client: server.is_some(),
            server: server.flatten(),
            report: report.to_owned(),
        };
        let words = serde_json::to_string(&task)
            .map_err(io::Error::other)
            .tried(what)?;
        let child = Command::new("/proc/self/exe")
            .args([WORD, &words])
            .stdin(Stdio::from(fds.reads))
            .stdout(Stdio::from(fds.writes))
            .stderr(Stdio::piped())
            .spawn();
        Ok(Self(child.tried(what)?))
    }
}

/// Waits for all; false: the user wants an end.
pub(super) fn wait(children: &mut [Running], spec: &Spec, stop: &Stop) -> Result<bool, OsError> {
    let most = Duration::from_nanos(spec.lasts().as_nanos().unsigned_abs()) + GRACE;
    let begun = now();
    loop {
        let mut running = 0;
        for child in children.iter_mut() {
            match child.0.try_wait().tried("cannot wait for an end")? {
                None => running += 1,
                Some(status) if status.success() => {}
                // Ctrl-C on a terminal reaches the ends as well, perhaps before us.
                Some(status) if stop.wanted() || is_ended_by_user(status) => return Ok(false),
                Some(_) => return Err(failed(child)),
            }
        }
        if running == 0 {
            return Ok(true);
        }
        if stop.wanted() {
            return Ok(false);
        }
        let elapsed = now().since(begun);
        if elapsed.as_nanos() as u128 > most.as_nanos() {
            let late = io::Error::from(io::ErrorKind::TimedOut);
            return Err(late).tried("an end of the workload does not come to its end");
        }
        let is_early = elapsed + Span::from_nanos(LOOK_EARLY.as_nanos() as i64) < spec.lasts();
        thread::sleep(if is_early { LOOK_EARLY } else { LOOK });
    }
}

fn is_ended_by_user(status: ExitStatus) -> bool {
    let signal = status.signal();
    signal == Some(Signal::SIGINT as i32) || signal == Some(Signal::SIGTERM as i32)
}

pub(super) fn failed(child: &mut Running) -> OsError {
    let mut words = String::new();
    if let Some(err) = &mut child.0.stderr {
        let _ = io::Read::read_to_string(err, &mut words);
    }
    OsError::Os {
        what: "an end of the workload failed".into(),
        source: io::Error::other(words.trim().to_owned()),
    }
}

pub(super) fn read(path: &Path) -> Result<EndReport, OsError> {
    let text = fs::read_to_string(path).tried("no report of an end")?;
    serde_json::from_str(&text)
        .map_err(io::Error::other)
        .tried("a report of an end cannot be read")
}
