//! An end announced a small MSS (RFC 9293 3.7.1, RFC 6691), and the segments of its peer are as small as that.
//!
//! Why it did so the packets do not tell: a tunnel, a device that rewrites the option, a setting. An end that sends no MSS
//! option has announced nothing. On the loopback device no path limits a segment.

use super::{Detector, Finding, Id, Need, Severity, Side};
use crate::conn::Dir;

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("small_mss"),
    severity: "info",
    said_when: "An end announced an MSS below 1,220 bytes (not on loopback), and its peer filled it: 16 full segments of data or more, the longest segment a full one (or a super-segment of several), segments three quarters full on average",
    needs: &[Need::Handshake, Need::WholeHeaders],
    detect: |side, out| out.extend(find(side)),
};

/// What IPv6's least MTU of 1,280 bytes leaves for a segment (RFC 8200 5): every path can carry that much.
const LEAST: u16 = 1_220;
/// Linux takes a smaller one for this (`tcp_min_snd_mss`): it limits nobody.
const SMALLEST: u16 = 48;
/// A shorter transfer hardly gains from longer segments.
const BULK: u64 = 16;
/// What an MTU of 1,500 bytes leaves over IPv4 and over IPv6.
const ETHERNET: [u32; 2] = [1_460, 1_440];

/// This side announced a small MSS.
pub(super) fn is_announced(d: &Dir) -> bool {
    d.mss.is_some_and(|mss| (SMALLEST..LEAST).contains(&mss))
}

fn find(side: &Side<'_>) -> Option<Finding> {
    let (sender, receiver) = (side.sender, side.receiver);
    let mss = receiver.mss.filter(|_| is_announced(receiver))?;
    let full = sender.mss_bound(receiver.mss)?;
    if side.receiver_end.ip.is_loopback() || !is_full(sender, full.into()) {
        return None;
    }
    let (to, from) = (side.receiver_end.ip, side.sender_end.ip);
    let syn = if side.sender_is_client() {
        "SYN-ACK"
    } else {
        "SYN"
    };
    let usual = ETHERNET[usize::from(to.is_ipv6())];
    let mut f = side.finding(DETECTOR.id, Severity::Info);
    f.title = format!("{to} announced an MSS of {mss} bytes, so {from} sends small segments");
    f.cause = format!(
        "The {syn} of {to} limits segments from {from} to {mss} bytes; {usual} are usual on Ethernet. Either the path has a \
         tunnel, or a device on it lowers the MSS, or the interface of {to} has a small MTU. The same data needs {} times as \
         many packets and headers.",
        ratio(usual, mss.into())
    );
    f.remedy = remedy(side);
    Some(f)
}

/// It sent much, in segments that are full or nearly so. A super-segment is a whole number of full ones.
fn is_full(d: &Dir, full: u64) -> bool {
    d.unique_bytes >= BULK * full
        && u64::from(d.max_payload).is_multiple_of(full)
        && d.data_bytes * 4 >= u64::from(d.data_segments) * full * 3
}

/// To one decimal.
fn ratio(usual: u32, mss: u32) -> String {
    let tenths = (usual * 10 + mss / 2) / mss.max(1);
    format!("{}.{}", tenths / 10, tenths % 10)
}

fn remedy(side: &Side<'_>) -> Vec<String> {
    let (to, from) = (side.receiver_end.ip, side.sender_end.ip);
    vec![
        format!(
            "On {to}, check the MTU of the interface and the route: `ip link show`, `ip route get {from}` (a route's `mtu` and \
             `advmss` lower the MSS)."
        ),
        format!("Find where the path narrows: `tracepath {to}` on {from}, `tracepath {from}` on {to}."),
        "Look for rules that lower the MSS on both hosts and on the routers between them: `nft list ruleset | grep maxseg`, \
         `iptables-save | grep TCPMSS`. If the path has no tunnel, remove the rule or raise its value."
            .to_owned(),
    ]
}
