//! What another process spends on processors.

use std::fs;
use std::io;

use nix::unistd::{SysconfVar, sysconf};

/// The same of a process and its children together: nginx and its workers.
pub(super) fn of_all(id: u32) -> io::Result<[f64; 2]> {
    let mut sum = of(id)?;
    for entry in fs::read_dir("/proc")?.filter_map(Result::ok) {
        let Some(other) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        // Others come and go.
        let Ok(stat) = fs::read_to_string(entry.path().join("stat")) else {
            continue;
        };
        if parent(&stat) == Some(id)
            && let Ok(spent) = of(other)
        {
            sum = [sum[0] + spent[0], sum[1] + spent[1]];
        }
    }
    Ok(sum)
}

/// Seconds on a processor of the process with this id, in user code and in the kernel.
///
/// The sum is exact where the kernel has `/proc/PID/schedstat` (its first number, ns); how it divides comes from `utime` and
/// `stime` of proc_pid_stat(5), which are ticks of 10 ms.
pub(super) fn of(id: u32) -> io::Result<[f64; 2]> {
    let ticks = ticks(&fs::read_to_string(format!("/proc/{id}/stat"))?)
        .ok_or_else(|| io::Error::other(format!("/proc/{id}/stat cannot be read")))?;
    let second = sysconf(SysconfVar::CLK_TCK)?.unwrap_or(100) as f64;
    let [user, system] = ticks.map(|n| n as f64 / second);
    let exact = fs::read_to_string(format!("/proc/{id}/schedstat"));
    let exact = exact.ok().and_then(|text| nanoseconds(&text));
    Ok(match exact.map(|ns| ns as f64 / 1e9) {
        Some(sum) if user + system > 0.0 => [user, system].map(|part| sum * part / (user + system)),
        // No tick has passed: a server's first work is mostly the kernel's.
        Some(sum) => [0.0, sum],
        None => [user, system],
    })
}

/// `utime` and `stime`: the name of the program before them is in brackets and may hold anything.
fn ticks(stat: &str) -> Option<[u64; 2]> {
    let (_, rest) = stat.rsplit_once(')')?;
    let mut words = rest.split_whitespace().skip(11);
    Some([words.next()?.parse().ok()?, words.next()?.parse().ok()?])
}

fn parent(stat: &str) -> Option<u32> {
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_whitespace().nth(1)?.parse().ok()
}

fn nanoseconds(schedstat: &str) -> Option<u64> {
    schedstat.split(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_is_read() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 100 0 0 0 31 52 0 0 20 0 1 0 5 6 7";
        assert_eq!(ticks(stat), Some([31, 52]));
        assert_eq!(parent(stat), Some(1));
        assert_eq!(ticks("7 (a) S 1"), None);
        assert_eq!(nanoseconds("123456 78 9\n"), Some(123_456));
        assert!(of(std::process::id()).is_ok());
        assert!(of(u32::MAX).is_err());
    }
}
