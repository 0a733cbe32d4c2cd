//! Settings of links and hosts that change during a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tcplab_qdisc::{Kind, Settings};

use super::{Direction, Point, QuickAck, SocketOptions};

/// New settings of one way from a time of the run on. A setting that is left out stays as it was.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// When, after the run's start.
    pub at_ns: i64,
    /// Bits a second of Ethernet frames.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<u64>,
    /// Delay of each frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ns: Option<i64>,
    /// The delay's jitter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter_ns: Option<i64>,
    /// Frames that the FIFO holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit_pkts: Option<u32>,
    /// Chance of each frame to be lost, in parts per billion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_ppb: Option<u32>,
    /// The qdisc in front of the wire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub queue: Option<Settings>,
}

/// A sysctl of a host that is set at a time of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SysctlChange {
    /// When, after the run's start.
    pub at_ns: i64,
    /// The sysctl's name.
    pub name: String,
    /// Its new value.
    pub value: String,
}

/// Options that are set on the sockets of one side of an application at a time of the run: those that are open then.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SocketChange {
    /// When, after the run's start.
    pub at_ns: i64,
    /// Of the clients' sockets, else of the servers'.
    pub of_clients: bool,
    /// The options; those that are left out stay.
    pub options: SocketOptions,
}

impl SocketChange {
    /// Why a socket that is open cannot take these options, if it cannot.
    pub fn unchangeable(&self) -> Option<&'static str> {
        let options = &self.options;
        let told_at_open = [
            (
                options.maxseg.is_some(),
                "`maxseg` is told when a connection opens",
            ),
            (
                options.syncnt.is_some(),
                "`syncnt` counts SYNs, when a connection opens",
            ),
            (
                options.cpu.is_some(),
                "`cpu` is the application's, for the whole run",
            ),
            (
                matches!(options.quickack, QuickAck::Each(_)),
                "`quickack = \"each N\"` is what the application does; write `quickack = N`",
            ),
        ];
        if let Some((_, why)) = told_at_open.iter().find(|(is_said, _)| *is_said) {
            return Some(why);
        }
        (*options == SocketOptions::default()).then_some("says no option")
    }
}

impl Change {
    /// The settings of a way after it.
    #[must_use]
    pub fn of(&self, way: &Direction) -> Direction {
        if let Some(limit) = self.limit_of_fifo(way) {
            let same = Self {
                limit_pkts: Some(limit),
                queue: None,
                ..self.clone()
            };
            return same.of(way);
        }
        Direction {
            rate_bps: self.rate_bps.or(way.rate_bps),
            delay_ns: self.delay_ns.unwrap_or(way.delay_ns),
            jitter_ns: self.jitter_ns.unwrap_or(way.jitter_ns),
            limit_pkts: self.limit_pkts.unwrap_or(way.limit_pkts),
            loss_ppb: self.loss_ppb.unwrap_or(way.loss_ppb),
            queue: self.queue.clone().or_else(|| way.queue.clone()),
            ..way.clone()
        }
    }

    /// A `pfifo` is what the wire's own FIFO is: the new one is the same with another limit, as for `tc qdisc change`.
    fn limit_of_fifo(&self, way: &Direction) -> Option<u32> {
        let Kind::Pfifo(pfifo) = self.queue.as_ref()?.kind() else {
            return None;
        };
        let is_pfifo = way.queue.is_none() && way.limit_bytes.is_none();
        is_pfifo.then(|| pfifo.limit_pkts().max(1))
    }
}

/// A table of socket options: of a host, of an application from the beginning, or set later.
#[derive(Clone, Copy, Debug)]
pub struct SocketTable<'a> {
    /// `host` or `app`, and its name.
    pub of: (&'static str, &'a str),
    /// `socket`, `client_socket`, `server_socket`, `client_change` or `server_change`.
    pub table: &'static str,
    /// The host that has the socket.
    pub host: usize,
    /// What is set.
    pub options: &'a SocketOptions,
}

impl SocketTable<'_> {
    /// The place of one of its keys.
    pub fn place(&self, key: &str) -> String {
        let (kind, name) = self.of;
        format!("{kind}.{name}.{}.{key}", self.table)
    }
}

impl Point {
    /// All socket options, those of hosts first.
    pub fn socket_tables(&self) -> impl Iterator<Item = SocketTable<'_>> {
        let of_hosts = self.hosts.iter().enumerate().map(|(at, host)| SocketTable {
            of: ("host", &host.name),
            table: "socket",
            host: at,
            options: &host.socket,
        });
        let of_apps = self.apps.iter().flat_map(|app| {
            let of = |table, host, options| SocketTable {
                of: ("app", &app.name),
                table,
                host,
                options,
            };
            let ends = [
                of("client_socket", app.client, &app.client_socket),
                of("server_socket", app.server, &app.server_socket),
            ];
            let later = app
                .changes
                .iter()
                .map(move |change| match change.of_clients {
                    true => of("client_change", app.client, &change.options),
                    false => of("server_change", app.server, &change.options),
                });
            ends.into_iter().chain(later)
        });
        of_hosts.chain(of_apps)
    }
}
