//! Applications of a run: they connect, are accepted, step, sleep and close, on sockets of the kernel.
//!
//! The simulator does the same on its own endpoints (crates/sim, `world/apps.rs`).

use std::net::{Ipv4Addr, SocketAddrV4};

use nix::errno::Errno;
use nix::sys::epoll::EpollFlags;
use tcplab_apps::{Awaited, Doing, Result as Went, Stepped, Wants};
use tcplab_base::{Duration, Instant};
use tcplab_plan::network::host_address;
use tcplab_plan::outcome::{LinkSeries, TCP_INFO_SERIES};

use super::World;
use crate::run::error::{Context, RunError};
use crate::run::poll::Source;
use crate::run::socket::{self, Kind};
use crate::run::timers::Timer;
use crate::tcp_info::tcp_info;

impl World<'_> {
    pub(super) fn connect(&mut self, index: usize, now: Instant) -> Result<(), RunError> {
        let at = self.at(now);
        let app = &self.point.apps[self.apps.ends[index].app];
        self.network.hosts[app.client].enter()?;
        let end = &mut self.apps.ends[index];
        let kind = match (end.udp, end.icmp) {
            (_, true) => Kind::Echo,
            (true, false) => Kind::Udp,
            (false, false) => Kind::Tcp,
        };
        let fd = socket::make(kind, &end.options)?;
        let server = match (&self.site, app.client == app.server) {
            (Some(site), _) => site.peer,
            (None, true) => Ipv4Addr::LOCALHOST,
            (None, false) => host_address(app.server),
        };
        end.program.connects(now);
        end.log(at, "connect", 0);
        match socket::begin(&fd, SocketAddrV4::new(server, app.port)) {
            Ok(port) => {
                end.fd = Some(fd);
                end.doing = Doing::Connecting;
                let udp = end.udp;
                self.apps.has_port(index, port);
                if udp {
                    return self.connected(index, now);
                }
                self.gives_up_after(index, |_, timeout| Some(now + timeout));
                self.watch(index, EpollFlags::EPOLLOUT)
            }
            Err(e) => {
                end.fail(at, e);
                self.close(index, now)
            }
        }
    }

    fn connected(&mut self, index: usize, now: Instant) -> Result<(), RunError> {
        let at = self.at(now);
        let end = &mut self.apps.ends[index];
        if let (Some(fd), false) = (&end.fd, end.udp) {
            if let Some(e) = socket::error(fd) {
                end.fail(at, e);
                return self.close(index, now);
            }
            socket::connected(fd, &end.options)?;
        }
        end.out.opened_ns.get_or_insert(at);
        end.log_state(at, "connected", 0);
        end.doing = Doing::Next(Went::Done);
        self.step(index, now)
    }

    pub(super) fn accept(&mut self, app: usize, now: Instant) -> Result<(), RunError> {
        let at = self.at(now);
        loop {
            let Some(listener) = &self.apps.listeners[app] else {
                return Ok(());
            };
            let accepted = socket::accept(listener).context(|| "cannot accept".into())?;
            let Some((fd, port)) = accepted else {
                return Ok(());
            };
            let mut flow = self.apps.ports[app].get(&port).copied();
            if flow.is_none() && self.site.is_some() {
                flow = self.apps.adopt(app, port);
            }
            let Some(flow) = flow else {
                continue;
            };
            let index = 2 * flow + 1;
            if self.apps.ends[index].fd.is_some() {
                // A reconnecting client was quicker than the server's last step.
                self.close(index, now)?;
            }
            let end = &mut self.apps.ends[index];
            socket::prepare(&fd, false, &end.options)?;
            socket::connected(&fd, &end.options)?;
            end.fd = Some(fd);
            end.restart(&self.point.apps[app]);
            end.out.opened_ns.get_or_insert(at);
            end.log_state(at, "accept", 0);
            self.step(index, now)?;
        }
    }

    pub(super) fn socket_is_ready(
        &mut self,
        index: usize,
        broken: bool,
        now: Instant,
    ) -> Result<(), RunError> {
        match self.apps.ends[index].doing {
            Doing::Connecting => self.connected(index, now),
            // A reset while the application sleeps: it will see it at its next read or write.
            Doing::Sleeping if broken => self.unwatch(index),
            Doing::Sleeping | Doing::Nothing | Doing::Over => Ok(()),
            _ => self.step(index, now),
        }
    }

    /// Lets an end go on, and arranges what it waits for.
    pub(super) fn step(&mut self, index: usize, now: Instant) -> Result<(), RunError> {
        let at = self.at(now);
        let end = &mut self.apps.ends[index];
        let (read, written) = (end.out.read_bytes, end.out.written_bytes);
        let wants = end.go(now, at)?;
        end.sleeps = end.sleeps.wrapping_add(1);
        let sleeps = end.sleeps;
        let step = Stepped {
            before: match end.watched {
                Some(flags) if flags.contains(EpollFlags::EPOLLIN) => Awaited::Data,
                Some(flags) if flags.contains(EpollFlags::EPOLLOUT) => Awaited::Room,
                _ => Awaited::Nothing,
            },
            after: wants.awaited(),
            read: end.out.read_bytes > read,
            wrote: end.out.written_bytes > written,
            is_owed: end.program.is_owed(),
        };
        self.gives_up_after(index, |old, timeout| step.gives_up_at(old, now, timeout));
        match wants {
            Wants::Readable(until) => {
                if let Some(until) = until {
                    self.timers.set(until, Timer::Wake(index, sleeps));
                }
                self.watch(index, EpollFlags::EPOLLIN)
            }
            Wants::Writable => self.watch(index, EpollFlags::EPOLLOUT),
            Wants::Until(when) => {
                self.timers.set(when, Timer::Wake(index, sleeps));
                match self.apps.ends[index].watched {
                    Some(_) => self.watch(index, EpollFlags::empty()),
                    None => Ok(()),
                }
            }
            Wants::Reconnect => {
                self.close(index, now)?;
                self.apps.ends[index].out.closed_ns = None;
                self.connect(index, now)
            }
            Wants::Close => {
                self.apps.ends[index].doing = Doing::Over;
                self.close(index, now)
            }
        }
    }

    /// Sets when an end gives up. One timer is set for each end; when it comes too early it is set again.
    fn gives_up_after(
        &mut self,
        index: usize,
        at: impl FnOnce(Option<Instant>, Duration) -> Option<Instant>,
    ) {
        let end = &mut self.apps.ends[index];
        let Some(timeout) = self.point.apps[end.app].timeout_ns(end.is_client) else {
            return;
        };
        end.gives_up_at = at(end.gives_up_at, Duration::from_nanos(timeout));
        if let Some(at) = end.gives_up_at
            && !std::mem::replace(&mut end.is_timed, true)
        {
            self.timers.set(at, Timer::Idle(index));
        }
    }

    /// Servers of datagrams wait already when the run starts: their time begins with the run.
    pub(super) fn patience_begins(&mut self) {
        for end in &mut self.apps.ends {
            let timeout = self.point.apps[end.app].timeout_ns(end.is_client);
            let waits = end.gives_up_at.and(timeout);
            end.gives_up_at = waits.map(|timeout| self.start + Duration::from_nanos(timeout));
        }
    }

    /// An end gives up when it has waited for its socket until now.
    pub(super) fn may_give_up(&mut self, index: usize, now: Instant) -> Result<(), RunError> {
        let end = &mut self.apps.ends[index];
        end.is_timed = false;
        match end.gives_up_at {
            Some(at) if at > now => {
                end.is_timed = true;
                self.timers.set(at, Timer::Idle(index));
                Ok(())
            }
            Some(_) => {
                let at = self.at(now);
                self.apps.ends[index].fail(at, Errno::ETIME);
                self.close(index, now)
            }
            None => Ok(()),
        }
    }

    fn watch(&mut self, index: usize, flags: EpollFlags) -> Result<(), RunError> {
        let end = &mut self.apps.ends[index];
        let Some(fd) = &end.fd else { return Ok(()) };
        let done = match end.watched {
            Some(now) if now == flags => Ok(()),
            Some(_) => self.poll.change(fd, Source::End(index), flags),
            None => self.poll.add(fd, Source::End(index), flags),
        };
        end.watched = Some(flags);
        done.context(|| "cannot watch a socket".into())
    }

    fn unwatch(&mut self, index: usize) -> Result<(), RunError> {
        let end = &mut self.apps.ends[index];
        if let (Some(fd), Some(_)) = (&end.fd, end.watched.take()) {
            self.poll
                .remove(fd)
                .context(|| "cannot leave a socket".into())?;
        }
        Ok(())
    }

    fn close(&mut self, index: usize, now: Instant) -> Result<(), RunError> {
        let at = self.at(now);
        self.take_info(index);
        self.unwatch(index)?;
        let end = &mut self.apps.ends[index];
        if end.fd.take().is_some() {
            end.log(at, "close", 0);
        }
        end.gives_up_at = None;
        end.out.closed_ns = Some(at);
        Ok(())
    }

    pub(super) fn take_info(&mut self, index: usize) {
        if !self.point.tcp_info {
            return;
        }
        let end = &mut self.apps.ends[index];
        if let (Some(fd), false) = (&end.fd, end.udp)
            && let Ok(info) = tcp_info(fd)
        {
            end.out.tcp_info = info
                .fields()
                .map(|(name, v)| (name.to_owned(), v))
                .collect();
        }
    }

    pub(super) fn sample(&mut self, now: Instant) -> Result<(), RunError> {
        let at = self.at(now);
        for end in &mut self.apps.ends {
            if let (Some(fd), false) = (&end.fd, end.udp)
                && let Ok(info) = tcp_info(fd)
            {
                let values = TCP_INFO_SERIES
                    .iter()
                    .map(|name| info.get(name).unwrap_or(-1));
                end.out.tcp_info_series.push((at, values.collect()));
            }
        }
        if let Some(every) = self.point.tcp_info_every_ns {
            self.timers
                .set(now + Duration::from_nanos(every), Timer::Sample);
        }
        Ok(())
    }

    pub(super) fn sample_links(&mut self, now: Instant) {
        let at = self.at(now);
        self.link_series
            .resize_with(self.links.len(), LinkSeries::default);
        for (link, series) in self.links.iter_mut().zip(&mut self.link_series) {
            if let Some(link) = link {
                let [a_to_b, b_to_a] = link.sample(now);
                series.a_to_b.push((at, a_to_b));
                series.b_to_a.push((at, b_to_a));
            }
        }
        if let Some(every) = self.point.link_every_ns {
            self.timers
                .set(now + Duration::from_nanos(every), Timer::SampleLinks);
        }
    }
}
