//! A receiver's script, played to the endpoint of a profile: the ACKs that this stack would have sent.

use tcplab_base::{Instant, Seq};
use tcplab_plan::point::{Offload, Route, SocketOptions};
use tcplab_plan::profile::Profile;
use tcplab_tcp::{
    Addr, Addresses, Clock, ConnId, Event as Note, HostConfig, Interfaces, ListenId, ReadOutcome,
    RxTruesize,
};
use tcplab_tcp::{Caqm, Segment, Stack, Sysctl};
use tcplab_wire::{SackBlocks, TcpFlags};

use super::gather::Packet;
use super::script::{Ack, Lack, News, Script, What};

/// Properties of the receiver that a capture does not show, so each value is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setup {
    /// Ticks a second.
    pub hz: u32,
    /// Phase of the tick, nanoseconds.
    pub phase: i64,
    /// Memory that a received frame counts for; none: as small as the allocator makes it.
    pub truesize: Option<u32>,
    /// From the arrival of data to the read, nanoseconds.
    pub read_delay: i64,
}

const RECEIVER: u16 = 0;
const PEER: u16 = 1;

/// The connection in the model, and how its numbers differ from the captured ones.
struct Replay<'a> {
    script: &'a Script,
    stack: Stack,
    listener: Option<ListenId>,
    conn: Option<ConnId>,
    own: Addr,
    peer: Addr,
    /// The model's first sequence number and TSval of the receiver.
    isn: Seq,
    tsval: u32,
    opened: bool,
    read_at: Option<i64>,
    read_delay: i64,
    /// What it sends.
    acks: Vec<Ack>,
    filter: News,
}

/// The ACKs that the profile sends when it is given this script.
pub(super) fn replay(script: &Script, profile: &Profile, setup: &Setup) -> Result<Vec<Ack>, Lack> {
    let mut replay = Replay::new(script, profile, setup);
    replay.open();
    for event in &script.events {
        replay.until(event.at);
        replay.event(event.at, &event.what);
    }
    // Timers that were still to come when the capture ended.
    let end = script.events.last().map_or(script.start, |e| e.at);
    let last = script.acks.last().map_or(end, |a| a.at.max(end));
    replay.until(last.saturating_add(300_000_000));
    match replay.conn {
        Some(_) => Ok(replay.acks),
        None => Err(Lack::Model),
    }
}

/// The sysctls that the receiver's own SYN shows.
fn sysctls(script: &Script, profile: &Profile) -> Sysctl {
    let mut sysctl = Sysctl::default();
    for (name, value) in profile.sysctl {
        // The model ignores names that it does not know.
        let _ = sysctl.set(name, value);
    }
    let own = &script.own_syn().options;
    let peer = match script.is_client {
        true => &script.syn_ack.options,
        false => &script.syn.options,
    };
    // A SYN-ACK has an option only when the SYN had it: then nothing is known, and nothing depends on it.
    if peer.timestamps.is_some() || script.is_client {
        sysctl.tcp_timestamps = u8::from(own.timestamps.is_some());
    }
    if peer.sack_permitted || script.is_client {
        sysctl.tcp_sack = own.sack_permitted;
    }
    if peer.window_scale.is_some() || script.is_client {
        sysctl.tcp_window_scaling = own.window_scale.is_some();
    }
    if let Some(tags) = &script.caqm {
        sysctl.sysctl_caqm_enable = true;
        // All interfaces, or none: the capture does not say which of them this is.
        sysctl.sysctl_caqm_filter_nics = if tags.receiver > 0 { u64::MAX } else { 0 };
    }
    sysctl
}

impl<'a> Replay<'a> {
    fn new(script: &'a Script, profile: &Profile, setup: &Setup) -> Self {
        let host = HostConfig {
            profile: Profile {
                hz: setup.hz,
                ..profile.clone()
            },
            sysctl: sysctls(script, profile),
            // An hour after boot: no counter is near its start.
            clock: Clock::new(setup.hz, 3_600_000_000_000 - script.start + setup.phase),
            route: Route::default(),
            offload: Offload::Gro,
            queue: Default::default(),
            rx_truesize: setup
                .truesize
                .map_or(RxTruesize::Kmalloc, RxTruesize::Fixed),
            ip_header: script.ip.header_bytes(),
            addresses: Addresses::new(script.ip),
            interfaces: Interfaces::default(),
            secret: 1,
            external: None,
            paths: Default::default(),
        };
        let peer_isn = match script.is_client {
            true => script.syn_ack.seq,
            false => script.syn.seq,
        };
        Self {
            script,
            stack: Stack::new(host),
            listener: None,
            conn: None,
            own: Addr {
                host: RECEIVER,
                port: 80,
            },
            peer: Addr {
                host: PEER,
                port: 40_000,
            },
            isn: Seq(0),
            tsval: 0,
            opened: false,
            read_at: None,
            read_delay: setup.read_delay,
            acks: Vec::new(),
            filter: News::after(peer_isn + 1),
        }
    }

    /// The receiver's MTU, as the MSS option of its SYN gives it.
    fn mtu(&self) -> u32 {
        let mss = self.script.own_syn().options.mss.unwrap_or(536);
        u32::from(mss).max(88) + 20 + self.script.ip.header_bytes()
    }

    fn open(&mut self) {
        let now = Instant::from_nanos(self.script.start);
        // What is written leaves at once, as it was captured.
        let options = SocketOptions {
            nodelay: Some(true),
            congestion: self.script.caqm.map(|_| "caqm".to_owned()),
            ..SocketOptions::default()
        };
        let mtu = self.mtu();
        if self.script.is_client {
            if let Ok((conn, own)) = self.stack.connect(now, RECEIVER, self.peer, &options, mtu) {
                self.conn = Some(conn);
                self.own = own;
            }
        } else {
            self.listener = Some(self.stack.listen(self.own, &options, 16, mtu));
        }
        self.drain(self.script.start);
    }

    /// Timers and reads up to a time.
    fn until(&mut self, to: i64) {
        // A timer that never moves on would be a defect of the model; the capture must still end.
        for _ in 0..1_000_000 {
            let timer = self.stack.next_timer().map(Instant::as_nanos);
            let next = match (timer, self.read_at) {
                (Some(t), Some(r)) => t.min(r),
                (Some(t), None) => t,
                (None, Some(r)) => r,
                (None, None) => return,
            };
            if next > to {
                return;
            }
            if self.read_at == Some(next) {
                self.read_at = None;
                self.read(next);
            } else {
                self.stack.on_timer(Instant::from_nanos(next));
            }
            self.drain(next);
        }
    }

    fn event(&mut self, at: i64, what: &What) {
        let now = Instant::from_nanos(at);
        match what {
            What::Arrives(packet) => {
                let segment = self.segment(packet);
                self.stack.on_segment(now, &segment);
            }
            What::Writes(bytes) => {
                if let Some(conn) = self.conn {
                    let bytes = u64::from(*bytes);
                    let _ = self
                        .stack
                        .with(now, conn, |ep, cx| ep.write(cx, bytes, false));
                }
            }
            What::Finishes => {
                if let Some(conn) = self.conn {
                    let _ = self.stack.with(now, conn, |ep, cx| ep.shutdown_write(cx));
                }
            }
        }
        self.drain(at);
    }

    /// The captured segment in the model's numbers.
    fn segment(&self, p: &Packet) -> Segment {
        let own = self.script.own_isn();
        let moved = |seq: Seq| self.isn + seq.distance(own) as u32;
        let mut options = p.options;
        let mut sack = SackBlocks::default();
        for &(left, right) in p.options.sack.as_slice() {
            sack.push(moved(left), moved(right));
        }
        options.sack = sack;
        if let (Some((val, ecr)), Some((first, _))) = (
            p.options.timestamps,
            self.script.own_syn().options.timestamps,
        ) {
            let ecr = match ecr {
                0 => 0,
                _ => ecr.wrapping_sub(first).wrapping_add(self.tsval),
            };
            options.timestamps = Some((val, ecr));
        }
        let mss = u32::from(self.script.own_syn().options.mss.unwrap_or(536));
        Segment {
            src: self.peer,
            dst: self.own,
            seq: p.seq,
            ack: if p.flags.has(TcpFlags::ACK) {
                moved(p.ack)
            } else {
                p.ack
            },
            len: p.len,
            window: p.window,
            urgent: p.urgent,
            flags: p.flags,
            // The card or the kernel joined segments before they were captured.
            gso_size: if p.len > mss {
                (mss - self.ts_len(p)).max(1) as u16
            } else {
                0
            },
            tos: p.ecn,
            caqm: p.caqm.map_or(Caqm::Plain, Caqm::Tag),
            options,
        }
    }

    fn ts_len(&self, p: &Packet) -> u32 {
        if p.options.timestamps.is_some() {
            12
        } else {
            0
        }
    }

    /// Takes what the stack has to say.
    fn drain(&mut self, at: i64) {
        loop {
            let mut quiet = true;
            while let Some(segment) = self.stack.poll_segment() {
                quiet = false;
                self.sent(at, &segment);
            }
            while let Some(note) = self.stack.poll_event() {
                quiet = false;
                self.note(at, note);
            }
            if quiet {
                return;
            }
        }
    }

    fn sent(&mut self, at: i64, segment: &Segment) {
        if segment.flags.has(TcpFlags::SYN) {
            if !self.opened {
                self.opened = true;
                self.isn = segment.seq;
                self.tsval = segment.options.timestamps.map_or(0, |(val, _)| val);
            }
            return;
        }
        let sack = segment.options.sack.as_slice().first().copied();
        let is_ack = segment.flags.has(TcpFlags::ACK) && !segment.flags.has(TcpFlags::RST);
        if is_ack && self.filter.takes(segment.ack, sack) {
            self.acks.push(Ack {
                at,
                ack: segment.ack,
                sack,
                frame: 0,
                wait: 0,
            });
        }
    }

    fn note(&mut self, at: i64, note: Note) {
        match note {
            Note::Acceptable(listener) => {
                let now = Instant::from_nanos(at);
                if let Some((conn, _)) = self.stack.accept(now, listener) {
                    self.conn = Some(conn);
                    // Data may have come before.
                    self.wake(at);
                }
            }
            Note::Readable(_) => self.wake(at),
            Note::Connected(_) | Note::Writable(_) => {}
        }
    }

    fn wake(&mut self, at: i64) {
        match self.read_delay {
            0 => self.read(at),
            delay => {
                self.read_at.get_or_insert(at + delay);
            }
        }
    }

    /// Reads all there is.
    fn read(&mut self, at: i64) {
        let Some(conn) = self.conn else { return };
        let now = Instant::from_nanos(at);
        // One read takes all; another one only finds that nothing is left.
        let _: Option<ReadOutcome> = self.stack.with(now, conn, |ep, cx| ep.read(cx, 1 << 40));
    }
}
