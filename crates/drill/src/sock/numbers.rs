//! Linux's numbers that the socket layer knows (x86-64), by the names that scripts have for them: errno(3), flags, option
//! names, ioctl(2) requests.
#![allow(missing_docs)] // Each is the kernel's constant of its name.

/// Constants of one type whose names in scripts have a prefix before them.
macro_rules! numbers {
    ($prefix:literal $type:ty: $($name:ident)*) => {
        $(pub const $name: $type =
            $crate::symbols::constant(concat!($prefix, stringify!($name))) as $type;)*
    };
}

/// errno(3).
pub mod errno {
    numbers! { "" i32:
        EBADF EAGAIN EFAULT EPERM EEXIST EINVAL ENOENT EPIPE EDOM ENOMSG ENOTSOCK
        EDESTADDRREQ EMSGSIZE ENOPROTOOPT EPROTONOSUPPORT ESOCKTNOSUPPORT EOPNOTSUPP EAFNOSUPPORT
        EADDRINUSE EADDRNOTAVAIL ECONNABORTED ENOBUFS EISCONN ENOTCONN
        EALREADY EINPROGRESS
    }
}

// Flags of open(2) and fcntl(2), arguments of socket(2), levels of options.
numbers! { "" i32:
    O_RDWR O_NONBLOCK F_GETFD F_SETFD F_GETFL F_SETFL
    AF_INET AF_INET6 SOCK_STREAM SOCK_DGRAM SOCK_RAW SOCK_NONBLOCK SOCK_CLOEXEC FD_CLOEXEC IPPROTO_TCP IPPROTO_UDP
    SOL_IP SOL_SOCKET SOL_TCP SOL_IPV6 SOL_UDP
}
// Requests of ioctl(2).
numbers! { "" u64: SIOCINQ SIOCOUTQ SIOCOUTQNSD SIOCATMARK }

/// Flags of messages.
pub mod msg {
    numbers! { "MSG_" i32:
        OOB PEEK TRUNC DONTWAIT EOR WAITALL ERRQUEUE MORE ZEROCOPY FASTOPEN
    }
}

/// Bits of poll(2) and epoll(7).
pub mod ev {
    numbers! { "EPOLL" u32:
        IN PRI OUT ERR HUP RDNORM RDBAND WRNORM WRBAND RDHUP EXCLUSIVE WAKEUP ONESHOT ET
    }
    numbers! { "POLL" u32:
        NVAL
    }
}

/// Names of SOL_SOCKET.
pub mod so {
    numbers! { "SO_" i32:
        REUSEADDR TYPE ERROR DONTROUTE BROADCAST SNDBUF RCVBUF KEEPALIVE OOBINLINE PRIORITY LINGER
        REUSEPORT RCVLOWAT RCVTIMEO SNDTIMEO ACCEPTCONN SNDBUFFORCE RCVBUFFORCE MARK TIMESTAMPING
        PROTOCOL DOMAIN BUSY_POLL MAX_PACING_RATE INCOMING_CPU ZEROCOPY TIMESTAMPING_NEW TXREHASH
    }
}

/// Names of SOL_TCP.
pub mod tcp {
    numbers! { "TCP_" i32:
        RTO_MIN_US DELACK_MAX_US NODELAY MAXSEG CORK KEEPIDLE KEEPINTVL KEEPCNT SYNCNT LINGER2 DEFER_ACCEPT WINDOW_CLAMP
        INFO QUICKACK CONGESTION USER_TIMEOUT FASTOPEN TIMESTAMP NOTSENT_LOWAT SAVE_SYN
        FASTOPEN_CONNECT FASTOPEN_KEY FASTOPEN_NO_COOKIE INQ TX_DELAY THIN_LINEAR_TIMEOUTS
    }
}

/// Names of SOL_IP and SOL_IPV6.
pub mod ip {
    numbers! { "IP_" i32:
        TOS TTL MTU_DISCOVER RECVERR MTU FREEBIND TRANSPARENT BIND_ADDRESS_NO_PORT
    }
    numbers! { "IP" i32:
        V6_MTU_DISCOVER V6_MTU V6_RECVERR V6_V6ONLY V6_TCLASS V6_FREEBIND V6_TRANSPARENT
    }
}

/// Bits of SO_TIMESTAMPING.
pub mod sof {
    numbers! { "SOF_TIMESTAMPING_" u32:
        TX_SOFTWARE SOFTWARE OPT_ID TX_SCHED TX_ACK OPT_TSONLY OPT_ID_TCP
    }
}

// `struct sock_extended_err`.
numbers! { "" u8:
    SO_EE_ORIGIN_TIMESTAMPING SO_EE_ORIGIN_ZEROCOPY SO_EE_ORIGIN_ICMP SO_EE_ORIGIN_ICMP6
    SO_EE_CODE_ZEROCOPY_COPIED
}
// `SCM_TSTAMP_*`.
numbers! { "SCM_" u32: TSTAMP_SND TSTAMP_SCHED TSTAMP_ACK }
// Control messages.
numbers! { "" i32: SCM_TIMESTAMPING TCP_CM_INQ }
