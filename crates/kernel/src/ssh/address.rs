//! Addresses by which two machines reach each other.

use std::net::IpAddr;

use tcplab_plan::point::Ip;

use super::SshError;
use super::session::Session;

/// Those of two machines.
///
/// # Errors
/// One that is not known; two of different protocols.
pub(super) fn of(a: &Session, b: &Session) -> Result<[IpAddr; 2], SshError> {
    let addresses = [a.need_address()?, b.need_address()?];
    if addresses[0].is_ipv4() == addresses[1].is_ipv4() {
        return Ok(addresses);
    }
    let words = format!(
        "{} and {} are of different protocols: write {}=ADDRESS, so that both are IPv4 or both IPv6",
        addresses[0], addresses[1], b.host.word
    );
    Err(b.far(words))
}

/// Whether they are of the point's protocol. `names`: the machines as the user has named them.
///
/// # Errors
/// What to write instead.
pub(super) fn fits([a, b]: [&str; 2], addresses: &[IpAddr; 2], ip: Ip) -> Result<(), String> {
    match (addresses[0].is_ipv4(), ip) {
        (true, Ip::V4) | (false, Ip::V6) => Ok(()),
        (false, Ip::V4) => Err(format!(
            "{a} and {b} have IPv6 addresses, and run.ip is \"ipv4\": set run.ip = \"ipv6\", or write \
                 ssh:{a}=ADDRESS,{b}=ADDRESS with IPv4 addresses"
        )),
        (true, Ip::V6) => Err(format!(
            "{a} and {b} have IPv4 addresses, and run.ip is \"ipv6\": write ssh:{a}=ADDRESS,{b}=ADDRESS with \
                 IPv6 addresses"
        )),
    }
}
