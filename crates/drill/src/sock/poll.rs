//! poll(2): what a descriptor is ready for (Linux `tcp_poll()`, `inet_csk_listen_poll()`).

use tcplab_tcp::{Shutdown, State};

use super::Model;
use super::fds::{File, Kind};
use super::numbers::ev;
use super::pending::Progress;
use crate::call::{Fd, Outcome, Output, PollFd};

impl Model {
    /// The events of a descriptor; none: it is not open.
    pub(super) fn mask(&mut self, fd: Fd) -> Option<u32> {
        match self.file(fd)? {
            File::Socket(socket) => {
                let errors = !socket.errors.is_empty();
                let mask = match &socket.kind {
                    Kind::Listener(id) => match self.stack.waiting(*id) {
                        0 => 0,
                        _ => ev::IN | ev::RDNORM,
                    },
                    Kind::Udp(udp) => udp.mask(),
                    Kind::Fresh(_) | Kind::Conn(_) => self.connection_mask(fd),
                };
                Some(mask | if errors { ev::ERR } else { 0 })
            }
            File::Pipe(number, writes) => {
                let held = self.files.pipes.get(*number).copied().unwrap_or(0);
                Some(match (*writes, held) {
                    (true, _) => ev::OUT | ev::WRNORM,
                    (false, 0) => 0,
                    (false, _) => ev::IN | ev::RDNORM,
                })
            }
            File::Disk { .. } => Some(ev::IN | ev::OUT | ev::RDNORM | ev::WRNORM),
            File::Epoll(_) => Some(0),
        }
    }

    fn connection_mask(&mut self, fd: Fd) -> u32 {
        let mask = self.with(fd, |ep, cx| {
            let (shutdown, state) = (ep.shutdown_bits(), ep.state());
            let mut mask = 0;
            if shutdown.is_all() || state == State::Close {
                mask |= ev::HUP;
            }
            if shutdown.intersects(Shutdown::RECEIVE) {
                mask |= ev::IN | ev::RDNORM | ev::RDHUP;
            }
            if ep.is_deferred() {
                mask |= ev::OUT | ev::WRNORM;
            }
            let opening = matches!(state, State::SynSent | State::SynRecv);
            if !opening || ep.is_passive_fast_open() {
                if ep.has_enough() {
                    mask |= ev::IN | ev::RDNORM;
                }
                if ep.poll_writable(cx) {
                    mask |= ev::OUT | ev::WRNORM;
                }
                if ep.has_urgent() {
                    mask |= ev::PRI;
                }
            }
            if ep.pending_error().is_some() {
                mask |= ev::ERR;
            }
            mask
        });
        mask.unwrap_or(ev::HUP)
    }

    /// One look at all of them.
    pub(super) fn poll_step(&mut self, fds: &[PollFd], may_wait: bool) -> Progress {
        let mut ready = 0;
        let mut revents = Vec::with_capacity(fds.len());
        for asked in fds {
            let wanted = asked.events as u16;
            let events = match self.mask(asked.fd) {
                _ if asked.fd < 0 => 0,
                Some(mask) => mask & (u32::from(wanted) | ev::ERR | ev::HUP),
                None => ev::NVAL,
            };
            ready += i64::from(events != 0);
            revents.push(events as i16);
        }
        if ready == 0 && may_wait {
            return Progress::Wait;
        }
        Progress::Done(Outcome::gave(ready, Output::Poll(revents)))
    }
}
