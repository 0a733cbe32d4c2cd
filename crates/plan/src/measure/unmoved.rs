//! Counters that a stack leaves out of its outcome as long as they are 0.

use crate::point::Ip;

/// ICMP's of the model; kernels have these and more.
const V4: [&str; 11] = [
    "IcmpInCsumErrors",
    "IcmpInDestUnreachs",
    "IcmpInEchoReps",
    "IcmpInEchos",
    "IcmpInErrors",
    "IcmpInMsgs",
    "IcmpOutDestUnreachs",
    "IcmpOutEchoReps",
    "IcmpOutEchos",
    "IcmpOutMsgs",
    "IpFragFails",
];

/// The same over IPv6.
const V6: [&str; 13] = [
    "Icmp6InCsumErrors",
    "Icmp6InDestUnreachs",
    "Icmp6InEchoReplies",
    "Icmp6InEchos",
    "Icmp6InErrors",
    "Icmp6InMsgs",
    "Icmp6InPktTooBigs",
    "Icmp6OutDestUnreachs",
    "Icmp6OutEchoReplies",
    "Icmp6OutEchos",
    "Icmp6OutMsgs",
    "Icmp6OutPktTooBigs",
    "Ip6FragFails",
];

/// The kernel shows these only once they count, too (`/proc/net/snmp`).
const TYPES: [&str; 2] = ["IcmpMsgInType", "IcmpMsgOutType"];
const TYPES_6: [&str; 2] = ["Icmp6InType", "Icmp6OutType"];

/// Whether a host counts this, and its outcome lacks the name because the counter did not move.
pub fn is_left_out_at_zero(name: &str, ip: Ip) -> bool {
    let (names, types) = match ip {
        Ip::V4 => (&V4[..], TYPES),
        Ip::V6 => (&V6[..], TYPES_6),
    };
    let number = types.iter().find_map(|prefix| name.strip_prefix(prefix));
    let is_type = number.is_some_and(|number| number.parse::<u8>().is_ok());
    names.contains(&name) || is_type
}
