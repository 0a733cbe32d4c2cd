//! What a run came to.

use tcplab_plan::buffer_limits::{Limits, limited};
use tcplab_plan::measure::way_owner;
use tcplab_plan::point::SocketOptions;
use tcplab_plan::profile::marked;
use tcplab_plan::{App, Outcome};

use super::World;
use super::net::Net;

impl World {
    /// All that came out. Nothing is left of the run.
    pub(super) fn finish(&mut self) -> Outcome {
        self.drive.take_infos(&mut self.net);
        let net = &mut self.net;
        let mut outcome = Outcome {
            virtual_ns: net.now.as_nanos(),
            cut_short: self.drive.is_cut_short(),
            ..Outcome::default()
        };
        for (host, sim) in net.point.hosts.iter().zip(&net.hosts) {
            outcome.counters.insert(host.name.clone(), sim.counters());
        }
        outcome.kernel = net.profiles();
        outcome.links = net.network.counts(net.now);
        for one in &net.replays {
            let link = &mut outcome.links[one.way / 2];
            let (count, qdisc) = (one.line.count(), one.line.qdiscs());
            let queue = one.line.depth(net.now);
            match one.way % 2 {
                0 => (link.a_to_b, link.a_to_b_qdisc, link.a_to_b_queue) = (count, qdisc, queue),
                _ => (link.b_to_a, link.b_to_a_qdisc, link.b_to_a_queue) = (count, qdisc, queue),
            }
        }
        let not_as_set = net.not_as_set();
        net.warnings.extend(not_as_set);
        outcome.link_series = std::mem::take(&mut net.network.series);
        // Its connections go before what they did is told: they do not add up to a peak of memory.
        net.hosts.clear();
        outcome.flows = self.drive.flows();
        outcome.warnings = std::mem::take(&mut net.warnings);
        outcome
    }
}

impl World {
    /// The warnings of the run so far; those of its end include what is not as it was set.
    pub fn warnings(&self) -> Vec<String> {
        let not_as_set = match self.is_over() {
            true => self.net.not_as_set(),
            false => Vec::new(),
        };
        self.net
            .warnings
            .iter()
            .cloned()
            .chain(not_as_set)
            .collect()
    }
}

impl Net {
    /// Buffers that are smaller than they were set, and what was set on links and changed nothing.
    fn not_as_set(&self) -> Vec<String> {
        let of_app = |app: &App| {
            let of_end = |is_client: bool| {
                let (host, own) = match is_client {
                    true => (app.client, &app.client_socket),
                    false => (app.server, &app.server_socket),
                };
                let sysctl = &self.hosts[host].stack.host.sysctl;
                let limits = |it: &SocketOptions| Limits {
                    rcvbuf: sysctl.rmem_max,
                    sndbuf: sysctl.wmem_max,
                    rcvlowat: match it.rcvbuf {
                        Some(bytes) => bytes.min(sysctl.rmem_max),
                        None => sysctl.tcp_rmem[2] / 2,
                    },
                };
                let first = own.or(&self.point.hosts[host].socket);
                let later = app.changes.iter().filter(|it| it.of_clients == is_client);
                let each = std::iter::once(&first).chain(later.map(|it| &it.options));
                let words = each.flat_map(|it| limited(&app.name, is_client, it, limits(it)));
                words.collect::<Vec<String>>()
            };
            [true, false].map(of_end).concat()
        };
        let mut told: Vec<String> = self.point.apps.iter().flat_map(of_app).collect();
        told.dedup();
        told.extend(self.unreached());
        told
    }

    /// What was set on links and changed nothing.
    fn unreached(&self) -> Vec<String> {
        let ways = self.network.ways.iter().enumerate();
        let told = ways.flat_map(|(number, one)| {
            let place = way_owner(&self.point, number);
            let replay = self.replays.iter().find(|replay| replay.way == number);
            match replay {
                Some(replay) => replay.line.unreached(&place, self.now),
                None => one.way.unreached(&place, self.now),
            }
        });
        told.collect()
    }

    /// The names of the hosts' profiles, each once.
    fn profiles(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        for host in &self.hosts {
            let name: &str = host.stack.host.profile.name;
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let names: Vec<String> = names.into_iter().map(marked).collect();
        names.join(" ")
    }
}
