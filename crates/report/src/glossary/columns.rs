//! The sections of a report, the columns of the table of streams, the verdicts that are no findings, and the short
//! names of findings.

use super::plain;

/// Names (the one of narrow terminals second), and what stands there.
const COLUMNS: &[(&str, &str, &str)] = &[
    (
        "sent",
        "sent",
        "Column: bytes of payload that the client sent, each once.",
    ),
    (
        "received",
        "recvd",
        "Column: bytes of payload that the server sent, each once.",
    ),
    (
        "time",
        "time",
        "Column: from the first packet of the stream to its last.",
    ),
    (
        "retrans",
        "retr",
        "Column: segments of both sides that were sent again.",
    ),
    (
        "ACKs now",
        "ACK now",
        "Column: ACKs of data that came at once, less the path, for one segment.",
    ),
    (
        "2nd",
        "2nd",
        "Column: ACKs that came at once with the second full segment (RFC 1122 4.2.3.2).",
    ),
    (
        "late",
        "late",
        "Column: ACKs that the receiver delayed: no second segment and no data of its own came with them. See `delayed ACK`.",
    ),
    (
        "on data",
        "data",
        "Column: ACKs that travelled on a packet with data of the receiver.",
    ),
    (
        "other",
        "other",
        "Column: ACKs of which the packets do not tell why they came when they did, and those that answered something \
         else than new data.",
    ),
    (
        "not explained",
        "not explained",
        "Section of `tcplab analyze`: what packets show and no finding names: segments sent again, delayed ACKs, long \
         waits of TCP. To look at them yourself: `tcplab analyze --html report.html FILE` draws them, and \
         `tcplab analyze --annotate OUT.pcapng FILE` adds a comment to each packet for Wireshark.",
    ),
    (
        "the two ends",
        "two ends",
        "Section of `tcplab analyze`: time that a program, its send buffer or its receive window took, and that no \
         finding names. It is no fault of the network; whether it is one of the program, packets do not tell.",
    ),
    (
        "not checked",
        "not checked",
        "Section of `tcplab analyze`: causes that could not be looked for, in which streams, and what the capture lacks: \
         the handshake, one direction, whole headers. These causes may be there. Its last lines say how to capture again.",
    ),
    (
        "all-clear",
        "all clear",
        "The green line \"No findings\" of `tcplab analyze`: all causes were looked for in all streams, none was found, and no \
         packet and no long wait of TCP is left over. Without the green line the report says what is missing.",
    ),
    (
        "Seen",
        "seen",
        "Line of a finding: its stream, the packets that show it (numbers as in Wireshark; for a loss, the \
         retransmissions), its id for `tcplab help`, and how many of 100 \
         such findings are right. See `confidence`.",
    ),
    (
        "ok",
        "ok",
        "Verdict: every cause that tcplab knows was looked for in this stream, and none was found.",
    ),
    (
        "partly checked",
        "partly checked",
        "Verdict: nothing was found, but the capture lacks what some causes need to be seen, or packets came after the stream \
         was reported. \"Not checked\" says which.",
    ),
    (
        "resent, not explained",
        "resent, not explained",
        "Verdict: segments were sent again, and no finding says why.",
    ),
    (
        "late ACKs, not explained",
        "late ACKs, not explained",
        "Verdict: ACKs were delayed, and no finding says that anybody waited for them.",
    ),
    (
        "waits, not explained",
        "waits, not explained",
        "Verdict: TCP waited for a tenth of the time or more, and no finding says why. \"Where the time went\" says for what.",
    ),
];

/// The column or verdict of this plain name: its name and what it means.
pub(super) fn find(asked: &str) -> Option<(&'static str, &'static str)> {
    let is = |c: &&(&str, &str, &str)| plain(c.0) == asked || plain(c.1) == asked;
    COLUMNS.iter().find(is).map(|c| (c.0, c.2))
}

/// The names of all.
pub(super) fn names() -> Vec<&'static str> {
    COLUMNS.iter().map(|c| c.0).collect()
}

/// How a table names a finding: in words of its own, or else its id with blanks.
pub(crate) fn short(id: &str) -> String {
    match id {
        "quickack_exhausted" => "left quick-ACK mode",
        "delack_nagle" => "delayed ACK and Nagle",
        "delack_request_response" => "held by delayed ACK",
        "rto_stall" => "RTO stall",
        "spurious_rto" => "spurious RTO",
        "spurious_retransmission_reordering" => "spurious retransmission",
        "syn_retries" => "SYN retries",
        "small_mss" => "small MSS",
        "path_mtu" => "path MTU",
        "large_packets_missing" => "missing large packets",
        other => {
            let words = other.replace('_', " ");
            return match words.strip_prefix("caqm ") {
                Some(what) => format!("CAQM: {what}"),
                None => words,
            };
        }
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tcplab_analyze::findings;

    #[test]
    fn no_two_findings_have_one_name() {
        let mut names: Vec<String> = findings::ids().map(|id| short(id.name())).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
