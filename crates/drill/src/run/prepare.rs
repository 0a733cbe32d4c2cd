//! A call of a script with its arguments evaluated: the call for the target, and the use of its answer.

use std::net::{IpAddr, SocketAddr};

use super::args::{Args, int, iovec, list, number};
use super::msg::{self, Message};
use super::socket::{Socket, State};
use super::{Runner, Stop, fail};
use crate::call::{Buffer, Call, Control, EpollEvent, OptValue, PollFd, SendTo};
use crate::packet::protocol;
use crate::script::{At, CallSpec, EpollData, Expr};
use crate::target::{IpMode, Target};

const AF_UNSPEC: i32 = 0;
const AF_INET: i32 = 2;
const AF_INET6: i32 = 10;

/// A call to make.
pub(super) struct Prepared<'a> {
    pub(super) call: Call,
    pub(super) after: After<'a>,
}

/// What is to be done with the answer, beside comparing result and errno.
pub(super) enum After<'a> {
    Nothing,
    /// The result is a new socket of this protocol.
    NewSocket(u8),
    /// The result is a file or an epoll.
    NewFile,
    Listen(i32),
    Accept,
    Close(i32),
    Ioctl(&'a At<Expr>),
    Getsockopt {
        value: &'a At<Expr>,
        len: &'a At<Expr>,
    },
    Recvmsg {
        flags: i32,
        control: Vec<Control>,
    },
    Poll(Vec<i16>),
    Epoll {
        expected: EpollEvent,
        member: EpollData,
    },
    Pipe([i32; 2]),
}

impl<T: Target + ?Sized> Runner<'_, T> {
    /// Evaluates a call. A socket that connects is noted as such.
    pub(super) fn prepare<'c>(&mut self, spec: &'c CallSpec) -> Result<Prepared<'c>, Stop> {
        let args = Args(spec);
        let name = spec.name.value.as_str();
        if let Some((least, most)) = arguments(name) {
            args.count(least, most)?;
        }
        match name {
            "socket" => self.socket(args),
            "bind" | "listen" | "accept" | "connect" | "shutdown" | "close" => {
                self.connection_call(args)
            }
            "read" | "readv" | "recv" | "recvfrom" | "recvmsg" => self.receiving(args),
            "write" | "writev" | "send" | "sendto" | "sendmsg" => self.sending(args),
            "getsockopt" | "setsockopt" | "fcntl" | "ioctl" => self.option_call(args),
            "poll" | "epoll_create" | "epoll_ctl" | "epoll_wait" => self.polling(args),
            "open" | "pipe" | "splice" | "sendfile" => self.file_call(args),
            name @ ("cap_set" | "psp_rx_assoc" | "psp_tx_assoc") => Err(Stop::Skip {
                line: spec.name.place.line,
                why: format!("{name}() is not supported"),
            }),
            name => Err(fail(
                spec.name.place,
                format!("there is no system call `{name}`"),
            )),
        }
    }

    fn fd(&self, args: Args<'_>, i: usize) -> Result<i32, Stop> {
        let at = args.get(i)?;
        self.live_fd(at)
    }

    fn live_fd(&self, at: &At<Expr>) -> Result<i32, Stop> {
        self.fds.live(int(at)?).map_err(|why| fail(at.place, why))
    }

    /// An address as sockets of this mode have it.
    fn socket_addr(&self, ip: IpAddr, port: u16) -> SocketAddr {
        let ip = match (self.settings.network.mode, ip) {
            (IpMode::Mapped, IpAddr::V4(ip)) => ip.to_ipv6_mapped().into(),
            (_, ip) => ip,
        };
        SocketAddr::new(ip, port)
    }

    fn socket<'c>(&self, args: Args<'c>) -> Result<Prepared<'c>, Stop> {
        let domain = match (args.is_ellipsis(0), self.settings.network.mode) {
            (false, _) => args.int(0)?,
            (true, IpMode::Ipv4) => AF_INET,
            (true, IpMode::Ipv6 | IpMode::Mapped) => AF_INET6,
        };
        let (kind, protocol) = (args.int(1)?, args.int(2)?);
        // The low four bits are the type, SOCK_NONBLOCK and the like stand above.
        let number = match (protocol, kind & 15) {
            (0, 1) => protocol::TCP,
            (0, 2) => protocol::UDP,
            (n, _) => n as u8,
        };
        Ok(Prepared {
            call: Call::Socket {
                domain,
                kind,
                protocol,
            },
            after: After::NewSocket(number),
        })
    }

    fn connection_call<'c>(&mut self, args: Args<'c>) -> Result<Prepared<'c>, Stop> {
        let name = args.0.name.value.as_str();
        let (fd, script_fd) = (self.fd(args, 0)?, args.int(0)?);
        let mut after = After::Nothing;
        let call = match name {
            "bind" => {
                args.ellipsis(1)?;
                args.ellipsis(2)?;
                let local = self.settings.network.local;
                let addr = self.socket_addr(local, self.settings.bind_port);
                Call::Bind { fd, addr }
            }
            "listen" => {
                after = After::Listen(script_fd);
                let backlog = args.int(1)?;
                Call::Listen { fd, backlog }
            }
            "accept" => {
                args.ellipsis(1)?;
                args.ellipsis(2)?;
                after = After::Accept;
                Call::Accept { fd, flags: 0 }
            }
            "connect" => {
                args.ellipsis(2)?;
                let to = self.connects(args, 1)?;
                Call::Connect { fd, to }
            }
            "shutdown" => {
                let how = args.int(1)?;
                Call::Shutdown { fd, how }
            }
            _ => {
                after = After::Close(script_fd);
                Call::Close { fd }
            }
        };
        Ok(Prepared { call, after })
    }

    /// The address of connect(2) and sendto(2), `...` or a family; the socket of argument 0 connects with it.
    fn connects(&mut self, args: Args<'_>, i: usize) -> Result<SendTo, Stop> {
        if args.is_ellipsis(i) {
            return self.remote_end(args);
        }
        let family = args.int(i)?;
        let socket = self.socket_of(args)?;
        if family != AF_UNSPEC {
            return Err(fail(
                args.get(i)?.place,
                "an address is `...`, or the family AF_UNSPEC",
            ));
        }
        socket.state = State::New;
        Ok(SendTo::Unspec)
    }

    /// The script's remote address; a new socket of argument 0 connects with it.
    fn remote_end(&mut self, args: Args<'_>) -> Result<SendTo, Stop> {
        let (remote, port) = (self.settings.network.remote, self.settings.connect_port);
        let socket = self.socket_of(args)?;
        if socket.state == State::New {
            socket.state = State::Connecting;
            socket.live.remote.addr = SocketAddr::new(remote, port);
        }
        Ok(SendTo::Addr(self.socket_addr(remote, port)))
    }

    /// The socket of argument 0.
    fn socket_of(&mut self, args: Args<'_>) -> Result<&mut Socket, Stop> {
        let fd = args.get(0)?;
        let number = self.fds.socket(int(fd)?);
        number
            .and_then(|i| self.sockets.get_mut(i))
            .ok_or_else(|| fail(fd.place, "this descriptor is not a socket"))
    }

    fn receiving<'c>(&self, args: Args<'c>) -> Result<Prepared<'c>, Stop> {
        let name = args.0.name.value.as_str();
        let fd = self.fd(args, 0)?;
        let mut after = After::Nothing;
        let call = match name {
            "readv" => {
                let lens = iovec(args.get(1)?, args.int(2)?.into())?;
                Call::Readv { fd, lens }
            }
            "recvmsg" => {
                let Message {
                    lens,
                    flags: expected,
                    control,
                } = msg::message(args.get(1)?)?;
                let control_len = msg::control_space(&control);
                after = After::Recvmsg {
                    flags: expected,
                    control,
                };
                Call::Recvmsg {
                    fd,
                    lens,
                    control_len,
                    flags: args.int(2)?,
                }
            }
            _ => {
                if name == "recvfrom" {
                    args.ellipsis(4)?;
                    args.ellipsis(5)?;
                }
                let flags = if name == "read" { 0 } else { args.int(3)? };
                let buffer = args.buffer(1, 2)?;
                match (name, buffer) {
                    // read(2) of nothing does not wait, recv(2) does.
                    ("read", Buffer::Len(0) | Buffer::Null(0)) => Call::Readv { fd, lens: vec![0] },
                    _ => Call::Recv { fd, buffer, flags },
                }
            }
        };
        Ok(Prepared { call, after })
    }

    fn sending<'c>(&mut self, args: Args<'c>) -> Result<Prepared<'c>, Stop> {
        let name = args.0.name.value.as_str();
        let fd = self.fd(args, 0)?;
        let call = match name {
            "writev" => {
                let lens = iovec(args.get(1)?, args.int(2)?.into())?;
                Call::Writev { fd, lens }
            }
            "sendmsg" => {
                let at = args.get(1)?;
                let message = msg::message(at)?;
                if message.flags != 0 {
                    return Err(fail(at.place, "sendmsg() does not look at msg_flags"));
                }
                let flags = args.int(2)?;
                Call::Sendmsg {
                    fd,
                    lens: message.lens,
                    control: message.control,
                    flags,
                    // A message always has an address: `msg_name(...)=...`.
                    to: self.remote_end(args)?,
                }
            }
            _ => {
                let mut to = SendTo::Connected;
                if name == "sendto" {
                    args.ellipsis(5)?;
                    to = self.connects(args, 4)?;
                }
                let flags = if name == "write" { 0 } else { args.int(3)? };
                Call::Send {
                    fd,
                    buffer: args.buffer(1, 2)?,
                    flags,
                    to,
                }
            }
        };
        let after = After::Nothing;
        Ok(Prepared { call, after })
    }

    fn option_call<'c>(&self, args: Args<'c>) -> Result<Prepared<'c>, Stop> {
        let name = args.0.name.value.as_str();
        let mut after = After::Nothing;
        let call = match name {
            "getsockopt" => {
                let len = args.bracketed(4)?;
                let value = args.get(3)?;
                after = After::Getsockopt { value, len };
                Call::Getsockopt {
                    fd: self.fd(args, 0)?,
                    level: args.int(1)?,
                    name: args.int(2)?,
                    len: int(len)? as u32,
                }
            }
            "setsockopt" => Call::Setsockopt {
                fd: self.fd(args, 0)?,
                level: args.int(1)?,
                name: args.int(2)?,
                value: option_value(args.get(3)?)?,
                len: args.int(4)? as u32,
            },
            "fcntl" => {
                let arg = if args.0.args.len() == 3 {
                    args.int(2)?
                } else {
                    0
                };
                Call::Fcntl {
                    fd: self.fd(args, 0)?,
                    command: args.int(1)?,
                    arg: arg.into(),
                }
            }
            _ => {
                if args.0.args.len() == 3 {
                    after = After::Ioctl(args.bracketed(2)?);
                }
                Call::Ioctl {
                    fd: self.fd(args, 0)?,
                    request: args.int(1)? as u32 as u64,
                }
            }
        };
        Ok(Prepared { call, after })
    }

    fn polling<'c>(&self, args: Args<'c>) -> Result<Prepared<'c>, Stop> {
        let mut after = After::Nothing;
        let call = match args.0.name.value.as_str() {
            "poll" => {
                let at = args.get(0)?;
                let entry = |at: &At<Expr>| self.poll_fd(at);
                let fds: Vec<PollFd> = list(at)?.iter().map(entry).collect::<Result<_, _>>()?;
                let said = args.int(1)?;
                if i64::from(said) != fds.len() as i64 {
                    let n = fds.len();
                    return Err(fail(at.place, format!("{n} entries are here, not {said}")));
                }
                after = After::Poll(fds.iter().map(|f| f.revents).collect());
                let fds = fds.into_iter().map(|f| PollFd { revents: 0, ..f });
                Call::Poll {
                    fds: fds.collect(),
                    timeout_ms: args.int(2)?,
                }
            }
            "epoll_create" => {
                after = After::NewFile;
                let size = args.int(0)?;
                Call::EpollCreate { size }
            }
            "epoll_ctl" => {
                let at = args.get(3)?;
                let (event, member) = self.epoll_event(at)?;
                let fd = self.fd(args, 2)?;
                if member == EpollData::Fd && event.data != fd as u64 {
                    return Err(fail(
                        at.place,
                        "the event has another descriptor than the call",
                    ));
                }
                Call::EpollCtl {
                    epoll: self.fd(args, 0)?,
                    op: args.int(1)?,
                    fd,
                    event,
                }
            }
            _ => {
                let (expected, member) = self.epoll_event(args.get(1)?)?;
                after = After::Epoll { expected, member };
                Call::EpollWait {
                    epoll: self.fd(args, 0)?,
                    most: args.int(2)?,
                    timeout_ms: args.int(3)?,
                }
            }
        };
        Ok(Prepared { call, after })
    }

    fn poll_fd(&self, at: &At<Expr>) -> Result<PollFd, Stop> {
        let Expr::PollFd(parts) = &at.value else {
            return Err(fail(
                at.place,
                "`{fd=, events=, revents=}` is expected here",
            ));
        };
        let [fd, events, revents] = parts.as_ref();
        Ok(PollFd {
            fd: self.live_fd(fd)?,
            events: number(events)? as i16,
            revents: number(revents)? as i16,
        })
    }

    fn epoll_event(&self, at: &At<Expr>) -> Result<(EpollEvent, EpollData), Stop> {
        let Expr::EpollEvent {
            events,
            member,
            data,
        } = &at.value
        else {
            return Err(fail(at.place, "`{events=, fd=}` is expected here"));
        };
        let data = match member {
            EpollData::Fd => self.live_fd(data)? as u64,
            EpollData::U32 => u64::from(number(data)? as u32),
            EpollData::Ptr | EpollData::U64 => number(data)? as u64,
        };
        let events = number(events)? as u32;
        Ok((EpollEvent { events, data }, *member))
    }

    fn file_call<'c>(&self, args: Args<'c>) -> Result<Prepared<'c>, Stop> {
        let mut after = After::Nothing;
        let call = match args.0.name.value.as_str() {
            "open" => {
                let at = args.get(0)?;
                let Expr::Str(path) = &at.value else {
                    return Err(fail(at.place, "a path in quotes is expected here"));
                };
                after = After::NewFile;
                Call::Open {
                    path: String::from_utf8_lossy(path).into_owned(),
                    flags: args.int(1)?,
                }
            }
            "pipe" => {
                let at = args.get(0)?;
                let [from, to] = list(at)? else {
                    return Err(fail(at.place, "a pipe has two descriptors"));
                };
                after = After::Pipe([int(from)?, int(to)?]);
                Call::Pipe
            }
            "splice" => {
                for i in [1, 3] {
                    if args.long(i)? != 0 {
                        return Err(fail(args.get(i)?.place, "an offset here is NULL"));
                    }
                }
                Call::Splice {
                    from: self.fd(args, 0)?,
                    to: self.fd(args, 2)?,
                    len: args.len(4)?,
                    flags: args.int(5)? as u32,
                }
            }
            _ => Call::Sendfile {
                out: self.fd(args, 0)?,
                from: self.fd(args, 1)?,
                offset: Some(number(args.bracketed(2)?)?),
                len: args.len(3)?,
            },
        };
        Ok(Prepared { call, after })
    }
}

/// How many arguments a call has, at least and at most; none: it is not known.
fn arguments(name: &str) -> Option<(usize, usize)> {
    Some(match name {
        "close" | "epoll_create" | "pipe" => (1, 1),
        "listen" | "shutdown" | "open" => (2, 2),
        "fcntl" | "ioctl" => (2, 3),
        "socket" | "bind" | "accept" | "connect" | "poll" => (3, 3),
        "read" | "readv" | "recvmsg" | "write" | "writev" | "sendmsg" => (3, 3),
        "recv" | "send" | "epoll_ctl" | "epoll_wait" | "sendfile" => (4, 4),
        "getsockopt" | "setsockopt" => (5, 5),
        "recvfrom" | "sendto" | "splice" => (6, 6),
        _ => return None,
    })
}

/// The value of setsockopt(2).
fn option_value(at: &At<Expr>) -> Result<OptValue, Stop> {
    match &at.value {
        Expr::Linger { onoff, linger } => Ok(OptValue::Linger {
            onoff: *onoff as i32,
            linger: *linger as i32,
        }),
        Expr::Str(bytes) | Expr::StrPrefix(bytes) => Ok(OptValue::Bytes(bytes.clone())),
        Expr::Inet6Addr(ip) => Ok(OptValue::Bytes(ip.octets().to_vec())),
        Expr::List(_) | Expr::Group(_) => {
            let n = int(super::args::only(at)?)?;
            Ok(OptValue::Int(n.into()))
        }
        Expr::Gre(_) | Expr::MplsStack(_) => Err(Stop::Skip {
            line: at.place.line,
            why: "socket options of tunnels are not supported".into(),
        }),
        _ => Err(fail(at.place, "this can be no value of a socket option")),
    }
}
