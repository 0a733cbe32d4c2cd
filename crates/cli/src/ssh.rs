//! Far hosts: the options that say how ssh gets there, and `tcplab doctor --on ssh:A,B`.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueHint};
use serde::Serialize;
use tcplab_guest::stack::Host;
use tcplab_kernel::ssh::{HostReport, SshError, SshOptions, WayReport, examine, open_all};
use tcplab_os::Stop;
use tcplab_os::say;

use crate::failure::Failure;
use crate::json;
use crate::screen;

/// How ssh gets to far hosts.
#[derive(Args, Debug, Clone, Default)]
pub struct SshArgs {
    /// ssh: use this ssh configuration file (as `ssh -F`)
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub ssh_config: Option<PathBuf>,
    /// ssh: copy this tcplab binary to the hosts [default: the running one]
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub ssh_program: Option<PathBuf>,
}

impl SshArgs {
    /// The same for the library.
    pub fn options(&self) -> SshOptions {
        SshOptions {
            config: self.ssh_config.clone(),
            program: self.ssh_program.clone(),
            sets_sysctls: false,
        }
    }
}

impl From<SshError> for Failure {
    fn from(e: SshError) -> Self {
        match e {
            SshError::Interrupted => Failure::interrupted(e.to_string()),
            SshError::Program { .. } => Failure::input(e.to_string()),
            _ => Failure::cannot_run(e.to_string()),
        }
    }
}

/// The answer of `doctor --on ssh:... --json`.
#[derive(Serialize)]
struct Document {
    schema: &'static str,
    hosts: Vec<HostReport>,
    ways: Vec<WayReport>,
}

/// Examines far hosts.
pub fn doctor(on: &str, args: &SshArgs, json: bool) -> Result<ExitCode, Failure> {
    let Some(words) = on.strip_prefix("ssh:") else {
        return Err(Failure::usage(format!(
            "--on {on}: doctor checks remote hosts; write ssh:A,B, or omit --on to check this machine"
        )));
    };
    let hosts = Host::list(words).map_err(|e| Failure::usage(e.to_string()))?;
    let stop = Stop::on_signals().map_err(|e| Failure::cannot_run(format!("signals: {e}")))?;
    let sessions = open_all(&hosts, &args.options(), &stop, &say)?;
    let (hosts, ways) = examine(&sessions, &stop)?;
    let is_well = ways.iter().all(|way| way.error.is_none());
    if json {
        json::print(&Document {
            schema: crate::doctor::SCHEMA,
            hosts,
            ways,
        })?;
    } else {
        print(&hosts, &ways)?;
    }
    Ok(ExitCode::from(if is_well { 0 } else { 4 }))
}

fn print(hosts: &[HostReport], ways: &[WayReport]) -> io::Result<()> {
    let mut out = screen::plain();
    for report in hosts {
        let facts = &report.facts;
        let model = facts.cpu_model.as_deref().unwrap_or("unknown model");
        writeln!(out, "{}", report.host)?;
        writeln!(
            out,
            "    kernel   Linux {} on {}",
            facts.kernel, facts.machine
        )?;
        writeln!(out, "    cpus     {} ({model})", facts.cpus)?;
        match (report.reached_at, report.facts.address) {
            (Some(at), Some(ssh)) if at == ssh => writeln!(out, "    address  {at} (as ssh uses)")?,
            (Some(at), _) => writeln!(out, "    address  {at}")?,
            (None, _) => writeln!(out, "    address  unknown: write {}=ADDRESS", report.host)?,
        }
        match &facts.no_capture {
            None => writeln!(out, "    capture  yes")?,
            Some(why) => writeln!(out, "    capture  no: {why}")?,
        }
        writeln!(out, "    sockets  {}", facts.congestion.join(" "))?;
        writeln!(
            out,
            "    clock    {:+.3} ms from this machine's, ±{:.3} ms",
            report.clock.offset_ns as f64 / 1e6,
            report.clock.error_ns as f64 / 1e6
        )?;
        writeln!(out, "    tcplab   {}", facts.path)?;
    }
    for way in ways {
        match (&way.error, way.handshake_ns) {
            (Some(error), _) => writeln!(out, "{} to {}: no: {error}", way.from, way.to)?,
            (None, ns) => writeln!(
                out,
                "{} to {}: TCP handshake in {:.3} ms",
                way.from,
                way.to,
                ns.unwrap_or_default() as f64 / 1e6
            )?,
        }
    }
    Ok(())
}
