//! Calls that may have to wait: what is left of them, and one step of each.

use tcplab_base::Instant;

use super::numbers::errno::EAGAIN;
use super::recv::Recv;
use super::send::Send;
use super::{Model, deadline};
use crate::call::{Fd, Outcome, PollFd};
use tcplab_tcp::{Addr, ConnId};

/// A call on its way.
#[derive(Clone, Debug)]
pub(super) enum Pending {
    Accept {
        fd: Fd,
        flags: i32,
        nonblock: bool,
    },
    /// connect(2) whose SYN has left.
    Connect {
        fd: Fd,
    },
    Recv(Recv),
    Send(Send),
    Poll {
        fds: Vec<PollFd>,
        timeout_ms: i32,
    },
    EpollWait {
        epoll: Fd,
        most: usize,
        timeout_ms: i32,
    },
    /// close(2) with SO_LINGER.
    Linger {
        id: ConnId,
        ends: (Addr, Addr),
        until: Instant,
    },
}

/// A call that waits.
#[derive(Debug)]
pub(super) struct Blocked {
    /// By which the run knows it.
    pub(super) number: u32,
    pub(super) call: Pending,
    /// When it gives up.
    pub(super) until: Option<Instant>,
}

/// What a step came to.
#[derive(Debug)]
pub(super) enum Progress {
    Done(Outcome),
    Wait,
}

impl Progress {
    pub(super) fn failed(errno: i32) -> Self {
        Self::Done(Outcome::failed(errno))
    }

    pub(super) fn ok(result: i64) -> Self {
        Self::Done(Outcome::ok(result))
    }
}

impl Model {
    /// One step. `late`: it must not wait any longer.
    pub(super) fn step(&mut self, call: &mut Pending, late: bool) -> Progress {
        match call {
            Pending::Accept {
                fd,
                flags,
                nonblock,
            } => match self.accept(*fd, *flags) {
                Progress::Wait if *nonblock || late => Progress::failed(EAGAIN),
                progress => progress,
            },
            Pending::Connect { fd } => self.connect_step(*fd, late),
            Pending::Recv(recv) => self.recv_step(recv, late),
            Pending::Send(send) => self.send_step(send, late),
            Pending::Poll { fds, timeout_ms } => {
                let may_wait = *timeout_ms != 0 && !late;
                self.poll_step(fds, may_wait)
            }
            Pending::EpollWait {
                epoll,
                most,
                timeout_ms,
            } => {
                let may_wait = *timeout_ms != 0 && !late;
                self.epoll_step(*epoll, *most, may_wait)
            }
            Pending::Linger { id, ends, .. } => self.linger_step(*id, *ends, late),
        }
    }

    /// How long a call waits that has to.
    pub(super) fn patience(&self, call: &Pending) -> Option<Instant> {
        let socket = |fd: Fd| self.files.socket(fd).map(|socket| &socket.plain);
        let wait = match call {
            Pending::Accept { fd, .. } => socket(*fd)?.rcvtimeo?,
            Pending::Recv(recv) => socket(recv.fd)?.rcvtimeo?,
            Pending::Connect { fd } => socket(*fd)?.sndtimeo?,
            Pending::Send(send) => socket(send.fd)?.sndtimeo?,
            Pending::Poll { timeout_ms, .. } | Pending::EpollWait { timeout_ms, .. } => {
                return deadline(self.now, *timeout_ms);
            }
            Pending::Linger { until, .. } => return Some(*until),
        };
        Some(self.now + wait)
    }
}
