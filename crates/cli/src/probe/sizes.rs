//! Whether the server did what a client was told of it: both ends have their own command line.

use tcplab_plan::AppKind;
use tcplab_probe::{Ended, Report};

/// What a client saw that cannot come from a server with the same options.
pub fn mismatch(app: &AppKind, ended: Ended, report: &Report) -> Option<String> {
    if ended == Ended::Finished && report.connections_unread > 0 && reads_all(app) {
        return Some(
            "the server wrote more than was read: does it run the same application with the same sizes?"
                .into(),
        );
    }
    if ended == Ended::Interrupted {
        return None;
    }
    let Total {
        least,
        most,
        options,
    } = total(app)?;
    // What ended early may have less.
    let least = match ended {
        Ended::Peer | Ended::Finished => least,
        _ => 0,
    };
    let read = report.traffic.read_bytes;
    (!(least..=most).contains(&read)).then(|| {
        format!(
            "read {read} bytes instead of {most}: the server writes, so give it the same {options}"
        )
    })
}

/// Whether a client that is done has read each byte of the server.
fn reads_all(app: &AppKind) -> bool {
    matches!(
        app,
        AppKind::RequestResponse { burst: 0, .. }
            | AppKind::ConnectRequestResponse { .. }
            | AppKind::WriteWriteRead { .. }
            | AppKind::Web { .. }
            | AppKind::Echo { .. }
    )
}

/// Bytes that the server writes, by the client's options.
struct Total {
    least: u64,
    most: u64,
    options: &'static str,
}

fn total(app: &AppKind) -> Option<Total> {
    let (bytes, urgent, lasts, options) = match app {
        AppKind::Bulk {
            bytes,
            duration_ns,
            reverse: true,
            ..
        } => ((*bytes)?, 0, duration_ns, "--bytes"),
        AppKind::Stream {
            chunk,
            urgent,
            until,
            ..
        } => {
            let count = until.count?;
            // An urgent byte is not read with the others.
            let urgent = count.checked_div(*urgent).unwrap_or(0);
            let bytes = chunk.saturating_mul(count);
            (bytes, urgent, &until.duration_ns, "--chunk and --count")
        }
        _ => return None,
    };
    let is_whole = lasts.is_none();
    Some(Total {
        least: if is_whole {
            bytes - urgent.min(bytes)
        } else {
            0
        },
        most: bytes,
        options,
    })
}
