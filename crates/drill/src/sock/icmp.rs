//! ICMP and ICMPv6 errors about segments of ours: from type and code to what TCP makes of them (Linux
//! `icmp_err_convert[]`, `icmpv6_err_convert()`).

use tcplab_tcp::{ConnId, IcmpError, SocketError, Unreachable};

use super::Model;
use super::errqueue::Entry;
use super::fds::Kind;
use super::numbers::{SO_EE_ORIGIN_ICMP, SO_EE_ORIGIN_ICMP6};
use super::options::errno_of;
use super::wire::{Icmp, Says};
use crate::call::{ExtendedError, Fd};

/// Less than that no path of IPv6 takes (RFC 8200 5).
const IPV6_MIN_MTU: u32 = 1280;

impl Model {
    pub(super) fn on_icmp(&mut self, icmp: &Icmp) {
        if icmp.is_udp {
            return self.udp_error(icmp);
        }
        let Some(meaning) = meaning(&icmp.says) else {
            return;
        };
        let recverr = self.wants_errors(icmp);
        let what = error_of(&icmp.says, meaning, recverr.is_some());
        let (local, remote) = (icmp.local, icmp.remote);
        match meaning {
            Meaning::Smaller(_) => {
                self.stack.on_icmp(self.now, local, remote, icmp.seq, what);
            }
            Meaning::Error(error) => {
                let ended = (self.stack).on_icmp(self.now, local, remote, icmp.seq, what);
                // Linux queues what ends an open; a connection that stands has the error only.
                if let Some(fd) = recverr.filter(|_| ended) {
                    self.queue_error(fd, icmp, error);
                }
            }
        }
    }

    /// The descriptor of the connection, when it has IP_RECVERR.
    fn wants_errors(&mut self, icmp: &Icmp) -> Option<Fd> {
        let stack = &mut self.stack;
        self.files.sockets_mut().find_map(|(fd, socket)| {
            let id: ConnId = match socket.kind {
                Kind::Conn(id) if socket.plain.recverr => id,
                _ => return None,
            };
            let ep = stack.get(id)?;
            (ep.local() == icmp.local && ep.remote() == icmp.remote).then_some(fd)
        })
    }

    pub(super) fn queue_error(&mut self, fd: Fd, icmp: &Icmp, error: SocketError) {
        let entry = Entry {
            error: ExtendedError {
                errno: errno_of(error) as u32,
                origin: match icmp.says.is_v6 {
                    true => SO_EE_ORIGIN_ICMP6,
                    false => SO_EE_ORIGIN_ICMP,
                },
                kind: icmp.says.kind,
                code: icmp.says.code,
                info: 0,
                data: 0,
            },
            stamp_ns: None,
            len: 0,
        };
        if let Some(socket) = self.files.socket_mut(fd) {
            socket.errors.push(entry);
        }
        self.wake(fd, super::poll_err());
    }
}

/// TCP's reaction to an ICMP or ICMPv6 error about a segment, on a socket without IP_RECVERR; `None`: it
/// ignores the error.
pub fn icmp_error(of: &tcplab_wire::Quotation) -> Option<IcmpError> {
    let says = Says {
        is_v6: of.is_v6,
        kind: of.kind,
        code: of.code,
        mtu: of.mtu,
    };
    meaning(&says).map(|meaning| error_of(&says, meaning, false))
}

fn error_of(icmp: &Says, meaning: Meaning, at_once: bool) -> IcmpError {
    match meaning {
        Meaning::Smaller(mtu) => IcmpError::FragmentationNeeded(mtu),
        Meaning::Error(error) => IcmpError::Unreachable(Unreachable {
            error,
            ends_request: ends_request(icmp),
            path_broken: match icmp.is_v6 {
                false => icmp.kind == 3 && icmp.code <= 1,
                true => icmp.kind == 1 && icmp.code == 0,
            },
            is_v6: icmp.is_v6,
            at_once,
        }),
    }
}

/// What TCP makes of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    Error(SocketError),
    /// The path takes packets of so many bytes only.
    Smaller(u32),
}

/// What a message says; none: TCP does not care.
pub(super) fn meaning(icmp: &Says) -> Option<Meaning> {
    let error = match (icmp.is_v6, icmp.kind) {
        (false, 3) if icmp.code == 4 => return Some(Meaning::Smaller(icmp.mtu)),
        (false, 3) => unreachable_v4(icmp.code)?,
        (false, 11) => SocketError::HostUnreach,
        (false, 12) => SocketError::Protocol,
        (true, 2) if icmp.mtu < IPV6_MIN_MTU => return None,
        (true, 2) => return Some(Meaning::Smaller(icmp.mtu)),
        (true, 1) => match icmp.code {
            0 => SocketError::NetUnreach,
            1 | 5 | 6 => SocketError::Access,
            2 | 3 => SocketError::HostUnreach,
            4 => SocketError::ConnRefused,
            _ => SocketError::Protocol,
        },
        (true, 3) => SocketError::HostUnreach,
        (true, 4) => SocketError::Protocol,
        _ => return None,
    };
    Some(Meaning::Error(error))
}

/// Whether a message ends a handshake that no socket knows yet: `abort` of `tcp_req_err()`, in IPv6 `fatal` of
/// `icmpv6_err_convert()`.
fn ends_request(icmp: &Says) -> bool {
    match (icmp.is_v6, icmp.kind) {
        (false, 3) => icmp.code <= 1,
        (false, _) => true,
        (true, 1) => !matches!(icmp.code, 0 | 2 | 3),
        (true, kind) => kind == 4,
    }
}

/// Whether what a message says will not pass by itself: `fatal` of `icmp_err_convert[]` and of `icmpv6_err_convert()`.
pub(super) fn is_fatal(icmp: &Says) -> bool {
    match (icmp.is_v6, icmp.kind) {
        (false, 3) => matches!(icmp.code, 2 | 3 | 6..=10 | 13..=15),
        (false, kind) => kind == 12,
        (true, _) => ends_request(icmp),
    }
}

/// `icmp_err_convert[]`.
fn unreachable_v4(code: u8) -> Option<SocketError> {
    Some(match code {
        0 | 6 | 9 | 11 => SocketError::NetUnreach,
        1 | 10 | 12..=15 => SocketError::HostUnreach,
        2 => SocketError::NoProtocol,
        3 => SocketError::ConnRefused,
        5 => SocketError::NotSupported,
        7 => SocketError::HostDown,
        8 => SocketError::NoNetwork,
        _ => return None,
    })
}
