//! Programs that run at an end of a link, in its network namespace, and end with it. Each has a separate process
//! namespace whose first process is ours. When that process or this one ends, the kernel ends all processes that the
//! program started.

use std::fs::File;
use std::io::{self, PipeReader, PipeWriter, Read};
use std::os::fd::AsRawFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Duration;

use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{Signal, kill, killpg};
use nix::unistd::Pid;

use tcplab_os::namespaces::enter_net;
use tcplab_os::sys;
use tcplab_os::{Context, OsError};

/// Time that a program has to end after SIGTERM.
const GRACE: Duration = Duration::from_millis(500);

/// A command of a shell, running.
#[derive(Debug)]
pub struct Program {
    pid: Pid,
    ended: Receiver<io::Result<ExitStatus>>,
    /// Breaks when all that the program has started is gone.
    all_gone: Receiver<()>,
    status: Option<ExitStatus>,
}

impl Program {
    /// Starts `sh -c COMMAND` in a network namespace; what it leaves in the background runs until the link ends. What it prints goes to standard error: standard output is the
    /// link's.
    pub(super) fn start(command: &str, namespace: &File) -> Result<Self, OsError> {
        let (say, begun) = channel();
        let (tell, ended) = channel();
        let (gone, all_gone) = channel();
        let namespace = namespace.try_clone().tried("a namespace")?;
        let mut shell = Command::new("sh");
        shell.args(["-c", command]).stdin(Stdio::null());
        shell.stdout(io::stderr());
        // Ctrl-C is the link's.
        shell.process_group(0);
        sys::die_with_parent(&mut shell);
        let (status, pipe) = io::pipe().tried("a pipe")?;
        sys::behind_an_init(&mut shell, Some(pipe.as_raw_fd()));
        sys::with_own_proc(&mut shell);
        thread::spawn(move || tell.send(read_status(status)));
        // The thread stays for as long as the program does: the kernel takes it for the parent.
        thread::spawn(move || {
            live(shell, &namespace, pipe, &say);
            drop(gone);
        });
        let pid = begun.recv().unwrap_or(Err(io::ErrorKind::Other.into()));
        let pid = pid.context(|| format!("cannot start `{command}`"))?;
        Ok(Self {
            pid: Pid::from_raw(pid),
            ended,
            all_gone,
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
        // Gone already: nobody to end. The first process of its namespace hears no SIGTERM.
        let _: Result<(), Errno> = killpg(self.pid, Signal::SIGTERM);
        if self.status().is_none() {
            let _ = self.ended.recv_timeout(GRACE);
        }
        let _: Result<(), Errno> = kill(self.pid, Signal::SIGKILL);
        let _ = self.all_gone.recv();
    }
}

fn live(mut shell: Command, namespace: &File, status: PipeWriter, say: &Sender<io::Result<i32>>) {
    let entered = enter_net(namespace)
        // The next process that this thread starts is the first of a process namespace.
        .and_then(|()| Ok(unshare(CloneFlags::CLONE_NEWPID)?));
    let child: io::Result<Child> = entered.and_then(|()| shell.spawn());
    // The child alone keeps it.
    drop(status);
    let mut child = match child {
        Ok(child) => child,
        Err(e) => {
            let _ = say.send(Err(e));
            return;
        }
    };
    let pid = i32::try_from(child.id()).map_err(io::Error::other);
    let _ = say.send(pid);
    let _ = child.wait();
}

/// The status of the shell, as wait(2) has it.
fn read_status(mut pipe: PipeReader) -> io::Result<ExitStatus> {
    let mut status = [0; size_of::<i32>()];
    pipe.read_exact(&mut status)?;
    Ok(ExitStatus::from_raw(i32::from_ne_bytes(status)))
}
