//! Where a run is: this network namespace, one of its own with sysctls of its own, or two other machines.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::sched::CloneFlags;
use nix::unistd::geteuid;
use tcplab_os::namespaces::{OWN_NET, apart, enter_net, new_net, new_user};
use tcplab_os::netlink::Netlink;
use tcplab_os::{say, sysctl};

use super::Hosts;
use tcplab_os::{Context, OsError};

/// Where runs are.
#[derive(Debug)]
pub enum Place {
    /// The network namespace that this process is in.
    Here,
    /// One that goes with the process.
    Own(File),
    /// Two other machines.
    Hosts(Arc<Hosts>),
}

impl Place {
    /// A network namespace with its loopback device, the sysctls of the present one, and of these (`net.ipv4.tcp_sack`: `0`)
    /// the given values. Without root this process moves into a user namespace in which it is root: there must be no other thread yet.
    ///
    /// # Errors
    /// What the system refuses; a sysctl that does not exist in a network namespace.
    pub fn own(sysctls: &BTreeMap<String, String>) -> Result<Self, OsError> {
        if !geteuid().is_root() {
            new_user(CloneFlags::empty())
                .tried("this needs root, or user namespaces that are allowed")?;
        }
        let present = present();
        let made = apart(|| make(&present, sysctls));
        let made = made.unwrap_or_else(|| Err(io::Error::other("it ended early")).tried(OWN_NET));
        made.map(Self::Own)
    }

    /// Does something there, on a thread of its own when it is not here.
    pub(super) fn within<T: Send>(&self, does: impl FnOnce() -> T + Send) -> Result<T, OsError> {
        let Self::Own(namespace) = self else {
            return Ok(does());
        };
        let done = apart(|| enter_net(namespace).map(|()| does()));
        done.unwrap_or_else(|| Err(io::Error::other("a thread ended early")))
            .tried("cannot enter a network namespace")
    }
}

/// The sysctls of the present network namespace, without those of its devices. A new one would have the kernel's defaults.
fn present() -> BTreeMap<PathBuf, String> {
    let folders = ["core", "ipv4", "ipv6"].map(|family| Path::new("/proc/sys/net").join(family));
    let files = folders.iter().filter_map(|folder| folder.read_dir().ok());
    let files = files.flatten().flatten().map(|entry| entry.path());
    let read = |path: PathBuf| {
        let text = path.is_file().then(|| fs::read_to_string(&path).ok())??;
        Some((path, text))
    };
    files.filter_map(read).collect()
}

/// Sets what differs here; says what cannot be set.
fn inherit(present: &BTreeMap<PathBuf, String>) {
    for (path, text) in present {
        let differs = fs::read_to_string(path).is_ok_and(|own| own != *text);
        if differs && let Err(e) = fs::write(path, text.trim()) {
            say(&format!(
                "tcplab: warning: {} is not as on the machine ({}) in the arms' network namespace: {e}",
                path.display(),
                text.trim()
            ));
        }
    }
}

fn make(
    present: &BTreeMap<PathBuf, String>,
    sysctls: &BTreeMap<String, String>,
) -> Result<File, OsError> {
    new_net().tried("cannot make a network namespace")?;
    let netlink = Netlink::opened()?;
    netlink.up("lo").tried("cannot bring lo up")?;
    inherit(present);
    for (name, value) in sysctls {
        // /proc/sys/net shows the namespace of the thread that looks.
        let path = sysctl::path(name);
        if !name.starts_with("net.") {
            let other = io::Error::other("it belongs to the whole machine");
            return Err(other).context(|| {
                format!("sysctl {name}: a network namespace has those below net. only")
            });
        }
        fs::write(&path, value)
            .context(|| format!("sysctl {name} = {value} ({})", path.display()))?;
    }
    File::open(OWN_NET).tried(OWN_NET)
}
