//! write(2) and its relatives (Linux `tcp_sendmsg_locked()`).

use tcplab_tcp::SocketError;

use super::Model;
use super::call::{Answer, cannot, failed, over};
use super::fastopen::First;
use super::fds::File;
use super::numbers::errno::{EAGAIN, EBADF, EFAULT, EINPROGRESS, EINVAL, EPIPE};
use super::numbers::msg;
use super::options::errno_of;
use super::pending::{Pending, Progress};
use super::recv::sum;
use crate::call::{Buffer, Call, Fd, Outcome, SendTo};

/// `MAX_SKB_FRAGS`: buffers of one segment with MSG_ZEROCOPY.
const FRAGS: usize = 17;

/// A write on its way.
#[derive(Clone, Debug)]
pub(super) struct Send {
    pub(super) fd: Fd,
    /// Bytes of each buffer that is not queued yet, the first one last.
    left: Vec<u64>,
    done: u64,
    flags: i32,
    nonblock: bool,
    null: bool,
    /// MSG_ZEROCOPY counts.
    zerocopy: bool,
    numbered: bool,
    /// splice(2): what is queued leaves this pipe; sendfile(2) moves the file's place by itself.
    pub(super) pipe: Option<usize>,
    /// The SYN took the first bytes; the rest waits until the connection stands.
    opening: bool,
}

impl Model {
    pub(super) fn begin_send(&mut self, call: &Call) -> Answer<Pending> {
        let (fd, lens, flags, null, to) = match call {
            Call::Send {
                fd,
                buffer,
                flags,
                to,
            } => match *buffer {
                Buffer::Len(len) => (*fd, vec![len], *flags, false, *to),
                Buffer::Null(len) => (*fd, vec![len], *flags, len > 0, *to),
            },
            Call::Writev { fd, lens } => (*fd, lens.clone(), 0, false, SendTo::Connected),
            Call::Sendmsg {
                fd,
                lens,
                flags,
                to,
                ..
            } => (*fd, lens.clone(), *flags, false, *to),
            _ => return failed(EINVAL),
        };
        if let Some(File::Pipe(pipe, true)) = self.files.get(fd) {
            let (pipe, len) = (*pipe, sum(&lens));
            if let Some(held) = self.files.pipes.get_mut(pipe) {
                *held = held.saturating_add(len);
            }
            return over(Outcome::ok(len as i64));
        }
        let bytes = sum(&lens);
        if self.udp(fd).is_some() {
            if flags & msg::MORE != 0 {
                return cannot("the model has no MSG_MORE for UDP");
            }
            return over(self.udp_send(fd, bytes, to)?);
        }
        let mut send = self.new_send(fd, lens, flags, null)?;
        let readable = (!null).then_some(bytes);
        match self.fast_send(fd, readable, flags & msg::FASTOPEN != 0, to)? {
            First::Plain => {}
            First::Syn(0) if send.nonblock => return failed(EINPROGRESS),
            First::Syn(n) => {
                send.took(n);
                self.queued(&mut send);
                if send.nonblock {
                    return over(Outcome::ok(n as i64));
                }
                send.opening = true;
                if n < bytes {
                    self.fast_waits(fd);
                }
            }
        }
        Ok(Pending::Send(send))
    }

    fn new_send(&mut self, fd: Fd, mut lens: Vec<u64>, flags: i32, null: bool) -> Answer<Send> {
        let nonblock = self.tcp_socket(fd)? || flags & msg::DONTWAIT != 0;
        let zerocopy = flags & msg::ZEROCOPY != 0
            && sum(&lens) > 0
            && (self.files.socket(fd)).is_some_and(|socket| socket.zerocopy.is_enabled());
        if self.listener(fd).is_some() {
            return failed(EPIPE);
        }
        lens.retain(|&len| len > 0);
        lens.reverse();
        if !zerocopy && lens.len() > 1 {
            lens = vec![sum(&lens)];
        }
        Ok(Send {
            fd,
            left: lens,
            done: 0,
            flags,
            nonblock,
            null,
            zerocopy,
            numbered: false,
            pipe: None,
            opening: false,
        })
    }

    /// A write whose bytes come out of a pipe or a file.
    pub(super) fn begin_splice_out(
        &mut self,
        fd: Fd,
        len: u64,
        flags: i32,
        pipe: Option<usize>,
    ) -> Answer<Pending> {
        let send = self.new_send(fd, vec![len], flags, false)?;
        Ok(Pending::Send(Send { pipe, ..send }))
    }

    /// One step of a write: as much as fits.
    pub(super) fn send_step(&mut self, send: &mut Send, late: bool) -> Progress {
        if send.opening {
            if let Some(progress) = self.fast_step(send, late) {
                return progress;
            }
            send.opening = false;
            if send.left.is_empty() {
                return Progress::ok(send.done as i64);
            }
        }
        loop {
            let (len, is_last) = send.next();
            let wrote = self.write_piece(send, len, is_last);
            match wrote {
                None => return Progress::failed(EBADF),
                Some(Ok(_)) if send.null => return Progress::failed(EFAULT),
                Some(Ok(n)) => {
                    send.took(n);
                    if let Some(pipe) = send.pipe {
                        self.drained(pipe, n);
                    }
                    self.queued(send);
                    if send.left.is_empty() {
                        return Progress::ok(send.done as i64);
                    }
                    if n == len {
                        continue;
                    }
                }
                Some(Err(SocketError::Again)) => {}
                Some(Err(error)) => return send.failed(errno_of(error)),
            }
            // There is no room, or the connection does not stand yet.
            return match (send.nonblock || late, send.done) {
                (true, 0) => Progress::failed(EAGAIN),
                (true, done) => Progress::ok(done as i64),
                (false, _) => Progress::Wait,
            };
        }
    }

    fn write_piece(
        &mut self,
        send: &Send,
        len: u64,
        is_last: bool,
    ) -> Option<Result<u64, SocketError>> {
        let more = send.flags & msg::MORE != 0;
        let eor = (send.flags & msg::EOR != 0 && is_last) || (send.zerocopy && !is_last);
        let urgent = send.flags & msg::OOB != 0;
        let null = send.null;
        self.with(send.fd, |ep, cx| match (null, urgent) {
            // What cannot be read is found out after the state was looked at.
            (true, _) => ep.write(cx, 0, false),
            (_, true) => ep.write_urgent(cx, len),
            _ => ep.write_record(cx, len, more, eor),
        })
    }

    /// Bytes were queued: MSG_ZEROCOPY and time stamps follow them.
    fn queued(&mut self, send: &mut Send) {
        if send.null || send.done == 0 {
            return;
        }
        let ends = self.with(send.fd, |ep, _| (ep.send_space().2, ep.last_segment()));
        let Some((end, segment)) = ends else {
            return;
        };
        let is_over = send.left.is_empty();
        let Some(socket) = self.files.socket_mut(send.fd) else {
            return;
        };
        if send.zerocopy {
            match std::mem::replace(&mut send.numbered, true) {
                false => socket.zerocopy.sent(end),
                true => socket.zerocopy.goes_on(end),
            }
        }
        if is_over || send.nonblock {
            socket.stamps.wrote(end, segment.unwrap_or(end));
        }
    }
}

impl Send {
    /// Bytes of the next piece, and whether it is the last: with MSG_ZEROCOPY a segment has so many buffers.
    fn next(&self) -> (u64, bool) {
        let pieces = match self.zerocopy {
            true => FRAGS.min(self.left.len()),
            false => self.left.len(),
        };
        let from = self.left.len() - pieces;
        (sum(self.left.get(from..).unwrap_or_default()), from == 0)
    }

    /// So many bytes are queued.
    fn took(&mut self, bytes: u64) {
        self.done += bytes;
        let mut bytes = bytes;
        while let Some(len) = self.left.last_mut() {
            if *len > bytes {
                *len -= bytes;
                return;
            }
            bytes -= *len;
            self.left.pop();
        }
    }

    pub(super) fn failed(&self, errno: i32) -> Progress {
        match self.done {
            0 => Progress::failed(errno),
            done => Progress::ok(done as i64),
        }
    }
}
