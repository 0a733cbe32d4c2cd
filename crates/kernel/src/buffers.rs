//! Default sizes of socket buffers of a run's hosts. The kernel's defaults follow the memory of the machine or guest,
//! so a run sets the sizes of a machine with plenty.

use nix::sys::utsname::uname;
use tcplab_plan::network::HOST_SYSCTLS;

/// The sysctl that releases differ in.
const RMEM: &str = "net.ipv4.tcp_rmem";

/// Linux 572be9bf9d0d: a receive buffer grows to 32 MB, which shows in the window scale of each SYN.
const RMEM_SINCE: (u32, u32) = (6, 16);

/// Its value since then.
const LARGE_RMEM: &str = "4096 131072 33554432";

/// [`HOST_SYSCTLS`] as the running kernel has them.
pub(crate) fn host_sysctls() -> [(&'static str, &'static str); 3] {
    let release = uname().map(|u| u.release().to_string_lossy().into_owned());
    of_release(&release.unwrap_or_default())
}

fn of_release(release: &str) -> [(&'static str, &'static str); 3] {
    let mut numbers = release.split(['.', '-']).map_while(|n| n.parse().ok());
    let (major, minor) = (numbers.next(), numbers.next());
    let is_large = (major.unwrap_or(0), minor.unwrap_or(0)) >= RMEM_SINCE;
    HOST_SYSCTLS.map(|(key, value)| match key {
        RMEM if is_large => (key, LARGE_RMEM),
        _ => (key, value),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_receive_buffer_is_that_of_the_release() {
        for (release, largest) in [
            ("5.10.262", "6291456"),
            ("6.1.0-56-cloud-amd64", "6291456"),
            ("6.12.118", "6291456"),
            ("6.15.0-rc7", "6291456"),
            ("6.16.0", "33554432"),
            ("7.2.13", "33554432"),
            ("", "6291456"),
        ] {
            let [(key, value), ..] = of_release(release);
            assert_eq!(key, RMEM);
            assert!(value.ends_with(largest), "{release}: {value}");
            assert_eq!(of_release(release)[1..], HOST_SYSCTLS[1..]);
        }
    }
}
