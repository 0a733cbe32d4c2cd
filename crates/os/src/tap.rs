//! TAP devices: the ends of our own links (Linux's Documentation/networking/tuntap).

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt;

use nix::errno::Errno;
use nix::fcntl::OFlag;
use nix::unistd;

use crate::error::{Context, OsError};
use crate::sys;

/// The device's file.
const TUN: &str = "/dev/net/tun";

/// Opens it for a new device, whose reads do not wait; `who` are those that need it.
pub fn open_tun(who: &str) -> Result<File, OsError> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags((OFlag::O_NONBLOCK | OFlag::O_CLOEXEC).bits())
        .open(TUN)
        .context(|| {
            format!(
                "cannot open {TUN}: {who} need it readable and writable for this user \
                 (root, or `chmod 666 {TUN}`), and the driver loaded (`modprobe tun`)"
            )
        })
}

/// One TAP device; it vanishes with its last descriptor.
#[derive(Debug)]
pub struct Tap {
    /// Its descriptor, whose reads do not wait.
    pub file: File,
}

impl Tap {
    /// Makes the device `name` in the current network namespace, without offloads.
    pub fn new(name: &str) -> Result<Self, OsError> {
        let file = open_tun("links of ours")?;
        sys::attach_tap(&file, name).context(|| format!("cannot make the TAP device {name}"))?;
        Ok(Self { file })
    }

    /// Reads one frame into `buffer`; `None` if there is no more.
    pub fn read(&self, buffer: &mut [u8]) -> nix::Result<Option<usize>> {
        match unistd::read(&self.file, buffer) {
            Ok(n) => Ok(Some(n)),
            Err(Errno::EAGAIN) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Gives a frame to the host.
    pub fn write(&self, frame: &[u8]) -> nix::Result<()> {
        match unistd::write(&self.file, frame) {
            // The device is down or has no room: a card would drop it too.
            Ok(_) | Err(Errno::EIO | Errno::EAGAIN | Errno::ENOBUFS) => Ok(()),
            Err(e) => Err(e),
        }
    }
}
