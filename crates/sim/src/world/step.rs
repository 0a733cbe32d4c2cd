//! A run step by step: until a time, with a look at everything between the steps, and congestion controls from outside.
//!
//! A run in steps is the run at once: looking changes nothing, and the time of a step is no event.

use std::collections::BTreeMap;

use tcplab_base::Instant;
use tcplab_plan::Outcome;
use tcplab_tcp::external::Maker;
use tcplab_tcp::{Addr, Cx, Endpoint, congestion_controls};

use super::budget::STEPS;
use super::{FOREVER, SimError, Went, World};
use crate::capture::Captures;
use crate::host::Host;
use crate::packet::Packet;
use crate::socket::Socket;

/// One way of a link at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Packets in its queue, the one that the wire sends included.
    pub queue_pkts: i64,
    /// Bytes of them, a packet's until its last bit has left.
    pub queue_bytes: i64,
    /// Bytes that came out of it since the run's start.
    pub delivered_bytes: i64,
}

impl World {
    /// Runs until a time, all that is due at it included. `go_on` is asked now and then, and after each event where a
    /// host has a congestion control from outside. False: the run is over, or `go_on` said no, or it was ended without
    /// an answer ([`World::exhausted`]).
    pub fn run_until(&mut self, until: Instant, mut go_on: impl FnMut() -> bool) -> bool {
        self.begin();
        let each = match self.has_external() {
            true => 1,
            false => STEPS,
        };
        while !self.is_over {
            let (began, before) = (self.net.now, self.net.events.popped());
            let steps = self.budget.next(self.net.point.max_events());
            match self.some(until, steps, each, &mut go_on) {
                Some(Went::On) => self.is_over = !self.may_go_on(began, steps),
                Some(Went::Over) => self.is_over = true,
                Some(Went::Idle) => {
                    self.is_over = self.net.events.next_time().is_none();
                    self.budget.spend(self.net.events.popped() - before);
                    if until < FOREVER {
                        self.net.now = self.net.now.max(until);
                    }
                    return !self.is_over;
                }
                None => return false,
            }
        }
        false
    }

    /// So many steps until a time, with a question after `each`. None: the answer was no.
    fn some(
        &mut self,
        until: Instant,
        steps: u64,
        each: u64,
        go_on: &mut impl FnMut() -> bool,
    ) -> Option<Went> {
        let mut left = steps;
        while left > 0 {
            let part = left.min(each);
            match self.steps(until, part) {
                Went::On => left -= part,
                other => return Some(other),
            }
            if !go_on() {
                return None;
            }
        }
        Some(Went::On)
    }

    fn has_external(&self) -> bool {
        let mut hosts = self.net.hosts.iter();
        hosts.any(|host| host.stack.host.external.is_some())
    }

    /// The time of the run.
    pub fn now(&self) -> Instant {
        self.net.now
    }

    /// When something happens next; none: nothing does.
    pub fn next_time(&mut self) -> Option<Instant> {
        self.begin();
        self.net.events.next_time()
    }

    /// The run is over: its applications have ended and its `linger` is past, or its `max` is.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    /// From now on packets at interfaces go there; get them back from [`World::take_captures`].
    pub fn set_captures(&mut self, captures: Captures) {
        self.net.captures = Some(captures);
    }

    /// Makes this algorithm the default of a host, as if `net.ipv4.tcp_congestion_control` named it. Socket options
    /// of an application and routes may name another one.
    ///
    /// # Errors
    /// The run has begun, the host does not exist, or the model itself has an algorithm of this name.
    pub fn set_congestion(&mut self, host: usize, maker: Maker) -> Result<(), SimError> {
        let name = &maker.name;
        if congestion_controls().any(|known| known == &**name) {
            return Err(SimError::Cannot(format!(
                "the model has a congestion control `{name}` of its own; give this one another name"
            )));
        }
        if self.has_begun {
            return Err(SimError::Cannot(format!(
                "the run has begun; set the congestion control `{name}` before its first step"
            )));
        }
        let count = self.net.hosts.len();
        let Some(host) = self.net.hosts.get_mut(host) else {
            return Err(SimError::Cannot(format!(
                "there is no host {host} for the congestion control `{name}`: hosts are 0 to {}",
                count - 1
            )));
        };
        let config = &mut host.stack.host;
        config.sysctl.tcp_congestion_control = name.as_ref().into();
        config.external = Some(maker);
        Ok(())
    }

    /// getsockopt(TCP_INFO) of an end of connection `flow`, by the kernel's names and in its units; flows count through
    /// the applications in their order. None: it has no TCP socket now.
    pub fn tcp_info(&mut self, flow: usize, is_client: bool) -> Option<Vec<(&'static str, i64)>> {
        self.on_socket(flow, is_client, |endpoint, cx| endpoint.info(cx))
    }

    /// getsockopt(TCP_CONGESTION) of an end. None: it has no TCP socket now.
    pub fn congestion_name(&mut self, flow: usize, is_client: bool) -> Option<String> {
        self.on_socket(flow, is_client, |endpoint, _| {
            endpoint.congestion_name().to_owned()
        })
    }

    /// The ends of a connection: its own and the peer's. None: it has no TCP socket now.
    pub fn addresses(&mut self, flow: usize, is_client: bool) -> Option<(Addr, Addr)> {
        self.on_socket(flow, is_client, |endpoint, _| {
            (endpoint.local(), endpoint.remote())
        })
    }

    fn on_socket<R>(
        &mut self,
        flow: usize,
        is_client: bool,
        call: impl FnOnce(&mut Endpoint, &mut Cx<'_>) -> R,
    ) -> Option<R> {
        let sock = self.net.sockets.of.get(end_of(flow, is_client))?;
        let Socket::Tcp(id) = sock.socket else {
            return None;
        };
        let stack = &mut self.net.hosts.get_mut(usize::from(sock.host))?.stack;
        stack.with(self.net.now, id, call)
    }

    /// Bytes that the application at an end has read and written. `None` if the end does not exist.
    pub fn bytes(&self, flow: usize, is_client: bool) -> Option<(u64, u64)> {
        let end = self.drive.ends().get(end_of(flow, is_client))?;
        Some(end.bytes())
    }

    /// The counters of a host by nstat's names.
    pub fn counters(&self, host: usize) -> BTreeMap<String, i64> {
        let host = self.net.hosts.get(host);
        host.map(Host::counters).unwrap_or_default()
    }

    /// [`World::queue`] will be asked: a frame's bytes count until its last bit has left. Call it before the first step;
    /// else links without `link_every`, `queue_from` or a limit in bytes count only the bits that have not left.
    pub fn count_whole_frames(&mut self) {
        for way in &mut self.net.network.ways {
            way.way.count_whole();
        }
    }

    /// What one way of a link holds: from `a` to `b` (0), or back (1). Replayed frames, which pass a line of their own,
    /// are not in it. `None` if the link does not exist.
    pub fn queue(&self, link: usize, way: usize) -> Option<Held> {
        let line = &self.net.network.ways.get(2 * link + way)?.way;
        let len = |packet: &Packet| packet.frame_len() as usize;
        let [queue_pkts, queue_bytes, delivered_bytes] = line.holds(self.net.now, len);
        Some(Held {
            queue_pkts,
            queue_bytes,
            delivered_bytes,
        })
    }

    /// All that came out, until now. Nothing is left of the run.
    pub fn into_outcome(mut self) -> Outcome {
        self.finish()
    }
}

fn end_of(flow: usize, is_client: bool) -> usize {
    2 * flow + usize::from(!is_client)
}
