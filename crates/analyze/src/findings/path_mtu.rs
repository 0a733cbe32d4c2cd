//! Path-MTU discovery at work: a router says that packets are too big for its next link (RFC 1191, RFC 8201).

use std::borrow::Cow;

use tcplab_base::Duration;

use super::{
    Detector, Finding, Id, Severity, Side, length, packets, route, smaller_segments, times,
};
use crate::conn::{Dir, Record, TooBig};

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("path_mtu"),
    severity: "info; if the sender's timer fired despite the messages: high from 1 s of silence, else medium",
    said_when: "ICMP messages (\"fragmentation needed\", \"packet too big\") quote segments of the connection: a link of the path has a smaller MTU. Retransmissions that follow count for no other finding",
    needs: &[],
    detect: |side, out| out.extend(find(side)),
};

/// The sender repaired what a router had called too big.
fn is_repair(r: &Record) -> bool {
    r.too_big && r.duration.is_some()
}

/// The episodes of a sender in which its segments were not too large for the path.
pub(super) fn others<'a>(sender: &'a Dir, receiver: &Dir) -> Cow<'a, [Record]> {
    let ended = sender.loss.as_deref().map(|l| &*l.episodes.ended);
    let all = ended.unwrap_or_default();
    let too_large = |r: &Record| is_repair(r) || smaller_segments::is_cure(sender, receiver, r);
    if !all.iter().any(too_large) {
        return Cow::Borrowed(all);
    }
    let others = all.iter().filter(|r| !too_large(r));
    Cow::Owned(others.cloned().collect())
}

/// What routers said of segments that were too big.
pub(super) fn told<'a>(side: &'a Side<'_>) -> Option<&'a TooBig> {
    side.sender.icmp()?.too_big.as_ref()
}

/// The MTU in words.
pub(super) fn mtu(told: &TooBig) -> String {
    match told.mtu {
        0 => "an MTU that the message does not name".to_owned(),
        mtu => format!("an MTU of {mtu} bytes"),
    }
}

fn find(side: &Side<'_>) -> Option<Finding> {
    let told = told(side)?;
    let ended = side.sender.loss.as_deref().map(|l| &*l.episodes.ended);
    let all = ended.unwrap_or_default();
    // Never repaired: the black hole speaks of it.
    if all
        .last()
        .is_some_and(|r| r.too_big && r.duration.is_none())
        && black_hole(side)
    {
        return None;
    }
    let repairs: Vec<&Record> = all.iter().filter(|r| is_repair(r)).collect();
    let sum = |of: fn(&Record) -> u32| repairs.iter().map(|r| u64::from(of(r))).sum::<u64>();
    let (segments, timeouts) = (sum(|r| r.retransmissions), sum(|r| r.timeouts));
    let cost = |of: fn(&Record) -> Option<Duration>| {
        let all = repairs.iter().filter_map(|r| of(r));
        all.fold(Duration::ZERO, |sum, d| sum + d)
    };
    let silence = cost(|r| Some(r.longest_idle));
    let severity = match timeouts {
        0 => Severity::Info,
        _ if silence >= Duration::from_secs(1) => Severity::High,
        _ => Severity::Medium,
    };
    let mut f = side.finding(DETECTOR.id, severity);
    if !side.is_told(DETECTOR.id) {
        return Some(f);
    }
    f.packets = packets(told.packets.iter().copied());
    let (sender, router) = (side.sender_end.ip, told.from);
    f.title = format!(
        "packets of {sender} were too big for the path: {router} reported {}",
        mtu(told)
    );
    if segments > 0 {
        let noun = if segments == 1 { "segment" } else { "segments" };
        let took = length(cost(|r| r.duration));
        f.title += &format!("; {segments} {noun} sent again, the repairs took {took} in all");
    }
    let name = if router.is_ipv6() {
        "\"packet too big\" (ICMPv6 type 2)"
    } else {
        "\"fragmentation needed\" (ICMP type 3, code 4)"
    };
    f.cause = format!(
        "The next link behind {router} has {}. {router} drops larger packets and says so with {name}; {sender} then sends the \
         same data in smaller packets. This is path-MTU discovery (RFC 1191, RFC 8201), not a bad link. Linux remembers the \
         MTU of a path for 10 minutes.",
        mtu(told)
    );
    if timeouts > 0 {
        f.cause += &format!(
            " Here it did not work in time: the retransmission timer fired {}. The messages do not reach {sender}, or it ignores \
             them.",
            times(timeouts)
        );
    }
    f.remedy = remedy(side, told, timeouts > 0);
    Some(f)
}

/// Whether nothing came through to the end.
fn black_hole(side: &Side<'_>) -> bool {
    super::black_hole::find(side).is_some()
}

/// How to let the messages through, and how to do without them.
pub(super) fn remedy(side: &Side<'_>, told: &TooBig, ignored: bool) -> Vec<String> {
    let (sender, receiver) = (side.sender_end.ip, side.receiver_end.ip);
    let clamp = format!(
        "Lower the MSS on {} to spare new connections this round trip: `nft add rule inet filter forward tcp flags syn tcp option \
         maxseg size set rt mtu`.",
        told.from
    );
    let route = match told.mtu {
        0 => None,
        mtu => Some(format!(
            "Or tell {sender} the MTU, until the next reboot: {}.",
            route::with(receiver, &format!("mtu {mtu}"))
        )),
    };
    let pass = ignored.then(|| {
        format!(
            "Capture on {sender}. If the messages do not arrive there, let ICMP pass on the way; if they do, check its packet \
             filter and `sysctl net.ipv4.ip_no_pmtu_disc` (0)."
        )
    });
    pass.into_iter().chain([clamp]).chain(route).collect()
}
