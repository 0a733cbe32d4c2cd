//! A live link: frames from one device to another and back, in real time, through qdiscs and wires of ours.
//!
//! Level 5 of the map; Linux only. One thread forwards; orders come in and events go out by channels, so a slow reader
//! never delays a frame. [`Link::open`] makes the ends, [`Link::start`] the thread.
#![cfg(target_os = "linux")]
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod control;
mod count;
mod end;
mod forward;
mod frame;
mod lane;
pub mod orders;
mod out;
mod place;
pub mod port;
mod program;
#[cfg(test)]
mod tests;
pub mod text;

use std::fs::File;
use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixListener;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use nix::sys::stat::{Mode, umask};
use nix::unistd::{geteuid, getpgrp, tcgetpgrp};
use tcplab_base::Duration;
use tcplab_plan::point::Direction;

pub use count::{Snapshot, WaySnapshot};
pub use end::{End, Give, Place};
pub use program::Program;

use tcplab_os::Stop;
use tcplab_os::{Context, OsError};

use forward::Forwarder;
pub use place::{Opened, open};

/// Orders that wait to be carried out.
const ORDERS: usize = 16;

/// What a link shall be.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Its ends, `a` and `b`.
    pub ends: [End; 2],
    /// From `a` to `b`, and back.
    pub ways: [Direction; 2],
    /// Bytes of the longest IP packet.
    pub mtu: u32,
    /// Where draws and hashes begin.
    pub seed: u64,
    /// Time from one [`Event::Look`] to the next.
    pub every: Duration,
    /// The shortest time from one wake-up for frames that are due to the next: several go out at one.
    pub gap: Duration,
    /// It ends after this time.
    pub limit: Option<Duration>,
}

/// From now on a way (0 from `a` to `b`, 1 back) has other settings.
#[derive(Clone, Debug)]
pub struct Order {
    /// Which way.
    pub way: usize,
    /// Its settings.
    pub settings: Direction,
    /// The words that say so.
    pub words: String,
    /// Gets what became of it: see [`Change::how`], or why it was refused.
    pub reply: Option<Sender<Result<String, String>>>,
}

/// An order that was carried out.
#[derive(Clone, Debug)]
pub struct Change {
    /// Which way.
    pub way: usize,
    /// The words of the order.
    pub words: String,
    /// When, in seconds from the start.
    pub at_s: f64,
    /// What became of the frames that waited.
    pub how: String,
}

/// What a link tells.
#[derive(Clone, Debug)]
pub enum Event {
    /// A look at what it counts.
    Look(Box<Snapshot>),
    /// An order was carried out.
    Changed(Change),
    /// An order was not carried out, and why.
    Refused(usize, String),
    /// It ended: at its last look all of its counters stood so.
    End(Box<Snapshot>),
    /// It broke down.
    Failed(String),
}

/// A link whose ends stand.
#[derive(Debug)]
pub struct Link {
    opened: [Opened; 2],
    settings: Settings,
}

/// The namespaces of both ends.
#[derive(Debug)]
pub struct Ends([File; 2]);

impl Ends {
    /// Starts a shell's command at the end of a side.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn program(&self, side: usize, command: &str) -> Result<Program, OsError> {
        Program::start(command, &self.0[side & 1])
    }
}

/// A link that forwards.
#[derive(Debug)]
pub struct Running {
    /// Takes orders, a few at a time: who sends more waits.
    pub orders: SyncSender<Order>,
    /// Gives events; the last one is [`Event::End`] or [`Event::Failed`].
    pub events: Receiver<Event>,
    thread: Option<JoinHandle<()>>,
    stop: Stop,
}

/// Whether this process may read from a terminal without being stopped (SIGTTIN).
pub fn in_foreground(terminal: impl AsFd) -> bool {
    tcgetpgrp(terminal).is_ok_and(|group| group == getpgrp())
}

/// From now on reading from a terminal in the background is an error, and stops nobody.
///
/// # Errors
/// Those of sigaction(2).
pub fn never_stop_for_input() -> std::io::Result<()> {
    tcplab_os::sys::ignore_terminal_input()
}

/// A Unix socket that listens for this user alone.
///
/// # Errors
/// Those of bind(2) and listen(2).
pub fn private_socket(path: &std::path::Path) -> std::io::Result<UnixListener> {
    let before = umask(Mode::from_bits_truncate(0o177));
    let socket = UnixListener::bind(path);
    umask(before);
    socket
}

impl Link {
    /// Makes and opens the ends. Without root and with new namespaces only, this process moves into a user namespace in
    /// which it is root: there must be no other thread yet.
    ///
    /// # Errors
    /// What the system refuses; an end that is not there.
    pub fn open(settings: Settings) -> Result<Self, OsError> {
        let all_new = settings
            .ends
            .iter()
            .all(|end| matches!(end.place, Place::New(_)));
        if all_new && !geteuid().is_root() {
            place::own_user()?;
        }
        let ends = [settings.ends[0].resolve(), settings.ends[1].resolve()];
        let [a, b] = ends.map(|end| end.map_err(OsError::Cannot));
        let (a, b) = (a?, b?);
        if (&a.place, &a.device) == (&b.place, &b.device) {
            return Err(OsError::Cannot(format!("both ends are {a}")));
        }
        let opened = [open(a, 0, settings.mtu)?, open(b, 1, settings.mtu)?];
        Ok(Self { opened, settings })
    }

    /// The end of a side, with what a bare name was found to be.
    pub fn end(&self, side: usize) -> &End {
        &self.opened[side & 1].end
    }

    /// The address that the end of a side was given.
    pub fn address(&self, side: usize) -> Option<(IpAddr, u8)> {
        self.opened[side & 1].address
    }

    /// Whether a device of an end is the link's own.
    pub fn has_made_one(&self) -> bool {
        let made = |opened: &Opened| !matches!(opened.end.place, Place::Interface);
        self.opened.iter().any(made)
    }

    /// How another shell enters the namespace of an end that goes with the link.
    pub fn way_in(&self, side: usize) -> Option<String> {
        let opened = &self.opened[side & 1];
        let Place::New(_) = opened.end.place else {
            return None;
        };
        let process = std::process::id();
        let user = match place::is_own_user() {
            true => format!("-t {process} -U --preserve-credentials "),
            false => String::new(),
        };
        let file = opened.namespace.as_raw_fd();
        Some(format!("nsenter {user}--net=/proc/{process}/fd/{file}"))
    }

    /// Where programs run at its ends, for later.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn ends(&self) -> Result<Ends, OsError> {
        let copy = |side: usize| {
            let namespace = &self.opened[side].namespace;
            namespace.try_clone().tried("a namespace")
        };
        Ok(Ends([copy(0)?, copy(1)?]))
    }

    /// Starts to forward, until `stop` is wanted, its time is over or a device fails.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn start(self, stop: Stop) -> Result<Running, OsError> {
        let (orders, to_do) = sync_channel(ORDERS);
        let (tell, events) = channel();
        let forwarder = Forwarder::new(self.opened, self.settings, stop.clone());
        let thread = thread::Builder::new()
            .name("link".into())
            .spawn(move || forwarder.run(&to_do, &tell))
            .tried("cannot start a thread")?;
        Ok(Running {
            orders,
            events,
            thread: Some(thread),
            stop,
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.request();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
