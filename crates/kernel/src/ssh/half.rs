//! The far side's part of a run: one host of a point on this machine.

use std::net::IpAddr;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tcplab_base::Duration as Span;
use tcplab_os::OsError;
use tcplab_os::Scratch;
use tcplab_plan::{Outcome, Point};

use super::Reply;
use super::answer::Way;
use super::held::Held;
use crate::run::{Site, Sysctls, run_half};

/// How often the word to go is looked for.
const LOOK: Duration = Duration::from_millis(1);

/// One host of a point, to be run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Half {
    /// The point; its network is not made.
    pub point: Point,
    /// Which of its two hosts runs here.
    pub host: usize,
    /// The other machine, as this one reaches it.
    pub peer: IpAddr,
    /// Nanoseconds that are added to times of captured frames.
    pub shift_ns: i64,
    /// The experiment's sysctls are set, and put back at the end.
    pub sets_sysctls: bool,
}

/// What a half found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ran {
    /// As of a run; what the other host did is empty.
    pub outcome: Outcome,
    /// When it started, on CLOCK_REALTIME there.
    pub start_ns: i64,
}

/// Runs a half: a note when servers listen, one when clients have ended, then files, then the outcome.
pub(super) fn run(half: &Half, way: &Way) -> Result<Reply, String> {
    let checked = half.point.check();
    checked.map_err(|wrong| wrong.to_string())?;
    let host = half.point.hosts.get(half.host);
    let host = host.ok_or("a half of a host that the point has not")?;
    let mut sysctls = Sysctls::new(&half.point);
    let (held, warnings) = Held::take(host, &mut sysctls, half.sets_sysctls)?;
    let folder = Scratch::new().map_err(|e| format!("no folder for captures: {e}"))?;
    let over = || {
        // A near side that is gone ends the run by itself.
        let _ = way.note(Reply::Over, &[]);
    };
    let site = Site {
        host: half.host,
        peer: half.peer,
        shift: Span::from_nanos(half.shift_ns),
        stop: way.stop.clone(),
        over: &over,
    };
    let go = || {
        way.note(Reply::Ready, &[]).map_err(OsError::Cannot)?;
        while !way.go.wanted() {
            if way.stop.wanted() {
                return Err(OsError::Cannot("ended before it began".into()));
            }
            thread::sleep(LOOK);
        }
        Ok(())
    };
    let done = run_half(&half.point, folder.path(), site, go);
    let changed = held.give_back();
    let (mut outcome, start) =
        done.map_err(|e| [vec![e.to_string()], changed.clone()].concat().join("; "))?;
    way.files(folder.path())?;
    // First what makes the figures wrong.
    let mut warnings = [changed, warnings].concat();
    warnings.append(&mut outcome.warnings);
    outcome.warnings = warnings;
    outcome.tolerated.append(&mut sysctls.left_out);
    Ok(Reply::Ran(Box::new(Ran {
        outcome,
        start_ns: start.as_nanos(),
    })))
}
