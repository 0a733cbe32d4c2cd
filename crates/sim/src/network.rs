//! The links of a point, both ways of each, and which of them a packet takes.

use tcplab_base::Instant;
use tcplab_link::{Line, Schedule};
use tcplab_plan::Point;
use tcplab_plan::network::{first_hops, interface_on, interfaces};
use tcplab_plan::outcome::{LinkCount, LinkSeries};

use crate::packet::Packet;

/// No event is set for it.
const NEVER: Instant = Instant::from_nanos(i64::MAX);

/// One way of a link.
#[derive(Debug)]
pub(crate) struct OneWay {
    pub(crate) way: Line<Packet>,
    /// When its next frame comes out, or a qdisc's wire takes one.
    next: Instant,
    /// The host at its end.
    pub(crate) to: usize,
    /// The captures at its begin and its end.
    pub(crate) captures: [usize; 2],
    /// How its settings change during the run.
    pub(crate) schedule: Option<Box<Schedule>>,
}

impl OneWay {
    /// Frames have entered or come out: when the next one comes.
    #[inline]
    pub(crate) fn looks_ahead(&mut self) -> Instant {
        self.next = self.way.next_time().unwrap_or(NEVER);
        self.next
    }

    /// Whether a frame comes out now.
    #[inline]
    pub(crate) fn is_due(&self, now: Instant) -> bool {
        self.next <= now
    }
}

/// What a way asks of the event queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arm {
    /// There is an event that is early enough, or nothing to wait for.
    Nothing,
    /// An event at this time.
    At(Instant),
    /// A frame is due already.
    Now,
}

/// `armed`: the time of the link's event. `next`: when the next frame comes out.
#[inline]
fn arm(armed: &mut Instant, next: Instant, now: Instant) -> Arm {
    if (next >= *armed && *armed > now) || next == NEVER {
        return Arm::Nothing;
    }
    *armed = next;
    Arm::At(next)
}

/// All links.
#[derive(Debug, Default)]
pub(crate) struct Network {
    /// The way from `a` of link n is 2n, the way back 2n + 1.
    pub(crate) ways: Vec<OneWay>,
    /// Of each link the time of its event. Both ways have one, as in runs on kernels: what else happens at that time
    /// comes before or after it by when it was set.
    armed: Vec<Instant>,
    /// For each host and each host that it sends to: the way.
    routes: Vec<Vec<Option<u32>>>,
    /// For each host the largest packet on its way to each other host.
    mtu: Vec<Vec<u32>>,
    /// The capture of each host's loopback.
    lo: Vec<Option<usize>>,
    /// Samples of the links so far.
    pub(crate) series: Vec<LinkSeries>,
}

/// Linux's MTU of the loopback device.
const LOOPBACK_MTU: u32 = 65_536;

impl Network {
    pub(crate) fn new(point: &Point) -> Self {
        let files = interfaces(point);
        let file = |host: usize, name: &str| {
            let found = files.iter().position(|(h, n)| *h == host && n == name);
            found.unwrap_or(usize::MAX)
        };
        let mut ways = Vec::new();
        for (number, link) in point.links.iter().enumerate() {
            let at = |host| file(host, &interface_on(point, host, number));
            let (a, b) = (at(link.a), at(link.b));
            for (way, name, to, captures) in [
                (&link.a_to_b, "a_to_b", link.b, [a, b]),
                (&link.b_to_a, "b_to_a", link.a, [b, a]),
            ] {
                // Streams have the names of the links on kernels, so the same frames are lost.
                let name = format!("link/{number}/{name}");
                let mut line = Line::new(way, link.mtu, point.seed, &name);
                if point.link_every_ns.is_some() {
                    line.watch();
                }
                ways.push(OneWay {
                    way: line,
                    next: NEVER,
                    schedule: Schedule::of(way, link.mtu, point.seed, &name).map(Box::new),
                    to,
                    captures,
                });
            }
        }
        let hosts = 0..point.hosts.len();
        let lo = hosts
            .clone()
            .map(|host| files.iter().position(|(h, n)| *h == host && n == "lo"));
        let mut network = Self {
            armed: vec![NEVER; point.links.len()],
            ways,
            lo: lo.collect(),
            ..Self::default()
        };
        for from in hosts {
            network.route(point, from);
        }
        network
    }

    /// A packet enters a way: the host at its end, and what the link asks of the event queue.
    #[inline]
    pub(crate) fn enter(&mut self, way: usize, now: Instant, packet: Packet) -> (usize, Arm) {
        let one = &mut self.ways[way];
        let bytes = packet.frame_len() as usize;
        one.way.enter(now, bytes, || packet.kind(), packet);
        let next = one.looks_ahead();
        let arm = match next <= now {
            true => Arm::Now,
            false => arm(&mut self.armed[way / 2], next, now),
        };
        (one.to, arm)
    }

    /// After all that was due on both ways of a link has come out.
    #[inline]
    pub(crate) fn arm_both(&mut self, link: usize, now: Instant) -> Arm {
        let Some([one, back]) = self.ways.get(2 * link..2 * link + 2) else {
            return Arm::Nothing;
        };
        arm(&mut self.armed[link], one.next.min(back.next), now)
    }

    /// What waits on a link may be due at another time than was thought.
    pub(crate) fn disarm(&mut self, link: usize) {
        self.armed[link] = NEVER;
        for way in &mut self.ways[2 * link..=2 * link + 1] {
            way.looks_ahead();
        }
    }

    fn route(&mut self, point: &Point, from: usize) {
        let hops = first_hops(point, from);
        let way = |number: usize| 2 * number as u32 + u32::from(point.links[number].a != from);
        self.routes
            .push(hops.iter().map(|hop| hop.map(way)).collect());
        let mtu = |(to, hop): (usize, &Option<usize>)| match hop {
            _ if to == from => LOOPBACK_MTU,
            Some(number) => point.links[*number].mtu,
            None => 1500,
        };
        self.mtu.push(hops.iter().enumerate().map(mtu).collect());
    }

    /// The way that a packet from `from` to `to` takes first.
    #[inline]
    pub(crate) fn way(&self, from: usize, to: usize) -> Option<u32> {
        *self.routes.get(from)?.get(to)?
    }

    /// The largest packet of the interface that `from` sends to `to` by.
    pub(crate) fn mtu(&self, from: usize, to: usize) -> u32 {
        let row = self.mtu.get(from);
        row.and_then(|row| row.get(to)).copied().unwrap_or(1500)
    }

    /// The capture of a host's loopback device.
    pub(crate) fn loopback(&self, host: usize) -> Option<usize> {
        *self.lo.get(host)?
    }

    /// Adds a sample of each link.
    pub(crate) fn sample(&mut self, now: Instant) {
        self.series
            .resize_with(self.ways.len() / 2, LinkSeries::default);
        for (number, one) in self.ways.iter_mut().enumerate() {
            let values = one.way.sample(now, |packet| packet.frame_len() as usize);
            let series = &mut self.series[number / 2];
            let way = match number % 2 {
                0 => &mut series.a_to_b,
                _ => &mut series.b_to_a,
            };
            way.push((now.as_nanos(), values.to_vec()));
        }
    }

    pub(crate) fn counts(&self, now: Instant) -> Vec<LinkCount> {
        let pairs = self.ways.chunks(2);
        pairs
            .map(|pair| LinkCount {
                a_to_b: pair[0].way.count(),
                b_to_a: pair[1].way.count(),
                a_to_b_qdisc: pair[0].way.qdiscs(),
                b_to_a_qdisc: pair[1].way.qdiscs(),
                a_to_b_queue: pair[0].way.depth(now),
                b_to_a_queue: pair[1].way.depth(now),
            })
            .collect()
    }
}
