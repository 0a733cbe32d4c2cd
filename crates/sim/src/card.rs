//! The receive side of a host's network card: queues, interrupts, and the time that CPUs need.
//!
//! Linux `__napi_schedule()`, `net_rx_action()`, `napi_gro_receive()`, `get_rps_cpu()`, `process_backlog()`. The hash
//! of a frame's flow selects its queue (receive-side scaling); queue n has CPU n. The first frame of an empty queue
//! raises an interrupt `rx_usecs` later, or as soon as `rx_frames` have come. A poll takes the frames that are there,
//! at most 64 when they take time, and GRO joins the frames of one poll. Frames that came meanwhile are polled at
//! once. With receive packet steering, the flow's hash selects the CPU that runs the stack on the output of GRO.
//!
//! A card that does not know CAQM's EtherType finds no ports behind it: all frames with a tag have one hash. Steering
//! is done by the kernel, which skips the tag.
//!
//! Left out: several cards of one host (its links share one), adaptive moderation, GRO that outlives a poll, packets
//! that the host only forwards.

use std::collections::VecDeque;

use tcplab_base::{Duration, Instant, Random};
use tcplab_plan::point::{Card as Settings, Ip};
use tcplab_qdisc::Packet as _;
use tcplab_wire::CaqmUnits;

use crate::gro::Gro;
use crate::packet::{Body, Packet, TTL};

/// Frames of a poll (`NAPI_POLL_WEIGHT`).
const WEIGHT: usize = 64;
/// Packets that wait for a CPU that they were steered to (`net.core.netdev_max_backlog`).
const BACKLOG: usize = 1_000;

/// A card with its CPUs.
#[derive(Debug)]
pub(crate) struct Card {
    settings: Settings,
    /// Keys of the card's hash and of the kernel's.
    keys: [u64; 2],
    cpus: Vec<Cpu>,
    joined: Joined,
}

/// What GRO did.
#[derive(Clone, Copy, Debug, Default)]
struct Joined {
    /// Frames that became part of the one before.
    frames: u64,
    /// Of these with a CAQM tag.
    tagged: u64,
}

/// A queue and the CPU that serves it.
#[derive(Debug, Default)]
struct Cpu {
    ring: VecDeque<Packet>,
    /// What was steered here.
    backlog: VecDeque<Packet>,
    state: State,
    /// What the round that is going on hands up at its end.
    done: Vec<Packet>,
    gro: Option<Gro>,
    was_backlog: bool,
    frames: u64,
    bytes: u64,
    dropped: u64,
    /// Packets that its stack got.
    up: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Idle,
    /// An interrupt comes at this time.
    Waits(Instant),
    /// A round ends at this time.
    Works(Instant),
}

/// What a CPU did: packets for the host's stack, and when CPUs are to be asked again.
#[derive(Debug, Default)]
pub(crate) struct Polled {
    pub up: Vec<Packet>,
    pub wakes: Vec<(u32, Instant)>,
}

impl Card {
    /// The card of a host with this number; `units` when it joins packets.
    pub fn new(settings: &Settings, seed: u64, host: usize, gro: Option<CaqmUnits>) -> Self {
        let key = |of: &str| Random::stream(seed, &format!("host/{host}/{of}")).below(u64::MAX);
        let cpu = |_| Cpu {
            gro: gro.map(Gro::new),
            ..Cpu::default()
        };
        Self {
            settings: *settings,
            keys: [key("rss"), key("rps")],
            cpus: (0..settings.rx_queues.max(1)).map(cpu).collect(),
            joined: Joined::default(),
        }
    }

    /// A frame comes from the wire; the CPU to wake, and when.
    pub fn takes(&mut self, now: Instant, packet: &Packet) -> Option<(u32, Instant)> {
        let is_blind = packet.has_tag() && !self.settings.caqm;
        let queue = if is_blind { 0 } else { self.chosen(0, packet) };
        let cpu = &mut self.cpus[queue];
        if cpu.ring.len() >= self.settings.rx_ring as usize {
            cpu.dropped += 1;
            return None;
        }
        cpu.frames += 1;
        cpu.bytes += u64::from(packet.frame_len());
        cpu.ring.push_back(*packet);
        let most = self.settings.rx_frames as usize;
        let at = match most > 0 && cpu.ring.len() >= most {
            true => now,
            false => now + Duration::from_nanos(self.settings.rx_ns),
        };
        cpu.wakes_at(at).map(|at| (queue as u32, at))
    }

    /// The queue or CPU of a packet by one of the keys.
    fn chosen(&self, key: usize, packet: &Packet) -> usize {
        let hash = packet.flow_keys().hash(self.keys[key]);
        ((u64::from(hash) * self.cpus.len() as u64) >> 32) as usize
    }

    /// The time of a CPU's event has come.
    pub fn wakes(&mut self, now: Instant, cpu: u32, out: &mut Polled) {
        let n = cpu as usize;
        match self.cpus.get(n).map(|cpu| cpu.state) {
            Some(State::Waits(at)) if at <= now => {}
            Some(State::Works(until)) if until <= now => self.hands_up(now, n, out),
            _ => return,
        }
        loop {
            let takes = self.round(n);
            let Some(takes) = takes else {
                self.cpus[n].state = State::Idle;
                return;
            };
            if takes > 0 {
                let until = now + Duration::from_nanos(takes);
                self.cpus[n].state = State::Works(until);
                out.wakes.push((cpu, until));
                return;
            }
            self.hands_up(now, n, out);
        }
    }

    /// Begins a round of a CPU: the time that it takes; none: nothing is to be done.
    fn round(&mut self, n: usize) -> Option<i64> {
        let Settings {
            frame_ns,
            packet_ns,
            rps,
            ..
        } = self.settings;
        let cpu = &mut self.cpus[n];
        cpu.was_backlog = !cpu.backlog.is_empty() && (cpu.ring.is_empty() || !cpu.was_backlog);
        if cpu.was_backlog {
            let packets = cpu.backlog.len().min(WEIGHT);
            cpu.done.extend(cpu.backlog.drain(..packets));
            return Some(packets as i64 * packet_ns);
        }
        let most = if frame_ns + packet_ns > 0 {
            WEIGHT
        } else {
            usize::MAX
        };
        let frames = cpu.ring.len().min(most);
        if frames == 0 {
            return None;
        }
        let tagged = cpu.poll(frames);
        self.joined.frames += (frames - cpu.done.len()) as u64;
        self.joined.tagged += tagged;
        let packets = if rps { 0 } else { cpu.done.len() as i64 };
        Some(frames as i64 * frame_ns + packets * packet_ns)
    }

    /// A round is over.
    fn hands_up(&mut self, now: Instant, n: usize, out: &mut Polled) {
        let mut done = std::mem::take(&mut self.cpus[n].done);
        if !self.settings.rps || self.cpus[n].was_backlog {
            self.cpus[n].up += done.len() as u64;
            out.up.append(&mut done);
            self.cpus[n].done = done;
            return;
        }
        for packet in done.drain(..) {
            let to = self.chosen(1, &packet);
            let cpu = &mut self.cpus[to];
            if cpu.backlog.len() >= BACKLOG {
                cpu.dropped += 1;
                continue;
            }
            cpu.backlog.push_back(packet);
            if to != n
                && let Some(at) = cpu.wakes_at(now)
            {
                out.wakes.push((to as u32, at));
            }
        }
        self.cpus[n].done = done;
    }

    /// By the names of `ethtool -S` where it has some.
    pub fn counters(&self) -> impl Iterator<Item = (String, u64)> + '_ {
        let each = self.cpus.iter().enumerate().flat_map(|(n, cpu)| {
            [
                (format!("rx_queue_{n}_packets"), cpu.frames),
                (format!("rx_queue_{n}_bytes"), cpu.bytes),
                (format!("rx_queue_{n}_drops"), cpu.dropped),
                (format!("rx_cpu_{n}_packets"), cpu.up),
            ]
        });
        let busy = |cpu: &&Cpu| cpu.frames > 0;
        let all = [
            (
                "rx_queues_busy",
                self.cpus.iter().filter(busy).count() as u64,
            ),
            ("rx_gro_joined", self.joined.frames),
            ("rx_gro_joined_caqm", self.joined.tagged),
        ];
        each.chain(all.map(|(name, value)| (name.to_owned(), value)))
    }
}

impl Cpu {
    /// It wakes at this time when it has nothing to do and waits for nothing that comes before.
    fn wakes_at(&mut self, at: Instant) -> Option<Instant> {
        match self.state {
            State::Works(_) => return None,
            State::Waits(before) if before <= at => return None,
            State::Idle | State::Waits(_) => {}
        }
        self.state = State::Waits(at);
        Some(at)
    }

    /// Takes so many frames through GRO. It gives how many tags were joined with others.
    fn poll(&mut self, frames: usize) -> u64 {
        let mut tagged = 0;
        for packet in self.ring.drain(..frames) {
            tagged += u64::from(packet.has_tag());
            let (Some(gro), Body::Tcp(segment), false) =
                (&mut self.gro, &packet.body, packet.corrupt)
            else {
                self.done.push(packet);
                continue;
            };
            let whole = gro.receive(segment, packet.ttl).into_iter().flatten();
            self.done.extend(whole.map(|segment| Packet {
                body: Body::Tcp(segment),
                ..packet
            }));
        }
        while let Some(segment) = self.gro.as_mut().and_then(Gro::next) {
            self.done.push(Packet {
                body: Body::Tcp(segment),
                // It is on its way up, where only TCP counts.
                ip: Ip::V4,
                id: 0,
                ttl: TTL,
                // The host has let its frames in.
                tag_type: 0,
                corrupt: false,
            });
        }
        let left = self.done.iter().filter(|packet| packet.has_tag()).count();
        tagged - left as u64
    }
}

#[cfg(test)]
mod tests {
    use tcplab_base::Seq;
    use tcplab_tcp::{Addr, Caqm, Segment};
    use tcplab_wire::{CaqmInfo, TcpFlags};

    use super::*;

    const MSS: u32 = 1_000;

    fn at(us: i64) -> Instant {
        Instant::from_nanos(us * 1_000)
    }

    /// Segment `number` of a flow.
    fn data(port: u16, number: u32, caqm: Caqm) -> Packet {
        let segment = Segment {
            src: Addr { host: 0, port },
            dst: Addr { host: 1, port: 80 },
            seq: Seq(number * MSS),
            len: MSS,
            flags: TcpFlags(TcpFlags::ACK),
            caqm,
            ..Segment::default()
        };
        Packet {
            body: Body::Tcp(segment),
            ip: Ip::V4,
            id: 0,
            ttl: TTL,
            tag_type: 0,
            corrupt: false,
        }
    }

    const TAG: Caqm = Caqm::Tag(CaqmInfo::request(0, 128));

    fn card(settings: Settings) -> Card {
        Card::new(&settings, 1, 0, Some(CaqmUnits::default()))
    }

    /// Feeds frames at these times, and lets CPUs go on: when what goes up does, its port and bytes.
    fn run(card: &mut Card, frames: &[(i64, Packet)]) -> Vec<(i64, u16, u32)> {
        let (mut out, mut went) = (Polled::default(), Vec::new());
        let mut events = std::collections::BTreeSet::new();
        let mut frames = frames.iter().peekable();
        loop {
            let next: Option<(Instant, u32)> = events.first().copied();
            if let Some((us, packet)) = frames.peek()
                && next.is_none_or(|(time, _)| at(*us) <= time)
            {
                events.extend(card.takes(at(*us), packet).map(|(cpu, at)| (at, cpu)));
                frames.next();
                continue;
            }
            let Some((now, cpu)) = next else { return went };
            events.pop_first();
            card.wakes(now, cpu, &mut out);
            events.extend(out.wakes.drain(..).map(|(cpu, at)| (at, cpu)));
            for packet in out.up.drain(..) {
                let Body::Tcp(segment) = packet.body else {
                    continue;
                };
                went.push((now.as_nanos() / 1_000, segment.src.port, segment.len));
            }
        }
    }

    fn count(card: &Card, name: &str) -> u64 {
        let found = card.counters().find(|(known, _)| known == name);
        found.unwrap_or_else(|| panic!("no {name}")).1
    }

    #[test]
    fn an_interrupt_waits_and_gro_joins_what_a_poll_finds() {
        let mut card = card(Settings {
            rx_ns: 8_000,
            ..Settings::default()
        });
        let frames: Vec<_> = [0, 3, 7, 9, 30]
            .into_iter()
            .zip(0..)
            .map(|(us, n)| (us, data(7, n, TAG)))
            .collect();
        assert_eq!(
            run(&mut card, &frames),
            [(8, 7, 3_000), (17, 7, 1_000), (38, 7, 1_000)]
        );
        assert_eq!(count(&card, "rx_queue_0_packets"), 5);
        assert_eq!(count(&card, "rx_gro_joined"), 2);
        assert_eq!(count(&card, "rx_gro_joined_caqm"), 2);
    }

    #[test]
    fn so_many_frames_do_not_wait_for_the_interrupt() {
        let mut card = card(Settings {
            rx_ns: 8_000,
            rx_frames: 2,
            ..Settings::default()
        });
        let frames = [0, 3, 7, 9, 30].into_iter().zip(0..);
        let frames: Vec<_> = frames.map(|(us, n)| (us, data(7, n, TAG))).collect();
        assert_eq!(
            run(&mut card, &frames),
            [(3, 7, 2_000), (9, 7, 2_000), (38, 7, 1_000)]
        );
    }

    /// 10 us for a frame, 100 us for a packet: while the first poll works, the others wait, and are polled at once.
    #[test]
    fn a_cpu_needs_its_time() {
        let mut card = card(Settings {
            frame_ns: 10_000,
            packet_ns: 100_000,
            rx_ring: 4,
            ..Settings::default()
        });
        let frames: Vec<_> = (0..7)
            .map(|n| (n as i64, data(7, n, Caqm::Plain)))
            .collect();
        // The first poll is at 0; of the six that come until 110 us four fit into the ring.
        assert_eq!(run(&mut card, &frames), [(110, 7, 1_000), (250, 7, 4_000)]);
        assert_eq!(count(&card, "rx_queue_0_drops"), 2);
        assert_eq!(count(&card, "rx_cpu_0_packets"), 2);
    }

    #[test]
    fn polls_take_64_frames_when_they_take_time() {
        let burst: Vec<_> = (0..130).map(|n| (0, data(n, 0, Caqm::Plain))).collect();
        let times = |settings| {
            let up = run(&mut card(settings), &burst);
            let mut times: Vec<i64> = up.iter().map(|up| up.0).collect();
            times.dedup();
            (up.len(), times)
        };
        let rx = Settings {
            rx_ns: 1_000,
            ..Settings::default()
        };
        assert_eq!(times(rx), (130, vec![1]));
        let slow = Settings {
            frame_ns: 1_000,
            ..rx
        };
        assert_eq!(times(slow), (130, vec![65, 129, 131]));
    }

    #[test]
    fn flows_are_spread_except_with_tags_unknown_to_the_card() {
        for (tag, caqm, rps, queues, cpus) in [
            (Caqm::Plain, false, false, 4, 4),
            (TAG, true, false, 4, 4),
            (TAG, false, false, 1, 1),
            (TAG, false, true, 1, 4),
        ] {
            let mut card = card(Settings {
                rx_queues: 4,
                caqm,
                rps,
                ..Settings::default()
            });
            let frames: Vec<_> = (0..200)
                .map(|n| (i64::from(n), data(n as u16 % 50, n / 50, tag)))
                .collect();
            let up = run(&mut card, &frames);
            assert_eq!(up.len(), 200, "all came, one by one");
            let busy = |name: &str| {
                (0..4)
                    .filter(|n| count(&card, &format!("rx_{name}_{n}_packets")) > 0)
                    .count()
            };
            let is = (busy("queue"), busy("cpu"));
            assert_eq!(is, (queues, cpus), "{tag:?} {caqm} {rps}");
            assert_eq!(count(&card, "rx_queues_busy"), queues as u64);
        }
    }

    /// A packet of 100 us for each of 50 flows: four CPUs need a quarter of the time of one, or a little more.
    #[test]
    fn steering_shares_the_work() {
        let frames: Vec<_> = (0..50).map(|n| (0, data(n, 0, TAG))).collect();
        let last = |rps| {
            let mut card = card(Settings {
                rx_queues: 4,
                packet_ns: 100_000,
                caqm: false,
                rps,
                ..Settings::default()
            });
            run(&mut card, &frames).last().map(|up| up.0)
        };
        assert_eq!(last(false), Some(5_000));
        let shared = last(true).unwrap();
        assert!((1_300..2_500).contains(&shared), "{shared}");
    }
}
