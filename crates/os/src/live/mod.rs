//! Live capture from one interface through an AF_PACKET socket (packet(7)).
//!
//! The kernel's buffer is bounded ([`BUFFER`]); what does not fit is dropped there and counted
//! (SO_RXQ_OVFL, socket(7)). Only the first [`SNAP`] bytes of a frame are copied: headers are all
//! that the analysis reads. The interface is not set to promiscuous mode.

mod error;
mod frame;

use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::ifaddrs::getifaddrs;
use nix::sys::socket::{
    AddressFamily, ControlMessageOwned, LinkAddr, MsgFlags, SockFlag, SockProtocol, SockType, bind,
    recvmsg, setsockopt, socket, sockopt,
};
use nix::sys::time::{TimeSpec, TimeVal};
use tcplab_base::Instant;
use tcplab_wire::LinkType;

pub use self::error::Error;
pub use self::frame::Frame;

/// Bytes of packets that the kernel may hold for us.
const BUFFER: usize = 32 << 20;

/// Bytes kept of a frame: tags, two IPv6 headers with extensions, a full TCP header.
const SNAP: usize = 512;

/// Hardware types (if_arp.h) whose frames begin with an Ethernet header.
const ARPHRD_ETHER: u16 = 1;
const ARPHRD_LOOPBACK: u16 = 772;

/// `sll_pkttype` of a frame that this host sent.
const PACKET_OUTGOING: u8 = 4;

/// An open capture.
#[derive(Debug)]
pub struct Live {
    socket: OwnedFd,
    link: LinkType,
    index: usize,
    loopback: bool,
    buffer: Box<[u8; SNAP]>,
    control: Vec<u8>,
    dropped: u32,
}

impl Live {
    /// Opens a capture. `patience` is the longest time that [`Live::next_frame`] waits.
    ///
    /// # Errors
    /// [`Error::NotAllowed`] without CAP_NET_RAW, [`Error::NoInterface`], [`Error::Down`].
    pub fn open(interface: &str, patience: Duration) -> Result<Self, Error> {
        let address = address_of(interface)?;
        let hardware = address.hatype();
        let ethernet = matches!(hardware, ARPHRD_ETHER | ARPHRD_LOOPBACK);
        // Without Ethernet, the kernel removes the link's own header.
        let (kind, link) = match ethernet {
            true => (SockType::Raw, LinkType::Ethernet),
            false => (SockType::Datagram, LinkType::Raw),
        };
        let flags = SockFlag::SOCK_CLOEXEC;
        let socket =
            socket(AddressFamily::Packet, kind, flags, SockProtocol::EthAll).map_err(refused)?;
        prepare(&socket, patience).map_err(io::Error::from)?;
        bind(socket.as_raw_fd(), &address).map_err(|e| Error::Down {
            name: interface.into(),
            source: e.into(),
        })?;
        Ok(Self {
            socket,
            link,
            index: address.ifindex(),
            loopback: hardware == ARPHRD_LOOPBACK,
            buffer: Box::new([0; SNAP]),
            control: nix::cmsg_space!(TimeSpec, u32),
            dropped: 0,
        })
    }

    /// How its frames begin.
    pub fn link(&self) -> LinkType {
        self.link
    }

    /// From now on [`Live::next_frame`] does not wait at all.
    ///
    /// # Errors
    /// Those of fcntl(2).
    pub fn set_nonblocking(&self) -> io::Result<()> {
        let flags = OFlag::from_bits_retain(fcntl(&self.socket, FcntlArg::F_GETFL)?);
        fcntl(&self.socket, FcntlArg::F_SETFL(flags | OFlag::O_NONBLOCK))?;
        Ok(())
    }

    /// The next frame, or `None` when none came in time or a signal came.
    ///
    /// # Errors
    /// When the interface goes down or away.
    pub fn next_frame(&mut self) -> io::Result<Option<Frame<'_>>> {
        let mut parts = [IoSliceMut::new(&mut self.buffer[..])];
        let control = Some(self.control.as_mut_slice());
        // MSG_TRUNC: tell the whole length, also when only a part was copied.
        let flags = MsgFlags::MSG_TRUNC;
        let message = recvmsg::<LinkAddr>(self.socket.as_raw_fd(), &mut parts, control, flags);
        let message = match message {
            Ok(message) => message,
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(None),
            Err(e) => return Err(e.into()),
        };
        let mut time = Instant::default();
        for part in message.cmsgs()? {
            match part {
                ControlMessageOwned::ScmTimestampns(t) => time = crate::clock::instant(t),
                ControlMessageOwned::RxqOvfl(n) => self.dropped = n,
                _ => {}
            }
        }
        let ours = message.address.is_some_and(|a| {
            // Between socket() and bind() frames of every interface come in.
            let here = a.ifindex() == self.index;
            // Each packet passes the loopback interface twice: going out and coming in.
            here && !(self.loopback && a.pkttype() == PACKET_OUTGOING)
        });
        if !ours {
            return Ok(None);
        }
        let length = message.bytes;
        Ok(Some(Frame {
            time,
            link: self.link,
            data: self.buffer.get(..length.min(SNAP)).unwrap_or_default(),
            orig_len: u32::try_from(length).unwrap_or(u32::MAX),
        }))
    }

    /// Frames that the kernel dropped because its buffer was full, up to the last frame read.
    pub fn dropped(&self) -> u32 {
        self.dropped
    }
}

impl AsFd for Live {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// The packet-level address of an interface: its index and hardware type.
pub fn address_of(interface: &str) -> Result<LinkAddr, Error> {
    let mut known = Vec::new();
    for entry in getifaddrs().map_err(io::Error::from)? {
        let Some(address) = entry
            .address
            .as_ref()
            .and_then(|a| a.as_link_addr().copied())
        else {
            continue;
        };
        if entry.interface_name == interface {
            return Ok(address);
        }
        known.push(entry.interface_name);
    }
    known.sort_unstable();
    Err(Error::NoInterface {
        name: interface.into(),
        known,
    })
}

fn refused(e: Errno) -> Error {
    match e {
        Errno::EPERM | Errno::EACCES => Error::NotAllowed {
            program: std::env::current_exe()
                .map_or_else(|_| "tcplab".into(), |p| p.display().to_string()),
        },
        e => Error::Os(e.into()),
    }
}

/// Time stamps by the kernel, a count of what it drops, a large buffer, bounded waits.
fn prepare(socket: &OwnedFd, patience: Duration) -> Result<(), Errno> {
    setsockopt(socket, sockopt::ReceiveTimestampns, &true)?;
    setsockopt(socket, sockopt::RxqOvfl, &1)?;
    // CAP_NET_ADMIN may go beyond net.core.rmem_max; without it the kernel takes what it allows.
    if setsockopt(socket, sockopt::RcvBufForce, &BUFFER).is_err() {
        setsockopt(socket, sockopt::RcvBuf, &BUFFER)?;
    }
    let patience = TimeVal::new(
        i64::try_from(patience.as_secs()).unwrap_or(i64::MAX),
        patience.subsec_micros().into(),
    );
    setsockopt(socket, sockopt::ReceiveTimeout, &patience)
}
