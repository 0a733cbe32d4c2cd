//! TCP options and ECN that the two ends did not agree on, or that something on the way took out.
//!
//! That one end offers what the other does not answer may be that end's setting. An end that uses what its own SYN-ACK does
//! not have, or that does not use what both SYNs have, never saw what the other sent: that shows a device on the way.

use tcplab_wire::Endpoint;

use super::{Detector, Finding, Id, Need, Severity, Side};
use crate::conn::Dir;

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("option_not_agreed"),
    severity: "medium for window scale and SACK, else info",
    said_when: "A SYN offered window scale, SACK, time stamps or ECN, the SYN-ACK lacks it, and the connection carried 16 segments or more one way: the peer has it off, or a device removed it. It was certainly a device in three cases: an end uses time stamps or window scale that its SYN-ACK lacks; an end does not use these options though both SYNs have them; ECN was agreed, and no data is marked for ECN",
    needs: &[Need::Handshake, Need::WholeHeaders],
    detect: |side, out| {
        if side.sender_is_client() && carries(side) {
            out.extend(refused(side));
            out.extend(removed(side));
        }
    },
};

/// A shorter transfer hardly needs any of them.
const BULK: u32 = 16;
/// An end that does not use what was agreed shows it in so many packets.
const SHOWN: u32 = 3;

/// A window that was scaled down by so much, or more, and was not small before: nobody takes back what it offered.
const SHRUNK: u32 = 16;
const SYN_WINDOW: u16 = 8_192;

/// What a SYN may offer.
struct Kind {
    name: &'static str,
    /// The sysctl of Linux that turns it on, and its value.
    sysctl: &'static str,
    offered: fn(&Dir) -> bool,
    /// What it costs not to have it.
    cost: &'static str,
    severity: Severity,
}

const SCALE: Kind = Kind {
    name: "window scale",
    sysctl: "net.ipv4.tcp_window_scaling=1",
    offered: |d| d.window_scale.is_some(),
    cost: " Without window scale at most 64 kB are on their way at a time, which is slow on long paths (RFC 7323).",
    severity: Severity::Medium,
};
const SACK: Kind = Kind {
    name: "SACK",
    sysctl: "net.ipv4.tcp_sack=1",
    offered: |d| d.sack_permitted,
    cost: " Without SACK several losses in one round trip take a round trip each, or a timeout (RFC 2018).",
    severity: Severity::Medium,
};
const STAMPS: Kind = Kind {
    name: "time stamps",
    sysctl: "net.ipv4.tcp_timestamps=1",
    offered: |d| d.stamps_offered,
    cost: " Without time stamps needless retransmissions are harder to tell from needed ones (RFC 3522).",
    severity: Severity::Info,
};
const ECN: Kind = Kind {
    name: "ECN",
    sysctl: "net.ipv4.tcp_ecn=1",
    offered: |d| d.ecn_offered,
    cost: " Without ECN a full queue can only drop (RFC 3168).",
    severity: Severity::Info,
};

fn carries(side: &Side<'_>) -> bool {
    side.sender.data_segments.max(side.receiver.data_segments) >= BULK
}

/// An end uses time stamps, or does not, against what its own SYN and that of its peer say (RFC 7323 3.2).
fn stamps_removed(client: &Dir, server: &Dir) -> bool {
    let before = !server.stamps_offered && server.stamps_used;
    let behind = server.stamps_offered && !client.stamps_used && client.packets > SHOWN;
    client.stamps_offered && (before || behind)
}

/// The server scales the windows that it advertises, though its SYN-ACK does not say so: they are a small part of the one in
/// the SYN-ACK, from the first one on.
fn scale_removed(client: &Dir, server: &Dir) -> bool {
    let largest = server.window_range.1;
    client.window_scale.is_some()
        && server.window_scale.is_none()
        && server.packets > SHOWN
        && server.syn_window >= SYN_WINDOW
        && largest.saturating_mul(SHRUNK) < server.syn_window.into()
}

/// Offered and not answered, and nothing shows who it was.
fn refused(side: &Side<'_>) -> Option<Finding> {
    let (client, server) = (side.sender, side.receiver);
    let kinds: Vec<&Kind> = [&SCALE, &SACK, &STAMPS, &ECN]
        .into_iter()
        .filter(|k| (k.offered)(client) && !(k.offered)(server))
        .filter(|k| k.name != STAMPS.name || !stamps_removed(client, server))
        .filter(|k| k.name != SCALE.name || !scale_removed(client, server))
        .collect();
    let (a, b) = (side.sender_end.ip, side.receiver_end.ip);
    let (names, mut f) = begin(side, &kinds)?;
    let it = if kinds.len() == 1 { "it" } else { "them" };
    f.title = format!("{a} offered {names}, and the answer of {b} came without {it}");
    f.cause = format!(
        "Either {b} has {names} switched off, or a device on the way took {it} out of the SYN or the answer. One capture \
         cannot tell which; captures at both ends can (`tcplab analyze --pair A B`).{}",
        costs(&kinds)
    );
    let settings: Vec<&str> = kinds.iter().map(|k| k.sysctl).collect();
    f.remedy = vec![
        format!("On {b}, switch it on: `sysctl -w {}`.", settings.join(" ")),
        format!(
            "Capture the SYN at {b}, too: if it comes without {names} there, a firewall or proxy between removed it (\"TCP \
             normalization\", \"SYN proxy\")."
        ),
    ];
    Some(f)
}

/// Taken out on the way, as later packets show.
fn removed(side: &Side<'_>) -> Vec<Finding> {
    let (client, server) = (side.sender, side.receiver);
    let ends = [side.sender_end, side.receiver_end];
    let mut all = Vec::new();
    if stamps_removed(client, server)
        && let Some((_, f)) = begin(side, &[&STAMPS])
    {
        all.push(stamps(f, ends, server.stamps_offered));
    }
    if scale_removed(client, server)
        && let Some((_, f)) = begin(side, &[&SCALE])
    {
        all.push(scale(f, ends, server));
    }
    let agreed = client.ecn_offered && server.ecn_offered;
    for (from_client, sender) in [(true, client), (false, server)] {
        let rare = sender.rare.as_deref();
        let marked = rare.is_some_and(|r| r.ecn_ect + r.ecn_ce > 0);
        // A capture at the sender sees options before anything can remove them.
        let away = side.has(if from_client {
            Need::AtReceiver
        } else {
            Need::AtSender
        });
        if agreed
            && away
            && !marked
            && sender.data_segments >= BULK
            && let Some((_, f)) = begin(side, &[&ECN])
        {
            all.push(bleached(f, ends, from_client));
        }
    }
    all
}

fn stamps(mut f: Finding, [client, server]: [Endpoint; 2], behind: bool) -> Finding {
    let (a, b) = (client.ip, server.ip);
    f.title = format!("something on the way from {b} to {a} took time stamps out of the SYN-ACK");
    let shows = if behind {
        format!(
            "The SYN and the SYN-ACK have time stamps here, and no later packet of {a} has: {a} got the SYN-ACK without."
        )
    } else {
        format!(
            "The SYN-ACK came without time stamps, and {b} sends them on its other packets: it had put them there, too."
        )
    };
    f.cause = format!(
        "{shows} {b} believes that both agreed to them, {a} does not (RFC 7323 3.2); some systems drop packets for that.{}",
        STAMPS.cost
    );
    f.remedy = vec![device(a.to_string(), b.to_string())];
    f
}

fn scale(mut f: Finding, [client, server]: [Endpoint; 2], sender: &Dir) -> Finding {
    let (a, b) = (client.ip, server.ip);
    let largest = sender.window_range.1;
    f.title = format!("something on the way from {b} to {a} took window scale out of the SYN-ACK");
    f.cause = format!(
        "The SYN-ACK of {b} offers {} bytes, and no later packet offers more than {largest}: {b} scales its windows down, \
         and {a}, which saw no window scale, takes them as bytes (RFC 7323 2.2). {a} sends that little at a time, and {b} \
         believes that {a} takes more than it does.",
        sender.syn_window
    );
    f.remedy = vec![
        device(a.to_string(), b.to_string()),
        format!(
            "Until then, switch it off at one end: `sysctl -w net.ipv4.tcp_window_scaling=0` on {b}."
        ),
    ];
    f
}

fn bleached(mut f: Finding, ends: [Endpoint; 2], from_client: bool) -> Finding {
    let [client, server] = ends.map(|e| e.ip.to_string());
    let (a, b) = if from_client {
        (client, server)
    } else {
        (server, client)
    };
    f.title = format!("something on the way from {a} to {b} clears the ECN bits of its packets");
    f.cause = format!(
        "Both ends agreed to ECN, and no data of {a} arrives marked for it (ECT, RFC 3168): a router or tunnel between \
         clears the bits.{}",
        ECN.cost
    );
    f.remedy = vec![device(a, b)];
    f
}

fn device(a: String, b: String) -> String {
    format!(
        "Find the device between {a} and {b}: capture at more places and compare two at a time (`tcplab analyze --pair A \
         B` lists what was changed). Firewalls call it \"TCP normalization\" or \"option filtering\"."
    )
}

/// The names for a sentence, and a finding to fill in.
fn begin(side: &Side<'_>, kinds: &[&Kind]) -> Option<(String, Finding)> {
    let severity = kinds.iter().map(|k| k.severity).min()?;
    let names: Vec<&str> = kinds.iter().map(|k| k.name).collect();
    Some((names.join(" and "), side.finding(DETECTOR.id, severity)))
}

fn costs(kinds: &[&Kind]) -> String {
    kinds.iter().map(|k| k.cost).collect()
}
