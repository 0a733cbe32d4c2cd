//! The descriptor table: sockets, epoll instances, pipes and files by the lowest free number from 3.

use std::collections::{BTreeMap, BTreeSet};

use tcplab_base::Duration;
use tcplab_tcp::{Addr, ConnId, Endpoint, ListenId};

use super::epoll::Epoll;
use super::errqueue::ErrorQueue;
use super::fastopen::FastOpenOptions;
use super::timestamps::Stamps;
use super::udp::Udp;
use super::zerocopy::ZeroCopy;
use crate::call::Fd;

/// The first number that is free: 0, 1 and 2 are the standard ones.
const FIRST: Fd = 3;
/// RLIMIT_NOFILE.
const MOST: Fd = 1024;

/// What a descriptor stands for.
#[derive(Debug)]
pub(super) enum File {
    Socket(Box<Socket>),
    Epoll(Epoll),
    /// An end of a pipe: the pipe's number, and whether it is the one to write into.
    Pipe(usize, bool),
    /// A file: its length, and where the next read begins.
    Disk {
        len: u64,
        at: u64,
    },
}

/// What a socket is.
#[derive(Debug)]
pub(super) enum Kind {
    /// Not connected.
    Fresh(Box<Endpoint>),
    Listener(ListenId),
    Conn(ConnId),
    Udp(Udp),
}

/// `sock->state`: what connect(2) goes by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    Unconnected,
    Connecting,
    Connected,
}

/// Wake-ups of a socket since its waiting calls were looked at.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Woken {
    /// `sk_data_ready()`, `sk_state_change()`, an error.
    pub(super) read: bool,
    /// `sk_write_space()`, a change of state, an error.
    pub(super) write: bool,
}

/// A socket.
#[derive(Debug)]
pub(super) struct Socket {
    pub(super) kind: Kind,
    pub(super) phase: Phase,
    /// Made for another socket that asked: numbers differ, so that a descriptor that is used again is told apart.
    pub(super) serial: u64,
    pub(super) nonblock: bool,
    pub(super) domain: i32,
    /// Address of bind(2); port 0 means unbound.
    pub(super) bound: Option<Addr>,
    pub(super) woken: Woken,
    pub(super) plain: Plain,
    pub(super) errors: ErrorQueue,
    pub(super) zerocopy: ZeroCopy,
    pub(super) stamps: Stamps,
}

/// Options that no endpoint knows.
#[derive(Clone, Debug, Default)]
pub(super) struct Plain {
    pub(super) reuseaddr: i64,
    pub(super) rcvtimeo: Option<Duration>,
    pub(super) sndtimeo: Option<Duration>,
    /// SO_LINGER: `l_onoff`, `l_linger`.
    pub(super) linger: (bool, u32),
    /// TCP_INQ.
    pub(super) inq: bool,
    /// TCP_DEFER_ACCEPT as it was set, seconds.
    pub(super) defer_accept: u32,
    /// TCP_LINGER2 as it was set, seconds.
    pub(super) linger2: i32,
    /// IP_RECVERR.
    pub(super) recverr: bool,
    pub(super) fast_open: FastOpenOptions,
    /// Values of options that change nothing that a script sees, by level and name.
    pub(super) noted: BTreeMap<(i32, i32), i64>,
}

/// The table.
#[derive(Debug, Default)]
pub(super) struct Files {
    files: BTreeMap<Fd, File>,
    pub(super) pipes: Vec<u64>,
    /// Descriptors with FD_CLOEXEC.
    pub(super) cloexec: BTreeSet<Fd>,
    serials: u64,
}

impl Files {
    /// The number for the next file; none: there are too many.
    fn free(&self) -> Option<Fd> {
        (FIRST..MOST).find(|fd| !self.files.contains_key(fd))
    }

    /// Takes a file in.
    pub(super) fn add(&mut self, file: File) -> Option<Fd> {
        let fd = self.free()?;
        self.files.insert(fd, file);
        Some(fd)
    }

    pub(super) fn get(&self, fd: Fd) -> Option<&File> {
        self.files.get(&fd)
    }

    pub(super) fn get_mut(&mut self, fd: Fd) -> Option<&mut File> {
        self.files.get_mut(&fd)
    }

    /// Sets FD_CLOEXEC, or takes it away.
    pub(super) fn set_cloexec(&mut self, fd: Fd, is_set: bool) {
        match is_set {
            true => self.cloexec.insert(fd),
            false => self.cloexec.remove(&fd),
        };
    }

    pub(super) fn remove(&mut self, fd: Fd) -> Option<File> {
        self.cloexec.remove(&fd);
        self.files.remove(&fd)
    }

    pub(super) fn socket(&self, fd: Fd) -> Option<&Socket> {
        match self.get(fd)? {
            File::Socket(socket) => Some(socket),
            _ => None,
        }
    }

    pub(super) fn socket_mut(&mut self, fd: Fd) -> Option<&mut Socket> {
        match self.get_mut(fd)? {
            File::Socket(socket) => Some(socket),
            _ => None,
        }
    }

    /// All sockets with their descriptors.
    pub(super) fn sockets_mut(&mut self) -> impl Iterator<Item = (Fd, &mut Socket)> {
        self.files.iter_mut().filter_map(|(&fd, file)| match file {
            File::Socket(socket) => Some((fd, &mut **socket)),
            _ => None,
        })
    }

    /// All epoll instances.
    pub(super) fn epolls_mut(&mut self) -> impl Iterator<Item = &mut Epoll> {
        self.files.values_mut().filter_map(|file| match file {
            File::Epoll(epoll) => Some(epoll),
            _ => None,
        })
    }

    /// The descriptor of a connection.
    pub(super) fn of_conn(&self, id: ConnId) -> Option<Fd> {
        self.find(|kind| matches!(kind, Kind::Conn(own) if *own == id))
    }

    /// The descriptor of a listener.
    pub(super) fn of_listener(&self, id: ListenId) -> Option<Fd> {
        self.find(|kind| matches!(kind, Kind::Listener(own) if *own == id))
    }

    /// Whether a socket listens on this port.
    pub(super) fn listens(&self, port: u16) -> bool {
        self.files.values().any(|file| match file {
            File::Socket(socket) => {
                let is_bound = socket.bound.is_some_and(|bound| bound.port == port);
                is_bound && matches!(socket.kind, Kind::Listener(_))
            }
            _ => false,
        })
    }

    fn find(&self, is_it: impl Fn(&Kind) -> bool) -> Option<Fd> {
        self.files.iter().find_map(|(&fd, file)| match file {
            File::Socket(socket) if is_it(&socket.kind) => Some(fd),
            _ => None,
        })
    }

    /// The next socket's serial number.
    pub(super) fn serial(&mut self) -> u64 {
        self.serials += 1;
        self.serials
    }
}

impl Socket {
    pub(super) fn new(kind: Kind, domain: i32, serial: u64) -> Self {
        Self {
            kind,
            phase: Phase::Unconnected,
            serial,
            nonblock: false,
            domain,
            bound: None,
            woken: Woken::default(),
            plain: Plain::default(),
            errors: ErrorQueue::default(),
            zerocopy: ZeroCopy::default(),
            stamps: Stamps::default(),
        }
    }

    /// The socket of a connection that a listener accepted: it has the listener's options.
    pub(super) fn accepted(&self, id: ConnId, serial: u64) -> Self {
        Self {
            phase: Phase::Connected,
            plain: self.plain.clone(),
            zerocopy: ZeroCopy::enabled(self.zerocopy.is_enabled()),
            stamps: self.stamps.inherited(),
            ..Self::new(Kind::Conn(id), self.domain, serial)
        }
    }
}
