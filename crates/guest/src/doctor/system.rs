//! Checks of this machine: privilege, namespaces, devices, folders, programs.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::unistd::geteuid;
use tcplab_os::live::Live;

use super::{Check, MEMORY};
use crate::build::{find_program, free_bytes, missing_tools, prebuilt};
use crate::store::Store;

/// Room for a first build, in bytes.
const BUILD_ROOM: u64 = 3_000_000_000;

/// Memory that a guest of 64 MB and its results take in the folder of memory, in bytes.
const GUEST_ROOM: u64 = 100_000_000;

/// A program's first line of output, when it ends well.
fn first_line(program: &Path, args: &[&str]) -> Option<String> {
    let output = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().next()?.trim();
    (output.status.success() && !line.is_empty()).then(|| line.to_owned())
}

/// Version and timer frequency of the kernel we run on.
pub(super) fn this_kernel() -> Check {
    let used_for = "`host`: delayed ACKs and timers count in its ticks";
    let release = tcplab_os::sysctl::kernel("osrelease");
    match hz() {
        Some(hz) => Check::works("this-kernel", used_for, format!("Linux {release}, {hz} Hz")),
        None => Check::unknown("this-kernel", used_for, format!("{release}, unknown HZ")),
    }
}

/// Timer frequency of this kernel: the coarse clock ticks with it.
fn hz() -> Option<i64> {
    use nix::time::{ClockId, clock_getres};
    let tick = clock_getres(ClockId::CLOCK_MONOTONIC_COARSE).ok()?;
    let ns = tcplab_os::clock::instant(tick).as_nanos();
    (ns > 0).then(|| (1_000_000_000 + ns / 2) / ns)
}

pub(super) fn root() -> Check {
    let used_for = "live capture, and namespaces if users may not create them";
    if geteuid().is_root() {
        return Check::works("root", used_for, "runs as root");
    }
    let remedy = "use sudo if a check below asks for it; most commands need no root";
    Check::missing(
        "root",
        used_for,
        format!("runs as uid {}", geteuid()),
        remedy,
    )
}

/// A user and a network namespace, made and gone again.
pub(super) fn namespaces() -> Check {
    let used_for = "`host` without root";
    match in_namespaces(&["true"]) {
        None => Check::unknown(
            "user-namespaces",
            used_for,
            "cannot test: the program `unshare` is missing",
        ),
        Some(Ok(())) => Check::works("user-namespaces", used_for, "user and network namespaces"),
        Some(Err(why)) => Check::missing(
            "user-namespaces",
            used_for,
            why,
            "sudo sysctl kernel.unprivileged_userns_clone=1 user.max_user_namespaces=10000 (Ubuntu: kernel.apparmor_restrict_unprivileged_userns=0), or run as root",
        ),
    }
}

/// A TAP device in a namespace of its own.
pub(super) fn tap() -> Check {
    let used_for = "our own links on `host`";
    let path = "/dev/net/tun";
    if let Err(e) = OpenOptions::new().read(true).write(true).open(path) {
        let remedy = "sudo modprobe tun; in a container: --device /dev/net/tun";
        return Check::missing("tap", used_for, format!("{path}: {e}"), remedy);
    }
    let add = ["ip", "tuntap", "add", "dev", "tcplab0", "mode", "tap"];
    match in_namespaces(&add) {
        Some(Ok(())) => Check::works("tap", used_for, "a TAP device in its own namespace"),
        _ if find_program("ip").is_none() => Check::unknown(
            "tap",
            used_for,
            format!("{path} opens; further tests need the program `ip`"),
        ),
        None => Check::unknown(
            "tap",
            used_for,
            format!("{path} opens; further tests need the program `unshare`"),
        ),
        Some(Err(why)) => {
            let remedy = "allow user namespaces (above), or run as root";
            Check::missing("tap", used_for, why, remedy)
        }
    }
}

/// Runs a program in new user and network namespaces. `None` without the means to try.
fn in_namespaces(command: &[&str]) -> Option<Result<(), String>> {
    let unshare = find_program("unshare")?;
    let mut child = Command::new(unshare);
    child
        .args(["--user", "--map-root-user", "--net", "--"])
        .args(command);
    let output = child.stdin(Stdio::null()).output().ok()?;
    let why = String::from_utf8_lossy(&output.stderr);
    let why = why.lines().next().unwrap_or("not allowed").to_owned();
    Some(if output.status.success() {
        Ok(())
    } else {
        Err(why)
    })
}

/// A packet socket on the loopback interface.
pub(super) fn capture() -> Check {
    let used_for = "`analyze -i`";
    match Live::open("lo", Duration::from_millis(1)) {
        Ok(_) => Check::works("capture", used_for, "a packet socket opens"),
        Err(e) => {
            let remedy = "sudo, or setcap cap_net_raw+ep on the program";
            Check::missing("capture", used_for, e.to_string(), remedy)
        }
    }
}

/// The folder for a guest's memory: in memory itself, and programs may run from it.
pub(super) fn memory_folder() -> Check {
    let used_for = "memory of `uml:` guests";
    let path = Path::new(MEMORY);
    let remedy =
        "sudo mount -t tmpfs -o exec,size=1g tmpfs /dev/shm; in a container: --shm-size 1g";
    let missing = |found: String| Check::missing("guest-memory", used_for, found, remedy);
    let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
    // Device, folder, type, options: proc_pid_mounts(5). The last one that is mounted there is seen.
    let mounted = mounts.lines().rev().find_map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        matches!(words[..], [_, MEMORY, ..]).then_some(words)
    });
    let mounted = mounted.unwrap_or_default();
    let is_tmpfs = mounted.get(2) == Some(&"tmpfs");
    let free = free_bytes(path).unwrap_or(0);
    let noexec = mounted
        .get(3)
        .is_some_and(|all| all.split(',').any(|one| one == "noexec"));
    if !is_tmpfs {
        return missing("/dev/shm is not a tmpfs".into());
    }
    if noexec {
        return missing("/dev/shm is mounted noexec".into());
    }
    // Trying is the only way to know: containers forbid by other means than modes.
    let written = tempfile::tempfile_in(path).and_then(|mut file| file.write_all(b"x"));
    match written {
        Err(e) => missing(format!("/dev/shm: {e}")),
        Ok(()) if free < GUEST_ROOM => {
            missing(format!("/dev/shm has {} MB left", free / 1_000_000))
        }
        Ok(()) => Check::works(
            "guest-memory",
            used_for,
            format!("/dev/shm, {} MB", free / 1_000_000),
        ),
    }
}

/// Kernels that were built.
pub(super) fn kernels(store: Option<&Store>) -> Check {
    let used_for = "`uml:`";
    let Some(store) = store else {
        return homeless("kernels", used_for);
    };
    let kernels = store.list().unwrap_or_default();
    let names: Vec<String> = kernels
        .iter()
        .filter_map(|k| k.manifest.names.first())
        .map(|n| format!("uml:{n}"))
        .collect();
    if !names.is_empty() {
        return Check::works("kernels", used_for, names.join(" "));
    }
    let found = match prebuilt() {
        Some(path) => format!("only {}, without virtual time", path.display()),
        None => "none is built".to_owned(),
    };
    Check::missing("kernels", used_for, found, "tcplab kernel build 6.1")
}

fn homeless(id: &'static str, used_for: &'static str) -> Check {
    let remedy = "set HOME or XDG_CACHE_HOME: kernels are kept in the user's cache";
    Check::missing(id, used_for, "no folder for kernels", remedy)
}

/// Programs that a build needs.
pub(super) fn build_tools() -> Check {
    let used_for = "`kernel build`";
    let missing = missing_tools();
    if missing.is_empty() {
        return Check::works("build-tools", used_for, "all there");
    }
    let (tools, packages): (Vec<_>, Vec<_>) = missing.into_iter().unzip();
    let found = format!("missing: {}", tools.join(", "));
    let remedy = format!("sudo apt-get install {}", packages.join(" "));
    Check::missing("build-tools", used_for, found, remedy)
}

/// Room for a build.
pub(super) fn disk(store: Option<&Store>) -> Check {
    let used_for = "`kernel build`";
    let Some(store) = store else {
        return homeless("disk", used_for);
    };
    let place = store.root().display();
    match free_bytes(store.root()) {
        None => Check::unknown(
            "disk",
            used_for,
            format!("{place}: cannot read the free space"),
        ),
        Some(free) if free < BUILD_ROOM => Check::missing(
            "disk",
            used_for,
            format!("{:.1} GB free in {place}", free as f64 / 1e9),
            "a first build needs 3 GB: free some, or set XDG_CACHE_HOME to a larger disk",
        ),
        Some(free) => Check::works(
            "disk",
            used_for,
            format!("{:.0} GB free in {place}", free as f64 / 1e9),
        ),
    }
}

/// A program that can be started.
pub(super) fn program(
    id: &'static str,
    name: &str,
    package: &str,
    used_for: &'static str,
) -> Check {
    let remedy = format!("sudo apt-get install {package}");
    let Some(path) = find_program(name) else {
        return Check::missing(id, used_for, "not installed", remedy);
    };
    match first_line(&path, &["--version"]) {
        Some(line) => Check::works(id, used_for, line),
        None => Check::missing(
            id,
            used_for,
            format!("{} does not start", path.display()),
            remedy,
        ),
    }
}
