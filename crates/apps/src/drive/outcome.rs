//! What the applications of a run did.

use tcplab_plan::outcome::Flow;

use super::Drive;
use super::end::End;
use super::host::Host;

impl Drive {
    #[inline(never)]
    pub(super) fn take_info<H: Host>(&mut self, host: &mut H, index: usize) {
        let end = &mut self.ends[index];
        if !self.point.tcp_info || !end.has_socket {
            return;
        }
        if let Some(info) = host.tcp_info(index) {
            let named = info.into_iter().map(|(name, v)| (name.to_owned(), v));
            end.extra.get_or_insert_default().tcp_info = named.collect();
        }
    }

    /// The last tcp_info of connections that are still open.
    pub fn take_infos<H: Host>(&mut self, host: &mut H) {
        for index in 0..self.ends.len() {
            self.take_info(host, index);
        }
    }

    /// What all of them did. From the last one on: the ends give their memory back while the flows take theirs, so the
    /// end of a run of many connections is not its peak.
    pub fn flows(&mut self) -> Vec<Flow> {
        let mut ends = std::mem::take(&mut self.ends);
        let mut ports = std::mem::take(&mut self.ports);
        let mut flows = Vec::with_capacity(ports.len());
        for app in self.point.apps.iter().rev() {
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

    /// Bytes of the ends and of what finds them.
    pub fn memory(&self) -> usize {
        // A node of the map has eleven places of a port and an end, and is two thirds full.
        let found: usize = self.apps.iter().map(|app| app.ports.len() * 12).sum();
        let ends: usize = self.ends.iter().map(End::memory).sum();
        let places = self.ends.capacity() * size_of::<End>();
        ends + places + found + self.ports.capacity() * size_of::<u16>()
    }
}
