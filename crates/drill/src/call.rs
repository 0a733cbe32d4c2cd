//! System calls as data: what a script asks of its target, symbols resolved to Linux's numbers (x86-64), and what the
//! target answers.
//!
//! Sockets carry lengths, not bytes: what a script writes is zeros, what it reads is counted.

use std::net::SocketAddr;

/// A file descriptor of the target.
pub type Fd = i32;

/// A buffer of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Buffer {
    /// This many bytes.
    Len(u64),
    /// The null pointer, with this length beside it.
    Null(u64),
}

/// A system call. Flags, levels and names are the kernel's numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // Names and arguments are those of the manual pages.
pub enum Call {
    Socket {
        domain: i32,
        kind: i32,
        protocol: i32,
    },
    Bind {
        fd: Fd,
        addr: SocketAddr,
    },
    Listen {
        fd: Fd,
        backlog: i32,
    },
    /// accept(2) and accept4(2).
    Accept {
        fd: Fd,
        flags: i32,
    },
    Connect {
        fd: Fd,
        /// Never [`SendTo::Connected`].
        to: SendTo,
    },
    /// read(2), recv(2), recvfrom(2): one buffer.
    Recv {
        fd: Fd,
        buffer: Buffer,
        flags: i32,
    },
    /// readv(2): several.
    Readv {
        fd: Fd,
        lens: Vec<u64>,
    },
    Recvmsg {
        fd: Fd,
        lens: Vec<u64>,
        /// Bytes of room for control messages.
        control_len: u64,
        flags: i32,
    },
    /// write(2), send(2), sendto(2).
    Send {
        fd: Fd,
        buffer: Buffer,
        flags: i32,
        to: SendTo,
    },
    Writev {
        fd: Fd,
        lens: Vec<u64>,
    },
    Sendmsg {
        fd: Fd,
        lens: Vec<u64>,
        control: Vec<Control>,
        flags: i32,
        to: SendTo,
    },
    Shutdown {
        fd: Fd,
        how: i32,
    },
    Close {
        fd: Fd,
    },
    Setsockopt {
        fd: Fd,
        level: i32,
        name: i32,
        value: OptValue,
        /// The length argument.
        len: u32,
    },
    Getsockopt {
        fd: Fd,
        level: i32,
        name: i32,
        /// Room in bytes.
        len: u32,
    },
    Fcntl {
        fd: Fd,
        command: i32,
        arg: i64,
    },
    /// ioctl(2) of a request that gives an `int` (SIOCINQ, SIOCOUTQ).
    Ioctl {
        fd: Fd,
        request: u64,
    },
    Poll {
        fds: Vec<PollFd>,
        timeout_ms: i32,
    },
    EpollCreate {
        size: i32,
    },
    EpollCtl {
        epoll: Fd,
        op: i32,
        fd: Fd,
        event: EpollEvent,
    },
    EpollWait {
        epoll: Fd,
        most: i32,
        timeout_ms: i32,
    },
    Pipe,
    Splice {
        from: Fd,
        to: Fd,
        len: u64,
        flags: u32,
    },
    Sendfile {
        out: Fd,
        from: Fd,
        offset: Option<i64>,
        len: u64,
    },
    /// open(2) of a file with this many bytes; the target may ignore the path.
    Open {
        path: String,
        flags: i32,
    },
}

/// Where a connection, a datagram or the first data of Fast Open go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SendTo {
    /// No address was given (send(2), write(2), or a null address).
    Connected,
    /// This one.
    Addr(SocketAddr),
    /// An address of family AF_UNSPEC.
    Unspec,
}

/// The value of a socket option.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum OptValue {
    /// An `int`.
    Int(i64),
    /// Several 32-bit numbers in a row.
    Ints(Vec<u32>),
    /// Bytes: names of congestion controls, keys.
    Bytes(Vec<u8>),
    /// `struct linger`.
    Linger {
        /// `l_onoff`.
        onoff: i32,
        /// `l_linger` in seconds.
        linger: i32,
    },
    /// A null pointer.
    Null,
}

/// `struct pollfd`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct PollFd {
    pub fd: Fd,
    pub events: i16,
    pub revents: i16,
}

/// `struct epoll_event`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub struct EpollEvent {
    pub events: u32,
    pub data: u64,
}

/// A control message of sendmsg(2) or recvmsg(2).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Control {
    /// `cmsg_level`.
    pub level: i32,
    /// `cmsg_type`.
    pub kind: i32,
    /// What it carries.
    pub data: ControlData,
}

/// What a control message carries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ControlData {
    /// An `int` (TCP_CM_INQ, SO_TIMESTAMPING flags).
    Int(i64),
    /// `struct sock_extended_err`.
    Error(ExtendedError),
    /// The first time of `struct scm_timestamping`, in nanoseconds since the script's begin.
    TimestampNs(i64),
}

/// `struct sock_extended_err`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[allow(missing_docs)]
pub struct ExtendedError {
    pub errno: u32,
    pub origin: u8,
    pub kind: u8,
    pub code: u8,
    pub info: u32,
    pub data: u32,
}

/// What a call gave.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outcome {
    /// The result; -1 with an errno.
    pub result: i64,
    /// `errno`, Linux's number; 0 on success.
    pub errno: i32,
    /// What else came back.
    pub out: Output,
}

impl Outcome {
    /// A call that went well and gave nothing else.
    pub fn ok(result: i64) -> Self {
        Self::gave(result, Output::None)
    }

    /// A call that went well, and what else came back.
    pub fn gave(result: i64, out: Output) -> Self {
        Self {
            result,
            errno: 0,
            out,
        }
    }

    /// A call that failed.
    pub fn failed(errno: i32) -> Self {
        Self {
            result: -1,
            errno,
            out: Output::None,
        }
    }
}

/// What came back beside the result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Output {
    /// Nothing.
    None,
    /// The peer's address of accept(2), recvfrom(2).
    Addr(SocketAddr),
    /// The `int` of ioctl(2), the offset of sendfile(2).
    Int(i64),
    /// The value of getsockopt(2): TCP_INFO and the like are bytes, as the kernel lays them out.
    Opt(OptValue),
    /// `revents` of each pollfd.
    Poll(Vec<i16>),
    /// Events of epoll_wait(2).
    Epoll(Vec<EpollEvent>),
    /// recvmsg(2).
    Message {
        /// `msg_flags`.
        flags: i32,
        /// Control messages in order.
        control: Vec<Control>,
    },
    /// The two ends of pipe(2).
    Pipe([Fd; 2]),
}
