//! Words of TCP and of the Linux kernel that findings use.

use super::Entry;

/// The glossary, by topic: acknowledging, sending, losses, windows, connections, the capture; the words that most readers
/// know come last, because a report has room for a few.
pub(super) const WORDS: &[Entry] = &[
    Entry {
        word: "delayed ACK",
        also: &["delayed-ACK timer", "delack"],
        short: "the receiver waits before it acknowledges, in case it can send the ACK with something else",
        more: "RFC 1122 allows up to 500 ms and asks for an ACK for each second full segment; Linux waits 40 to 200 ms. It \
               costs time when the sender cannot go on without the ACK: Nagle's algorithm, a small congestion window or \
               buffer.\n\
               Cures: write a message with one call; TCP_NODELAY at the sender; quick ACKs at the receiver (`ip route ... \
               quickack 1`, or TCP_QUICKACK before each read).",
    },
    Entry {
        word: "quick-ACK",
        also: &["quickack", "quick-ACK mode", "quick-ACK credit"],
        short: "Linux acknowledges immediately, without waiting for a second segment",
        more: "A Linux receiver begins with up to 16 credits, one for each ACK; losses and long pauses restore them. \
               `ip route ... quickack 1` turns it on for a route, TCP_QUICKACK for a moment.",
    },
    Entry {
        word: "rcv_mss",
        also: &[],
        short: "the receiver's guess of the sender's segment size; it decides which ACKs may wait",
        more: "Learnt from the segments that arrive: tcpi_rcv_mss (`ss -ti`: rcvmss). More new data than that is \
               acknowledged immediately.",
    },
    Entry {
        word: "write-write-read",
        also: &[],
        short: "a program writes a message in two calls, then waits for the answer",
        more: "Nagle holds the second write until the ACK of the first; the receiver, with half a message, delays it 40 ms \
               or more. Write the message with one call.",
    },
    Entry {
        word: "Nagle",
        also: &["Nagle's algorithm", "TCP_NODELAY", "nodelay"],
        short: "the sender holds a small segment while an earlier one is not acknowledged",
        more: "RFC 896, RFC 1122 4.2.3.4. With delayed ACKs each small write can wait 40 ms or more. TCP_NODELAY turns it \
               off for a socket.",
    },
    Entry {
        word: "cwnd",
        also: &["congestion window", "initcwnd", "initial window"],
        short: "how much data the sender allows itself in flight, by what it knows of the path",
        more: "Linux: 10 segments at first; grows with ACKs, shrinks after losses, and after an idle time unless \
               net.ipv4.tcp_slow_start_after_idle is 0. `ss -ti` shows it.",
    },
    Entry {
        word: "rwnd",
        also: &["receive window", "advertised window"],
        short: "how much data the receiver allows in flight: its buffer's room",
        more: "Each ACK carries it. Below the BDP it limits the rate. Linux: net.ipv4.tcp_rmem, SO_RCVBUF.",
    },
    Entry {
        word: "BDP",
        also: &["bandwidth-delay product"],
        short: "what must be in flight to fill the path: its rate times its round trip",
        more: "100 Mbit/s with 80 ms are 1 MB. A smaller window at either end limits the rate.",
    },
    Entry {
        word: "slow start",
        also: &[],
        short: "a sender begins with a small window and doubles it each round trip",
        more: "A short transfer ends before the window is large: round trips limit it, not bandwidth.",
    },
    Entry {
        word: "pacing",
        also: &[],
        short: "packets are spread over time and do not leave in bursts",
        more: "BBR paces by itself; other senders pace with the qdisc fq (`tc qdisc replace dev DEVICE root fq`). So pacing \
               without fq suggests BBR (`ss -ti` shows the congestion control).",
    },
    Entry {
        word: "RTO",
        also: &[
            "retransmission timeout",
            "retransmission timer",
            "minimum RTO",
        ],
        short: "the time without an ACK after which the sender retransmits: 200 ms or more on Linux",
        more: "RFC 6298. It counts from the last data or ACK, and doubles each time it fires; then the window is one segment. \
               The slowest way to notice a loss.\n\
               Linux: the smoothed round trip plus at least the minimum RTO: 200 ms, unless a route's rto_min or \
               net.ipv4.tcp_rto_min_us (from 6.11 on; for sockets opened later) lowers it. Keep the minimum above the \
               receiver's delayed-ACK timer (on Linux 40 ms, or the round trip if that is longer): below that, segments \
               are sent again needlessly.",
    },
    Entry {
        word: "TLP",
        also: &["tail loss probe"],
        short: "the sender repeats its last packet early, to learn whether the end was lost",
        more: "RFC 8985 7. Linux, with SACK: two round trips after the last data or ACK, never later than the RTO; on with \
               net.ipv4.tcp_early_retrans = 3, the default. With one segment in flight, probe and timeout are due \
               together: a round trip and 200 ms after the last data or ACK. On the sender, \
               `nstat -az TcpExtTCPLossProbes TcpExtTCPTimeouts` tells them apart.",
    },
    Entry {
        word: "SACK",
        also: &["selective acknowledgment"],
        short: "the ACK also lists what arrived after a gap: only the gap is sent again",
        more: "RFC 2018. Both SYNs must offer it (net.ipv4.tcp_sack = 1). Without it a second loss in one window mostly \
               costs a timeout.",
    },
    Entry {
        word: "DSACK",
        also: &["duplicate SACK"],
        short: "the receiver reports data that came twice: the sender retransmitted needlessly",
        more: "RFC 2883. Packets were late, not lost: the sender can undo its slow-down.",
    },
    Entry {
        word: "duplicate ACK",
        also: &["dup ACK", "dupack"],
        short: "the same ACK again: a later packet arrived, an earlier one is missing",
        more: "Three of them start a fast retransmission (RFC 5681 3.2).",
    },
    Entry {
        word: "fast retransmit",
        also: &["fast retransmission"],
        short: "a loss is repaired as soon as duplicate ACKs or SACK reveal it, without a timer",
        more: "It takes about one round trip (RFC 5681, RFC 6675, RFC 8985).",
    },
    Entry {
        word: "RACK",
        also: &[],
        short: "a segment counts as lost some time after a segment that was sent later has arrived",
        more: "RFC 8985, Linux net.ipv4.tcp_recovery = 1. It tolerates reordering better than counting duplicate ACKs.",
    },
    Entry {
        word: "F-RTO",
        also: &["frto"],
        short: "after a timeout the sender checks whether anything was lost, before it retransmits more",
        more: "RFC 5682, Linux net.ipv4.tcp_frto = 2. It limits the damage of a spurious timeout.",
    },
    Entry {
        word: "spurious",
        also: &[
            "spurious retransmission",
            "spurious RTO",
            "spurious timeout",
        ],
        short: "a retransmission that nobody needed: the packet was late, not lost",
        more: "A DSACK, the echoed time stamp, or an ACK too soon after the retransmission shows it.",
    },
    Entry {
        word: "reordering",
        also: &["out of order"],
        short: "packets overtake each other on the path",
        more: "A sender can take the late packet for lost and retransmit it. Causes: load balancing packet by packet, \
               parallel queues.",
    },
    Entry {
        word: "zero window",
        also: &["window probe", "zero-window probe"],
        short: "the receiver's buffer is full: the sender must wait until the receiving program reads",
        more: "RFC 9293 3.8.6.1. The sender probes from time to time. TCP and the network are not the bottleneck.",
    },
    Entry {
        word: "window scale",
        also: &["window scaling", "wscale"],
        short: "a factor for the window, which only the SYN carries",
        more: "RFC 7323. Without it a window is at most 64 KiB. A capture without the handshake lacks it: its windows may \
               be many times larger than they look.",
    },
    Entry {
        word: "time stamps",
        also: &["TSval", "TSecr", "TCP time stamps"],
        short: "a clock value in each packet that the other side echoes",
        more: "RFC 7323, Linux net.ipv4.tcp_timestamps = 1. They measure round trips and tell a repeated packet from its \
               original.",
    },
    Entry {
        word: "accept queue",
        also: &["backlog", "listen backlog", "somaxconn"],
        short: "the queue of connections that the listening program has not accepted yet; a full queue drops new ones",
        more: "Its length: the smaller of listen()'s backlog and net.core.somaxconn. `ss -lnt` shows it (Recv-Q of \
               Send-Q), TcpExtListenOverflows counts drops.",
    },
    Entry {
        word: "SYN cookie",
        also: &[
            "syncookies",
            "tcp_syncookies",
            "SYN queue",
            "tcp_max_syn_backlog",
        ],
        short: "a server stores nothing for a SYN: its SYN-ACK's sequence number encodes what it needs",
        more: "Linux sends cookies when the queue of unfinished handshakes is full (net.ipv4.tcp_syncookies = 1), or \
               always (2); with 0 it drops the SYN (TCPReqQFullDrop), and the client repeats it after 1 s. A cookie \
               has room for one of four MSS values; window scale, SACK and ECN survive only in the time stamp. \
               `nstat`: TcpExtSyncookiesSent, SyncookiesRecv, SyncookiesFailed.",
    },
    Entry {
        word: "RST",
        also: &["reset"],
        short: "a packet that ends a connection immediately, or refuses it",
        more: "It comes from a closed port, a program that died, or a firewall. Data on the way is lost. It counts \
               only with the next sequence number (RFC 5961); elsewhere in the window it gets a challenge ACK, outside \
               it is dropped.",
    },
    Entry {
        word: "TIME-WAIT",
        also: &[],
        short: "the side that closed first keeps the ports for a minute",
        more: "RFC 9293 3.6.1. Meanwhile a new connection with the same addresses and ports may be refused or delayed. `ss \
               -ant state time-wait` shows them.",
    },
    Entry {
        word: "keep-alive",
        also: &["keepalive"],
        short: "a probe on an idle connection, to learn whether the other side is still there",
        more: "Linux: after two hours, or TCP_KEEPIDLE. NAT and firewalls forget idle connections sooner.",
    },
    Entry {
        word: "MTU",
        also: &["path MTU", "PMTU"],
        short: "the largest packet that a link, or the whole path, carries",
        more: "Tunnels make it smaller. A router that drops a larger packet says so by ICMP.",
    },
    Entry {
        word: "black hole",
        also: &["MTU black hole", "path MTU black hole"],
        short: "packets vanish without notice",
        more: "Mostly large packets: the path's MTU is smaller, and a filter drops the ICMP message that should say \
               so. With net.ipv4.tcp_mtu_probing = 1 Linux finds the size itself.",
    },
    Entry {
        word: "bufferbloat",
        also: &[],
        short: "a long queue makes every packet late while a transfer runs",
        more: "The round trip under load is many times the idle one. Cures: a shorter queue, fq_codel or cake at the \
               bottleneck, BBR at the sender.",
    },
    Entry {
        word: "AQM",
        also: &["fq_codel", "codel"],
        short: "a queue that drops or marks early to stay short",
        more: "RFC 7567. On Linux a qdisc: `tc qdisc replace dev DEVICE root fq_codel`. Without AQM, a full queue \
               drops the end of bursts.",
    },
    Entry {
        word: "qdisc",
        also: &["queueing discipline"],
        short: "the queue of a Linux interface, and its rule",
        more: "fq paces, fq_codel and cake keep the queue short, pfifo_fast and noqueue do neither. `tc -s qdisc` shows \
               drops.",
    },
    Entry {
        word: "policer",
        also: &["policing"],
        short: "a device that drops everything above a rate, without a queue",
        more: "Transfers run fast for a moment, then lose many packets at once.",
    },
    Entry {
        word: "ACK filter",
        also: &["ACK thinning", "ack_drop"],
        short: "a queue drops an ACK when a later one of the connection waits behind it",
        more: "The later ACK says all that the earlier one says. CAKE (`ack-filter`), cable modems and satellite links have \
               one. The sender then sends in larger bursts.",
    },
    Entry {
        word: "IP identification",
        also: &["ip.id"],
        short: "a number in each IPv4 packet; Linux counts it up for each connection",
        more: "A gap: packets that the capture missed; a number twice: one packet captured twice. IPv6 has none; some \
               systems share one counter among connections or use random numbers.",
    },
    Entry {
        word: "ECN",
        also: &["CE", "ECE", "CWR"],
        short: "a queue marks packets instead of dropping them, and the sender slows down",
        more: "RFC 3168. Both ends must agree in the handshake.",
    },
    Entry {
        word: "TSO",
        also: &["GSO"],
        short: "the network card splits large packets; a capture at the sender sees them whole",
        more: "`ethtool -k DEVICE` shows it. Captured packets larger than the MSS were not on the wire.",
    },
    Entry {
        word: "GRO",
        also: &["LRO", "super-segment"],
        short: "the receiver joins packets before the capture sees them",
        more: "`ethtool -k DEVICE` shows it. One captured packet stands for several on the wire; one ACK answers all.",
    },
    Entry {
        word: "clock step",
        also: &["makestep"],
        short: "something set the clock of the capturing host while it captured",
        more: "NTP does so when a clock is far off (`makestep` in chrony.conf), a virtual machine after a pause. Times \
               before and after do not belong together.",
    },
    Entry {
        word: "snap length",
        also: &["snaplen", "snapped"],
        short: "how much of each packet the capture keeps",
        more: "`tcpdump -s 128` keeps all headers. Less cuts off TCP options: time stamps, SACK.",
    },
    Entry {
        word: "CAQM",
        also: &[],
        short: "hosts ask for window in a tag on each packet, and switches grant, refuse or mark it",
        more: "The tag and the behaviours: docs/caqm.md.",
    },
    Entry {
        word: "ACK",
        also: &["acknowledge", "acknowledgment", "acked"],
        short: "the receiver's note to the sender: all bytes up to here have arrived",
        more: "It travels with data or alone. Only a window of data may be in flight without an ACK, so late ACKs slow \
               the sender down.",
    },
    Entry {
        word: "segment",
        also: &["full segment"],
        short: "a TCP packet with data; a full one carries as much as the MSS allows",
        more: "A capture taken above TSO or GRO shows super-segments that stand for several.",
    },
    Entry {
        word: "MSS",
        also: &["maximum segment size", "wire MSS"],
        short: "the most data that one packet of this connection may carry",
        more: "Both SYNs carry it: with Ethernet 1460 bytes for IPv4, 1440 for IPv6. Time stamps take 12 of these \
               bytes.",
    },
    Entry {
        word: "RTT",
        also: &["round trip", "round-trip time"],
        short: "time from one end to the other and back",
        more: "In the table of streams it is the RTT of the whole path, from the handshake, or else from data and its \
               immediate ACKs. \"≤\" marks an upper bound from time stamps. An empty field: the capture does not \
               show it. Waits of a receiver do not count.",
    },
    Entry {
        word: "SYN",
        also: &["SYN-ACK", "handshake", "three-way handshake"],
        short: "the first packet of a connection; SYN-ACK is the answer to it",
        more: "They agree on MSS, window scale, SACK, time stamps. Without an answer the SYN is repeated after 1 s, then \
               after longer waits.",
    },
];
