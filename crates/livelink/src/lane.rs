//! One way of a live link: what comes in at one end, until it goes out at the other.

use tcplab_base::Instant;
use tcplab_link::{Changed, Kind, Line, damage};
use tcplab_os::OsError;
use tcplab_plan::point::Direction;
use tcplab_wire::{SuperFrame, VnetHeader, mark_ce};

use super::count::WaySnapshot;
use super::frame::LiveFrame;
use super::out::Out;
use super::port::{Header, LONGEST, Port};

/// Buffers that are kept.
const SPARE: usize = 4096;

/// A way with its settings.
pub(super) struct Lane {
    settings: Direction,
    /// None: it has always been plain.
    line: Option<Line<LiveFrame>>,
    start: Instant,
    mtu: u32,
    seed: u64,
    name: &'static str,
    count: WaySnapshot,
    /// Marks and filtered ACKs of qdiscs that were replaced.
    past: [u64; 2],
    spare: Vec<Vec<u8>>,
    out: Out,
}

impl Lane {
    pub(super) fn new(settings: Direction, mtu: u32, seed: u64, name: &'static str) -> Self {
        let line = || Line::new(&settings, mtu, seed, name);
        Self {
            line: (!settings.is_plain()).then(line),
            settings,
            start: Instant::default(),
            mtu,
            seed,
            name,
            count: WaySnapshot::default(),
            past: [0; 2],
            spare: Vec::new(),
            out: Out::default(),
        }
    }

    /// The way begins.
    pub(super) fn begin(&mut self, now: Instant) {
        self.start = now;
        if let Some(line) = &mut self.line {
            line.begin(now);
        }
    }

    /// A frame came in: the first `length` bytes of `buffer`, which is as long again afterwards. It goes on to `to` when
    /// nothing holds it.
    pub(super) fn enter(
        &mut self,
        now: Instant,
        header: &Header,
        (buffer, length): (&mut Vec<u8>, usize),
        to: &Port,
    ) -> Result<(), OsError> {
        if length == 0 {
            self.count.invalid += 1;
            return Ok(());
        }
        if self.passes() {
            self.count.frames_in += 1;
            self.count.bytes_in += length as u64;
            return self.out.pass(header, &buffer[..length], to);
        }
        let header = VnetHeader::parse(header).unwrap_or_default();
        if header.gso_type == VnetHeader::NONE {
            let mut bytes = self.spare.pop().unwrap_or_default();
            bytes.clear();
            bytes.extend_from_slice(&buffer[..length]);
            self.one(now, bytes, &header);
            return Ok(());
        }
        let mut bytes = std::mem::take(buffer);
        bytes.truncate(length);
        *buffer = self.cut(now, bytes, &header);
        buffer.resize(LONGEST, 0);
        Ok(())
    }

    /// Whether frames go on at once, super-segments whole: nothing waits that they could overtake.
    fn passes(&self) -> bool {
        self.settings.is_plain() && self.next_time().is_none()
    }

    /// A frame of the wire, but for a checksum that the sender's card should have filled in.
    fn one(&mut self, now: Instant, bytes: Vec<u8>, header: &VnetHeader) {
        match SuperFrame::new(bytes, header) {
            Ok(mut frame) => {
                frame.complete();
                self.queue(now, frame.into_bytes());
            }
            Err(_) => self.count.invalid += 1,
        }
    }

    /// Cuts a super-segment, for the queue must see what the wire would; gives its buffer back.
    fn cut(&mut self, now: Instant, bytes: Vec<u8>, header: &VnetHeader) -> Vec<u8> {
        let Ok(mut frame) = SuperFrame::new(bytes, header) else {
            self.count.invalid += 1;
            return Vec::new();
        };
        let mut spare = std::mem::take(&mut self.spare);
        let buffer = || spare.pop().unwrap_or_default();
        let is_cut = frame.split(buffer, |segment| self.queue(now, segment.into_bytes()));
        // The queue may have given some back meanwhile.
        spare.append(&mut self.spare);
        self.spare = spare;
        if is_cut {
            self.count.super_segments += 1;
        } else {
            frame.complete();
            self.queue(now, frame.bytes().to_vec());
        }
        frame.into_bytes()
    }

    fn queue(&mut self, now: Instant, bytes: Vec<u8>) {
        let Some(line) = &mut self.line else { return };
        let length = bytes.len();
        self.count.frames_in += 1;
        self.count.bytes_in += length as u64;
        let looks = !self.settings.events.is_empty();
        let kind = match looks {
            true => Kind::of_ethernet(&bytes),
            false => Kind::default(),
        };
        line.enter(now, length, || kind, LiveFrame { bytes, came: now });
    }

    /// What is due goes out.
    pub(super) fn leave(&mut self, now: Instant, to: &Port) -> Result<(), OsError> {
        while let Some(mut out) = self.line.as_mut().and_then(|line| line.poll(now)) {
            let late = now.since(out.at).as_nanos().max(0) as u64;
            let delay = now.since(out.frame.came).as_nanos().max(0) as u64;
            let count = &mut self.count;
            count.late_max_ns = count.late_max_ns.max(late);
            count.delay_max_ns = count.delay_max_ns.max(delay);
            count.delay_sum_ns += delay;
            let bytes = &mut out.frame.bytes;
            if out.mark && mark_ce(bytes) {
                count.marks += 1;
            }
            if out.corrupt {
                damage(bytes);
            }
            let spare = self.out.push(out.at, out.frame.bytes, to)?;
            self.keep(spare);
        }
        let spare = self.out.flush(to)?;
        self.keep(spare);
        Ok(())
    }

    fn keep(&mut self, spare: Option<Vec<u8>>) {
        if self.spare.len() < SPARE {
            self.spare.extend(spare);
        }
    }

    /// When it is to be asked for frames again.
    pub(super) fn next_time(&self) -> Option<Instant> {
        self.line.as_ref().and_then(Line::next_time)
    }

    /// Other settings; says what became of the frames that waited.
    pub(super) fn change(&mut self, now: Instant, settings: Direction) -> Result<String, String> {
        let streams = (self.seed, self.name);
        let how = match &mut self.line {
            None if settings.is_plain() => "nothing".into(),
            None => {
                let mut line = Line::new(&settings, self.mtu, self.seed, self.name);
                line.begin(self.start);
                self.line = Some(line);
                "it was plain".into()
            }
            Some(line) => {
                let before = marks_and_acks(line);
                let changed = line.change(now, &settings, self.mtu, streams);
                let changed = changed.map_err(|e| e.to_string())?;
                if let Changed::Replaced { .. } = changed {
                    self.past[0] += before[0];
                    self.past[1] += before[1];
                }
                words(changed)
            }
        };
        self.settings = settings;
        Ok(how)
    }

    /// What was listed in its settings and changed nothing; `name`: the way's.
    pub(super) fn unreached(&self, name: &str, now: Instant) -> Vec<String> {
        let line = self.line.as_ref();
        line.map_or_else(Vec::new, |line| line.unreached(name, now))
    }

    /// What it counts now; `dropped`: frames that the device took and dropped. The longest times begin anew.
    pub(super) fn look(&mut self, now: Instant, missed: u64, dropped: u64) -> WaySnapshot {
        let mut look = self.count.clone();
        look.missed = missed;
        let written = self.out.written;
        // Others may send through the device, too.
        let dropped = dropped.min(written.frames);
        (look.frames_out, look.bytes_out) = (written.frames - dropped, written.bytes);
        look.refused = written.refused + dropped;
        (self.count.delay_max_ns, self.count.late_max_ns) = (0, 0);
        if let Some(line) = &mut self.line {
            let count = line.count();
            let [pkts, bytes, ..] = line.sample(now, |frame| frame.bytes.len());
            (look.queue_pkts, look.queue_bytes) = (pkts.max(0) as u64, bytes.max(0) as u64);
            (look.lost, look.drops) = (count.lost, count.queue_drops);
            look.qdisc = line.qdisc();
            let [marks, acks] = marks_and_acks(line);
            look.marks += self.past[0] + marks;
            look.ack_drops = self.past[1] + acks;
            // In tc's `drops` they are counted too.
            look.drops = look.drops.saturating_sub(look.ack_drops);
        }
        look
    }
}

/// What a line's qdisc has marked, and its ACK filter taken.
fn marks_and_acks(line: &Line<LiveFrame>) -> [u64; 2] {
    let Some(count) = line.qdisc() else {
        return [0; 2];
    };
    let marks = count.named("ecn_mark") + count.named("ce_mark");
    [marks, count.named("ack_drops")]
}

/// What became of the queue.
fn words(changed: Changed) -> String {
    match changed {
        Changed::Kept => "the queue is unchanged".into(),
        Changed::Settings => "the queue keeps its packets".into(),
        Changed::Replaced { pkts: 0, .. } => "new queue; the old queue was empty".into(),
        Changed::Replaced { pkts, bytes } => {
            format!("new queue; {pkts} waiting packets ({bytes} bytes) were dropped")
        }
    }
}
