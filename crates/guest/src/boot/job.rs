//! A job that answers piece by piece (packetdrill scripts, malformed frames): in a User-Mode Linux guest in virtual
//! time, or on this machine's kernel in namespaces that vanish with the process.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tcplab_os::{Context, Scratch, Stop};

use super::cost::Cost;
use super::error::GuestError;
use super::host;
use super::initramfs::Initramfs;
use super::stage::{Guest, Machine, Task};
use super::uml::{MEMORY, of_this_process};

/// What a job runs on.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// This machine's kernel.
    Host,
    /// A guest: its kernel's executable, and its file system.
    Uml(&'a Path, &'a Initramfs),
}

/// Files that go in before, and output that is read meanwhile.
#[allow(missing_debug_implementations, reason = "functions have no text")]
pub struct Talk<'a> {
    /// Puts the job into the folder.
    pub ask: &'a dyn Fn(&Path) -> std::io::Result<()>,
    /// Looks into the folder; whether there is something new.
    pub look: &'a mut dyn FnMut(&Path) -> bool,
}

/// Memory of a guest, in MiB.
const MEMORY_MB: u32 = 256;

/// The seed of a guest's randomness: of initial sequence numbers and ports, which no script and no frame sees.
const SEED: u64 = 1;

/// The console is a serial line to nowhere, not a terminal to nowhere: without a terminal console, a kernel that
/// panics prints its log (`kmsg_dumper_stdout()`).
const CONSOLE: &str = "console=ttyS0";

/// Starts the place, lets it do the job, and ends it when nothing new has come for `patience`.
///
/// # Errors
/// The place could not be started, died, was ended for its silence, or `stop` came. What [`Talk::look`] saw before
/// still counts.
pub fn run(
    place: Place<'_>,
    cpu: Option<usize>,
    (patience, stop): (Duration, &Stop),
    talk: Talk<'_>,
) -> Result<Cost, GuestError> {
    let parent = match place {
        Place::Host => std::env::temp_dir(),
        Place::Uml(..) => PathBuf::from(MEMORY),
    };
    let work = Scratch::new_in(&parent);
    let work = work.context(|| format!("cannot make a folder in {}", parent.display()))?;
    let [share, private] = host::folders(&work, ["share", "uml"])?;
    (talk.ask)(&share).tried("cannot write a job")?;
    let guest = match place {
        Place::Host => None,
        Place::Uml(kernel, initramfs) => Some(Guest {
            machine: Machine::Uml,
            kernel: kernel.to_owned(),
            initramfs: of_this_process(initramfs),
            private,
            memory_mb: MEMORY_MB,
            seed: SEED,
            words: vec![CONSOLE.into()],
        }),
    };
    let task = Task {
        folder: share.clone(),
        cost: work.path().join("cost.json"),
        cpu,
        guest,
    };
    let mut look = || (talk.look)(&share);
    let (ended, cost) = host::stage_run_watched(&task, patience, stop, &mut look)?;
    look();
    match ended.in_time(patience)? {
        status if status.success() => Ok(cost),
        status => Err(ended.death(status)),
    }
}
