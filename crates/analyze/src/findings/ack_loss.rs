//! ACKs that did not come through: the IP identification of a receiver that only ACKs counts its packets (RFC 6864), and
//! numbers are missing.

use super::{Detector, Finding, Found, Id, Need, Severity, Side, ack_thinning};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("ack_loss"),
    severity: "medium if a quarter of the ACKs or more are missing, else info",
    said_when: "The capture lacks at least three, and at least 1 %, of the packets that a bulk receiver numbered (IPv4 identification), and shows no signs of an ACK filter",
    needs: &[Need::Data, Need::BothDirections, Need::EveryPacket],
    detect: |side, out| {
        let found = Thinned::look(side, out).filter(|t| !ack_thinning::is_filter(t));
        out.extend(found.map(|t| finding(side, t)));
    },
};

/// Fewer ACKs are no sample, fewer missing ones may be chance.
const ENOUGH: u32 = 20;
const SOME: u32 = 3;
/// If one of so many ACKs is of more than two segments, ACKs may be missing.
const STRETCHED: u64 = 20;

/// ACKs that a capture does not show, though their sender counted them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Thinned {
    /// How many, and of how many.
    pub lost: u32,
    pub all: u32,
    /// How the time between two ACKs grows with the numbers that are missing between them.
    pub power: Option<f64>,
}

impl Thinned {
    /// What is missing; says where that cannot be told.
    pub(super) fn look(side: &Side<'_>, out: &mut Found) -> Option<Self> {
        let ids = side.sender.load()?.ack_ids;
        // Beside the receiver no ACK is lost.
        if side.has(Need::AtReceiver) || side.receiver.data_segments * 20 > side.receiver.packets {
            return None;
        }
        let seen = ids.next + ids.gaps;
        // Systems that begin with TTL 128 or 255 share one counter among all connections.
        let counts = seen >= ENOUGH && ids.strange * 20 <= seen;
        let numbered = counts && side.receiver.ttl <= 64 && (ids.next > 0 || ids.power().is_some());
        if !numbered {
            // A receiver that ACKs each second segment (RFC 5681 4.2) shows that none is missing; one that ACKs what its
            // GRO joined looks like one whose ACKs are thinned out.
            let acks = side.receiver.acks.as_ref().map_or(0, |a| a.total());
            if u64::from(ids.stretched) * STRETCHED > acks.max(ENOUGH.into()) {
                out.cannot_tell(Need::AtReceiver);
            }
            return None;
        }
        let lost = ids.missing.checked_sub(ids.late)?;
        let all = seen + lost;
        // Each segment causes one ACK at most: a counter that runs faster counts something else, too.
        let full = u64::from(side.sender.max_payload.clamp(1, 1460));
        let segments = side.sender.data_bytes / full + u64::from(side.sender.data_segments);
        if lost < SOME || lost * 100 < all || ids.late * 4 > lost || u64::from(all) > segments {
            return None;
        }
        // The sender echoes packets that the capture does not show: it was the capture that lost them. One in four data
        // packets was looked at.
        let unseen = side.sender.load()?.heard.unseen;
        let sampled = !side.has(Need::TimeStamps) && ids.is_regular();
        if unseen * 16 >= lost || sampled {
            out.cannot_tell(Need::EveryPacket);
            return None;
        }
        Some(Self {
            lost,
            all,
            power: ids.power(),
        })
    }

    pub(super) fn severity(self) -> Severity {
        if self.lost * 4 >= self.all {
            Severity::Medium
        } else {
            Severity::Info
        }
    }

    /// Share of the ACKs that did not come, per cent.
    pub(super) fn share(self) -> f64 {
        f64::from(self.lost) * 100.0 / f64::from(self.all.max(1))
    }
}

fn finding(side: &Side<'_>, t: Thinned) -> Finding {
    let (a, b) = (side.sender_end.ip, side.receiver_end.ip);
    let mut f = side.finding(DETECTOR.id, t.severity());
    f.title = format!(
        "at least {} of {} ACKs from {b} did not reach {a} ({:.1} %)",
        t.lost,
        t.all,
        t.share()
    );
    f.cause = format!(
        "{b} numbers its packets, and numbers are missing: the ACKs were lost on the way, or a filter that other traffic \
         hides took them out. TCP copes with it, because each ACK covers all before; {a} then sends in larger bursts, and \
         the last ACK of a burst is missed."
    );
    f.remedy = vec![
        format!(
            "Look at the way from {b} to {a}: a slow or full uplink (`tc -s qdisc`, `ip -s link` at {b}) loses ACKs first."
        ),
        "If there is an ACK filter and throughput suffers, switch it off (`tc qdisc change ... cake no-ack-filter`)."
            .to_owned(),
    ];
    f
}
