//! SOL_TCP (Linux `do_tcp_setsockopt()`).

use super::super::Model;
use super::super::numbers::errno::{EINVAL, ENOENT};
use super::super::numbers::{SOL_TCP, tcp};
use super::{Answer, failed, int, unknown};
use crate::call::{Fd, OptValue};

/// `MAX_TCP_KEEPIDLE`, `MAX_TCP_KEEPINTVL`; `MAX_TCP_KEEPCNT`, `MAX_TCP_SYNCNT`.
const MAX_KEEP_S: i64 = 32_767;
const MAX_COUNT: i64 = 127;
/// `TCP_FIN_TIMEOUT_MAX`.
const MAX_FIN_TIMEOUT_S: i64 = 120;

impl Model {
    pub(super) fn set_tcp(&mut self, fd: Fd, name: i32, value: &OptValue, len: u32) -> Answer<()> {
        self.tcp_option(fd)?;
        match name {
            tcp::CONGESTION => self.set_congestion(fd, value),
            name if is_fast_open(name) => self.set_fast_open(fd, name, value),
            _ => self.set_tcp_int(fd, name, int(value, len)?),
        }
    }

    fn set_tcp_int(&mut self, fd: Fd, name: i32, n: i64) -> Answer<()> {
        let good = match name {
            tcp::NODELAY => self.with(fd, |ep, cx| ep.set_nodelay(cx, n != 0)).is_some(),
            tcp::CORK => self.with(fd, |ep, cx| ep.set_cork(cx, n != 0)).is_some(),
            tcp::MAXSEG => self.with(fd, |ep, _| ep.set_maxseg(n)) == Some(true),
            tcp::QUICKACK => {
                let set = self.with(fd, |ep, cx| ep.set_quickack(cx, n as i32));
                set.is_some()
            }
            tcp::USER_TIMEOUT => {
                n >= 0 && (self.with(fd, |ep, _| ep.set_user_timeout(n as u32))).is_some()
            }
            tcp::NOTSENT_LOWAT => {
                let set = self.with(fd, |ep, cx| ep.set_notsent_lowat(cx, n as u32));
                set.is_some()
            }
            tcp::KEEPIDLE | tcp::KEEPINTVL | tcp::KEEPCNT => self.set_keep(fd, name, n),
            tcp::SYNCNT => {
                (1..=MAX_COUNT).contains(&n)
                    && (self.with(fd, |ep, _| ep.set_syn_count(n as u8))).is_some()
            }
            tcp::RTO_MIN_US => self.with(fd, |ep, cx| ep.set_rto_min(cx, n * 1000)) == Some(true),
            tcp::DELACK_MAX_US => {
                self.with(fd, |ep, cx| ep.set_delack_max(cx, n * 1000)) == Some(true)
            }
            tcp::LINGER2 => self.set_linger2(fd, n),
            tcp::DEFER_ACCEPT => self.set_defer_accept(fd, n),
            tcp::WINDOW_CLAMP => self.set_clamp(fd, n),
            tcp::INQ => {
                self.set_plain(fd, |plain| plain.inq = n != 0);
                (0..=1).contains(&n)
            }
            tcp::THIN_LINEAR_TIMEOUTS if (0..=1).contains(&n) => {
                self.note_value(fd, (SOL_TCP, name), n);
                self.with(fd, |ep, _| ep.set_thin_lto(n != 0)).is_some()
            }
            tcp::THIN_LINEAR_TIMEOUTS => false,
            tcp::SAVE_SYN | tcp::TX_DELAY => {
                self.note_value(fd, (SOL_TCP, name), n);
                true
            }
            _ => return unknown(SOL_TCP, name),
        };
        match good {
            true => Ok(()),
            false => failed(EINVAL),
        }
    }

    fn set_congestion(&mut self, fd: Fd, value: &OptValue) -> Answer<()> {
        let OptValue::Bytes(bytes) = value else {
            return failed(EINVAL);
        };
        let name: Vec<u8> = bytes.iter().copied().take_while(|&b| b != 0).collect();
        let name = String::from_utf8_lossy(&name).into_owned();
        match self.with(fd, |ep, cx| ep.set_congestion(cx, &name)) {
            Some(true) => Ok(()),
            _ => failed(ENOENT),
        }
    }

    fn set_keep(&mut self, fd: Fd, name: i32, n: i64) -> bool {
        let most = match name {
            tcp::KEEPCNT => MAX_COUNT,
            _ => MAX_KEEP_S,
        };
        if !(1..=most).contains(&n) {
            return false;
        }
        let set = self.with(fd, |ep, cx| {
            let (mut idle, mut interval, mut count) = ep.keepalive_times(cx);
            match name {
                tcp::KEEPIDLE => idle = n as u32,
                tcp::KEEPINTVL => interval = n as u32,
                _ => count = n as u8,
            }
            ep.set_keepalive_times(cx, (idle, interval, count));
        });
        set.is_some()
    }

    fn set_linger2(&mut self, fd: Fd, n: i64) -> bool {
        let seconds = n.clamp(-1, MAX_FIN_TIMEOUT_S) as i32;
        self.set_plain(fd, |plain| plain.linger2 = seconds);
        self.with(fd, |ep, cx| ep.set_linger2(cx, seconds))
            .is_some()
    }

    fn set_defer_accept(&mut self, fd: Fd, n: i64) -> bool {
        let seconds = n.max(0) as u32;
        self.set_plain(fd, |plain| plain.defer_accept = seconds);
        if let Some(id) = self.listener(fd) {
            self.stack.defer_accept(id, seconds);
        }
        true
    }

    /// `tcp_set_window_clamp()`.
    fn set_clamp(&mut self, fd: Fd, n: i64) -> bool {
        // SOCK_MIN_RCVBUF / 2.
        const LEAST: u32 = 1_152;
        if n == 0 && (self.is_conn(fd) || self.listener(fd).is_some()) {
            return false;
        }
        let bytes = match n {
            0 => 0,
            n => (n as u32).max(LEAST),
        };
        self.with(fd, |ep, cx| ep.set_window_clamp(cx, bytes))
            .is_some()
    }
}

/// TCP_DEFER_ACCEPT as it is read: Linux keeps the number of SYN-ACKs that go out in this time (`secs_to_retrans()`),
/// and tells the time of so many (`retrans_to_secs()`).
pub(super) fn deferred_s(seconds: u32) -> i64 {
    // TCP_TIMEOUT_INIT, TCP_RTO_MAX; the number is one of eight bits.
    let (mut timeout, mut period, mut count) = (1, 1, 1);
    while i64::from(seconds) > period && count < 255 {
        timeout = (timeout * 2).min(120);
        period += timeout;
        count += 1;
    }
    if seconds == 0 { 0 } else { period }
}

/// Options of Fast Open.
pub(super) fn is_fast_open(name: i32) -> bool {
    matches!(
        name,
        tcp::FASTOPEN | tcp::FASTOPEN_CONNECT | tcp::FASTOPEN_KEY | tcp::FASTOPEN_NO_COOKIE
    )
}
