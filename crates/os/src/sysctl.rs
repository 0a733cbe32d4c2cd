//! Where the kernel keeps its sysctls (proc(5)).

use std::path::PathBuf;
use std::{fs, io};

/// The file of a sysctl.
pub fn path(key: &str) -> PathBuf {
    // An interface's name may hold a dot; tc(8) and sysctl(8) write it as a slash then.
    let swapped: String = key
        .chars()
        .map(|c| match c {
            '.' => '/',
            '/' => '.',
            c => c,
        })
        .collect();
    PathBuf::from("/proc/sys").join(swapped)
}

/// The words of a sysctl's value.
///
/// # Errors
/// When it cannot be read.
pub fn words(key: &str) -> io::Result<Vec<String>> {
    let text = fs::read_to_string(path(key))?;
    Ok(text.split_whitespace().map(str::to_owned).collect())
}

/// What this kernel says of itself in `kernel.*`: `ostype`, `osrelease`, `version`; empty when `/proc` cannot be read.
pub fn kernel(name: &str) -> String {
    let text = fs::read_to_string(path("kernel").join(name));
    text.unwrap_or_default().trim().to_owned()
}

/// The congestion controls that this kernel has.
///
/// # Errors
/// When `/proc` cannot be read.
pub fn congestion_controls() -> io::Result<Vec<String>> {
    words("net.ipv4.tcp_available_congestion_control")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sysctl_names_become_paths() {
        let tcp = path("net.ipv4.tcp_rmem");
        assert_eq!(tcp, PathBuf::from("/proc/sys/net/ipv4/tcp_rmem"));
        let dotted = path("net.ipv4.conf.eth0/1.rp_filter");
        assert_eq!(
            dotted,
            PathBuf::from("/proc/sys/net/ipv4/conf/eth0.1/rp_filter")
        );
    }
}
