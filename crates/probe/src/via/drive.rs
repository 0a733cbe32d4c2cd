//! The loop: frames of the device into the endpoint, its timers, its segments onto the device.

use std::net::IpAddr;
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use tcplab_base::{Duration, Instant};
use tcplab_capture::{Interface, PcapngWriter};
use tcplab_livelink::port::{HEADER, LONGEST};
use tcplab_os::output::Output;
use tcplab_sim::Live;
use tcplab_tcp::Segment;
use tcplab_wire::{LinkType, Refused, SuperFrame, VnetHeader};

use super::device::Device;
use super::frames::{Frames, Heard};
use super::neighbours::{Neighbours, Own};
use super::point::{Planned, Role};
use super::tell::Teller;
use super::{Via, cannot};
use crate::error::Error;
use crate::report::Ended;
use crate::run::{Probe, os};

/// Frames of one turn, as of a card's poll (NAPI).
const BURST: usize = 64;

/// The longest wait: so late is the wish to stop seen.
const PATIENCE: Duration = Duration::from_millis(50);

/// After the wish to stop: what the connections still have to say.
const GRACE: Duration = Duration::from_millis(300);

/// Number of the first host that is not the endpoint.
const OTHERS: u16 = 1;

type Capture = PcapngWriter<Output>;

/// An endpoint at work.
pub(super) struct Driver<'a> {
    probe: &'a Probe,
    live: Live,
    frames: Frames,
    neighbours: Neighbours,
    device: Device,
    network: Network,
    teller: Teller<'a>,
    capture: Option<Capture>,
    segments: Vec<Segment>,
    /// Whole frames that leave: questions for neighbours and answers, pings, what waited for an address.
    out: Vec<Vec<u8>>,
    buffer: Vec<u8>,
}

/// Where packets go.
#[derive(Clone, Copy, Debug)]
struct Network {
    ip: IpAddr,
    prefix: u8,
    gateway: Option<IpAddr>,
}

impl Network {
    /// The neighbour that takes packets for this address.
    fn next_hop(&self, to: IpAddr) -> Option<IpAddr> {
        let differs = match (to, self.ip) {
            (IpAddr::V4(to), IpAddr::V4(own)) => {
                let differs = u32::from(to) ^ u32::from(own);
                (u128::from(differs), 32)
            }
            (IpAddr::V6(to), IpAddr::V6(own)) => (u128::from(to) ^ u128::from(own), 128),
            _ => return None,
        };
        let (bits, length) = differs;
        // The bits of the prefix alone.
        match bits.checked_shr(length - u32::from(self.prefix)) {
            None | Some(0) => Some(to),
            Some(_) => self.gateway,
        }
    }
}

impl<'a> Driver<'a> {
    pub(super) fn new(
        probe: &'a Probe,
        via: &Via,
        role: Role,
        own: Own,
        device: Device,
        (live, planned): (Live, &Planned),
    ) -> Result<Self, Error> {
        let (ip, prefix) = via.address;
        let network = Network {
            ip,
            prefix,
            gateway: via.gateway,
        };
        let mut frames = Frames::new(own, planned.ethertype, planned.ttl);
        if let Role::Client { server, .. } = role {
            if network.next_hop(server).is_none() {
                return Err(cannot(format!(
                    "{server} is outside the network {ip}/{prefix} of --address: name a router with --gateway"
                )));
            }
            let number = frames.number(server);
            debug_assert_eq!(number, OTHERS, "the server is the point's other host");
        }
        let teller = Teller::new(probe, role, &device.opened.end, planned.profile.name, via);
        Ok(Self {
            probe,
            live,
            neighbours: Neighbours::new(own),
            frames,
            network,
            teller,
            capture: capture(via)?,
            device,
            segments: Vec::new(),
            out: Vec::new(),
            buffer: vec![0; LONGEST],
        })
    }

    /// Goes on until its applications have ended or the user wants an end; gives how its last connection ended.
    pub(super) fn run(mut self) -> Result<Ended, Error> {
        self.teller.begins();
        let looped = self.turns();
        // Packets until an error are what explains it.
        if let Some(capture) = self.capture.take() {
            let file = capture.finish().and_then(Output::commit);
            file.map_err(os("cannot write the capture"))?;
        }
        let interrupted = looped?;
        self.teller.via.unreachable += self.neighbours.unreachable;
        self.teller.via.missed = self.device.opened.missed();
        Ok(self.teller.ends(self.live, &self.frames, interrupted))
    }

    /// Until the end; whether the user wanted it.
    fn turns(&mut self) -> Result<bool, Error> {
        let mut stop_at = None;
        loop {
            let now = self.probe.now();
            let goes_on = self.live.advance(now);
            self.send(now)?;
            self.teller.tell(&mut self.live, &self.frames);
            if !goes_on || self.live.poll_done() {
                break;
            }
            match stop_at {
                None if self.probe.is_stopped() => {
                    stop_at = Some(now + GRACE);
                    self.live.close_all(now);
                    continue;
                }
                Some(at) if now >= at => break,
                _ => {}
            }
            self.wait(now, stop_at)?;
            self.take()?;
        }
        Ok(stop_at.is_some())
    }

    /// Waits for a frame or a timer.
    fn wait(&mut self, now: Instant, stop_at: Option<Instant>) -> Result<(), Error> {
        let timers = [self.live.next_time(), self.neighbours.next_time(), stop_at];
        let until = timers.into_iter().flatten().min();
        let until = until.unwrap_or(now + PATIENCE).min(now + PATIENCE);
        let time = tcplab_os::clock::timespec(until.since(now));
        let mut fds = [PollFd::new(
            self.device.opened.port.as_fd(),
            PollFlags::POLLIN,
        )];
        match ppoll(&mut fds, Some(time), None) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(e) => Err(os("cannot wait for frames")(e.into())),
        }
    }

    /// Takes the frames that came, a poll's worth.
    fn take(&mut self) -> Result<(), Error> {
        let now = self.probe.now();
        for _ in 0..BURST {
            let mut header = [0; HEADER];
            let read = self.device.opened.port.read(&mut header, &mut self.buffer);
            let read = read.map_err(|e| os("cannot read from the device")(e.into()))?;
            let Some(length) = read else { break };
            self.enter(now, &header, length)?;
        }
        self.live.ends_poll(now);
        Ok(())
    }

    /// A frame as the device gave it: cut and completed, as it would be on a wire.
    fn enter(&mut self, now: Instant, header: &[u8; HEADER], length: usize) -> Result<(), Error> {
        let header = VnetHeader::parse(header).unwrap_or_default();
        let frame = self.buffer.get(..length).unwrap_or_default().to_vec();
        let Ok(mut frame) = SuperFrame::new(frame, &header) else {
            self.teller.via.invalid += 1;
            return Ok(());
        };
        let mut pieces = Vec::new();
        if !frame.split(Vec::new, |piece| pieces.push(piece.into_bytes())) {
            frame.complete();
            pieces.push(frame.into_bytes());
        }
        pieces.iter().try_for_each(|frame| self.hear(now, frame))
    }

    fn hear(&mut self, now: Instant, frame: &[u8]) -> Result<(), Error> {
        self.teller.via.frames_in += 1;
        self.write(now, frame)?;
        match self.frames.read(frame) {
            Heard::Segment(segment, ttl) => {
                self.teller.via.tagged_in += u64::from(segment.caqm.info().is_some());
                self.live.receive(now, &segment, ttl);
            }
            Heard::Refused(Refused::TcpChecksum) => self.live.receive_damaged(now),
            Heard::Md5 => self.teller.via.refused += 1,
            Heard::Refused(_) => {
                let is_known = self.neighbours.hear(frame, &mut self.out);
                match self.frames.echo(frame) {
                    Some(reply) => self.out.push(reply),
                    None => self.teller.via.refused += u64::from(!is_known),
                }
            }
        }
        Ok(())
    }

    /// Hands the device what leaves.
    fn send(&mut self, now: Instant) -> Result<(), Error> {
        self.neighbours.repeat(now, &mut self.out);
        let mut segments = std::mem::take(&mut self.segments);
        self.live.take_segments(&mut segments);
        for segment in segments.drain(..) {
            let Some((to, frame)) = self.frames.write(&segment) else {
                continue;
            };
            self.teller.via.tagged_out += u64::from(segment.caqm.info().is_some());
            let Some(hop) = self.network.next_hop(to) else {
                self.teller.via.unreachable += 1;
                continue;
            };
            let ready = self.neighbours.address(now, hop, frame, &mut self.out);
            self.out.extend(ready);
        }
        self.segments = segments;
        for frame in std::mem::take(&mut self.out) {
            self.write(now, &frame)?;
            let sent = self.device.opened.port.write(&[0; HEADER], &frame);
            match sent.map_err(|e| os("cannot write to the device")(e.into()))? {
                true => self.teller.via.frames_out += 1,
                false => self.teller.via.full += 1,
            }
        }
        Ok(())
    }

    /// A frame for the capture.
    fn write(&mut self, now: Instant, frame: &[u8]) -> Result<(), Error> {
        let Some(capture) = &mut self.capture else {
            return Ok(());
        };
        let at = Instant::from_nanos(now.as_nanos() + self.probe.began_unix_ns());
        let wrote = capture.packet(0, Some(at), frame, frame.len() as u32, &[]);
        wrote.map_err(os("cannot write the capture"))
    }
}

/// The file of `--write`.
fn capture(via: &Via) -> Result<Option<Capture>, Error> {
    let Some(path) = &via.write else {
        return Ok(None);
    };
    let made = Output::create(path).and_then(|file| {
        let mut capture = PcapngWriter::new(file)?;
        capture.add_interface(&Interface {
            link: LinkType::Ethernet,
            snaplen: 0,
            tsresol: 9,
            name: Some(via.device.to_string().into()),
        })?;
        Ok(capture)
    });
    let made = made.map_err(|e| cannot(format!("--write {}: {e}", path.display())));
    made.map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_for_other_networks_go_to_the_gateway() {
        let ip = |text: &str| -> IpAddr { text.parse().unwrap() };
        let mut network = Network {
            ip: ip("10.77.0.1"),
            prefix: 24,
            gateway: None,
        };
        assert_eq!(network.next_hop(ip("10.77.0.9")), Some(ip("10.77.0.9")));
        assert_eq!(network.next_hop(ip("10.77.1.9")), None);
        network.gateway = Some(ip("10.77.0.254"));
        assert_eq!(network.next_hop(ip("10.77.1.9")), Some(ip("10.77.0.254")));
        (network.prefix, network.gateway) = (0, None);
        assert_eq!(network.next_hop(ip("192.0.2.1")), Some(ip("192.0.2.1")));
        network.prefix = 32;
        assert_eq!(network.next_hop(ip("10.77.0.2")), None);
        assert_eq!(network.next_hop(ip("fd77::2")), None);
        network = Network {
            ip: ip("fd77::1"),
            prefix: 64,
            gateway: Some(ip("fd77::fe")),
        };
        assert_eq!(
            network.next_hop(ip("fd77::1:2:3:4")),
            Some(ip("fd77::1:2:3:4"))
        );
        assert_eq!(network.next_hop(ip("2001:db8::1")), Some(ip("fd77::fe")));
        (network.prefix, network.gateway) = (128, None);
        assert_eq!(network.next_hop(ip("fd77::2")), None);
        network.prefix = 0;
        assert_eq!(network.next_hop(ip("2001:db8::1")), Some(ip("2001:db8::1")));
    }
}
