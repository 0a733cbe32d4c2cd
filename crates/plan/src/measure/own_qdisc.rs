//! What a host's capture does not see: the kernel's qdisc on the host's own link is in front of it.

use super::is_host;
use crate::endless::is_instant;
use crate::point::{By, Point};

/// Figures that lack the time and the bytes in that qdisc.
const LACKING: [&str; 5] = [
    "max_in_flight_bytes",
    "rtt_us.min",
    "rtt_us.p50",
    "rtt_us.p95",
    "rtt_us.max",
];

/// Whether a host of this name, or group, sends into a qdisc of the kernel's that takes time.
pub fn is_behind_own_qdisc(point: &Point, owner: &str) -> bool {
    let owns = |at: usize| point.hosts.get(at).is_some_and(|host| is_host(host, owner));
    let kernels = point.links.iter().filter(|link| link.by == By::Kernel);
    let mut ways = kernels.flat_map(|link| [(link.a, &link.a_to_b), (link.b, &link.b_to_a)]);
    ways.any(|(from, way)| owns(from) && !is_instant(way))
}

/// Why a figure of this host's packets is not the one that was asked for.
pub(super) fn lacks(point: &Point, owner: &str, name: &str) -> Option<String> {
    (LACKING.contains(&name) && is_behind_own_qdisc(point, owner)).then(|| {
        format!(
            "with by = \"kernel\" the capture of {owner} is behind the qdisc of its own link, so this would lack the queue \
             and delay there: measure `{owner}.tcpi_rtt`, or write by = \"tcplab\""
        )
    })
}
