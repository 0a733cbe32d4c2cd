//! One connection: its socket, its log and its figures.

use std::io;
use std::net::SocketAddr;

use nix::errno::Errno;
use nix::poll::PollFlags;
use socket2::Socket;
use tcplab_base::Instant;
use tcplab_plan::point::{QuickAck, SocketOptions};

use super::address::{self, Target, Transport};
use super::error::Error;
use super::options;
use super::report::{Buffers, Connection, Ended, LogLine, Sample, What};
use super::run::{Probe, Waited, os};
use crate::proc_tcp::{ProcTcp, TICK_NS};
use crate::sys::{self, SockOpt};
use crate::tcp_info::tcp_info;

/// Most bytes of one call of read(2) or write(2).
const PIECE: usize = 16 << 20;

/// Transactions whose time is kept for each connection.
const LATENCIES_KEPT: usize = 100_000;

/// How a read or a write went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Got {
    /// So many bytes, at least one.
    Bytes(usize),
    /// The peer has sent its FIN.
    End,
    /// The time came first.
    Late,
    /// The user wants an end.
    Stopped,
}

/// One connection that stands, or a UDP socket.
pub struct Conn<'a> {
    pub(super) probe: &'a Probe,
    pub(super) record: Connection,
    socket: Socket,
    transport: Transport,
    /// Both ends of a TCP connection, as /proc/net/tcp has them.
    ends: Option<(SocketAddr, SocketAddr)>,
    /// Opened when the first line needs it.
    table: Option<ProcTcp>,
    next_sample: Option<Instant>,
    /// What was read last, and what is written.
    buffer: Vec<u8>,
    /// The last read was full: more is there, likely.
    has_more: bool,
    /// The last line, when it was the end of a read and nothing was done since.
    after_read: Option<LogLine>,
    /// When the last read gave its bytes.
    read_at: Instant,
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
        options::after(&socket, wanted)?;
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
        let now = probe.now();
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
            ends: local.zip(remote).filter(|_| transport == Transport::Tcp),
            table: None,
            next_sample: probe.settings.tcp_info_every.map(|d| now + d),
            buffer: Vec::new(),
            has_more: false,
            after_read: None,
            read_at: now,
            waits_for_lowat: wanted.rcvlowat.is_some_and(|n| n > 1),
        }
    }

    /// The socket, for what a connection does not know of.
    pub(super) fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Waits for the socket, and takes the samples that fall due.
    pub(super) fn wait(&mut self, events: PollFlags, until: Option<Instant>) -> io::Result<Waited> {
        loop {
            let next = self.sample_if_due();
            let first = until.map_or(next, |t| Some(next.map_or(t, |n| n.min(t))));
            match self.probe.wait(&self.socket, events, first)? {
                Waited::Late if until.is_none_or(|t| self.probe.now() < t) => {}
                other => return Ok(other),
            }
        }
    }

    /// Does nothing until a time, but takes samples.
    pub(super) fn sleep(&mut self, until: Instant) -> Waited {
        self.after_read = None;
        loop {
            let next = self.sample_if_due();
            let waited = self.probe.sleep(next.map_or(until, |n| n.min(until)));
            if waited == Waited::Stopped || self.probe.now() >= until {
                return waited;
            }
        }
    }

    /// One read of at most `size` bytes, given up at a time.
    pub(super) fn read(&mut self, size: usize, until: Option<Instant>) -> io::Result<Got> {
        self.note_state(What::ReadStart, Some(size));
        self.read_on(size, until)
    }

    /// As [`Conn::read`], after a read that was given up.
    pub(super) fn read_on(&mut self, size: usize, until: Option<Instant>) -> io::Result<Got> {
        let size = size.clamp(1, PIECE);
        if self.buffer.len() < size {
            self.buffer.resize(size, 0);
        }
        loop {
            let is_late = until.is_some_and(|t| self.probe.now() >= t);
            // One call less for each read of a bulk transfer.
            let direct = self.has_more && !is_late && !self.probe.is_stopped();
            if !direct {
                match self.wait(PollFlags::POLLIN, until)? {
                    Waited::Ready => {}
                    Waited::Late => return Ok(Got::Late),
                    Waited::Stopped => return Ok(Got::Stopped),
                }
            } else {
                self.sample_if_due();
            }
            let room = self.buffer.get_mut(..size).unwrap_or_default();
            match io::Read::read(&mut &self.socket, room) {
                // An empty datagram is data.
                Ok(0) if self.transport == Transport::Tcp => {
                    self.note(What::End, None);
                    return Ok(Got::End);
                }
                Ok(got) => {
                    self.has_more = got == size && !self.waits_for_lowat;
                    self.record.traffic.reads += 1;
                    self.record.traffic.read_bytes += got as u64;
                    self.read_at = self.probe.now();
                    self.note_state(What::ReadEnd, Some(got));
                    return Ok(Got::Bytes(got));
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => self.has_more = false,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }

    /// Writes `size` bytes, in one call when the socket takes them all. What was read before comes
    /// first in them; the rest is zeros.
    pub(super) fn write(&mut self, size: u64) -> io::Result<Got> {
        self.after_read = None;
        let mut left = size;
        let mut pieces = 0;
        while left > 0 || pieces == 0 {
            pieces += 1;
            let piece = usize::try_from(left).unwrap_or(PIECE).min(PIECE);
            match self.write_piece(piece)? {
                Got::Bytes(wrote) => left = left.saturating_sub(wrote as u64),
                other => return Ok(other),
            }
        }
        self.note(What::Write, Some(clamp(size)));
        Ok(Got::Bytes(usize::try_from(size).unwrap_or(usize::MAX)))
    }

    fn write_piece(&mut self, size: usize) -> io::Result<Got> {
        if self.buffer.len() < size {
            self.buffer.resize(size, 0);
        }
        loop {
            if self.probe.is_stopped() {
                return Ok(Got::Stopped);
            }
            let bytes = self.buffer.get(..size).unwrap_or_default();
            match self.socket.send_with_flags(bytes, libc::MSG_NOSIGNAL) {
                Ok(wrote) => {
                    self.record.traffic.writes += 1;
                    self.record.traffic.written_bytes += wrote as u64;
                    return Ok(Got::Bytes(wrote));
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                    if self.wait(PollFlags::POLLOUT, None)? == Waited::Stopped {
                        return Ok(Got::Stopped);
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
    }

    /// Sends a FIN; reading goes on.
    pub(super) fn shutdown(&mut self) -> io::Result<()> {
        self.socket.shutdown(std::net::Shutdown::Write)?;
        self.note(What::Shutdown, None);
        Ok(())
    }

    /// Sets TCP_QUICKACK. `logs`: a line for it, when it is not set all the time.
    pub(super) fn set_quickack(&mut self, value: i32, logs: bool) -> io::Result<()> {
        if self.transport == Transport::Tcp {
            self.after_read = None;
            sys::set_int(&self.socket, SockOpt::QUICKACK, value)?;
            if logs {
                self.note_quickack(value);
            }
        }
        Ok(())
    }

    /// Sets TCP_QUICKACK as the policy has it for the beginning of a connection.
    pub(super) fn begin_policy(&mut self, policy: QuickAck) -> io::Result<()> {
        match policy {
            QuickAck::Once(value) => self.set_quickack(value, true),
            QuickAck::Leave | QuickAck::Each(_) => Ok(()),
        }
    }

    /// A transaction that was begun at `asked` was completed by the last read.
    pub(super) fn completed(&mut self, asked: Instant) {
        let took = self.read_at.since(asked);
        self.record.completed += 1;
        if self.record.latency_ns.len() < LATENCIES_KEPT {
            self.record.latency_ns.push(took.as_nanos());
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

    /// Takes a sample of tcp_info when one is due; gives when the next one is.
    fn sample_if_due(&mut self) -> Option<Instant> {
        let (due, every) = self.next_sample.zip(self.probe.settings.tcp_info_every)?;
        let now = self.probe.now();
        if now < due {
            return Some(due);
        }
        self.sample(true);
        // What was missed is not made up for.
        let next = (due + every).max(now);
        self.next_sample = Some(next);
        Some(next)
    }

    fn sample(&mut self, shows: bool) {
        if self.transport == Transport::Udp || !self.probe.may_sample() {
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
        self.sample(false);
        self.record.buffers.rcvbuf_end_bytes = sys::get_int(&self.socket, SockOpt::RCVBUF).ok();
        self.record.buffers.sndbuf_end_bytes = sys::get_int(&self.socket, SockOpt::SNDBUF).ok();
        self.record.ended = match outcome {
            Ok(ended) => ended,
            Err(e) => self.failed(&e),
        };
        self.record.closed_ns = self.probe.now().as_nanos();
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

    fn failed(&mut self, e: &io::Error) -> Ended {
        let errno = e.raw_os_error().unwrap_or(0);
        self.note(What::Error, Some(errno.into()));
        self.record.error = Some(e.to_string());
        match Errno::from_raw(errno) {
            Errno::ECONNRESET | Errno::EPIPE => Ended::Reset,
            _ => Ended::Error,
        }
    }
}

/// An IPv4 address of an IPv6 socket as IPv4.
fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

fn clamp(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
