//! Keys of `socket`, `client_socket` and `server_socket`.

use super::record::record;
use super::{Bounds, Form, says};
use crate::contract;
use crate::point::QuickAck;
use crate::rules::{MS_NS, Range, SECOND_NS};

/// Buffers and low-water marks, in bytes.
const BYTES: Range = (0, 1 << 30);

const TIMEOUT: Form = Form::Time(Bounds::Whole(MS_NS, i32::MAX as i64, "milliseconds"));
/// At least the two ticks of the fastest kernel.
const BOUND: Form = Form::Time(Bounds::Within(2 * MS_NS, 200 * MS_NS));
const IDLE: Form = Form::Time(Bounds::Whole(SECOND_NS, 32_767, "seconds"));

record! {
    /// Options of a socket, by their names in socket(7) and tcp(7); `None` leaves the kernel's default.
    #[serde(default)]
    pub struct SocketOptions, SOCKET {
        nodelay: Option<bool> = NODELAY, "nodelay", Form::Flag, says("the kernel's"), "TCP_NODELAY", &contract::OF_TCP;
        quickack: QuickAck = QUICKACK, "quickack", Form::QuickAck, says("leave"), "TCP_QUICKACK: `leave`, `once N` (when connected) or `each N` (before each read), N 0 or 1; N alone means once", &contract::OF_TCP;
        rcvbuf: Option<u32> = RCVBUF, "rcvbuf", Form::Size(BYTES), says("the kernel's"), "SO_RCVBUF as given to setsockopt: Linux limits it to net.core.rmem_max (a note says so) and doubles it", &contract::OF_SOCKET;
        sndbuf: Option<u32> = SNDBUF, "sndbuf", Form::Size(BYTES), says("the kernel's"), "SO_SNDBUF as given to setsockopt: Linux limits it to net.core.wmem_max (a note says so) and doubles it", &contract::OF_SOCKET;
        rcvlowat: Option<u32> = RCVLOWAT, "rcvlowat", Form::Size(BYTES), says("the kernel's"), "SO_RCVLOWAT", &contract::OF_TCP;
        user_timeout_ns: Option<i64> = USER_TIMEOUT, "user_timeout", TIMEOUT, says("the kernel's"), "TCP_USER_TIMEOUT, whole milliseconds", &contract::OF_TCP;
        keepalive_ns: Option<i64> = KEEPALIVE, "keepalive", IDLE, says("off"), "SO_KEEPALIVE with this TCP_KEEPIDLE and TCP_KEEPINTVL, whole seconds", &contract::OF_TCP;
        congestion: Option<String> = CONGESTION, "congestion", Form::Congestion, says("the kernel's"), "TCP_CONGESTION", &contract::OF_TCP;
        notsent_lowat: Option<u32> = NOTSENT_LOWAT, "notsent_lowat", Form::Size(BYTES), says("the kernel's"), "TCP_NOTSENT_LOWAT", &contract::OF_TCP;
        maxseg: Option<u32> = MAXSEG, "maxseg", Form::Size((88, 32_767)), says("the kernel's"), "TCP_MAXSEG", &contract::OF_TCP;
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cork: Option<bool> = CORK, "cork", Form::Flag, says("off"), "TCP_CORK from the start: only full segments leave, the rest after 200 ms", &contract::OF_TCP;
        #[serde(default, skip_serializing_if = "Option::is_none")]
        linger: Option<u32> = LINGER, "linger", Form::Count((0, 0)), says("off"), "0: SO_LINGER with 0 seconds, so close resets the connection; other values are refused: they delay only close(2), not its packets", &contract::OF_TCP;
        #[serde(default, skip_serializing_if = "Option::is_none")]
        linger2_ns: Option<i64> = LINGER2, "linger2", Form::Time(Bounds::Whole(SECOND_NS, 120, "seconds")), says("`net.ipv4.tcp_fin_timeout`"), "TCP_LINGER2: how long a closed connection waits for the peer's FIN, whole seconds", &contract::OF_TCP;
        #[serde(default, skip_serializing_if = "Option::is_none")]
        syncnt: Option<u32> = SYNCNT, "syncnt", Form::Count((1, 127)), says("`net.ipv4.tcp_syn_retries`, `net.ipv4.tcp_synack_retries`"), "TCP_SYNCNT: retransmissions of a SYN or SYN-ACK", &contract::OF_TCP;
        #[serde(default, skip_serializing_if = "Option::is_none")]
        window_clamp: Option<u32> = WINDOW_CLAMP, "window_clamp", Form::Size((1, 1 << 30)), says("the kernel's"), "TCP_WINDOW_CLAMP: largest window, bytes; Linux raises smaller values to 1,152", &contract::OF_TCP;
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rto_min_ns: Option<i64> = RTO_MIN, "rto_min", BOUND, says("`net.ipv4.tcp_rto_min_us`"), "TCP_RTO_MIN_US: minimum RTO, 2 ticks of the kernel to 200 ms; a route's `rto_min` wins. Linux 6.15 or later", &contract::OF_TCP;
        #[serde(default, skip_serializing_if = "Option::is_none")]
        delack_max_ns: Option<i64> = DELACK_MAX, "delack_max", BOUND, says("200 ms"), "TCP_DELACK_MAX_US: longest delay of an ACK, 2 ticks of the kernel to 200 ms. Linux 6.15 or later", &contract::OF_TCP;
        #[serde(default, skip_serializing_if = "Option::is_none")]
        max_pacing_rate_bps: Option<u64> = MAX_PACING_RATE, "max_pacing_rate", Form::Rate, says("no limit"), "SO_MAX_PACING_RATE: the socket paces, at this rate at most; 8 bit/s to 34 Gbit/s", &contract::OF_TCP;
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tos: Option<u8> = TOS, "tos", Form::Tos, says("0"), "IP_TOS, the DS field: BE, BK (CS1), LE, CS0 to CS7, AF11 to AF43, VA, EF, or the byte; TCP sets the two ECN bits itself", contract::OF_SOCKET.split_at(1).1;
        cpu: Option<u32> = CPU, "cpu", Form::Count((0, 1023)), says("any"), "CPU of the application (`host` only)", &contract::CPU;
    }
}
