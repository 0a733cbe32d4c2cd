//! Linux's numbers that the socket layer knows (x86-64): errno(3), flags, option names, ioctl(2) requests.
#![allow(missing_docs)] // Each is the kernel's constant of its name.

/// errno(3).
pub mod errno {
    pub const EBADF: i32 = 9;
    pub const EAGAIN: i32 = 11;
    pub const EACCES: i32 = 13;
    pub const EFAULT: i32 = 14;
    pub const EEXIST: i32 = 17;
    pub const EINVAL: i32 = 22;
    pub const ENOENT: i32 = 2;
    pub const ENOTTY: i32 = 25;
    pub const EPIPE: i32 = 32;
    pub const EDOM: i32 = 33;
    pub const ENOMSG: i32 = 42;
    pub const EPROTO: i32 = 71;
    pub const ENOTSOCK: i32 = 88;
    pub const EDESTADDRREQ: i32 = 89;
    pub const EMSGSIZE: i32 = 90;
    pub const ENOPROTOOPT: i32 = 92;
    pub const EPROTONOSUPPORT: i32 = 93;
    pub const ESOCKTNOSUPPORT: i32 = 94;
    pub const EOPNOTSUPP: i32 = 95;
    pub const EAFNOSUPPORT: i32 = 97;
    pub const EADDRINUSE: i32 = 98;
    pub const EADDRNOTAVAIL: i32 = 99;
    pub const ENETUNREACH: i32 = 101;
    pub const ECONNABORTED: i32 = 103;
    pub const ECONNRESET: i32 = 104;
    pub const EISCONN: i32 = 106;
    pub const ENOTCONN: i32 = 107;
    pub const ETIMEDOUT: i32 = 110;
    pub const ECONNREFUSED: i32 = 111;
    pub const EHOSTUNREACH: i32 = 113;
    pub const EALREADY: i32 = 114;
    pub const EINPROGRESS: i32 = 115;
}

/// Flags of open(2) and fcntl(2).
pub const O_RDWR: i32 = 2;
pub const O_NONBLOCK: i32 = 0o4000;
pub const F_GETFD: i32 = 1;
pub const F_SETFD: i32 = 2;
pub const F_GETFL: i32 = 3;
pub const F_SETFL: i32 = 4;

/// socket(2).
pub const AF_INET: i32 = 2;
pub const AF_INET6: i32 = 10;
pub const SOCK_STREAM: i32 = 1;
pub const SOCK_DGRAM: i32 = 2;
pub const SOCK_NONBLOCK: i32 = 0o4000;
pub const IPPROTO_TCP: i32 = 6;
pub const IPPROTO_UDP: i32 = 17;

/// Flags of messages.
pub mod msg {
    pub const OOB: i32 = 0x1;
    pub const PEEK: i32 = 0x2;
    pub const TRUNC: i32 = 0x20;
    pub const DONTWAIT: i32 = 0x40;
    pub const EOR: i32 = 0x80;
    pub const WAITALL: i32 = 0x100;
    pub const ERRQUEUE: i32 = 0x2000;
    pub const MORE: i32 = 0x8000;
    pub const ZEROCOPY: i32 = 0x400_0000;
    pub const FASTOPEN: i32 = 0x2000_0000;
}

/// Bits of poll(2) and epoll(7).
pub mod ev {
    pub const IN: u32 = 0x1;
    pub const PRI: u32 = 0x2;
    pub const OUT: u32 = 0x4;
    pub const ERR: u32 = 0x8;
    pub const HUP: u32 = 0x10;
    pub const NVAL: u32 = 0x20;
    pub const RDNORM: u32 = 0x40;
    pub const RDBAND: u32 = 0x80;
    pub const WRNORM: u32 = 0x100;
    pub const WRBAND: u32 = 0x200;
    pub const RDHUP: u32 = 0x2000;
    pub const EXCLUSIVE: u32 = 1 << 28;
    pub const WAKEUP: u32 = 1 << 29;
    pub const ONESHOT: u32 = 1 << 30;
    pub const ET: u32 = 1 << 31;
}

/// ioctl(2).
pub const SIOCINQ: u64 = 0x541b;
pub const SIOCOUTQ: u64 = 0x5411;
pub const SIOCOUTQNSD: u64 = 0x894b;
pub const SIOCATMARK: u64 = 0x8905;

/// Levels of options.
pub const SOL_IP: i32 = 0;
pub const SOL_SOCKET: i32 = 1;
pub const SOL_TCP: i32 = 6;
pub const SOL_IPV6: i32 = 41;

/// Names of SOL_SOCKET.
pub mod so {
    pub const REUSEADDR: i32 = 2;
    pub const TYPE: i32 = 3;
    pub const ERROR: i32 = 4;
    pub const DONTROUTE: i32 = 5;
    pub const BROADCAST: i32 = 6;
    pub const SNDBUF: i32 = 7;
    pub const RCVBUF: i32 = 8;
    pub const KEEPALIVE: i32 = 9;
    pub const OOBINLINE: i32 = 10;
    pub const PRIORITY: i32 = 12;
    pub const LINGER: i32 = 13;
    pub const REUSEPORT: i32 = 15;
    pub const RCVLOWAT: i32 = 18;
    pub const RCVTIMEO: i32 = 20;
    pub const SNDTIMEO: i32 = 21;
    pub const ACCEPTCONN: i32 = 30;
    pub const SNDBUFFORCE: i32 = 32;
    pub const RCVBUFFORCE: i32 = 33;
    pub const MARK: i32 = 36;
    pub const TIMESTAMPING: i32 = 37;
    pub const PROTOCOL: i32 = 38;
    pub const DOMAIN: i32 = 39;
    pub const BUSY_POLL: i32 = 46;
    pub const MAX_PACING_RATE: i32 = 47;
    pub const INCOMING_CPU: i32 = 49;
    pub const ZEROCOPY: i32 = 60;
    pub const TIMESTAMPING_NEW: i32 = 65;
    pub const TXREHASH: i32 = 74;
}

/// Names of SOL_TCP.
pub mod tcp {
    pub const NODELAY: i32 = 1;
    pub const MAXSEG: i32 = 2;
    pub const CORK: i32 = 3;
    pub const KEEPIDLE: i32 = 4;
    pub const KEEPINTVL: i32 = 5;
    pub const KEEPCNT: i32 = 6;
    pub const SYNCNT: i32 = 7;
    pub const LINGER2: i32 = 8;
    pub const DEFER_ACCEPT: i32 = 9;
    pub const WINDOW_CLAMP: i32 = 10;
    pub const INFO: i32 = 11;
    pub const QUICKACK: i32 = 12;
    pub const CONGESTION: i32 = 13;
    pub const USER_TIMEOUT: i32 = 18;
    pub const FASTOPEN: i32 = 23;
    pub const TIMESTAMP: i32 = 24;
    pub const NOTSENT_LOWAT: i32 = 25;
    pub const SAVE_SYN: i32 = 27;
    pub const FASTOPEN_CONNECT: i32 = 30;
    pub const FASTOPEN_KEY: i32 = 33;
    pub const FASTOPEN_NO_COOKIE: i32 = 34;
    pub const INQ: i32 = 36;
    pub const TX_DELAY: i32 = 37;
    pub const THIN_LINEAR_TIMEOUTS: i32 = 16;
}

/// Names of SOL_IP and SOL_IPV6.
pub mod ip {
    pub const TOS: i32 = 1;
    pub const TTL: i32 = 2;
    pub const MTU_DISCOVER: i32 = 10;
    pub const RECVERR: i32 = 11;
    pub const MTU: i32 = 14;
    pub const FREEBIND: i32 = 15;
    pub const TRANSPARENT: i32 = 19;
    pub const BIND_ADDRESS_NO_PORT: i32 = 24;
    pub const V6_MTU_DISCOVER: i32 = 23;
    pub const V6_MTU: i32 = 24;
    pub const V6_RECVERR: i32 = 25;
    pub const V6_V6ONLY: i32 = 26;
    pub const V6_TCLASS: i32 = 67;
    pub const V6_FREEBIND: i32 = 78;
    pub const V6_TRANSPARENT: i32 = 75;
}

/// Bits of SO_TIMESTAMPING.
pub mod sof {
    pub const TX_SOFTWARE: u32 = 1 << 1;
    pub const SOFTWARE: u32 = 1 << 4;
    pub const OPT_ID: u32 = 1 << 7;
    pub const TX_SCHED: u32 = 1 << 8;
    pub const TX_ACK: u32 = 1 << 9;
    pub const OPT_TSONLY: u32 = 1 << 11;
    pub const OPT_ID_TCP: u32 = 1 << 16;
}

/// `struct sock_extended_err`.
pub const SO_EE_ORIGIN_TIMESTAMPING: u8 = 4;
pub const SO_EE_ORIGIN_ZEROCOPY: u8 = 5;
pub const SO_EE_ORIGIN_ICMP: u8 = 2;
pub const SO_EE_ORIGIN_ICMP6: u8 = 3;
pub const SO_EE_CODE_ZEROCOPY_COPIED: u8 = 1;
/// `SCM_TSTAMP_*`.
pub const TSTAMP_SND: u32 = 0;
pub const TSTAMP_SCHED: u32 = 1;
pub const TSTAMP_ACK: u32 = 2;
/// `SCM_TIMESTAMPING`, `TCP_CM_INQ`.
pub const SCM_TIMESTAMPING: i32 = 37;
pub const TCP_CM_INQ: i32 = tcp::INQ;
