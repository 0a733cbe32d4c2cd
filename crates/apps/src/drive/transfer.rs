//! Steps of an end that move data: writes, reads, both at once, datagrams.

use tcplab_base::{Errno, Instant};
use tcplab_plan::point::QuickAck;

use super::end::{Call, End};
use super::host::{Host, Read};
use crate::doing::{Both, Doing, Wants};
use crate::program::{Message, Result as Went};

/// How a read went.
enum Took {
    /// So many bytes; 0: the end of the stream.
    Got(u64),
    /// There is nothing now.
    Nothing,
    /// An error has ended the program.
    Failed,
}

impl End {
    /// Writes what is left, as much as fits.
    #[inline(never)]
    pub(super) fn write<H: Host>(&mut self, call: &mut Call<'_, H>, left: u64) -> Option<Wants> {
        if !self.has_socket {
            return Some(Wants::Close);
        }
        match call.host.write(call.index, left, self.flag) {
            Ok(n) => {
                self.written += n;
                self.log(call, "write", n as i64);
                self.doing = match left.saturating_sub(n) {
                    0 => Doing::Next(Went::Done),
                    left => Doing::Writing(left),
                };
                None
            }
            Err(Errno::EAGAIN) => Some(Wants::Writable),
            Err(e) => {
                self.fail(call, e);
                None
            }
        }
    }

    /// Writes as much as fits, then reads what is there.
    #[inline(never)]
    pub(super) fn write_reading<H: Host>(
        &mut self,
        call: &mut Call<'_, H>,
        both: Both,
    ) -> Option<Wants> {
        if let Some(wants @ Wants::Close) = self.write(call, both.write) {
            return Some(wants);
        }
        match self.doing {
            Doing::Next(_) => self.doing = Doing::Next(Went::Meanwhile { left: both.read }),
            Doing::Writing(write) => {
                self.doing = Doing::Both(Both { write, ..both });
            }
            Doing::Both(_) if both.read == 0 => return Some(Wants::Writable),
            Doing::Both(_) => {
                return match self.take(call, both.read) {
                    Took::Nothing => Some(Wants::Either),
                    Took::Failed => None,
                    Took::Got(got) => {
                        self.doing = match got {
                            // The end of the stream: the read that comes after finds it again.
                            0 => Doing::Writing(both.write),
                            _ => Doing::Both(Both {
                                read: both.read - got,
                                ..both
                            }),
                        };
                        None
                    }
                };
            }
            _ => {}
        }
        None
    }

    /// One read of a step that reads.
    pub(super) fn read<H: Host>(
        &mut self,
        call: &mut Call<'_, H>,
        want: u64,
        exactly: bool,
    ) -> Option<Wants> {
        if !self.has_socket {
            return Some(Wants::Close);
        }
        let got = match self.take(call, want) {
            Took::Nothing => return Some(Wants::Readable(None)),
            Took::Failed => return None,
            Took::Got(got) => got,
        };
        self.doing = match want.saturating_sub(got) {
            _ if got == 0 => Doing::Next(Went::End),
            _ if !exactly => Doing::Next(Went::Got(got)),
            0 => Doing::Next(Went::Done),
            left => Doing::Reading(left),
        };
        None
    }

    /// One read.
    #[inline]
    fn take<H: Host>(&mut self, call: &mut Call<'_, H>, want: u64) -> Took {
        if call.has_drained {
            return Took::Nothing;
        }
        if let QuickAck::Each(value) = call.quickack {
            call.host.set_quickack(call.index, value);
        }
        let before = call.logs.then(|| call.observed("readable", 0));
        let got = match call.host.read(call.index, want) {
            Ok(Read::Got { bytes, drained }) => {
                // TCP_QUICKACK is set before each read, also before one that finds nothing.
                call.has_drained = drained && call.quickack == QuickAck::Leave;
                bytes
            }
            Ok(Read::End) => 0,
            Ok(Read::Again) => return Took::Nothing,
            Err(e) => {
                self.fail(call, e);
                return Took::Failed;
            }
        };
        self.read += got;
        if let Some(line) = before {
            self.keep(call, line);
        }
        self.log_state(call, "read", got as i64);
        Took::Got(got)
    }

    #[inline(never)]
    pub(super) fn send<H: Host>(
        &mut self,
        call: &mut Call<'_, H>,
        message: Message,
    ) -> Option<Wants> {
        if !self.has_socket {
            return Some(Wants::Close);
        }
        match call.host.send(call.index, message) {
            Ok(n) => {
                self.written += n;
                self.log(call, "write", n as i64);
                if call.host.is_crowded(call.index) {
                    self.doing = Doing::Sleeping;
                    return Some(Wants::Until(call.host.now()));
                }
            }
            Err(Errno::EAGAIN) => return Some(Wants::Writable),
            // No room in the device's queue: this one was not sent, the schedule goes on, as ping(8)'s does.
            Err(e @ Errno::ENOBUFS) => self.log(call, "error", e.0.into()),
            Err(e) => {
                self.fail(call, e);
                return None;
            }
        }
        self.doing = Doing::Next(Went::Done);
        None
    }

    #[inline(never)]
    pub(super) fn receive<H: Host>(
        &mut self,
        call: &mut Call<'_, H>,
        until: Option<Instant>,
    ) -> Option<Wants> {
        if !self.has_socket {
            return Some(Wants::Close);
        }
        match call.host.receive(call.index) {
            Ok(Some(message)) => {
                self.read += message.size;
                if !self.is_client {
                    // A server of datagrams ends with the last of them.
                    self.closed = call.host.now();
                }
                self.log(call, "read", message.size as i64);
                self.doing = Doing::Next(Went::Message(message));
                None
            }
            Ok(None) => Some(Wants::Readable(until)),
            Err(e) => {
                self.fail(call, e);
                None
            }
        }
    }
}
