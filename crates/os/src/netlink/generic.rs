//! Generic netlink (linux/genetlink.h): the metrics that TCP remembers of addresses.

use std::io;

use netlink_packet_core::NLM_F_REQUEST;
use netlink_sys::protocols::NETLINK_GENERIC;
use netlink_sys::{Socket, SocketAddr};

/// linux/genetlink.h and linux/tcp_metrics.h.
const GENL_ID_CTRL: u16 = 16;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
const TCP_METRICS_CMD_DEL: u8 = 2;
const NLMSG_ERROR: u16 = 2;
const NLM_F_ACK: u16 = 4;

/// Bytes of `struct nlmsghdr` and of `struct genlmsghdr`.
const NETLINK_HEADER: usize = 16;
const GENERIC_HEADER: usize = 4;

/// `ip tcp_metrics flush all`.
pub fn flush_tcp_metrics() -> io::Result<()> {
    let mut socket = Socket::new(NETLINK_GENERIC)?;
    socket.bind_auto()?;
    socket.connect(&SocketAddr::new(0, 0))?;
    let mut name = attribute(CTRL_ATTR_FAMILY_NAME, b"tcp_metrics\0");
    let answer = ask(
        &socket,
        GENL_ID_CTRL,
        (CTRL_CMD_GETFAMILY, NLM_F_REQUEST),
        &mut name,
    )?;
    let family = find(&answer, CTRL_ATTR_FAMILY_ID)
        .and_then(|bytes| Some(u16::from_ne_bytes(*bytes.first_chunk()?)))
        .ok_or_else(|| io::Error::other("the kernel keeps no TCP metrics"))?;
    let flags = NLM_F_REQUEST | NLM_F_ACK;
    ask(
        &socket,
        family,
        (TCP_METRICS_CMD_DEL, flags),
        &mut Vec::new(),
    )
    .map(drop)
}

/// Sends one request of generic netlink; gives what is behind the header of the answer.
fn ask(
    socket: &Socket,
    family: u16,
    (command, flags): (u8, u16),
    attributes: &mut Vec<u8>,
) -> io::Result<Vec<u8>> {
    let length = NETLINK_HEADER + GENERIC_HEADER + attributes.len();
    let mut bytes = (length as u32).to_ne_bytes().to_vec();
    bytes.extend(family.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend([0; 8]);
    bytes.extend([command, 1, 0, 0]);
    bytes.append(attributes);
    socket.send(&bytes, 0)?;
    let (answer, _) = socket.recv_from_full()?;
    let half = |at: usize| Some(u16::from_ne_bytes(*answer.get(at..)?.first_chunk()?));
    let rest = answer.get(NETLINK_HEADER..).unwrap_or_default();
    if half(4) == Some(NLMSG_ERROR) {
        let code = rest.first_chunk().map_or(0, |c| i32::from_ne_bytes(*c));
        if code != 0 {
            return Err(io::Error::from_raw_os_error(-code));
        }
    }
    Ok(rest.get(GENERIC_HEADER..).unwrap_or_default().to_vec())
}

fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = value.len() as u16 + 4;
    let mut bytes = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
    bytes.extend_from_slice(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// The value of an attribute.
fn find(mut attributes: &[u8], wanted: u16) -> Option<&[u8]> {
    loop {
        let length = usize::from(u16::from_ne_bytes(*attributes.first_chunk()?));
        let kind = u16::from_ne_bytes(*attributes.get(2..)?.first_chunk()?);
        let value = attributes.get(4..length)?;
        if kind == wanted {
            return Some(value);
        }
        attributes = attributes.get(length.next_multiple_of(4)..)?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_are_found() {
        let two = [attribute(2, b"name\0"), attribute(1, &[7, 0])].concat();
        assert_eq!(find(&two, 1), Some(&[7, 0][..]));
        assert_eq!(find(&two, 2), Some(&b"name\0"[..]));
        assert_eq!(find(&two, 3), None);
        assert_eq!(find(&[0, 0, 0, 0], 3), None);
    }
}
