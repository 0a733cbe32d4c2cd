//! From a [`Call`] to what carries it out.

use super::Model;
use super::fds::{File, Kind};
use super::numbers::errno::{EBADF, EINVAL, ENOTSOCK};
use super::numbers::{F_GETFD, F_GETFL, F_SETFD, F_SETFL, O_NONBLOCK, O_RDWR};
use super::pending::Pending;
use crate::call::{Call, Fd, Outcome};
use crate::target::TargetError;

/// A call to be made in steps, or one that is over.
pub(super) type Begun = Result<Pending, Outcome>;

impl Model {
    /// Begins a call.
    pub(super) fn begin(&mut self, call: &Call) -> Result<Begun, TargetError> {
        let begun = match call {
            Call::Socket {
                domain,
                kind,
                protocol,
            } => Err(self.socket(*domain, *kind, *protocol)),
            Call::Bind { fd, addr } => Err(self.bind(*fd, *addr)),
            Call::Listen { fd, backlog } => Err(self.listen(*fd, *backlog)),
            Call::Accept { fd, flags } => self.begin_accept(*fd, *flags),
            Call::Connect { fd, to } => self.connect(*fd, *to)?,
            Call::Shutdown { fd, how } => Err(self.shutdown(*fd, *how)),
            Call::Close { fd } => self.close(*fd),
            Call::Setsockopt {
                fd,
                level,
                name,
                value,
                len,
            } => Err(self.setsockopt(*fd, (*level, *name), value, *len)?),
            Call::Getsockopt {
                fd,
                level,
                name,
                len,
            } => Err(self.getsockopt(*fd, (*level, *name), *len)?),
            Call::Fcntl { fd, command, arg } => Err(self.fcntl(*fd, *command, *arg)),
            Call::Ioctl { fd, request } => Err(self.ioctl(*fd, *request)),
            Call::Poll { fds, timeout_ms } => Ok(Pending::Poll {
                fds: fds.clone(),
                timeout_ms: *timeout_ms,
            }),
            Call::EpollCreate { .. } | Call::EpollCtl { .. } | Call::EpollWait { .. } => {
                self.begin_epoll(call)
            }
            Call::Pipe | Call::Splice { .. } | Call::Sendfile { .. } | Call::Open { .. } => {
                self.begin_file(call)
            }
            Call::Recv { .. } | Call::Readv { .. } | Call::Recvmsg { .. } => self.begin_recv(call),
            Call::Send { .. } | Call::Writev { .. } | Call::Sendmsg { .. } => {
                self.begin_send(call)?
            }
        };
        Ok(begun)
    }

    /// The errno of a call that needs a socket and got something else.
    pub(super) fn no_socket(&self, fd: Fd) -> Outcome {
        Outcome::failed(match self.file(fd) {
            Some(_) => ENOTSOCK,
            None => EBADF,
        })
    }

    fn fcntl(&mut self, fd: Fd, command: i32, arg: i64) -> Outcome {
        let Some(file) = self.files.get_mut(fd) else {
            return Outcome::failed(EBADF);
        };
        let mut nothing = false;
        let nonblock = match file {
            File::Socket(socket) => &mut socket.nonblock,
            _ => &mut nothing,
        };
        match command {
            F_GETFL => {
                let flags = O_RDWR | if *nonblock { O_NONBLOCK } else { 0 };
                Outcome::ok(i64::from(flags))
            }
            F_SETFL => {
                *nonblock = arg & i64::from(O_NONBLOCK) != 0;
                Outcome::ok(0)
            }
            F_GETFD | F_SETFD => Outcome::ok(0),
            _ => Outcome::failed(EINVAL),
        }
    }

    /// Whether the socket is one of TCP, and its descriptor's O_NONBLOCK.
    pub(super) fn tcp_socket(&self, fd: Fd) -> Result<bool, Outcome> {
        match self.files.socket(fd) {
            Some(socket) if matches!(socket.kind, Kind::Udp(_)) => Err(Outcome::failed(EINVAL)),
            Some(socket) => Ok(socket.nonblock),
            None => Err(self.no_socket(fd)),
        }
    }
}
