//! Whether User-Mode Linux runs here: boots a kernel without an init, until it gives up.
//!
//! That tries all it needs at once: ptrace (which Yama, seccomp filters of containers and
//! debuggers forbid), memory that can be executed, and for our own kernels virtual time.
#![expect(
    clippy::disallowed_methods,
    reason = "a kernel that hangs is ended by the clock on the wall"
)]

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tcplab_os::scratch;

use super::{Check, MEMORY};
use crate::build::prebuilt;
use crate::store::Store;

/// Longest time to boot in.
const LIMIT: Duration = Duration::from_secs(20);

const USED_FOR: &str = "`uml:`";

/// The kernel says one of these when all of it works and it only lacks an init.
const SUCCESS: [&str; 2] = ["No working init found", "Unable to mount root fs"];

/// Boots the first kernel of the store, else a prebuilt one.
pub(super) fn uml(store: Option<&Store>) -> Check {
    let ours = store.and_then(|store| store.list().ok());
    let ours = ours.into_iter().flatten().next();
    let kernel = match ours.map(|k| k.path).or_else(prebuilt) {
        Some(kernel) => kernel,
        None => return Check::unknown("uml", USED_FOR, "no kernel to test with"),
    };
    let remedy = "allow ptrace: sudo sysctl kernel.yama.ptrace_scope=1; in a container: --cap-add SYS_PTRACE";
    match boot(&kernel) {
        Ok(console) if SUCCESS.iter().any(|s| console.contains(s)) => {
            Check::works("uml", USED_FOR, format!("{} boots", kernel.display()))
        }
        Ok(console) => {
            let last = console.lines().rev().find(|l| !l.trim().is_empty());
            let found = last.unwrap_or("it prints nothing").trim().to_owned();
            Check::missing(
                "uml",
                USED_FOR,
                format!("the kernel does not boot: {found}"),
                remedy,
            )
        }
        Err(e) => Check::missing(
            "uml",
            USED_FOR,
            format!("{}: {e}", kernel.display()),
            remedy,
        ),
    }
}

/// Everything the kernel printed before it ended.
fn boot(kernel: &Path) -> std::io::Result<String> {
    // Everybody may write there.
    let folder = scratch::private("tcplab-doctor-", Path::new(MEMORY))?;
    boot_in(kernel, folder.path())
}

fn boot_in(kernel: &Path, folder: &Path) -> std::io::Result<String> {
    let path = folder.join("console");
    let console = File::create_new(&path)?;
    let errors = console.try_clone()?;
    let mut child = Command::new(kernel)
        .args(["mem=32M", "con=null", "con0=fd:0,fd:1", "panic=-1"])
        .arg(format!("uml_dir={}", folder.display()))
        // glibc's restartable sequences lie where the kernel puts its own memory.
        .env("GLIBC_TUNABLES", "glibc.pthread.rseq=0")
        .env("TMPDIR", MEMORY)
        .stdin(Stdio::null())
        .stdout(console)
        .stderr(errors)
        .spawn()?;
    wait(&mut child)?;
    let mut text = Vec::new();
    let mut console = File::open(&path)?;
    console.rewind()?;
    console.read_to_end(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Waits for its end, or ends it.
fn wait(child: &mut Child) -> std::io::Result<()> {
    let began = Instant::now();
    while child.try_wait()?.is_none() {
        if began.elapsed() > LIMIT {
            child.kill()?;
            child.wait()?;
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_somebody_else_is_neither_used_nor_removed() {
        // The name that could be guessed.
        let theirs = Path::new(MEMORY).join(format!("tcplab-doctor-{}", std::process::id()));
        if let Err(e) = std::fs::create_dir(&theirs) {
            eprintln!("skipped: {}: {e}", theirs.display());
            return;
        }
        let kept = theirs.join("kept");
        std::fs::write(&kept, "").unwrap();
        // It prints its words, as a kernel does.
        let said = boot(Path::new("/bin/echo"));
        let is_kept = kept.exists();
        std::fs::remove_dir_all(&theirs).unwrap();
        let said = said.unwrap();
        let folder = said
            .split_whitespace()
            .find_map(|word| word.strip_prefix("uml_dir="));
        let folder = Path::new(folder.unwrap());
        assert!(is_kept && folder != theirs, "{said}");
        assert!(!folder.exists(), "{said}");
    }
}
