//! What the kernel says of itself while it is under test: new records of /dev/kmsg that tell of a fault.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};

/// Words of the kernel's own alarms (lib/dump_stack.c, kernel/panic.c, mm/).
const ALARMS: [&str; 8] = [
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alarms_are_told_from_news() {
        let warning = "4,1066,14711,-;WARNING: CPU: 0 PID: 1 at net/ipv4/tcp.c:1 f+0x1/0x2\n";
        assert!(alarm(warning).unwrap().starts_with("WARNING: CPU"));
        let flood = "6,9,9,-;TCP: request_sock_TCP: Possible SYN flooding on port 80.\n";
        assert_eq!(alarm(flood), None);
        assert_eq!(alarm("no record"), None);
    }
}
