//! Where a point runs: inside a User-Mode Linux guest, a guest in QEMU, or in namespaces of this machine's kernel.
//!
//! All three start the running executable again. Around a guest (or a run on the host's kernel) is a *stage*: one of
//! our processes that drops privileges, makes namespaces, and dies with the process that asked for it. Nothing
//! outlives a Ctrl-C or a kill -9. A guest's init is the same executable again.
//!
//! Everything passes through one folder: `point.json` goes in; `outcome.json` (or `failed.txt`) and the captures come
//! out. Scripts and the jobs of crates above ([`Errand`]) pass through it as well ([`run_job`]). A guest in QEMU sees
//! no folder of the host: the point is a file in its initramfs, and the answer comes over a serial line.

mod confine;
mod cost;
mod errand;
mod error;
mod folder;
mod host;
mod init;
mod init_qemu;
mod initramfs;
mod job;
mod parcel;
mod process;
mod qemu;
mod stage;
mod uml;

pub use cost::Cost;
pub use errand::Errand;
pub use error::GuestError;
pub use folder::{POINT, answer};
pub use host::run_on_host;
pub use initramfs::Initramfs;
pub use initramfs::{interpreter, loaded_part};
pub use job::{Place, Talk, run as run_job};
pub use qemu::Qemu;
pub use stage::stage;
pub use uml::{Limits, Uml};
