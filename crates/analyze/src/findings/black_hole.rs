//! Everything of one direction, or everything large, vanishes (RFC 2923, RFC 4821).

use super::{Finding, Id, Severity, Side, packets, times};

/// So many timeouts without any progress, to the end of the capture.
const ENOUGH: u32 = 3;

pub(crate) fn find(side: &Side<'_>) -> Option<Finding> {
    let last = side.episodes().last()?;
    if last.duration.is_some() || last.timeouts < ENOUGH {
        return None;
    }
    let stuck = side.sender.flight.front()?;
    let large = stuck.payload > 0
        && stuck.payload >= side.sender.max_payload
        && side.sender.ordinal > 0
        && side
            .sender
            .wire_mss(side.receiver.mss)
            .is_some_and(|m| stuck.payload >= m);
    let mut f = side.finding(Id::BlackHole, Severity::High, 0.99);
    f.packets = packets([last.packet]);
    f.title = format!(
        "nothing{} from {} arrives any more: {} timeouts, no progress",
        if large { " large" } else { "" },
        side.sender_end,
        last.timeouts
    );
    f.cause = if large {
        format!(
            "Full segments of {} bytes are never ACKed while small packets pass: the path's MTU is \
             smaller than the segments, and the ICMP message that should say so does not come \
             through (path MTU black hole).",
            stuck.payload
        )
    } else {
        format!(
            "The retransmission timer fired {} and nothing came back: the path to {} is cut, or a \
             device on it dropped its state.",
            times(u64::from(last.timeouts)),
            side.receiver_end
        )
    };
    f.remedy = if large {
        vec![
            "Let ICMP \"fragmentation needed\" / \"packet too big\" pass, or lower the MTU or MSS \
             (ip route ... advmss, nft ... tcp option maxseg size set rt mtu)."
                .to_owned(),
            format!(
                "On {}: `sysctl net.ipv4.tcp_mtu_probing=1` lets TCP find the size itself.",
                side.sender_end.ip
            ),
        ]
    } else {
        vec!["Check the path and stateful devices on it (NAT and firewall idle times).".to_owned()]
    };
    Some(f)
}
