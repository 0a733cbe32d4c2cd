//! The socket of one end of a connection: descriptor, epoll's events, and data for its calls.

use std::cell::RefCell;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::rc::Rc;

use nix::errno::Errno as Os;
use nix::sys::epoll::EpollFlags;
use nix::sys::socket::{MsgFlags, SockaddrStorage, recvfrom, send, sendto};
use nix::sys::stat::fstat;
use nix::unistd;
use tcplab_apps::{AckState, Flag, Message, Read};
use tcplab_base::Errno;
use tcplab_os::sys::{self, SockOpt};
use tcplab_plan::Point;
use tcplab_plan::point::{Ip, SocketOptions};

use super::looks::Looks;
use super::socket::Kind;

/// Bytes of one read or write system call.
const CHUNK: usize = tcplab_apps::CHUNK as usize;

/// Bytes of the header of an ICMP echo.
const ECHO_HEADER: usize = 8;
/// Types of an ICMP echo request: IPv4's, IPv6's (RFC 792, RFC 4443).
pub const ECHO_REQUESTS: [u8; 2] = [8, 128];

static ZEROS: [u8; CHUNK] = [0; CHUNK];

/// A host's table of connections; the ends of the host share it.
pub(crate) type Table = Rc<RefCell<Looks>>;

/// The socket of an end.
pub(crate) struct Sock {
    /// Its application.
    pub(crate) app: usize,
    /// Its host.
    pub(crate) host: usize,
    pub(crate) kind: Kind,
    pub(crate) fd: Option<OwnedFd>,
    /// The events that epoll watches; `None`: the socket is not in the epoll set.
    pub(crate) watched: Option<EpollFlags>,
    datagrams: Datagrams,
    pub(crate) options: SocketOptions,
    /// Its host's table of connections, when the point asks for a log.
    pub(crate) table: Option<Table>,
}

/// The sockets of all ends: 2n and 2n + 1 are the client and the server of flow n.
pub(crate) fn all(point: &Point) -> Vec<Sock> {
    let mut all = Vec::new();
    let echo = ECHO_REQUESTS[usize::from(point.ip == Ip::V6)];
    for (number, app) in point.apps.iter().enumerate() {
        let kind = match (app.does.is_udp(), app.does.is_icmp()) {
            (_, true) => Kind::Echo,
            (true, false) => Kind::Udp,
            (false, false) => Kind::Tcp,
        };
        for _ in 0..app.connections {
            let ends = [
                (true, app.client, &app.client_socket),
                (false, app.server, &app.server_socket),
            ];
            all.extend(ends.map(|(is_client, host, own)| Sock {
                app: number,
                host,
                kind,
                fd: None,
                watched: None,
                datagrams: Datagrams {
                    echo: app.does.is_icmp().then_some(echo),
                    answers: !is_client,
                    peer: None,
                },
                options: own.or(&point.hosts[host].socket),
                table: None,
            }));
        }
    }
    all
}

/// An error of the kernel.
pub(crate) fn errno(error: Os) -> Errno {
    Errno(error as i32)
}

impl Sock {
    /// The descriptor of a TCP connection; `None` for another kind of socket, or one without a
    /// descriptor.
    pub(crate) fn tcp(&self) -> Option<&OwnedFd> {
        self.fd.as_ref().filter(|_| self.kind == Kind::Tcp)
    }

    fn raw(&self) -> Result<RawFd, Errno> {
        let fd = self.fd.as_ref().ok_or(Errno::EBADF)?;
        Ok(fd.as_raw_fd())
    }

    pub(crate) fn write(&self, left: u64, flag: Option<Flag>) -> Result<u64, Errno> {
        let bytes = &ZEROS[..piece(left)];
        let fd = self.fd.as_ref().ok_or(Errno::EBADF)?;
        let wrote = match flag {
            Some(Flag::Urgent) => send(fd.as_raw_fd(), bytes, MsgFlags::MSG_OOB),
            Some(Flag::More) => send(
                fd.as_raw_fd(),
                bytes,
                MsgFlags::from_bits_retain(libc::MSG_MORE),
            ),
            None => unistd::write(fd, bytes),
        };
        match wrote {
            Ok(n) => Ok(n as u64),
            // Fast Open's SYN left without data: they can be written when the connection stands.
            Err(Os::EINPROGRESS) => Err(Errno::EAGAIN),
            Err(e) => Err(errno(e)),
        }
    }

    pub(crate) fn read(&self, most: u64) -> Result<Read, Errno> {
        let fd = self.fd.as_ref().ok_or(Errno::EBADF)?;
        let mut buffer = [0; CHUNK];
        match unistd::read(fd, &mut buffer[..piece(most)]) {
            Ok(0) => Ok(Read::End),
            Ok(n) => Ok(Read::Got {
                bytes: n as u64,
                drained: false,
            }),
            Err(Os::EAGAIN) => Ok(Read::Again),
            Err(e) => Err(errno(e)),
        }
    }

    pub(crate) fn send(&self, message: Message) -> Result<u64, Errno> {
        let (fd, mut buffer) = (self.raw()?, [0; Datagrams::BUFFER]);
        let sent = self.datagrams.send(fd, message, &mut buffer);
        sent.map_err(errno)
    }

    pub(crate) fn receive(&mut self) -> Result<Option<Message>, Errno> {
        let (fd, mut buffer) = (self.raw()?, [0; Datagrams::BUFFER]);
        let received = self.datagrams.receive(fd, &mut buffer);
        received.map_err(errno)
    }

    /// What cannot be had is absent: the connection may be gone already.
    pub(crate) fn ack_state(&self) -> Option<AckState> {
        let fd = self.tcp()?;
        let mut state = AckState {
            quickack: sys::get_int(fd, SockOpt::QUICKACK).ok().map(i64::from),
            ..AckState::default()
        };
        if let (Some(table), Ok(stat)) = (&self.table, fstat(fd)) {
            let found = table.borrow_mut().look(stat.st_ino);
            state.quick = found.map(|found| found.quick);
            state.pingpong = found.map(|found| found.pingpong);
        }
        Some(state)
    }
}

/// How a datagram socket sends and receives.
#[derive(Clone, Copy, Debug)]
pub struct Datagrams {
    /// ICMP's echoes: the type of a request.
    pub echo: Option<u8>,
    /// It answers the sender of the last datagram; else connect(2) sets its peer.
    pub answers: bool,
    /// Where the last datagram came from.
    pub peer: Option<SockaddrStorage>,
}

impl Datagrams {
    /// Bytes of the buffer that a call needs.
    pub const BUFFER: usize = ECHO_HEADER + CHUNK;

    /// Bytes before a datagram's payload.
    fn head(self) -> usize {
        self.echo.map_or(0, |_| ECHO_HEADER)
    }

    /// Sends a datagram; gives the bytes of its payload.
    ///
    /// # Errors
    /// Those of sendto(2).
    pub fn send(self, fd: RawFd, message: Message, buffer: &mut [u8]) -> nix::Result<u64> {
        let head = self.head();
        let bytes = &mut buffer[..head + piece(message.size)];
        bytes.fill(0);
        if let Some(kind) = self.echo {
            // The kernel fills in the checksum and the identifier (`ping_v4_sendmsg()`).
            bytes[0] = kind;
            bytes[6..8].copy_from_slice(&(message.number as u16).to_be_bytes());
        }
        let number = message.number.to_le_bytes();
        for (byte, of) in bytes[head..].iter_mut().zip(number) {
            *byte = of;
        }
        let sent = match &self.peer {
            Some(peer) => sendto(fd, bytes, peer, MsgFlags::empty()),
            None => send(fd, bytes, MsgFlags::empty()),
        }?;
        Ok(sent.saturating_sub(head) as u64)
    }

    /// Receives a datagram, if one waits.
    ///
    /// # Errors
    /// Those of recvfrom(2).
    pub fn receive(&mut self, fd: RawFd, buffer: &mut [u8]) -> nix::Result<Option<Message>> {
        let (n, from) = match recvfrom::<SockaddrStorage>(fd, buffer) {
            Err(Os::EAGAIN) => return Ok(None),
            other => other?,
        };
        self.peer = from.filter(|_| self.answers);
        let payload = buffer[..n].get(self.head()..).unwrap_or_default();
        Ok(Some(Message {
            size: payload.len() as u64,
            number: number(payload),
        }))
    }
}

/// The number at the beginning of a payload; a short one has its low bytes alone.
fn number(payload: &[u8]) -> u32 {
    let bytes = payload.iter().take(4).enumerate();
    bytes.fold(0, |so_far, (place, byte)| {
        so_far | u32::from(*byte) << (8 * place)
    })
}

fn piece(left: u64) -> usize {
    usize::try_from(left).unwrap_or(CHUNK).min(CHUNK)
}
