//! What the applications of a world run on: hosts, their sockets, links, and the queue of events.

use std::sync::Arc;

use tcplab_base::Instant;
use tcplab_plan::Point;
use tcplab_tcp::Segment;

use super::{Work, live, replay};
use crate::capture::Captures;
use crate::card::Polled;
use crate::events::Events;
use crate::host::Host;
use crate::network::Network;
use crate::ready::Ready;
use crate::responses::Responses;
use crate::socket::Sockets;

/// Everything but the applications.
#[derive(Debug)]
pub(crate) struct Net {
    pub(super) point: Arc<Point>,
    pub(super) now: Instant,
    pub(super) events: Events,
    pub(super) ready: Ready,
    pub(super) hosts: Vec<Host>,
    pub(super) sockets: Sockets,
    pub(super) network: Network,
    pub(super) captures: Option<Captures>,
    pub(super) replays: Vec<replay::Replay>,
    /// Some: responses of servers are timed.
    pub(super) responses: Option<Responses>,
    /// Some: only one host is simulated.
    pub(super) outside: Option<Box<live::Outside>>,
    pub(super) warnings: Vec<String>,
    pub(super) work: Work,
    /// Memory of segments on their way from a host to its links.
    pub(super) segments: Vec<Segment>,
    /// Memory of what a card hands up.
    pub(super) polled: Polled,
}

impl Net {
    /// Without hosts and links.
    pub(super) fn new(point: Arc<Point>) -> Self {
        Self {
            point,
            now: Instant::default(),
            events: Events::default(),
            ready: Ready::default(),
            hosts: Vec::new(),
            sockets: Sockets::default(),
            network: Network::default(),
            captures: None,
            replays: Vec::new(),
            responses: None,
            outside: None,
            warnings: Vec::new(),
            work: Work::default(),
            segments: Vec::new(),
            polled: Polled::default(),
        }
    }

    /// Counts every recovery of the hosts, when responses are timed.
    pub(super) fn keep_recoveries(&mut self) {
        for host in &mut self.hosts {
            host.stack.mib.keep_recoveries();
        }
    }
}
