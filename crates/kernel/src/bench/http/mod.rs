//! HTTP/1.1 with and without TLS: one client with many connections at once, against nginx or our own server.
//!
//! The two ends know each other by an address only. The server end ([`serve`]) listens where its task says, tells on
//! its standard output where that is and who serves ([`Ready`]), and ends when its standard input does. The client end
//! gets the address. [`run`] is both of them on this machine.

mod answer;
mod channel;
mod client;
mod nginx;
mod own;
mod request;
mod run;
mod spent;
mod tls;

use std::fs::File;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::time::Duration;

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde::{Deserialize, Serialize};
use socket2::{Domain, Protocol, Socket, Type};

use super::Spec;
use super::end::Task;
use super::measure::EndReport;
use super::phase::Phase;

pub(super) use nginx::{EXEC, exec};
pub(super) use run::{Serving, run};

/// Connections that wait for a server.
const BACKLOG: i32 = 4_096;

/// What HTTP workloads are run with; others do not look at it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Http {
    /// Connections at once.
    pub connections: u32,
    /// Who serves.
    pub server: Server,
    /// Whether later connections resume the TLS session of an earlier one (RFC 8446 2.2); else each handshake is whole.
    pub resume: bool,
}

impl Default for Http {
    fn default() -> Self {
        Self {
            connections: 16,
            server: Server::Own,
            resume: false,
        }
    }
}

/// Who serves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Server {
    /// This executable.
    Own,
    /// nginx.
    Nginx {
        /// The program.
        program: std::path::PathBuf,
        /// What it says of itself: `nginx/1.22.1`.
        version: String,
    },
}

impl Server {
    /// The nginx of this machine, if there is one.
    pub fn nginx() -> Option<Self> {
        nginx::find()
    }

    /// Tool and version, as runs tell it.
    pub fn tool(&self) -> String {
        match self {
            Self::Own => concat!("tcplab/", env!("CARGO_PKG_VERSION")).into(),
            Self::Nginx { version, .. } => version.clone(),
        }
    }
}

/// What a server end says when it serves: a line of JSON on its standard output.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Ready {
    /// Where clients connect.
    address: SocketAddr,
}

impl Ready {
    /// Says it.
    fn say(address: SocketAddr) -> io::Result<()> {
        let mut line = serde_json::to_string(&Self { address })?;
        line.push('\n');
        let mut out = io::stdout().lock();
        out.write_all(line.as_bytes())?;
        out.flush()
    }
}

/// An end: asks or serves, and writes its report.
pub(super) fn end(task: &Task, mut file: File) -> io::Result<()> {
    more_descriptors();
    let report = match (task.is_client, &task.spec.http.server) {
        (true, _) => client::client(task, &phase(&task.spec)?)?,
        (false, server) => serve(task, server)?,
    };
    file.write_all(serde_json::to_string(&report)?.as_bytes())
}

fn serve(task: &Task, server: &Server) -> io::Result<EndReport> {
    let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let listener = listen(task.server.unwrap_or(any), task.spec.congestion.as_deref())?;
    let mut report = match server {
        Server::Own => own::serve(task, listener)?,
        Server::Nginx { program, version } => {
            let nginx = nginx::Nginx {
                program,
                version,
                folder: task.report.parent().unwrap_or(Path::new(".")),
            };
            nginx.serve(&task.spec, listener)?
        }
    };
    report.tool = server.tool();
    Ok(report)
}

fn listen(at: SocketAddr, congestion: Option<&str>) -> io::Result<TcpListener> {
    let wrong = |e: io::Error| io::Error::other(format!("cannot listen on {at}: {e}"));
    let socket = Socket::new(Domain::for_address(at), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    if let Some(name) = congestion {
        let set = socket.set_tcp_congestion(name.as_bytes());
        set.map_err(|e| {
            io::Error::other(format!("cannot use the congestion control {name}: {e}"))
        })?;
    }
    socket.bind(&at.into()).map_err(wrong)?;
    socket.listen(BACKLOG).map_err(wrong)?;
    Ok(socket.into())
}

/// Its time begins now.
fn phase(spec: &Spec) -> io::Result<Phase> {
    let [warm, time] = spans(spec);
    Phase::start(warm, time)
}

/// The times before it counts and in which it does.
fn spans(spec: &Spec) -> [Duration; 2] {
    [spec.warm_ns, spec.time_ns].map(|ns| Duration::from_nanos(ns.unsigned_abs()))
}

/// As many as this process may have: a connection is one.
fn more_descriptors() {
    if let Ok((_, most)) = getrlimit(Resource::RLIMIT_NOFILE) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, most, most);
    }
}
