//! Steps: a program goes on when its socket is ready or its time has come, until it has to wait again.

use tcplab_base::Instant;

use super::Drive;
use super::end::UNKNOWN;
use super::host::{Host, Interest, Timer};
use crate::doing::{Doing, Wants};
use crate::program::Result as Went;

impl Drive {
    /// The socket of an end has what the end waits for, or is broken.
    #[inline]
    pub fn ready<H: Host>(&mut self, host: &mut H, index: usize) {
        match self.ends[index].doing {
            Doing::Connecting => self.connected(host, index),
            // A reset while the application sleeps: it will see it at its next read or write.
            Doing::Sleeping | Doing::Nothing | Doing::Over => {}
            _ => self.step(host, index, true),
        }
    }

    /// The time has come for which a step waited; a stale one finds that nothing is due.
    #[inline(never)]
    pub(super) fn wakes<H: Host>(&mut self, host: &mut H, index: usize) {
        let end = &mut self.ends[index];
        if self.apps[end.app as usize].is_replay && self.replays(host, index) {
            return;
        }
        let end = &mut self.ends[index];
        if end.wake_at == UNKNOWN || end.wake_at > host.now() {
            return;
        }
        end.wake_at = UNKNOWN;
        end.doing = match end.doing {
            Doing::Sleeping => Doing::Next(Went::Done),
            Doing::Receiving(_) => Doing::Next(Went::TimedOut),
            _ => return,
        };
        self.step(host, index, false);
    }

    /// Lets an end go on, and arranges what it waits for. `reported`: its socket's event is why.
    #[inline]
    pub(super) fn step<H: Host>(&mut self, host: &mut H, index: usize, reported: bool) {
        let (end, mut call) = self.call(host, index);
        let (bytes, before) = (end.bytes(), end.awaits);
        let wants = end.go(&mut call);
        end.wake_at = UNKNOWN;
        end.awaits = wants.awaited();
        let app = end.app as usize;
        self.changed(index);
        match wants {
            Wants::Readable(None) => host.watch(index, Interest::Readable, reported),
            Wants::Writable => host.watch(index, Interest::Writable, reported),
            Wants::Either => host.watch(index, Interest::Either, reported),
            _ => self.steps_off(host, index, wants, reported),
        }
        if self.apps[app].has_timeout {
            self.stepped(host, index, wants, (before, bytes));
        }
    }

    /// Serves an end that wants something besides its socket, or instead of it.
    #[inline(never)]
    fn steps_off<H: Host>(&mut self, host: &mut H, index: usize, wants: Wants, reported: bool) {
        match wants {
            Wants::Until(when) => {
                host.watch(index, Interest::Nothing, reported);
                self.wake(host, index, when);
            }
            Wants::Readable(until) => {
                host.watch(index, Interest::Readable, reported);
                if let Some(until) = until {
                    self.wake(host, index, until);
                }
            }
            Wants::Writable | Wants::Either => {}
            Wants::Reconnect => {
                self.close(host, index);
                self.ends[index].closed = UNKNOWN;
                self.connect(host, index);
            }
            Wants::Close => {
                self.end_program(index);
                self.close(host, index);
            }
        }
    }

    #[inline(never)]
    fn wake<H: Host>(&mut self, host: &mut H, index: usize, at: Instant) {
        let at = at.max(host.now());
        self.ends[index].wake_at = at;
        host.set(at, Timer::Wake(index as u32));
    }
}
