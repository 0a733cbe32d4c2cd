//! Any settings of a qdisc, any frames and super-segments, any times: two lines of words, the second to change to, then a
//! program of arrivals, questions and pauses.

use tcplab_base::{Duration, Instant};
use tcplab_link::Line;
use tcplab_plan::point::Direction;
use tcplab_qdisc::{Dequeued, Device, Packet, Qdisc, Settings, examples};
use tcplab_wire::{Joiner, SuperFrame, VnetHeader};

const DEVICE: Device = Device::new(1_500);
/// More than this of memory is not of one arrival.
const ARRIVAL: u64 = 4_000_000;

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.0.split_first() else {
            return 0;
        };
        self.0 = rest;
        *first
    }

    fn word(&mut self) -> u16 {
        u16::from_le_bytes([self.byte(), self.byte()])
    }

    fn some(&mut self, n: usize) -> &'a [u8] {
        let (some, rest) = self.0.split_at(n.min(self.0.len()));
        self.0 = rest;
        some
    }

    /// Up to the end of a line.
    fn settings(&mut self) -> Settings {
        let end = self.0.iter().position(|byte| *byte == b'\n');
        let line = self.some(end.unwrap_or(self.0.len()));
        self.byte();
        let text = String::from_utf8_lossy(line);
        let read = Settings::parse(&text).map_err(|wrong| {
            assert!(text.contains(wrong.word), "{wrong:?} is not in {text:?}");
        });
        // What takes the place of words that cannot be read.
        let example = examples().cycle().nth(line.len());
        let [words, _] = example.unwrap_or(["pfifo"; 2]);
        read.or_else(|()| Settings::parse(words))
            .unwrap_or_else(|wrong| panic!("{wrong:?}"))
    }

    fn vnet(&mut self, gso_type: u8) -> VnetHeader {
        let bits = self.byte();
        let size = self.word();
        VnetHeader {
            flags: bits & 3,
            gso_type: if bits & 4 == 0 { gso_type } else { bits },
            hdr_len: size,
            gso_size: size % if bits & 8 == 0 { 1_000 } else { u16::MAX },
            csum_start: if bits & 16 == 0 { 34 } else { size },
            csum_offset: if bits & 32 == 0 { 16 } else { 6 },
        }
    }

    /// A frame that is mostly right: IPv4 or IPv6, TCP or UDP, with options, a tag, and bytes that are anything.
    fn frame(&mut self) -> SuperFrame {
        let bits = self.byte();
        let (flow, tos) = (self.byte() & 7, self.byte());
        let len = usize::from(self.word()) % if bits & 16 == 0 { 1_460 } else { 4_000 };
        let (ack, flags) = (self.word(), self.byte() | 0x10);
        let (is_six, is_udp) = (bits & 1 != 0, bits & 2 != 0);
        let mut frame = vec![2; 12];
        if bits & 4 != 0 {
            frame.extend([0x81, 0, 0, 5]);
        }
        let options = self.some(if bits & 8 == 0 { 0 } else { 12 });
        let mut segment = match is_udp {
            true => vec![0, flow, 0, 53, 0, 0, 0, 0],
            false => {
                let words = ((20 + options.len()) / 4) as u8;
                let [high, low] = ack.to_be_bytes();
                let mut header = vec![0, flow, 0, 80, 0, 0, 0, 1, 0, 0, high, low];
                header.extend([words << 4, flags, 1, 0, 0, 0, 0, 0]);
                header.extend_from_slice(options);
                header
            }
        };
        segment.resize(segment.len() + if bits & 32 == 0 { len } else { 0 }, 7);
        let protocol = if is_udp { 17 } else { 6 };
        match is_six {
            true => {
                let [high, low] = (segment.len() as u16).to_be_bytes();
                frame.extend([
                    0x86,
                    0xdd,
                    0x60 | tos >> 4,
                    tos << 4,
                    0,
                    0,
                    high,
                    low,
                    protocol,
                    64,
                ]);
                frame.extend([1; 32]);
            }
            false => {
                let [high, low] = (20 + segment.len() as u16).to_be_bytes();
                frame.extend([
                    8, 0, 0x45, tos, high, low, 0, 1, 0x40, 0, 64, protocol, 0, 0,
                ]);
                frame.extend([10, 0, 0, flow & 3, 10, 0, 0, 9]);
            }
        }
        frame.extend(segment);
        if bits & 64 != 0 {
            let at = usize::from(self.byte()) % frame.len();
            frame[at] = self.byte();
        }
        if bits & 128 == 0 {
            return SuperFrame::plain(frame);
        }
        let kind = match (is_udp, is_six) {
            (true, _) => VnetHeader::UDP_L4,
            (_, true) => VnetHeader::TCPV6,
            _ => VnetHeader::TCPV4,
        };
        whole(frame, &self.vnet(kind))
    }

    /// Bytes that are anything.
    fn any(&mut self) -> SuperFrame {
        let n = usize::from(self.byte());
        let frame = self.some(n).to_vec();
        whole(frame, &self.vnet(VnetHeader::TCPV4))
    }
}

/// A frame with its header, or without, when it is refused; what it is cut into is joined to what it was.
fn whole(bytes: Vec<u8>, header: &VnetHeader) -> SuperFrame {
    assert_eq!(VnetHeader::parse(&header.emit()), Some(*header));
    let Ok(frame) = SuperFrame::new(bytes.clone(), header) else {
        return SuperFrame::plain(bytes);
    };
    let mut pieces = Vec::new();
    if frame.split(Vec::new, |piece| pieces.push(piece)) {
        let sizes: u32 = pieces.iter().map(Packet::size).sum();
        assert_eq!(sizes, frame.size());
        let mut left = pieces.iter();
        let mut again = Vec::new();
        let mut joiner = left.next().cloned().map(Joiner::new);
        for piece in left {
            if joiner.as_mut().is_some_and(|joiner| joiner.push(piece)) {
                continue;
            }
            again.extend(
                joiner
                    .replace(Joiner::new(piece.clone()))
                    .map(Joiner::finish),
            );
        }
        again.extend(joiner.map(Joiner::finish));
        let mut frames = Vec::new();
        for frame in again {
            if !frame.split(Vec::new, |piece| frames.push(piece)) {
                frames.push(frame);
            }
        }
        assert_eq!(frames, pieces, "split, joined and split again");
    }
    frame
}

/// Whether all bytes are accounted for.
struct Books {
    qdisc: Qdisc<SuperFrame>,
    came: u64,
    left: u64,
}

impl Books {
    /// When to ask again; none: nothing waits.
    fn take(&mut self, now: Instant) -> Option<Instant> {
        match self.qdisc.dequeue(now) {
            Dequeued::Packet(frame) => {
                self.left += u64::from(frame.size());
                Some(now)
            }
            Dequeued::Wait(at) => {
                assert!(at > now, "a wait for {at:?} at {now:?}");
                Some(at)
            }
            Dequeued::Empty => {
                assert_eq!(self.qdisc.stats().qlen, 0, "empty, and packets wait");
                None
            }
        }
    }

    fn check(&self) {
        let stats = self.qdisc.stats();
        let own = self.qdisc.own();
        let named = |name| own.iter().find(|(is, _)| *is == name).map(|(_, n)| *n);
        if let (Some(used), Some(limit)) = (named("memory_used"), named("memory_limit")) {
            assert!(used <= limit + ARRIVAL, "{used} bytes");
        }
        assert_eq!(stats.bytes, self.left);
        let all = stats.bytes + stats.dropped_bytes + stats.backlog;
        assert_eq!(self.came + stats.copied_bytes, all, "{stats:?}");
    }
}

/// The target.
pub fn qdisc(data: &[u8]) {
    let mut bytes = Bytes(data);
    let (first, second) = (bytes.settings(), bytes.settings());
    let mut books = Books {
        qdisc: Qdisc::new(&first, DEVICE, 1, "fuzz"),
        came: 0,
        left: 0,
    };
    let way = |settings: &Settings| Direction {
        queue: Some(settings.clone()),
        ..Direction::default()
    };
    let mut line = Line::new(&way(&first), DEVICE.mtu, 1, "fuzz");
    let mut now = Instant::from_nanos(1_000);
    while !bytes.0.is_empty() {
        match bytes.byte() % 8 {
            op @ 0..4 => {
                let frame = if op == 0 { bytes.any() } else { bytes.frame() };
                books.came += u64::from(frame.size());
                line.enter(now, frame.size() as usize, Default::default, frame.clone());
                books.qdisc.enqueue(now, frame);
            }
            4 | 5 => {
                for _ in 0..bytes.byte() % 8 {
                    books.take(now);
                }
                while line.poll(now).is_some() {}
            }
            6 => {
                let (ns, shift) = (i64::from(bytes.word()), bytes.byte() % 20);
                now = now + Duration::from_nanos(ns << shift);
            }
            _ => {
                books.qdisc.change(&second, DEVICE);
                let _refused = line.change(now, &way(&second), DEVICE.mtu, (1, "fuzz"));
            }
        }
        books.check();
    }
    for _ in 0..100_000 {
        match books.take(now) {
            Some(at) => now = at,
            None => break,
        }
    }
    books.check();
}
