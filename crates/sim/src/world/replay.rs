//! Replays: recorded frames enter a link at their recorded times; no host receives them.
//!
//! The frames are bytes, as between the namespaces of a kernel. A replay has a separate line, with the same code and
//! the same random draws, and no other traffic of the run passes it.

use std::sync::Arc;

use tcplab_apps::Replayed;
use tcplab_base::{Duration, Instant};
use tcplab_link::{Kind, Line, Trace, damage};
use tcplab_plan::network::{direct_link, first_hops};
use tcplab_plan::{Point, Refusal};

use super::World;
use super::net::Net;

/// One replay.
#[derive(Debug)]
pub(crate) struct Replay {
    /// The client's end of its application, which the run waits for.
    end: usize,
    /// The way of the network that its line stands for.
    pub(crate) way: usize,
    pub(crate) line: Line<Vec<u8>>,
    trace: Arc<Trace>,
    /// The next frame of it.
    next: usize,
    start: Instant,
    spare: Vec<Vec<u8>>,
}

impl World {
    /// Gives the replays of the point their frames: the number of the application and its trace, for each.
    pub fn set_traces(&mut self, traces: Vec<(usize, Arc<Trace>)>) {
        let point = Arc::clone(&self.net.point);
        self.net.replays.clear();
        for (app, trace) in traces {
            let end = self.drive.first(app);
            let app = &point.apps[app];
            let Some((number, side)) = way(&point, app.client, app.server) else {
                continue;
            };
            let link = &point.links[number];
            let (direction, name) = match side {
                0 => (&link.a_to_b, "a_to_b"),
                _ => (&link.b_to_a, "b_to_a"),
            };
            let name = format!("link/{number}/{name}");
            let mut line = Line::new(direction, link.mtu, point.seed, &name);
            if point.link_every_ns.is_some() {
                line.watch();
            }
            self.net.replays.push(Replay {
                end,
                way: 2 * number + side,
                line,
                trace,
                next: 0,
                start: Instant::from_nanos(app.start_ns),
                spare: Vec::new(),
            });
        }
    }
}

impl Net {
    /// Sends the frames of an end's replay that are due, and gives out those at the end of its line.
    #[cold]
    #[inline(never)]
    pub(super) fn replays_at(&mut self, end: usize) -> Option<Replayed> {
        let number = self.replays.iter().position(|r| r.end == end)?;
        self.give_replayed(number);
        let one = &mut self.replays[number];
        let (side, now) = (one.way, self.now);
        let captures = self.network.ways[side].captures;
        let (mut sent, mut bytes) = (0, 0);
        while one.due().is_some_and(|at| at <= now) {
            let mut frame = one.spare.pop().unwrap_or_default();
            one.trace.frame(one.next, &mut frame);
            one.next += 1;
            (sent, bytes) = (sent + 1, bytes + frame.len() as u64);
            if let Some(out) = &mut self.captures {
                out.raw(captures[0], now, &frame);
            }
            let kind = Kind::of_ethernet(&frame);
            one.line.enter(now, frame.len(), || kind, frame);
        }
        let next = [one.due(), one.line.next_time()]
            .into_iter()
            .flatten()
            .min();
        Some(Replayed {
            frames: sent,
            bytes,
            is_over: one.due().is_none(),
            next,
        })
    }

    /// Their lines give the samples of their ways.
    pub(super) fn sample_replays(&mut self) {
        for one in &mut self.replays {
            let values = one.line.sample(self.now, Vec::len).to_vec();
            let Some(series) = self.network.series.get_mut(one.way / 2) else {
                continue;
            };
            let way = match one.way % 2 {
                0 => &mut series.a_to_b,
                _ => &mut series.b_to_a,
            };
            if let Some(last) = way.last_mut() {
                last.1 = values;
            }
        }
    }

    /// What is due at the end of its line.
    fn give_replayed(&mut self, number: usize) {
        let one = &mut self.replays[number];
        let file = self.network.ways[one.way].captures[1];
        while let Some(mut out) = one.line.poll(self.now) {
            if out.mark {
                tcplab_wire::mark_ce(&mut out.frame);
            }
            if out.corrupt {
                damage(&mut out.frame);
            }
            if let Some(captures) = &mut self.captures {
                captures.raw(file, self.now, &out.frame);
            }
            if one.spare.len() < 64 {
                one.spare.push(out.frame);
            }
        }
    }
}

impl Replay {
    /// When its next frame is sent.
    fn due(&self) -> Option<Instant> {
        self.trace
            .time(self.next)
            .map(|after: Duration| self.start + after)
    }
}

/// The link between two hosts, and its end (0 or 1) that the first of them has.
fn way(point: &Point, from: usize, to: usize) -> Option<(usize, usize)> {
    let number = direct_link(&point.links, from, to)?;
    Some((number, usize::from(point.links[number].a != from)))
}

/// Replays that the model refuses: those with other packets on their way, such as another replay's.
pub(super) fn obstacles(point: &Point) -> Vec<Refusal> {
    let mut obstacles = Vec::new();
    let mut taken: Vec<(usize, usize)> = Vec::new();
    let apps = || point.apps.iter();
    for app in apps().filter(|app| app.does.is_replay()) {
        let Some(own) = way(point, app.client, app.server) else {
            continue;
        };
        let others = apps().filter(|other| !other.does.is_replay());
        let mut others = others.flat_map(|other| {
            let there = passes(point, other.client, other.server);
            there
                .into_iter()
                .chain(passes(point, other.server, other.client))
        });
        let link = &point.links[own.0];
        let direction = [&link.a_to_b, &link.b_to_a][own.1];
        if !direction.changes.is_empty() || !direction.injects.is_empty() {
            obstacles.push(Refusal::new(
                format!("application {}", app.name),
                "on the model nothing changes or is injected on a link that a replay uses"
                    .to_owned(),
                "run it on a kernel (uml:, host)",
            ));
        }
        if taken.contains(&own) || others.any(|other| other == own) {
            let [from, to] = [app.client, app.server].map(|host| &point.hosts[host].name);
            obstacles.push(Refusal::new(
                format!("application {}", app.name),
                format!("on the model nothing else can pass from {from} to {to} beside a replay"),
                "run it on a kernel (uml:, host)",
            ));
        }
        taken.push(own);
    }
    obstacles
}

/// The links from one host to another, each with the end that packets enter by.
fn passes(point: &Point, from: usize, to: usize) -> Vec<(usize, usize)> {
    let mut ways = Vec::new();
    let mut at = from;
    while at != to {
        let Some(Some(number)) = first_hops(point, at).get(to).copied() else {
            break;
        };
        let link = &point.links[number];
        ways.push((number, usize::from(link.a != at)));
        at = if link.a == at { link.b } else { link.a };
    }
    ways
}
