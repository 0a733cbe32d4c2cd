//! getsockopt(2) (Linux `sk_getsockopt()`, `do_tcp_getsockopt()`).

use super::super::Model;
use super::super::fds::Kind;
use super::super::info;
use super::super::numbers::errno::{EINVAL, ENOPROTOOPT};
use super::super::numbers::{
    IPPROTO_TCP, IPPROTO_UDP, SOCK_DGRAM, SOCK_STREAM, SOL_IP, SOL_IPV6, SOL_SOCKET, SOL_TCP,
    SOL_UDP, so, tcp,
};
use super::socket::is_harmless;
use super::tcp::{deferred_s, is_fast_open};
use super::{Answer, errno_of, failed, unknown};
use crate::call::{Fd, OptValue, Outcome, Output};

/// `TCP_CA_NAME_MAX`.
const CA_NAME: usize = 16;

impl Model {
    pub(in super::super) fn getsockopt(
        &mut self,
        fd: Fd,
        (level, name): (i32, i32),
        len: u32,
    ) -> Answer<Outcome> {
        self.need_socket(fd)?;
        if (len as i32) < 0 {
            return failed(EINVAL);
        }
        let value = match (level, name) {
            (SOL_TCP, tcp::INFO | tcp::CONGESTION) => self.get_bytes(fd, name, len)?,
            (SOL_SOCKET, so::LINGER) => self.get_linger(fd),
            (SOL_TCP, name) if is_fast_open(name) => {
                self.tcp_option(fd)?;
                self.get_fast_open(fd, name)
            }
            (SOL_SOCKET, _) => OptValue::Int(self.get_socket(fd, name)?),
            (SOL_TCP, _) => OptValue::Int(self.get_tcp(fd, name)?),
            (SOL_IP | SOL_IPV6, _) => OptValue::Int(self.get_ip(fd, (level, name))?),
            (SOL_UDP, name) if self.udp(fd).is_some() => return unknown(SOL_UDP, name),
            _ => return failed(ENOPROTOOPT),
        };
        Ok(Outcome::gave(0, Output::Opt(value)))
    }

    fn get_linger(&mut self, fd: Fd) -> OptValue {
        let linger = self.files.socket(fd).map(|socket| socket.plain.linger);
        let (onoff, seconds) = linger.unwrap_or_default();
        OptValue::Linger {
            onoff: i32::from(onoff),
            linger: seconds as i32,
        }
    }

    fn get_bytes(&mut self, fd: Fd, name: i32, len: u32) -> Answer<OptValue> {
        let bytes = match name {
            tcp::INFO => {
                let fields = self.with(fd, |ep, cx| ep.info(cx));
                fields.map(|fields| info::bytes(&fields))
            }
            _ => self.with(fd, |ep, _| {
                let mut bytes = ep.congestion_name().as_bytes().to_vec();
                bytes.resize(CA_NAME, 0);
                bytes
            }),
        };
        let Some(mut bytes) = bytes else {
            return failed(ENOPROTOOPT);
        };
        bytes.truncate(len as usize);
        Ok(OptValue::Bytes(bytes))
    }

    fn get_socket(&mut self, fd: Fd, name: i32) -> Answer<i64> {
        let socket = self.need_socket(fd)?;
        let is_udp = matches!(socket.kind, Kind::Udp(_));
        Ok(match name {
            so::ERROR => {
                let error = match self.udp(fd) {
                    Some(udp) => udp.error.take(),
                    None => self.with(fd, |ep, _| ep.take_error()).flatten(),
                };
                error.map_or(0, |error| i64::from(errno_of(error)))
            }
            so::SNDBUF | so::RCVBUF if is_udp => self.udp_room(fd, name),
            so::SNDBUF => self.with(fd, |ep, _| i64::from(ep.sndbuf())).unwrap_or(0),
            so::RCVBUF => self.with(fd, |ep, _| i64::from(ep.rcvbuf())).unwrap_or(0),
            so::MAX_PACING_RATE => {
                let rate = self.with(fd, |ep, _| ep.max_pacing_rate());
                i64::from(rate.unwrap_or(u32::MAX) as i32)
            }
            so::RCVLOWAT => {
                let bytes = self.with(fd, |ep, _| ep.rcvlowat());
                i64::from(bytes.unwrap_or(1))
            }
            so::KEEPALIVE => i64::from(self.with(fd, |ep, _| ep.keepalive()) == Some(true)),
            so::REUSEADDR => socket.plain.reuseaddr,
            so::ZEROCOPY => i64::from(socket.zerocopy.is_enabled()),
            so::TIMESTAMPING | so::TIMESTAMPING_NEW => i64::from(socket.stamps.flags),
            so::TYPE if is_udp => i64::from(SOCK_DGRAM),
            so::TYPE => i64::from(SOCK_STREAM),
            so::PROTOCOL if is_udp => i64::from(IPPROTO_UDP),
            so::PROTOCOL => i64::from(IPPROTO_TCP),
            so::DOMAIN => i64::from(socket.domain),
            so::ACCEPTCONN => i64::from(matches!(socket.kind, Kind::Listener(_))),
            name if is_harmless(name) => self.noted(fd, (SOL_SOCKET, name)),
            _ => return unknown(SOL_SOCKET, name),
        })
    }

    fn get_tcp(&mut self, fd: Fd, name: i32) -> Answer<i64> {
        self.tcp_option(fd)?;
        if let Some(value) = self.get_plain_tcp(fd, name) {
            return Ok(value);
        }
        let is_listener = self.listener(fd).is_some();
        let value = self.with(fd, |ep, cx| {
            let sysctl = &cx.host.sysctl;
            let (idle, interval, count) = ep.keepalive_times(cx);
            let or = |own: u32, other: u32| i64::from(if own == 0 { other } else { own });
            let probes = u32::from(sysctl.tcp_keepalive_probes);
            let retries = u32::from(sysctl.tcp_syn_retries);
            Some(match name {
                tcp::NODELAY => i64::from(ep.nodelay()),
                tcp::CORK => i64::from(ep.cork()),
                tcp::MAXSEG => i64::from(ep.maxseg(is_listener)),
                tcp::QUICKACK => i64::from(ep.quickack(cx)),
                tcp::USER_TIMEOUT => i64::from(ep.user_timeout()),
                tcp::RTO_MIN_US => i64::from(ep.rto_min_us(cx)),
                tcp::DELACK_MAX_US => i64::from(ep.delack_max_us(cx)),
                tcp::NOTSENT_LOWAT => i64::from(ep.notsent_lowat() as i32),
                tcp::KEEPIDLE => or(idle, sysctl.tcp_keepalive_time),
                tcp::KEEPINTVL => or(interval, sysctl.tcp_keepalive_intvl),
                tcp::KEEPCNT => or(u32::from(count), probes),
                tcp::SYNCNT => or(u32::from(ep.syn_count()), retries),
                tcp::WINDOW_CLAMP => i64::from(ep.window_clamp()),
                _ => return None,
            })
        });
        match value.flatten() {
            Some(value) => Ok(value),
            None => unknown(SOL_TCP, name),
        }
    }

    /// Those of SOL_TCP that no endpoint knows.
    fn get_plain_tcp(&mut self, fd: Fd, name: i32) -> Option<i64> {
        let plain = &self.files.socket(fd)?.plain;
        Some(match name {
            tcp::LINGER2 if plain.linger2 == 0 => i64::from(self.stack.host.sysctl.tcp_fin_timeout),
            tcp::LINGER2 => i64::from(plain.linger2),
            tcp::DEFER_ACCEPT => deferred_s(plain.defer_accept),
            tcp::INQ => i64::from(plain.inq),
            tcp::TIMESTAMP => i64::from(self.stack.host.clock.millis(self.now)),
            tcp::THIN_LINEAR_TIMEOUTS | tcp::SAVE_SYN | tcp::TX_DELAY => {
                self.noted(fd, (SOL_TCP, name))
            }
            _ => return None,
        })
    }
}
