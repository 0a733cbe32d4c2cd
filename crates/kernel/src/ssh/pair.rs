//! A point between two machines: both halves started, watched, ended, and made one outcome.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use tcplab_guest::stack::Host;
use tcplab_os::Stop;
use tcplab_plan::network::capture_files;
use tcplab_plan::outcome::{End, Flow};
use tcplab_plan::{Outcome, Point};

use super::address;
use super::clock::{Offset, real_time};
use super::half::{Half, Ran};
use super::pending::{LOOK, Pending};
use super::refuse::{not_applied, refuse};
use super::session::{Say, Session, open_all};
use super::{Reply, Request, SshError, SshOptions, way};

/// Two machines with a session each: the first host of an experiment, and the second.
#[derive(Debug)]
pub struct Pair {
    sessions: [Session; 2],
    addresses: [IpAddr; 2],
    sets_sysctls: bool,
    /// Runs come one after the other.
    turn: Mutex<()>,
}

/// One request on each machine.
type Both<'a> = [Pending<'a>; 2];

impl Pair {
    /// Opens both sessions. What is worth knowing before a run is said.
    ///
    /// # Errors
    /// Those of sessions; other than two hosts; an address that is not known; addresses of different protocols.
    pub fn open(
        hosts: &[Host],
        options: &SshOptions,
        stop: &Stop,
        say: Say<'_>,
    ) -> Result<Self, SshError> {
        let sessions = open_all(hosts, options, stop, say)?;
        let sessions: [Session; 2] = sessions
            .try_into()
            .map_err(|_| SshError::far("ssh:", "a run needs two hosts: write ssh:A,B"))?;
        let [a, b] = &sessions;
        let addresses = address::of(a, b)?;
        if addresses[0] == addresses[1] {
            return Err(b.far(format!(
                "both hosts have the address {}: use --on host for one machine",
                addresses[0]
            )));
        }
        if let Err(e @ SshError::Far { .. }) = way(a, b, stop) {
            say(&format!("warning: {e}"));
        }
        Ok(Self {
            sessions,
            addresses,
            sets_sysctls: options.sets_sysctls,
            turn: Mutex::new(()),
        })
    }

    /// Runs a point; captures go into `out`. Gives its outcome, and the seconds that it took.
    ///
    /// # Errors
    /// What a real network cannot do, with the key of the experiment; a half that fails, with the host.
    pub fn run(&self, point: &Point, out: &Path, stop: &Stop) -> Result<(Outcome, f64), SshError> {
        let _turn = self.turn.lock();
        let words = |words: String| SshError::far("ssh:", words);
        refuse(point).map_err(words)?;
        let named = [0, 1].map(|n| self.sessions[n].host.word.as_str());
        address::fits(named, &self.addresses, point.ip).map_err(words)?;
        let begun = real_time();
        let [a, b] = &self.sessions;
        let clocks = [a.clock(stop)?, b.clock(stop)?];
        // A far time minus its offset is ours; the first host's clock counts.
        let shift = clocks[0].offset_ns - clocks[1].offset_ns;
        let mut both = [self.begin(point, 0, 0), self.begin(point, 1, shift)];
        for half in &mut both {
            match half.next(stop)?.reply {
                Reply::Ready => {}
                other => return Err(half.session.odd(&other)),
            }
        }
        both.iter().for_each(Pending::go);
        let mut files = Files::new(point, out);
        let [first, second] = self.follow(&mut both, point, &mut files, stop)?;
        files.finish()?;
        let mut outcome = join(point, first, second, shift);
        outcome.warnings.extend(not_applied(point));
        outcome.warnings.push(self.words(point, clocks));
        for (host, at) in point.hosts.iter().zip(&self.addresses) {
            outcome.addresses.insert(host.name.clone(), at.to_string());
        }
        self.reached(point, &outcome)?;
        Ok((outcome, real_time().since(begun).as_nanos() as f64 / 1e9))
    }

    /// The kernels on which a point would run, as its outcome names them.
    pub fn kernel(&self, point: &Point) -> String {
        let kernels = (self.sessions.each_ref()).map(|s| format!("Linux {}", s.facts.kernel));
        kernel_of_both(point, kernels.each_ref().map(String::as_str))
    }

    fn begin(&self, point: &Point, host: usize, shift_ns: i64) -> Pending<'_> {
        self.sessions[host].start(&Request::Run(Box::new(Half {
            point: point.clone(),
            host,
            peer: self.addresses[1 - host],
            shift_ns,
            sets_sysctls: self.sets_sysctls,
        })))
    }

    /// Waits until the clients of both have ended, then ends both.
    fn follow(
        &self,
        both: &mut Both<'_>,
        point: &Point,
        files: &mut Files,
        stop: &Stop,
    ) -> Result<[Ran; 2], SshError> {
        let mut over = [false; 2];
        let mut done: [Option<Ran>; 2] = [None, None];
        let mut linger: Option<i64> = None;
        while done.iter().any(Option::is_none) {
            if stop.wanted() {
                return Err(SshError::Interrupted);
            }
            for (n, half) in both.iter_mut().enumerate() {
                while done[n].is_none()
                    && let Some(message) = half.poll()?
                {
                    match message.reply {
                        Reply::Over => over[n] = true,
                        Reply::File(name) => files.add(&name, &message.bytes)?,
                        Reply::Ran(ran) => done[n] = Some(*ran),
                        other => return Err(half.session.odd(&other)),
                    }
                }
            }
            let now = real_time().as_nanos();
            let is_over = over == [true; 2] || done.iter().any(Option::is_some);
            if is_over && linger.is_none() {
                linger = Some(now.saturating_add(point.linger_ns));
            }
            if linger.is_some_and(|at| now >= at) {
                both.iter().for_each(Pending::stop);
                linger = Some(i64::MAX);
            }
            thread::sleep(LOOK.min(Duration::from_millis(10)));
        }
        let odd = |n: usize| SshError::odd(&self.sessions[n].host.word, "no outcome");
        let [first, second] = done;
        Ok([first.ok_or_else(|| odd(0))?, second.ok_or_else(|| odd(1))?])
    }

    /// Who is who, and how their clocks were joined.
    fn words(&self, point: &Point, clocks: [Offset; 2]) -> String {
        let [a, b] = clocks;
        let [client, server] = [&point.hosts[0].name, &point.hosts[1].name];
        let [there, here] = self.sessions.each_ref().map(|session| &session.host.word);
        format!(
            "{client} is {there} at {}, {server} is {here} at {}; times of {server} were moved onto the clock of {client} by {:+.3} ms, \
             at most {:.3} ms wrong",
            self.addresses[0],
            self.addresses[1],
            (a.offset_ns - b.offset_ns) as f64 / 1e6,
            (a.error_ns + b.error_ns) as f64 / 1e6
        )
    }

    /// An error when no client reached its server at all.
    fn reached(&self, point: &Point, outcome: &Outcome) -> Result<(), SshError> {
        let flows = outcome.flows.iter();
        let is_tcp = |flow: &&Flow| {
            let app = point.apps.iter().find(|app| app.name == flow.app);
            app.is_some_and(|app| !app.does.is_udp() && !app.does.is_icmp())
        };
        let tcp: Vec<&Flow> = flows.filter(is_tcp).collect();
        if tcp.is_empty() || tcp.iter().any(|flow| flow.client.opened_ns.is_some()) {
            return Ok(());
        }
        let app = point.apps.iter().find(|app| app.name == tcp[0].app);
        let (client, server, port) =
            app.map_or((0, 1, 0), |app| (app.client, app.server, app.port));
        let error = tcp[0].client.error.as_deref().unwrap_or("no answer");
        let there = &self.sessions[server].host.word;
        Err(self.sessions[client].far(format!(
            "no connection to {there} at {}:{port} ({error}): does a firewall block it, or does {there} have \
             another address ({there}=ADDRESS)?",
            self.addresses[server]
        )))
    }
}

/// One outcome of two halves: of each end that of its own host, all times after the first host's start.
fn join(point: &Point, first: Ran, second: Ran, shift: i64) -> Outcome {
    let later = second.start_ns.saturating_add(shift) - first.start_ns;
    let (mut outcome, mut other) = (first.outcome, second.outcome);
    for flow in &mut other.flows {
        move_by(&mut flow.client, later);
        move_by(&mut flow.server, later);
    }
    let halves = [std::mem::take(&mut outcome.flows), other.flows];
    outcome.flows = flows(point, halves, &mut outcome.warnings);
    outcome.counters.append(&mut other.counters);
    outcome.warnings.append(&mut other.warnings);
    outcome.tolerated.append(&mut other.tolerated);
    outcome.cut_short |= other.cut_short;
    outcome.virtual_ns = outcome
        .virtual_ns
        .max(other.virtual_ns.saturating_add(later));
    outcome.kernel = kernel_of_both(point, [&outcome.kernel, &other.kernel]);
    outcome
}

/// The kernels of both hosts as results name them.
fn kernel_of_both(point: &Point, kernels: [&str; 2]) -> String {
    let [first, second] = kernels;
    match point.hosts.as_slice() {
        [a, b, ..] if first != second => format!("{}: {first}; {}: {second}", a.name, b.name),
        _ => first.to_owned(),
    }
}

/// The flows of both halves: a server's end is found by its client's port.
fn flows(point: &Point, halves: [Vec<Flow>; 2], warnings: &mut Vec<String>) -> Vec<Flow> {
    let by_port: [BTreeMap<(&str, u16), &Flow>; 2] = halves.each_ref().map(|half| {
        let keyed = half.iter().filter(|flow| flow.client_port != 0);
        keyed
            .map(|flow| ((flow.app.as_str(), flow.client_port), flow))
            .collect()
    });
    let mut joined = Vec::new();
    let mut strange = 0;
    for both in halves[0].iter().zip(&halves[1]) {
        let both = [both.0, both.1];
        let name = &both[0].app;
        let Some(app) = point.apps.iter().find(|app| app.name == *name) else {
            continue;
        };
        let client = both[app.client];
        let found = by_port[app.server].get(&(name.as_str(), client.client_port));
        let server = found.copied().unwrap_or(both[app.server]);
        if found.is_none() && server.server.opened_ns.is_some() && !app.does.is_udp() {
            strange += 1;
        }
        joined.push(Flow {
            server: server.server.clone(),
            ..client.clone()
        });
    }
    if strange > 0 {
        warnings.push(format!(
            "{strange} connections reached the server from other ports than the client's (NAT?): ends were paired by number"
        ));
    }
    joined
}

/// Moves all times of an end.
fn move_by(end: &mut End, ns: i64) {
    for at in [&mut end.opened_ns, &mut end.closed_ns]
        .into_iter()
        .flatten()
    {
        *at = at.saturating_add(ns);
    }
    end.log
        .iter_mut()
        .for_each(|line| line.time_ns = line.time_ns.saturating_add(ns));
    end.pings
        .iter_mut()
        .for_each(|ping| ping.0 = ping.0.saturating_add(ns));
    end.tcp_info_series
        .iter_mut()
        .for_each(|look| look.0 = look.0.saturating_add(ns));
}

/// The captures that come from both hosts.
struct Files {
    folder: PathBuf,
    /// Those that shall come, and whether one has begun.
    names: BTreeMap<String, bool>,
}

impl Files {
    fn new(point: &Point, folder: &Path) -> Self {
        let names = capture_files(point).into_iter();
        Self {
            folder: folder.to_owned(),
            names: names.map(|(_, _, name)| (name, false)).collect(),
        }
    }

    fn add(&mut self, name: &str, bytes: &[u8]) -> Result<(), SshError> {
        // A far side has no say in where files go.
        let Some(has_begun) = self.names.get_mut(name) else {
            return Err(SshError::odd("ssh:", "a file that nobody asked for"));
        };
        let path = self.folder.join(name);
        let opened = match std::mem::replace(has_begun, true) {
            false => File::create(&path),
            true => OpenOptions::new().append(true).open(&path),
        };
        let wrote = opened.and_then(|mut file| file.write_all(bytes));
        wrote.map_err(|e| SshError::Program {
            file: path,
            what: format!("cannot write: {e}"),
        })
    }

    fn finish(self) -> Result<(), SshError> {
        match self.names.iter().find(|(_, has_come)| !**has_come) {
            None => Ok(()),
            Some((name, _)) => Err(SshError::odd(
                "ssh:",
                format!("the capture {name} did not arrive"),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flow(port: u16, number: u32, server_reads: Option<u64>) -> Flow {
        let mut flow = Flow {
            app: "bulk".into(),
            connection: number,
            client_port: port,
            ..Flow::default()
        };
        if let Some(bytes) = server_reads {
            flow.server.opened_ns = Some(0);
            flow.server.read_bytes = bytes;
        }
        flow
    }

    #[test]
    fn ends_are_paired_by_the_clients_port_else_by_their_number() {
        let text = include_str!("pair_point.json");
        let point: Point = serde_json::from_str(text).unwrap();
        let client = || vec![flow(1000, 0, None), flow(1001, 1, None)];
        let mut warnings = Vec::new();
        // The second connection was accepted first.
        let server = vec![flow(1001, 0, Some(11)), flow(1000, 1, Some(10))];
        let joined = flows(&point, [client(), server], &mut warnings);
        let reads: Vec<u64> = joined.iter().map(|f| f.server.read_bytes).collect();
        assert_eq!(reads, [10, 11]);
        assert!(warnings.is_empty());
        // Somebody between them has changed the ports.
        let server = vec![flow(7, 0, Some(20)), flow(8, 1, Some(21))];
        let joined = flows(&point, [client(), server], &mut warnings);
        let reads: Vec<u64> = joined.iter().map(|f| f.server.read_bytes).collect();
        assert_eq!(reads, [20, 21]);
        assert_eq!(warnings.len(), 1);
    }
}
