//! The kernel's qdisc at the root of an interface: tc's words, which a guest has no tc for, as the messages that tc sends,
//! and back what it counted. What stands in the messages is the crate `qdisc`'s.

mod dump;
#[cfg(test)]
mod tests;

use std::io;

use netlink_packet_core::DefaultNla;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{TcAttribute, TcMessage};
use tcplab_plan::point::Direction;
use tcplab_qdisc::netlink::{Message, ROOT};
use tcplab_qdisc::{Kind, QdiscCount, Settings, htb, xstats};

use tcplab_os::netlink::{Netlink, index};
use tcplab_os::{Context, OsError};

/// linux/rtnetlink.h.
const TCA_OPTIONS: u16 = 2;

/// Sets the qdisc of an interface for what leaves through it.
pub(crate) fn set(netlink: &Netlink, interface: &str, way: &Direction) -> Result<(), OsError> {
    match &way.qdisc {
        Some(words) => put(netlink, interface, words),
        None => Ok(()),
    }
}

/// Puts a qdisc at the root of an interface, by the words of tc(8).
pub(crate) fn put(netlink: &Netlink, interface: &str, words: &str) -> Result<(), OsError> {
    let refused = |why| OsError::Cannot(format!("the qdisc `{words}`: {why}"));
    let qdisc = Settings::parse(words).map_err(|wrong| refused(wrong.why))?;
    let index = index_of(interface)?;
    for message in messages(qdisc.kind()).map_err(refused)? {
        netlink.add(route(index, message)).context(|| {
            let nat = match qdisc.kind() {
                Kind::Cake(cake) if cake.nat => "; `nat` needs a kernel with connection tracking",
                _ => "",
            };
            format!("this kernel rejects the qdisc `{words}` on {interface}{nat}")
        })?;
    }
    Ok(())
}

fn index_of(interface: &str) -> Result<i32, OsError> {
    let index = index(interface).context(|| format!("no interface {interface}"))?;
    Ok(i32::try_from(index).unwrap_or(i32::MAX))
}

/// What makes a qdisc, one message after another.
///
/// # Errors
/// Why a kernel cannot do it.
fn messages(kind: &Kind) -> Result<Vec<Message>, String> {
    match kind.not_in_kernels() {
        Some(why) => Err(format!(
            "{why}: kernels do not support it; remove `by = \"kernel\"`"
        )),
        None => Ok(kind.messages()),
    }
}

fn route(index: i32, message: Message) -> RouteNetlinkMessage {
    let mut tc = TcMessage::with_index(index);
    tc.header.parent = message.parent.into();
    tc.header.handle = message.handle.into();
    tc.attributes = vec![TcAttribute::Kind(message.kind.into())];
    if let Some(bytes) = message.options {
        let options = DefaultNla::new(TCA_OPTIONS, bytes);
        tc.attributes.push(TcAttribute::Other(options));
    }
    match message.is_class {
        true => RouteNetlinkMessage::NewTrafficClass(tc),
        false => RouteNetlinkMessage::NewQueueDiscipline(tc),
    }
}

/// The counters of the qdisc of an interface in the current network namespace; `None` if frames do not queue
/// there.
pub(crate) fn count(netlink: &Netlink, interface: &str) -> Result<Option<QdiscCount>, OsError> {
    let index = index_of(interface)?;
    ask(netlink, index).context(|| format!("cannot read the qdisc of {interface}"))
}

fn ask(netlink: &Netlink, index: i32) -> io::Result<Option<QdiscCount>> {
    let all = dump::qdiscs(netlink, index)?;
    let at = |parent| {
        let found = all.iter().find(|one| one.parent == parent)?;
        QdiscCount::of_kernel(&found.attributes)
    };
    let Some(mut count) = at(ROOT) else {
        return Ok(None);
    };
    if count.kind != "htb" {
        let children = all.iter().filter(|one| one.parent != ROOT);
        let children = children.filter_map(|one| QdiscCount::of_kernel(&one.attributes));
        children.for_each(|child| count.add_child(child));
        return Ok(Some(count));
    }
    let classes = dump::classes(netlink, index)?;
    let class = classes.iter().find(|class| class.handle == htb::CLASS);
    let class = class.map_or(&[][..], |class| xstats(&class.attributes));
    Ok(Some(htb::with_class(count, at(htb::CLASS), class)))
}
