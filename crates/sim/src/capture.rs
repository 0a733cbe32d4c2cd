//! Captures at the hosts' interfaces, as tcpdump on each host would write them.
//!
//! Nothing is opened here: each interface has a [`Write`] that its frames go to. Frames have the
//! headers that they would have on a kernel; the applications' bytes are zeros there too.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::net::IpAddr;

use tcplab_base::{Instant, Random};
use tcplab_capture::{Interface, PcapngWriter};
use tcplab_plan::Point;
use tcplab_plan::network::{ethernet_address, host_address, loopback_address};
use tcplab_plan::point::Ip;
use tcplab_tcp::{Addr, Segment, ip_offset};
use tcplab_wire::emit::EmitError;
use tcplab_wire::{Config, LinkType, TcpFlags};

use crate::headers::{self, Outer};
use crate::packet::{Body, Packet};
use crate::too_big::Quoted;

/// The captures of a run: one output for each interface, in the order of
/// [`interfaces`](tcplab_plan::network::interfaces).
pub struct Captures {
    files: Vec<PcapngWriter<Box<dyn Write + Send>>>,
    /// Bytes kept of a frame.
    snap: usize,
    /// The date of the run's start: simulated time begins at 0.
    epoch_ns: i64,
    frame: Vec<u8>,
    failed: Option<io::Error>,
    ids: Ids,
}

/// Between which Ethernet addresses a frame goes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Hop {
    /// Over a link, from its end `side`.
    Link { number: usize, side: usize },
    /// Within a host.
    Loopback,
}

impl std::fmt::Debug for Captures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Captures({} files)", self.files.len())
    }
}

impl Captures {
    /// With one output for each interface of the point. `epoch_ns` is the date of simulated time 0
    /// in nanoseconds since 1970.
    ///
    /// # Errors
    /// When an output takes no bytes.
    pub fn new(
        point: &Point,
        epoch_ns: i64,
        outputs: Vec<(String, Box<dyn Write + Send>)>,
    ) -> io::Result<Self> {
        let mut files = Vec::new();
        for (name, output) in outputs {
            let mut file = PcapngWriter::new(output)?;
            file.add_interface(&Interface {
                link: LinkType::Ethernet,
                snaplen: point.snap_bytes,
                tsresol: 9,
                name: Some(name.into()),
            })?;
            files.push(file);
        }
        let snap = match point.snap_bytes {
            0 => usize::MAX,
            n => n as usize,
        };
        Ok(Self {
            files,
            snap,
            epoch_ns,
            frame: Vec::new(),
            failed: None,
            ids: Ids::new(point.seed),
        })
    }

    /// The identification of a packet that leaves its host.
    #[cold]
    #[inline(never)]
    pub(crate) fn id(&mut self, body: &Body) -> u16 {
        self.ids.of(body)
    }

    /// Which hash of its connection a segment over IPv6 has; `rehashes`: of the connection, where there is one.
    #[cold]
    #[inline(never)]
    pub(crate) fn hash(&mut self, segment: &Segment, rehashes: Option<u16>) -> u16 {
        self.ids.hash(segment, rehashes)
    }

    /// A packet passes an interface.
    #[cold]
    #[inline(never)]
    pub(crate) fn packet(
        &mut self,
        file: usize,
        now: Instant,
        (packet, quoted): (&Packet, Option<&Quoted>),
        hop: Hop,
    ) {
        if self.failed.is_some() {
            return;
        }
        self.frame.clear();
        let flow_label = self.ids.flow_label(packet);
        let whole = match frame((packet, quoted), hop, flow_label, &mut self.frame) {
            Ok(whole) => whole,
            Err(e) => {
                self.failed = Some(io::Error::other(e.to_string()));
                return;
            }
        };
        // The payload is zeros.
        self.frame.resize(self.snap.min(whole as usize), 0);
        let at = Instant::from_nanos(now.as_nanos().saturating_add(self.epoch_ns));
        if let Some(out) = self.files.get_mut(file)
            && let Err(e) = out.packet(0, Some(at), &self.frame, whole, &[])
        {
            self.failed = Some(e);
        }
    }

    /// The frame of a replay passes an interface.
    #[cold]
    #[inline(never)]
    pub(crate) fn raw(&mut self, file: usize, now: Instant, frame: &[u8]) {
        if self.failed.is_some() {
            return;
        }
        let at = Instant::from_nanos(now.as_nanos().saturating_add(self.epoch_ns));
        let kept = &frame[..frame.len().min(self.snap)];
        if let Some(out) = self.files.get_mut(file)
            && let Err(e) = out.packet(0, Some(at), kept, frame.len() as u32, &[])
        {
            self.failed = Some(e);
        }
    }

    /// Flushes all outputs.
    ///
    /// # Errors
    /// The first error that an output had.
    pub fn finish(self) -> io::Result<()> {
        if let Some(e) = self.failed {
            return Err(e);
        }
        self.files
            .into_iter()
            .try_for_each(|file| file.finish().map(drop))
    }
}

/// What flow labels of one way of a connection depend on.
#[derive(Clone, Copy, Debug, Default)]
struct Hash {
    of_connection: u16,
    syn_acks: u16,
}

/// IP identifications as Linux gives them: a connected socket counts from a number of chance, what
/// has no socket (SYN-ACK, resets to nobody) has 0. And flow labels: each socket has one of chance.
#[derive(Debug)]
struct Ids {
    next: BTreeMap<(Addr, Addr), u16>,
    hashes: BTreeMap<(Addr, Addr), Hash>,
    first: Random,
    seed: u64,
}

impl Ids {
    fn new(seed: u64) -> Self {
        Self {
            next: BTreeMap::new(),
            hashes: BTreeMap::new(),
            first: Random::stream(seed, "capture/ip_id"),
            seed,
        }
    }

    /// Each SYN-ACK of a request has a hash of its own (`tcp_rtx_synack()`), and the connection begins with the last one.
    /// What a connection leaves behind (TIME-WAIT) keeps its hash.
    fn hash(&mut self, segment: &Segment, rehashes: Option<u16>) -> u16 {
        let hash = self.hashes.entry((segment.src, segment.dst)).or_default();
        let both = TcpFlags::SYN | TcpFlags::ACK;
        match rehashes {
            Some(of_connection) => hash.of_connection = of_connection,
            None if segment.flags.0 & both == both => hash.syn_acks += 1,
            None => {}
        }
        let of_request = hash.syn_acks.saturating_sub(1);
        hash.of_connection.wrapping_add(of_request)
    }

    /// The flow label of an IPv6 packet (RFC 6437): one for each hash of each way of each connection.
    fn flow_label(&self, packet: &Packet) -> u32 {
        let (src, dst) = match &packet.body {
            Body::Tcp(s) => (s.src, s.dst),
            Body::Udp(d) => (d.src, d.dst),
        };
        let ends = [src, dst].map(|end| (u64::from(end.host) << 16) | u64::from(end.port));
        let hash = u64::from(packet.id).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let stream = self.seed ^ (ends[0] << 32 | ends[1]) ^ hash;
        Random::stream(stream, "capture/flow_label").below(1 << 20) as u32
    }

    fn of(&mut self, body: &Body) -> u16 {
        let (src, dst) = match body {
            Body::Tcp(s) if s.flags.has(TcpFlags::SYN) && s.flags.has(TcpFlags::ACK) => return 0,
            Body::Tcp(s) => (s.src, s.dst),
            Body::Udp(d) => (d.src, d.dst),
        };
        let first = &mut self.first;
        let next = self
            .next
            .entry((src, dst))
            .or_insert_with(|| first.below(1 << 16) as u16);
        let id = *next;
        *next = next.wrapping_add(1);
        id
    }
}

/// The bytes of a frame without its payload; gives its length on the wire.
fn frame(
    (packet, quoted): (&Packet, Option<&Quoted>),
    hop: Hop,
    flow_label: u32,
    out: &mut Vec<u8>,
) -> Result<u32, EmitError> {
    let whole = match &packet.body {
        Body::Tcp(segment) => {
            let ends = addresses(packet.ip, segment.src, segment.dst);
            let id = (packet.ip == Ip::V4).then_some(packet.id);
            let tcp = segment.packet(ends, packet.ttl, id);
            let link = LinkType::Ethernet;
            let config = Config {
                caqm_ethertype: packet.tag_type,
                ..Config::default()
            };
            let whole = segment.emit(link, &tcp, &config, out)?;
            let ip = ip_offset(link, &tcp);
            if packet.ip == Ip::V6
                && let Some(label) = out.get_mut(ip + 1..ip + 4)
            {
                let [_, high, middle, low] = flow_label.to_be_bytes();
                label[0] |= high;
                label[1..].copy_from_slice(&[middle, low]);
            }
            whole
        }
        Body::Udp(datagram) => {
            let [src, dst] = addresses(packet.ip, datagram.src, datagram.dst);
            let outer = Outer {
                src,
                dst,
                id: packet.id,
                ttl: packet.ttl,
                flow_label,
            };
            match quoted {
                None => headers::frame(datagram, outer, out),
                Some(quoted) => headers::too_big(datagram, quoted, outer, out)?,
            }
        }
    };
    let (to, from) = match hop {
        Hop::Link { number, side } => (
            ethernet_address(number, 1 - side),
            ethernet_address(number, side),
        ),
        Hop::Loopback => ([0; 6], [0; 6]),
    };
    out[..6].copy_from_slice(&to);
    out[6..12].copy_from_slice(&from);
    if packet.corrupt {
        tcplab_link::damage(out);
    }
    Ok(whole)
}

/// A host that talks to itself does so from the loopback address.
pub(crate) fn addresses(ip: Ip, src: Addr, dst: Addr) -> [IpAddr; 2] {
    match src.host == dst.host {
        true => [loopback_address(ip); 2],
        false => [src, dst].map(|end| host_address(ip, usize::from(end.host))),
    }
}
