//! SOL_SOCKET (Linux `sock_setsockopt()`).

use tcplab_base::{Duration, Seq};

use super::super::Model;
use super::super::fds::Kind;
use super::super::numbers::errno::{EDOM, EINVAL, ENOPROTOOPT};
use super::super::numbers::{SOL_SOCKET, ev, so, sof};
use super::{Answer, failed, int, unknown};
use crate::call::{Fd, OptValue};

/// `struct linger`.
const LINGER_BYTES: u32 = 8;
/// `SOCK_MIN_SNDBUF`, `SOCK_MIN_RCVBUF`.
const MIN_SNDBUF: i64 = 4_608;
const MIN_RCVBUF: i64 = 2_304;
/// net.core.wmem_default and rmem_default.
const UDP_ROOM: i64 = 212_992;

/// The bits of SO_TIMESTAMPING that 6.1 knows.
const SOF_MASK: u32 = (1 << 17) - 1;

impl Model {
    pub(super) fn set_socket(
        &mut self,
        fd: Fd,
        name: i32,
        value: &OptValue,
        len: u32,
    ) -> Answer<()> {
        match name {
            so::LINGER if len < LINGER_BYTES => return failed(EINVAL),
            so::LINGER => return self.set_linger(fd, value),
            so::RCVTIMEO | so::SNDTIMEO => return self.set_timeout(fd, name, value),
            _ => {}
        }
        let n = int(value, len)?;
        let bytes = n as u32;
        match name {
            so::SNDBUF | so::SNDBUFFORCE | so::RCVBUF | so::RCVBUFFORCE
                if self.udp(fd).is_some() =>
            {
                self.set_udp_room(fd, name, bytes);
            }
            so::SNDBUF | so::SNDBUFFORCE => {
                let force = name == so::SNDBUFFORCE;
                self.with(fd, |ep, cx| ep.set_sndbuf(cx, bytes, force));
            }
            so::RCVBUF | so::RCVBUFFORCE => {
                let force = name == so::RCVBUFFORCE;
                self.with(fd, |ep, cx| ep.set_rcvbuf(cx, bytes, force));
            }
            so::KEEPALIVE => {
                self.with(fd, |ep, cx| ep.enable_keepalive(cx, n != 0));
            }
            so::RCVLOWAT => {
                let bytes = if n < 0 { i32::MAX as u32 } else { bytes };
                if self.with(fd, |ep, cx| ep.set_rcvlowat(cx, bytes)) == Some(true) {
                    self.wake(fd, ev::IN);
                }
            }
            so::ZEROCOPY => return self.set_zerocopy(fd, n),
            so::TIMESTAMPING | so::TIMESTAMPING_NEW => return self.set_stamps(fd, bytes),
            so::REUSEADDR => self.set_plain(fd, |plain| plain.reuseaddr = i64::from(n != 0)),
            so::MAX_PACING_RATE => {
                // 64 bits where the script gives them; 4 GB/s and more are no limit.
                let rate = if len < 8 {
                    bytes
                } else {
                    u32::try_from(n).unwrap_or(u32::MAX)
                };
                self.with(fd, |ep, _| ep.set_max_pacing_rate(rate));
            }
            name if is_boolean(name) => self.note_value(fd, (SOL_SOCKET, name), i64::from(n != 0)),
            name if is_harmless(name) => self.note_value(fd, (SOL_SOCKET, name), n),
            so::TYPE | so::ERROR | so::ACCEPTCONN | so::PROTOCOL | so::DOMAIN => {
                return failed(ENOPROTOOPT);
            }
            _ => return unknown(SOL_SOCKET, name),
        }
        Ok(())
    }

    /// SO_SNDBUF and SO_RCVBUF of UDP, whose datagrams do not fill them in the model.
    fn set_udp_room(&mut self, fd: Fd, name: i32, bytes: u32) {
        let sysctl = &self.stack.host.sysctl;
        let (kept, least, most) = match name {
            so::SNDBUF => (so::SNDBUF, MIN_SNDBUF, sysctl.wmem_max),
            so::SNDBUFFORCE => (so::SNDBUF, MIN_SNDBUF, u32::MAX),
            so::RCVBUF => (so::RCVBUF, MIN_RCVBUF, sysctl.rmem_max),
            _ => (so::RCVBUF, MIN_RCVBUF, u32::MAX),
        };
        let bytes = bytes.min(most).min(i32::MAX as u32 / 2);
        let room = (i64::from(bytes) * 2).max(least);
        self.note_value(fd, (SOL_SOCKET, kept), room);
    }

    pub(super) fn udp_room(&self, fd: Fd, name: i32) -> i64 {
        match self.noted(fd, (SOL_SOCKET, name)) {
            0 => UDP_ROOM,
            room => room,
        }
    }

    fn set_zerocopy(&mut self, fd: Fd, n: i64) -> Answer<()> {
        if !(0..=1).contains(&n) {
            return failed(EINVAL);
        }
        if let Some(socket) = self.files.socket_mut(fd)
            && !matches!(socket.kind, Kind::Udp(_))
        {
            socket.zerocopy.enable(n != 0);
        }
        Ok(())
    }

    fn set_linger(&mut self, fd: Fd, value: &OptValue) -> Answer<()> {
        let (onoff, seconds) = match value {
            OptValue::Linger { onoff, linger } => (*onoff != 0, *linger as u32),
            OptValue::Ints(all) => match **all {
                [onoff, linger] => (onoff != 0, linger),
                _ => return failed(EINVAL),
            },
            _ => return failed(EINVAL),
        };
        self.set_plain(fd, |plain| plain.linger = (onoff, seconds));
        self.with(fd, |ep, _| ep.set_linger(onoff.then_some(seconds)));
        Ok(())
    }

    /// `struct timeval` as four or two numbers; zero: no limit.
    fn set_timeout(&mut self, fd: Fd, name: i32, value: &OptValue) -> Answer<()> {
        let (seconds, micros) = match value {
            OptValue::Ints(all) => match **all {
                [seconds, _, micros, _] | [seconds, micros] => (seconds, micros),
                _ => return failed(EINVAL),
            },
            _ => return failed(EINVAL),
        };
        if micros >= 1_000_000 {
            return failed(EDOM);
        }
        let us = i64::from(seconds) * 1_000_000 + i64::from(micros);
        let wait = (us > 0).then(|| Duration::from_micros(us));
        self.set_plain(fd, |plain| match name {
            so::RCVTIMEO => plain.rcvtimeo = wait,
            _ => plain.sndtimeo = wait,
        });
        Ok(())
    }

    fn set_stamps(&mut self, fd: Fd, flags: u32) -> Answer<()> {
        let alone = flags & sof::OPT_ID_TCP != 0 && flags & sof::OPT_ID == 0;
        if flags & !SOF_MASK != 0 || alone {
            return failed(EINVAL);
        }
        let is_conn = self.is_conn(fd);
        let space = self.with(fd, |ep, _| ep.send_space());
        let (una, _, written) = space.unwrap_or((Seq(0), Seq(0), Seq(0)));
        let Some(socket) = self.files.socket_mut(fd) else {
            return Ok(());
        };
        let begins = flags & sof::OPT_ID != 0 && socket.stamps.flags & sof::OPT_ID == 0;
        if begins && !is_conn {
            return failed(EINVAL);
        }
        socket.stamps.set(flags, una, written);
        Ok(())
    }
}

/// Options that are on or off.
fn is_boolean(name: i32) -> bool {
    matches!(
        name,
        so::REUSEPORT | so::DONTROUTE | so::BROADCAST | so::OOBINLINE
    )
}

/// Options that change nothing that a script sees.
pub(super) fn is_harmless(name: i32) -> bool {
    matches!(
        name,
        so::PRIORITY
            | so::MARK
            | so::REUSEPORT
            | so::DONTROUTE
            | so::BROADCAST
            | so::OOBINLINE
            | so::BUSY_POLL
            | so::INCOMING_CPU
            | so::TXREHASH
    )
}
