//! The receiver left quick-ACK mode: Linux up to 6.1.56 ACKs writes of exactly one `rcv_mss` by
//! the timer once its quick-ACK credits are used up (commits 4720852ed9af and 059217c18be6).

use super::delayed_ack::{hedge, net_wait};
use super::{Detector, Finding, Found, Id, Need, Severity, Side, packets, route, times, us};
use crate::conn::{AckStats, Evidence};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("quickack_exhausted"),
    severity: "high if data waited for these ACKs, else info",
    said_when: "The receiver ACKed the first segments immediately, later ones by the delayed-ACK timer; the change came where Linux's quick-ACK credits end. Segments have PSH and are exactly one `rcv_mss` long. Fixed in Linux 6.6, 6.1.57, 5.15.135, 5.10.198",
    needs: &[Need::BothDirections],
    detect,
};

/// Fewer delayed ACKs are no pattern.
const ENOUGH: u64 = 4;

fn detect(side: &Side<'_>, out: &mut Found) {
    let Some((acks, e)) = evidence(side) else {
        return;
    };
    let handshake = &side.connection.handshake;
    if let Some(unclear) = acks.unclear()
        && is_exact(side, &unclear.evidence, unclear.acks.into())
    {
        out.cannot_tell(Need::RoundTrip);
    }
    // An ACK that the capture does not show makes the next one seem to cover two segments.
    let hidden = side.receiver.hidden();
    let delayed = u64::from(acks.delayed);
    let after = u64::from(acks.immediate.saturating_sub(acks.quick_before)) + delayed;
    let pattern =
        is_exact(side, e, delayed) && delayed * 5 >= after && e.linux_timer * 10 >= delayed * 8;
    if !pattern {
        return;
    }
    let second_late = u64::from(acks.second_late.saturating_sub(hidden));
    if acks.quick_before < 2 {
        // Nobody saw how the connection began: were there quick ACKs?
        if !handshake.is_whole() {
            out.cannot_tell(Need::Handshake);
        }
    } else if !is_explained(side, acks, e) {
        // The change has another reason.
    } else if second_late * 10 <= delayed {
        out.extend([describe(side, acks, e)]);
    } else if !side.has(Need::EveryPacket) {
        out.cannot_tell(Need::EveryPacket);
    }
}

fn evidence<'a>(side: &Side<'a>) -> Option<(&'a AckStats, &'a Evidence)> {
    let acks = side.receiver.acks.as_ref()?;
    Some((acks, acks.evidence.as_deref()?))
}

/// Whether the change came where the quick-ACK credits end, as far as the capture tells.
fn is_explained(side: &Side<'_>, acks: &AckStats, e: &Evidence) -> bool {
    let greeted = side.connection.handshake.synack_at.is_some();
    let known = greeted && side.connection.scale_known(!side.is_a());
    (known || is_timer(side, e)) && acks.model.explains(known) && acks.unclear().is_none()
}

/// If the handshake is missing, the end of the credits is unknown, and a path that became longer looks the same. Only
/// the length of Linux's timer tells: 40 ms, and a tick of at most 10 ms.
fn is_timer(side: &Side<'_>, e: &Evidence) -> bool {
    let median = e.delayed_us.clone().quantiles().p50;
    (38_000..55_000).contains(&median.saturating_sub(side.receiver.path_or_zero()))
}

/// Whether `late` ACKs are a pattern: of single pushed segments, exactly as long as `rcv_mss`, from a side that sends
/// hardly any data.
fn is_exact(side: &Side<'_>, e: &Evidence, late: u64) -> bool {
    let one_way = u64::from(side.receiver.data_segments) * 4 <= late;
    late >= ENOUGH && e.delayed_exact_mss * 10 >= late * 7 && one_way
}

fn describe(side: &Side<'_>, acks: &AckStats, e: &Evidence) -> Finding {
    let first = acks.first_delayed_segment.unwrap_or_default();
    let delayed = u64::from(acks.delayed);
    let (mut quick_us, mut delayed_us) = (acks.immediate_us.clone(), e.delayed_us.clone());
    let (quick, late) = (quick_us.quantiles(), delayed_us.quantiles());
    let waited = e.released_nagle.count + e.released_other.count;
    let held_up = acks.peer_waits() && (waited > 0 || e.released_first);
    let severity = match held_up {
        true => Severity::High,
        false => Severity::Info,
    };
    let mut f = side.finding(DETECTOR.id, severity);
    f.packets = packets(e.packets.iter().copied());
    let (end, each) = (side.receiver_end.ip, net_wait(acks, e, 1));
    let cost = match held_up {
        true => format!(" ({} in all)", net_wait(acks, e, delayed)),
        false => " (no data waited for these ACKs)".to_owned(),
    };
    f.title = format!(
        "{end} answers {each} late, {}{cost}: it waits for a second packet before it acknowledges",
        times(delayed),
    );
    f.cause = format!(
        "The receiver left quick-ACK mode after {} segments. The first {} ACKs came at once (median \
         {}), {delayed} later ones waited for the delayed-ACK timer ({} to {}). Each segment is exactly \
         rcv_mss long ({} bytes): neither more than one segment (ACK at once) nor less (ACK when it \
         is read). Linux does this when its quick-ACK credits (16 at the start) are used up. \"tcp: \
         fix delayed ACKs for MSS boundary condition\" (4720852ed9af) fixed it in 6.6, 6.1.57, \
         5.15.135 and 5.10.198.",
        first.saturating_sub(1),
        acks.quick_before,
        us(quick.p50),
        us(late.min),
        us(late.max),
        side.receiver.rcv_mss,
    );
    hedge(side, acks, &mut f);
    f.remedy = remedies(side);
    if !held_up {
        f.remedy.insert(0, NOTHING.to_owned());
    }
    f
}

const NOTHING: &str =
    "Nothing, unless you need these ACKs sooner: the sender had no data that waited for them.";

fn remedies(side: &Side<'_>) -> Vec<String> {
    let mut list = vec![format!(
        "On {}: upgrade Linux to 6.6, 6.1.57, 5.15.135, 5.10.198 or a later release of these series (Debian 12: \
         linux-image 6.1.0-15) and reboot.",
        side.receiver_end.ip
    )];
    list.extend(quickack_routes(side));
    list
}

/// The ways to have every ACK at once, for the receiver of `side`.
pub(crate) fn quickack_routes(side: &Side<'_>) -> Vec<String> {
    let (to, at) = (side.sender_end.ip, side.receiver_end.ip);
    let (bits, family) = if to.is_ipv4() {
        (32, "ipv4")
    } else {
        (128, "ipv6")
    };
    let route = route::with(to, "quickack 1");
    vec![
        format!("Until the next reboot, on {at}: {route}."),
        format!(
            "To make it permanent (NetworkManager): \
             `nmcli connection modify CONNECTION +{family}.routes \"{to}/{bits} [GATEWAY] quickack=true\"`, \
             then `nmcli connection up CONNECTION`."
        ),
        format!(
            "Or in the program on {at}, before each read: \
             `setsockopt(fd, IPPROTO_TCP, TCP_QUICKACK, &one, sizeof one)`."
        ),
    ]
}
