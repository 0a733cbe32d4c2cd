//! setsockopt(2), getsockopt(2): by level, and what they share.

mod get;
mod ip;
mod socket;
mod tcp;

use tcplab_tcp::SocketError;

use super::Model;
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

/// An option that the model has not got.
fn unknown(level: i32, name: i32) -> TargetError {
    TargetError(format!(
        "the model has no socket option {name} of level {level}"
    ))
}

/// The value as an `int`; an errno for other types.
fn int(value: &OptValue, len: u32) -> Result<i64, Outcome> {
    match value {
        _ if len < 4 => Err(Outcome::failed(EINVAL)),
        OptValue::Int(n) => Ok(*n),
        OptValue::Ints(all) => match all.first() {
            Some(&n) => Ok(i64::from(n as i32)),
            None => Err(Outcome::failed(EINVAL)),
        },
        OptValue::Linger { onoff, .. } => Ok(i64::from(*onoff)),
        OptValue::Bytes(bytes) => match bytes.first_chunk::<4>() {
            Some(&four) => Ok(i64::from(i32::from_le_bytes(four))),
            None => Err(Outcome::failed(EINVAL)),
        },
        OptValue::Null => Err(Outcome::failed(EFAULT)),
    }
}

/// A call, or why it cannot be made; the inner result is the socket's own.
type Answer<T> = Result<Result<T, Outcome>, TargetError>;

impl Model {
    pub(super) fn setsockopt(
        &mut self,
        fd: Fd,
        (level, name): (i32, i32),
        value: &OptValue,
        len: u32,
    ) -> Result<Outcome, TargetError> {
        if self.files.socket(fd).is_none() {
            return Ok(self.no_socket(fd));
        }
        let set = match level {
            SOL_SOCKET => self.set_socket(fd, name, value, len)?,
            SOL_TCP => self.set_tcp(fd, name, value, len)?,
            SOL_IP | SOL_IPV6 => self.set_ip(fd, (level, name), value, len)?,
            _ => Err(Outcome::failed(ENOPROTOOPT)),
        };
        self.told_of_room(fd);
        Ok(match set {
            Ok(()) => Outcome::ok(0),
            Err(outcome) => outcome,
        })
    }

    /// Keeps the value of an option that changes nothing that a script sees.
    fn note_value(&mut self, fd: Fd, option: (i32, i32), value: i64) {
        if let Some(socket) = self.files.socket_mut(fd) {
            socket.plain.noted.insert(option, value);
        }
    }

    /// The value that was kept, or 0.
    fn noted(&self, fd: Fd, option: (i32, i32)) -> i64 {
        let socket = self.files.socket(fd);
        let value = socket.and_then(|socket| socket.plain.noted.get(&option));
        value.copied().unwrap_or(0)
    }
}
