//! From a [`Call`] to what carries it out.

use super::Model;
use super::fds::{File, Kind, Socket};
use super::numbers::errno::{EBADF, EINVAL, ENOPROTOOPT, ENOTSOCK};
use super::numbers::{F_GETFD, F_GETFL, F_SETFD, F_SETFL, FD_CLOEXEC, O_NONBLOCK, O_RDWR};
use super::pending::Pending;
use crate::call::{Call, Fd, Outcome};
use crate::target::TargetError;

/// Why a call has no further step.
#[derive(Debug)]
pub(super) enum End {
    /// It is over, with this result.
    Over(Outcome),
    /// The model cannot make it.
    Cannot(TargetError),
}

/// A part of a call; an error ends the call.
pub(super) type Answer<T> = Result<T, End>;

/// The call ends with this errno.
pub(super) fn failed<T>(errno: i32) -> Answer<T> {
    over(Outcome::failed(errno))
}

/// The model cannot make the call.
pub(super) fn cannot<T>(why: &str) -> Answer<T> {
    Err(End::Cannot(TargetError(why.to_owned())))
}

/// The call ends with this result.
pub(super) fn over<T>(outcome: Outcome) -> Answer<T> {
    Err(End::Over(outcome))
}

impl Model {
    /// Begins a call.
    pub(super) fn begin(&mut self, call: &Call) -> Answer<Pending> {
        over(match call {
            Call::Socket {
                domain,
                kind,
                protocol,
            } => self.socket(*domain, *kind, *protocol)?,
            Call::Bind { fd, addr } => self.bind(*fd, *addr)?,
            Call::Listen { fd, backlog } => self.listen(*fd, *backlog)?,
            Call::Shutdown { fd, how } => self.shutdown(*fd, *how)?,
            Call::Setsockopt {
                fd,
                level,
                name,
                value,
                len,
            } => self.setsockopt(*fd, (*level, *name), value, *len)?,
            Call::Getsockopt {
                fd,
                level,
                name,
                len,
            } => self.getsockopt(*fd, (*level, *name), *len)?,
            Call::Fcntl { fd, command, arg } => self.fcntl(*fd, *command, *arg)?,
            Call::Ioctl { fd, request } => self.ioctl(*fd, *request)?,
            Call::Accept { fd, flags } => return self.begin_accept(*fd, *flags),
            Call::Connect { fd, to } => return self.connect(*fd, *to),
            Call::Close { fd } => return self.close(*fd),
            Call::Poll { fds, timeout_ms } => {
                return Ok(Pending::Poll {
                    fds: fds.clone(),
                    timeout_ms: *timeout_ms,
                });
            }
            Call::EpollCreate { .. } | Call::EpollCtl { .. } | Call::EpollWait { .. } => {
                return self.begin_epoll(call);
            }
            Call::Pipe | Call::Splice { .. } | Call::Sendfile { .. } | Call::Open { .. } => {
                return self.begin_file(call);
            }
            Call::Recv { .. } | Call::Readv { .. } | Call::Recvmsg { .. } => {
                return self.begin_recv(call);
            }
            Call::Send { .. } | Call::Writev { .. } | Call::Sendmsg { .. } => {
                return self.begin_send(call);
            }
        })
    }

    /// The socket of a descriptor, for a call that needs one.
    pub(super) fn need_socket(&self, fd: Fd) -> Answer<&Socket> {
        match self.file(fd) {
            Some(File::Socket(socket)) => Ok(socket),
            Some(_) => failed(ENOTSOCK),
            None => failed(EBADF),
        }
    }

    fn fcntl(&mut self, fd: Fd, command: i32, arg: i64) -> Answer<Outcome> {
        let Some(file) = self.files.get_mut(fd) else {
            return failed(EBADF);
        };
        let mut nothing = false;
        let nonblock = match file {
            File::Socket(socket) => &mut socket.nonblock,
            _ => &mut nothing,
        };
        let mut flags = 0;
        match command {
            F_GETFL => flags = O_RDWR | if *nonblock { O_NONBLOCK } else { 0 },
            F_SETFL => *nonblock = arg & i64::from(O_NONBLOCK) != 0,
            F_GETFD => {
                flags = if self.files.cloexec.contains(&fd) {
                    FD_CLOEXEC
                } else {
                    0
                }
            }
            F_SETFD => self.files.set_cloexec(fd, arg & i64::from(FD_CLOEXEC) != 0),
            _ => return failed(EINVAL),
        }
        Ok(Outcome::ok(i64::from(flags)))
    }

    /// An option of TCP: other sockets do not have it.
    pub(super) fn tcp_option(&self, fd: Fd) -> Answer<()> {
        match self.need_socket(fd)?.kind {
            Kind::Udp(_) => failed(ENOPROTOOPT),
            _ => Ok(()),
        }
    }

    /// Whether the socket is one of TCP, and its descriptor's O_NONBLOCK.
    pub(super) fn tcp_socket(&self, fd: Fd) -> Answer<bool> {
        let socket = self.need_socket(fd)?;
        match socket.kind {
            Kind::Udp(_) => failed(EINVAL),
            _ => Ok(socket.nonblock),
        }
    }
}
