//! A host of ours among others that are not: its packets come from outside and go there, in whatever time the caller
//! keeps.

use tcplab_apps::Doing;
use tcplab_base::Instant;
use tcplab_plan::profile::Profile;
use tcplab_plan::{Outcome, Point};
use tcplab_tcp::{Addr, Segment, State};

use super::{SimError, Went, World};
use crate::end::{Ended, Socket};
use crate::packet::{Body, Packet, TTL};

/// The part of a world that is not simulated.
#[derive(Debug)]
pub(crate) struct Outside {
    /// Its hosts are all but this one.
    inside: usize,
    /// What left the host inside.
    out: Vec<Segment>,
    /// For each application the flow that the next client from outside gets.
    next: Vec<u32>,
    /// Who the clients are: flow and address.
    clients: Vec<(u32, Addr)>,
    /// Clients beyond those that the point has.
    refused: u64,
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
        world.outside = Some(Box::new(Outside {
            inside: 0,
            out: Vec::new(),
            next: vec![0; point.apps.len()],
            clients: Vec::new(),
            refused: 0,
        }));
        world.begin();
        Ok(Self { world })
    }

    /// A segment arrives at the host.
    pub fn receive(&mut self, now: Instant, segment: &Segment, ttl: u8) {
        self.advance(now);
        let packet = Packet {
            body: Body::Tcp(*segment),
            id: 0,
            ttl,
            // What it does not know was no segment.
            tag_type: self.world.hosts[0].tag_type,
            corrupt: false,
        };
        // No datagram: it is no end's.
        let _ = self.world.hosts[0].receive_from_link(now, &packet);
        if !self.world.hosts[0].joins() {
            self.world.after_tcp(0);
        }
    }

    /// A segment with a wrong checksum arrives: it is counted.
    pub fn receive_damaged(&mut self, now: Instant) {
        self.advance(now);
        let packet = Packet {
            body: Body::Tcp(Segment::default()),
            id: 0,
            ttl: TTL,
            tag_type: 0,
            corrupt: true,
        };
        let _ = self.world.hosts[0].receive(now, &packet);
    }

    /// There are no more segments for now: what GRO holds goes up.
    pub fn ends_poll(&mut self, now: Instant) {
        if self.world.hosts[0].joins() {
            self.world.hosts[0].ends_poll(now);
            self.world.after_tcp(0);
        }
        self.advance(now);
    }

    /// Time has come to this: timers fire, applications go on. False: all is over.
    pub fn advance(&mut self, now: Instant) -> bool {
        self.world.advance(now)
    }

    /// When [`Live::advance`] has something to do next.
    pub fn next_time(&mut self) -> Option<Instant> {
        self.world.events.next_time()
    }

    /// Takes the segments that left since the last call; super-segments are cut.
    pub fn take_segments(&mut self, into: &mut Vec<Segment>) {
        if let Some(outside) = &mut self.world.outside {
            into.append(&mut outside.out);
        }
    }

    /// Who the client of each flow was that came from outside.
    pub fn clients(&self) -> &[(u32, Addr)] {
        self.world.outside.as_ref().map_or(&[], |o| &o.clients)
    }

    /// Clients that were closed at once, because the point has not so many.
    pub fn refused(&self) -> u64 {
        self.world.outside.as_ref().map_or(0, |o| o.refused)
    }

    /// How the host's end of a flow stands.
    pub fn flow(&self, flow: usize) -> Option<LiveFlow<'_>> {
        let client = self.world.apps.ends.get(2 * flow)?;
        let is_client = !self
            .world
            .is_outside(self.world.point.apps[client.app as usize].client);
        let end = self
            .world
            .apps
            .ends
            .get(2 * flow + usize::from(!is_client))?;
        Some(LiveFlow {
            ended: end.ended(),
            read_bytes: end.read,
            written_bytes: end.written,
            log_lines: end.extra.as_ref().map_or(0, |extra| extra.log.len()),
            peer_was_first: end.is_closed_by_peer(),
        })
    }

    /// The port that the first connection of a flow's client has; 0: it has none yet.
    pub fn client_port(&self, flow: usize) -> u16 {
        self.world.apps.port(flow)
    }

    /// Whether the applications are over and no connection waits for its peer any more.
    pub fn is_done(&mut self) -> bool {
        self.world.ending && {
            let mut all = self.world.hosts[0].stack.connections();
            all.all(|(_, e)| matches!(e.state(), State::Close | State::TimeWait))
        }
    }

    /// From now on no step is logged.
    pub fn stop_log(&mut self) {
        self.world.point.log = false;
    }

    /// The applications end here: their sockets are closed, as those of a process that ends.
    pub fn close_all(&mut self, now: Instant) {
        self.advance(now);
        for index in 0..self.world.apps.ends.len() {
            if self.world.apps.ends[index].doing != Doing::Over {
                self.world.apps.ends[index].doing = Doing::Over;
                self.world.apps.changed(index);
                if self.world.apps.ends[index].socket != Socket::None {
                    self.world.close(index);
                }
            }
        }
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
            self.now = self.now.max(until);
        }
        went != Went::Over
    }

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

    /// The client's end that stands for a client from outside; none: there are no more.
    #[cold]
    pub(super) fn client_from_outside(&mut self, app: usize, remote: Addr) -> Option<u32> {
        let first = self.apps.first(app) as u32;
        let outside = self.outside.as_mut()?;
        let next = outside.next.get_mut(app)?;
        if *next == self.point.apps[app].connections {
            outside.refused += 1;
            return None;
        }
        let end = first + 2 * *next;
        *next += 1;
        outside.clients.push((end / 2, remote));
        self.apps.has_port(end as usize, remote.port);
        Some(end)
    }

    /// A server is done with a client from outside: the run waits for that no more.
    #[cold]
    pub(super) fn client_is_served(&mut self, server: usize) {
        self.apps.ends[server - 1].doing = Doing::Over;
        self.apps.changed(server - 1);
    }
}
