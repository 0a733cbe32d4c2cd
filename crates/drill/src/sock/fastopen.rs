//! Fast Open as sockets see it: MSG_FASTOPEN, TCP_FASTOPEN and its relatives (Linux `tcp_sendmsg_fastopen()`,
//! `__inet_stream_connect()`, `do_tcp_setsockopt()`).

use tcplab_tcp::{FastOpenKey, FastOpenKeys, State};

use super::Model;
use super::call::{Answer, failed};
use super::fds::{Kind, Phase};
use super::numbers::errno::{EALREADY, EINPROGRESS, EINVAL, EISCONN, EOPNOTSUPP};
use super::numbers::tcp;
use super::pending::Progress;
use super::send::Send;
use crate::call::{Fd, OptValue, SendTo};

/// What a write does first.
pub(super) enum First {
    /// It is one as any other.
    Plain,
    /// The SYN left with so many bytes; the connection must stand before the rest goes.
    Syn(u64),
}

/// Values of Fast Open's options that a socket has before listen(2).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FastOpenOptions {
    queue: u32,
    keys: Option<FastOpenKeys>,
}

impl Model {
    /// The SYN of a write with MSG_FASTOPEN, or of the first one after a connect(2) that waited for it. No `bytes`: the
    /// buffer cannot be read.
    pub(super) fn fast_send(
        &mut self,
        fd: Fd,
        bytes: Option<u64>,
        asks: bool,
        to: SendTo,
    ) -> Answer<First> {
        let deferred = self.waits_for_data(fd);
        if !asks && !deferred {
            return Ok(First::Plain);
        }
        if !self.stack.may_fast_open() || to == SendTo::Unspec {
            return failed(EOPNOTSUPP);
        }
        if !deferred {
            let phase = self.files.socket(fd).map(|socket| socket.phase);
            match (phase, to) {
                (Some(Phase::Unconnected), SendTo::Addr(addr)) => self.open(fd, addr, true)?,
                (Some(Phase::Unconnected), _) => return failed(EINVAL),
                (Some(Phase::Connecting), _) if self.opens(fd) => return failed(EALREADY),
                (Some(Phase::Connecting), _) => {
                    self.connected(fd);
                    return Ok(First::Plain);
                }
                _ => return failed(EISCONN),
            }
        }
        let copied = self.with(fd, |ep, cx| match bytes {
            Some(bytes) => ep.connect_with_data(cx, bytes),
            None => {
                ep.connect_without_data(cx);
                0
            }
        });
        Ok(First::Syn(copied.unwrap_or(0)))
    }

    /// connect(2) has returned, and no SYN was sent.
    pub(super) fn waits_for_data(&mut self, fd: Fd) -> bool {
        self.with(fd, |ep, _| ep.is_deferred()) == Some(true)
    }

    /// A write that waits with the rest of its bytes until the connection stands.
    pub(super) fn fast_waits(&mut self, fd: Fd) {
        self.with(fd, |ep, _| ep.set_write_pending(true));
    }

    /// A write whose SYN has left: whether the handshake is over. None: it is, the rest can be written.
    pub(super) fn fast_step(&mut self, send: &mut Send, late: bool) -> Option<Progress> {
        let over = match self.handshake(send.fd) {
            Ok(true) => None,
            Ok(false) if late => Some(send.failed(EINPROGRESS)),
            Ok(false) => return Some(Progress::Wait),
            Err(errno) => return Some(Progress::failed(errno)),
        };
        self.with(send.fd, |ep, _| ep.set_write_pending(false));
        over
    }

    /// setsockopt(2) of an option of Fast Open.
    pub(super) fn set_fast_open(&mut self, fd: Fd, name: i32, value: &OptValue) -> Answer<()> {
        if name == tcp::FASTOPEN_KEY {
            return self.set_fast_open_key(fd, value);
        }
        let n = match value {
            OptValue::Int(n) => *n,
            OptValue::Ints(all) => i64::from(all.first().copied().unwrap_or(0) as i32),
            _ => return failed(EINVAL),
        };
        let closed = self.with(fd, |ep, _| ep.state()) == Some(State::Close);
        match name {
            tcp::FASTOPEN if n >= 0 && closed => {
                self.set_fast_open_queue(fd, n.min(i64::from(u32::MAX)) as u32);
            }
            tcp::FASTOPEN_CONNECT if (0..=1).contains(&n) => {
                if !self.stack.may_fast_open() {
                    return failed(EOPNOTSUPP);
                }
                if !closed || self.listener(fd).is_some() {
                    return failed(EINVAL);
                }
                self.with(fd, |ep, _| ep.set_fast_open_connect(n != 0));
            }
            tcp::FASTOPEN_NO_COOKIE if (0..=1).contains(&n) && closed => {
                self.with(fd, |ep, _| ep.set_fast_open_no_cookie(n != 0));
            }
            _ => return failed(EINVAL),
        }
        Ok(())
    }

    fn set_fast_open_queue(&mut self, fd: Fd, most: u32) {
        let most = most.min(self.stack.host.sysctl.somaxconn);
        if let Some(id) = self.listener(fd) {
            self.stack.set_fast_open(id, most);
        }
        self.set_plain(fd, |plain| plain.fast_open.queue = most);
    }

    /// One key of 16 bytes, or two.
    fn set_fast_open_key(&mut self, fd: Fd, value: &OptValue) -> Answer<()> {
        let OptValue::Bytes(bytes) = value else {
            return failed(EINVAL);
        };
        let key = |at: usize| {
            let bytes = bytes.get(at..at + 16)?;
            bytes.first_chunk().copied().map(FastOpenKey::from_bytes)
        };
        let keys = match (bytes.len(), key(0)) {
            (16 | 32, Some(primary)) => FastOpenKeys {
                primary,
                backup: key(16),
            },
            _ => return failed(EINVAL),
        };
        if let Some(id) = self.listener(fd) {
            self.stack.set_fast_open_keys(id, Some(keys));
        }
        self.set_plain(fd, |plain| plain.fast_open.keys = Some(keys));
        Ok(())
    }

    /// getsockopt(2) of an option of Fast Open.
    pub(super) fn get_fast_open(&mut self, fd: Fd, name: i32) -> OptValue {
        let own = self.files.socket(fd).map(|socket| socket.plain.fast_open);
        let own = own.unwrap_or_default();
        OptValue::Int(match name {
            tcp::FASTOPEN_KEY => {
                let keys = own.keys.or(self.stack.host.sysctl.tcp_fastopen_key);
                let all = keys.map(|keys| [Some(keys.primary), keys.backup]);
                let all = all.into_iter().flatten().flatten();
                return OptValue::Bytes(all.flat_map(FastOpenKey::to_bytes).collect());
            }
            tcp::FASTOPEN => match self.listener(fd) {
                Some(id) => i64::from(self.stack.fast_open(id)),
                None => i64::from(own.queue),
            },
            tcp::FASTOPEN_CONNECT => {
                i64::from(self.with(fd, |ep, _| ep.fast_open_connect()) == Some(true))
            }
            _ => i64::from(self.with(fd, |ep, _| ep.fast_open_no_cookie()) == Some(true)),
        })
    }

    /// A new listener gets what was set before.
    pub(super) fn fast_open_listens(&mut self, fd: Fd) {
        let Some(socket) = self.files.socket(fd) else {
            return;
        };
        let (own, Kind::Listener(id)) = (socket.plain.fast_open, &socket.kind) else {
            return;
        };
        let id = *id;
        if own.queue > 0 {
            self.stack.set_fast_open(id, own.queue);
        }
        if own.keys.is_some() {
            self.stack.set_fast_open_keys(id, own.keys);
        }
    }
}
