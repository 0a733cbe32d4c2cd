//! TCP options that one side offered and the other did not take, in a connection that would have needed them.

use super::{Detector, Finding, Id, Need, Severity, Side};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("option_not_agreed"),
    severity: "medium for window scale and SACK, else info",
    said_when: "A SYN offered window scale, SACK or time stamps, the SYN-ACK answers without it, and the connection carried 16 segments or more one way: the peer has it off, or a device on the way removed it",
    needs: &[Need::Handshake, Need::WholeHeaders],
    detect: |side, out| {
        if side.sender_is_client() {
            out.extend(find(side));
        }
    },
};

/// A shorter transfer hardly needs any of them.
const BULK: u32 = 16;

fn find(side: &Side<'_>) -> Option<Finding> {
    let (client, server) = (side.sender, side.receiver);
    if client.data_segments.max(server.data_segments) < BULK {
        return None;
    }
    let scale = client.window_scale.is_some() && server.window_scale.is_none();
    let sack = client.sack_permitted && !server.sack_permitted;
    let stamps = client.timestamps_offered && !server.timestamps_offered;
    let named = [
        (scale, "window scale"),
        (sack, "SACK"),
        (stamps, "time stamps"),
    ];
    let names: Vec<&str> = named.iter().filter(|n| n.0).map(|n| n.1).collect();
    let severity = if scale || sack {
        Severity::Medium
    } else {
        Severity::Info
    };
    let (a, b) = (side.sender_end.ip, side.receiver_end.ip);
    let mut f = side.finding(DETECTOR.id, severity);
    let (names, it) = match &names[..] {
        [one] => ((*one).to_owned(), "it"),
        [all @ .., last] => (format!("{} and {last}", all.join(", ")), "them"),
        [] => return None,
    };
    f.title = format!("{a} offered {names}, and the answer of {b} came without {it}");
    let costs = [
        (
            scale,
            " Without window scale at most 64 kB are on their way at a time, which is slow on long paths (RFC 7323).",
        ),
        (
            sack,
            " Without SACK several losses in one round trip take a round trip each, or a timeout (RFC 2018).",
        ),
        (
            stamps,
            " Without time stamps needless retransmissions are harder to tell from needed ones (RFC 3522).",
        ),
    ];
    let costs: String = costs.iter().filter(|c| c.0).map(|c| c.1).collect();
    f.cause = format!(
        "Either {b} has {names} switched off, or a device on the way took {it} out of the SYN or the answer. One capture \
         cannot tell which; captures at both ends can.{costs}"
    );
    f.remedy = vec![
        format!(
            "On {b}, look at `sysctl net.ipv4.tcp_window_scaling net.ipv4.tcp_sack net.ipv4.tcp_timestamps` (1 each)."
        ),
        format!(
            "Capture the SYN at {b}, too: if it comes without {names} there, a firewall or proxy between removed it (\"TCP \
             normalization\", \"SYN proxy\")."
        ),
    ];
    Some(f)
}
