//! Waiting: one epoll, one absolute timer (epoll's own time-outs are late by the timer slack).

use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use tcplab_base::Instant;

/// What a file descriptor belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The TAP device at one end (0 or 1) of a link.
    Tap(usize, usize),
    /// The socket of an end.
    End(usize),
    /// The listener of an application.
    Listener(usize),
    /// A capture by the kernel.
    Capture(usize),
}

impl Source {
    fn number(self) -> u64 {
        match self {
            Self::Tap(link, side) => 1 << 56 | (link as u64) << 1 | side as u64,
            Self::End(i) => 2 << 56 | i as u64,
            Self::Listener(i) => 3 << 56 | i as u64,
            Self::Capture(i) => 4 << 56 | i as u64,
        }
    }

    fn of(number: u64) -> Option<Self> {
        let i = (number & ((1 << 56) - 1)) as usize;
        match number >> 56 {
            1 => Some(Self::Tap(i >> 1, i & 1)),
            2 => Some(Self::End(i)),
            3 => Some(Self::Listener(i)),
            4 => Some(Self::Capture(i)),
            _ => None,
        }
    }
}

/// Something that a descriptor reported.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    pub(crate) source: Source,
    /// The peer has gone or the socket has an error.
    pub(crate) broken: bool,
}

/// How a wait ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waited {
    /// The time has come.
    pub(crate) due: bool,
    /// Nothing was ready at first: only then may time have passed in a guest in virtual time.
    pub(crate) slept: bool,
}

/// The one place where a run waits.
#[derive(Debug)]
pub(crate) struct Poll {
    epoll: Epoll,
    timer: TimerFd,
    armed: Option<Instant>,
    events: Vec<EpollEvent>,
}

impl Poll {
    pub(crate) fn new() -> nix::Result<Self> {
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?;
        let flags = TimerFlags::TFD_CLOEXEC | TimerFlags::TFD_NONBLOCK;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags)?;
        epoll.add(&timer, EpollEvent::new(EpollFlags::EPOLLIN, 0))?;
        Ok(Self {
            epoll,
            timer,
            armed: None,
            events: vec![EpollEvent::empty(); 64],
        })
    }

    pub(crate) fn add(&self, fd: impl AsFd, source: Source, flags: EpollFlags) -> nix::Result<()> {
        self.epoll.add(fd, EpollEvent::new(flags, source.number()))
    }

    pub(crate) fn change(
        &self,
        fd: impl AsFd,
        source: Source,
        flags: EpollFlags,
    ) -> nix::Result<()> {
        let mut event = EpollEvent::new(flags, source.number());
        self.epoll.modify(fd, &mut event)
    }

    pub(crate) fn remove(&self, fd: impl AsFd) -> nix::Result<()> {
        self.epoll.delete(fd)
    }

    /// Waits until `until` (on CLOCK_MONOTONIC), or until a descriptor reports; adds to `ready`.
    pub(crate) fn wait(&mut self, until: Instant, ready: &mut Vec<Ready>) -> nix::Result<Waited> {
        if self.armed != Some(until) {
            let at = tcplab_os::clock::timer(until);
            let flags = TimerSetTimeFlags::TFD_TIMER_ABSTIME;
            self.timer.set(Expiration::OneShot(at), flags)?;
            self.armed = Some(until);
        }
        let mut found = self.look(EpollTimeout::ZERO)?;
        let slept = found == 0;
        if slept {
            found = self.look(EpollTimeout::NONE)?;
        }
        let mut due = false;
        for event in &self.events[..found] {
            let Some(source) = Source::of(event.data()) else {
                // The timer stays readable until it is set again, which happens before each wait
                // whose time differs.
                due = true;
                self.armed = None;
                continue;
            };
            let broken = EpollFlags::EPOLLERR | EpollFlags::EPOLLHUP;
            ready.push(Ready {
                source,
                broken: event.events().intersects(broken),
            });
        }
        Ok(Waited { due, slept })
    }

    fn look(&mut self, timeout: EpollTimeout) -> nix::Result<usize> {
        match self.epoll.wait(&mut self.events, timeout) {
            Err(Errno::EINTR) => Ok(0),
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_survive_the_way_through_the_kernel() {
        let all = [
            Source::Tap(3, 1),
            Source::Tap(0, 0),
            Source::End(70_000),
            Source::Listener(2),
            Source::Capture(1),
        ];
        for source in all {
            assert_eq!(Source::of(source.number()), Some(source));
        }
        assert_eq!(Source::of(0), None);
    }
}
