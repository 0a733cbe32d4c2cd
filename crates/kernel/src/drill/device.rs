//! The TUN device between a script and the kernel under test (Linux's Documentation/networking/tuntap).
//!
//! It looks like a network card that segments and sums: packets leave it as large as TCP makes them,
//! and are handed on with their checksums filled in. Each has a `struct virtio_net_hdr` before it.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};

use nix::errno::Errno;
use nix::unistd;

use tcplab_os::sys;
use tcplab_os::tap::open_tun;
use tcplab_os::{Context, OsError};

/// The name that scripts know.
pub(super) const NAME: &str = "tun0";

/// Bytes of `struct virtio_net_hdr` (linux/virtio_net.h).
const HEADER: usize = 10;
/// VIRTIO_NET_HDR_F_NEEDS_CSUM.
const NEEDS_CSUM: u8 = 1;
/// VIRTIO_NET_HDR_GSO_TCPV4 and VIRTIO_NET_HDR_GSO_TCPV6.
const GSO_TCPV4: u8 = 1;
const GSO_TCPV6: u8 = 4;

const TCP: u8 = 6;
const IGMP: u8 = 2;
const HOP_BY_HOP: u8 = 0;

/// The device; it vanishes with its descriptor.
#[derive(Debug)]
pub(super) struct Device {
    file: File,
    buffer: Vec<u8>,
    /// `--mss`: a segment that arrives counts as several of this size.
    gso_size: Option<u16>,
}

impl Device {
    /// Makes it in the current network namespace.
    pub(super) fn new(gso_size: Option<u16>) -> Result<Self, OsError> {
        let file = open_tun("scripts on a kernel")?;
        sys::attach_tun(&file, NAME).context(|| format!("cannot make the TUN device {NAME}"))?;
        Ok(Self {
            file,
            buffer: vec![0; HEADER + 0x1_0000],
            gso_size,
        })
    }

    /// The next packet that the host sent; `None` if there is no more.
    pub(super) fn read(&mut self) -> nix::Result<Option<Vec<u8>>> {
        loop {
            let n = match unistd::read(&self.file, &mut self.buffer) {
                Ok(n) => n,
                Err(Errno::EAGAIN) => return Ok(None),
                Err(e) => return Err(e),
            };
            let read = self.buffer.get(..n).unwrap_or_default();
            let Some((header, packet)) = read.split_first_chunk::<HEADER>() else {
                continue;
            };
            if is_of_the_host_itself(packet) {
                continue;
            }
            let mut packet = packet.to_vec();
            if header[0] & NEEDS_CSUM != 0 {
                let half =
                    |at: usize| usize::from(u16::from_ne_bytes([header[at], header[at + 1]]));
                fill_checksum(&mut packet, half(6), half(8));
            }
            return Ok(Some(packet));
        }
    }

    /// A packet arrives at the host.
    pub(super) fn write(&self, packet: &[u8]) -> nix::Result<()> {
        let mut bytes = vec![0; HEADER];
        if let (Some(mss), Some(kind)) = (self.gso_size, gso_type(packet)) {
            bytes[1] = kind;
            bytes[4..6].copy_from_slice(&mss.to_ne_bytes());
        }
        bytes.extend_from_slice(packet);
        match unistd::write(&self.file, &bytes) {
            // No room: a card would drop it too.
            Ok(_) | Err(Errno::EAGAIN | Errno::ENOBUFS) => Ok(()),
            Err(e) => Err(e),
        }
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Packets that a kernel sends by itself: reports of multicast groups, requests for routers and
/// neighbours.
fn is_of_the_host_itself(packet: &[u8]) -> bool {
    let byte = |at: usize| packet.get(at).copied().unwrap_or_default();
    match byte(0) >> 4 {
        4 => byte(9) == IGMP,
        // Beneath a hop-by-hop header there is MLD.
        6 => byte(6) == HOP_BY_HOP || (byte(6) == 58 && matches!(byte(40), 130..=137 | 143)),
        _ => true,
    }
}

fn gso_type(packet: &[u8]) -> Option<u8> {
    let byte = |at: usize| packet.get(at).copied();
    match byte(0)? >> 4 {
        4 if byte(9)? == TCP => Some(GSO_TCPV4),
        6 if byte(6)? == TCP => Some(GSO_TCPV6),
        _ => None,
    }
}

/// Sums from `start` to the end into the field at `start + offset`, which holds the sum of the
/// pseudo header (RFC 1071).
fn fill_checksum(packet: &mut [u8], start: usize, offset: usize) {
    let sum = packet.get(start..).unwrap_or_default().chunks(2);
    let mut sum: u64 = sum
        .map(|pair| u64::from(pair[0]) << 8 | u64::from(pair.get(1).copied().unwrap_or_default()))
        .sum();
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    let at = start.saturating_add(offset);
    if let Some(field) = packet.get_mut(at..at.saturating_add(2)) {
        field.copy_from_slice(&(!(sum as u16)).to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_of_everything_behind_the_start() {
        // RFC 1071 3: the sum of these bytes is ddf2.
        let mut packet = vec![
            0xff, 0xff, 0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7, 0, 0,
        ];
        fill_checksum(&mut packet, 2, 8);
        assert_eq!(packet[10..], (!0xddf2_u16).to_be_bytes());
        fill_checksum(&mut packet, 11, 8);
        fill_checksum(&mut packet, 100, 0);
    }

    #[test]
    fn packets_of_the_host_itself_are_not_the_scripts() {
        let mut mld = vec![0; 48];
        mld[0] = 0x60;
        assert!(is_of_the_host_itself(&mld));
        mld[6] = 58;
        mld[40] = 133;
        assert!(is_of_the_host_itself(&mld));
        // An ICMPv6 error is.
        mld[40] = 3;
        assert!(!is_of_the_host_itself(&mld));
        let mut tcp = vec![0; 40];
        tcp[0] = 0x45;
        tcp[9] = TCP;
        assert!(!is_of_the_host_itself(&tcp));
        assert!(is_of_the_host_itself(&[]));
    }
}
