//! Programs that run at an end of a link, in its namespace, and end with it.

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use nix::sched::{CloneFlags, setns};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::run::{Context, RunError};
use crate::sys;

/// Time that a program has to end after SIGTERM.
const GRACE: Duration = Duration::from_millis(500);

/// A command of a shell, running.
#[derive(Debug)]
pub struct Program {
    pid: Pid,
    ended: Receiver<io::Result<ExitStatus>>,
    status: Option<ExitStatus>,
}

impl Program {
    /// Starts `sh -c COMMAND` in a network namespace. What it prints goes to standard error: standard output is the
    /// link's.
    pub(super) fn start(command: &str, namespace: &File) -> Result<Self, RunError> {
        let (say, begun) = channel();
        let (tell, ended) = channel();
        let namespace = namespace.try_clone().context(|| "a namespace".into())?;
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).stdin(Stdio::null());
        shell.stdout(io::stderr());
        // What it starts ends with it, and Ctrl-C is the link's.
        shell.process_group(0);
        sys::die_with_parent(&mut shell);
        // The thread stays for as long as the program does: the kernel takes it for the parent.
        thread::spawn(move || live(shell, &namespace, &say, &tell));
        let pid = begun.recv().unwrap_or(Err(io::ErrorKind::Other.into()));
        let pid = pid.context(|| format!("cannot start `{command}`"))?;
        Ok(Self {
            pid: Pid::from_raw(pid),
            ended,
            status: None,
        })
    }

    /// How it ended; none: it runs.
    pub fn status(&mut self) -> Option<ExitStatus> {
        if self.status.is_none() {
            self.status = self.ended.try_recv().ok().and_then(Result::ok);
        }
        self.status
    }
}

impl Drop for Program {
    /// Ends it, and what it has started.
    fn drop(&mut self) {
        // Gone already: nobody to end.
        let _: Result<(), Errno> = killpg(self.pid, Signal::SIGTERM);
        if self.status().is_none() && self.ended.recv_timeout(GRACE).is_err() {
            let _: Result<(), Errno> = killpg(self.pid, Signal::SIGKILL);
        }
    }
}

fn live(
    mut shell: Command,
    namespace: &File,
    say: &Sender<io::Result<i32>>,
    tell: &Sender<io::Result<ExitStatus>>,
) {
    let entered = setns(namespace, CloneFlags::CLONE_NEWNET).map_err(io::Error::from);
    let child: io::Result<Child> = entered.and_then(|()| shell.spawn());
    let mut child = match child {
        Ok(child) => child,
        Err(e) => {
            let _ = say.send(Err(e));
            return;
        }
    };
    let pid = i32::try_from(child.id()).map_err(io::Error::other);
    let _ = say.send(pid);
    let _ = tell.send(child.wait());
}
