//! `tcplab probe`: the applications live. The work is in the crate `kernel`; this module translates
//! the command line, and turns results into text or JSON.

mod app;
pub mod args;
pub mod json;
pub mod number;
mod sizes;
mod via;

use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use tcplab_os::{Stop, say};
use tcplab_plan::AppKind;
use tcplab_plan::pair::{EchoClient, EchoServer, Pair, StreamClient, StreamServer};
use tcplab_plan::point::{QuickAck, SocketOptions};
use tcplab_probe::via::{self as endpoint, Via};
use tcplab_probe::{
    Ended, Error, Listen, Probe, Report, Service, Settings, Target, driver, quickack_default,
};

use crate::failure::Failure;
use crate::json::print_line;
use crate::probe::app::AppName;
use crate::probe::args::{
    AppClientArgs, AppServerArgs, ClientCommon, Common, EchoClientArgs, EchoServerArgs, ProbeArgs,
    ServerCommon, StreamClientArgs, StreamServerArgs, Which,
};
use crate::screen;

/// Runs a probe.
pub fn main(args: &ProbeArgs) -> ExitCode {
    let common = match &args.which {
        Which::QuickackDefault { json } => return quickack(*json),
        Which::EchoServer(a) => &a.server.common,
        Which::EchoClient(a) => &a.client.common,
        Which::StreamServer(a) => &a.server.common,
        Which::StreamClient(a) => &a.client.common,
        Which::Server(a) => &a.server.common,
        Which::Client(a) => &a.client.common,
    };
    match live(&args.which, common) {
        Ok(code) => code,
        Err(failure) => refuse(failure, common.json),
    }
}

/// A failure before anything was found.
fn refuse(failure: Failure, json: bool) -> ExitCode {
    let code = failure.report();
    if json {
        json::empty_document(failure);
    }
    code
}

fn quickack(json: bool) -> ExitCode {
    let report = match quickack_default() {
        Ok(report) => report,
        Err(e) => return refuse(Failure::cannot_run(e.to_string()), json),
    };
    let value = report.quickack_default.unwrap_or_default();
    let document = json::Document {
        report,
        error: None,
    };
    let printed = match json {
        true => print_line(&document),
        false => writeln!(screen::plain(), "TCP_QUICKACK of a new socket: {value}")
            .map_err(Failure::from),
    };
    printed.map_or_else(|e| e.report(), |()| ExitCode::SUCCESS)
}

/// Runs the probe, then prints what it found.
fn live(which: &Which, common: &Common) -> Result<ExitCode, Failure> {
    let work = Work::of(which)?;
    let stop = Stop::on_signals()
        .map_err(|e| Failure::cannot_run(format!("cannot wait for Ctrl-C: {e}")))?;
    let settings = Settings {
        probe: work.name(),
        arguments: std::env::args_os()
            .skip_while(|word| *word != "probe")
            .skip(1)
            .map(|word| word.to_string_lossy().into_owned())
            .collect(),
        keeps_log: common.json,
        shows_date: common.absolute,
        looks: !common.no_looks,
        log_lines: common.log_lines,
        tcp_info_every: common.tcp_info_every.map(span),
        idle_timeout: which.idle_timeout().map(span),
        lasts: which.lasts().map(span),
        has_trend: which.has_trend(),
        signal_pause: which.signal_pause().map(span),
        wants_answers: work.wants_answers(),
    };
    let probe = Probe::begin(settings, stop, Box::new(screen::text(io::stdout())));
    let done = work.run(&probe);
    let report = probe.end()?;
    let failure = match done {
        Ok(ended) => work.verdict(ended, &report),
        Err(e) if e.is_elsewhere() => Some(Failure::inconclusive(e.to_string())),
        Err(e) if e.is_input() => Some(Failure::input(e.to_string())),
        Err(e) => Some(Failure::cannot_run(e.to_string())),
    };
    let code = failure.as_ref().map_or(ExitCode::SUCCESS, Failure::report);
    if common.json {
        print_line(&json::Document {
            report,
            error: failure,
        })?;
    } else if !report.connections.is_empty() {
        tcplab_probe::summary::write(&report, &mut screen::plain())?;
    }
    Ok(code)
}

/// What is to be done.
enum Work {
    Server(Service, AppKind, Option<Via>),
    Client(Target, SocketOptions, AppKind, Option<Via>),
}

impl Work {
    fn of(which: &Which) -> Result<Self, Failure> {
        Ok(match which {
            Which::EchoServer(args) => echo_server(args),
            Which::EchoClient(args) => echo_client(args),
            Which::StreamServer(args) => stream_server(args),
            Which::StreamClient(args) => stream_client(args),
            Which::Server(args) => app_server(args)?,
            Which::Client(args) => app_client(args)?,
            Which::QuickackDefault { .. } => return Err(Failure::usage("nothing to run")),
        })
    }

    fn name(&self) -> String {
        match self {
            Self::Server(_, AppKind::Pair(pair), _)
            | Self::Client(_, _, AppKind::Pair(pair), _) => pair.word().into(),
            Self::Server(_, app, _) => format!("server {}", app.word()),
            Self::Client(_, _, app, _) => format!("client {}", app.word()),
        }
    }

    /// Whether each datagram that it sends is to be answered.
    fn wants_answers(&self) -> bool {
        matches!(
            self,
            Self::Client(_, _, AppKind::UdpRr { .. } | AppKind::Ping { .. }, _)
        )
    }

    /// Runs to the end; a server has no end of its own.
    fn run(&self, probe: &Probe) -> Result<Option<Ended>, Error> {
        match self {
            Self::Server(service, app, via) => match via {
                None => driver::server(probe, service, app),
                Some(via) => endpoint::server(probe, service, app, via),
            }
            .map(|()| None),
            Self::Client(target, socket, app, via) => match via {
                None => driver::client(probe, target, socket, app),
                Some(via) => endpoint::client(probe, target, socket, app, via),
            }
            .map(Some),
        }
    }

    /// Whether a client came to its end; a server's normal end is Ctrl-C. Clients that the server ends are done when it closes.
    fn verdict(&self, ended: Option<Ended>, report: &Report) -> Option<Failure> {
        let server_ends = matches!(
            self,
            Self::Client(
                _,
                _,
                AppKind::Stream { .. }
                    | AppKind::Bulk { reverse: true, .. }
                    | AppKind::Pair(Pair::StreamClient(_)),
                _,
            )
        );
        let (name, completed) = (self.name(), report.completed);
        let ended = ended?;
        if let Self::Client(_, _, app, _) = self
            && let Some(why) = sizes::mismatch(app, ended, report)
        {
            return Some(Failure::inconclusive(format!("{name}: {why}")));
        }
        let why = match ended {
            Ended::Finished if report.unanswered > 0 && completed == 0 => {
                let sent = report.unanswered;
                return Some(Failure::inconclusive(format!(
                    "{name}: none of {sent} datagrams was answered"
                )));
            }
            Ended::Finished | Ended::Time => return None,
            // A client has an end of its own, which it did not reach.
            Ended::Interrupted => {
                return Some(Failure::interrupted(format!(
                    "{name}: interrupted after {completed} completed"
                )));
            }
            Ended::Peer if server_ends => return None,
            Ended::Peer => "the server closed the connection".to_owned(),
            Ended::Reset => "the server reset the connection".to_owned(),
            Ended::Error => {
                let error = report.connections.last().and_then(|c| c.error.as_deref());
                let why = error.unwrap_or("the connection failed");
                return Some(Failure::inconclusive(format!(
                    "{name}: {why} after {completed} completed"
                )));
            }
        };
        Some(Failure::inconclusive(format!(
            "{name}: {why} after {completed} completed; does the peer run the same application with the same sizes?"
        )))
    }
}

fn echo_server(args: &EchoServerArgs) -> Work {
    let socket = SocketOptions {
        nodelay: args.nodelay.then_some(true),
        quickack: match args.quickack {
            true => QuickAck::Each(1),
            false => QuickAck::Leave,
        },
        ..SocketOptions::default()
    };
    let does = Pair::EchoServer(EchoServer {
        read: args.read,
        write: args.write,
    });
    Work::Server(service(&args.server, socket), AppKind::Pair(does), None)
}

fn echo_client(args: &EchoClientArgs) -> Work {
    let does = Pair::EchoClient(EchoClient {
        write: args.write,
        read: args.read,
        count: args.count,
        pause: span(args.pause),
        // As in the public program.
        quickack: Some(args.quickack).filter(|value| *value != -1),
    });
    pair_client(&args.client, SocketOptions::default(), does)
}

fn stream_server(args: &StreamServerArgs) -> Work {
    let socket = SocketOptions {
        nodelay: args.nodelay.then_some(true),
        sndbuf: args.sndbuf,
        ..SocketOptions::default()
    };
    let does = Pair::StreamServer(StreamServer {
        write: args.write,
        pause: span(args.pause),
        rate: args.rate.or(args.bit_rate),
        quickack: args.quickack.then_some(1),
    });
    Work::Server(service(&args.server, socket), AppKind::Pair(does), None)
}

fn stream_client(args: &StreamClientArgs) -> Work {
    let socket = SocketOptions {
        rcvbuf: args.rcvbuf,
        rcvlowat: args.rcvlowat,
        ..SocketOptions::default()
    };
    let does = Pair::StreamClient(StreamClient {
        read: args.read,
        is_one_read: args.rcvlowat.is_some(),
        pause: span(args.pause),
    });
    pair_client(&args.client, socket, does)
}

fn pair_client(args: &ClientCommon, socket: SocketOptions, does: Pair) -> Work {
    let socket = SocketOptions {
        cpu: args.cpu,
        ..socket
    };
    Work::Client(args.target(), socket, AppKind::Pair(does), None)
}

fn app_server(args: &AppServerArgs) -> Result<Work, Failure> {
    if args.kind == AppName::Ping {
        return Err(Failure::usage(
            "ping has no server: the host's kernel answers; `tcplab probe client ping HOST`",
        ));
    }
    let app = args.app.describe(args.kind)?;
    let socket = args.app.socket(None);
    let via = args.via.describe()?;
    Ok(Work::Server(service(&args.server, socket), app, via))
}

fn app_client(args: &AppClientArgs) -> Result<Work, Failure> {
    let app = args.app.describe(args.kind)?;
    if let Some(text) = args.app.servers_own(args.kind) {
        say(&text);
    }
    let socket = args.app.socket(args.client.cpu);
    let via = args.via.describe()?;
    Ok(Work::Client(args.client.target(), socket, app, via))
}

fn service(args: &ServerCommon, socket: SocketOptions) -> Service {
    let listen: Listen = args.listen();
    Service {
        listen,
        socket: SocketOptions {
            cpu: args.cpu,
            ..socket
        },
        clients: args.clients,
    }
}

/// A time of the command line in the lab's words.
fn span(t: Duration) -> tcplab_base::Duration {
    tcplab_base::Duration::from_nanos(i64::try_from(t.as_nanos()).unwrap_or(i64::MAX))
}
