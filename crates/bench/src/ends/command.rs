//! A command as the thing that is measured: how long it takes, what it spends, how much memory it needs.

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tcplab_base::Duration as Span;
use tcplab_os::Stop;
use tcplab_os::sys;

use super::measure::{Begun, Machine};
use tcplab_os::clock::monotonic as now;
use tcplab_os::{Context, OsError};

/// How often the wish to stop is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// A shell's command and where its output goes.
#[derive(Clone, Copy, Debug)]
pub struct Shell<'a> {
    /// What `sh -c` is given.
    pub command: &'a str,
    /// Names and values for its environment.
    pub env: &'a [(&'a str, String)],
    /// The file for its standard output.
    pub out: &'a Path,
    /// The file for its standard error.
    pub err: &'a Path,
}

/// What a command took.
#[derive(Clone, Debug)]
pub struct Took {
    /// How it ended.
    pub status: ExitStatus,
    /// From its start to its end.
    pub elapsed: Span,
    /// On processors in user code, with all its children that it waited for.
    pub user: Span,
    /// On processors in the kernel, as well.
    pub system: Span,
    /// The most memory of one of its processes, bytes (`ru_maxrss` of getrusage(2)).
    pub peak_bytes: u64,
    /// What the machine did.
    pub machine: Machine,
}

/// Runs a command in the network namespace of this thread. `Ok(None)`: the user wants an end.
///
/// # Errors
/// The shell cannot be started, a file cannot be written.
pub fn command(shell: &Shell<'_>, stop: &Stop) -> Result<Option<Took>, OsError> {
    let file = |path: &Path| File::create(path).context(|| path.display().to_string());
    let (out, err) = (file(shell.out)?, file(shell.err)?);
    let mut command = Command::new("sh");
    command.args(["-c", shell.command]);
    command.envs(shell.env.iter().map(|(name, value)| (name, value)));
    // A group of its own: what it started ends with it when the user wants an end.
    command.process_group(0);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::from(out))
        .stderr(Stdio::from(err));
    let machine = Begun::now();
    let begun = now();
    let child = command.spawn().tried("cannot start sh")?;
    let ended = watched(child.id(), stop).tried("cannot wait for a command")?;
    let elapsed = now().since(begun);
    if stop.wanted() {
        return Ok(None);
    }
    Ok(Some(Took {
        status: ended.status,
        elapsed,
        user: ended.user,
        system: ended.system,
        peak_bytes: ended.peak_bytes,
        machine: machine.over(),
    }))
}

/// Waits for it; ends it when the user wants an end.
fn watched(id: u32, stop: &Stop) -> io::Result<sys::Ended> {
    let (tell, ended) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                if stop.wanted() {
                    let _ = killpg(Pid::from_raw(id as i32), Signal::SIGTERM);
                }
            }
        });
        let found = sys::wait4(id);
        drop(tell);
        found
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_run_and_its_output_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (out, err) = (folder.path().join("out"), folder.path().join("err"));
        let shell = Shell {
            command: "echo $WHAT; echo no >&2; exit 3",
            env: &[("WHAT", "yes".to_owned())],
            out: &out,
            err: &err,
        };
        let took = command(&shell, &Stop::never()).unwrap().unwrap();
        assert_eq!(took.status.code(), Some(3));
        assert!(took.elapsed > Span::default());
        assert!(took.peak_bytes > 0);
        assert_eq!(std::fs::read_to_string(out).unwrap(), "yes\n");
        assert_eq!(std::fs::read_to_string(err).unwrap(), "no\n");
    }

    #[test]
    fn the_wish_to_stop_ends_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("out");
        let stop = Stop::never();
        stop.request();
        let shell = Shell {
            command: "sleep 1000 & wait",
            env: &[],
            out: &file,
            err: &file,
        };
        assert!(command(&shell, &stop).unwrap().is_none());
    }
}
