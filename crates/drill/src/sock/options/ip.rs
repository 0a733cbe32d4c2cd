//! SOL_IP and SOL_IPV6 (Linux `do_ip_setsockopt()`, `do_ipv6_setsockopt()`).

use super::super::Model;
use super::super::numbers::errno::{EINVAL, ENOTCONN};
use super::super::numbers::{SOL_IP, SOL_IPV6, ip};
use super::{Answer, failed, int, unknown};
use crate::call::{Fd, OptValue};

impl Model {
    pub(super) fn set_ip(
        &mut self,
        fd: Fd,
        option: (i32, i32),
        value: &OptValue,
        len: u32,
    ) -> Answer<()> {
        // do_ip_setsockopt(): one byte will do.
        let len = if option.0 == SOL_IP && len > 0 {
            4
        } else {
            len
        };
        let n = int(value, len)?;
        match option {
            (SOL_IP, ip::TOS) | (SOL_IPV6, ip::V6_TCLASS) => {
                if !(-1..=255).contains(&n) {
                    return failed(EINVAL);
                }
                self.with(fd, |ep, _| ep.set_tos(n.max(0) as u8));
            }
            (SOL_IP, ip::RECVERR) | (SOL_IPV6, ip::V6_RECVERR) => {
                self.set_plain(fd, |plain| plain.recverr = n != 0);
                self.note_value(fd, option, n);
            }
            (SOL_IP, ip::MTU_DISCOVER) | (SOL_IPV6, ip::V6_MTU_DISCOVER) => {
                if !(0..=5).contains(&n) {
                    return failed(EINVAL);
                }
                self.note_value(fd, option, n);
            }
            (SOL_IP, ip::TTL | ip::FREEBIND | ip::TRANSPARENT | ip::BIND_ADDRESS_NO_PORT)
            | (SOL_IPV6, ip::V6_FREEBIND | ip::V6_TRANSPARENT | ip::V6_V6ONLY) => {
                self.note_value(fd, option, n);
            }
            (level, name) => return unknown(level, name),
        }
        Ok(())
    }

    pub(super) fn get_ip(&mut self, fd: Fd, option: (i32, i32)) -> Answer<i64> {
        Ok(match option {
            (SOL_IP, ip::TOS) | (SOL_IPV6, ip::V6_TCLASS) => {
                self.with(fd, |ep, _| i64::from(ep.tos())).unwrap_or(0)
            }
            (SOL_IP, ip::MTU) | (SOL_IPV6, ip::V6_MTU) => {
                if !self.is_conn(fd) {
                    return failed(ENOTCONN);
                }
                self.with(fd, |ep, _| i64::from(ep.path_mtu())).unwrap_or(0)
            }
            (SOL_IP, ip::TTL) => 64,
            (SOL_IP, ip::MTU_DISCOVER | ip::RECVERR | ip::FREEBIND | ip::TRANSPARENT)
            | (SOL_IPV6, ip::V6_MTU_DISCOVER | ip::V6_RECVERR | ip::V6_FREEBIND)
            | (SOL_IPV6, ip::V6_TRANSPARENT | ip::V6_V6ONLY) => self.noted(fd, option),
            (level, name) => return unknown(level, name),
        })
    }
}
