//! What some far hosts can do for a run between them: `tcplab doctor --on ssh:A,B`.

use std::net::SocketAddr;

use serde::Serialize;
use tcplab_os::Stop;

use super::{Facts, Offset, Reply, Request, Session, SshError};

/// One host.
#[derive(Debug, Serialize)]
pub struct HostReport {
    /// As the user named it.
    pub host: String,
    /// What it says of itself.
    #[serde(flatten)]
    pub facts: Facts,
    /// By which the others reach it.
    pub reached_at: Option<std::net::IpAddr>,
    /// Its clock, seen from here.
    pub clock: Offset,
}

/// From one host to another.
#[derive(Debug, Serialize)]
pub struct WayReport {
    /// Who connects.
    pub from: String,
    /// Whom.
    pub to: String,
    /// The shortest of some TCP handshakes, in nanoseconds.
    pub handshake_ns: Option<i64>,
    /// Why the handshake failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What hosts are, and whether each one reaches each other one.
///
/// # Errors
/// A connection that goes away; the user wants an end.
pub fn examine(
    sessions: &[Session],
    stop: &Stop,
) -> Result<(Vec<HostReport>, Vec<WayReport>), SshError> {
    let mut hosts = Vec::new();
    for session in sessions {
        hosts.push(HostReport {
            host: session.host.word.clone(),
            facts: session.facts.clone(),
            reached_at: session.address(),
            clock: session.clock(stop)?,
        });
    }
    let mut ways = Vec::new();
    for (a, from) in sessions.iter().enumerate() {
        for (b, to) in sessions.iter().enumerate() {
            if a == b {
                continue;
            }
            let (handshake_ns, error) = match way(from, to, stop) {
                Ok(ns) => (Some(ns), None),
                Err(e @ SshError::Far { .. }) => (None, Some(e.to_string())),
                Err(e) => return Err(e),
            };
            ways.push(WayReport {
                from: from.host.word.clone(),
                to: to.host.word.clone(),
                handshake_ns,
                error,
            });
        }
    }
    Ok((hosts, ways))
}

/// Duration of a TCP handshake, in nanoseconds.
///
/// # Errors
/// [`SshError::Far`] when the handshake fails.
pub fn way(from: &Session, to: &Session, stop: &Stop) -> Result<i64, SshError> {
    let address = to.need_address()?;
    let mut listener = to.start(&Request::Listen { address });
    let first = listener.next(stop).map_err(|e| match e {
        SshError::Far { host, words } => {
            let way_out =
                format!("write {host}=ADDRESS, the address by which the other host reaches it");
            SshError::far(&host, format!("{words}; {way_out}"))
        }
        e => e,
    })?;
    let Reply::Listening(port) = first.reply else {
        return Err(to.odd(&first.reply));
    };
    let request = Request::Reach {
        to: SocketAddr::new(address, port),
    };
    match from.call(&request, stop) {
        Ok(Reply::Reached { handshake_ns }) => Ok(handshake_ns),
        Ok(other) => Err(from.odd(&other)),
        Err(SshError::Far { host, words }) => {
            let to = &to.host.word;
            let way_out = format!(
                "does a firewall block it, or does {to} have another address ({to}=ADDRESS)?"
            );
            Err(SshError::far(&host, format!("{words}; {way_out}")))
        }
        Err(e) => Err(e),
    }
}
