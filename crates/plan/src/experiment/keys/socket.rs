//! Keys of `socket`, `client_socket` and `server_socket`.

use super::{Bounds, Form, Key, key, says};
use crate::contract;
use crate::rules::{MS_NS, Range, SECOND_NS};

/// Buffers and low-water marks, in bytes.
const BYTES: Range = (0, 1 << 30);

pub(crate) const NODELAY: Key = key("nodelay", Form::Flag, says("the kernel's"), "TCP_NODELAY").refused(contract::OF_TCP);
pub(crate) const QUICKACK: Key = key("quickack", Form::QuickAck, says("leave"), "TCP_QUICKACK: `leave`, `once N` (when the connection stands) or `each N` (before each read), N 0 or 1; N alone means once").refused(contract::OF_TCP);
pub(crate) const RCVBUF: Key = key("rcvbuf", Form::Size(BYTES), says("the kernel's"), "SO_RCVBUF as given to setsockopt (Linux doubles it)").refused(contract::BUFFERS);
pub(crate) const SNDBUF: Key = key("sndbuf", Form::Size(BYTES), says("the kernel's"), "SO_SNDBUF as given to setsockopt (Linux doubles it)").refused(contract::BUFFERS);
pub(crate) const RCVLOWAT: Key = key("rcvlowat", Form::Size(BYTES), says("the kernel's"), "SO_RCVLOWAT").refused(contract::OF_TCP);
pub(crate) const USER_TIMEOUT: Key = key("user_timeout", Form::Time(Bounds::Whole(MS_NS, i32::MAX as i64, "milliseconds")), says("the kernel's"), "TCP_USER_TIMEOUT, whole milliseconds").refused(contract::OF_TCP);
pub(crate) const KEEPALIVE: Key = key("keepalive", Form::Time(Bounds::Whole(SECOND_NS, 32_767, "seconds")), says("off"), "SO_KEEPALIVE with this TCP_KEEPIDLE and TCP_KEEPINTVL, whole seconds").refused(contract::OF_TCP);
pub(crate) const CONGESTION: Key = key("congestion", Form::Text, says("the kernel's"), "TCP_CONGESTION").refused(contract::OF_TCP);
pub(crate) const NOTSENT_LOWAT: Key = key("notsent_lowat", Form::Size(BYTES), says("the kernel's"), "TCP_NOTSENT_LOWAT").refused(contract::OF_TCP);
pub(crate) const MAXSEG: Key = key("maxseg", Form::Size((88, 32_767)), says("the kernel's"), "TCP_MAXSEG").refused(contract::OF_TCP);
pub(crate) const TOS: Key = key("tos", Form::Tos, says("0"), "IP_TOS, the DS field of what the socket sends: BE, BK (CS1), LE, CS0 to CS7, AF11 to AF43, VA, EF, or the byte; TCP keeps ECN's two bits to itself").refused(contract::OF_SOCKET);
pub(crate) const CPU: Key = key("cpu", Form::Count((0, 1023)), says("any"), "CPU of the application (on `host` only)").refused(contract::CPU);

/// `socket`, `client_socket`, `server_socket`.
pub(crate) const SOCKET: &[Key] = &[
    NODELAY, QUICKACK, RCVBUF, SNDBUF, RCVLOWAT, USER_TIMEOUT, KEEPALIVE, CONGESTION, NOTSENT_LOWAT, MAXSEG, TOS, CPU,
];
