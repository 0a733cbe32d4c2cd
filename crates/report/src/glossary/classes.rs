//! The meaning of each class of time, and what to check when it is large.

use tcplab_analyze::budget::Class;

/// The class for a person; `docs/analyze.md` has the evidence.
pub(crate) fn meaning(class: Class) -> &'static str {
    match class {
        Class::Handshake => {
            "Time to set up the connection: from the first SYN to the ACK of the SYN-ACK. It takes one round trip. \
             More means that packets were lost or that the listener was slow."
        }
        Class::ClientThinks => {
            "The client had the whole answer and had not sent the next request. The client's program or its user \
             took this time, not TCP."
        }
        Class::ServerThinks => {
            "The server had the whole request and had not begun its answer. The server's program took this time, \
             not TCP: look at the program, its database, its load."
        }
        Class::Path => {
            "Packets were on their way: the delay of the path, its rate, its queues. A nearer server, fewer round \
             trips, a faster link or a shorter queue make it shorter."
        }
        Class::CongestionWindow => {
            "The sender had data and its congestion window (cwnd) was full: it waited for ACKs. So it is in slow \
             start, after losses, and on long paths."
        }
        Class::Pacing => {
            "The sender spread its packets over time on purpose, as BBR and the qdisc fq do. See `pacing`."
        }
        Class::ReceiveWindow => {
            "The sender had data and the receiver's window (rwnd) was full, but not zero: the receive buffer is too \
             small for the path. Look at net.ipv4.tcp_rmem and SO_RCVBUF of the receiver."
        }
        Class::Sender => {
            "The sender was in the middle of a message and sent nothing, though it was allowed to: its program was \
             slow, or its send buffer is too small for the path (net.ipv4.tcp_wmem, SO_SNDBUF)."
        }
        Class::DelayedAck => {
            "The sender waited for an ACK that the receiver delayed. See `delayed ACK` for the cures."
        }
        Class::Nagle => {
            "Nagle's algorithm held a small segment until an ACK came. Write a message with one call, or set \
             TCP_NODELAY."
        }
        Class::FastRecovery => {
            "Packets were lost and repaired as duplicate ACKs or SACK told: about one round trip for each loss."
        }
        Class::Tlp => {
            "The last packets of a burst were lost. A tail loss probe repaired them, or the timeout of a single segment \
             in flight: both are due at the same time, and packets seldom tell which it was. On the sender, \
             `nstat -az TcpExtTCPLossProbes TcpExtTCPTimeouts` tells. See `TLP` and `RTO`."
        }
        Class::Rto => {
            "Packets were lost, and the sender stood still until its retransmission timer fired: 200 ms or more. \
             See `RTO`."
        }
        Class::Spurious => {
            "The sender repeated packets that were not lost, but late: time went into a recovery that nobody needed."
        }
        Class::ZeroWindow => {
            "The receiver's buffer was full and its window zero: the receiver's program did not read."
        }
        Class::Closing => "After the first FIN: the connection was being closed.",
        Class::Idle => "Nobody waited for anything: no request was open and no data was under way.",
        Class::Unknown => {
            "The packets do not show where it went. A capture at the other end, from the connection's start, or of whole packets \
             may tell more; the section \"Not checked\" of the report says what this one lacks."
        }
    }
}
