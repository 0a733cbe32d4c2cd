//! The point of a probe: one end of one application here, on its first host; the second one stands for all others.

use tcplab_base::Duration;
use tcplab_plan::Point;
use tcplab_plan::app::{App, AppKind};
use tcplab_plan::point::{Host, Offload, Route, SocketOptions};

use super::run::Probe;

/// The host that is here.
pub(super) const HERE: usize = 0;

/// A host without settings of its own.
pub(super) fn host(name: &str, socket: &SocketOptions) -> Host {
    Host {
        name: name.into(),
        sysctl: Default::default(),
        route: Route::default(),
        socket: socket.clone(),
        offload: Offload::None,
        card: None,
        forward: false,
        group: None,
        profile: None,
        behaviour: Default::default(),
    }
}

/// An application, and the host that its end is on; it ends by itself or with whoever asked for it.
pub(super) fn point(
    probe: &Probe,
    here: Host,
    is_client: bool,
    does: &AppKind,
    (port, connections): (u16, u32),
) -> Point {
    let timeout_ns = probe.settings.idle_timeout.map(Duration::as_nanos);
    Point {
        experiment: "probe".into(),
        axes: Default::default(),
        seed: probe.began_unix_ns() as u64,
        hosts: vec![here, host("others", &SocketOptions::default())],
        links: Vec::new(),
        apps: vec![App {
            name: "probe".into(),
            group: None,
            client: if is_client { HERE } else { 1 },
            server: if is_client { 1 } else { HERE },
            port,
            start_ns: 0,
            connections,
            stagger_ns: 0,
            client_socket: SocketOptions::default(),
            server_socket: SocketOptions::default(),
            client_timeout_ns: timeout_ns,
            server_timeout_ns: timeout_ns,
            does: does.clone(),
        }],
        sets: Vec::new(),
        boot_ns: None,
        linger_ns: 0,
        max_ns: i64::MAX,
        tcp_info_every_ns: None,
        link_every_ns: None,
        max_events: None,
        snap_bytes: 0,
        captures: false,
        tcp_info: false,
        log: false,
        tolerate: Vec::new(),
    }
}
