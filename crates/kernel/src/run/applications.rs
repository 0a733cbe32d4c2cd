//! The applications of a point: listeners, ends, and which of them have ended.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;

use tcplab_apps::Doing;
use tcplab_base::Instant;
use tcplab_plan::Point;
use tcplab_plan::outcome::Flow;

use super::end::End;

/// All applications of a run. Ends 2n and 2n + 1 are the client and the server of flow n.
pub(crate) struct Applications {
    pub(crate) ends: Vec<End>,
    pub(crate) listeners: Vec<Option<OwnedFd>>,
    /// The flow of each client port, by application.
    pub(crate) ports: Vec<BTreeMap<u16, usize>>,
    names: Vec<(String, u32, u16)>,
}

impl Applications {
    pub(crate) fn new(point: &Point) -> Self {
        let mut ends = Vec::new();
        let mut names = Vec::new();
        for (index, app) in point.apps.iter().enumerate() {
            for connection in 0..app.connections {
                let of = (index, names.len());
                ends.push(End::new(of, true, point));
                ends.push(End::new(of, false, point));
                names.push((app.name.clone(), connection, 0));
            }
        }
        Self {
            ends,
            listeners: point.apps.iter().map(|_| None).collect(),
            ports: vec![BTreeMap::new(); point.apps.len()],
            names,
        }
    }

    /// Remembers the port that the client of this flow has got.
    pub(crate) fn has_port(&mut self, end: usize, port: u16) {
        let (app, flow) = (self.ends[end].app, self.ends[end].flow);
        self.ports[app].insert(port, flow);
        if self.names[flow].2 == 0 {
            self.names[flow].2 = port;
        }
    }

    /// The flow of a connection whose client is elsewhere: one that nobody has had, or else one that is over.
    pub(crate) fn adopt(&mut self, app: usize, port: u16) -> Option<usize> {
        let is_free = |end: &&End| end.doing == Doing::Nothing && end.out.opened_ns.is_none();
        let servers = || self.ends.iter().filter(|e| e.app == app && !e.is_client);
        let found = servers()
            .find(is_free)
            .or_else(|| servers().find(|end| end.doing == Doing::Over))
            .or_else(|| servers().next())?;
        let flow = found.flow;
        self.ports[app].insert(port, flow);
        if self.names[flow].2 == 0 {
            self.names[flow].2 = port;
        }
        Some(flow)
    }

    /// All clients have ended, and all servers that were reached.
    pub(crate) fn are_over(&self) -> bool {
        self.ends.iter().all(|end| match end.is_client {
            true => end.doing == Doing::Over,
            false => end.udp || matches!(end.doing, Doing::Over | Doing::Nothing),
        })
    }

    /// What all of them did.
    pub(crate) fn flows(self, start: Instant) -> Vec<Flow> {
        let mut ends = self.ends.into_iter().map(|mut end| {
            let record = end.program.record();
            end.out.completed = record.completed();
            let pings = end.program.pings().iter();
            end.out.pings = pings
                .map(|ping| {
                    let sent = ping.sent.since(start).as_nanos();
                    (sent, ping.rtt.map(|rtt| rtt.as_nanos()))
                })
                .collect();
            end.out.latency_ns = record.latencies().iter().map(|d| d.as_nanos()).collect();
            end.out
        });
        let mut flows = Vec::new();
        for (app, connection, client_port) in self.names {
            let (Some(client), Some(server)) = (ends.next(), ends.next()) else {
                break;
            };
            flows.push(Flow {
                app,
                connection,
                client_port,
                client,
                server,
            });
        }
        flows
    }
}
