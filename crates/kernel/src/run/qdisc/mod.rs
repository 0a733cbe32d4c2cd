//! The kernel's qdisc at the root of an interface: tc's words, which a guest has no tc for, as the messages that tc sends.
//!
//! Each kind has a file that writes its `TCA_OPTIONS` (linux/pkt_sched.h); [`stats`] reads back what they counted.
//! Tests compare with what tc 6.1 sends. The tables of transmission times (`TCA_TBF_RTAB` and the like) are left out: a kernel
//! that is told the link layer does not use them.

mod attributes;
mod cake;
mod codel;
mod fq;
mod htb;
mod netem;
mod rate;
mod red;
pub(crate) mod stats;
mod tbf;
#[cfg(test)]
mod tests;

use netlink_packet_core::DefaultNla;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage};
use tcplab_plan::point::Direction;
use tcplab_qdisc::kinds::prio::Settings as Prio;
use tcplab_qdisc::{Kind, Settings};

use super::error::{Context, RunError};
use super::netlink::{Netlink, index};

/// linux/rtnetlink.h.
const TCA_OPTIONS: u16 = 2;

/// Sets the qdisc of an interface for what leaves through it.
pub(crate) fn set(netlink: &Netlink, interface: &str, way: &Direction) -> Result<(), RunError> {
    match &way.qdisc {
        Some(words) => put(netlink, interface, words),
        None => Ok(()),
    }
}

/// Puts a qdisc at the root of an interface, by the words of tc(8).
pub(crate) fn put(netlink: &Netlink, interface: &str, words: &str) -> Result<(), RunError> {
    let refused = |why| RunError::Cannot(format!("the qdisc `{words}`: {why}"));
    let qdisc = Settings::parse(words).map_err(|wrong| refused(wrong.why))?;
    let index = index(interface).context(|| format!("no interface {interface}"))?;
    let index = i32::try_from(index).unwrap_or(i32::MAX);
    for message in messages(index, qdisc.kind()).map_err(refused)? {
        netlink.add(message).context(|| {
            let nat = match qdisc.kind() {
                Kind::Cake(cake) if cake.nat => "; `nat` needs a kernel with connection tracking",
                _ => "",
            };
            format!("this kernel rejects the qdisc `{words}` on {interface}{nat}")
        })?;
    }
    Ok(())
}

/// What makes a qdisc, one message after another.
fn messages(index: i32, kind: &Kind) -> Result<Vec<RouteNetlinkMessage>, String> {
    match kind {
        Kind::Htb(htb) => htb::messages(index, htb),
        Kind::Prio(Prio { bands, child, .. }) => {
            // A band is a `pfifo` of itself.
            let own = matches!(**child, Kind::Pfifo(fifo) if fifo.limit.is_none());
            with_children(index, kind, child, if own { 0 } else { *bands })
        }
        Kind::Tbf(tbf) => match &tbf.child {
            Some(child) => with_children(index, kind, child, 1),
            None => Ok(vec![qdisc(index, TcHandle::ROOT, kind)?]),
        },
        _ => Ok(vec![qdisc(index, TcHandle::ROOT, kind)?]),
    }
}

/// A qdisc at the root, and the same one in each of its first classes (`tc qdisc add dev DEV parent 1:N ...`).
fn with_children(
    index: i32,
    kind: &Kind,
    child: &Kind,
    classes: u8,
) -> Result<Vec<RouteNetlinkMessage>, String> {
    let mut root = message(index, TcHandle::ROOT, kind.name(), options(kind)?);
    root.header.handle = match classes {
        0 => TcHandle::UNSPEC,
        _ => TcHandle { major: 1, minor: 0 },
    };
    let children = (1..=u16::from(classes)).map(|minor| {
        let class = TcHandle { major: 1, minor };
        qdisc(index, class, child)
    });
    std::iter::once(Ok(RouteNetlinkMessage::NewQueueDiscipline(root)))
        .chain(children)
        .collect()
}

/// A qdisc without classes at a parent.
fn qdisc(index: i32, parent: TcHandle, kind: &Kind) -> Result<RouteNetlinkMessage, String> {
    let mut message = message(index, parent, kind.name(), options(kind)?);
    message.header.handle = TcHandle::UNSPEC;
    Ok(RouteNetlinkMessage::NewQueueDiscipline(message))
}

fn message(index: i32, parent: TcHandle, kind: &str, options: Option<Vec<u8>>) -> TcMessage {
    let mut message = TcMessage::with_index(index);
    message.header.parent = parent;
    message.attributes = vec![TcAttribute::Kind(kind.into())];
    if let Some(bytes) = options {
        let options = DefaultNla::new(TCA_OPTIONS, bytes);
        message.attributes.push(TcAttribute::Other(options));
    }
    message
}

/// The `TCA_OPTIONS` of a qdisc without classes; none: the kernel's defaults.
///
/// # Errors
/// Why a kernel cannot do it.
fn options(kind: &Kind) -> Result<Option<Vec<u8>>, String> {
    if let Some(why) = kind.not_in_kernels() {
        return Err(format!(
            "{why}: kernels do not support it; remove `by = \"kernel\"`"
        ));
    }
    Ok(Some(match kind {
        // struct tc_fifo_qopt; without it, txqueuelen is the limit.
        Kind::Pfifo(fifo) | Kind::Bfifo(fifo) => match fifo.limit {
            Some(limit) => limit.to_ne_bytes().to_vec(),
            None => return Ok(None),
        },
        Kind::Cake(cake) => cake::options(cake),
        Kind::Netem(netem) => netem::options(netem),
        Kind::Tbf(tbf) => tbf::options(tbf),
        Kind::Codel(codel) => codel::codel(codel),
        Kind::FqCodel(fq) => codel::fq_codel(fq),
        Kind::Fq(fq) => fq::options(fq),
        Kind::Red(red) => red::options(red),
        Kind::Prio(prio) => prio_options(prio),
        Kind::Htb(_) => return Err("htb cannot stand in htb".into()),
        Kind::Caqm(_) => return Ok(None),
    }))
}

/// `struct tc_prio_qopt`.
fn prio_options(prio: &Prio) -> Vec<u8> {
    let mut bytes = i32::from(prio.bands).to_ne_bytes().to_vec();
    bytes.extend_from_slice(&prio.priomap);
    bytes
}
