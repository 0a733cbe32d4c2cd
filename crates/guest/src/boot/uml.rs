//! A User-Mode Linux guest in virtual time, once for each point.

use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tcplab_os::{Context, Scratch, Stop};
use tcplab_plan::network::BOOT_DATE_NS;
use tcplab_plan::{Outcome, Point};

use super::cost::Cost;
use super::error::GuestError;
use super::initramfs::Initramfs;
use super::stage::{Guest, Machine, Names, Task};
use super::{folder, host, init};

/// Where a guest's folders live: UML wants a file system in memory.
pub(super) const MEMORY: &str = "/dev/shm";

/// What a guest may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Wall time.
    pub time: Duration,
    /// Memory of the guest, in MiB. It has no influence on the packets.
    pub memory_mb: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(600),
            memory_mb: 128,
        }
    }
}

/// A kernel to run points on.
#[derive(Debug)]
pub struct Uml<'a> {
    /// Its executable: a build with time travel.
    pub kernel: PathBuf,
    /// The guest's file system.
    pub initramfs: &'a Initramfs,
    /// What a guest may use.
    pub limits: Limits,
    /// CPU to run on: a guest that moves between CPUs takes three times as long.
    pub cpu: Option<usize>,
}

impl Uml<'_> {
    /// Runs a point; captures go into `out`.
    ///
    /// # Errors
    /// What the run says, or the end of the guest's console.
    pub fn run(
        &self,
        point: &Point,
        out: &Path,
        stop: &Stop,
    ) -> Result<(Outcome, Cost), GuestError> {
        let work = Scratch::new_in(Path::new(MEMORY))
            .context(|| format!("cannot make a folder in {MEMORY}, which must be a tmpfs"))?;
        let [share, private] = host::folders(&work, ["share", "uml"])?;
        folder::ask(&share, point)?;
        let task = Task {
            folder: share.clone(),
            cost: work.path().join("cost.json"),
            cpu: self.cpu,
            guest: Some(Guest {
                machine: Machine::Uml,
                kernel: self.kernel.clone(),
                initramfs: of_this_process(self.initramfs),
                private,
                memory_mb: self.limits.memory_mb,
                seed: point.seed,
                // Any enters the random pool, and so the results.
                words: Vec::new(),
            }),
        };
        let (ended, cost) = host::stage_run(&task, self.limits.time, stop)?;
        let status = ended.in_time(self.limits.time)?;
        let outcome = folder::read(&share).unwrap_or_else(|| Err(ended.death(status)))?;
        folder::move_captures(point, &share, out)?;
        Ok((outcome, cost))
    }
}

/// The command that is the guest.
pub(super) fn command(guest: &Guest, names: &Names) -> Command {
    let mut command = Command::new(&names.kernel);
    command
        .arg0("linux")
        // No terminal: a pipe that its reader empties would interrupt the guest at times of the host.
        // The kernel prints to its standard error by itself.
        .args(["con=null", "stderr=1", "loglevel=5", "time-travel=inf-cpu"])
        .arg(format!("time-travel-start={BOOT_DATE_NS}"))
        .arg(format!("mem={}M", guest.memory_mb))
        .arg(format!("initrd={}", names.initramfs))
        .arg(format!("uml_dir={}/", names.private))
        .arg("umid=tcplab")
        .args(&guest.words)
        .arg(format!("{}={}", init::SHARE, names.share))
        .env_clear()
        // UML unmaps glibc's brk heap in its stub; the rseq area must not lie there.
        .env("GLIBC_TUNABLES", "glibc.pthread.rseq=0")
        .env("TMPDIR", &names.private)
        .env("TCPLAB_SEED", guest.seed.to_string());
    command
}

/// The name that another process has for a descriptor of this one.
pub(super) fn of_this_process(file: &impl AsFd) -> PathBuf {
    let fd = file.as_fd().as_raw_fd();
    PathBuf::from(format!("/proc/{}/fd/{fd}", std::process::id()))
}
