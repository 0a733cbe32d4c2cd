//! Addresses and control messages as the kernel lays them out (bits/socket.h, linux/errqueue.h).

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

use tcplab_base::{Duration, Instant};
use tcplab_drill::call::{Control, ControlData, ExtendedError};

use super::clock::Clock;

/// `struct cmsghdr`: length, level, type.
const HEADER: usize = 16;
/// Control messages begin at multiples of this.
const ALIGN: usize = 8;

const SCM_TIMESTAMPING: i32 = 37;

/// A `struct sockaddr_in` or `struct sockaddr_in6`.
pub(super) fn address(addr: &SocketAddr) -> Vec<u8> {
    let (family, rest) = match addr {
        SocketAddr::V4(v4) => (libc::AF_INET, [&v4.ip().octets()[..], &[0; 8]].concat()),
        SocketAddr::V6(v6) => {
            let flow = v6.flowinfo().to_ne_bytes();
            let scope = v6.scope_id().to_ne_bytes();
            let rest = [&flow[..], &v6.ip().octets(), &scope].concat();
            (libc::AF_INET6, rest)
        }
    };
    let family = (family as u16).to_ne_bytes();
    [&family[..], &addr.port().to_be_bytes(), &rest].concat()
}

/// A `struct sockaddr` of no family.
pub(super) fn unspecified() -> Vec<u8> {
    vec![0; 16]
}

/// The address in a `struct sockaddr`; none: of another family.
pub(super) fn read_address(bytes: &[u8]) -> Option<SocketAddr> {
    let family = i32::from(u16::from_ne_bytes(*bytes.first_chunk()?));
    let port = u16::from_be_bytes(*bytes.get(2..)?.first_chunk()?);
    match family {
        libc::AF_INET => {
            let ip = Ipv4Addr::from(*bytes.get(4..)?.first_chunk::<4>()?);
            Some(SocketAddr::from((ip, port)))
        }
        libc::AF_INET6 => {
            let flow = u32::from_ne_bytes(*bytes.get(4..)?.first_chunk()?);
            let ip = Ipv6Addr::from(*bytes.get(8..)?.first_chunk::<16>()?);
            let scope = u32::from_ne_bytes(*bytes.get(24..)?.first_chunk()?);
            Some(SocketAddr::V6(SocketAddrV6::new(ip, port, flow, scope)))
        }
        _ => None,
    }
}

/// Control messages for sendmsg(2).
pub(super) fn control(messages: &[Control]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for message in messages {
        let data = match message.data {
            ControlData::Int(n) => (n as i32).to_ne_bytes().to_vec(),
            ControlData::Error(e) => extended_error(&e),
            ControlData::TimestampNs(ns) => {
                let parts = [ns.div_euclid(1_000_000_000), ns.rem_euclid(1_000_000_000)];
                let first = parts.map(i64::to_ne_bytes).concat();
                [&first[..], &[0; 32]].concat()
            }
        };
        let length = HEADER.saturating_add(data.len());
        bytes.extend_from_slice(&length.to_ne_bytes());
        bytes.extend_from_slice(&message.level.to_ne_bytes());
        bytes.extend_from_slice(&message.kind.to_ne_bytes());
        bytes.extend_from_slice(&data);
        bytes.resize(bytes.len().next_multiple_of(ALIGN), 0);
    }
    bytes
}

/// The control messages that recvmsg(2) gave.
pub(super) fn read_control(mut bytes: &[u8], clock: &Clock) -> Vec<Control> {
    let mut messages = Vec::new();
    while let Some((header, _)) = bytes.split_first_chunk::<HEADER>() {
        let length = usize::from_ne_bytes(*header.first_chunk().unwrap_or(&[0; 8]));
        let word = |at: usize| {
            i32::from_ne_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
        };
        let (level, kind) = (word(8), word(12));
        let Some(data) = bytes.get(HEADER..length) else {
            break;
        };
        if let Some(data) = read_data(level, kind, data, clock) {
            messages.push(Control { level, kind, data });
        }
        let next = length.next_multiple_of(ALIGN);
        bytes = bytes.get(next..).unwrap_or_default();
    }
    messages
}

fn read_data(level: i32, kind: i32, data: &[u8], clock: &Clock) -> Option<ControlData> {
    let number = |at: usize| Some(i64::from_ne_bytes(*data.get(at..)?.first_chunk()?));
    Some(match (level, kind) {
        (libc::SOL_SOCKET, SCM_TIMESTAMPING) => {
            let at = number(0)?
                .saturating_mul(1_000_000_000)
                .saturating_add(number(8)?);
            let since = match at {
                // No time stamp by software.
                0 => Duration::ZERO,
                at => clock.of_real(Instant::from_nanos(at)),
            };
            ControlData::TimestampNs(since.as_nanos())
        }
        (libc::SOL_IP, libc::IP_RECVERR) | (libc::SOL_IPV6, libc::IPV6_RECVERR) => {
            ControlData::Error(read_extended_error(data)?)
        }
        _ => match *data {
            [] => return None,
            [a] => ControlData::Int(a.into()),
            [a, b, c, d, ..] => ControlData::Int(i32::from_ne_bytes([a, b, c, d]).into()),
            [a, ..] => ControlData::Int(a.into()),
        },
    })
}

/// `struct sock_extended_err`.
fn extended_error(e: &ExtendedError) -> Vec<u8> {
    let mut bytes = e.errno.to_ne_bytes().to_vec();
    bytes.extend([e.origin, e.kind, e.code, 0]);
    bytes.extend(e.info.to_ne_bytes());
    bytes.extend(e.data.to_ne_bytes());
    bytes
}

fn read_extended_error(bytes: &[u8]) -> Option<ExtendedError> {
    let word = |at: usize| Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?));
    Some(ExtendedError {
        errno: word(0)?,
        origin: *bytes.get(4)?,
        kind: *bytes.get(5)?,
        code: *bytes.get(6)?,
        info: word(8)?,
        data: word(12)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_go_there_and_back() {
        for text in ["192.0.2.1:8080", "[fd3d::1]:1", "[::ffff:192.0.2.1]:65535"] {
            let addr: SocketAddr = text.parse().unwrap();
            assert_eq!(read_address(&address(&addr)), Some(addr));
        }
        assert_eq!(address(&"1.2.3.4:5".parse().unwrap()).len(), 16);
        assert_eq!(address(&"[::1]:5".parse().unwrap()).len(), 28);
        assert_eq!(read_address(&unspecified()), None);
        assert_eq!(read_address(&[2]), None);
    }

    #[test]
    fn control_messages_go_there_and_back() {
        let error = ExtendedError {
            errno: 42,
            origin: 5,
            kind: 1,
            code: 1,
            info: 3,
            data: 7,
        };
        let messages = [
            (libc::SOL_TCP, 36, ControlData::Int(-1)),
            (libc::SOL_IP, libc::IP_RECVERR, ControlData::Error(error)),
        ];
        let messages = messages.map(|(level, kind, data)| Control { level, kind, data });
        let bytes = control(&messages);
        assert_eq!(bytes.len(), 24 + 32);
        let clock = Clock::start();
        assert_eq!(read_control(&bytes, &clock), messages);
        for end in 0..bytes.len() {
            read_control(&bytes[..end], &clock);
        }
    }
}
