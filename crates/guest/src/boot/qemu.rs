//! A distribution's kernel in QEMU, once for each point.
//!
//! The processor is translated (TCG, never KVM) and its clock counts instructions: one takes one
//! nanosecond, and while the guest waits time jumps to the next timer (`-icount shift=0,sleep=off`).
//! With the date from the same clock and randomness from `-seed` a run repeats byte for byte.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

use tcplab_os::{Context, Scratch, Stop};
use tcplab_plan::{Outcome, Point};

use super::cost::Cost;
use super::error::GuestError;
use super::init_qemu::MODULES;
use super::initramfs::Initramfs;
use super::stage::{Guest, Machine, Names, Task};
use super::uml::{Limits, MEMORY, of_this_process};
use super::{folder, host, init, parcel};
use crate::image::{Image, ImageError, qemu};

/// Memory of a guest, in MiB: Debian's kernel, the initramfs twice while it is unpacked, captures.
const MEMORY_MB: u32 = 512;

/// Modules of Debian's kernels that a point may need. The list is the same for every point, so all
/// guests start alike.
const WANTED: &[&str] = &[
    "tun",
    "veth",
    "ifb",
    "sch_netem",
    "sch_fq",
    "sch_fq_codel",
    "sch_codel",
    "sch_cake",
    "sch_red",
    "sch_tbf",
    "sch_htb",
    "sch_prio",
    "sch_ingress",
    "act_mirred",
    "tcp_bbr",
    "tcp_dctcp",
    "tcp_vegas",
    "tcp_westwood",
    "tcp_htcp",
    "tcp_illinois",
];

/// A kernel to run points on.
#[derive(Debug)]
pub struct Qemu<'a> {
    /// The kernel.
    pub image: &'a Image,
    /// The guest's file system.
    pub initramfs: &'a Initramfs,
    /// What a guest may use; its memory is 512 MiB at least.
    pub limits: Limits,
    /// CPU to run on.
    pub cpu: Option<usize>,
}

impl Qemu<'_> {
    /// Runs a point; captures go into `out`.
    ///
    /// # Errors
    /// Without QEMU, what the run says, or the end of the guest's console.
    pub fn run(
        &self,
        point: &Point,
        out: &Path,
        stop: &Stop,
    ) -> Result<(Outcome, Cost), GuestError> {
        let program = qemu().ok_or_else(|| GuestError::Run(ImageError::NoQemu.to_string()))?;
        let work = Scratch::new_in(Path::new(MEMORY))
            .context(|| format!("cannot make a folder in {MEMORY}"))?;
        let [share, private] = host::folders(&work, ["share", "qemu"])?;
        let initramfs = self.initramfs_for(point)?;
        let task = Task {
            folder: share.clone(),
            cost: work.path().join("cost.json"),
            cpu: self.cpu,
            guest: Some(Guest {
                machine: Machine::Qemu(program),
                kernel: self.image.vmlinuz.clone(),
                initramfs: of_this_process(&initramfs),
                private: private.clone(),
                memory_mb: self.limits.memory_mb.max(MEMORY_MB),
                seed: point.seed,
                words: Vec::new(),
            }),
        };
        let (mut ended, cost) = host::stage_run(&task, self.limits.time, stop)?;
        // What QEMU itself says, then what the guest said.
        let said = fs::read(private.join(CONSOLE)).unwrap_or_default();
        ended.console += &format!("\n{}", String::from_utf8_lossy(&said));
        let status = ended.in_time(self.limits.time)?;
        // A guest that died has sent nothing, or a part, which does not count.
        let sent = File::open(share.join(ANSWER))
            .and_then(|file| parcel::unpack(file, &share, &folder::answer_names(point)));
        let outcome = sent.ok().and_then(|()| folder::read(&share));
        let outcome = outcome.unwrap_or_else(|| Err(ended.death(status)))?;
        folder::move_captures(point, &share, out)?;
        Ok((outcome, cost))
    }

    /// The file system with the point and the modules in it.
    fn initramfs_for(&self, point: &Point) -> Result<Initramfs, GuestError> {
        let modules = self.image.modules(WANTED);
        let modules = modules.map_err(|e| GuestError::Run(e.to_string()))?;
        let question = folder::question(point)?;
        let mut files: Vec<(PathBuf, &[u8])> = (modules.iter().enumerate())
            .map(|(n, m)| {
                let name = format!("{MODULES}/{n:03}-{}.ko", m.name);
                (PathBuf::from(name), m.bytes.as_slice())
            })
            .collect();
        let place = Path::new(init::SHARED);
        files.extend(
            question
                .iter()
                .map(|(name, bytes)| (place.join(name), bytes.as_slice())),
        );
        self.initramfs
            .with(files.iter().map(|(path, bytes)| (path.as_path(), *bytes)))
    }
}

/// Files that QEMU writes: of the guest's console, in its own folder; of the answer, in the shared one.
const CONSOLE: &str = "console";
const ANSWER: &str = "answer";

/// The command that is the guest.
pub(super) fn command(program: &Path, guest: &Guest, names: &Names) -> Command {
    let mut command = Command::new(program);
    let line = format!(
        "console=ttyS0 loglevel=5 panic=-1 tsc=reliable nokaslr mitigations=off {}=1",
        init::QEMU
    );
    let seed = guest.seed.to_string();
    let memory = format!("{}M", guest.memory_mb);
    let console = format!("file:{}/{CONSOLE}", names.private);
    let answer = format!("file:{}/{ANSWER}", names.share);
    let pairs: [(&str, &OsStr); 12] = [
        ("-machine", "pc,accel=tcg".as_ref()),
        // RDRAND is what `-seed` seeds; the kernel trusts it from the start.
        ("-cpu", "qemu64,+rdrand".as_ref()),
        ("-seed", seed.as_ref()),
        ("-icount", "shift=0,sleep=off".as_ref()),
        ("-rtc", "base=2026-09-21T14:13:20,clock=vm".as_ref()),
        ("-m", memory.as_ref()),
        ("-display", "none".as_ref()),
        // To files: a pipe's reader would slow the guest down at times of the host.
        ("-serial", console.as_ref()),
        ("-serial", answer.as_ref()),
        ("-kernel", names.kernel.as_ref()),
        ("-initrd", names.initramfs.as_ref()),
        ("-append", line.as_ref()),
    ];
    command.args(["-nodefaults", "-no-user-config", "-no-reboot"]);
    for (option, value) in pairs {
        command.arg(option).arg(value);
    }
    command.env_clear();
    command
}
