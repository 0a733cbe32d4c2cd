//! An ICMP error answered the SYN (RFC 1122 4.2.3.9, RFC 5461).

use super::icmp::{Reason, named};
use super::{Detector, Finding, Id, Severity, Side, packets};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("unreachable"),
    severity: "medium",
    said_when: "Only an ICMP error answered the SYN: network, host or port unreachable, administratively prohibited, time exceeded",
    needs: &[],
    detect: |side, out| out.extend(find(side)),
};

/// An ICMP error names why the SYN of the sender had no answer.
pub(super) fn explains(side: &Side<'_>) -> bool {
    let h = &side.connection.handshake;
    let unanswered = h.syn_at.is_some() && h.synack_at.is_none() && !h.refused && !h.done;
    let refused = side.sender.icmp().is_some_and(|i| i.refused.is_some());
    side.sender_is_client() && unanswered && refused
}

fn find(side: &Side<'_>) -> Option<Finding> {
    if !explains(side) {
        return None;
    }
    let refused = side.sender.icmp()?.refused.as_ref()?;
    let error = &refused.error;
    let mut f = side.finding(DETECTOR.id, Severity::Medium);
    if !side.is_told(DETECTOR.id) {
        return Some(f);
    }
    f.packets = packets(refused.packets.iter().copied());
    let (client, server, from) = (side.sender_end.ip, side.receiver_end, error.from);
    f.title = format!(
        "{client} cannot connect to {server}: {from} answered the SYN with {}",
        named(error)
    );
    let by_host = from == server.ip;
    f.cause = match Reason::of(error) {
        Reason::Net => format!("The router {from} has no route to {}.", server.ip),
        Reason::Host => format!(
            "The router {from} knows the way to the network of {0}, but cannot reach {0}. Either {0} does not answer ARP or \
             neighbour requests (it is down, has another address, or is in another VLAN), or a route says \"unreachable\".",
            server.ip
        ),
        Reason::Port => format!(
            "A packet filter on {from} rejects the connection. A host without a program on port {} answers with a RST; \
             \"port unreachable\" is what REJECT of iptables and nftables sends by default.",
            server.port
        ),
        Reason::Prohibited => {
            format!("A packet filter or a route on {from} forbids the connection.")
        }
        Reason::TimeExceeded => format!(
            "The packet passed more routers than its TTL (hop limit) allows, the last one was {from}: a routing loop. \
             A traceroute with TCP sends such packets on purpose."
        ),
        Reason::Protocol if by_host => format!("{from} says that it does not speak TCP."),
        Reason::Protocol | Reason::Other => {
            format!("{from} did not deliver the packet and says so.")
        }
    };
    f.remedy = vec![match Reason::of(error) {
        Reason::Net => format!("On {from}: `ip route get {}`.", server.ip),
        Reason::Host => format!(
            "Check that {0} is up and has this address. On {from}: `ip neigh show {0}`.",
            server.ip
        ),
        Reason::Port | Reason::Prohibited => format!(
            "On {from}: look for the rule that rejects port {}: `nft list ruleset`, `iptables -S`, `ip route get {}`.",
            server.port, server.ip
        ),
        Reason::TimeExceeded => format!("Find the loop: `traceroute -n {}`.", server.ip),
        Reason::Protocol | Reason::Other => {
            format!("Find out from {from} why it drops packets to {server}.")
        }
    }];
    Some(f)
}
