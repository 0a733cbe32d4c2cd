//! This machine's kernel as a target of malformed frames: two network namespaces joined by a veth pair, a listener in the
//! one, connections from the other, and a packet socket at the peer's end that frames are sent through.
//!
//! Both namespaces are held by descriptors only, so they go with the process. Nothing outside them is sent to.

#![allow(
    clippy::disallowed_methods,
    reason = "a kernel answers in real time, and waiting for it has an end"
)]

mod kmsg;
mod sniff;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::thread;
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, setns, unshare};
use socket2::SockRef;
use tcplab_wire::malformed::{Family, Flow};

use self::kmsg::Kmsg;
use self::sniff::{Sniffed, addresses, listener};
use crate::counters::{self, Counters};
use crate::guest::new_user;
use crate::link::port::{HEADER, LONGEST, Port};
use crate::run::netlink::Netlink;
use crate::run::{Context, RunError, sysctl_path};
use crate::tcp_info::tcp_info;

const HOST_MAC: [u8; 6] = [2, 0x77, 0x82, 0, 0, 1];
const PEER_MAC: [u8; 6] = [2, 0x77, 0x82, 0, 0, 2];
/// Where the host listens.
const PORT: u16 = 80;
/// Interfaces of host and peer.
const DEVICES: [&str; 2] = ["host0", "peer0"];
const MTU: u32 = 1_500;
/// What a check of a connection carries, bytes each way.
const LOAD: usize = 3_000;
/// The longest that a healthy host lets anybody wait.
const PATIENCE: Duration = Duration::from_secs(3);
/// Delayed ACKs have left after it (TCP_DELACK_MAX is 200 ms).
const SETTLE: Duration = Duration::from_millis(250);
const ESTABLISHED: i64 = 1;

/// Nothing but what is sent on purpose, and addresses that can be used at once.
const QUIET: [(&str, &str); 4] = [
    ("net.ipv6.conf.default.router_solicitations", "0"),
    ("net.ipv6.conf.default.accept_ra", "0"),
    ("net.ipv6.conf.default.accept_dad", "0"),
    ("net.ipv4.tcp_max_syn_backlog", "4096"),
];

/// A connection, by the sockets of both ends.
#[derive(Debug)]
pub struct Conn {
    peer: TcpStream,
    host: TcpStream,
    family: Family,
    port: u16,
}

/// Both namespaces.
#[derive(Debug)]
pub struct Arena {
    host: File,
    peer: File,
    port: Port,
    listeners: [TcpListener; 2],
    sniffed: Sniffed,
    buffer: Vec<u8>,
    counters: Counters,
    kmsg: Option<Kmsg>,
}

/// Lets somebody who is not root make the namespaces: in a user namespace of its own, which the whole process enters. It
/// must have no other thread yet.
///
/// # Errors
/// The system does not allow it.
pub fn prepare() -> Result<(), RunError> {
    if nix::unistd::geteuid().is_root() {
        return Ok(());
    }
    new_user(CloneFlags::empty()).context(|| {
        "frames into a kernel need root, or user namespaces that are allowed (sysctl kernel.unprivileged_userns_clone)"
            .into()
    })
}

/// Does something in a namespace, on a thread of its own.
fn inside<R: Send>(namespace: &File, what: impl FnOnce() -> R + Send) -> Result<R, String> {
    let work = || {
        setns(namespace, CloneFlags::CLONE_NEWNET).map_err(|e| e.to_string())?;
        Ok(what())
    };
    let done = thread::scope(|scope| scope.spawn(work).join());
    done.unwrap_or_else(|_| Err("a thread in a namespace broke down".into()))
}

/// Makes a namespace, on a thread of its own.
fn new_namespace() -> Result<File, RunError> {
    let make = || {
        unshare(CloneFlags::CLONE_NEWNET).context(|| "cannot make a network namespace".into())?;
        for (key, value) in QUIET {
            // A kernel without IPv6 lacks some.
            let _ = fs::write(sysctl_path(key), value);
        }
        File::open("/proc/thread-self/ns/net").context(|| "/proc/thread-self/ns/net".into())
    };
    let made = thread::scope(|scope| scope.spawn(make).join());
    made.unwrap_or_else(|_| Err(RunError::Cannot("no thread for a namespace".into())))
}

/// Gives an end of the veth pair its addresses.
fn set_up(side: usize) -> Result<(), RunError> {
    let (name, mac) = (DEVICES[side], [HOST_MAC, PEER_MAC][side]);
    let other = [PEER_MAC, HOST_MAC][side];
    let ask = Netlink::open().context(|| "cannot open a netlink socket".into())?;
    let set = || -> std::io::Result<()> {
        ask.up("lo")?;
        ask.prepare(name, mac, MTU, false)?;
        for (family, prefix) in [(Family::V4, 24), (Family::V6, 64)] {
            let of = addresses(family);
            let added = ask.add_address(name, of[side], prefix);
            // A kernel without IPv6: its groups say so.
            if family == Family::V4 {
                added?;
            }
            if let std::net::IpAddr::V4(ip) = of[1 - side] {
                ask.neighbour(name, ip, other)?;
            }
        }
        Ok(())
    };
    set().context(|| format!("cannot set up {name}"))
}

impl Arena {
    /// Makes both namespaces.
    ///
    /// # Errors
    /// The system does not allow it, or lacks veth devices.
    pub fn new() -> Result<Self, RunError> {
        let (host, peer) = (new_namespace()?, new_namespace()?);
        let cannot = |e: String| RunError::Cannot(format!("cannot enter a namespace: {e}"));
        inside(&host, || {
            use std::os::fd::AsRawFd;
            let ask = Netlink::open().context(|| "cannot open a netlink socket".into())?;
            ask.veth(DEVICES[0], DEVICES[1], peer.as_raw_fd())
                .context(|| "cannot make a veth pair (module veth)".into())
        })
        .map_err(cannot)??;
        inside(&peer, || set_up(1)).map_err(cannot)??;
        inside(&host, || set_up(0)).map_err(cannot)??;
        let port = inside(&peer, || Port::interface(DEVICES[1])).map_err(cannot)??;
        let listen = |family| {
            let end = listener(family);
            let socket = inside(&host, || {
                TcpListener::bind(SocketAddr::new(end.ip, end.port))
            });
            socket
                .map_err(cannot)?
                .context(|| format!("cannot listen at {end}"))
        };
        let listeners = [listen(Family::V4)?, listen(Family::V6)?];
        let mut arena = Self {
            host,
            peer,
            port,
            listeners,
            sniffed: Sniffed::default(),
            buffer: vec![0; LONGEST],
            counters: Counters::new(),
            kmsg: Kmsg::open().ok(),
        };
        arena.moved();
        Ok(arena)
    }

    /// Whether the kernel's log can be read.
    pub fn reads_log(&self) -> bool {
        self.kmsg.is_some()
    }

    /// A new connection from the peer.
    ///
    /// # Errors
    /// It is not made in time.
    pub fn connect(&mut self, family: Family) -> Result<Conn, String> {
        let end = listener(family);
        let address = SocketAddr::new(end.ip, end.port);
        let peer = inside(&self.peer, || {
            TcpStream::connect_timeout(&address, PATIENCE)
        })?;
        let peer = peer.map_err(|e| format!("a new connection is not made: {e}"))?;
        let port = peer.local_addr().map_err(|e| e.to_string())?.port();
        let host = self.accept(family, port)?;
        for socket in [&peer, &host] {
            let set = || {
                socket.set_nodelay(true)?;
                socket.set_read_timeout(Some(PATIENCE))?;
                socket.set_write_timeout(Some(PATIENCE))?;
                // Ports are free at once.
                SockRef::from(socket).set_linger(Some(Duration::ZERO))
            };
            set().map_err(|e| e.to_string())?;
        }
        self.listen();
        Ok(Conn {
            peer,
            host,
            family,
            port,
        })
    }

    /// The host's end of the connection from this port; what frames have opened before it is closed.
    fn accept(&self, family: Family, port: u16) -> Result<TcpStream, String> {
        let listener = &self.listeners[usize::from(family == Family::V6)];
        let set = listener.set_nonblocking(true);
        set.map_err(|e| e.to_string())?;
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            match listener.accept() {
                Ok((socket, from)) if from.port() == port => {
                    let set = socket.set_nonblocking(false);
                    return set.map(|()| socket).map_err(|e| e.to_string());
                }
                Ok(_) => {}
                Err(_) => thread::sleep(Duration::from_millis(1)),
            }
        }
        Err("a new connection is not accepted".into())
    }

    /// Whether data goes both ways, and how long that took.
    ///
    /// # Errors
    /// It does not.
    pub fn carry(&mut self, conn: &Conn) -> Result<Duration, String> {
        let begin = Instant::now();
        let mut back = vec![0; LOAD];
        for (from, to) in [(&conn.peer, &conn.host), (&conn.host, &conn.peer)] {
            let (mut from, mut to) = (from, to);
            let sent = vec![0x42; LOAD];
            from.write_all(&sent)
                .map_err(|e| format!("a write fails: {e}"))?;
            to.read_exact(&mut back)
                .map_err(|e| format!("data does not come: {e}"))?;
            if back != sent {
                return Err("other data came than was sent".into());
            }
        }
        let took = begin.elapsed();
        thread::sleep(SETTLE);
        self.listen();
        Ok(took)
    }

    /// Whether both ends are ESTABLISHED.
    pub fn stands(&self, conn: &Conn) -> bool {
        let state = |socket: &TcpStream| tcp_info(socket.as_fd()).ok()?.get("tcpi_state");
        [&conn.peer, &conn.host]
            .iter()
            .all(|socket| state(socket) == Some(ESTABLISHED))
    }

    /// What frames of the peer on this connection have to look like; none: the host has said nothing on it.
    pub fn flow(&mut self, conn: &Conn) -> Option<Flow> {
        self.listen();
        self.sniffed.flow(conn.family, conn.port)
    }

    /// Forgets a connection: both ends reset it.
    pub fn close(&mut self, conn: Conn) {
        self.sniffed.forget(conn.family, conn.port);
    }

    /// Sends a frame from the peer's end; false: the interface does not take it (too short, too long).
    ///
    /// # Errors
    /// The socket is broken.
    pub fn send(&mut self, frame: &[u8]) -> Result<bool, String> {
        let header = [0; HEADER];
        let sent = self.port.write(&header, frame);
        sent.map_err(|e| format!("{} takes no frame: {e}", DEVICES[1]))
    }

    /// Reads what came to the peer.
    fn listen(&mut self) {
        let mut header = [0; HEADER];
        while let Ok(Some(n)) = self.port.read(&mut header, &mut self.buffer) {
            let frame = self.buffer.get(..n).unwrap_or_default();
            self.sniffed.see(frame);
        }
    }

    /// The host's counters that moved since this was last asked, by nstat's names, and what its interface dropped.
    pub fn moved(&mut self) -> Vec<(String, i64)> {
        let now = inside(&self.host, || {
            let mut now = counters::read().unwrap_or_default();
            now.extend(dropped(DEVICES[0]));
            now
        });
        let now = now.unwrap_or_default();
        let before = std::mem::replace(&mut self.counters, now);
        let moved = counters::difference(&before, &self.counters);
        moved.into_iter().filter(|(_, by)| *by != 0).collect()
    }

    /// Alarms of the kernel's log since this was last asked.
    pub fn alarms(&mut self) -> Vec<String> {
        self.kmsg.as_mut().map(Kmsg::alarms).unwrap_or_default()
    }
}

/// Packets that the interface received and dropped, as `IfInPackets` and `IfInDropped`.
fn dropped(device: &str) -> Vec<(String, i64)> {
    let text = fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
    let counts = text.lines().find_map(|line| {
        let (name, counts) = line.split_once(':')?;
        (name.trim() == device).then_some(counts)
    });
    // What was received: bytes, packets, errs, drop.
    let column = |n| counts?.split_whitespace().nth(n)?.parse().ok();
    let named = [("IfInPackets", 1), ("IfInErrors", 2), ("IfInDropped", 3)];
    let named = named.map(|(name, n)| column(n).map(|count| (name.to_owned(), count)));
    named.into_iter().flatten().collect()
}
