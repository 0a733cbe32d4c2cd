//! Generic netlink (linux/genetlink.h): the metrics that TCP remembers of addresses.

use std::io;

use netlink_packet_core::{NLM_F_ACK, NLM_F_REQUEST};
use netlink_sys::protocols::NETLINK_GENERIC;

use super::{Netlink, attribute, connected, message};

/// linux/genetlink.h and linux/tcp_metrics.h.
const GENL_ID_CTRL: u16 = 16;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
const TCP_METRICS_CMD_DEL: u8 = 2;

/// Bytes of `struct genlmsghdr`.
const HEADER: usize = 4;

/// `ip tcp_metrics flush all`.
pub fn flush_tcp_metrics() -> io::Result<()> {
    let netlink = Netlink(connected(NETLINK_GENERIC)?);
    let name = name_attribute(b"tcp_metrics\0");
    let answer = ask(&netlink, GENL_ID_CTRL, (CTRL_CMD_GETFAMILY, 0), &name)?;
    let family = attribute(&answer, CTRL_ATTR_FAMILY_ID)
        .and_then(|bytes| Some(u16::from_ne_bytes(*bytes.first_chunk()?)))
        .ok_or_else(|| io::Error::other("the kernel keeps no TCP metrics"))?;
    ask(&netlink, family, (TCP_METRICS_CMD_DEL, NLM_F_ACK), &[]).map(drop)
}

/// Sends one request of generic netlink; gives what is behind the header of the answer.
fn ask(
    netlink: &Netlink,
    family: u16,
    (command, flags): (u8, u16),
    attributes: &[u8],
) -> io::Result<Vec<u8>> {
    let body = [&[command, 1, 0, 0], attributes].concat();
    let bytes = message(family, NLM_F_REQUEST | flags, &body);
    netlink.0.send(&bytes, 0)?;
    let answer = netlink.answer()?;
    Ok(answer.get(HEADER..).unwrap_or_default().to_vec())
}

fn name_attribute(name: &[u8]) -> Vec<u8> {
    let length = name.len() as u16 + 4;
    let head = [length, CTRL_ATTR_FAMILY_NAME].map(u16::to_ne_bytes);
    let mut bytes = [head.as_flattened(), name].concat();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}
