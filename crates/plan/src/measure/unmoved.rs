//! Counters that a stack leaves out of its outcome as long as they are 0. Those of TCP, and of UDP over IPv4, always
//! stand in it.

use crate::point::Ip;

/// A prefix, and the names behind it: of the model.
const MODEL: [&[(&str, &str)]; 2] = [
    &[
        (
            "Icmp",
            "InMsgs InErrors InCsumErrors InDestUnreachs InEchos InEchoReps OutMsgs OutDestUnreachs OutEchos OutEchoReps",
        ),
        ("Ip", "FragFails"),
    ],
    &[
        (
            "Icmp6",
            "InMsgs InErrors InCsumErrors InDestUnreachs InEchos InEchoReplies InPktTooBigs OutMsgs OutDestUnreachs OutEchos \
             OutEchoReplies OutPktTooBigs",
        ),
        ("Ip6", "FragFails"),
    ],
];

/// The same of every kernel that tcplab runs (`/proc/net/snmp`, `netstat`, `snmp6`).
const KERNEL: [&[(&str, &str)]; 2] = [
    &[
        (
            "Ip",
            "InReceives InHdrErrors InAddrErrors ForwDatagrams InUnknownProtos InDiscards InDelivers OutRequests OutDiscards \
             OutNoRoutes ReasmTimeout ReasmReqds ReasmOKs ReasmFails FragOKs FragFails FragCreates",
        ),
        (
            "IpExt",
            "InNoRoutes InTruncatedPkts InMcastPkts OutMcastPkts InBcastPkts OutBcastPkts InOctets OutOctets InMcastOctets \
             OutMcastOctets InBcastOctets OutBcastOctets InCsumErrors InNoECTPkts InECT1Pkts InECT0Pkts InCEPkts ReasmOverlaps",
        ),
        (
            "Icmp",
            "InMsgs InErrors InCsumErrors InDestUnreachs InTimeExcds InParmProbs InSrcQuenchs InRedirects InEchos InEchoReps \
             OutMsgs OutErrors OutDestUnreachs OutTimeExcds OutParmProbs OutSrcQuenchs OutRedirects OutEchos OutEchoReps",
        ),
    ],
    &[
        (
            "Ip6",
            "InReceives InHdrErrors InTooBigErrors InNoRoutes InAddrErrors InUnknownProtos InTruncatedPkts InDiscards \
             InDelivers OutForwDatagrams OutRequests OutDiscards OutNoRoutes ReasmTimeout ReasmReqds ReasmOKs ReasmFails FragOKs \
             FragFails FragCreates InOctets OutOctets InNoECTPkts InECT1Pkts InECT0Pkts InCEPkts",
        ),
        (
            "Icmp6",
            "InMsgs InErrors OutMsgs OutErrors InCsumErrors InDestUnreachs InPktTooBigs InTimeExcds InParmProblems InEchos \
             InEchoReplies OutDestUnreachs OutPktTooBigs OutTimeExcds OutParmProblems OutEchos OutEchoReplies",
        ),
        (
            "Udp6",
            "InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors",
        ),
    ],
];

/// The kernel shows these only once they count, too.
const TYPES: [[&str; 2]; 2] = [
    ["IcmpMsgInType", "IcmpMsgOutType"],
    ["Icmp6InType", "Icmp6OutType"],
];

/// Whether a host counts this, and its outcome lacks the name because the counter did not move. `stack` is what the outcome
/// says of its kernel: a release, or the profile of a model.
pub fn is_left_out_at_zero(name: &str, ip: Ip, stack: &str) -> bool {
    let of = usize::from(ip == Ip::V6);
    let is_kernel = stack.starts_with(|c: char| c.is_ascii_digit());
    let names = if is_kernel { KERNEL[of] } else { MODEL[of] };
    let is_named = names.iter().any(|(prefix, names)| {
        let rest = name.strip_prefix(prefix);
        rest.is_some_and(|rest| names.split_whitespace().any(|name| name == rest))
    });
    let number = TYPES[of]
        .iter()
        .find_map(|prefix| name.strip_prefix(prefix));
    let is_type = |text: &str| text.parse::<u8>().is_ok_and(|n| n.to_string() == text);
    is_named || number.is_some_and(is_type)
}
