//! SOL_IP and SOL_IPV6 (Linux `do_ip_setsockopt()`, `do_ipv6_setsockopt()`).

use tcplab_tcp::Segment;

use super::super::Model;
use super::super::fds::Kind;
use super::super::numbers::errno::{EINVAL, ENOPROTOOPT, ENOTCONN};
use super::super::numbers::{AF_INET, SOL_IP, SOL_IPV6, SOL_SOCKET, ip, so};
use super::super::wire::TTL;
use super::{Answer, failed, int, unknown};
use crate::call::{Fd, OptValue};

/// `IP_PMTUDISC_WANT`, `IPV6_PMTUDISC_WANT`: without net.ipv4.ip_no_pmtu_disc, which the model lacks.
const PMTUDISC_WANT: i64 = 1;
/// The options of both families.
pub(super) const MTU_DISCOVER: (i32, i32) = (SOL_IP, ip::MTU_DISCOVER);
pub(super) const V6_MTU_DISCOVER: (i32, i32) = (SOL_IPV6, ip::V6_MTU_DISCOVER);
/// The ECN bits of a traffic class.
const ECN: u8 = 3;

impl Model {
    pub(super) fn set_ip(
        &mut self,
        fd: Fd,
        option: (i32, i32),
        value: &OptValue,
        len: u32,
    ) -> Answer<()> {
        self.has_level(fd, option.0)?;
        // do_ip_setsockopt(): one byte will do.
        let len = if option.0 == SOL_IP && len > 0 {
            4
        } else {
            len
        };
        let n = int(value, len)?;
        match option {
            (SOL_IP, ip::TOS) => self.set_tos(fd, option, n as u8),
            (SOL_IPV6, ip::V6_TCLASS) => {
                if !(-1..=255).contains(&n) {
                    return failed(EINVAL);
                }
                self.set_tos(fd, option, n.max(0) as u8);
            }
            (SOL_IP, ip::TTL) => {
                if !matches!(n, -1 | 1..=255) {
                    return failed(EINVAL);
                }
                self.note_value(fd, option, n);
            }
            (SOL_IP, ip::RECVERR) | (SOL_IPV6, ip::V6_RECVERR) => {
                self.set_plain(fd, |plain| plain.recverr = n != 0);
                self.note_value(fd, option, i64::from(n != 0));
            }
            (SOL_IP, ip::MTU_DISCOVER) | (SOL_IPV6, ip::V6_MTU_DISCOVER) => {
                if !(0..=5).contains(&n) {
                    return failed(EINVAL);
                }
                self.note_value(fd, option, n);
            }
            (SOL_IP, ip::FREEBIND | ip::TRANSPARENT | ip::BIND_ADDRESS_NO_PORT)
            | (SOL_IPV6, ip::V6_FREEBIND | ip::V6_TRANSPARENT | ip::V6_V6ONLY) => {
                self.note_value(fd, option, i64::from(n != 0));
            }
            (level, name) => return unknown(level, name),
        }
        Ok(())
    }

    pub(super) fn get_ip(&mut self, fd: Fd, option: (i32, i32)) -> Answer<i64> {
        self.has_level(fd, option.0)?;
        Ok(match option {
            (SOL_IP, ip::TOS) | (SOL_IPV6, ip::V6_TCLASS) => {
                match self.with(fd, |ep, _| i64::from(ep.tos())) {
                    Some(tos) if self.is_of_packets(option) => tos,
                    _ => self.noted(fd, option),
                }
            }
            (SOL_IP, ip::MTU) | (SOL_IPV6, ip::V6_MTU) => {
                if !self.is_conn(fd) {
                    return failed(ENOTCONN);
                }
                self.with(fd, |ep, _| i64::from(ep.path_mtu())).unwrap_or(0)
            }
            (SOL_IP, ip::TTL) => match self.noted(fd, option) {
                0 | -1 => i64::from(self.stack.host.sysctl.ip_default_ttl),
                ttl => ttl,
            },
            (SOL_IP, ip::MTU_DISCOVER) | (SOL_IPV6, ip::V6_MTU_DISCOVER) => {
                let value = self
                    .files
                    .socket(fd)
                    .and_then(|s| s.plain.noted.get(&option));
                value.copied().unwrap_or(PMTUDISC_WANT)
            }
            (SOL_IP, ip::RECVERR | ip::FREEBIND | ip::TRANSPARENT | ip::BIND_ADDRESS_NO_PORT)
            | (SOL_IPV6, ip::V6_RECVERR | ip::V6_FREEBIND)
            | (SOL_IPV6, ip::V6_TRANSPARENT | ip::V6_V6ONLY) => self.noted(fd, option),
            (level, name) => return unknown(level, name),
        })
    }

    /// `ip_setsockopt()`: sockets of IPv4 have no options of IPv6.
    fn has_level(&self, fd: Fd, level: i32) -> Answer<()> {
        match self.need_socket(fd)?.domain == AF_INET && level == SOL_IPV6 {
            true => failed(ENOPROTOOPT),
            false => Ok(()),
        }
    }

    /// Whether an option of this level is about the packets of the script: IPv4's or IPv6's.
    fn is_of_packets(&self, (level, _): (i32, i32)) -> bool {
        (level == SOL_IP) == self.network.local.is_ipv4()
    }

    /// `__ip_sock_set_tos()`, IPV6_TCLASS. The ECN bits of TCP are its own.
    fn set_tos(&mut self, fd: Fd, option: (i32, i32), byte: u8) {
        let before = self.get_ip(fd, option).unwrap_or(0) as u8;
        let is_udp = self.udp(fd).is_some();
        let now = if is_udp {
            byte
        } else {
            byte & !ECN | before & ECN
        };
        self.note_value(fd, option, i64::from(now));
        if self.is_of_packets(option) {
            self.with(fd, |ep, _| ep.set_tos(now));
        }
        if option.0 == SOL_IP && now != before {
            self.note_value(fd, (SOL_SOCKET, so::PRIORITY), priority(now));
        }
    }

    /// The byte of a UDP socket's datagrams.
    pub(in super::super) fn udp_tos(&self, fd: Fd) -> u8 {
        let option = match self.network.local.is_ipv4() {
            true => (SOL_IP, ip::TOS),
            false => (SOL_IPV6, ip::V6_TCLASS),
        };
        self.noted(fd, option) as u8
    }

    /// The time to live of a socket's packets (`ip_select_ttl()`); IPv6 has its own option, which the model lacks.
    pub(in super::super) fn udp_ttl(&self, fd: Fd) -> u8 {
        let own = u8::try_from(self.noted(fd, (SOL_IP, ip::TTL))).ok();
        match (self.network.local.is_ipv4(), own) {
            (false, _) => TTL,
            (true, Some(own @ 1..)) => own,
            (true, _) => self.stack.host.sysctl.ip_default_ttl,
        }
    }

    /// The time to live of a segment: of the connection's socket, or before accept(2) of its listener.
    pub(in super::super) fn ttl_of(&mut self, segment: &Segment) -> u8 {
        if !self.network.local.is_ipv4() {
            return TTL;
        }
        let ends = (segment.src, segment.dst);
        let (stack, mut of_listener) = (&mut self.stack, None);
        for (_, socket) in self.files.sockets_mut() {
            let Some(&ttl) = socket.plain.noted.get(&(SOL_IP, ip::TTL)) else {
                continue;
            };
            match socket.kind {
                Kind::Conn(id) => {
                    let own = stack.get(id).map(|ep| (ep.local(), ep.remote()));
                    if own == Some(ends) {
                        self.ttls.retain(|(of, _)| *of != ends);
                        self.ttls.extend(u8::try_from(ttl).map(|ttl| (ends, ttl)));
                    }
                }
                Kind::Listener(_) if socket.bound.is_some_and(|own| own.port == ends.0.port) => {
                    of_listener = u8::try_from(ttl).ok();
                }
                _ => {}
            }
        }
        let own = self.ttls.iter().find(|(of, _)| *of == ends);
        let default = stack.host.sysctl.ip_default_ttl;
        own.map(|(_, ttl)| *ttl).or(of_listener).unwrap_or(default)
    }
}

/// `rt_tos2priority()`.
fn priority(tos: u8) -> i64 {
    // TC_PRIO_BESTEFFORT, _BULK, _INTERACTIVE, _INTERACTIVE_BULK.
    match (tos & 0x1e) >> 1 {
        0..=3 => 0,
        4..=7 => 2,
        8..=11 => 6,
        _ => 4,
    }
}
