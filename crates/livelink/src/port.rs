//! A device at an end of a link: a TAP device, or an interface by a packet socket (packet(7)). Both give frames behind a
//! `struct virtio_net_hdr`, and take them so.

use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socket, sockopt};
use nix::sys::uio::{readv, writev};

use tcplab_os::live::address_of;
use tcplab_os::sys::{self, SockOpt};
use tcplab_os::tap::open_tun;
use tcplab_os::{Context, OsError};

/// Bytes of `struct virtio_net_hdr` (linux/virtio_net.h).
pub const HEADER: usize = 10;

/// The header before a frame.
pub type Header = [u8; HEADER];

/// The longest frame: an IP packet of 64 KiB with an Ethernet header and tags.
pub const LONGEST: usize = 66_000;

/// Bytes of frames that the kernel may hold for a packet socket.
const BUFFER: usize = 16 << 20;

/// linux/if_arp.h, linux/if_ether.h.
const ARPHRD_ETHER: u16 = 1;
const ARPHRD_LOOPBACK: u16 = 772;
const ETH_P_ALL: u16 = 3;

/// linux/if_packet.h: `PACKET_MR_PROMISC`; `TP_STATUS_VLAN_VALID` and `TP_STATUS_VLAN_TPID_VALID`.
const PROMISCUOUS: u16 = 1;
const VLAN_VALID: u32 = 1 << 4;
const TPID_VALID: u32 = 1 << 6;

/// The tag of a VLAN (IEEE 802.1Q) is behind both addresses.
const TAG_AT: usize = 12;
const TAG: usize = 4;
const TPID: u16 = 0x8100;

/// An open device.
#[derive(Debug)]
pub enum Port {
    /// It vanishes with its descriptor, when the link has made it.
    Tap(File),
    /// A packet socket on an interface: reads what it receives, and sends.
    Packets(OwnedFd),
}

impl Port {
    /// Makes a TAP device in the current network namespace.
    pub fn tap(name: &str) -> Result<Self, OsError> {
        let file = open_tun("live links")?;
        sys::attach_tap_with_offload(&file, name)
            .context(|| format!("cannot make the TAP device {name}"))?;
        Ok(Self::Tap(file))
    }

    /// Opens an interface that there is, in promiscuous mode.
    pub fn interface(name: &str) -> Result<Self, OsError> {
        Self::packets(name, &[ARPHRD_ETHER])
    }

    /// The same, or a loopback interface: what is sent through it comes back as if received.
    pub fn interface_or_loopback(name: &str) -> Result<Self, OsError> {
        Self::packets(name, &[ARPHRD_ETHER, ARPHRD_LOOPBACK])
    }

    fn packets(name: &str, kinds: &[u16]) -> Result<Self, OsError> {
        let address = address_of(name).map_err(|e| OsError::Cannot(e.to_string()))?;
        if !kinds.contains(&address.hatype()) {
            return Err(OsError::Cannot(format!(
                "{name} carries no Ethernet frames: a link needs an interface that does"
            )));
        }
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        // Protocol 0 receives nothing before bind(2): no frames of other interfaces.
        let socket = socket(AddressFamily::Packet, SockType::Raw, flags, None)
            .context(|| format!("cannot open {name} (needs root or CAP_NET_RAW)"))?;
        let index = i32::try_from(address.ifindex()).unwrap_or_default();
        prepare(&socket, index).context(|| format!("cannot set up a packet socket for {name}"))?;
        sys::call::bind(socket.as_raw_fd(), &packet_address(index))
            .context(|| format!("cannot listen on {name}: is it up?"))?;
        Ok(Self::Packets(socket))
    }

    /// Reads one frame into `buffer` and gives its length; `None` if there is no more.
    pub fn read(&self, header: &mut Header, buffer: &mut [u8]) -> nix::Result<Option<usize>> {
        let read = match self {
            Self::Tap(file) => readv(
                file,
                &mut [IoSliceMut::new(header), IoSliceMut::new(buffer)],
            ),
            Self::Packets(socket) => read_packet(socket, header, buffer),
        };
        match read {
            Ok(n) => Ok(Some(n.saturating_sub(HEADER))),
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(None),
            // The interface went down; it may come up again.
            Err(Errno::ENETDOWN) => Ok(None),
            // A frame that no header can describe (GSO of a kind that it does not know): it is gone.
            Err(Errno::EINVAL) => Ok(Some(0)),
            Err(e) => Err(e),
        }
    }

    /// Frames that a packet socket has dropped since it was last asked; TAP devices count them by themselves.
    pub fn missed(&self) -> Option<u64> {
        let Self::Packets(socket) = self else {
            return None;
        };
        let mut counts = [0; 8];
        sys::get_bytes(socket, SockOpt::PACKET_STATISTICS, &mut counts).ok()?;
        Some(u32::from_ne_bytes(*counts.last_chunk()?).into())
    }

    /// Gives a frame to the device; false: it had no room, or is down.
    pub fn write(&self, header: &Header, frame: &[u8]) -> nix::Result<bool> {
        match writev(self, &[IoSlice::new(header), IoSlice::new(frame)]) {
            Ok(_) => Ok(true),
            Err(
                Errno::EIO
                | Errno::EAGAIN
                | Errno::ENOBUFS
                | Errno::ENOMEM
                | Errno::ENETDOWN
                | Errno::EMSGSIZE
                | Errno::EINVAL,
            ) => Ok(false),
            Err(e) => Err(e),
        }
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tap(file) => file.as_fd(),
            Self::Packets(socket) => socket.as_fd(),
        }
    }
}

/// `struct sockaddr_ll`: all protocols of an interface.
fn packet_address(index: i32) -> [u8; 20] {
    let mut address = [0; 20];
    address[..2].copy_from_slice(&(libc::AF_PACKET as u16).to_ne_bytes());
    address[2..4].copy_from_slice(&ETH_P_ALL.to_be_bytes());
    address[4..8].copy_from_slice(&index.to_ne_bytes());
    address
}

fn prepare(socket: &OwnedFd, index: i32) -> io::Result<()> {
    sys::set_int(socket, SockOpt::PACKET_VNET_HDR, 1)?;
    sys::set_int(socket, SockOpt::PACKET_AUXDATA, 1)?;
    sys::set_int(socket, SockOpt::PACKET_IGNORE_OUTGOING, 1)?;
    // `struct packet_mreq`: index, type, length of an address and the address.
    let mut member = [0; 16];
    member[..4].copy_from_slice(&index.to_ne_bytes());
    member[4..6].copy_from_slice(&PROMISCUOUS.to_ne_bytes());
    sys::set_bytes(socket, SockOpt::PACKET_ADD_MEMBERSHIP, &member)?;
    if setsockopt(socket, sockopt::RcvBufForce, &BUFFER).is_err() {
        setsockopt(socket, sockopt::RcvBuf, &BUFFER).map_err(io::Error::from)?;
    }
    Ok(())
}

/// Reads a frame; the tag of a VLAN that the card or the kernel has taken off is put back.
fn read_packet(socket: &OwnedFd, header: &mut Header, buffer: &mut [u8]) -> nix::Result<usize> {
    let mut control = [0; 64];
    let room = buffer.len().saturating_sub(TAG);
    let mut parts = [
        IoSliceMut::new(header),
        IoSliceMut::new(&mut buffer[..room]),
    ];
    let got = sys::call::recvmsg(
        socket.as_raw_fd(),
        &mut parts,
        &mut control,
        libc::MSG_TRUNC,
    );
    let got = got.map_err(|e| Errno::from_raw(e.raw_os_error().unwrap_or_default()))?;
    let n = usize::try_from(got.bytes).unwrap_or_default();
    if n > HEADER + room {
        // Longer than any frame that could be handed on.
        return Err(Errno::EINVAL);
    }
    let end = n.saturating_sub(HEADER);
    match control.get(..got.control).and_then(tag) {
        Some(tag) if end >= TAG_AT => {
            buffer.copy_within(TAG_AT..end, TAG_AT + TAG);
            buffer[TAG_AT..TAG_AT + TAG].copy_from_slice(&tag);
            move_checksum(header);
            Ok(n + TAG)
        }
        _ => Ok(n),
    }
}

/// The tag that `struct tpacket_auxdata` tells, the only control message here.
fn tag(control: &[u8]) -> Option<[u8; TAG]> {
    // Behind `struct cmsghdr`: tp_status, tp_len, tp_snaplen, tp_mac, tp_net, tp_vlan_tci, tp_vlan_tpid.
    let data = control.get(size_of::<usize>() + 8..)?;
    let status = u32::from_ne_bytes(*data.first_chunk()?);
    let half = |at: usize| Some(u16::from_ne_bytes(*data.get(at..)?.first_chunk()?));
    if status & VLAN_VALID == 0 {
        return None;
    }
    let tpid = match status & TPID_VALID {
        0 => TPID,
        _ => half(18)?,
    };
    let [a, b] = tpid.to_be_bytes();
    let [c, d] = half(16)?.to_be_bytes();
    Some([a, b, c, d])
}

/// What lies behind the tag has moved: `hdr_len` and `csum_start` count from the frame's begin.
fn move_checksum(header: &mut Header) {
    for at in [2, 6] {
        let old = u16::from_ne_bytes([header[at], header[at + 1]]);
        if old != 0 {
            let new = old.saturating_add(TAG as u16).to_ne_bytes();
            header[at..at + 2].copy_from_slice(&new);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stripped_tag_is_told_beside_the_frame() {
        let mut control = vec![0; size_of::<usize>() + 8 + 20];
        let at = size_of::<usize>() + 8;
        assert_eq!(tag(&control), None);
        control[at..at + 4].copy_from_slice(&VLAN_VALID.to_ne_bytes());
        control[at + 16..at + 18].copy_from_slice(&0x2007_u16.to_ne_bytes());
        assert_eq!(tag(&control), Some([0x81, 0, 0x20, 7]));
        let both = VLAN_VALID | TPID_VALID;
        control[at..at + 4].copy_from_slice(&both.to_ne_bytes());
        control[at + 18..at + 20].copy_from_slice(&0x88a8_u16.to_ne_bytes());
        assert_eq!(tag(&control), Some([0x88, 0xa8, 0x20, 7]));
        assert_eq!(tag(&control[..at + 10]), None);
    }
}
