//! The process around a run: ours again, under the name [`WORD`], with its task on standard input.
//!
//! It asks the kernel to die with its parent, gives up what it can, and then is the run (on the
//! host's kernel) or starts the guest in a process namespace of its own: when that namespace's
//! first process goes, all of them go.

use std::fs::{self, File};
use std::io;
use std::os::fd::{AsFd, RawFd};
use std::os::unix::fs::{OpenOptionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sched::{CloneFlags, CpuSet, sched_getaffinity, sched_setaffinity, unshare};
use nix::sys::personality::{self, Persona};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::Signal;
use nix::sys::time::TimeValLike;
use nix::unistd::{Pid, getegid, geteuid};
use serde::{Deserialize, Serialize};

use super::cost::Cost;
use super::{confine, folder, init};
use crate::run::Pace;
use crate::sys;

/// The first argument of a stage.
pub(super) const WORD: &str = "__stage";

/// `nobody`: who a guest is on this machine when it was started by root.
const NOBODY: u32 = 65_534;

/// Descriptors of a guest have fixed numbers from here on, far from any that a shell leaves open:
/// they stand in its command line, which must be the same for every run.
const FIRST_FD: RawFd = 200;

/// What a stage shall do.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Task {
    /// The folder with the point, for the result.
    pub(super) folder: PathBuf,
    /// Where the cost is written.
    pub(super) cost: PathBuf,
    /// CPU to run on.
    pub(super) cpu: Option<usize>,
    /// None: run on this machine's kernel.
    pub(super) guest: Option<Guest>,
}

/// A guest to start.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Guest {
    /// The kernel's executable.
    pub(super) kernel: PathBuf,
    /// The initramfs, by the name that another process has for it.
    pub(super) initramfs: PathBuf,
    /// A folder for the kernel's own files.
    pub(super) private: PathBuf,
    pub(super) memory_mb: u32,
    /// Where the guest's randomness begins.
    pub(super) seed: u64,
}

/// Acts as a stage or as a guest's init when this process was started as one. The first thing that
/// `main` does: there must be no other thread.
pub fn stage() -> Option<ExitCode> {
    if let Some(code) = init::init() {
        return Some(code);
    }
    if std::env::args_os().nth(1)? != WORD {
        return None;
    }
    Some(match work() {
        Ok(code) => code,
        Err(e) => {
            eprintln!("{e}");
            ExitCode::FAILURE
        }
    })
}

fn work() -> Result<ExitCode, String> {
    set_pdeathsig(Signal::SIGKILL)
        .map_err(|e| format!("cannot tie this process to its parent: {e}"))?;
    let task: Task = serde_json::from_reader(io::stdin()).map_err(|e| format!("no task: {e}"))?;
    if let Some(cpu) = task.cpu {
        pin(cpu);
    }
    let (code, who) = match &task.guest {
        Some(guest) => (start(guest, &task.folder)?, UsageWho::RUSAGE_CHILDREN),
        None => {
            own_namespaces()?;
            folder::answer(&task.folder, Pace::Real).map_err(|e| e.to_string())?;
            (ExitCode::SUCCESS, UsageWho::RUSAGE_SELF)
        }
    };
    let used = getrusage(who).map_err(|e| e.to_string())?;
    let cost = Cost {
        user_s: used.user_time().num_microseconds() as f64 / 1e6,
        system_s: used.system_time().num_microseconds() as f64 / 1e6,
        wall_s: 0.0,
        max_rss_bytes: used.max_rss().max(0) as u64 * 1024,
    };
    let text = serde_json::to_string(&cost).map_err(|e| e.to_string())?;
    fs::write(&task.cost, text).map_err(|e| format!("{}: {e}", task.cost.display()))?;
    Ok(code)
}

/// The processors that this process may run on.
pub fn allowed_cpus() -> Vec<usize> {
    let Ok(set) = sched_getaffinity(Pid::from_raw(0)) else {
        return Vec::new();
    };
    (0..CpuSet::count())
        .filter(|cpu| set.is_set(*cpu).unwrap_or(false))
        .collect()
}

fn pin(cpu: usize) {
    let mut set = CpuSet::new();
    // A machine that does not allow it runs slower, not wrongly.
    let _ = set
        .set(cpu)
        .and_then(|()| sched_setaffinity(Pid::from_raw(0), &set));
}

/// Network namespaces for a run on the host's kernel; without root in a user namespace.
fn own_namespaces() -> Result<(), String> {
    if geteuid().is_root() {
        return unshare(CloneFlags::CLONE_NEWNET).map_err(|e| format!("no network namespace: {e}"));
    }
    new_user(CloneFlags::CLONE_NEWNET)
        .map_err(|e| format!("this needs root, or user namespaces that are allowed: {e}"))
}

/// A user namespace in which this user is root, and other namespaces in it.
pub(super) fn new_user(more: CloneFlags) -> io::Result<()> {
    let (user, group) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER | more)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1"))
}

fn start(guest: &Guest, share: &Path) -> Result<ExitCode, String> {
    let kernel = inherit(File::open(&guest.kernel), 0, &guest.kernel)?;
    let initramfs = inherit(File::open(&guest.initramfs), 1, &guest.initramfs)?;
    let share_fd = inherit(open_folder(share), 2, share)?;
    let private = inherit(open_folder(&guest.private), 3, &guest.private)?;
    let fd = |n: RawFd| format!("/proc/self/fd/{n}");
    let mut command = Command::new(fd(kernel));
    command
        .arg0("linux")
        // No terminal: a pipe that its reader empties would interrupt the guest at times of the host.
        // The kernel prints to its standard error by itself.
        .args(["con=null", "stderr=1", "loglevel=5", "time-travel=inf-cpu"])
        .arg("time-travel-start=1790000000000000000")
        .arg(format!("mem={}M", guest.memory_mb))
        .arg(format!("initrd={}", fd(initramfs)))
        .arg(format!("uml_dir={}/", fd(private)))
        .arg("umid=tcplab")
        .arg(format!("{}={}", init::SHARE, fd(share_fd)))
        .env_clear()
        // UML unmaps glibc's brk heap in its stub; the rseq area must not lie there.
        .env("GLIBC_TUNABLES", "glibc.pthread.rseq=0")
        .env("TMPDIR", fd(private))
        .env("TCPLAB_SEED", guest.seed.to_string())
        .current_dir("/")
        .stdin(Stdio::null());
    // The layout of memory enters the guest's timing and its random pool.
    let persona = personality::get().map_err(|e| e.to_string())?;
    let _ = personality::set(persona | Persona::ADDR_NO_RANDOMIZE);
    if geteuid().is_root() {
        unshare(CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWNET)
            .map_err(|e| format!("no namespaces for the guest: {e}"))?;
        for folder in [share, &guest.private] {
            chown(folder, Some(NOBODY), Some(NOBODY)).map_err(|e| e.to_string())?;
        }
        for entry in fs::read_dir(share).map_err(|e| e.to_string())?.flatten() {
            chown(entry.path(), Some(NOBODY), Some(NOBODY)).map_err(|e| e.to_string())?;
        }
        command.uid(NOBODY).gid(NOBODY);
    } else {
        // Where user namespaces are not allowed, a kill -9 of this stage leaves the kernel's helpers.
        let _ = new_user(CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWNET);
    }
    confine::writes_only_to(&[share, &guest.private])?;
    sys::die_with_parent(&mut command);
    let status = command.status();
    let status = status.map_err(|e| format!("cannot start {}: {e}", guest.kernel.display()))?;
    match status.success() {
        true => Ok(ExitCode::SUCCESS),
        false => Err(format!(
            "the kernel ended with {}",
            super::process::words(status)
        )),
    }
}

fn open_folder(path: &Path) -> io::Result<File> {
    fs::OpenOptions::new()
        .read(true)
        .custom_flags(OFlag::O_DIRECTORY.bits())
        .open(path)
}

/// Gives a file its fixed number in the child.
fn inherit(file: io::Result<File>, n: RawFd, path: &Path) -> Result<RawFd, String> {
    let wanted = FIRST_FD + n;
    let file = file.map_err(|e| format!("{}: {e}", path.display()))?;
    let got = fcntl(file.as_fd(), FcntlArg::F_DUPFD(wanted)).map_err(|e| e.to_string())?;
    match got == wanted {
        true => Ok(got),
        false => Err(format!(
            "the file descriptor {wanted} is taken: run from another shell"
        )),
    }
}
