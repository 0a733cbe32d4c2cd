//! The far side's part of a run: one host of a point on this machine.

use std::fs;
use std::net::IpAddr;
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tcplab_base::Duration as Span;
use tcplab_os::OsError;
use tcplab_os::Scratch;
use tcplab_os::sysctl;
use tcplab_plan::network::HOST_SYSCTLS;
use tcplab_plan::point::Host;
use tcplab_plan::{Outcome, Point};

use super::Reply;
use super::answer::Way;
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
    let mut changed = Changed::default();
    let mut sysctls = Sysctls::new(&half.point);
    let mut warnings = changed.prepare(host, &mut sysctls, half.sets_sysctls)?;
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
    drop(changed);
    let (mut outcome, start) = done.map_err(|e| e.to_string())?;
    way.files(folder.path())?;
    warnings.append(&mut outcome.warnings);
    outcome.warnings = warnings;
    outcome.tolerated.append(&mut sysctls.left_out);
    Ok(Reply::Ran(Box::new(Ran {
        outcome,
        start_ns: start.as_nanos(),
    })))
}

/// sysctls that were changed, with the values that they had. Dropped, it puts them back.
#[derive(Default)]
struct Changed(Vec<(String, String)>);

impl Changed {
    /// Makes the sysctls what the experiment wants; gives what is worth saying.
    fn prepare(
        &mut self,
        host: &Host,
        sysctls: &mut Sysctls<'_>,
        sets: bool,
    ) -> Result<Vec<String>, String> {
        let (host, wanted) = (&host.name, &host.sysctl);
        let mut warnings = Vec::new();
        let mut differ = Vec::new();
        for (key, value) in wanted {
            match read(key) {
                Err(e) => {
                    let refused = sysctls.refused(host, (key, value), &e);
                    refused.map_err(|e| e.to_string())?;
                }
                Ok(now) if is_same(&now, value) => {}
                Ok(now) if sets => {
                    let wrote = fs::write(sysctl::path(key), value);
                    wrote.map_err(|e| format!("cannot set the sysctl {key} to {value}: {e}"))?;
                    warnings.push(format!(
                        "{host}: sysctl {key} was {now}; it was set to {value} for the run"
                    ));
                    self.0.push((key.clone(), now));
                }
                Ok(now) => differ.push(format!(
                    "{key} is {now} there, but the experiment asks for {value}"
                )),
            }
        }
        if !differ.is_empty() {
            return Err(format!(
                "{}; set it there, or let --ssh-sysctl set it for the run and restore it (host.{host}.sysctl)",
                differ.join("; ")
            ));
        }
        let others = HOST_SYSCTLS.into_iter().filter_map(|(key, value)| {
            let now = read(key).ok()?;
            let differs = !wanted.contains_key(key) && !is_same(&now, value);
            differs.then(|| format!("{key} is {now} (on other stacks {value})"))
        });
        let others: Vec<String> = others.collect();
        if !others.is_empty() {
            warnings.push(format!("{host}: {}", others.join(", ")));
        }
        Ok(warnings)
    }
}

impl Drop for Changed {
    fn drop(&mut self) {
        for (key, value) in self.0.drain(..).rev() {
            if let Err(e) = fs::write(sysctl::path(&key), &value) {
                tcplab_os::say(&format!("cannot put back the sysctl {key} to {value}: {e}"));
            }
        }
    }
}

fn read(key: &str) -> std::io::Result<String> {
    Ok(sysctl::words(key)?.join(" "))
}

fn is_same(now: &str, wanted: &str) -> bool {
    now.split_whitespace().eq(wanted.split_whitespace())
}
