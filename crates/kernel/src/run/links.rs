//! Our own links: frames from one TAP device to the other, through [`tcplab_link::Line`].

use std::collections::BTreeMap;

use tcplab_base::{Duration, Instant};
use tcplab_link::{Kind, Line, Schedule, damage};
use tcplab_plan::Point;
use tcplab_plan::measure::way_owner;
use tcplab_plan::outcome::LinkCount;
use tcplab_plan::point::Link;

use tcplab_os::captures::CaptureFile;
use tcplab_os::clock::Now;
use tcplab_os::tap::Tap;
use tcplab_os::{Context, OsError};

/// The longest frame: an IP packet of 64 KiB with an Ethernet header and tags.
const FRAME: usize = 66_000;

/// One link of ours.
pub(crate) struct OurLink {
    taps: [Tap; 2],
    ways: [Line<Vec<u8>>; 2],
    schedules: [Option<Schedule>; 2],
    /// Whether the listed events of a way ask what kind of frame it is.
    looks: [bool; 2],
    /// Indices of the capture files at `a` and `b`.
    captures: [usize; 2],
    /// The time of the timer that is set for it.
    pub(crate) armed: Option<Instant>,
    /// Buffer for reading a frame of unknown length. A queue of frames of the maximum length would touch unused pages,
    /// which is expensive in a guest.
    scratch: Box<[u8]>,
    spare: Vec<Vec<u8>>,
}

impl OurLink {
    pub(crate) fn new(point: &Point, number: usize, taps: [Tap; 2], captures: [usize; 2]) -> Self {
        let link: &Link = &point.links[number];
        let name = |way| format!("link/{number}/{way}");
        let mut ways = [
            Line::new(&link.a_to_b, link.mtu, point.seed, &name("a_to_b")),
            Line::new(&link.b_to_a, link.mtu, point.seed, &name("b_to_a")),
        ];
        let schedule = |way, direction| Schedule::of(direction, link.mtu, point.seed, &name(way));
        let schedules = [
            schedule("a_to_b", &link.a_to_b),
            schedule("b_to_a", &link.b_to_a),
        ];
        if point.link_every_ns.is_some() {
            ways.iter_mut().for_each(Line::watch);
        }
        Self {
            taps,
            ways,
            schedules,
            looks: [&link.a_to_b, &link.b_to_a].map(|way| !way.events.is_empty()),
            captures,
            armed: None,
            scratch: vec![0; FRAME].into_boxed_slice(),
            spare: Vec::new(),
        }
    }

    /// Says when the run starts.
    pub(crate) fn begin(&mut self, start: Instant) {
        for way in &mut self.ways {
            way.begin(start);
        }
    }

    /// When the settings of each way change, after the run's start.
    pub(crate) fn changes(&self) -> Vec<(usize, Duration)> {
        let each = self.schedules.iter().enumerate();
        let of = |(way, schedule): (usize, &Option<Schedule>)| {
            let times: Vec<_> = schedule.iter().flat_map(Schedule::times).collect();
            times.into_iter().map(move |at| (way, at))
        };
        each.flat_map(of).collect()
    }

    /// The settings of a way change.
    pub(crate) fn change(&mut self, way: usize, now: Instant) -> Result<(), OsError> {
        let Some(schedule) = &mut self.schedules[way] else {
            return Ok(());
        };
        self.armed = None;
        schedule
            .next(now, &mut self.ways[way])
            .map_err(|why| OsError::Cannot(format!("a link cannot change: {why}")))
    }

    /// Takes the frames that the host at `side` has sent. Each one came before it was read: with the time of the batch
    /// it would leave too early.
    pub(crate) fn take(
        &mut self,
        side: usize,
        time: Now,
        captures: &mut [CaptureFile],
    ) -> Result<(), OsError> {
        loop {
            let read = self.taps[side].read(&mut self.scratch);
            let Some(length) = read.tried("cannot read from a TAP device")? else {
                return Ok(());
            };
            let now = time.read();
            let mut frame = self.spare.pop().unwrap_or_default();
            frame.clear();
            frame.extend_from_slice(&self.scratch[..length]);
            captures[self.captures[side]]
                .frame(now, &frame, length as u32)
                .tried("cannot write a capture")?;
            let kind = match self.looks[side] {
                true => Kind::of_ethernet(&frame),
                false => Kind::default(),
            };
            self.ways[side].enter(now, length, || kind, frame);
        }
    }

    /// Gives the hosts the frames that are due.
    pub(crate) fn give(&mut self, time: Now, captures: &mut [CaptureFile]) -> Result<(), OsError> {
        for side in 0..2 {
            let to = 1 - side;
            loop {
                let now = time.read();
                let Some(mut out) = self.ways[side].poll(now) else {
                    break;
                };
                if out.mark {
                    tcplab_wire::mark_ce(&mut out.frame);
                }
                if out.corrupt {
                    damage(&mut out.frame);
                }
                captures[self.captures[to]]
                    .frame(now, &out.frame, out.frame.len() as u32)
                    .tried("cannot write a capture")?;
                self.taps[to]
                    .write(&out.frame)
                    .tried("cannot write to a TAP device")?;
                if self.spare.len() < 64 {
                    self.spare.push(out.frame);
                }
            }
        }
        Ok(())
    }

    /// When the next frame is due.
    pub(crate) fn next_time(&self) -> Option<Instant> {
        let times = self.ways.iter().filter_map(Line::next_time);
        times.min()
    }

    /// The values of a sample, each way.
    pub(crate) fn sample(&mut self, now: Instant) -> [Vec<i64>; 2] {
        (self.ways.each_mut()).map(|way| way.sample(now, Vec::len).to_vec())
    }

    /// The applications have ended.
    pub(crate) fn programs_end(&mut self, now: Instant) {
        self.ways.iter_mut().for_each(|way| way.programs_end(now));
    }

    /// What was set on link `number` and changed nothing.
    pub(crate) fn unreached(&self, point: &Point, number: usize, now: Instant) -> Vec<String> {
        let ways = self.ways.iter().enumerate();
        let each = ways.map(|(way, line)| {
            let place = way_owner(point, 2 * number + way);
            line.unreached(&place, now)
        });
        each.flatten().collect()
    }

    pub(crate) fn count(&self, now: Instant) -> LinkCount {
        LinkCount {
            a_to_b: self.ways[0].count(),
            b_to_a: self.ways[1].count(),
            a_to_b_qdisc: self.ways[0].qdiscs(),
            b_to_a_qdisc: self.ways[1].qdiscs(),
            a_to_b_queue: self.ways[0].depth(now),
            b_to_a_queue: self.ways[1].depth(now),
        }
    }
}

/// The capture files of a point by host and interface.
pub(crate) type CaptureIndex = BTreeMap<(usize, String), usize>;
