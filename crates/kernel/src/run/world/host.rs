//! The kernel as a host of applications ([`tcplab_apps::Host`]): system calls, one epoll, one heap of timers.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::rc::Rc;

use nix::sys::epoll::EpollFlags;
use nix::sys::socket::{Shutdown, shutdown};
use tcplab_apps::{AckState, End, Flag, Host, Interest, Message, Read, Replayed};
use tcplab_base::{Duration, Errno, Instant};
use tcplab_os::clock::{Now, Pace};
use tcplab_os::options;
use tcplab_os::sys::{self, SockOpt};
use tcplab_os::tcp_info::tcp_info;
use tcplab_os::{Context, OsError};
use tcplab_plan::buffer_limits::limited;
use tcplab_plan::network::{host_address, loopback_address};
use tcplab_plan::outcome::LinkSeries;

use super::Net;
use crate::buffers::host_sysctls;
use crate::run::left_to_machine;
use crate::run::looks::Looks;
use crate::run::poll::Source;
use crate::run::sock::errno;
use crate::run::socket::{self, Kind};
use crate::run::timers::Timer;

/// Datagrams that a program sends before all others have their turn.
const SENDS: u64 = 64;

impl Host for Net<'_> {
    type Conn = OwnedFd;

    fn now(&self) -> Instant {
        self.since_start(self.time().read())
    }

    fn has(&self, host: usize) -> bool {
        self.site.as_ref().is_none_or(|site| site.host == host)
    }

    fn set(&mut self, at: Instant, timer: tcplab_apps::Timer) {
        let at = self.start + Duration::from_nanos(at.as_nanos());
        self.timers.set(at, Timer::Run(timer));
    }

    fn listen(&mut self, app: usize, server: usize) {
        let listening = self.listens(app, server);
        self.must(listening);
    }

    fn connect(&mut self, end: usize) -> Result<u16, Errno> {
        let made = self.socket_to_connect(end);
        let fd = self.must(made).ok_or(Errno::EIO)?;
        self.tell_of_buffers(end, &fd);
        let app = &self.point.apps[self.sockets[end].app];
        let (own, peer) = app.hosts(end.is_multiple_of(2));
        let peer = match (&self.site, own == peer) {
            (Some(site), _) => site.peer,
            (None, true) => loopback_address(self.point.ip),
            (None, false) => host_address(self.point.ip, peer),
        };
        let to = SocketAddr::new(peer, app.port);
        let port = socket::begin(&fd, to).map_err(errno)?;
        self.sockets[end].fd = Some(fd);
        Ok(port)
    }

    fn connected(&mut self, end: usize) -> Result<(), Errno> {
        let fd = self.sockets[end].fd.as_ref().ok_or(Errno::EBADF)?;
        socket::error(fd).map_or(Ok(()), |e| Err(errno(e)))
    }

    fn poll_opening(&mut self, end: usize) -> bool {
        let sock = &self.sockets[end];
        let may_be = self.point.apps[sock.app].fastopen && end.is_multiple_of(2);
        may_be && sock.tcp().is_some_and(socket::is_opening)
    }

    fn accept(&mut self, app: usize) -> Option<(OwnedFd, u16)> {
        let accepted = socket::accept(self.listeners[app].as_ref()?);
        let accepted = accepted.tried("cannot accept");
        self.must(accepted).flatten()
    }

    fn give(&mut self, conn: OwnedFd, end: usize) {
        let prepared = options::set(&conn, true, &self.sockets[end].options);
        self.tell_of_buffers(end, &conn);
        self.sockets[end].fd = Some(conn);
        self.must(prepared);
    }

    fn write(&mut self, end: usize, left: u64, flag: Option<Flag>) -> Result<u64, Errno> {
        self.sockets[end].write(left, flag)
    }

    fn read(&mut self, end: usize, most: u64) -> Result<Read, Errno> {
        self.sockets[end].read(most)
    }

    fn send(&mut self, end: usize, message: Message) -> Result<u64, Errno> {
        self.sent += 1;
        self.sockets[end].send(message)
    }

    /// A sender that lags behind its schedule would keep the links and the other applications waiting.
    fn is_crowded(&self, _end: usize) -> bool {
        self.clock.pace == Pace::Real && self.sent.is_multiple_of(SENDS)
    }

    fn receive(&mut self, end: usize) -> Result<Option<Message>, Errno> {
        self.sockets[end].receive()
    }

    fn watch(&mut self, end: usize, what: Interest, _reported: bool) {
        let flags = match what {
            Interest::Readable => EpollFlags::EPOLLIN,
            Interest::Writable => EpollFlags::EPOLLOUT,
            Interest::Either => EpollFlags::EPOLLIN | EpollFlags::EPOLLOUT,
            Interest::Nothing => EpollFlags::empty(),
        };
        let sock = &mut self.sockets[end];
        let Some(fd) = &sock.fd else { return };
        let done = match sock.watched {
            Some(now) if now == flags => return,
            // What epoll does not watch yet it does not watch now.
            None if what == Interest::Nothing => return,
            Some(_) => self.poll.change(fd, Source::End(end), flags),
            None => self.poll.add(fd, Source::End(end), flags),
        };
        sock.watched = Some(flags);
        let done = done.tried("cannot watch a socket");
        self.must(done);
    }

    fn watch_listener(&mut self, app: usize, on: bool) {
        let Some(fd) = &self.listeners[app] else {
            return;
        };
        let flags = match on {
            true => EpollFlags::EPOLLIN,
            false => EpollFlags::empty(),
        };
        let done = self.poll.change(fd, Source::Listener(app), flags);
        let done = done.tried("cannot watch a listener");
        self.must(done);
    }

    fn shutdown(&mut self, end: usize) {
        if let Some(fd) = &self.sockets[end].fd {
            let _ = shutdown(fd.as_raw_fd(), Shutdown::Write);
        }
    }

    fn close(&mut self, end: usize, _did: &End) {
        self.unwatch(end);
        self.sockets[end].fd = None;
    }

    fn set_quickack(&mut self, end: usize, value: i32) {
        if let Some(fd) = &self.sockets[end].fd {
            let set = socket::quickack(fd, value);
            self.must(set);
        }
    }

    fn ack_state(&mut self, end: usize) -> Option<AckState> {
        self.sockets[end].ack_state()
    }

    fn tcp_info(&mut self, end: usize) -> Option<Vec<(&'static str, i64)>> {
        let info = tcp_info(self.sockets[end].tcp()?).ok()?;
        Some(info.fields().collect())
    }

    fn sample_links(&mut self) {
        let now = self.time().read();
        let at = self.since_start(now).as_nanos();
        self.link_series
            .resize_with(self.links.len(), LinkSeries::default);
        for (link, series) in self.links.iter_mut().zip(&mut self.link_series) {
            if let Some(link) = link {
                let [a_to_b, b_to_a] = link.sample(now);
                series.a_to_b.push((at, a_to_b));
                series.b_to_a.push((at, b_to_a));
            }
        }
    }

    fn replay(&mut self, end: usize) -> Option<Replayed> {
        let now = self.time().read();
        let replay = self.replays.iter_mut().find(|replay| replay.end == end)?;
        let sent = replay.send(now);
        let sent = self.must(sent)?;
        Some(Replayed {
            frames: sent.frames,
            bytes: sent.bytes,
            is_over: sent.next.is_none(),
            next: sent.next.map(|at| self.since_start(at)),
        })
    }

    /// In a run of one half, the process that runs both halves decides when the run ends.
    fn programs_ended(&mut self) -> bool {
        let now = self.time().read();
        let links = self.links.iter_mut().flatten();
        links.for_each(|link| link.programs_end(now));
        match &self.site {
            None => true,
            Some(site) => {
                (site.over)();
                false
            }
        }
    }

    fn warn(&mut self, words: String) {
        self.warnings.push(words);
    }
}

impl Net<'_> {
    /// The time of what is done now: in real time not that of the turn, in which many things are done.
    pub(super) fn time(&self) -> Now {
        match self.clock.pace {
            Pace::Real => Now::Clock(self.clock),
            Pace::Virtual => Now::At(self.now),
        }
    }

    /// The time after the run's start.
    pub(super) fn since_start(&self, at: Instant) -> Instant {
        Instant::from_nanos(at.since(self.start).as_nanos())
    }

    /// What no experiment can cause ends the run: the loop asks for it ([`Net::go_on`]).
    fn must<T>(&mut self, result: Result<T, OsError>) -> Option<T> {
        result.map_err(|e| self.failed.get_or_insert(e)).ok()
    }

    /// The first such error.
    pub(super) fn go_on(&mut self) -> Result<(), OsError> {
        self.failed.take().map_or(Ok(()), Err)
    }

    /// The kernel's tables of connections, for logs that show what getsockopt does not tell.
    pub(super) fn open_tables(&mut self) -> Result<(), OsError> {
        if !self.point.log {
            return Ok(());
        }
        for host in &self.network.hosts {
            host.enter()?;
            let table = Looks::open(self.clock.pace).tried("cannot read /proc/net/tcp")?;
            self.tables.push(Rc::new(RefCell::new(table)));
        }
        for sock in &mut self.sockets {
            sock.table = self.tables.get(sock.host).cloned();
        }
        Ok(())
    }

    /// What the hosts' kernel has otherwise than the model; a guest's is known by its name.
    pub(super) fn tell_of_machine(&mut self) -> Result<(), OsError> {
        if self.clock.pace == Pace::Virtual {
            return Ok(());
        }
        let mut alike: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (host, net) in self.point.hosts.iter().zip(&self.network.hosts) {
            net.enter()?;
            let runs = host_sysctls();
            let is_set = |key: &str| {
                host.sysctl.contains_key(key) || runs.iter().any(|(name, _)| *name == key)
            };
            if let Some(words) = left_to_machine(is_set) {
                alike.entry(words).or_default().push(&host.name);
            }
        }
        let told = alike.into_iter();
        self.warnings
            .extend(told.map(|(words, hosts)| format!("{}: {words}", hosts.join(", "))));
        Ok(())
    }

    /// Which buffers the kernel has made smaller than this end asked for, by a socket that has its options.
    fn tell_of_buffers(&mut self, end: usize, fd: &OwnedFd) {
        let sock = &self.sockets[end];
        let app = &self.point.apps[sock.app].name;
        let limits = options::limits(fd, &sock.options);
        for words in limited(app, end.is_multiple_of(2), &sock.options, limits) {
            if !self.warnings.contains(&words) {
                self.warnings.push(words);
            }
        }
    }

    fn listens(&mut self, index: usize, server: usize) -> Result<(), OsError> {
        let app = &self.point.apps[index];
        let kind = self.sockets[server].kind;
        if kind == Kind::Echo {
            return match self.site {
                Some(_) => Ok(()),
                None => self.network.hosts[app.client].allow_echoes(),
            };
        }
        self.network.hosts[app.server].enter()?;
        let backlog = (kind == Kind::Tcp).then_some(app.listening.backlog);
        let fd = socket::listener(
            (self.point.ip, app.port),
            backlog,
            &self.sockets[server].options,
        )
        .map_err(|e| OsError::Cannot(format!("application {}: {e}", app.name)))?;
        let defer_ns = app.listening.defer_accept_ns;
        if defer_ns > 0 {
            let seconds = (defer_ns / 1_000_000_000) as i32;
            sys::set_int(&fd, SockOpt::DEFER_ACCEPT, seconds)
                .tried("cannot set TCP_DEFER_ACCEPT")?;
        }
        if app.fastopen {
            let most = i32::from(app.listening.backlog.max(1));
            sys::set_int(&fd, SockOpt::FASTOPEN, most).tried("cannot set TCP_FASTOPEN")?;
        }
        if kind == Kind::Udp {
            self.tell_of_buffers(server, &fd);
            self.sockets[server].fd = Some(fd);
            return Ok(());
        }
        self.poll
            .add(&fd, Source::Listener(index), EpollFlags::EPOLLIN)
            .tried("cannot watch a listener")?;
        self.listeners[index] = Some(fd);
        Ok(())
    }

    fn socket_to_connect(&self, end: usize) -> Result<OwnedFd, OsError> {
        let sock = &self.sockets[end];
        self.network.hosts[sock.host].enter()?;
        let fd = socket::make(sock.kind, self.point.ip, &sock.options)?;
        let app = &self.point.apps[sock.app];
        if app.is_simultaneous() {
            socket::bind_to(&fd, self.point.ip, app.port)?;
        }
        if app.fastopen {
            sys::set_int(&fd, SockOpt::FASTOPEN_CONNECT, 1)
                .tried("cannot set TCP_FASTOPEN_CONNECT")?;
        }
        Ok(fd)
    }

    pub(super) fn unwatch(&mut self, end: usize) {
        let sock = &mut self.sockets[end];
        if let (Some(fd), Some(_)) = (&sock.fd, sock.watched.take()) {
            let done = self.poll.remove(fd);
            let done = done.tried("cannot leave a socket");
            self.must(done);
        }
    }
}
