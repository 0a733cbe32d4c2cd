//! The applications of a point: their ends, listeners, and which of them have ended.

use std::collections::BTreeMap;

use tcplab_apps::{Doing, Program};
use tcplab_plan::Point;
use tcplab_plan::outcome::Flow;
use tcplab_plan::point::SocketOptions;
use tcplab_tcp::ListenId;

use crate::end::{End, Watch};

/// What all connections of one application share.
#[derive(Debug)]
pub(crate) struct Application {
    pub(crate) client_options: SocketOptions,
    pub(crate) server_options: SocketOptions,
    /// The first one of its ends.
    first: u32,
    /// The servers' host.
    host: usize,
    /// Its listener, and whether that waits in the list of what is ready.
    pub(crate) listener: Option<ListenId>,
    pub(crate) is_ready: bool,
    /// The client's end of each client port.
    pub(crate) ports: BTreeMap<u16, u32>,
}

/// All applications of a run. Ends 2n and 2n + 1 are the client and the server of flow n.
#[derive(Debug, Default)]
pub(crate) struct Applications {
    pub(crate) ends: Vec<End>,
    pub(crate) all: Vec<Application>,
    /// The client's port of each flow; 0: it has none yet.
    ports: Vec<u16>,
    /// Ends that the run waits for.
    pending: usize,
}

impl Applications {
    pub(crate) fn new(point: &Point) -> Self {
        let flows = point.apps.iter().map(|app| app.connections as usize).sum();
        let mut apps = Self {
            ends: Vec::with_capacity(2 * flows),
            ports: Vec::with_capacity(flows),
            ..Self::default()
        };
        for (index, app) in point.apps.iter().enumerate() {
            let options = |own: &SocketOptions, host: usize| own.or(&point.hosts[host].socket);
            apps.all.push(Application {
                client_options: options(&app.client_socket, app.client),
                server_options: options(&app.server_socket, app.server),
                first: apps.ends.len() as u32,
                host: app.server,
                listener: None,
                is_ready: false,
                ports: BTreeMap::new(),
            });
            let (index, udp) = (index as u32, app.does.is_udp());
            let client = Program::client(&app.does);
            let server = Program::server(&app.does).seeded(point.seed);
            for _ in 0..app.connections {
                apps.ends.push(End::new(index, true, client.clone(), udp));
                apps.ends.push(End::new(index, false, server.clone(), udp));
                apps.ports.push(0);
                apps.pending += 1;
            }
        }
        apps
    }

    /// The first client's end of an application.
    pub(crate) fn first(&self, app: usize) -> usize {
        self.all[app].first as usize
    }

    pub(crate) fn options(&self, end: &End) -> &SocketOptions {
        let app = &self.all[end.app as usize];
        match end.is_client {
            true => &app.client_options,
            false => &app.server_options,
        }
    }

    /// The application whose listener at a host has connections, unless it waits in the list of what is ready; it
    /// does from now on.
    pub(crate) fn listens(&mut self, host: usize, listener: ListenId) -> Option<u32> {
        let mut all = self.all.iter_mut().enumerate();
        let (number, app) = all.find(|(_, a)| a.host == host && a.listener == Some(listener))?;
        (!std::mem::replace(&mut app.is_ready, true)).then_some(number as u32)
    }

    /// Something happened to the socket of an end. True: it joins the list of what is ready.
    #[inline]
    pub(crate) fn is_touched(&mut self, index: usize) -> bool {
        let end = &mut self.ends[index];
        !matches!(end.watch, Watch::Absent | Watch::Nothing)
            && !std::mem::replace(&mut end.is_ready, true)
    }

    /// Remembers the port that the client of this flow has got.
    pub(crate) fn has_port(&mut self, end: usize, port: u16) {
        let app = &mut self.all[self.ends[end].app as usize];
        app.ports.insert(port, end as u32);
        if let Some(first) = self.ports.get_mut(end / 2).filter(|first| **first == 0) {
            *first = port;
        }
    }

    /// The port that the client of a flow has got first; 0: none yet.
    pub(crate) fn port(&self, flow: usize) -> u16 {
        self.ports.get(flow).copied().unwrap_or(0)
    }

    /// Whether the run goes on for the sake of this end: clients until they are over, servers once
    /// they were reached.
    #[inline]
    fn waits(&self, index: usize) -> bool {
        let end = &self.ends[index];
        match end.is_client {
            true => end.doing != Doing::Over,
            false => !end.is_udp && !matches!(end.doing, Doing::Over | Doing::Nothing),
        }
    }

    /// An end did something: the run may wait for it from now on, or not any more.
    #[inline]
    pub(crate) fn changed(&mut self, index: usize) {
        let waits = self.waits(index);
        if waits != self.ends[index].is_awaited {
            self.is_awaited(index, waits);
        }
    }

    #[cold]
    #[inline(never)]
    fn is_awaited(&mut self, index: usize, waits: bool) {
        self.ends[index].is_awaited = waits;
        match waits {
            true => self.pending += 1,
            false => self.pending -= 1,
        }
    }

    /// Bytes of the ends and of what finds them.
    pub(crate) fn memory(&self) -> usize {
        // A node of the map has eleven places of a port and an end, and is two thirds full.
        let found: usize = self.all.iter().map(|app| app.ports.len() * 12).sum();
        let ends: usize = self.ends.iter().map(End::memory).sum();
        let places = self.ends.capacity() * size_of::<End>();
        ends + places + found + self.ports.capacity() * size_of::<u16>()
    }

    /// All clients have ended, and all servers that were reached.
    pub(crate) fn are_over(&self) -> bool {
        self.pending == 0
    }

    /// What all of them did. From the last one on: the ends give their memory back while the flows take theirs, so the
    /// end of a run of many connections is not its peak.
    pub(crate) fn flows(&mut self, point: &Point) -> Vec<Flow> {
        let mut ends = std::mem::take(&mut self.ends);
        let mut ports = std::mem::take(&mut self.ports);
        let mut flows = Vec::with_capacity(ports.len());
        for app in point.apps.iter().rev() {
            for connection in (0..app.connections).rev() {
                let (Some(server), Some(client), Some(port)) =
                    (ends.pop(), ends.pop(), ports.pop())
                else {
                    break;
                };
                flows.push(Flow {
                    app: app.name.clone(),
                    connection,
                    client_port: port,
                    client: client.outcome(),
                    server: server.outcome(),
                });
                if ends.len() < ends.capacity() / 8 * 7 {
                    ends.shrink_to_fit();
                }
            }
        }
        flows.reverse();
        flows
    }
}
