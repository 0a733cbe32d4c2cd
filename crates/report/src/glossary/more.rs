//! Words of TCP and of networks that pages use and reports seldom do.

use super::Entry;

/// By topic.
pub(super) const MORE: &[Entry] = &[
    Entry {
        word: "ATO",
        also: &["ACK timeout", "icsk_ack.ato"],
        short: "how long a Linux receiver delays its next ACK: 40 to 200 ms",
        more: "Derived from the gaps between data segments, doubled when the timer fires outside pingpong mode. `ss -ti` \
               shows it (ato).",
    },
    Entry {
        word: "pingpong",
        also: &["pingpong mode", "interactive mode"],
        short: "a Linux receiver that answers requests delays its ACKs, to send them on the answer",
        more: "Data sent soon after data arrived counts as an answer; profiles differ in how many answers start the \
               mode (behaviour pingpong_threshold). In this mode quick-ACK credits have no effect.",
    },
    Entry {
        word: "SRTT",
        also: &["smoothed RTT", "smoothed round trip"],
        short: "the sender's average of measured round trips; each new sample weighs one eighth",
        more: "RFC 6298 2. The RTO is SRTT plus four times the deviation (RTTVAR). `ss -ti` shows both as \
               rtt:SRTT/RTTVAR, in ms.",
    },
    Entry {
        word: "ssthresh",
        also: &["slow-start threshold"],
        short: "the congestion window at which slow start ends",
        more: "RFC 5681 3.1. Each loss sets it to a part of the window: Reno half, CUBIC seven tenths.",
    },
    Entry {
        word: "CUBIC",
        also: &[],
        short: "Linux's default congestion control: after a loss the window grows along a cubic curve",
        more: "RFC 9438. It backs off only at losses and ECN marks, so it fills the queue of the narrowest link.",
    },
    Entry {
        word: "BBR",
        also: &["BBRv1"],
        short: "a congestion control that measures rate and round trip, and paces at that rate",
        more: "Random losses hardly slow it down. The model has version 1, as Linux 5.10 to 7.2 (net/ipv4/tcp_bbr.c); \
               versions 2 and 3 are in no kernel.org release.",
    },
    Entry {
        word: "DCTCP",
        also: &[],
        short: "a congestion control that backs off in proportion to the share of marked packets",
        more: "RFC 8257. It needs ECN on both hosts and switches that mark early.",
    },
    Entry {
        word: "AccECN",
        also: &["accurate ECN"],
        short: "ECN whose receiver reports how many packets were marked, not only that one was",
        more: "RFC 9768. Linux has it since 7.0; the model lacks it and skips scripts that ask for it.",
    },
    Entry {
        word: "CAKE",
        also: &[],
        short: "a qdisc for home lines: a shaper with a short, fair queue for each flow, and an ACK filter",
        more: "`cake bandwidth 30mbit` on a link of an experiment; all words: docs/qdisc.md.",
    },
    Entry {
        word: "incast",
        also: &[],
        short: "many servers answer one client at the same time, and the switch's queue overflows",
        more: "Servers wait for their RTO of 200 ms or more while the link is idle. `tcplab new incast` writes an \
               experiment.",
    },
    Entry {
        word: "RRUL",
        also: &["realtime response under load"],
        short: "flent's test: uploads, downloads and pings at the same time",
        more: "How long do pings wait while transfers fill the line? docs/rrul.md runs it.",
    },
    Entry {
        word: "TFO",
        also: &["TCP Fast Open", "fast open", "fastopen"],
        short: "data already in the SYN, which saves a round trip for a client that has a cookie",
        more: "RFC 7413. The first connection fetches the cookie. Linux: net.ipv4.tcp_fastopen.",
    },
    Entry {
        word: "PRR",
        also: &["proportional rate reduction"],
        short: "during recovery the sender lowers its window step by step, one ACK at a time",
        more: "RFC 6937. It avoids the silence and the burst of an immediate halving.",
    },
    Entry {
        word: "HyStart",
        also: &["hybrid slow start"],
        short: "CUBIC leaves slow start when round trips grow, before packets are lost",
        more: "Linux: hystart in tcp_cubic.c. Jitter can end slow start too early.",
    },
    Entry {
        word: "reqsk",
        also: &["request socket"],
        short: "Linux's small record of a connection whose handshake is not finished",
        more: "Kept from the SYN to the last ACK of the handshake. See `SYN cookie`.",
    },
    Entry {
        word: "jitter",
        also: &[],
        short: "the delay of a path varies from packet to packet",
        more: "A link's `jitter` draws it for each packet and keeps their order; netem's jitter reorders them.",
    },
    Entry {
        word: "packetdrill",
        also: &[],
        short: "a script language for tests of TCP: calls and packets, each with its time",
        more: "`tcplab drill` runs such scripts on the model or on a kernel: docs/drill.md.",
    },
    Entry {
        word: "time budget",
        also: &["budget", "where the time went"],
        short: "all time of a connection, divided into classes that do not overlap",
        more: "The classes add up to its duration. The head of the report says what clients waited for. Rules: \
               docs/analyze.md, \"Time budget\".",
    },
    Entry {
        word: "vantage",
        also: &["vantage point", "capture point"],
        short: "where a capture was taken: at the client, at the server or between",
        more: "tcplab estimates it from the handshake and ACK times. The delay of an ACK includes the path unless the capture was taken at the ACK's sender.",
    },
];
