//! Detects faults of the kernel under test: new records of /dev/kmsg that report one.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// Words of the kernel's own alarms (lib/dump_stack.c, kernel/panic.c, mm/).
const ALARMS: [&str; 9] = [
    "Kernel panic",
    "WARNING:",
    "BUG:",
    "Oops",
    "general protection fault",
    "Call Trace:",
    "refcount_t:",
    "soft lockup",
    "UBSAN:",
];

/// The kernel's log from now on.
#[derive(Debug)]
pub(super) struct Kmsg(File);

impl Kmsg {
    /// Opens it at its end.
    pub(super) fn open() -> std::io::Result<Self> {
        use std::os::unix::fs::OpenOptionsExt;
        let mut options = File::options();
        let mut file = options
            .read(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC)
            .open("/dev/kmsg")?;
        file.seek(SeekFrom::End(0))?;
        Ok(Self(file))
    }

    /// Alarms since it was last asked.
    pub(super) fn alarms(&mut self) -> Vec<String> {
        let mut alarms = Vec::new();
        let mut record = [0; 8_192];
        // A record a read; the rest is for the next time.
        for _ in 0..100_000 {
            match self.0.read(&mut record) {
                Ok(0) => break,
                Ok(n) => {
                    let text = String::from_utf8_lossy(record.get(..n).unwrap_or_default());
                    alarms.extend(alarm(&text));
                }
                // Records were overwritten before they were read: the next one follows.
                Err(e) if e.raw_os_error() == Some(libc::EPIPE) => {}
                Err(_) => break,
            }
        }
        alarms
    }
}

/// The message of a record that tells of a fault: behind `priority,sequence,time,flags;`.
fn alarm(record: &str) -> Option<String> {
    let (_, message) = record.split_once(';')?;
    let line = message.lines().next()?;
    let is_one = ALARMS.iter().any(|alarm| line.contains(alarm));
    is_one.then(|| line.to_owned())
}

/// A line without what the kernel puts before its message: `<LEVEL>[  SECONDS] `.
fn message(line: &str) -> &str {
    let at_time = line
        .trim()
        .strip_prefix('<')
        .and_then(|l| l.split_once('>'));
    let message = at_time.and_then(|(_, rest)| rest.split_once("] "));
    message.map_or(line, |(_, message)| message).trim()
}

/// Most lines of a console that are told.
const TOLD: usize = 8;

/// What the console of a dead kernel tells of its fault: lines with words of alarm, and the place in the code; else its last ones.
pub(crate) fn faults(console: &str) -> Vec<String> {
    let lines = console.lines().map(message).filter(|line| !line.is_empty());
    let tells = |line: &&str| {
        let is_alarm = ALARMS.iter().any(|alarm| line.contains(alarm));
        (is_alarm && !line.contains("Call Trace:")) || line.contains("RIP:")
    };
    let mut told: Vec<&str> = lines.clone().filter(tells).take(TOLD).collect();
    if told.is_empty() {
        let all: Vec<&str> = lines.collect();
        told = all[all.len().saturating_sub(3)..].to_vec();
    }
    told.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_console_s_last_words_are_those_of_the_fault() {
        let console = "Linux version\n<0>[    0.248000] Kernel panic - not syncing: planted\n\nCall Trace:\n f+0x1/0x2\nRIP: 0033:f\n";
        assert_eq!(
            faults(console),
            ["Kernel panic - not syncing: planted", "RIP: 0033:f"]
        );
        assert_eq!(faults("a\nb\n\nc\nd\n"), ["b", "c", "d"]);
        assert_eq!(faults(""), [""; 0]);
    }

    #[test]
    fn alarms_are_told_from_news() {
        let warning = "4,1066,14711,-;WARNING: CPU: 0 PID: 1 at net/ipv4/tcp.c:1 f+0x1/0x2\n";
        assert!(alarm(warning).unwrap().starts_with("WARNING: CPU"));
        let flood = "6,9,9,-;TCP: request_sock_TCP: Possible SYN flooding on port 80.\n";
        assert_eq!(alarm(flood), None);
        assert_eq!(alarm("no record"), None);
    }
}
