//! One connection: its socket, its log and its figures.

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::poll::PollFlags;
use socket2::Socket;
use tcplab_apps::{Flag, Message};
use tcplab_base::Instant;
use tcplab_os::options;
use tcplab_os::proc_tcp::{ProcTcp, TICK_NS};
use tcplab_os::sys::{self, SockOpt};
use tcplab_os::tcp_info::tcp_info;
use tcplab_plan::buffer_limits::made_smaller;
use tcplab_plan::point::SocketOptions;

use super::address::{self, Target, Transport};
use super::error::Error;
use super::report::{Buffers, Connection, Ended, LogLine, Sample, What};
use super::run::{Probe, Waited, os};
use super::text;
use super::trend::Trend;
use tcplab_kernel::run::{Datagrams, ECHO_REQUESTS};

/// Most bytes of one call of read(2) or write(2).
const PIECE: usize = 16 << 20;

/// Bytes that the largest datagram may have.
const LARGEST: usize = 65_535;

/// One connection that stands, or a UDP socket.
pub struct Conn<'a> {
    pub(super) probe: &'a Probe,
    pub(super) record: Connection,
    socket: Socket,
    transport: Transport,
    datagrams: Datagrams,
    /// Both ends of a TCP connection, as /proc/net/tcp has them.
    ends: Option<(SocketAddr, SocketAddr)>,
    /// Opened when the first line needs it.
    table: Option<ProcTcp>,
    next_sample: Option<Instant>,
    trend: Option<Trend>,
    /// The bytes of the last read, and of writes.
    buffer: Vec<u8>,
    /// There is something to read, likely: poll(2) has said so, or the last read was full. One call less for each read
    /// of a bulk transfer.
    has_more: bool,
    /// A read has begun, and has given nothing yet.
    is_reading: bool,
    /// What the write under way has written.
    in_write: u64,
    /// The peer has sent its FIN, and this end had not.
    peer_was_first: bool,
    has_shut: bool,
    /// The last line, when it was the end of a read and nothing was done since.
    after_read: Option<LogLine>,
    /// When the last read gave its bytes.
    read_at: Instant,
    /// When a client of datagrams last sent one that nothing has answered yet.
    sent_at: Option<Instant>,
    /// Reads wait for SO_RCVLOWAT; only poll(2) knows about it.
    waits_for_lowat: bool,
}

impl<'a> Conn<'a> {
    /// Connects; `None` when the user wanted an end first.
    pub(super) fn connect(
        probe: &'a Probe,
        target: &Target,
        transport: Transport,
        wanted: &SocketOptions,
    ) -> Result<Option<Self>, Error> {
        let Some(socket) = address::connect(probe, target, transport, wanted)? else {
            return Ok(None);
        };
        let mut conn = Self::new(probe, socket, transport, wanted);
        conn.note_state(What::Connect, None);
        Ok(Some(conn))
    }

    /// Takes a connection that a listener has accepted.
    pub(super) fn accepted(
        probe: &'a Probe,
        socket: Socket,
        wanted: &SocketOptions,
    ) -> Result<Self, Error> {
        socket.set_nonblocking(true).map_err(os("accept"))?;
        options::set(&socket, true, wanted)?;
        let mut conn = Self::new(probe, socket, Transport::Tcp, wanted);
        conn.note_state(What::Accept, None);
        Ok(conn)
    }

    pub(super) fn new(
        probe: &'a Probe,
        socket: Socket,
        transport: Transport,
        wanted: &SocketOptions,
    ) -> Self {
        let address = |a: io::Result<socket2::SockAddr>| a.ok().and_then(|a| a.as_socket());
        let (local, remote) = (address(socket.local_addr()), address(socket.peer_addr()));
        let text = |a: Option<SocketAddr>| a.map(plain).map_or_else(String::new, |a| a.to_string());
        for words in made_smaller(wanted, options::limits(&socket, wanted)) {
            probe.warn(words);
        }
        let now = probe.now();
        let is_v6 = local.is_some_and(|a| a.is_ipv6());
        let echo = (transport == Transport::Echo).then_some(ECHO_REQUESTS[usize::from(is_v6)]);
        let record = Connection {
            number: probe.next_number(),
            local: text(local),
            remote: text(remote),
            opened_ns: now.as_nanos(),
            buffers: Buffers {
                rcvbuf_begin_bytes: sys::get_int(&socket, SockOpt::RCVBUF).ok(),
                sndbuf_begin_bytes: sys::get_int(&socket, SockOpt::SNDBUF).ok(),
                ..Buffers::default()
            },
            ..Connection::default()
        };
        Self {
            probe,
            record,
            socket,
            transport,
            datagrams: Datagrams {
                echo,
                answers: remote.is_none(),
                peer: None,
            },
            ends: local.zip(remote).filter(|_| transport == Transport::Tcp),
            table: None,
            next_sample: probe.settings.tcp_info_every.map(|d| now + d),
            trend: probe.settings.has_trend.then(|| Trend::new(now)),
            buffer: match transport {
                Transport::Tcp => Vec::new(),
                Transport::Udp | Transport::Echo => vec![0; Datagrams::BUFFER],
            },
            has_more: false,
            is_reading: false,
            in_write: 0,
            peer_was_first: false,
            has_shut: false,
            after_read: None,
            read_at: now,
            sent_at: None,
            waits_for_lowat: wanted.rcvlowat.is_some_and(|n| n > 1),
        }
    }

    /// Waits for events of the socket, or without events for time alone. Takes samples that fall due,
    /// and tells the trend.
    pub(super) fn wait(&mut self, events: PollFlags, until: Option<Instant>) -> io::Result<Waited> {
        loop {
            let next = self.chores();
            let first = until.map_or(next, |t| Some(next.map_or(t, |n| n.min(t))));
            let waited = match (events.is_empty(), first) {
                (true, Some(first)) => self.probe.sleep(first),
                _ => self.probe.wait(&self.socket, events, first)?,
            };
            if waited != Waited::Late || until.is_some_and(|t| self.probe.now() >= t) {
                self.has_more |= waited == Waited::Ready && events == PollFlags::POLLIN;
                return Ok(waited);
            }
        }
    }

    /// Does nothing until a time, but takes samples.
    pub(super) fn sleep(&mut self, until: Instant) -> Waited {
        self.leave_read();
        let waited = self.wait(PollFlags::empty(), Some(until));
        waited.unwrap_or(Waited::Late)
    }

    /// A read of at most `size` bytes begins, or goes on.
    fn begin_read(&mut self, size: usize) {
        if !std::mem::replace(&mut self.is_reading, true) {
            self.note_state(What::ReadStart, Some(size));
        }
    }

    /// Something else than a read is done now.
    fn leave_read(&mut self) {
        (self.is_reading, self.after_read) = (false, None);
    }

    /// Whether the waiting caller has work to do before the next call.
    fn is_busy(&self) -> bool {
        self.probe.is_stopped() || self.chores_at().is_some_and(|at| self.probe.now() >= at)
    }

    /// When there is something to do beside the calls.
    fn chores_at(&self) -> Option<Instant> {
        let second = self.trend.as_ref().map(|trend| trend.next);
        [self.next_sample, second].into_iter().flatten().min()
    }

    /// Takes a sample and tells the trend when they are due; gives when they are next.
    fn chores(&mut self) -> Option<Instant> {
        self.sample_if_due();
        self.tell_trend();
        self.chores_at()
    }

    fn tell_trend(&mut self) {
        if let Some(trend) = &mut self.trend {
            trend.tell(self.probe, &mut self.record);
        }
    }

    /// The last write is not over.
    pub(super) fn is_writing(&self) -> bool {
        self.in_write > 0
    }

    /// One read of at most `size` bytes; none: wait first; 0: the peer has sent its FIN. `beyond`: with room for one
    /// byte more, which shows that there is more.
    pub(super) fn read(&mut self, size: usize, beyond: bool) -> io::Result<Option<usize>> {
        self.begin_read(size);
        if self.is_busy() || !std::mem::take(&mut self.has_more) {
            return Ok(None);
        }
        let size = size.clamp(1, PIECE) + usize::from(beyond);
        if self.buffer.len() < size {
            self.buffer.resize(size, 0);
        }
        let room = self.buffer.get_mut(..size).unwrap_or_default();
        match free(io::Read::read(&mut &self.socket, room))? {
            None => Ok(None),
            Some(0) => {
                self.is_reading = false;
                self.peer_was_first = !self.has_shut;
                self.note(What::End, None);
                Ok(Some(0))
            }
            Some(got) => {
                self.has_more = got == size && !self.waits_for_lowat;
                self.count_read(got);
                Ok(Some(got))
            }
        }
    }

    fn count_read(&mut self, got: usize) {
        self.is_reading = false;
        self.record.traffic.reads += 1;
        self.record.traffic.read_bytes += got as u64;
        self.read_at = self.probe.now();
        self.note_state(What::ReadEnd, Some(got));
    }

    /// One call for the `left` bytes of a write, up to the limit of a call; `None`: wait first. Bytes that were
    /// read come first, then zeros. The log's line is for the whole write.
    pub(super) fn write(&mut self, left: u64, flag: Option<Flag>) -> io::Result<Option<u64>> {
        self.leave_read();
        if self.is_busy() {
            return Ok(None);
        }
        let size = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
        if self.buffer.len() < size {
            self.buffer.resize(size, 0);
        }
        let bytes = self.buffer.get(..size).unwrap_or_default();
        let flags = libc::MSG_NOSIGNAL
            | match flag {
                Some(Flag::Urgent) => libc::MSG_OOB,
                Some(Flag::More) => libc::MSG_MORE,
                None => 0,
            };
        let Some(wrote) = free(self.socket.send_with_flags(bytes, flags))? else {
            return Ok(None);
        };
        self.in_write += wrote as u64;
        self.count_write(wrote as u64);
        if wrote as u64 >= left {
            let whole = std::mem::take(&mut self.in_write);
            self.note(What::Write, Some(clamp(whole)));
        }
        Ok(Some(wrote as u64))
    }

    fn count_write(&mut self, wrote: u64) {
        self.record.traffic.writes += 1;
        self.record.traffic.written_bytes += wrote;
    }

    /// Sends a datagram; none: wait first.
    pub(super) fn send(&mut self, message: Message) -> io::Result<Option<u64>> {
        self.leave_read();
        if self.is_busy() {
            return Ok(None);
        }
        let fd = self.socket.as_raw_fd();
        let sent = match self.datagrams.send(fd, message, &mut self.buffer) {
            // A client that is gone (ICMP) or a full queue is a lost datagram.
            Err(_) if self.datagrams.answers => return Ok(Some(0)),
            Err(Errno::EAGAIN) => return Ok(None),
            other => other?,
        };
        self.count_write(sent);
        self.sent_at = (!self.datagrams.answers).then(|| self.probe.now());
        self.note(What::Write, Some(clamp(sent)));
        Ok(Some(sent))
    }

    /// Receives a datagram; none: wait first.
    pub(super) fn receive(&mut self) -> io::Result<Option<Message>> {
        if !self.datagrams.answers {
            self.begin_read(LARGEST);
        }
        if self.is_busy() || !std::mem::take(&mut self.has_more) {
            return Ok(None);
        }
        let fd = self.socket.as_raw_fd();
        let got = match self.datagrams.receive(fd, &mut self.buffer) {
            Err(_) if self.datagrams.answers => None,
            other => other?,
        };
        if let Some(message) = got {
            self.count_read(whole(message.size));
        }
        Ok(got)
    }

    /// Sends a FIN; reading goes on.
    pub(super) fn shutdown(&mut self) -> io::Result<()> {
        self.socket.shutdown(std::net::Shutdown::Write)?;
        self.has_shut = true;
        self.note(What::Shutdown, None);
        Ok(())
    }

    /// Sets TCP_QUICKACK, unless for a read that goes on. `logs`: a line for it, when it is not set all the time.
    pub(super) fn set_quickack(&mut self, value: i32, logs: bool) -> io::Result<()> {
        if self.transport == Transport::Tcp && !self.is_reading {
            self.after_read = None;
            sys::set_int(&self.socket, SockOpt::QUICKACK, value)?;
            if logs {
                self.note_quickack(value);
            }
        }
        Ok(())
    }

    /// How it ended, when nothing failed.
    pub(super) fn how(&self) -> Ended {
        match self.probe.is_stopped() {
            true => Ended::Interrupted,
            false if self.peer_was_first => Ended::Peer,
            false => Ended::Finished,
        }
    }

    /// A line without the delayed-ACK state.
    pub(super) fn note(&mut self, what: What, value: Option<i64>) {
        if self.probe.may_log() {
            let line = LogLine {
                time_ns: self.probe.now().as_nanos(),
                what,
                value,
                ..LogLine::default()
            };
            self.probe.log(&mut self.record, line);
        }
    }

    fn note_quickack(&mut self, value: i32) {
        if self.probe.may_log() {
            let mut line = self.observe(What::SetQuickack);
            line.value = Some(value.into());
            self.probe.log(&mut self.record, line);
        }
    }

    fn note_state(&mut self, what: What, size: Option<usize>) {
        if self.probe.may_log() {
            let mut line = match self.after_read.take() {
                // The look behind the last read is the one before this one.
                Some(last) if what == What::ReadStart => LogLine {
                    time_ns: self.probe.now().as_nanos(),
                    what,
                    ..last
                },
                _ => self.observe(what),
            };
            line.value = size.map(|n| clamp(n as u64));
            self.after_read = (what == What::ReadEnd).then_some(line);
            self.probe.log(&mut self.record, line);
        }
    }

    /// A line with what getsockopt(2) and /proc/net/tcp say now.
    fn observe(&mut self, what: What) -> LogLine {
        // The time first: what follows takes some microseconds.
        let mut line = LogLine {
            time_ns: self.probe.now().as_nanos(),
            what,
            ..LogLine::default()
        };
        if what == What::ReadEnd {
            let sent_at = self.sent_at.take();
            line.after_send_ns = sent_at.map(|at| self.read_at.since(at).as_nanos());
        }
        let Some((local, remote)) = self.ends else {
            return line;
        };
        line.quickack = sys::get_int(&self.socket, SockOpt::QUICKACK).ok();
        if !self.probe.may_look() {
            return line;
        }
        let begun = self.probe.now();
        let state = match &mut self.table {
            Some(table) => table.find(local, remote),
            none => ProcTcp::open().and_then(|table| none.insert(table).find(local, remote)),
        };
        self.probe.looked(self.probe.now().since(begun));
        match state {
            Ok(Some(state)) => {
                let tick_ms = u32::try_from(TICK_NS / 1_000_000).unwrap_or(10);
                line.quick = Some(state.quick);
                line.pingpong = Some(state.pingpong);
                line.ato_ms = Some(state.ato_ticks.saturating_mul(tick_ms));
            }
            // The connection is being closed.
            Ok(None) => {}
            Err(e) => self
                .probe
                .warn(format!("/proc/net/tcp cannot be read: {e}")),
        }
        line
    }

    fn sample_if_due(&mut self) {
        let now = self.probe.now();
        if let Some((due, every)) = self.next_sample.zip(self.probe.settings.tcp_info_every)
            && now >= due
        {
            self.sample(true);
            // What was missed is not made up for.
            self.next_sample = Some((due + every).max(now));
        }
    }

    fn sample(&mut self, shows: bool) {
        if self.transport != Transport::Tcp || !self.probe.may_sample() {
            return;
        }
        let time_ns = self.probe.now().as_nanos();
        if let Ok(info) = tcp_info(&self.socket) {
            let fields = info.fields().collect();
            self.probe
                .sample(&mut self.record, Sample { time_ns, fields }, shows);
        }
    }

    /// Closes the connection and hands its figures to the probe.
    pub(super) fn finish(mut self, outcome: io::Result<Ended>) -> Ended {
        self.tell_trend();
        self.sample(false);
        self.record.buffers.rcvbuf_end_bytes = sys::get_int(&self.socket, SockOpt::RCVBUF).ok();
        self.record.buffers.sndbuf_end_bytes = sys::get_int(&self.socket, SockOpt::SNDBUF).ok();
        self.record.ended = match outcome {
            Ok(ended) => ended,
            Err(e) => self.failed(&e),
        };
        self.record.closed_ns = self.probe.now().as_nanos();
        if self.record.ended == Ended::Finished && self.has_unread() {
            self.probe.left_unread();
        }
        self.probe.close(&mut self.record);
        let Self {
            probe,
            record,
            socket,
            ..
        } = self;
        drop(socket);
        let ended = record.ended;
        probe.add(record);
        ended
    }

    /// Whether the peer has sent more than was read.
    fn has_unread(&self) -> bool {
        let mut byte = [std::mem::MaybeUninit::uninit()];
        let flags = libc::MSG_PEEK | libc::MSG_DONTWAIT;
        let peeked = self.socket.recv_with_flags(&mut byte, flags);
        self.transport == Transport::Tcp && peeked.is_ok_and(|n| n > 0)
    }

    fn failed(&mut self, e: &io::Error) -> Ended {
        let errno = e.raw_os_error().unwrap_or(0);
        self.note(What::Error, Some(errno.into()));
        self.record.error = Some(match (errno, self.probe.settings.idle_timeout) {
            (libc::ETIME, Some(patience)) => {
                format!("no answer for {} (--idle-timeout)", text::span(patience))
            }
            _ => e.to_string(),
        });
        match Errno::from_raw(errno) {
            Errno::ECONNRESET | Errno::EPIPE => Ended::Reset,
            _ => Ended::Error,
        }
    }
}

/// The result of a call; `None`: it must wait.
fn free(called: io::Result<usize>) -> io::Result<Option<usize>> {
    match called {
        Err(e) if [io::ErrorKind::WouldBlock, io::ErrorKind::Interrupted].contains(&e.kind()) => {
            Ok(None)
        }
        other => other.map(Some),
    }
}

/// An IPv4 address of an IPv6 socket as IPv4.
fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

fn whole(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

fn clamp(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
