//! epoll(7): level-triggered, edge-triggered, one-shot (Linux fs/eventpoll.c: `ep_poll_callback()`,
//! `ep_send_events()`).

use std::collections::VecDeque;

use super::Model;
use super::call::{Answer, failed, over};
use super::fds::File;
use super::numbers::errno::{EBADF, EEXIST, EINVAL, ENOENT, EPERM};
use super::numbers::ev;
use super::pending::{Pending, Progress};
use crate::call::{Call, EpollEvent, Fd, Outcome, Output};

const ADD: i32 = 1;
const DEL: i32 = 2;
const MOD: i32 = 3;
/// `EP_PRIVATE_BITS`: what is left when a one-shot item was reported.
const PRIVATE: u32 = ev::WAKEUP | ev::ONESHOT | ev::ET | ev::EXCLUSIVE;

/// A descriptor that is watched.
#[derive(Debug)]
struct Item {
    fd: Fd,
    /// The serial number of the socket, which tells whether `fd` was reused; 0: not a socket.
    serial: u64,
    event: EpollEvent,
}

/// An epoll instance.
#[derive(Debug, Default)]
pub(super) struct Epoll {
    items: Vec<Item>,
    /// Descriptors that may be ready (`rdllist`).
    ready: VecDeque<Fd>,
}

impl Epoll {
    fn item(&mut self, fd: Fd) -> Option<&mut Item> {
        self.items.iter_mut().find(|item| item.fd == fd)
    }

    fn mark(&mut self, fd: Fd) {
        if !self.ready.contains(&fd) {
            self.ready.push_back(fd);
        }
    }

    /// A descriptor is closed.
    pub(super) fn forget(&mut self, fd: Fd) {
        self.items.retain(|item| item.fd != fd);
        self.ready.retain(|&ready| ready != fd);
    }

    /// `ep_poll_callback()`: a socket woke its waiters with these events; 0: any.
    pub(super) fn wake(&mut self, fd: Fd, serial: u64, keys: u32) {
        let Some(item) = self.item(fd).filter(|item| item.serial == serial) else {
            return;
        };
        let wanted = item.event.events;
        let is_off = wanted & !PRIVATE == 0;
        if !is_off && (keys == 0 || keys & wanted != 0) {
            self.mark(fd);
        }
    }
}

impl Model {
    pub(super) fn begin_epoll(&mut self, call: &Call) -> Answer<Pending> {
        match *call {
            Call::EpollCreate { size } if size <= 0 => failed(EINVAL),
            Call::EpollCreate { .. } => over(self.add(File::Epoll(Epoll::default()))),
            Call::EpollCtl {
                epoll,
                op,
                fd,
                event,
            } => over(self.epoll_ctl(epoll, op, fd, event)?),
            Call::EpollWait {
                epoll,
                most,
                timeout_ms,
            } => match self.file(epoll) {
                _ if most <= 0 => failed(EINVAL),
                Some(File::Epoll(_)) => Ok(Pending::EpollWait {
                    epoll,
                    most: most as usize,
                    timeout_ms,
                }),
                Some(_) => failed(EINVAL),
                None => failed(EBADF),
            },
            _ => failed(EINVAL),
        }
    }

    fn epoll_ctl(&mut self, epoll: Fd, op: i32, fd: Fd, mut event: EpollEvent) -> Answer<Outcome> {
        let serial = match self.file(fd) {
            None => return failed(EBADF),
            Some(File::Disk { .. }) => return failed(EPERM),
            Some(_) if fd == epoll => return failed(EINVAL),
            Some(File::Socket(socket)) => socket.serial,
            Some(_) => 0,
        };
        event.events |= ev::ERR | ev::HUP;
        let Some(file) = self.files.get_mut(epoll) else {
            return failed(EBADF);
        };
        let File::Epoll(own) = file else {
            return failed(EINVAL);
        };
        let known = own.item(fd);
        match (op, known) {
            (ADD, None) => own.items.push(Item { fd, serial, event }),
            (ADD, Some(_)) => return failed(EEXIST),
            (MOD, Some(item)) => item.event = event,
            (DEL, Some(_)) => {
                own.forget(fd);
                return Ok(Outcome::ok(0));
            }
            (MOD | DEL, None) => return failed(ENOENT),
            _ => return failed(EINVAL),
        }
        // What is ready already is found at once.
        if self.mask(fd).unwrap_or(0) & event.events != 0
            && let Some(File::Epoll(own)) = self.files.get_mut(epoll)
        {
            own.mark(fd);
        }
        Ok(Outcome::ok(0))
    }

    /// One look at the list of what may be ready.
    pub(super) fn epoll_step(&mut self, epoll: Fd, most: usize, may_wait: bool) -> Progress {
        let Some(File::Epoll(own)) = self.files.get_mut(epoll) else {
            return Progress::failed(EBADF);
        };
        let mut list = std::mem::take(&mut own.ready);
        let (mut events, mut again) = (Vec::new(), Vec::new());
        while events.len() < most {
            let Some(fd) = list.pop_front() else {
                break;
            };
            let mask = self.mask(fd).unwrap_or(0);
            let Some(File::Epoll(own)) = self.files.get_mut(epoll) else {
                break;
            };
            let Some(item) = own.item(fd) else {
                continue;
            };
            let found = mask & item.event.events;
            if found == 0 {
                continue;
            }
            events.push(EpollEvent {
                events: found,
                data: item.event.data,
            });
            if item.event.events & ev::ONESHOT != 0 {
                item.event.events &= PRIVATE;
            } else if item.event.events & ev::ET == 0 {
                again.push(fd);
            }
        }
        if let Some(File::Epoll(own)) = self.files.get_mut(epoll) {
            for fd in list.into_iter().chain(again) {
                own.mark(fd);
            }
        }
        if events.is_empty() && may_wait {
            return Progress::Wait;
        }
        Progress::Done(Outcome::gave(events.len() as i64, Output::Epoll(events)))
    }
}
