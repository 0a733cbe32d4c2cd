//! One half of a run on real machines: one host of a point is this machine, the other one is elsewhere.
//!
//! It makes no namespaces, links or addresses: the machines' own network is used. The half knows when its clients are
//! done; the process that runs both halves decides when it ends.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time;

use nix::sys::epoll::EpollFlags;
use tcplab_apps::{Drive, Foreign};
use tcplab_base::{Duration, Instant};
use tcplab_os::Stop;
use tcplab_os::captures::CaptureFile;
use tcplab_os::clock::Pace;
use tcplab_os::live::Live;
use tcplab_os::netlink::interface_to;
use tcplab_os::{Context, OsError};
use tcplab_plan::network::capture_files;
use tcplab_plan::{Outcome, Point};
use tcplab_wire::LinkType;

use super::host::HostNet;
use super::poll::Source;
use super::timers::Timer;
use super::wire::Network;
use super::world::{Net, World};

/// How often the wish to stop is looked at.
const LOOK: Duration = Duration::from_nanos(20_000_000);

/// Where a half runs.
pub(crate) struct Site<'a> {
    /// Which host of the point this machine is: 0 or 1.
    pub(crate) host: usize,
    /// The other one's address.
    pub(crate) peer: IpAddr,
    /// Added to the times of captured frames.
    pub(crate) shift: Duration,
    /// The half ends.
    pub(crate) stop: Stop,
    /// Called once when all clients of this half have ended.
    pub(crate) over: &'a dyn Fn(),
}

/// Runs one half; the capture goes into `folder`. `go` is called when servers listen; clients start when it comes back.
/// Gives the outcome of this half and the time of its start.
///
/// # Errors
/// When the kernel refuses what a run needs; those of `go`.
pub(crate) fn run_half(
    point: &Point,
    folder: &Path,
    site: Site<'_>,
    go: impl FnOnce() -> Result<(), OsError>,
) -> Result<(Outcome, Instant), OsError> {
    let mut world = World::half(point, folder, site)?;
    world.listen()?;
    go()?;
    world.start()?;
    world.turn()?;
    let start = world.net.start;
    Ok((world.finish()?, start))
}

impl<'p> World<'p> {
    fn half(point: &'p Point, folder: &Path, site: Site<'p>) -> Result<Self, OsError> {
        let network = Network {
            hosts: point.hosts.iter().map(|_| HostNet::here()).collect(),
            wires: Vec::new(),
        };
        let mut net = Net::new(point, network, Pace::Real)?;
        net.capture_here(folder, &site)?;
        net.site = Some(site);
        let drive = Drive::new(&Arc::new(point.clone()), Foreign::Again);
        Ok(Self { drive, net })
    }

    /// Looks whether the half shall end.
    pub(super) fn look_at_site(&mut self) {
        let Some(site) = &self.net.site else { return };
        if site.stop.wanted() {
            self.drive.stop();
        }
        self.net.timers.set(self.net.now + LOOK, Timer::Look);
    }
}

impl Net<'_> {
    /// The capture of the interface to the other machine. Without the right to it the file stays empty.
    fn capture_here(&mut self, folder: &Path, site: &Site<'_>) -> Result<(), OsError> {
        let files = capture_files(self.point);
        let Some((_, _, name)) = files.into_iter().find(|(host, ..)| *host == site.host) else {
            return Ok(());
        };
        let interface = interface_to(site.peer)
            .context(|| format!("cannot find the interface to {}", site.peer))?;
        let path = folder.join(name);
        let live = Live::open(&interface, time::Duration::from_millis(1));
        let link = live.as_ref().map_or(LinkType::Ethernet, Live::link);
        let file = CaptureFile::create_of(link, &path, &interface, self.point.snap_bytes)
            .context(|| format!("cannot write {}", path.display()))?;
        self.captures.push(file);
        match live {
            Ok(live) => {
                live.set_nonblocking().context(|| interface.clone())?;
                self.poll
                    .add(&live, Source::Capture(0), EpollFlags::EPOLLIN)
                    .tried("cannot watch a capture")?;
                self.live.push((live, 0));
            }
            Err(e) => self.warnings.push(format!(
                "{}: nothing was captured: {e}",
                self.point.hosts[site.host].name
            )),
        }
        Ok(())
    }
}

/// Whether a frame belongs to the experiment: to or from the other machine, at a port of a server.
pub fn is_ours(frame: &[u8], is_ethernet: bool, peer: IpAddr, ports: &[u16]) -> bool {
    let Some(packet) = ip_packet(frame, is_ethernet) else {
        return false;
    };
    let Some((protocol, addresses, payload)) = parts(packet) else {
        return false;
    };
    let is_peer = match peer {
        IpAddr::V4(peer) => addresses.chunks(4).any(|address| address == peer.octets()),
        IpAddr::V6(peer) => addresses.chunks(16).any(|address| address == peer.octets()),
    };
    if !is_peer || addresses.len() != if peer.is_ipv6() { 32 } else { 8 } {
        return false;
    }
    let at_port = |at: usize| match payload.get(at..at + 2) {
        Some(port) => ports.contains(&u16::from_be_bytes([port[0], port[1]])),
        None => false,
    };
    match protocol {
        ICMP | ICMPV6 => true,
        TCP | UDP => at_port(0) || at_port(2),
        _ => false,
    }
}

/// Protocol numbers of IP.
const ICMP: u8 = 1;
const TCP: u8 = 6;
const UDP: u8 = 17;
const ICMPV6: u8 = 58;

/// Protocol, both addresses and payload of an IP packet. Extension headers are not looked through: no experiment has them.
fn parts(packet: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let first = *packet.first()?;
    match first >> 4 {
        4 => Some((
            *packet.get(9)?,
            packet.get(12..20)?,
            packet
                .get(usize::from(first & 0xf) * 4..)
                .unwrap_or_default(),
        )),
        6 => Some((*packet.get(6)?, packet.get(8..40)?, packet.get(40..)?)),
        _ => None,
    }
}

/// The IP packet of a frame, behind one VLAN tag at most.
fn ip_packet(frame: &[u8], is_ethernet: bool) -> Option<&[u8]> {
    const IPV4: &[u8] = &[0x08, 0x00];
    const IPV6: &[u8] = &[0x86, 0xdd];
    const VLAN: &[u8] = &[0x81, 0x00];
    if !is_ethernet {
        return Some(frame);
    }
    let behind = if frame.get(12..14)? == VLAN { 16 } else { 12 };
    let kind = frame.get(behind..behind + 2)?;
    (kind == IPV4 || kind == IPV6)
        .then(|| frame.get(behind + 2..))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(protocol: u8, from: [u8; 4], to: [u8; 4], ports: [u16; 2]) -> Vec<u8> {
        let mut packet = vec![0x45, 0, 0, 28, 0, 0, 0, 0, 64, protocol, 0, 0];
        packet.extend(from);
        packet.extend(to);
        ports.iter().for_each(|p| packet.extend(p.to_be_bytes()));
        packet
    }

    #[test]
    fn only_packets_of_the_experiment_are_kept() {
        let (peer, other) = ([10, 0, 0, 2], [10, 0, 0, 3]);
        let own = [10, 0, 0, 1];
        let address = IpAddr::from(peer);
        for (protocol, from, to, ports, want) in [
            (TCP, own, peer, [40_000, 5001], true),
            (TCP, peer, own, [5001, 40_000], true),
            (UDP, own, peer, [40_000, 5001], true),
            (TCP, own, peer, [40_000, 22], false),
            (TCP, own, other, [40_000, 5001], false),
            (ICMP, peer, own, [0, 0], true),
            (47, peer, own, [5001, 5001], false),
        ] {
            let raw = packet(protocol, from, to, ports);
            assert_eq!(is_ours(&raw, false, address, &[5001]), want, "{raw:?}");
            for tag in [&[][..], &[0x81, 0, 0, 7]] {
                let frame = [&[0; 12], tag, &[8, 0], &raw].concat();
                assert_eq!(is_ours(&frame, true, address, &[5001]), want);
            }
        }
        let v6: IpAddr = "fd77::2".parse().unwrap();
        let mut raw = vec![0x60, 0, 0, 0, 0, 20, TCP, 64];
        raw.extend("fd77::1".parse::<std::net::Ipv6Addr>().unwrap().octets());
        raw.extend("fd77::2".parse::<std::net::Ipv6Addr>().unwrap().octets());
        raw.extend([0x9c, 0x40, 0x13, 0x89]);
        let frame = [&[0; 12], &[0x86, 0xdd][..], &raw].concat();
        assert!(is_ours(&frame, true, v6, &[5001]) && is_ours(&raw, false, v6, &[5001]));
        assert!(!is_ours(&frame, true, v6, &[80]) && !is_ours(&frame, true, address, &[5001]));
        for end in 0..frame.len() {
            is_ours(&frame[..end], true, v6, &[5001]);
        }
        let whole = packet(TCP, own, peer, [40_000, 5001]);
        for end in 0..whole.len() {
            is_ours(&whole[..end], false, address, &[5001]);
        }
    }
}
