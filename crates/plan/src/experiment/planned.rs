//! How long an application is expected to take: the `max` of a run that names none follows from it.

use crate::app::{App, AppKind, Extent};
use crate::rules::SECOND_NS;

/// What its server's accepts and its reader's pauses add to that.
fn unhurried_ns(app: &App) -> i64 {
    let times = |each: i64, n: u64| each.saturating_mul(i64::try_from(n).unwrap_or(i64::MAX));
    let accepts = times(app.listening.accept_every_ns, app.connections.into());
    let (bytes, read) = match &app.does {
        AppKind::Bulk { bytes, .. } => (bytes.unwrap_or(0), app.reading.bytes),
        AppKind::Stream {
            chunk, read, until, ..
        } => (chunk.saturating_mul(until.count.unwrap_or(0)), *read),
        _ => (0, 1),
    };
    let reads = times(app.reading.every_ns, bytes / read.max(1));
    accepts
        .saturating_add(reads)
        .saturating_add(app.reading.pause_ns)
}

/// When an application is expected to end, after the run's start, with a second for each answer
/// that it waits for. Saturates.
pub(crate) fn planned_ns(app: &App) -> i64 {
    let times = |each: i64, n: u64| each.saturating_mul(i64::try_from(n).unwrap_or(i64::MAX));
    let until = |until: &Extent, each: i64| {
        let counted = until.count.map_or(i64::MAX, |n| times(each, n));
        counted.min(until.duration_ns.unwrap_or(i64::MAX))
    };
    let own = match &app.does {
        AppKind::Stream {
            every_ns, until: u, ..
        }
        | AppKind::UdpStream {
            every_ns, until: u, ..
        } => until(u, *every_ns),
        AppKind::Echo {
            pause_ns, until: u, ..
        }
        | AppKind::WriteWriteRead {
            pause_ns, until: u, ..
        }
        | AppKind::RequestResponse {
            pause_ns, until: u, ..
        }
        | AppKind::ConnectRequestResponse {
            pause_ns, until: u, ..
        } => until(u, pause_ns.saturating_add(SECOND_NS)),
        AppKind::UdpRr {
            pause_ns,
            timeout_ns,
            until: u,
            ..
        } => until(u, pause_ns.saturating_add(*timeout_ns)),
        AppKind::Ping {
            every_ns,
            timeout_ns,
            until: u,
            ..
        } => until(u, *every_ns).saturating_add(*timeout_ns),
        AppKind::Bulk { duration_ns, .. } => duration_ns.unwrap_or(300 * SECOND_NS),
        AppKind::Web {
            sizes, think_ns, ..
        } => {
            let waits = sizes.len().saturating_sub(1);
            let listed = think_ns
                .iter()
                .take(waits)
                .fold(0_i64, |sum, ns| sum.saturating_add(*ns));
            let more = u64::try_from(waits.saturating_sub(think_ns.len())).unwrap_or(u64::MAX);
            let last = think_ns.last().copied().unwrap_or(0);
            let answers = u64::try_from(sizes.len()).unwrap_or(u64::MAX);
            listed
                .saturating_add(times(last, more))
                .saturating_add(times(SECOND_NS, answers))
        }
        AppKind::Messages { messages } => messages.iter().fold(0, |sum: i64, message| {
            sum.saturating_add(message.after_ns)
                .saturating_add(SECOND_NS)
        }),
        AppKind::Sink { hold_ns } => *hold_ns,
        // The file is not read yet; the run ends with its last frame.
        AppKind::Replay { .. } => 1_800 * SECOND_NS,
        // No experiment has it.
        AppKind::Pair(_) => 0,
    };
    let own = own.saturating_add(unhurried_ns(app));
    let last_start = times(app.stagger_ns, u64::from(app.connections.saturating_sub(1)));
    let first = app.start_ns.max(app.server_connects_ns.unwrap_or(0));
    own.saturating_add(first).saturating_add(last_start)
}
