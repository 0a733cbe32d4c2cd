//! How long an application is expected to take: the `max` of a run that names none follows from it.

use crate::app::{App, AppKind};
use crate::rules::SECOND_NS;

fn times(each: i64, n: u64) -> i64 {
    each.saturating_mul(i64::try_from(n).unwrap_or(i64::MAX))
}

/// What its server's accepts and its reader's pauses add to that.
fn unhurried_ns(app: &App) -> i64 {
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
    let own = own_ns(&app.does).saturating_add(unhurried_ns(app));
    let last_start = times(app.stagger_ns, u64::from(app.connections.saturating_sub(1)));
    let first = app.start_ns.max(app.server_connects_ns.unwrap_or(0));
    own.saturating_add(first).saturating_add(last_start)
}

/// What one connection takes.
fn own_ns(does: &AppKind) -> i64 {
    let until = |each: i64| {
        let until = does.until().copied().unwrap_or_default();
        let counted = until.count.map_or(i64::MAX, |n| times(each, n));
        counted.min(until.duration_ns.unwrap_or(i64::MAX))
    };
    match does {
        AppKind::Stream { every_ns, .. } | AppKind::UdpStream { every_ns, .. } => until(*every_ns),
        AppKind::Echo { pause_ns, .. }
        | AppKind::WriteWriteRead { pause_ns, .. }
        | AppKind::RequestResponse { pause_ns, .. }
        | AppKind::ConnectRequestResponse { pause_ns, .. } => {
            until(pause_ns.saturating_add(SECOND_NS))
        }
        AppKind::UdpRr {
            pause_ns,
            timeout_ns,
            ..
        } => until(pause_ns.saturating_add(*timeout_ns)),
        AppKind::Ping {
            every_ns,
            timeout_ns,
            ..
        } => until(*every_ns).saturating_add(*timeout_ns),
        AppKind::Bulk { duration_ns, .. } => duration_ns.unwrap_or(300 * SECOND_NS),
        AppKind::Web {
            sizes, think_ns, ..
        } => pages_ns(sizes.len(), think_ns),
        AppKind::Messages { messages } => messages.iter().fold(0, |sum: i64, message| {
            sum.saturating_add(message.after_ns)
                .saturating_add(SECOND_NS)
        }),
        AppKind::Sink { hold_ns } => *hold_ns,
        // The file is not read yet; the run ends with its last frame.
        AppKind::Replay { .. } => 1_800 * SECOND_NS,
        // No experiment has it.
        AppKind::Pair(_) => 0,
    }
}

/// The pauses between so many pages and their answers. The last pause repeats.
fn pages_ns(pages: usize, think_ns: &[i64]) -> i64 {
    let last = think_ns.last().copied().unwrap_or(0);
    let waits = pages.saturating_sub(1);
    let listed = think_ns.iter().take(waits);
    let listed = listed.fold(0_i64, |sum, ns| sum.saturating_add(*ns));
    listed
        .saturating_add(times(last, waits.saturating_sub(think_ns.len()) as u64))
        .saturating_add(times(SECOND_NS, pages as u64))
}
