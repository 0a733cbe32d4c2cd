//! What the machine must have for a build: programs and room on the disk.

use std::path::Path;
use std::process::Command;

use nix::sys::statvfs::statvfs;
use nix::unistd::geteuid;

use super::BuildError;
use super::command::Log;

/// Program and the Debian package that has it.
const TOOLS: &[(&str, &str)] = &[
    ("make", "make"),
    ("gcc", "gcc libc6-dev"),
    ("strip", "binutils"),
    ("flex", "flex"),
    ("bison", "bison"),
    ("bc", "bc"),
    ("tar", "tar"),
    ("xz", "xz-utils"),
    ("cp", "coreutils"),
];

/// What of the build's programs is missing, with the packages that have it.
pub(crate) fn missing_tools() -> Vec<(&'static str, &'static str)> {
    let is_missing = |program: &&(&str, &str)| find_program(program.0).is_none();
    TOOLS.iter().filter(is_missing).copied().collect()
}

/// A program in PATH, or in the folders of the system's administrator.
pub(crate) fn find_program(name: &str) -> Option<std::path::PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/sbin"].map(std::path::PathBuf::from);
    std::env::split_paths(&path)
        .chain(system)
        .map(|folder| folder.join(name))
        .find(|file| {
            file.metadata()
                .is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
        })
}

/// An error unless all programs are there.
pub(crate) fn check() -> Result<(), BuildError> {
    if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        return Err(BuildError::Machine(std::env::consts::ARCH));
    }
    let missing = missing_tools();
    if missing.is_empty() {
        return Ok(());
    }
    Err(BuildError::Tools {
        missing: missing.iter().map(|(tool, _)| (*tool).to_owned()).collect(),
        packages: missing
            .iter()
            .map(|(_, package)| (*package).to_owned())
            .collect(),
    })
}

/// Installs what is missing, as root or by sudo.
pub(crate) fn install(log: &mut Log) -> Result<(), BuildError> {
    let missing = missing_tools();
    if missing.is_empty() || find_program("apt-get").is_none() {
        return Ok(());
    }
    let mut command = if geteuid().is_root() {
        Command::new("apt-get")
    } else {
        let mut sudo = Command::new("sudo");
        sudo.args(["-n", "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
        sudo
    };
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command.args(["install", "-y", "--no-install-recommends"]);
    for (_, packages) in missing {
        command.args(packages.split(' '));
    }
    log.run("apt-get install", &mut command, |_| ())
        .map_err(BuildError::of_apt)
}

/// Free bytes for this user where `path` is, or will be.
pub(crate) fn free_bytes(path: &Path) -> Option<u64> {
    let there = path.ancestors().find(|p| p.exists())?;
    let stat = statvfs(there).ok()?;
    // The types of these fields differ between systems.
    #[allow(clippy::useless_conversion, reason = "u32 on some systems")]
    Some(u64::from(stat.blocks_available()) * u64::from(stat.fragment_size()))
}

/// An error unless `need` bytes are free.
pub(crate) fn check_disk(path: &Path, need: u64) -> Result<(), BuildError> {
    match free_bytes(path) {
        Some(free) if free < need => Err(BuildError::Disk {
            path: path.to_owned(),
            need_mb: need / 1_000_000,
            free_mb: free / 1_000_000,
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_found_in_the_path() {
        assert!(find_program("sh").is_some());
        assert!(find_program("no-such-program").is_none());
    }

    #[test]
    fn room_is_that_of_the_nearest_folder_that_exists() {
        let folder = tempfile::tempdir().unwrap();
        let below = folder.path().join("a/b/c");
        assert!(check_disk(&below, 1).is_ok());
        let error = check_disk(&below, u64::MAX).unwrap_err();
        assert!(error.is_machine() && error.to_string().contains("MB are free"));
    }
}
