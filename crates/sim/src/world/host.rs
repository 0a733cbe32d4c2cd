//! The simulator as a host of applications ([`tcplab_apps::Host`]): system calls on the hosts' own TCP and UDP, and one
//! epoll for all.

use tcplab_apps::{AckState, CHUNK, End, Flag, Interest, Message, Read, Replayed, Timer};
use tcplab_base::{Errno, Instant};
use tcplab_tcp::{Addr, ConnId, Cx, Endpoint, ReadOutcome, SocketError, State};

use super::net::Net;
use crate::events::Wake;
use crate::host::Host;
use crate::packet::{Datagram, Protocol};
use crate::socket::{Socket, Watch};

/// Datagrams that wait to leave a host before an application that sends without a pause lets others go on.
const DATAGRAMS: usize = 4096;

/// `SOCK_MIN_RCVBUF / 2`: the least that TCP_WINDOW_CLAMP takes.
pub(super) const LEAST_CLAMP: u32 = 1_152;

impl tcplab_apps::Host for Net {
    type Conn = (ConnId, Addr);

    #[inline]
    fn now(&self) -> Instant {
        self.now
    }

    fn has(&self, host: usize) -> bool {
        !self.is_outside(host)
    }

    #[inline]
    fn set(&mut self, at: Instant, timer: Timer) {
        self.events.set(at, Wake::Run(timer));
    }

    fn listen(&mut self, index: usize, server: usize) {
        let app = &self.point.apps[index];
        if app.does.is_icmp() {
            return;
        }
        let host = &mut self.hosts[app.server];
        if app.does.is_udp() {
            host.udp.bind(app.port, server as u32);
            self.sockets.of[server].socket = Socket::Udp(app.port, None);
            return;
        }
        let at = Addr {
            host: app.server as u16,
            port: app.port,
        };
        let mtu = self.network.mtu(app.server, app.client);
        let options = self.sockets.options(server);
        let listener = host
            .stack
            .listen(at, options, app.listening.backlog.into(), mtu);
        if app.listening.defer_accept_ns > 0 {
            let seconds = app.listening.defer_accept_ns / 1_000_000_000;
            host.stack.defer_accept(listener, seconds as u32);
        }
        if app.fastopen {
            let most = u32::from(app.listening.backlog.max(1));
            host.stack.set_fast_open(listener, most);
        }
        self.sockets.listeners[index].id = Some(listener);
    }

    fn connect(&mut self, end: usize) -> Result<u16, Errno> {
        let app = &self.point.apps[usize::from(self.sockets.of[end].app)];
        let (own, peer) = app.hosts(end.is_multiple_of(2));
        let at = |host: usize| Addr {
            host: host as u16,
            port: app.port,
        };
        let remote = at(peer);
        let host = &mut self.hosts[own];
        if app.does.is_udp() {
            let is_echo = app.does.is_icmp();
            let range = host.stack.host.sysctl.ip_local_port_range;
            let port = host.udp.connect(end as u32, is_echo, range);
            let port = port.ok_or(Errno::EAGAIN)?;
            self.sockets.of[end].socket = match is_echo {
                true => Socket::Echo(port, remote),
                false => Socket::Udp(port, Some(remote)),
            };
            return Ok(port);
        }
        self.work.connections += 1;
        let mtu = self.network.mtu(own, peer);
        let options = self.sockets.options(end);
        let from = own as u16;
        let opened = match (app.is_simultaneous(), app.fastopen) {
            (true, _) => (host.stack)
                .connect_from(self.now, at(own), remote, options, mtu)
                .map(|id| (id, at(own))),
            (false, false) => (host.stack).connect(self.now, from, remote, options, mtu),
            (false, true) => {
                let mut socket = host.stack.socket(self.now, from, options);
                socket.set_fast_open_connect(true);
                let own = Addr {
                    host: from,
                    port: 0,
                };
                (host.stack).connect_socket(self.now, socket, own, remote, mtu)
            }
        };
        match opened {
            Ok((id, local)) => {
                host.owns(id, end as u32);
                let sock = &mut self.sockets.of[end];
                (sock.socket, sock.watch) = (Socket::Tcp(id), Watch::Writable);
                if host.stack.get(id).is_some_and(Endpoint::is_deferred) {
                    // With a cookie poll(2) says at once that it can be written.
                    self.sockets.touched(&mut self.ready, end as u32);
                }
                Ok(local.port)
            }
            Err(e) => {
                self.warnings.push(e.0);
                Err(Errno::EADDRNOTAVAIL)
            }
        }
    }

    fn connected(&mut self, end: usize) -> Result<(), Errno> {
        match self.with(end, |e, _| e.take_error()).flatten() {
            Some(e) => Err(e.errno()),
            None => Ok(()),
        }
    }

    #[inline]
    fn poll_opening(&mut self, end: usize) -> bool {
        let sock = self.sockets.of[end];
        let Socket::Tcp(id) = sock.socket else {
            return false;
        };
        let endpoint = self.hosts[usize::from(sock.host)].stack.get(id);
        endpoint.is_some_and(|e| e.state() == State::SynSent)
    }

    fn accept(&mut self, app: usize) -> Option<(Self::Conn, u16)> {
        let one = &self.sockets.listeners[app];
        let (id, remote) = self.hosts[one.host].stack.accept(self.now, one.id?)?;
        Some(((id, remote), remote.port))
    }

    fn give(&mut self, (id, remote): Self::Conn, end: usize) {
        let sock = &mut self.sockets.of[end];
        self.hosts[usize::from(sock.host)].owns(id, end as u32);
        sock.socket = Socket::Tcp(id);
        // Programs set the options of what they accept.
        if let Some(bytes) = self.sockets.options(end).rcvbuf {
            self.with(end, |e, cx| e.set_rcvbuf(cx, bytes, false));
        }
        if let Some(bytes) = self.sockets.options(end).rcvlowat {
            self.with(end, |e, cx| e.set_rcvlowat(cx, bytes));
        }
        if let Some(bytes) = self.sockets.options(end).window_clamp {
            self.with(end, |e, cx| e.set_window_clamp(cx, bytes.max(LEAST_CLAMP)));
        }
        self.comes_from_outside(end as u32 / 2, remote);
    }

    fn refuse(&mut self, app: usize, (id, _): Self::Conn) {
        let host = self.sockets.listeners[app].host;
        self.hosts[host].close(self.now, id);
    }

    #[inline]
    fn write(&mut self, end: usize, left: u64, flag: Option<Flag>) -> Result<u64, Errno> {
        let most = left.min(CHUNK);
        let wrote = self.with(end, |e, cx| {
            let wrote = match flag {
                _ if e.is_deferred() => match e.connect_with_data(cx, most) {
                    0 => Err(SocketError::Again),
                    wrote => Ok(wrote),
                },
                Some(Flag::Urgent) => e.write_urgent(cx, most),
                _ => e.write(cx, most, flag == Some(Flag::More)),
            };
            // poll(2) does not ask a socket for room before the connection stands.
            (wrote, e.state() == State::SynSent || e.is_writable(cx))
        });
        let (wrote, is_writable) = wrote.unwrap_or((Err(SocketError::Pipe), true));
        // Who gets EAGAIN is told of room without a poll.
        self.sockets.of[end].is_full = wrote.is_ok() && !is_writable;
        if let Some(responses) = &mut self.responses
            && end % 2 == 1
        {
            let bytes = wrote.unwrap_or(0);
            responses.wrote(end as u32, self.now, bytes, left - bytes);
        }
        wrote.map_err(SocketError::errno)
    }

    #[inline]
    fn read(&mut self, end: usize, most: u64) -> Result<Read, Errno> {
        let most = most.min(CHUNK);
        let went = self.with(end, |e, cx| (e.read(cx, most), is_drained(e)));
        // A second read that finds nothing changes nothing: the first one has sent what was due.
        let (went, drained) = went.unwrap_or((ReadOutcome::End, false));
        match went {
            ReadOutcome::Got(bytes) => Ok(Read::Got { bytes, drained }),
            ReadOutcome::End => Ok(Read::End),
            ReadOutcome::Again => Ok(Read::Again),
            ReadOutcome::Failed(e) => Err(e.errno()),
        }
    }

    fn send(&mut self, end: usize, message: Message) -> Result<u64, Errno> {
        let sock = self.sockets.of[end];
        let (port, dst, protocol) = match sock.socket {
            Socket::Udp(port, Some(dst)) => (port, dst, Protocol::Udp),
            Socket::Echo(id, dst) => (id, dst, Protocol::EchoRequest),
            _ => return Err(Errno::EDESTADDRREQ),
        };
        let len = message.size.min(CHUNK) as u32;
        let number = message.number & Message::room(message.size);
        let tos = self.sockets.options(end).tos.unwrap_or(0);
        let src = Addr {
            host: sock.host,
            port,
        };
        let host = &mut self.hosts[usize::from(sock.host)];
        if let Some(error) = host.udp.take_error(port) {
            return Err(error);
        }
        host.datagrams.push(Datagram {
            src,
            dst,
            len,
            tos,
            number,
            protocol,
        });
        host.udp.counts_sent(protocol);
        Ok(len.into())
    }

    fn is_crowded(&self, end: usize) -> bool {
        let host = &self.hosts[usize::from(self.sockets.of[end].host)];
        host.datagrams.len() >= DATAGRAMS
    }

    fn receive(&mut self, end: usize) -> Result<Option<Message>, Errno> {
        let sock = &mut self.sockets.of[end];
        let (Socket::Udp(port, _) | Socket::Echo(port, _)) = sock.socket else {
            return Ok(None);
        };
        let udp = &mut self.hosts[usize::from(sock.host)].udp;
        if let Some(error) = udp.take_error(port) {
            return Err(error);
        }
        let Some(datagram) = udp.receive(port) else {
            return Ok(None);
        };
        if end % 2 == 1 {
            sock.socket = Socket::Udp(port, Some(datagram.src));
        }
        Ok(Some(Message {
            size: datagram.len.into(),
            number: datagram.number,
        }))
    }

    #[inline]
    fn watch(&mut self, end: usize, what: Interest, reported: bool) {
        self.after_tcp(usize::from(self.sockets.of[end].host));
        let sock = &mut self.sockets.of[end];
        let before = sock.watch;
        sock.watch = match what {
            Interest::Readable => Watch::Readable,
            Interest::Writable => Watch::Writable,
            Interest::Either => Watch::Either,
            // What epoll does not watch yet it does not watch now.
            Interest::Nothing if before == Watch::Absent => Watch::Absent,
            Interest::Nothing => Watch::Nothing,
        };
        if sock.is_full && (reported || sock.watch != before) {
            self.polls(end);
        }
    }

    fn shutdown(&mut self, end: usize) {
        let _ = self.with(end, |e, cx| e.shutdown_write(cx));
    }

    fn close(&mut self, end: usize, _did: &End) {
        let index = usize::from(self.sockets.of[end].host);
        // What the last step made the host send comes before what the close does.
        self.after_tcp(index);
        let sock = &mut self.sockets.of[end];
        (sock.watch, sock.is_full) = (Watch::Absent, false);
        let host = &mut self.hosts[index];
        match std::mem::replace(&mut sock.socket, Socket::None) {
            Socket::None => return,
            Socket::Tcp(id) => host.close(self.now, id),
            Socket::Udp(port, _) | Socket::Echo(port, _) => host.udp.close(port),
        }
        self.after_tcp(index);
    }

    #[inline(never)]
    fn set_quickack(&mut self, end: usize, value: i32) {
        self.with(end, |e, cx| e.set_quickack(cx, value));
    }

    fn ack_state(&mut self, end: usize) -> Option<AckState> {
        self.with(end, |e, cx| {
            let (quickack, is_open) = (e.quickack(cx), !e.is_closed());
            AckState {
                quickack: Some(quickack.into()),
                // /proc/net/tcp, where kernels show these two, has no closed socket.
                quick: is_open.then(|| e.quick_credits()),
                pingpong: is_open.then_some(!quickack),
            }
        })
    }

    fn tcp_info(&mut self, end: usize) -> Option<Vec<(&'static str, i64)>> {
        self.with(end, |e, cx| e.info(cx))
    }

    fn sample_links(&mut self) {
        self.network.sample(self.now);
        self.sample_replays();
    }

    fn replay(&mut self, end: usize) -> Option<Replayed> {
        self.replays_at(end)
    }

    fn programs_ended(&mut self) -> bool {
        let now = self.now;
        let ways = self.network.ways.iter_mut();
        ways.for_each(|one| one.way.programs_end(now));
        let replays = self.replays.iter_mut();
        replays.for_each(|one| one.line.programs_end(now));
        true
    }

    fn warn(&mut self, words: String) {
        self.warnings.push(words);
    }
}

impl Net {
    #[inline]
    pub(super) fn with<R>(
        &mut self,
        end: usize,
        call: impl FnOnce(&mut Endpoint, &mut Cx<'_>) -> R,
    ) -> Option<R> {
        let sock = &self.sockets.of[end];
        let Socket::Tcp(id) = sock.socket else {
            return None;
        };
        let stack = &mut self.hosts[usize::from(sock.host)].stack;
        stack.with(self.now, id, call)
    }

    /// epoll asks the socket whether it is writable, for any awaited event: when its watch changes (`ep_modify()`),
    /// and after each reported event (`ep_send_events()`: level triggered). A full socket then announces later room,
    /// and meanwhile its buffer grows (`tcp_poll()` sets SOCK_NOSPACE).
    #[inline(never)]
    fn polls(&mut self, end: usize) {
        self.sockets.of[end].is_full = false;
        self.with(end, |e, cx| e.poll_writable(cx));
    }

    /// Whether the socket of an end has what the end waits for, or is broken.
    pub(super) fn poll_ready(&mut self, end: usize) -> bool {
        let sock = self.sockets.of[end];
        let host = &mut self.hosts[usize::from(sock.host)];
        match (sock.watch, sock.socket) {
            (Watch::Readable, Socket::Tcp(id)) => {
                let endpoint = host.stack.get(id);
                endpoint.is_none_or(|e| e.is_readable() || e.is_closed())
            }
            (watch, socket) => is_other_ready(host, self.now, watch, socket),
        }
    }
}

/// Whether a read would find nothing, not even an end.
#[inline]
fn is_drained(e: &Endpoint) -> bool {
    !e.is_readable() && e.readable_bytes() == 0 && !e.is_closed()
}

#[inline(never)]
fn is_other_ready(host: &mut Host, now: Instant, watch: Watch, socket: Socket) -> bool {
    match (watch, socket) {
        (Watch::Absent | Watch::Nothing, _) | (_, Socket::None) => false,
        (Watch::Readable, Socket::Udp(port, _) | Socket::Echo(port, _)) => {
            host.udp.is_readable(port)
        }
        (Watch::Writable | Watch::Either, Socket::Udp(..) | Socket::Echo(..)) => true,
        (watch, Socket::Tcp(id)) => {
            let readable =
                watch == Watch::Either && (host.stack.get(id)).is_some_and(Endpoint::is_readable);
            // This poll(2) asks for room even if there is data to read.
            is_writable(host, now, id) || readable
        }
    }
}

/// An event has come, and epoll asks whether it still holds (`ep_item_poll()`): the room of which it told may be gone,
/// taken by what a cut segment needs beside its bytes. Then the socket is to tell again.
fn is_writable(host: &mut Host, now: Instant, id: ConnId) -> bool {
    let ready = |e: &mut Endpoint, cx: &mut Cx<'_>| {
        let stands = !e.is_connecting();
        e.is_closed() || e.is_deferred() || (stands && e.poll_writable(cx))
    };
    host.stack.with(now, id, ready).unwrap_or(true)
}
