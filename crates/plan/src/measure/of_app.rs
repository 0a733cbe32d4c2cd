//! The values of an application: what its connections did together.

use super::value::Sources;
use super::{fairness, is_app};
use crate::AppKind;
use crate::outcome::{Flow, KEPT_LATENCIES};

/// Stands in the reason of a missing value that is larger than all others, but unknown: without these runs a mean of the
/// others is too small.
pub const IS_SLOWEST: &str = "counts as slower than all others";

impl Sources<'_> {
    /// Requests and pings whose time-out passed. One that was under way when the run ended is not lost.
    fn lost(&self, owner: &str, flows: &[&Flow]) -> Result<f64, String> {
        let apps = || self.point.apps.iter().filter(|app| is_app(app, owner));
        if apps().any(|app| matches!(app.does, AppKind::UdpRr { .. })) {
            return Ok(flows.iter().map(|flow| flow.client.lost).sum::<u64>() as f64);
        }
        let mut apps = apps();
        let timeout_ns = apps.find_map(|app| match app.does {
            AppKind::Ping { timeout_ns, .. } => Some(timeout_ns),
            _ => None,
        });
        let pings: Vec<_> = flows.iter().flat_map(|f| &f.client.pings).collect();
        let (Some(timeout_ns), false) = (timeout_ns, pings.is_empty()) else {
            return Err("the application sent no ping, and is no `udp-rr`".to_owned());
        };
        let is_lost = |(sent_ns, rtt): &&&(i64, Option<i64>)| {
            rtt.is_none() && sent_ns.saturating_add(timeout_ns) <= self.outcome.virtual_ns
        };
        Ok(pings.iter().filter(is_lost).count() as f64)
    }

    fn is_replay(&self, owner: &str) -> bool {
        let mut apps = self.point.apps.iter();
        apps.any(|app| is_app(app, owner) && app.does.is_replay())
    }

    /// The value of a field of [`super::APP`].
    pub(super) fn app(&self, owner: &str, field: &str) -> Result<f64, String> {
        let flows: Vec<&Flow> = self.flows(owner).collect();
        if flows.is_empty() {
            return Err("the application opened no connection".to_owned());
        }
        let count = |of: &dyn Fn(&Flow) -> u64| {
            flows
                .iter()
                .fold(0_u64, |sum, flow| sum.saturating_add(of(flow))) as f64
        };
        if let Some(which) = field.strip_prefix("latency_us.") {
            let lost = self.lost(owner, &flows).unwrap_or_default();
            return latency(&flows, which, lost as u64).map_err(|why| why.replace("APP", owner));
        }
        if ["connection_bps.", "jain.", "to_fair_us."]
            .iter()
            .any(|of| field.starts_with(of))
        {
            let times = (self.point.tcp_info_every_ns, self.outcome.virtual_ns);
            return fairness::value(&flows, times, field);
        }
        match field {
            "connections" => Ok(count(&|f| u64::from(f.client.opened_ns.is_some()))),
            "failed" => Ok(count(&|f| {
                u64::from(f.client.opened_ns.is_none() || has_error(f))
            })),
            "completed" => {
                let mut apps = self.point.apps.iter().filter(|app| is_app(app, owner));
                let server_writes = apps.any(|app| {
                    matches!(
                        app.does,
                        AppKind::Bulk { reverse: true, .. } | AppKind::Stream { .. }
                    )
                });
                Ok(count(&|f| match server_writes {
                    true => f.server.completed,
                    false => f.client.completed,
                }))
            }
            "client_written_bytes" => Ok(count(&|f| f.client.written_bytes)),
            "client_read_bytes" => Ok(count(&|f| f.client.read_bytes)),
            "server_written_bytes" => Ok(count(&|f| f.server.written_bytes)),
            "server_read_bytes" => Ok(count(&|f| f.server.read_bytes)),
            "lost" => self.lost(owner, &flows),
            "sent" => self.lost(owner, &flows).map(|_| count(&sent)),
            "duration_us" => match flows.iter().filter(|flow| flow.is_open()).count() {
                0 => Ok(duration_ns(&flows, None)? as f64 / 1e3),
                open => Err(format!(
                    "{open} of {} connections were still open when the run ended: the run {IS_SLOWEST}",
                    flows.len()
                )),
            },
            _ if self.is_replay(owner) => Err("no program reads what a replay sends".to_owned()),
            _ => {
                // What is still open has read until the run's end.
                let until = flows.iter().any(|flow| flow.is_open());
                goodput(&flows, until.then_some(self.outcome.virtual_ns))
            }
        }
    }
}

/// Bits that both ends read a second, `until` a time or the last end.
///
/// # Errors
/// Why there is no such rate.
pub fn goodput(flows: &[&Flow], until: Option<i64>) -> Result<f64, String> {
    let read = |f: &&Flow| f.client.read_bytes.saturating_add(f.server.read_bytes) as f64;
    match duration_ns(flows, until)? {
        0 => Err("the connections lasted 0 s".to_owned()),
        ns => Ok(flows.iter().map(read).sum::<f64>() * 8.0 / (ns as f64 / 1e9)),
    }
}

fn has_error(flow: &Flow) -> bool {
    flow.client.error.is_some() || flow.server.error.is_some()
}

/// From the first connection until this time, or until the last end.
fn duration_ns(flows: &[&Flow], until: Option<i64>) -> Result<i64, String> {
    // What never stood ends with its client's patience.
    let stood = || flows.iter().filter(|f| f.client.opened_ns.is_some());
    let ends = || stood().flat_map(|f| [&f.client, &f.server]);
    let first = ends().filter_map(|end| end.opened_ns).min();
    let last = until.or_else(|| ends().filter_map(|end| end.closed_ns).max());
    match (first, last) {
        (Some(first), Some(last)) => Ok(last.saturating_sub(first).max(0)),
        (None, _) => Err("no connection was established".to_owned()),
        (_, None) => Err("no connection ended within the run".to_owned()),
    }
}

/// Datagrams that waited for an answer: pings, or requests. One that still waits at the run's end is among pings only.
fn sent(flow: &Flow) -> u64 {
    let answered_or_lost = flow.client.completed.saturating_add(flow.client.lost);
    answered_or_lost.max(flow.client.pings.len() as u64)
}

/// Nearest rank: the smallest value that at least so many of a hundred do not exceed. What was lost exceeds all: without
/// it a path that loses what is late would have no late ones.
fn latency(flows: &[&Flow], which: &str, lost: u64) -> Result<f64, String> {
    let ends = flows.iter().flat_map(|f| [&f.client, &f.server]);
    let mut all: Vec<i64> = ends
        .flat_map(|end| end.latency_ns.iter().copied())
        .collect();
    all.sort_unstable();
    let completed: u64 = flows.iter().map(|f| f.client.completed).sum();
    // Of a connection with very many transactions only the first times are kept: so many of the lost ones belong to them.
    let lost = match completed > KEPT_LATENCIES as u64 {
        true => (lost as f64 * all.len() as f64 / completed as f64).ceil() as usize,
        false => lost as usize,
    };
    let rank = |percent: usize| {
        ((all.len() + lost) * percent)
            .div_ceil(100)
            .saturating_sub(1)
    };
    let (place, most) = match which {
        "min" => (0, "all"),
        "p50" => (rank(50), "more than 50 %"),
        "p99" => (rank(99), "more than 1 %"),
        _ => ((all.len() + lost).saturating_sub(1), "some"),
    };
    match all.get(place) {
        Some(value) => Ok(*value as f64 / 1e3),
        None if lost == 0 => Err("the application completed no timed transaction".to_owned()),
        None => Err(format!(
            "{most} of the transactions were lost, and a lost one {IS_SLOWEST}: measure `APP.lost` and `APP.sent`"
        )),
    }
}
