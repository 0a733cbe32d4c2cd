//! Init of a guest: mounts what a run needs, runs, powers off.

use std::convert::Infallible;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sys::reboot::{RebootMode, reboot};
use nix::sys::stat::{Mode, SFlag, makedev, mknod};
use nix::unistd::sync;

use super::folder;
use crate::run::Pace;

/// The kernel hands words of its command line that it does not know to init's environment.
pub(super) const SHARE: &str = "TCPLAB_SHARE";

const SHARED: &str = "/mnt";
const TUN: &str = "/dev/net/tun";

/// Runs as init when this process is one.
pub(super) fn init() -> Option<ExitCode> {
    if std::process::id() != 1 {
        return None;
    }
    let share = std::env::var(SHARE).ok()?;
    if let Err(e) = prepare(&share)
        .and_then(|()| folder::answer(Path::new(SHARED), Pace::Virtual).map_err(|e| e.to_string()))
    {
        // The console is all there is.
        eprintln!("tcplab init: {e}");
    }
    sync();
    match power_off() {
        Ok(never) => match never {},
        Err(e) => eprintln!("tcplab init: cannot power off: {e}"),
    }
    Some(ExitCode::FAILURE)
}

fn power_off() -> nix::Result<Infallible> {
    reboot(RebootMode::RB_POWER_OFF)
}

fn prepare(share: &str) -> Result<(), String> {
    for folder in ["/proc", "/dev", SHARED] {
        let _ = fs::create_dir(folder);
    }
    attach("proc", "/proc", "proc", None)?;
    // CONFIG_DEVTMPFS_MOUNT may have done it.
    match attach("dev", "/dev", "devtmpfs", None) {
        Err(e) if !Path::new("/dev/null").exists() => return Err(e),
        _ => {}
    }
    attach("none", SHARED, "hostfs", Some(share))?;
    if !Path::new(TUN).exists() {
        let _ = fs::create_dir("/dev/net");
        let mode = Mode::S_IRUSR | Mode::S_IWUSR;
        mknod(TUN, SFlag::S_IFCHR, mode, makedev(10, 200)).map_err(|e| format!("{TUN}: {e}"))?;
    }
    // The buffers of all sockets together: the default follows the guest's memory, which follows
    // the host's address randomisation.
    let memory = "/proc/sys/net/ipv4/tcp_mem";
    fs::write(memory, "100000 150000 200000").map_err(|e| format!("{memory}: {e}"))
}

fn attach(what: &str, at: &str, kind: &str, data: Option<&str>) -> Result<(), String> {
    let flags = MsFlags::empty();
    mount(Some(what), at, Some(kind), flags, data)
        .map_err(|e: Errno| format!("cannot mount {kind} on {at}: {e}"))
}
