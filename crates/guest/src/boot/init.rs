//! Init of a guest: mounts what a run needs, runs, powers off.

use std::convert::Infallible;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sys::reboot::{RebootMode, reboot};
use nix::sys::stat::{Mode, SFlag, makedev, mknod};
use nix::unistd::{dup2_stderr, sync};
use tcplab_os::clock::Pace;

use super::errand::{self, Errand};
use super::init_qemu;

/// The kernel hands words of its command line that it does not know to init's environment.
pub(super) const SHARE: &str = "TCPLAB_SHARE";

/// The same for a guest in QEMU, which has no folder of the host.
pub(super) const QEMU: &str = "TCPLAB_QEMU";

/// A boot takes no time on a clock that stands still while the guest works, and TCP takes a time of 0 for one that was never set.
const SINCE_BOOT: Duration = Duration::from_millis(10);

/// The folder of a run, in the guest.
pub(super) const SHARED: &str = "/mnt";
const TUN: &str = "/dev/net/tun";

/// Runs as init when this process is one.
pub(super) fn init(errands: &[Errand]) -> Option<ExitCode> {
    if std::process::id() != 1 {
        return None;
    }
    let share = std::env::var(SHARE).ok();
    if share.is_none() && std::env::var_os(QEMU).is_none() {
        return None;
    }
    speak_through_the_kernel();
    let done = match share {
        Some(share) => on_uml(&share, errands),
        None => init_qemu::run(errands),
    };
    if let Err(e) = done {
        // The console is all there is.
        tcplab_os::say(&format!("tcplab init: {e}"));
    }
    sync();
    match power_off() {
        Ok(never) => match never {},
        Err(e) => tcplab_os::say(&format!("tcplab init: cannot power off: {e}")),
    }
    Some(ExitCode::FAILURE)
}

/// A guest has no terminal; what is written to /dev/kmsg comes out with the kernel's own messages.
fn speak_through_the_kernel() {
    let _ = fs::create_dir("/dev");
    let _ = attach("dev", "/dev", "devtmpfs", None);
    if let Ok(kmsg) = fs::OpenOptions::new().write(true).open("/dev/kmsg") {
        // If this fails, only the reason of a later failure is lost.
        let _ = dup2_stderr(&kmsg);
    }
}

fn power_off() -> nix::Result<Infallible> {
    reboot(RebootMode::RB_POWER_OFF)
}

fn on_uml(share: &str, errands: &[Errand]) -> Result<(), String> {
    let _ = fs::create_dir(SHARED);
    attach("none", SHARED, "hostfs", Some(share))?;
    prepare()?;
    std::thread::sleep(SINCE_BOOT);
    let place = Path::new(SHARED);
    let errand = errand::asked(errands, place)?;
    if errand.needs_sysfs {
        let _ = fs::create_dir("/sys");
        attach("sysfs", "/sys", "sysfs", None)?;
    }
    (errand.work)(place, Pace::Virtual)
}

/// What every run needs of a kernel that has just started.
pub(super) fn prepare() -> Result<(), String> {
    let _ = fs::create_dir("/proc");
    attach("proc", "/proc", "proc", None)?;
    if !Path::new(TUN).exists() {
        let _ = fs::create_dir("/dev/net");
        let mode = Mode::S_IRUSR | Mode::S_IWUSR;
        mknod(TUN, SFlag::S_IFCHR, mode, makedev(10, 200)).map_err(|e| format!("{TUN}: {e}"))?;
    }
    // The buffers of all sockets together: the default follows the guest's memory, which follows
    // the host's address randomisation.
    let memory = "/proc/sys/net/ipv4/tcp_mem";
    fs::write(memory, "100000 150000 200000").map_err(|e| format!("{memory}: {e}"))?;
    allow_congestion_controls()
}

/// Hosts are network namespaces, and those may only choose what the first one allows (`TCP_CONG_NON_RESTRICTED`).
fn allow_congestion_controls() -> Result<(), String> {
    let [all, allowed] = ["available", "allowed"]
        .map(|which| format!("/proc/sys/net/ipv4/tcp_{which}_congestion_control"));
    let names = fs::read_to_string(&all).map_err(|e| format!("{all}: {e}"))?;
    fs::write(&allowed, names.trim()).map_err(|e| format!("{allowed}: {e}"))
}

fn attach(what: &str, at: &str, kind: &str, data: Option<&str>) -> Result<(), String> {
    let flags = MsFlags::empty();
    mount(Some(what), at, Some(kind), flags, data)
        .map_err(|e: Errno| format!("cannot mount {kind} on {at}: {e}"))
}
