//! What an endpoint tells: lines while it works, the report at its end.

use std::net::SocketAddr;

use tcplab_livelink::End;
use tcplab_os::tcp_info;
use tcplab_plan::outcome::{End as Outcome, LogLine as Step, TCP_INFO_SERIES};
use tcplab_sim::{Live, LiveFlow};
use tcplab_tcp::Addr;

use super::Via;
use super::frames::Frames;
use super::point::{HOST, Role};
use crate::report::{Connection, Ended, LogLine, Sample, Traffic, ViaReport, What};
use crate::run::Probe;

/// Says what the connections do.
pub(super) struct Teller<'a> {
    probe: &'a Probe,
    role: Role,
    /// With the frames that went by.
    pub(super) via: ViaReport,
    /// As `uname` would say.
    kernel: String,
    /// Flows that have begun and not ended.
    open: Vec<usize>,
    /// The first flow that is yet to begin.
    next: usize,
    /// Steps of the applications are logged.
    logs: bool,
    /// Lines of the flows that have ended.
    logged: u64,
}

impl<'a> Teller<'a> {
    pub(super) fn new(probe: &'a Probe, role: Role, device: &End, name: &str, via: &Via) -> Self {
        let (ip, prefix) = via.address;
        Self {
            probe,
            role,
            via: ViaReport {
                device: device.to_string(),
                address: format!("{ip}/{prefix}"),
                profile: name.into(),
                ..ViaReport::default()
            },
            kernel: format!("tcplab's own TCP, profile {name}"),
            open: Vec::new(),
            next: 0,
            logs: probe.settings.keeps_log && probe.settings.log_lines > 0,
            logged: 0,
        }
    }

    /// Says that the endpoint is there.
    pub(super) fn begins(&self) {
        let (address, device) = (&self.via.address, &self.via.device);
        let words = match self.role {
            Role::Server { port, .. } => {
                format!("listening on {address} port {port} behind {device}, until Ctrl-C")
            }
            Role::Client { server, port } => {
                let server = SocketAddr::new(server, port);
                format!("{address} behind {device} connects to {server}")
            }
        };
        self.probe.say(&words);
        if self.probe.settings.keeps_log && matches!(self.role, Role::Server { .. }) {
            tcplab_os::say(&format!("tcplab: {words}"));
        }
    }

    /// Says what has become of the flows since it was called last.
    pub(super) fn tell(&mut self, live: &mut Live, frames: &Frames) {
        while self.has_begun(live, self.next) {
            let flow = self.next;
            let what = match self.role {
                Role::Server { .. } => "accepted",
                Role::Client { .. } => "connected",
            };
            if self.probe.may_log() {
                let Connection { local, remote, .. } = self.connection(live, frames, flow);
                let words = format!("#{flow:<2} {what} {local} to {remote}");
                self.probe.say(&words);
            }
            self.open.push(flow);
            self.next += 1;
        }
        let mut open = std::mem::take(&mut self.open);
        open.retain(|&flow| {
            let mut connection = self.connection(live, frames, flow);
            let is_over = (live.flow(flow)).is_some_and(|f| f.ended.closed_ns.is_some());
            if is_over {
                if !self.probe.settings.keeps_log {
                    self.probe.close(&mut connection);
                }
                self.logged += log_lines(live, flow);
            }
            !is_over
        });
        self.open = open;
        if self.logs {
            self.bound_log(live);
        }
    }

    /// The log ends where `--log-lines` says.
    fn bound_log(&mut self, live: &mut Live) {
        let open = self.open.iter().map(|&flow| log_lines(live, flow));
        let limit = self.probe.settings.log_lines;
        if self.logged + open.sum::<u64>() >= limit {
            live.stop_log();
            self.logs = false;
            self.probe.warn(format!(
                "the log ends after {limit} lines (--log-lines N raises the limit)"
            ));
        }
    }

    /// The report, and how the last flow ended.
    pub(super) fn ends(mut self, mut live: Live, frames: &Frames, interrupted: bool) -> Ended {
        self.tell(&mut live, frames);
        let flows = 0..self.next;
        let mut connections: Vec<Connection> = flows
            .map(|flow| self.connection(&live, frames, flow))
            .collect();
        let refused = live.refused();
        if refused > 0 {
            self.probe.warn(format!(
                "{refused} more clients were closed at once: an endpoint of --via serves at most 10,000, or --clients"
            ));
        }
        let is_server = matches!(self.role, Role::Server { .. });
        let failed = match live.flow(0) {
            // The connection never stood.
            Some(flow) if self.next == 0 && !is_server => flow.ended.error.map(str::to_owned),
            _ => None,
        };
        let mut outcome = live.finish();
        for warning in std::mem::take(&mut outcome.warnings) {
            self.probe.warn(warning);
        }
        for (connection, flow) in connections.iter_mut().zip(outcome.flows) {
            let end = match is_server {
                true => flow.server,
                false => flow.client,
            };
            complete(connection, end);
        }
        let last = match (connections.last(), failed) {
            _ if interrupted => Ended::Interrupted,
            (Some(last), _) => last.ended,
            (None, Some(error)) => {
                connections.push(Connection {
                    ended: Ended::Error,
                    error: Some(error),
                    ..Connection::default()
                });
                Ended::Error
            }
            (None, None) => Ended::Finished,
        };
        for connection in connections {
            self.probe.add(connection);
        }
        let counters = outcome.counters.remove(HOST).unwrap_or_default();
        self.probe.stands_for(self.via, self.kernel, counters);
        last
    }

    fn has_begun(&self, live: &Live, flow: usize) -> bool {
        live.flow(flow).is_some_and(|f| f.ended.opened_ns.is_some())
    }

    /// A flow as it stands.
    fn connection(&self, live: &Live, frames: &Frames, number: usize) -> Connection {
        let Some(flow) = live.flow(number) else {
            return Connection::default();
        };
        let (local, remote) = self.ends_of(live, number);
        let now = self.probe.now().as_nanos();
        Connection {
            number: number as u32,
            local: frames.words(local),
            remote: frames.words(remote),
            opened_ns: flow.ended.opened_ns.unwrap_or(now),
            closed_ns: flow.ended.closed_ns.unwrap_or(now),
            ended: how(&flow),
            error: flow.ended.error.map(str::to_owned),
            traffic: Traffic {
                read_bytes: flow.read_bytes,
                written_bytes: flow.written_bytes,
                ..Traffic::default()
            },
            ..Connection::default()
        }
    }

    /// The endpoint's end of a flow, and the other one.
    fn ends_of(&self, live: &Live, flow: usize) -> (Addr, Addr) {
        let ours = |port| Addr { host: 0, port };
        match self.role {
            Role::Server { port, .. } => {
                let found = live.clients().iter().find(|(n, _)| *n as usize == flow);
                (ours(port), found.map_or(Addr::default(), |(_, addr)| *addr))
            }
            Role::Client { port, .. } => (ours(live.client_port(flow)), Addr { host: 1, port }),
        }
    }
}

fn log_lines(live: &Live, flow: usize) -> u64 {
    live.flow(flow).map_or(0, |flow| flow.log_lines as u64)
}

/// Why a flow ended.
fn how(flow: &LiveFlow<'_>) -> Ended {
    match flow.ended.error {
        Some("ECONNRESET") => Ended::Reset,
        Some(_) => Ended::Error,
        None if flow.peer_was_first => Ended::Peer,
        None => Ended::Finished,
    }
}

/// Adds what is only known at the end.
fn complete(connection: &mut Connection, end: Outcome) {
    connection.completed = end.completed;
    connection.latency_ns = end.latency_ns;
    for (time_ns, values) in end.tcp_info_series {
        let fields = TCP_INFO_SERIES.into_iter().zip(values).collect();
        connection.tcp_info.push(Sample { time_ns, fields });
    }
    let known = end.tcp_info;
    if !known.is_empty() {
        let field = |name: &'static str| known.get(name).map(|value| (name, *value));
        let fields = tcp_info::names().filter_map(field).collect();
        connection.tcp_info.push(Sample {
            time_ns: connection.closed_ns,
            fields,
        });
    }
    connection.log = end.log.iter().filter_map(line).collect();
}

/// A step of the application in the words of a probe.
fn line(step: &Step) -> Option<LogLine> {
    let (what, has_value) = match step.what.as_str() {
        "connected" => (What::Connect, false),
        "accept" => (What::Accept, false),
        "readable" => (What::ReadStart, false),
        "read" => (What::ReadEnd, true),
        "write" => (What::Write, true),
        "shutdown" => (What::Shutdown, false),
        "close" => (What::Close, false),
        "error" => (What::Error, true),
        _ => return None,
    };
    Some(LogLine {
        time_ns: step.time_ns,
        what,
        value: has_value.then_some(step.value),
        quickack: step.quickack.and_then(|n| i32::try_from(n).ok()),
        quick: step.quick,
        pingpong: step.pingpong,
        ..LogLine::default()
    })
}
