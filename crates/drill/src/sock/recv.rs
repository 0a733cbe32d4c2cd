//! read(2) and its relatives (Linux `tcp_recvmsg()`, `ip_recv_error()`).

use tcplab_tcp::{ReadOutcome, Shutdown};

use super::Model;
use super::call::{Answer, failed, over};
use super::fds::{File, Kind};
use super::numbers::errno::{EAGAIN, EBADF, EFAULT, EINVAL, ENOTCONN};
use super::numbers::{
    AF_INET, SCM_TIMESTAMPING, SOL_IP, SOL_IPV6, SOL_SOCKET, SOL_TCP, TCP_CM_INQ, ip, msg, so,
};
use super::options::errno_of;
use super::pending::{Pending, Progress};
use crate::call::{Buffer, Call, Control, ControlData, Fd, Outcome, Output};

/// A read on its way.
#[derive(Clone, Debug)]
pub(super) struct Recv {
    pub(super) fd: Fd,
    /// Room, and how much of it is filled.
    len: u64,
    got: u64,
    flags: i32,
    nonblock: bool,
    /// The buffer is the null pointer.
    null: bool,
    /// recvmsg(2): the answer has flags and control messages, in this many bytes.
    message: Option<u64>,
    /// splice(2): what is read goes into this pipe.
    pub(super) pipe: Option<usize>,
}

impl Recv {
    /// Its flags, its room in bytes, and whether it is recvmsg(2).
    pub(super) fn asks(&self) -> (i32, u64, bool) {
        (self.flags, self.len, self.message.is_some())
    }

    /// It does not wait.
    pub(super) fn is_nonblock(&self) -> bool {
        self.nonblock
    }
}

impl Model {
    pub(super) fn begin_recv(&mut self, call: &Call) -> Answer<Pending> {
        let (fd, len, flags, null, message) = match call {
            Call::Recv { fd, buffer, flags } => match *buffer {
                Buffer::Len(len) => (*fd, len, *flags, false, None),
                Buffer::Null(len) => (*fd, len, *flags, len > 0, None),
            },
            Call::Readv { fd, lens } => (*fd, sum(lens), 0, false, None),
            Call::Recvmsg {
                fd,
                lens,
                control_len,
                flags,
            } => (*fd, sum(lens), *flags, false, Some(*control_len)),
            _ => return failed(EINVAL),
        };
        if let Some(read) = self.read_other(fd, len) {
            return over(read);
        }
        if matches!(call, Call::Readv { .. }) && len == 0 {
            // sock_read_iter().
            return over(Outcome::ok(0));
        }
        let is_udp = self.udp(fd).is_some();
        let nonblock = match is_udp {
            true => self.files.socket(fd).is_some_and(|socket| socket.nonblock),
            false => self.tcp_socket(fd)?,
        };
        let nonblock = nonblock || flags & msg::DONTWAIT != 0;
        if flags & msg::ERRQUEUE != 0 {
            return over(self.recv_error(fd, len, message.is_some()));
        }
        if self.listener(fd).is_some() {
            return failed(ENOTCONN);
        }
        if flags & msg::OOB != 0 && !is_udp {
            return over(self.recv_urgent(fd, (len, flags), message.is_some()));
        }
        Ok(Pending::Recv(Recv {
            fd,
            len,
            got: 0,
            flags,
            nonblock,
            null,
            message,
            pipe: None,
        }))
    }

    /// A read that gives its bytes to a pipe.
    pub(super) fn begin_splice_in(
        &mut self,
        fd: Fd,
        len: u64,
        nonblock: bool,
        pipe: usize,
    ) -> Answer<Pending> {
        let nonblock = self.tcp_socket(fd)? || nonblock;
        if self.listener(fd).is_some() {
            return failed(ENOTCONN);
        }
        Ok(Pending::Recv(Recv {
            fd,
            len,
            got: 0,
            flags: 0,
            nonblock,
            null: false,
            message: None,
            pipe: Some(pipe),
        }))
    }

    /// Files that are no sockets.
    fn read_other(&mut self, fd: Fd, len: u64) -> Option<Outcome> {
        match self.files.get_mut(fd) {
            None => Some(Outcome::failed(EBADF)),
            Some(File::Disk { len: size, at }) => {
                let got = size.saturating_sub(*at).min(len);
                *at += got;
                Some(Outcome::ok(got as i64))
            }
            Some(File::Pipe(number, false)) => {
                let number = *number;
                let held = self.files.pipes.get_mut(number)?;
                let got = (*held).min(len);
                *held -= got;
                Some(Outcome::ok(got as i64))
            }
            Some(File::Pipe(..) | File::Epoll(_)) => Some(Outcome::failed(EINVAL)),
            Some(File::Socket(_)) => None,
        }
    }

    /// One step of a read.
    pub(super) fn recv_step(&mut self, recv: &mut Recv, late: bool) -> Progress {
        if self.udp(recv.fd).is_some() {
            return self.udp_recv_step(recv, late);
        }
        let left = recv.len.saturating_sub(recv.got);
        if recv.len > 0 && recv.null {
            let has = self.with(recv.fd, |ep, _| ep.readable_bytes()).unwrap_or(0);
            if has > 0 {
                return Progress::failed(EFAULT);
            }
        }
        if recv.pipe.is_some() && self.with(recv.fd, |ep, _| ep.at_mark()) == Some(true) {
            // tcp_read_sock() does not step over the urgent byte.
            return Progress::ok(recv.got as i64);
        }
        let peek = recv.flags & msg::PEEK != 0;
        let read = self.with(recv.fd, |ep, cx| match peek {
            true => ep.peek(left),
            false => ep.read(cx, left),
        });
        let target = self.target(recv);
        let must = recv.nonblock || late;
        match read {
            None => Progress::failed(ENOTCONN),
            Some(ReadOutcome::Got(n)) => {
                recv.got = if peek { n } else { recv.got + n };
                match recv.got >= target || recv.len == 0 || must || self.ended(recv.fd) {
                    true => self.received(recv),
                    false => Progress::Wait,
                }
            }
            Some(_) if recv.got > 0 && !matches!(read, Some(ReadOutcome::Again)) => {
                self.received(recv)
            }
            Some(ReadOutcome::Again) if recv.got > 0 && must => self.received(recv),
            Some(ReadOutcome::Again) if must => Progress::failed(EAGAIN),
            Some(ReadOutcome::Again) => Progress::Wait,
            Some(ReadOutcome::End) => self.received(recv),
            Some(ReadOutcome::Failed(error)) => Progress::failed(errno_of(error)),
        }
    }

    /// `sock_rcvlowat()`.
    fn target(&mut self, recv: &Recv) -> u64 {
        if recv.flags & msg::WAITALL != 0 {
            return recv.len;
        }
        let lowat = self.with(recv.fd, |ep, _| ep.rcvlowat()).unwrap_or(1);
        u64::from(lowat).min(recv.len).max(1)
    }

    /// Nothing more will come, or an error waits for the next call.
    fn ended(&mut self, fd: Fd) -> bool {
        let ended = self.with(fd, |ep, _| {
            ep.shutdown_bits().intersects(Shutdown::RECEIVE)
                || ep.is_closed()
                || ep.pending_error().is_some()
        });
        ended.unwrap_or(true)
    }

    /// The read is over.
    fn received(&mut self, recv: &Recv) -> Progress {
        if let Some(pipe) = recv.pipe
            && let Some(held) = self.files.pipes.get_mut(pipe)
        {
            *held += recv.got;
        }
        let mut outcome = Outcome::ok(recv.got as i64);
        if recv.message.is_some() {
            let mut control = Vec::new();
            let asks = self.files.socket(recv.fd).is_some_and(|s| s.plain.inq);
            if asks && let Some(inq) = self.with(recv.fd, |ep, _| ep.inq()) {
                control.push(Control {
                    level: SOL_TCP,
                    kind: TCP_CM_INQ,
                    data: ControlData::Int(i64::from(inq)),
                });
            }
            outcome.out = Output::Message { flags: 0, control };
        }
        Progress::Done(outcome)
    }

    /// MSG_OOB: the urgent byte.
    fn recv_urgent(&mut self, fd: Fd, (len, flags): (u64, i32), is_message: bool) -> Outcome {
        let is_inline = (self.files.socket(fd))
            .and_then(|socket| socket.plain.noted.get(&(SOL_SOCKET, so::OOBINLINE)))
            .is_some_and(|&value| value != 0);
        let peek = flags & msg::PEEK != 0;
        let read = self.with(fd, |ep, _| ep.read_urgent(peek));
        let is_there = match read {
            Some(Ok(is_there)) if !is_inline => is_there,
            Some(Err(error)) if !is_inline => return Outcome::failed(errno_of(error)),
            _ => return Outcome::failed(EINVAL),
        };
        let got = if is_there { len.min(1) } else { 0 };
        let mut outcome = Outcome::ok(got as i64);
        if is_message {
            let cut = if len == 0 { msg::TRUNC } else { 0 };
            outcome.out = Output::Message {
                flags: if is_there { msg::OOB | cut } else { 0 },
                control: Vec::new(),
            };
        }
        outcome
    }

    /// A read of the error queue.
    fn recv_error(&mut self, fd: Fd, len: u64, is_message: bool) -> Outcome {
        let Some(socket) = self.files.socket_mut(fd) else {
            return Outcome::failed(EBADF);
        };
        let Some((entry, errno)) = socket.errors.take() else {
            return Outcome::failed(EAGAIN);
        };
        let domain = socket.domain;
        let more = !socket.errors.is_empty();
        if errno.is_some() {
            let error = errno.filter(|&e| e != 0).and_then(super::options::error_of);
            self.with(fd, |ep, _| ep.set_error(error));
        }
        if more {
            // sk_error_report() for the next one.
            self.wake(fd, super::poll_err());
        }
        let mut control = Vec::new();
        if let Some(ns) = entry.stamp_ns {
            control.push(Control {
                level: SOL_SOCKET,
                kind: SCM_TIMESTAMPING,
                data: ControlData::TimestampNs(ns),
            });
        }
        let (level, kind) = match domain {
            AF_INET => (SOL_IP, ip::RECVERR),
            _ => (SOL_IPV6, ip::V6_RECVERR),
        };
        control.push(Control {
            level,
            kind,
            data: ControlData::Error(entry.error),
        });
        let cut = if entry.len > len { msg::TRUNC } else { 0 };
        let mut outcome = Outcome::ok(entry.len.min(len) as i64);
        if is_message {
            outcome.out = Output::Message {
                flags: msg::ERRQUEUE | cut,
                control,
            };
        }
        outcome
    }

    /// What a descriptor's socket is at, for calls that need a connection.
    pub(super) fn is_conn(&self, fd: Fd) -> bool {
        matches!(
            self.files.socket(fd).map(|socket| &socket.kind),
            Some(Kind::Conn(_))
        )
    }
}

/// Bytes of all buffers.
pub(super) fn sum(lens: &[u64]) -> u64 {
    lens.iter().fold(0, |sum, &len| sum.saturating_add(len))
}
