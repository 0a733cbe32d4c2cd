//! ICMP errors in words (RFC 792, RFC 1812 5.2.7.1, RFC 4443 3.1).

use std::net::IpAddr;

use tcplab_wire::IcmpError;

/// Why a packet was not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    Net,
    Host,
    Protocol,
    Port,
    Prohibited,
    TimeExceeded,
    Other,
}

impl Reason {
    pub(super) fn of(error: &IcmpError) -> Self {
        match (error.from, error.kind, error.code) {
            (IpAddr::V4(_), 3, 0 | 6 | 8 | 11) | (IpAddr::V6(_), 1, 0) => Self::Net,
            (IpAddr::V4(_), 3, 1 | 7 | 12) | (IpAddr::V6(_), 1, 2 | 3) => Self::Host,
            (IpAddr::V4(_), 3, 2) => Self::Protocol,
            (IpAddr::V4(_), 3, 3) | (IpAddr::V6(_), 1, 4) => Self::Port,
            (IpAddr::V4(_), 3, 9 | 10 | 13) | (IpAddr::V6(_), 1, 1 | 5 | 6) => Self::Prohibited,
            (IpAddr::V4(_), 11, 0) | (IpAddr::V6(_), 3, 0) => Self::TimeExceeded,
            _ => Self::Other,
        }
    }

    /// As it stands in RFCs and tools.
    pub(super) fn name(self, v6: bool) -> &'static str {
        match self {
            Self::Net if v6 => "no route to destination",
            Self::Net => "network unreachable",
            Self::Host if v6 => "address unreachable",
            Self::Host => "host unreachable",
            Self::Protocol => "protocol unreachable",
            Self::Port => "port unreachable",
            Self::Prohibited => "administratively prohibited",
            Self::TimeExceeded => "time exceeded",
            Self::Other => "an error",
        }
    }
}

/// The error with its numbers: `ICMP host unreachable (type 3, code 1)`.
pub(super) fn named(error: &IcmpError) -> String {
    let v6 = error.from.is_ipv6();
    let protocol = if v6 { "ICMPv6" } else { "ICMP" };
    let name = Reason::of(error).name(v6);
    format!(
        "{protocol} {name} (type {}, code {})",
        error.kind, error.code
    )
}
