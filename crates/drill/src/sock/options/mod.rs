//! setsockopt(2), getsockopt(2): by level, and what they share.

mod get;
mod ip;
mod socket;
mod tcp;

use tcplab_tcp::SocketError;

use super::Model;
use super::call::{Answer, End, failed};
use super::fds::Plain;
use super::numbers::errno::*;
use super::numbers::{SOL_IP, SOL_IPV6, SOL_SOCKET, SOL_TCP};
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
