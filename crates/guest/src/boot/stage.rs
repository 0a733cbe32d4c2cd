//! The process around a run: our executable again, under the name [`WORD`], with its task on standard input.
//!
//! It asks the kernel to die with its parent and drops its privileges. Then it is the run (on the host's kernel), or
//! starts the guest in a separate process namespace: when the namespace's first process ends, the kernel ends the
//! others.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsFd, RawFd};
use std::os::unix::fs::{OpenOptionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, Stdio};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::sched::{CloneFlags, unshare};
use nix::sys::personality::{self, Persona};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::signal::Signal;
use nix::sys::time::TimeValLike;
use nix::unistd::geteuid;
use serde::{Deserialize, Serialize};
use tcplab_os::clock::Pace;
use tcplab_os::namespaces::new_user;
use tcplab_os::{cpu, sys};

use super::cost::Cost;
use super::errand::{self, Errand};
use super::{confine, init, qemu, uml};

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
    /// What it runs in.
    pub(super) machine: Machine,
    /// The kernel's file.
    pub(super) kernel: PathBuf,
    /// The initramfs, by the name that another process has for it.
    pub(super) initramfs: PathBuf,
    /// A folder for the kernel's own files.
    pub(super) private: PathBuf,
    pub(super) memory_mb: u32,
    /// Where the guest's randomness begins.
    pub(super) seed: u64,
    /// More words of the kernel's command line.
    pub(super) words: Vec<String>,
}

/// What a guest runs in.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Machine {
    /// Itself: the kernel is a program.
    Uml,
    /// QEMU, by its program.
    Qemu(PathBuf),
}

/// The files of a guest, by names that are the same for every run.
pub(super) struct Names {
    pub(super) kernel: String,
    pub(super) initramfs: String,
    pub(super) share: String,
    pub(super) private: String,
}

/// Acts as a stage or as a guest's init when this process was started as one; `errands` are what it can be asked for.
/// The first thing that `main` does: there must be no other thread.
pub fn stage(errands: &[Errand]) -> Option<ExitCode> {
    if let Some(code) = init::init(errands) {
        return Some(code);
    }
    if std::env::args_os().nth(1)? != WORD {
        return None;
    }
    Some(match work(errands) {
        Ok(code) => code,
        Err(e) => {
            tcplab_os::say(&e.to_string());
            ExitCode::FAILURE
        }
    })
}

fn work(errands: &[Errand]) -> Result<ExitCode, String> {
    set_pdeathsig(Signal::SIGKILL)
        .map_err(|e| format!("cannot tie this process to its parent: {e}"))?;
    let task: Task = serde_json::from_reader(io::stdin()).map_err(|e| format!("no task: {e}"))?;
    if let Some(n) = task.cpu {
        // A machine that does not allow it runs slower, not wrongly.
        let _ = cpu::pin(n);
    }
    // Opened now: a stage that has confined itself may not.
    let mut file = File::create(&task.cost).map_err(|e| format!("{}: {e}", task.cost.display()))?;
    let (code, who) = match &task.guest {
        Some(guest) => (start(guest, &task.folder)?, UsageWho::RUSAGE_CHILDREN),
        None => {
            own_namespaces()?;
            (errand::asked(errands, &task.folder)?.work)(&task.folder, Pace::Real)?;
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
    file.write_all(text.as_bytes())
        .map_err(|e| format!("{}: {e}", task.cost.display()))?;
    Ok(code)
}

/// Network namespaces for a run on the host's kernel; without root in a user namespace.
fn own_namespaces() -> Result<(), String> {
    if geteuid().is_root() {
        return unshare(CloneFlags::CLONE_NEWNET).map_err(|e| format!("no network namespace: {e}"));
    }
    new_user(CloneFlags::CLONE_NEWNET).map_err(|e| format!("needs root or user namespaces: {e}"))
}

fn start(guest: &Guest, share: &Path) -> Result<ExitCode, String> {
    let names = Names {
        kernel: inherit(File::open(&guest.kernel), 0, &guest.kernel)?,
        initramfs: inherit(File::open(&guest.initramfs), 1, &guest.initramfs)?,
        share: inherit(open_folder(share), 2, share)?,
        private: inherit(open_folder(&guest.private), 3, &guest.private)?,
    };
    let mut command = match &guest.machine {
        Machine::Uml => uml::command(guest, &names),
        Machine::Qemu(program) => qemu::command(program, guest, &names),
    };
    command.current_dir("/").stdin(Stdio::null());
    // The layout of memory enters the guest's timing and its random pool.
    let persona = personality::get().map_err(|e| e.to_string())?;
    let _ = personality::set(persona | Persona::ADDR_NO_RANDOMIZE);
    if geteuid().is_root() {
        unshare(CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWNET)
            .map_err(|e| format!("cannot create namespaces for the guest: {e}"))?;
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
    if let Machine::Uml = guest.machine {
        // A kernel that panics aborts itself (os_dump_core()), which the first process of a namespace cannot, and ends all of
        // its process group.
        command.process_group(0);
        sys::behind_an_init(&mut command, None);
    }
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

/// Gives a file its fixed number in the child, and its name there.
fn inherit(file: io::Result<File>, n: RawFd, path: &Path) -> Result<String, String> {
    let wanted = FIRST_FD + n;
    let file = file.map_err(|e| format!("{}: {e}", path.display()))?;
    let got = fcntl(file.as_fd(), FcntlArg::F_DUPFD(wanted)).map_err(|e| e.to_string())?;
    match got == wanted {
        true => Ok(format!("/proc/self/fd/{got}")),
        false => Err(format!(
            "the file descriptor {wanted} is taken: run from another shell"
        )),
    }
}
