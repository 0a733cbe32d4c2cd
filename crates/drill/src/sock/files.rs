//! open(2), pipe(2), splice(2), sendfile(2): files have lengths, bytes are copied.

use super::Model;
use super::call::{Answer, failed, over};
use super::fds::File;
use super::numbers::errno::{EAGAIN, EBADF, EINVAL};
use super::numbers::msg;
use super::pending::Pending;
use crate::call::{Call, Fd, Outcome, Output};

/// Bytes that a pipe holds.
const PIPE_SIZE: u64 = 65_536;
/// A file whose size nobody knows is large enough.
const FILE_SIZE: u64 = 1 << 30;
/// `SPLICE_F_NONBLOCK`, `SPLICE_F_MORE`.
const SPLICE_NONBLOCK: u32 = 2;
const SPLICE_MORE: u32 = 4;

impl Model {
    pub(super) fn begin_file(&mut self, call: &Call) -> Answer<Pending> {
        match *call {
            Call::Open { .. } => over(self.add(File::Disk {
                len: FILE_SIZE,
                at: 0,
            })),
            Call::Pipe => over(self.pipe()),
            Call::Splice {
                from,
                to,
                len,
                flags,
            } => self.splice(from, to, len, flags),
            Call::Sendfile {
                out,
                from,
                offset,
                len,
            } => self.sendfile(out, from, offset, len),
            _ => failed(EINVAL),
        }
    }

    fn pipe(&mut self) -> Outcome {
        let number = self.files.pipes.len();
        self.files.pipes.push(0);
        let ends = [false, true].map(|writes| self.add(File::Pipe(number, writes)));
        match ends {
            [read, write] if read.errno == 0 && write.errno == 0 => {
                Outcome::gave(0, Output::Pipe([read.result as Fd, write.result as Fd]))
            }
            [read, write] => {
                if read.errno == 0 {
                    self.files.remove(read.result as Fd);
                }
                write
            }
        }
    }

    fn splice(&mut self, from: Fd, to: Fd, len: u64, flags: u32) -> Answer<Pending> {
        let nonblock = flags & SPLICE_NONBLOCK != 0;
        let (Some(source), Some(sink)) = (self.file(from), self.file(to)) else {
            return failed(EBADF);
        };
        match (source, sink) {
            (File::Socket(_), File::Pipe(pipe, true)) => {
                let pipe = *pipe;
                let room = PIPE_SIZE.saturating_sub(self.held(pipe));
                match room {
                    0 => failed(EAGAIN),
                    room => self.begin_splice_in(from, len.min(room), nonblock, pipe),
                }
            }
            (File::Pipe(pipe, false), File::Socket(_)) => {
                let pipe = *pipe;
                let more = if flags & SPLICE_MORE != 0 {
                    msg::MORE
                } else {
                    0
                };
                match self.held(pipe) {
                    0 => failed(EAGAIN),
                    held => self.begin_splice_out(to, len.min(held), more, Some(pipe)),
                }
            }
            _ => failed(EINVAL),
        }
    }

    fn held(&self, pipe: usize) -> u64 {
        self.files.pipes.get(pipe).copied().unwrap_or(0)
    }

    fn sendfile(&mut self, out: Fd, from: Fd, offset: Option<i64>, len: u64) -> Answer<Pending> {
        let Some(File::Disk { len: size, at }) = self.files.get_mut(from) else {
            return failed(EINVAL);
        };
        let begin = match offset {
            Some(..0) => return failed(EINVAL),
            Some(offset) => offset as u64,
            None => *at,
        };
        let len = len.min(size.saturating_sub(begin));
        if offset.is_none() {
            *at += len;
        }
        self.begin_splice_out(out, len, 0, None)
    }

    /// Bytes of a pipe were sent.
    pub(super) fn drained(&mut self, pipe: usize, bytes: u64) {
        if let Some(held) = self.files.pipes.get_mut(pipe) {
            *held = held.saturating_sub(bytes);
        }
    }
}
