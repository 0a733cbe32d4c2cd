//! A kernel as a target of malformed frames: a network namespace with a listener, connections from another namespace,
//! and a packet socket at the other end of the wire, which sends the frames.
//!
//! The two namespaces are made for the run and joined by a veth pair ([`Arena::new`]), or belong to the user
//! ([`Arena::at`]). New ones are held only by descriptors, so they vanish with the process. In the user's, only
//! connections come and go.

#![allow(
    clippy::disallowed_methods,
    reason = "a kernel answers in real time, and waiting for it has an end"
)]

mod conn;
mod diag;
mod inspect;
mod into;
mod kmsg;
mod made;
mod site;
mod sniff;
mod spot;

use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener};
use std::time::Duration;

use nix::sched::CloneFlags;
use tcplab_wire::malformed::{Family, Flow};

pub(crate) use self::conn::{Conn, Standing};
pub use self::into::Destination;
pub(crate) use self::kmsg::faults;
pub use self::spot::Spot;

use tcplab_livelink::port::{HEADER, LONGEST, Port};
use tcplab_os::counters::{self, Counters, of_device};
use tcplab_os::namespaces::{apart, enter_net, new_user};
use tcplab_os::{Context, OsError};

use self::diag::Diag;
use self::kmsg::Kmsg;
use self::made::{DEVICES, Made, listener};
use self::sniff::Sniffed;
use crate::document::SiteRecord;

/// The longest that a healthy host lets anybody wait.
const PATIENCE: Duration = Duration::from_secs(3);

/// Why frames cannot go where the user wants them.
#[derive(Debug, thiserror::Error)]
pub(crate) enum IntoError {
    /// It is not there, or must not be harmed.
    #[error("{0}")]
    Wrong(String),
    /// It cannot be done here.
    #[error("{0}")]
    Cannot(String),
}

impl From<OsError> for IntoError {
    fn from(e: OsError) -> Self {
        Self::Cannot(e.to_string())
    }
}

/// Who takes connections.
#[derive(Debug)]
enum Service {
    /// Listeners of ours, in IPv4 and IPv6: both ends of a connection are ours.
    Own(Vec<TcpListener>),
    /// Somebody else's.
    Other,
}

/// A host under test, and what is needed to talk to it.
#[derive(Debug)]
pub(crate) struct Arena {
    /// Its namespace and its interface.
    host: File,
    device: String,
    /// The namespace and the interface that frames are sent from.
    peer: File,
    from: String,
    port: Port,
    /// Where it listens, in IPv4 and IPv6; why not.
    listens: [Result<SocketAddr, String>; 2],
    service: Service,
    sniffed: Sniffed,
    buffer: Vec<u8>,
    counters: Counters,
    kmsg: Option<Kmsg>,
    site: Option<SiteRecord>,
    /// What has to be known about the result.
    notes: Vec<String>,
    /// The host's connections, when their sockets are not ours; the index of its interface.
    diag: Option<Diag>,
    index: u32,
}

/// Lets a user other than root make the namespaces, in a user namespace of its own, which the whole process enters. It
/// must have no other thread yet.
///
/// # Errors
/// The system does not allow it.
pub fn prepare() -> Result<(), OsError> {
    if nix::unistd::geteuid().is_root() {
        return Ok(());
    }
    new_user(CloneFlags::empty()).tried("sending frames to a kernel needs root, or user namespaces (sysctl kernel.unprivileged_userns_clone=1)")
}

/// Does something in a namespace, on a thread of its own.
fn inside<R: Send>(namespace: &File, what: impl FnOnce() -> R + Send) -> Result<R, String> {
    let done = apart(|| enter_net(namespace).map(|()| what()));
    let done = done.ok_or("a thread in a namespace broke down")?;
    done.map_err(|e| e.to_string())
}

impl Arena {
    /// Makes both namespaces.
    ///
    /// # Errors
    /// The system does not allow it, or lacks veth devices.
    pub(crate) fn new() -> Result<Self, OsError> {
        let made = Made::new()?;
        let [device, from] = DEVICES.map(str::to_owned);
        let mut arena = Self {
            host: made.host,
            device,
            peer: made.peer,
            from,
            port: made.port,
            listens: [Family::V4, Family::V6].map(|family| Ok(listener(family))),
            service: Service::Own(made.listeners.into()),
            sniffed: Sniffed::default(),
            buffer: vec![0; LONGEST],
            counters: Counters::new(),
            kmsg: Kmsg::open().ok(),
            site: None,
            notes: Vec::new(),
            diag: None,
            index: 0,
        };
        for family in [Family::V4, Family::V6] {
            arena.sniffed.expect(listener(family));
        }
        arena.moved();
        Ok(arena)
    }

    /// Facts about the user's interface; `None` if the namespaces were made here.
    pub(crate) fn site(&self) -> Option<&SiteRecord> {
        self.site.as_ref()
    }

    /// What was found out beside it.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whether the kernel's log can be read.
    pub(crate) fn reads_log(&self) -> bool {
        self.kmsg.is_some()
    }

    /// Whether the host can be talked to.
    ///
    /// # Errors
    /// Why not.
    pub(crate) fn speaks(&self, family: Family) -> Result<(), String> {
        self.listens(family).map(drop)
    }

    fn listens(&self, family: Family) -> Result<SocketAddr, String> {
        self.listens[usize::from(family == Family::V6)].clone()
    }

    /// The fields that the peer's frames need on this connection; `None` before the host has sent anything on it.
    pub(crate) fn flow(&mut self, conn: &Conn) -> Option<Flow> {
        self.listen();
        self.sniffed.flow(conn.end)
    }

    /// Sends a frame from the peer's end; false: the interface does not take it (too short, too long).
    ///
    /// # Errors
    /// The socket is broken.
    pub(crate) fn send(&mut self, frame: &[u8]) -> Result<bool, String> {
        let header = [0; HEADER];
        let sent = self.port.write(&header, frame);
        sent.map_err(|e| format!("{} takes no frame: {e}", self.from))
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
    pub(crate) fn moved(&mut self) -> Vec<(String, i64)> {
        let now = inside(&self.host, || {
            let mut now = counters::read().unwrap_or_default();
            now.extend(dropped(&self.device));
            now
        });
        let now = now.unwrap_or_default();
        let before = std::mem::replace(&mut self.counters, now);
        let moved = counters::difference(&before, &self.counters);
        moved.into_iter().filter(|(_, by)| *by != 0).collect()
    }

    /// Alarms of the kernel's log since this was last asked.
    pub(crate) fn alarms(&mut self) -> Vec<String> {
        self.kmsg.as_mut().map(Kmsg::alarms).unwrap_or_default()
    }
}

/// Packets that the interface received and dropped, as `IfInPackets` and `IfInDropped`.
fn dropped(device: &str) -> Vec<(String, i64)> {
    let text = fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
    // What was received: bytes, packets, errs, drop.
    let columns = of_device(&text, device).into_iter().flatten().skip(1);
    let named = ["IfInPackets", "IfInErrors", "IfInDropped"].into_iter();
    let named = named.zip(columns);
    named
        .filter_map(|(name, n)| Some((name.to_owned(), n?)))
        .collect()
}
