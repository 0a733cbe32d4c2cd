//! Everything of one direction, or everything large, vanishes (RFC 2923, RFC 4821).

use super::{
    Detector, Finding, Id, Need, Severity, Side, icmp, length, packets, path_mtu, route,
    smaller_segments, times,
};
use crate::conn::{Record, Segment, TooBig};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("black_hole"),
    severity: "high",
    said_when: "At least three timeouts without progress, to the end of the capture. It is a path-MTU black hole if smaller segments arrived but never a full one: then two timeouts are enough if at least two full segments wait. Or, after at least two timeouts, the same data arrived in smaller segments, and no full one had arrived before: the sender got around the black hole",
    needs: &[],
    detect: |side, out| {
        // Without the data it may be that nothing arrived any more.
        if side.is_used() && !side.has(Need::Data) && !side.connection.over {
            out.cannot_tell(Need::Data);
        }
        let found = find(side);
        if found.is_some() && side.may_go_on() {
            out.cannot_tell(Need::LaterPackets);
        } else {
            out.extend(found.or_else(|| got_around(side)));
        }
    },
};

/// So many timeouts without any progress, to the end of the capture.
const ENOUGH: u32 = 3;
/// So many, when everything shows that only large packets are lost.
const ENOUGH_LARGE: u32 = 2;

/// What of a sender arrives, while the first unACKed segment is full.
struct Large {
    /// No full segment was ever ACKed or SACKed.
    none_arrived: bool,
    /// Smaller data was.
    small_arrived: bool,
    /// Payload of a full segment, and how many of that length are waiting for their ACK.
    full: u32,
    waiting: u32,
}

impl Large {
    fn look(side: &Side<'_>, stuck: u32) -> Option<Self> {
        let full = side.sender.wire_mss(side.receiver.mss)?;
        if stuck < full {
            return None;
        }
        let acks = side.receiver.acks.as_ref();
        let (large, small): (Vec<&Segment>, Vec<&Segment>) = side
            .sender
            .flight
            .iter()
            .filter(|s| s.payload > 0)
            .partition(|s| s.payload >= full);
        Some(Self {
            none_arrived: !acks.is_some_and(|a| a.full_segment) && !large.iter().any(|s| s.sacked),
            small_arrived: acks.is_some() || small.iter().any(|s| s.sacked),
            full,
            // One super-segment stands for several.
            waiting: large.iter().map(|s| s.payload / full).sum(),
        })
    }

    /// Two timeouts are enough: the first repeated segment had the time to be ACKed, too.
    fn certain(&self) -> bool {
        self.none_arrived && self.small_arrived && self.waiting > 1
    }
}

pub(crate) fn find(side: &Side<'_>) -> Option<Finding> {
    let last = side.episodes().last()?;
    if last.duration.is_some() || last.timeouts < ENOUGH_LARGE || is_answered(side) {
        return None;
    }
    if side.receiver.packets == 0 {
        // Only the repetitions speak: each one after a timeout, and no new data among them.
        let sender = side.sender;
        let to_the_end = sender.last_packet == sender.last_data && !sender.fin_seen;
        let stuck = last.retransmissions <= last.timeouts + 1 && !last.more_to_send && to_the_end;
        return (stuck && last.timeouts >= ENOUGH).then(|| finding(side, last, None));
    }
    let look = Large::look(side, side.sender.flight.front()?.payload);
    if last.timeouts < ENOUGH && !look.as_ref().is_some_and(Large::certain) {
        return None;
    }
    let large = look.filter(|l| l.none_arrived).map(|l| l.full);
    Some(finding(side, last, large))
}

/// Whether this finding speaks of the episode: it is the one that never ended.
pub(super) fn explains(side: &Side<'_>, r: &Record) -> bool {
    r.duration.is_none() && find(side).is_some()
}

/// The receiver answered with a RST: the packets do arrive, and it no longer knows the connection.
fn is_answered(side: &Side<'_>) -> bool {
    let reset = side
        .receiver
        .rare
        .as_deref()
        .and_then(|r| r.reset.as_deref());
    reset.is_some_and(|r| r.answers)
}

/// `large` is the payload of full segments, when only these vanish.
fn finding(side: &Side<'_>, last: &Record, large: Option<u32>) -> Finding {
    let mut f = side.finding(DETECTOR.id, Severity::High);
    f.packets = packets([last.packet]);
    let (sender, tried) = (side.sender_end, times(u64::from(last.timeouts)));
    f.title = if large.is_some() {
        format!("nothing large from {sender} arrives any more, small packets do: it tried {tried}")
    } else {
        format!(
            "{sender} gets no ACK any more: it sent the same data again, and its timer fired {tried}"
        )
    };
    let told = path_mtu::told(side).filter(|_| last.too_big);
    (f.cause, f.remedy) = match (told, large) {
        (Some(told), _) => ignored(side, told),
        (None, Some(full)) => only_large(side, full),
        (None, None) => everything(side, &tried),
    };
    f
}

/// The sender made its segments smaller after timeouts, and these arrive.
fn got_around(side: &Side<'_>) -> Option<Finding> {
    let r = smaller_segments::first(side.sender, side.receiver, smaller_segments::at_sender)?;
    let mut f = side.finding(DETECTOR.id, Severity::High);
    f.packets = packets([r.packet]);
    let sender = side.sender_end;
    let full = side.sender.mss_bound(side.receiver.mss).unwrap_or(0);
    f.title = format!(
        "nothing large from {sender} arrived: after {} timeouts, {} in all, it sent smaller segments, which do",
        r.timeouts,
        length(r.duration.unwrap_or_default())
    );
    f.cause = format!(
        "Full segments of {full} bytes got no ACK; the same data in smaller ones did. The path's MTU is smaller, and the ICMP \
         message that should say so does not come through (path-MTU black hole). {} found a size that passes by itself, as \
         `tcp_mtu_probing` does (RFC 4821); each new connection pays for that again.",
        sender.ip
    );
    f.remedy = vec![
        "Let ICMP \"fragmentation needed\" and \"packet too big\" pass to the sender.".to_owned(),
        format!(
            "Or lower the MSS: on {}, {}, or `nft ... tcp option maxseg size set rt mtu` on the router of the narrow link.",
            side.receiver_end.ip,
            route::with(sender.ip, "advmss BYTES")
        ),
    ];
    Some(f)
}

/// Routers say that packets are too big, and the sender goes on.
fn ignored(side: &Side<'_>, told: &TooBig) -> (String, Vec<String>) {
    let (sender, router) = (side.sender_end.ip, told.from);
    let cause = format!(
        "{router} reported {} ({}), and {sender} goes on sending larger packets: the ICMP messages do not reach it, or it ignores \
         them (path MTU black hole).",
        path_mtu::mtu(told),
        times(u64::from(told.count))
    );
    (cause, path_mtu::remedy(side, told, true))
}

/// Full segments vanish, and nobody says why.
fn only_large(side: &Side<'_>, full: u32) -> (String, Vec<String>) {
    let cause = format!(
        "Full segments of {full} bytes are never ACKed while small packets pass: the path's MTU is smaller, and the ICMP message \
         that should say so does not come through (path MTU black hole)."
    );
    let remedy = vec![
        format!(
            "On {}: `sysctl net.ipv4.tcp_mtu_probing=1` lets TCP find the size itself.",
            side.sender_end.ip
        ),
        "Or let ICMP \"fragmentation needed\" and \"packet too big\" pass, or lower the MTU or MSS (ip route ... advmss, nft ... \
         tcp option maxseg size set rt mtu)."
            .to_owned(),
    ];
    (cause, remedy)
}

/// Nothing comes back at all.
fn everything(side: &Side<'_>, tried: &str) -> (String, Vec<String>) {
    let mut cause = format!(
        "The retransmission timer fired {tried} and no ACK came back: the packets or their ACKs are lost, {} is gone, or a device \
         on the path dropped its state.",
        side.receiver_end.ip
    );
    if let Some(refused) = side.sender.icmp().and_then(|i| i.refused.as_ref()) {
        let (from, error) = (refused.error.from, icmp::named(&refused.error));
        cause += &format!(" {from} answered with {error}.");
    }
    let remedy =
        "Check the path, and the idle times of NAT and firewalls on it: they forget connections.";
    (cause, vec![remedy.to_owned()])
}
