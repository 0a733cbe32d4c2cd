//! setsockopt(2), getsockopt(2): by level, and what they share.

mod get;
mod ip;
mod socket;
mod tcp;

use tcplab_tcp::SocketError;
use tcplab_wire::TcpFlags;

use super::Model;
use super::call::{Answer, End, failed};
use super::fds::Plain;
use super::icmp::{Meaning, meaning};
use super::numbers::errno::*;
use super::numbers::{SOL_IP, SOL_IPV6, SOL_SOCKET, SOL_TCP, SOL_UDP, so};
use super::wire::Arrived;
use crate::call::{Fd, OptValue, Outcome};
use crate::target::TargetError;

/// Linux's number of an error.
pub(super) fn errno_of(error: SocketError) -> i32 {
    error.errno().0
}

/// The error with this number.
pub(super) fn error_of(errno: u32) -> Option<SocketError> {
    SocketError::ALL
        .into_iter()
        .find(|&error| errno_of(error) as u32 == errno)
}

/// An option that the model lacks.
fn unknown<T>(level: i32, name: i32) -> Answer<T> {
    Err(End::Cannot(TargetError(format!(
        "the model has no socket option {name} of level {level}"
    ))))
}

/// The value as an `int`; an errno for other types.
fn int(value: &OptValue, len: u32) -> Answer<i64> {
    match value {
        _ if len < 4 => failed(EINVAL),
        OptValue::Int(n) => Ok(*n),
        OptValue::Ints(all) => match all.first() {
            Some(&n) => Ok(i64::from(n as i32)),
            None => failed(EINVAL),
        },
        OptValue::Linger { onoff, .. } => Ok(i64::from(*onoff)),
        OptValue::Bytes(bytes) => match bytes.first_chunk::<4>() {
            Some(&four) => Ok(i64::from(i32::from_le_bytes(four))),
            None => failed(EINVAL),
        },
        OptValue::Null => failed(EFAULT),
    }
}

impl Model {
    pub(super) fn setsockopt(
        &mut self,
        fd: Fd,
        (level, name): (i32, i32),
        value: &OptValue,
        len: u32,
    ) -> Answer<Outcome> {
        self.need_socket(fd)?;
        let set = match level {
            SOL_SOCKET => self.set_socket(fd, name, value, len),
            SOL_TCP => self.set_tcp(fd, name, value, len),
            SOL_IP | SOL_IPV6 => self.set_ip(fd, (level, name), value, len),
            SOL_UDP if self.udp(fd).is_some() => unknown(level, name),
            _ => failed(ENOPROTOOPT),
        };
        self.told_of_room(fd);
        set.map(|()| Outcome::ok(0))
    }

    /// Changes options that no endpoint knows.
    pub(super) fn set_plain(&mut self, fd: Fd, set: impl FnOnce(&mut Plain)) {
        if let Some(socket) = self.files.socket_mut(fd) {
            set(&mut socket.plain);
        }
    }

    /// The model lacks what some options do. They may be set; a packet that would show it ends the script.
    pub(super) fn has_what_it_needs(&mut self, arrived: &Arrived) -> Result<(), TargetError> {
        let lacks = |name: &str| Err(TargetError(format!("the model has no {name}")));
        let is_urgent = matches!(arrived, Arrived::Tcp(seg) if seg.flags.0 & TcpFlags::URG != 0);
        if is_urgent && self.any_noted((SOL_SOCKET, so::OOBINLINE), |value| value != 0) {
            return lacks("SO_OOBINLINE, and urgent data arrives");
        }
        // IP_PMTUDISC_WANT, IP_PMTUDISC_DO.
        let is_other = |value| !matches!(value, 1 | 2);
        if let Arrived::Icmp(icmp) = arrived
            && matches!(meaning(&icmp.says), Some(Meaning::Smaller(_)))
            && (self.any_noted(ip::MTU_DISCOVER, is_other)
                || self.any_noted(ip::V6_MTU_DISCOVER, is_other))
        {
            return lacks("such IP_MTU_DISCOVER, and the path's MTU falls");
        }
        Ok(())
    }

    /// Whether a socket has set an option to such a value.
    fn any_noted(&mut self, option: (i32, i32), is_it: impl Fn(i64) -> bool) -> bool {
        let mut sockets = self.files.sockets_mut();
        sockets.any(|(_, socket)| socket.plain.noted.get(&option).is_some_and(|&n| is_it(n)))
    }

    /// Keeps the value of an option that changes nothing that a script sees.
    fn note_value(&mut self, fd: Fd, option: (i32, i32), value: i64) {
        self.set_plain(fd, |plain| _ = plain.noted.insert(option, value));
    }

    /// The value that was kept, or 0.
    fn noted(&self, fd: Fd, option: (i32, i32)) -> i64 {
        let socket = self.files.socket(fd);
        let value = socket.and_then(|socket| socket.plain.noted.get(&option));
        value.copied().unwrap_or(0)
    }
}
