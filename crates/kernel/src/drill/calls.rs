//! Makes a system call of a script, and says what came back.

use std::io::{self, IoSlice, IoSliceMut};
use std::os::fd::IntoRawFd;
use std::sync::Arc;

use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::unistd::ftruncate;
use tcplab_drill::TargetError;
use tcplab_drill::call::{Buffer, Call, EpollEvent, OptValue, Outcome, Output, PollFd, SendTo};
use tcplab_os::sys::call::{self, Memory};

use super::clock::Clock;
use super::message;

/// The most that a call may carry, in bytes.
const MOST: u64 = 16 << 20;
/// The most buffers of one call, or descriptors, or events.
const MOST_PARTS: usize = 4096;
/// Bytes of the file that a script opens: zeros.
const FILE_LEN: i64 = 16 << 20;

/// What all calls of a script need.
#[derive(Clone, Debug)]
pub(super) struct Maker {
    /// What is written: never changed, for packets may still refer to it (MSG_ZEROCOPY).
    zeros: Arc<Vec<u8>>,
}

impl Maker {
    pub(super) fn new() -> Self {
        Self {
            zeros: Arc::new(vec![0; MOST as usize]),
        }
    }

    /// Makes the call, however long it takes.
    pub(super) fn make(&self, call: &Call, clock: &Clock) -> Result<Outcome, TargetError> {
        self.check(call)?;
        let done = self
            .data(call, clock)
            .or_else(|| connection(call))
            .or_else(|| option(call))
            .or_else(|| events(call))
            .unwrap_or_else(|| rest(call));
        match done {
            Ok((result, out)) => Ok(Outcome {
                result,
                errno: 0,
                out,
            }),
            Err(e) => match e.raw_os_error() {
                Some(errno) => Ok(Outcome::failed(errno)),
                None => Err(TargetError(format!("not supported on a kernel: {call:?}"))),
            },
        }
    }

    /// Refuses what would take too much memory.
    fn check(&self, call: &Call) -> Result<(), TargetError> {
        let (bytes, parts): (u64, usize) = match call {
            Call::Recv { buffer, .. } | Call::Send { buffer, .. } => match buffer {
                Buffer::Len(n) => (*n, 1),
                Buffer::Null(_) => (0, 1),
            },
            Call::Readv { lens, .. }
            | Call::Writev { lens, .. }
            | Call::Sendmsg { lens, .. }
            | Call::Recvmsg { lens, .. } => {
                (lens.iter().fold(0, |a, n| a.saturating_add(*n)), lens.len())
            }
            Call::Setsockopt { len, .. } | Call::Getsockopt { len, .. } => (u64::from(*len), 1),
            Call::Poll { fds, .. } => (0, fds.len()),
            _ => (0, 1),
        };
        match bytes <= MOST && parts <= MOST_PARTS {
            true => Ok(()),
            false => Err(TargetError(format!(
                "a call with {bytes} bytes in {parts} parts: at most {MOST} in {MOST_PARTS} are \
                 possible on a kernel"
            ))),
        }
    }

    fn zeros(&self, n: u64) -> &[u8] {
        &self.zeros[..n.min(MOST) as usize]
    }

    fn slices(&self, lens: &[u64]) -> Vec<IoSlice<'_>> {
        lens.iter().map(|n| IoSlice::new(self.zeros(*n))).collect()
    }

    /// Calls that move data.
    fn data(&self, call: &Call, clock: &Clock) -> Option<Done> {
        Some(match call {
            Call::Recv { fd, buffer, flags } => receive(*fd, *buffer, *flags),
            Call::Readv { fd, lens } => {
                with_room(lens, |slices| call::readv(*fd, slices)).map(plain)
            }
            Call::Recvmsg {
                fd,
                lens,
                control_len,
                flags,
            } => {
                let mut control = vec![0; (*control_len).min(1 << 16) as usize];
                let got = with_room(lens, |slices| {
                    call::recvmsg(*fd, slices, &mut control, *flags)
                });
                got.map(|got| {
                    control.truncate(got.control);
                    let control = message::read_control(&control, clock);
                    let flags = got.flags;
                    (got.bytes, Output::Message { flags, control })
                })
            }
            Call::Send {
                fd,
                buffer,
                flags,
                to,
            } => self.send(*fd, *buffer, *flags, *to),
            Call::Writev { fd, lens } => call::writev(*fd, &self.slices(lens)).map(plain),
            Call::Sendmsg {
                fd,
                lens,
                control,
                flags,
                to,
            } => {
                let control = message::control(control);
                let to = address(*to).unwrap_or_default();
                call::sendmsg(*fd, &self.slices(lens), &control, &to, *flags).map(plain)
            }
            _ => return None,
        })
    }

    fn send(&self, fd: i32, buffer: Buffer, flags: i32, to: SendTo) -> Done {
        let memory = match buffer {
            Buffer::Len(n) => Memory::Bytes(self.zeros(n)),
            Buffer::Null(n) => Memory::Null(length(n)),
        };
        let to = address(to);
        match call::sendto(fd, &memory, flags, to.as_deref()) {
            Err(e) if is_not_socket(&e) && flags == 0 && to.is_none() => call::write(fd, &memory),
            done => done,
        }
        .map(plain)
    }
}

/// The result with what else came back.
type Done = io::Result<(i64, Output)>;

fn plain(result: i64) -> (i64, Output) {
    (result, Output::None)
}

fn length(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

fn is_not_socket(e: &io::Error) -> bool {
    e.raw_os_error() == Some(libc::ENOTSOCK)
}

fn address(to: SendTo) -> Option<Vec<u8>> {
    match to {
        SendTo::Connected => None,
        SendTo::Addr(addr) => Some(message::address(&addr)),
        SendTo::Unspec => Some(message::unspecified()),
    }
}

/// Lets a call write into buffers of these lengths.
fn with_room<T>(lens: &[u64], call: impl FnOnce(&mut [IoSliceMut<'_>]) -> T) -> T {
    let mut rooms: Vec<Vec<u8>> = lens.iter().map(|n| vec![0; length(*n)]).collect();
    let mut slices: Vec<IoSliceMut<'_>> = rooms.iter_mut().map(|r| IoSliceMut::new(r)).collect();
    call(&mut slices)
}

fn receive(fd: i32, buffer: Buffer, flags: i32) -> Done {
    let mut room = match buffer {
        Buffer::Len(n) => vec![0; length(n)],
        Buffer::Null(_) => Vec::new(),
    };
    fn memory(room: &mut [u8], buffer: Buffer) -> Memory<&mut [u8]> {
        match buffer {
            Buffer::Len(_) => Memory::Bytes(room),
            Buffer::Null(n) => Memory::Null(length(n)),
        }
    }
    match call::recvfrom(fd, memory(&mut room, buffer), flags) {
        Err(e) if is_not_socket(&e) && flags == 0 => {
            call::read(fd, memory(&mut room, buffer)).map(plain)
        }
        Ok((n, from)) => Ok((n, addr_output(&from))),
        Err(e) => Err(e),
    }
}

fn addr_output(bytes: &[u8]) -> Output {
    message::read_address(bytes).map_or(Output::None, Output::Addr)
}

/// Calls about connections.
fn connection(call: &Call) -> Option<Done> {
    Some(match call {
        Call::Socket {
            domain,
            kind,
            protocol,
        } => match *domain {
            // Others reach beyond the script's network: local sockets, netlink.
            libc::AF_INET | libc::AF_INET6 => {
                let kind = *kind | libc::SOCK_CLOEXEC;
                call::socket(*domain, kind, *protocol).map(plain)
            }
            _ => Err(io::ErrorKind::Unsupported.into()),
        },
        Call::Bind { fd, addr } => call::bind(*fd, &message::address(addr)).map(plain),
        Call::Listen { fd, backlog } => call::listen(*fd, *backlog).map(plain),
        Call::Accept { fd, flags } => {
            call::accept(*fd, *flags).map(|(fd, from)| (fd, addr_output(&from)))
        }
        Call::Connect { fd, to } => {
            call::connect(*fd, &address(*to).unwrap_or_default()).map(plain)
        }
        Call::Shutdown { fd, how } => call::shutdown(*fd, *how).map(plain),
        Call::Close { fd } => call::close(*fd).map(plain),
        _ => return None,
    })
}

/// Calls about options of descriptors.
fn option(call: &Call) -> Option<Done> {
    Some(match call {
        Call::Setsockopt {
            fd,
            level,
            name,
            value,
            len,
        } => set_option(*fd, (*level, *name), value, *len),
        Call::Getsockopt {
            fd,
            level,
            name,
            len,
        } => {
            let mut room = vec![0; *len as usize];
            call::getsockopt(*fd, *level, *name, &mut room).map(|n| {
                room.truncate(n);
                let is_linger = (*level, *name) == (libc::SOL_SOCKET, libc::SO_LINGER);
                (0, Output::Opt(value_of(room, is_linger)))
            })
        }
        Call::Fcntl { fd, command, arg } => call::fcntl(*fd, *command, *arg as i32).map(plain),
        Call::Ioctl { fd, request } => {
            call::ioctl(*fd, *request).map(|(result, value)| (result, Output::Int(value.into())))
        }
        _ => return None,
    })
}

fn set_option(fd: i32, (level, name): (i32, i32), value: &OptValue, len: u32) -> Done {
    let mut bytes = match value {
        OptValue::Int(n) => (*n as i32).to_ne_bytes().to_vec(),
        OptValue::Ints(words) => words.iter().flat_map(|w| w.to_ne_bytes()).collect(),
        OptValue::Bytes(bytes) => bytes.clone(),
        OptValue::Linger { onoff, linger } => [onoff.to_ne_bytes(), linger.to_ne_bytes()].concat(),
        OptValue::Null => {
            let null = Memory::Null(len as usize);
            return call::setsockopt(fd, level, name, &null).map(plain);
        }
    };
    // A length beyond the value shows zeros, not our memory.
    bytes.resize(len as usize, 0);
    call::setsockopt(fd, level, name, &Memory::Bytes(&bytes)).map(plain)
}

fn value_of(bytes: Vec<u8>, is_linger: bool) -> OptValue {
    let int = |at: usize| {
        let word = bytes.get(at..)?.first_chunk()?;
        Some(i32::from_ne_bytes(*word))
    };
    match (bytes.len(), int(0), int(4)) {
        (4, Some(n), _) => OptValue::Int(n.into()),
        (8, Some(onoff), Some(linger)) if is_linger => OptValue::Linger { onoff, linger },
        _ => OptValue::Bytes(bytes),
    }
}

/// Calls that wait for descriptors.
fn events(call: &Call) -> Option<Done> {
    Some(match call {
        Call::Poll { fds, timeout_ms } => {
            let mut fds: Vec<libc::pollfd> = fds.iter().map(pollfd).collect();
            call::poll(&mut fds, *timeout_ms)
                .map(|n| (n, Output::Poll(fds.iter().map(|p| p.revents).collect())))
        }
        Call::EpollCreate { size } => call::epoll_create(*size).map(plain),
        Call::EpollCtl {
            epoll,
            op,
            fd,
            event,
        } => {
            let event = libc::epoll_event {
                events: event.events,
                u64: event.data,
            };
            call::epoll_ctl(*epoll, *op, *fd, event).map(plain)
        }
        Call::EpollWait {
            epoll,
            most,
            timeout_ms,
        } => {
            let room = usize::try_from(*most).unwrap_or_default().min(MOST_PARTS);
            let mut events = vec![libc::epoll_event { events: 0, u64: 0 }; room];
            call::epoll_wait(*epoll, &mut events, *most, *timeout_ms).map(|n| {
                let got = events.iter().take(usize::try_from(n).unwrap_or_default());
                let got = got.map(|e| EpollEvent {
                    events: e.events,
                    data: e.u64,
                });
                (n, Output::Epoll(got.collect()))
            })
        }
        _ => return None,
    })
}

fn pollfd(p: &PollFd) -> libc::pollfd {
    libc::pollfd {
        fd: p.fd,
        events: p.events,
        revents: p.revents,
    }
}

/// Pipes and files.
fn rest(call: &Call) -> Done {
    match call {
        Call::Pipe => call::pipe().map(|ends| (0, Output::Pipe(ends))),
        Call::Splice {
            from,
            to,
            len,
            flags,
        } => call::splice(*from, *to, length(*len), *flags).map(plain),
        Call::Sendfile {
            out,
            from,
            offset,
            len,
        } => call::sendfile(*out, *from, *offset, length(*len))
            .map(|(n, at)| (n, at.map_or(Output::None, Output::Int))),
        // Whatever its name is: no script sees files of this machine.
        Call::Open { .. } => {
            let file = memfd_create(c"tcplab-drill", MFdFlags::MFD_CLOEXEC)?;
            ftruncate(&file, FILE_LEN)?;
            Ok(plain(file.into_raw_fd().into()))
        }
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}
