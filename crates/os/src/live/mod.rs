//! Live capture from one interface through an AF_PACKET socket (packet(7)).
//!
//! The kernel's buffer is bounded ([`BUFFER`]); what does not fit is dropped there and counted
//! (SO_RXQ_OVFL, socket(7)). Only the first [`SNAP`] bytes of a frame are copied: headers are all
//! that the analysis reads. The interface is not set to promiscuous mode.

mod error;
mod frame;
mod stamps;

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

use crate::sys::{self, SockOpt};

pub use self::error::Error;
pub use self::frame::Frame;
pub use self::stamps::Stamps;

/// Bytes of packets that the kernel may hold for us.
const BUFFER: usize = 32 << 20;

/// Bytes kept of a frame: tags, two IPv6 headers with extensions, a full TCP header.
const SNAP: usize = 512;

/// Hardware types (if_arp.h) whose frames begin with an Ethernet header.
const ARPHRD_ETHER: u16 = 1;
const ARPHRD_LOOPBACK: u16 = 772;

/// `sll_pkttype` of a frame that this host sent.
const PACKET_OUTGOING: u8 = 4;

/// A protocol that nobody speaks (IEEE 802, local experiments 2): a socket that is bound to it gets no frames any more.
const NO_PROTOCOL: u16 = 0x88b6;

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
    is_drained: bool,
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
            is_drained: false,
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
        self.is_drained = false;
        let mut parts = [IoSliceMut::new(&mut self.buffer[..])];
        let control = Some(self.control.as_mut_slice());
        // MSG_TRUNC: tell the whole length, also when only a part was copied.
        let flags = MsgFlags::MSG_TRUNC;
        let message = recvmsg::<LinkAddr>(self.socket.as_raw_fd(), &mut parts, control, flags);
        let message = match message {
            Ok(message) => message,
            Err(Errno::EINTR) => return Ok(None),
            Err(Errno::EAGAIN) => {
                self.is_drained = true;
                return Ok(None);
            }
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

    /// Whether the last [`Live::next_frame`] found the kernel's buffer empty; it also gives no frame for one that is not
    /// to be seen.
    pub fn is_drained(&self) -> bool {
        self.is_drained
    }

    /// From now on no frame comes in: those that the kernel holds are left to be read, without waiting.
    ///
    /// # Errors
    /// Those of fcntl(2) and bind(2): frames go on coming in.
    pub fn stop(&self) -> io::Result<()> {
        self.set_nonblocking()?;
        let index = i32::try_from(self.index).unwrap_or_default();
        // `struct sockaddr_ll`: family, protocol, interface.
        let mut address = [0; 20];
        address[..2].copy_from_slice(&(libc::AF_PACKET as u16).to_ne_bytes());
        address[2..4].copy_from_slice(&NO_PROTOCOL.to_be_bytes());
        address[4..8].copy_from_slice(&index.to_ne_bytes());
        sys::call::bind(self.socket.as_raw_fd(), &address).map(|_| ())
    }

    /// Frames that the kernel dropped because its buffer was full, until now. To be asked at the end: the kernel begins to
    /// count anew.
    pub fn dropped(&self) -> u32 {
        let mut counts = [0; 8];
        let got = sys::get_bytes(&self.socket, SockOpt::PACKET_STATISTICS, &mut counts);
        // `struct tpacket_stats`: packets, drops. A frame tells those before it only.
        match (got, counts.last_chunk()) {
            (Ok(_), Some(drops)) => u32::from_ne_bytes(*drops),
            _ => self.dropped,
        }
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

#[cfg(test)]
mod tests {
    use std::net::UdpSocket;

    use nix::unistd::geteuid;

    use super::*;
    use crate::namespaces::{apart, new_net};
    use crate::netlink::Netlink;

    /// Sends so many datagrams over the loopback interface of a new namespace: one part before the capture ends, one after.
    /// What was read, and what the kernel dropped.
    fn captured(before: u32, after: u32) -> (u32, u32) {
        new_net().unwrap();
        Netlink::open().unwrap().up("lo").unwrap();
        let mut live = Live::open("lo", Duration::from_millis(1)).unwrap();
        let to = UdpSocket::bind("127.0.0.1:0").unwrap();
        let from = UdpSocket::bind("127.0.0.1:0").unwrap();
        let send = |number: u32| {
            for _ in 0..number {
                from.send_to(&[0; 100], to.local_addr().unwrap()).unwrap();
            }
        };
        send(before);
        live.stop().unwrap();
        send(after);
        let mut read = 0;
        loop {
            let is_one = live.next_frame().unwrap().is_some();
            read += u32::from(is_one);
            // Each one passes twice, and is seen once.
            if live.is_drained() {
                return (read, live.dropped());
            }
        }
    }

    #[test]
    fn all_frames_until_the_end_are_read_or_counted_as_dropped() {
        if !geteuid().is_root() {
            eprintln!("skipped: needs root");
            return;
        }
        assert_eq!(apart(|| captured(50, 7)), Some((50, 0)));
        let many = 200_000;
        let (read, dropped) = apart(|| captured(many, 7)).unwrap();
        assert!(dropped > 0, "{read} fit into the buffer");
        // A drop is one of the two passes.
        assert!(read <= many && read + dropped >= many, "{read} {dropped}");
    }

    #[test]
    fn frames_have_the_time_at_which_they_passed() {
        if !geteuid().is_root() {
            eprintln!("skipped: needs root");
            return;
        }
        let late = apart(|| {
            new_net().unwrap();
            Netlink::open().unwrap().up("lo").unwrap();
            let _stamps = Stamps::on();
            let mut live = Live::open("lo", Duration::from_millis(1)).unwrap();
            let to = UdpSocket::bind("127.0.0.1:0").unwrap();
            to.send_to(&[0; 100], to.local_addr().unwrap()).unwrap();
            std::thread::sleep(Duration::from_millis(20));
            let before = crate::clock::read(nix::time::ClockId::CLOCK_REALTIME);
            loop {
                if let Some(frame) = live.next_frame().unwrap() {
                    return frame.time >= before;
                }
            }
        });
        assert_eq!(late, Some(false), "it has the time at which it was read");
    }
}
