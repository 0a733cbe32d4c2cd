//! The answers of the kernel to "which qdiscs, which classes are there", with their attributes as bytes: the library's
//! reader knows few kinds and refuses what it finds odd.

use std::io;

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::TcMessage;

use tcplab_os::netlink::Netlink;

/// A qdisc or a class.
pub(super) struct Found {
    pub(super) parent: u32,
    pub(super) handle: u32,
    pub(super) attributes: Vec<u8>,
}

/// All qdiscs of an interface.
pub(super) fn qdiscs(netlink: &Netlink, index: i32) -> io::Result<Vec<Found>> {
    let ask = RouteNetlinkMessage::GetQueueDiscipline(TcMessage::with_index(index));
    found(netlink.dump(ask)?, index)
}

/// All classes of an interface.
pub(super) fn classes(netlink: &Netlink, index: i32) -> io::Result<Vec<Found>> {
    let ask = RouteNetlinkMessage::GetTrafficClass(TcMessage::with_index(index));
    found(netlink.dump(ask)?, index)
}

fn found(answers: Vec<Vec<u8>>, index: i32) -> io::Result<Vec<Found>> {
    let all = answers.iter().map(|bytes| one(bytes));
    let all: Option<Vec<(i32, Found)>> = all.collect();
    let all = all.ok_or_else(|| io::Error::other("a qdisc without `struct tcmsg`"))?;
    // Kernels answer for all interfaces.
    let here = all.into_iter().filter(|(of, _)| *of == index);
    Ok(here.map(|(_, found)| found).collect())
}

/// `struct tcmsg`, then attributes.
fn one(bytes: &[u8]) -> Option<(i32, Found)> {
    let word = |at: usize| Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
    let found = Found {
        handle: word(8)?,
        parent: word(12)?,
        attributes: bytes.get(20..)?.to_vec(),
    };
    Some((word(4)?.cast_signed(), found))
}
