//! What a host counts of datagrams and of ICMP, by nstat's names.

use tcplab_plan::point::Ip;

/// What nstat shows of UDP.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) received: u64,
    pub(crate) sent: u64,
    pub(crate) no_port: u64,
    pub(crate) full: u64,
    pub(crate) damaged: u64,
    /// ICMP echoes: requests sent and received, replies sent and received.
    pub(crate) echo: [u64; 4],
    pub(crate) damaged_icmp: u64,
    /// ICMP errors: sent, received, received for no socket.
    pub(crate) unreachable: [u64; 3],
    /// The same for packets that were too big: sent, received.
    pub(crate) too_big: [u64; 2],
}

impl Counts {
    pub(super) fn named(&self, ip: Ip) -> [(&'static str, u64); 6] {
        let names = match ip {
            Ip::V4 => [
                "UdpInDatagrams",
                "UdpNoPorts",
                "UdpInErrors",
                "UdpOutDatagrams",
                "UdpRcvbufErrors",
                "UdpInCsumErrors",
            ],
            Ip::V6 => [
                "Udp6InDatagrams",
                "Udp6NoPorts",
                "Udp6InErrors",
                "Udp6OutDatagrams",
                "Udp6RcvbufErrors",
                "Udp6InCsumErrors",
            ],
        };
        let [received, no_port, errors, sent, full, damaged] = names;
        [
            (received, self.received),
            (no_port, self.no_port),
            (errors, self.full + self.damaged),
            (sent, self.sent),
            (full, self.full),
            (damaged, self.damaged),
        ]
    }

    /// ICMPv6's (`/proc/net/snmp6`), of which only those that moved are shown.
    pub(super) fn icmp6(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let [out_echos, in_echos, out_replies, in_replies] = self.echo;
        let bad = self.damaged_icmp;
        let [out_errors, in_errors, to_nobody] = self.unreachable;
        let [out_big, in_big] = self.too_big;
        let all = [
            (
                "Icmp6InMsgs",
                in_echos + in_replies + in_errors + in_big + bad,
            ),
            ("Icmp6InErrors", to_nobody + bad),
            ("Icmp6InCsumErrors", bad),
            ("Icmp6InDestUnreachs", in_errors),
            ("Icmp6InEchos", in_echos),
            ("Icmp6InEchoReplies", in_replies),
            (
                "Icmp6OutMsgs",
                out_echos + out_replies + out_errors + out_big,
            ),
            ("Icmp6OutDestUnreachs", out_errors),
            ("Icmp6OutEchos", out_echos),
            ("Icmp6OutEchoReplies", out_replies),
            ("Icmp6InPktTooBigs", in_big),
            ("Icmp6OutPktTooBigs", out_big),
            ("Icmp6InType1", in_errors),
            ("Icmp6InType2", in_big),
            ("Icmp6InType128", in_echos),
            ("Icmp6InType129", in_replies),
            ("Icmp6OutType1", out_errors),
            ("Icmp6OutType2", out_big),
            ("Ip6FragFails", out_big),
            ("Icmp6OutType128", out_echos),
            ("Icmp6OutType129", out_replies),
        ];
        all.into_iter().filter(|(_, n)| *n > 0)
    }

    /// ICMP's, of which only those that moved are shown.
    pub(super) fn icmp(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let [out_echos, in_echos, out_replies, in_replies] = self.echo;
        let bad = self.damaged_icmp;
        let [out_errors, in_errors, to_nobody] = self.unreachable;
        let [out_big, in_big] = self.too_big;
        let (out_errors, in_errors) = (out_errors + out_big, in_errors + in_big);
        let all = [
            ("IcmpInMsgs", in_echos + in_replies + in_errors + bad),
            ("IcmpInErrors", to_nobody + bad),
            ("IcmpInCsumErrors", bad),
            ("IcmpInDestUnreachs", in_errors),
            ("IcmpInEchos", in_echos),
            ("IcmpInEchoReps", in_replies),
            ("IcmpOutMsgs", out_echos + out_replies + out_errors),
            ("IcmpOutDestUnreachs", out_errors),
            ("IcmpOutEchos", out_echos),
            ("IcmpOutEchoReps", out_replies),
            ("IcmpMsgInType0", in_replies),
            ("IcmpMsgInType3", in_errors),
            ("IcmpMsgInType8", in_echos),
            ("IcmpMsgOutType0", out_replies),
            ("IcmpMsgOutType3", out_errors),
            ("IcmpMsgOutType8", out_echos),
            ("IpFragFails", out_big),
        ];
        all.into_iter().filter(|(_, n)| *n > 0)
    }
}
