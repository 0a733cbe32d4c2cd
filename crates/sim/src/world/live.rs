//! A host of ours among real ones: its packets come from outside and go there, in the caller's time.

use tcplab_apps::{Drive, Ended, Foreign};
use tcplab_base::Instant;
use tcplab_plan::profile::Profile;
use tcplab_plan::{Outcome, Point};
use tcplab_tcp::{Addr, Segment, State};

use super::net::Net;
use super::{SimError, Went, World};
use crate::packet::{Body, Packet, TTL};

/// The part of a world that is not simulated.
#[derive(Debug)]
pub(crate) struct Outside {
    /// Its hosts are all but this one.
    inside: usize,
    /// What left the host inside.
    out: Vec<Segment>,
    /// Who the clients are: flow and address.
    clients: Vec<(u32, Addr)>,
}

/// An end of a flow, as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveFlow<'a> {
    /// When it began and ended, and how.
    pub ended: Ended<'a>,
    /// Bytes that its application read.
    pub read_bytes: u64,
    /// Bytes that its application wrote.
    pub written_bytes: u64,
    /// Lines of its log, where the point asks for one.
    pub log_lines: usize,
    /// It has ended, and the peer's FIN was there before.
    pub peer_was_first: bool,
}

/// A host of ours that talks to real ones: the first of a point with two hosts, the second of which stands for all
/// others. Times are since the run's start; they never go back.
#[derive(Debug)]
pub struct Live {
    world: World,
}

impl Live {
    /// The host, with its listeners. Numbers of other hosts are the caller's affair, from 1 on.
    ///
    /// # Errors
    /// As [`World::new`]; a point with applications that are not TCP's.
    pub fn new(point: &Point, profile: &Profile) -> Result<Self, SimError> {
        if let Some(app) = point.apps.iter().find(|app| app.does.is_udp()) {
            let name = &app.name;
            return Err(SimError::Cannot(format!(
                "{name}: an endpoint of ours on a device speaks TCP only"
            )));
        }
        let mut world = World::new(point, std::slice::from_ref(profile))?;
        world.drive = Drive::new(&world.net.point, Foreign::Each);
        world.net.outside = Some(Box::new(Outside {
            inside: 0,
            out: Vec::new(),
            clients: Vec::new(),
        }));
        world.begin();
        Ok(Self { world })
    }

    /// A segment arrives at the host.
    pub fn receive(&mut self, now: Instant, segment: &Segment, ttl: u8) {
        self.advance(now);
        let packet = Packet {
            body: Body::Tcp(*segment),
            ip: self.world.net.point.ip,
            id: 0,
            ttl,
            // What it does not know was no segment.
            tag_type: self.world.net.hosts[0].tag_type,
            corrupt: false,
        };
        // No datagram: it is no end's.
        let _ = self.world.net.hosts[0].receive_from_link(now, &packet);
        if !self.world.net.hosts[0].joins() {
            self.world.net.after_tcp(0);
        }
    }

    /// A segment with a wrong checksum arrives: it is counted.
    pub fn receive_damaged(&mut self, now: Instant) {
        self.advance(now);
        let packet = Packet {
            body: Body::Tcp(Segment::default()),
            ip: self.world.net.point.ip,
            id: 0,
            ttl: TTL,
            tag_type: 0,
            corrupt: true,
        };
        let _ = self.world.net.hosts[0].receive(now, &packet);
    }

    /// There are no more segments for now: what GRO holds goes up.
    pub fn ends_poll(&mut self, now: Instant) {
        if self.world.net.hosts[0].joins() {
            self.world.net.hosts[0].ends_poll(now);
            self.world.net.after_tcp(0);
        }
        self.advance(now);
    }

    /// Time has come to this: timers fire, applications go on. False: all is over.
    pub fn advance(&mut self, now: Instant) -> bool {
        self.world.advance(now)
    }

    /// When [`Live::advance`] has something to do next.
    pub fn next_time(&mut self) -> Option<Instant> {
        self.world.net.events.next_time()
    }

    /// Takes the segments that left since the last call; super-segments are cut.
    pub fn take_segments(&mut self, into: &mut Vec<Segment>) {
        if let Some(outside) = &mut self.world.net.outside {
            into.append(&mut outside.out);
        }
    }

    /// Who the client of each flow was that came from outside.
    pub fn clients(&self) -> &[(u32, Addr)] {
        self.world.net.outside.as_ref().map_or(&[], |o| &o.clients)
    }

    /// Clients that were closed at once because the point has no connection for them.
    pub fn refused(&self) -> u64 {
        self.world.drive.refused()
    }

    /// How the host's end of a flow stands.
    pub fn flow(&self, flow: usize) -> Option<LiveFlow<'_>> {
        let ends = self.world.drive.ends();
        let app = &self.world.net.point.apps[ends.get(2 * flow)?.app()];
        let is_server = self.world.net.is_outside(app.client);
        let end = ends.get(2 * flow + usize::from(is_server))?;
        let (read_bytes, written_bytes) = end.bytes();
        Some(LiveFlow {
            ended: end.ended(),
            read_bytes,
            written_bytes,
            log_lines: end.log_lines(),
            peer_was_first: end.is_closed_by_peer(),
        })
    }

    /// The port of a flow's client on its first connection; 0 before it has one.
    pub fn client_port(&self, flow: usize) -> u16 {
        self.world.drive.port(flow)
    }

    /// Whether the applications are over and no connection waits for its peer any more.
    pub fn poll_done(&mut self) -> bool {
        self.world.drive.is_ending() && {
            let mut all = self.world.net.hosts[0].stack.connections();
            all.all(|(_, e)| matches!(e.state(), State::Close | State::TimeWait))
        }
    }

    /// Logs no further steps.
    pub fn stop_log(&mut self) {
        self.world.drive.stop_log();
    }

    /// The applications end here: their sockets are closed, as those of a process that ends.
    pub fn close_all(&mut self, now: Instant) {
        self.advance(now);
        self.world.drive.close_all(&mut self.world.net);
    }

    /// What it did.
    pub fn finish(mut self) -> Outcome {
        self.world.finish()
    }
}

impl World {
    /// Runs until a time. False: the run is over.
    fn advance(&mut self, until: Instant) -> bool {
        let went = self.steps(until, u64::MAX);
        if went == Went::Idle {
            self.net.now = self.net.now.max(until);
        }
        went != Went::Over
    }
}

impl Net {
    /// Whether a host is not simulated.
    #[inline]
    pub(super) fn is_outside(&self, host: usize) -> bool {
        matches!(&self.outside, Some(outside) if outside.inside != host)
    }

    /// A packet leaves for a host that is not simulated.
    #[cold]
    pub(super) fn goes_outside(&mut self, packet: &Packet) {
        if let (Some(outside), Body::Tcp(segment)) = (&mut self.outside, &packet.body) {
            outside.out.push(*segment);
        }
    }

    /// A client from outside took this flow.
    pub(super) fn comes_from_outside(&mut self, flow: u32, remote: Addr) {
        if let Some(outside) = &mut self.outside {
            outside.clients.push((flow, remote));
        }
    }
}
