//! One end of a connection: its socket, its program, and the step it is at.

use std::cell::RefCell;
use std::os::fd::{AsRawFd, OwnedFd};
use std::rc::Rc;

use nix::errno::Errno;
use nix::sys::epoll::EpollFlags;
use nix::sys::socket::{MsgFlags, Shutdown, SockaddrIn, recvfrom, sendto, shutdown};
use nix::sys::stat::fstat;
use nix::unistd;
use tcplab_apps::{Doing, Message, Program, Result as Went, Step, Wants};
use tcplab_base::Instant;
use tcplab_plan::outcome::{End as EndOutcome, LogLine};
use tcplab_plan::point::{QuickAck, SocketOptions};
use tcplab_plan::{App, Point};

use super::error::RunError;
use super::socket;
use crate::proc_tcp::ProcTcp;
use crate::sys::{self, SockOpt};

/// Bytes of one read or write system call.
const CHUNK: usize = tcplab_apps::CHUNK as usize;

/// Bytes of the header of an ICMP echo, and its type (RFC 792).
const ECHO_HEADER: usize = 8;
const ECHO_REQUEST: u8 = 8;

static ZEROS: [u8; CHUNK] = [0; CHUNK];

/// One end.
pub(crate) struct End {
    pub(crate) app: usize,
    pub(crate) flow: usize,
    pub(crate) is_client: bool,
    pub(crate) udp: bool,
    /// Its datagrams are ICMP echoes.
    pub(crate) icmp: bool,
    pub(crate) fd: Option<OwnedFd>,
    /// What epoll watches of it; none: it is not there.
    pub(crate) watched: Option<EpollFlags>,
    pub(crate) doing: Doing,
    /// Counts waits with a time, so that an old timer wakes nobody.
    pub(crate) sleeps: u32,
    /// When it gives up waiting for its socket, when it does.
    pub(crate) gives_up_at: Option<Instant>,
    /// A timer for that is set.
    pub(crate) is_timed: bool,
    /// The peer of a datagram socket: where the last datagram came from.
    pub(crate) peer: Option<SockaddrIn>,
    pub(crate) options: SocketOptions,
    pub(crate) program: Program,
    pub(crate) out: EndOutcome,
    /// Its host's table of connections, when the point asks for a log.
    pub(crate) table: Option<Table>,
    logs: bool,
}

/// A host's table of connections; the ends of the host share it.
pub(crate) type Table = Rc<RefCell<ProcTcp>>;

impl End {
    /// An end that has not begun. `of` are the indices of its application and flow.
    pub(crate) fn new(of: (usize, usize), is_client: bool, point: &Point) -> Self {
        let app = &point.apps[of.0];
        let (host, own, program) = match is_client {
            true => (app.client, &app.client_socket, Program::client(&app.does)),
            false => (
                app.server,
                &app.server_socket,
                Program::server(&app.does).seeded(point.seed),
            ),
        };
        Self {
            app: of.0,
            flow: of.1,
            is_client,
            udp: app.does.is_udp(),
            icmp: app.does.is_icmp(),
            fd: None,
            watched: None,
            doing: Doing::Nothing,
            sleeps: 0,
            gives_up_at: None,
            is_timed: false,
            peer: None,
            options: own.or(&point.hosts[host].socket),
            program,
            out: EndOutcome::default(),
            table: None,
            logs: point.log,
        }
    }

    /// A new connection was accepted: the server's program begins anew, its record goes on.
    pub(crate) fn restart(&mut self, app: &App) {
        self.program.restart(&app.does, self.is_client);
        self.doing = Doing::Next(Went::Done);
    }

    /// Remembers an error, which ends the program. `at` is the time since the run's start.
    pub(crate) fn fail(&mut self, at: i64, error: Errno) {
        self.out.error = Some(format!("{error:?}"));
        self.log(at, "error", error as i64);
        self.doing = Doing::Over;
    }

    pub(crate) fn log(&mut self, at: i64, what: &str, value: i64) {
        if self.logs {
            self.out.log.push(LogLine {
                time_ns: at,
                what: what.into(),
                value,
                ..LogLine::default()
            });
        }
    }

    /// A line with what the kernel says of its ACKs now.
    pub(crate) fn log_state(&mut self, at: i64, what: &str, value: i64) {
        if let Some(line) = self.observe(at, what, value) {
            self.out.log.push(line);
        }
    }

    fn observe(&self, at: i64, what: &str, value: i64) -> Option<LogLine> {
        if !self.logs {
            return None;
        }
        let mut line = LogLine {
            time_ns: at,
            what: what.into(),
            value,
            ..LogLine::default()
        };
        // What cannot be had is absent from the line: the connection may be gone already.
        if let (Some(fd), false) = (&self.fd, self.udp) {
            line.quickack = sys::get_int(fd, SockOpt::QUICKACK).ok().map(i64::from);
            if let (Some(table), Ok(stat)) = (&self.table, fstat(fd)) {
                let state = table.borrow_mut().find_inode(stat.st_ino).ok().flatten();
                line.quick = state.map(|state| state.quick);
                line.pingpong = state.map(|state| state.pingpong);
            }
        }
        Some(line)
    }

    /// Goes on until it has to wait for something. `at` is the time since the run's start.
    ///
    /// # Errors
    /// Only for what no experiment can cause: a system call that must work did not.
    pub(crate) fn go(&mut self, now: Instant, at: i64) -> Result<Wants, RunError> {
        loop {
            let wait = match self.doing {
                Doing::Next(went) => {
                    let step = self.program.next(now, went);
                    self.begin(at, step)
                }
                Doing::Writing(left) => self.write(at, left, false),
                Doing::WritingUrgent(left) => self.write(at, left, true),
                Doing::Reading(left) => self.read(at, left, true)?,
                Doing::ReadingSome(most) => self.read(at, most, false)?,
                Doing::Sending(message) => self.send(at, message),
                Doing::Receiving(until) => self.receive(at, until),
                Doing::Over => Some(Wants::Close),
                // Whoever ends these three says so by setting another state.
                Doing::Nothing | Doing::Connecting | Doing::Sleeping => Some(Wants::Readable(None)),
            };
            if let Some(wants) = wait {
                return Ok(wants);
            }
        }
    }

    /// Begins a step; gives what it waits for when it does not use the socket's data.
    fn begin(&mut self, at: i64, step: Step) -> Option<Wants> {
        let (doing, wait) = match step {
            Step::Write(n) => (Doing::Writing(n), None),
            Step::WriteUrgent(n) => (Doing::WritingUrgent(n), None),
            Step::Read(n) => (Doing::Reading(n), None),
            Step::ReadSome(n) => (Doing::ReadingSome(n), None),
            Step::Send(n) => (Doing::Sending(n), None),
            Step::Receive(until) => (Doing::Receiving(until), None),
            Step::Until(when) => (Doing::Sleeping, Some(Wants::Until(when))),
            Step::Reconnect => (Doing::Nothing, Some(Wants::Reconnect)),
            Step::Shutdown => {
                if let Some(fd) = &self.fd {
                    // A connection that the peer has reset cannot be shut down; the next read says so.
                    let _ = shutdown(fd.as_raw_fd(), Shutdown::Write);
                }
                self.log(at, "shutdown", 0);
                (Doing::Next(Went::Done), None)
            }
            Step::Close => (Doing::Over, Some(Wants::Close)),
        };
        self.doing = doing;
        wait
    }

    /// Writes what is left, as much as fits.
    fn write(&mut self, at: i64, left: u64, urgent: bool) -> Option<Wants> {
        let fd = self.fd.as_ref()?;
        let bytes = &ZEROS[..chunk(left)];
        let wrote = match urgent {
            true => nix::sys::socket::send(fd.as_raw_fd(), bytes, MsgFlags::MSG_OOB),
            false => unistd::write(fd, bytes),
        };
        match wrote {
            Ok(n) => {
                self.out.written_bytes += n as u64;
                self.log(at, "write", n as i64);
                self.doing = match left.saturating_sub(n as u64) {
                    0 => Doing::Next(Went::Done),
                    left if urgent => Doing::WritingUrgent(left),
                    left => Doing::Writing(left),
                };
                None
            }
            Err(Errno::EAGAIN) => Some(Wants::Writable),
            Err(e) => {
                self.fail(at, e);
                None
            }
        }
    }

    /// One read.
    fn read(&mut self, at: i64, want: u64, exactly: bool) -> Result<Option<Wants>, RunError> {
        let Some(fd) = self.fd.as_ref() else {
            return Ok(Some(Wants::Close));
        };
        if let QuickAck::Each(value) = self.options.quickack {
            socket::quickack(fd, value)?;
        }
        let before = self.observe(at, "readable", 0);
        let mut buffer = [0; CHUNK];
        let got = match unistd::read(fd, &mut buffer[..chunk(want)]) {
            Ok(n) => n as u64,
            Err(Errno::EAGAIN) => return Ok(Some(Wants::Readable(None))),
            Err(e) => {
                self.fail(at, e);
                return Ok(None);
            }
        };
        self.out.read_bytes += got;
        self.out.log.extend(before);
        self.log_state(at, "read", got as i64);
        self.doing = match want.saturating_sub(got) {
            _ if got == 0 => Doing::Next(Went::End),
            _ if !exactly => Doing::Next(Went::Got(got)),
            0 => Doing::Next(Went::Done),
            left => Doing::Reading(left),
        };
        Ok(None)
    }

    fn send(&mut self, at: i64, message: Message) -> Option<Wants> {
        let fd = self.fd.as_ref()?.as_raw_fd();
        let mut buffer = [0; ECHO_HEADER + CHUNK];
        let head = match self.icmp {
            true => ECHO_HEADER,
            false => 0,
        };
        let bytes = &mut buffer[..head + chunk(message.size)];
        if self.icmp {
            // The kernel fills in the checksum and the identifier (`ping_v4_sendmsg()`).
            bytes[0] = ECHO_REQUEST;
            bytes[6..8].copy_from_slice(&(message.number as u16).to_be_bytes());
        }
        if let Some(number) = bytes.get_mut(head..head + 4) {
            number.copy_from_slice(&message.number.to_be_bytes());
        }
        let sent = match &self.peer {
            Some(peer) => sendto(fd, bytes, peer, MsgFlags::empty()),
            None => nix::sys::socket::send(fd, bytes, MsgFlags::empty()),
        };
        match sent {
            Ok(n) => {
                let n = n.saturating_sub(head);
                self.out.written_bytes += n as u64;
                self.log(at, "write", n as i64);
                self.doing = Doing::Next(Went::Done);
                None
            }
            Err(Errno::EAGAIN) => Some(Wants::Writable),
            // An ICMP error for an earlier datagram, or no room in the device's queue: this one was not sent, the schedule
            // goes on, as ping(8)'s does.
            Err(e @ (Errno::ECONNREFUSED | Errno::ENOBUFS)) => {
                self.log(at, "error", e as i64);
                self.doing = Doing::Next(Went::Done);
                None
            }
            Err(e) => {
                self.fail(at, e);
                None
            }
        }
    }

    fn receive(&mut self, at: i64, until: Option<Instant>) -> Option<Wants> {
        let fd = self.fd.as_ref()?.as_raw_fd();
        let mut buffer = [0; ECHO_HEADER + CHUNK];
        match recvfrom::<SockaddrIn>(fd, &mut buffer) {
            Ok((n, from)) => {
                if !self.is_client {
                    self.peer = from;
                }
                let payload = match self.icmp {
                    true => buffer[..n].get(ECHO_HEADER..).unwrap_or_default(),
                    false => &buffer[..n],
                };
                let message = Message {
                    size: payload.len() as u64,
                    number: payload.first_chunk().map_or(0, |n| u32::from_be_bytes(*n)),
                };
                self.out.read_bytes += message.size;
                self.log(at, "read", payload.len() as i64);
                self.doing = Doing::Next(Went::Message(message));
                None
            }
            Err(Errno::EAGAIN | Errno::ECONNREFUSED) => Some(Wants::Readable(until)),
            Err(e) => {
                self.fail(at, e);
                None
            }
        }
    }
}

fn chunk(left: u64) -> usize {
    usize::try_from(left).unwrap_or(CHUNK).min(CHUNK)
}
