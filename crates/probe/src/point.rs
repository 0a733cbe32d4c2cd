//! The point of a probe: one end of one application here, on its first host; the second one stands for all others.

use tcplab_base::Duration;
use tcplab_plan::Point;
use tcplab_plan::app::{App, AppKind, Listening, Reading};
use tcplab_plan::point::{Host, SocketOptions};

use super::run::Probe;

/// The host that is here.
pub(super) const HERE: usize = 0;

/// A host.
fn host(name: &str, socket: &SocketOptions) -> Host {
    Host {
        name: name.into(),
        socket: socket.clone(),
        ..Host::default()
    }
}

/// The point; it ends with its applications.
pub(super) fn point(
    probe: &Probe,
    socket: &SocketOptions,
    is_client: bool,
    does: &AppKind,
    port: u16,
) -> Point {
    let timeout_ns = probe.settings.idle_timeout.map(Duration::as_nanos);
    let plain = SocketOptions::default();
    let (client, server) = if is_client { (HERE, 1) } else { (1, HERE) };
    Point {
        experiment: "probe".into(),
        seed: probe.began_unix_ns() as u64,
        hosts: vec![host("here", socket), host("others", &plain)],
        apps: vec![App {
            name: "probe".into(),
            group: None,
            client,
            server,
            port,
            start_ns: 0,
            connections: 1,
            stagger_ns: 0,
            changes: Vec::new(),
            client_socket: plain.clone(),
            server_socket: plain,
            client_timeout_ns: timeout_ns,
            server_timeout_ns: timeout_ns,
            fastopen: false,
            server_connects_ns: None,
            listening: Listening::default(),
            reading: Reading::default(),
            does: does.clone(),
        }],
        max_ns: i64::MAX,
        ..Point::default()
    }
}
