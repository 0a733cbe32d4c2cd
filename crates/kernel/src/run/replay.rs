//! Replays: recorded frames enter a host's interface through its qdisc, each at its time (packet(7)).
//!
//! A frame has the priority that forwarding would give it (`ip_forward()`), not one of a socket. Frames that wait in
//! the kernel's qdisc count to the sender's buffer, which is as large as the kernel allows.

use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockType, bind, send, setsockopt, socket, sockopt,
};
use tcplab_base::{Duration, Instant};
use tcplab_link::{Trace, priority};

use tcplab_os::live::address_of;
use tcplab_os::{Context, OsError};

/// Bytes of frames that may wait in a qdisc.
const BUFFER: usize = 512 << 20;

/// A replay under way.
#[derive(Debug)]
pub(crate) struct Replay {
    /// The client's end of its application.
    pub(crate) end: usize,
    trace: Arc<Trace>,
    socket: OwnedFd,
    /// The next frame.
    next: usize,
    /// When its first frame was sent.
    start: Option<Instant>,
    /// What the socket's frames have now.
    priority: u8,
    frame: Vec<u8>,
    /// Frames that the socket's buffer had no room for.
    pub(crate) refused: u64,
}

/// What one call has sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sent {
    pub(crate) frames: u64,
    pub(crate) bytes: u64,
    /// When the next frame is due; none: it was the last one.
    pub(crate) next: Option<Instant>,
}

impl Replay {
    /// Of the client's end `end`, on an interface of the current network namespace.
    pub(crate) fn open(end: usize, interface: &str, trace: Arc<Trace>) -> Result<Self, OsError> {
        let cannot = |e| OsError::Cannot(format!("cannot send frames on {interface}: {e}"));
        let flags = SockFlag::SOCK_CLOEXEC;
        // No protocol: it receives nothing.
        let socket = socket(AddressFamily::Packet, SockType::Raw, flags, None);
        let socket = socket.map_err(|e| cannot(e.to_string()))?;
        let address = address_of(interface).map_err(|e| cannot(e.to_string()))?;
        bind(socket.as_raw_fd(), &address).map_err(|e| cannot(e.to_string()))?;
        if setsockopt(&socket, sockopt::SndBufForce, &BUFFER).is_err() {
            setsockopt(&socket, sockopt::SndBuf, &BUFFER).map_err(|e| cannot(e.to_string()))?;
        }
        Ok(Self {
            end,
            trace,
            socket,
            next: 0,
            start: None,
            priority: 0,
            frame: Vec::new(),
            refused: 0,
        })
    }

    /// Sends what is due at `now`; the first frame is due at the first call.
    pub(crate) fn send(&mut self, now: Instant) -> Result<Sent, OsError> {
        let mut sent = Sent::default();
        let start = *self.start.get_or_insert(now);
        loop {
            let after: Option<Duration> = self.trace.time(self.next);
            sent.next = after.map(|after| start + after);
            if sent.next.is_none_or(|at| at > now) {
                return Ok(sent);
            }
            self.trace.frame(self.next, &mut self.frame);
            self.next += 1;
            let priority = priority(&self.frame);
            if priority != std::mem::replace(&mut self.priority, priority) {
                setsockopt(&self.socket, sockopt::Priority, &i32::from(priority))
                    .tried("cannot set the priority of a frame")?;
            }
            match send(self.socket.as_raw_fd(), &self.frame, MsgFlags::MSG_DONTWAIT) {
                // The qdisc has dropped it, and has counted that (`packet_snd()`, net_xmit_errno()).
                Ok(_) | Err(Errno::ENOBUFS) => {
                    sent.frames += 1;
                    sent.bytes += self.frame.len() as u64;
                }
                Err(Errno::EAGAIN) => self.refused += 1,
                Err(e) => return Err(e).tried("cannot send a frame"),
            }
        }
    }
}
