//! Where a run is: this network namespace, one of its own with sysctls of its own, or two other machines.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::sync::Arc;
use std::thread;

use nix::sched::{CloneFlags, setns, unshare};
use nix::unistd::geteuid;
use tcplab_os::namespaces::new_user;
use tcplab_os::netlink::Netlink;

use super::{EndError, Hosts, Tried};

/// The network namespace of this thread.
const OWN: &str = "/proc/thread-self/ns/net";

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
    /// A network namespace with its loopback device and these sysctls (`net.ipv4.tcp_sack`: `0`). Without root this
    /// process moves into a user namespace in which it is root: there must be no other thread yet.
    ///
    /// # Errors
    /// What the system refuses; a sysctl that does not exist in a network namespace.
    pub fn own(sysctls: &BTreeMap<String, String>) -> Result<Self, EndError> {
        if !geteuid().is_root() {
            new_user(CloneFlags::empty())
                .tried("this needs root, or user namespaces that are allowed")?;
        }
        // A separate thread, because a thread that enters a namespace stays there.
        let made = thread::scope(|scope| scope.spawn(|| make(sysctls)).join());
        let made = made.unwrap_or_else(|_| Err(std::io::Error::other("it ended early")).tried(OWN));
        made.map(Self::Own)
    }

    /// Does something there, on a thread of its own when it is not here.
    pub(super) fn within<T: Send>(&self, does: impl FnOnce() -> T + Send) -> Result<T, EndError> {
        let Self::Own(namespace) = self else {
            return Ok(does());
        };
        let done = thread::scope(|scope| {
            let entered = scope.spawn(|| {
                setns(namespace, CloneFlags::CLONE_NEWNET)?;
                Ok(does())
            });
            entered.join()
        });
        let done: Result<T, std::io::Error> =
            done.unwrap_or_else(|_| Err(std::io::Error::other("a thread ended early")));
        done.tried("cannot enter a network namespace")
    }
}

fn make(sysctls: &BTreeMap<String, String>) -> Result<File, EndError> {
    unshare(CloneFlags::CLONE_NEWNET).tried("cannot make a network namespace")?;
    let netlink = Netlink::open().tried("cannot open a netlink socket")?;
    netlink.up("lo").tried("cannot bring lo up")?;
    for (name, value) in sysctls {
        // /proc/sys/net shows the namespace of the thread that looks.
        let path = format!("/proc/sys/{}", name.replace('.', "/"));
        if !name.starts_with("net.") {
            let other = std::io::Error::other("it belongs to the whole machine");
            return Err(other).tried(&format!(
                "sysctl {name}: a network namespace has those below net. only"
            ));
        }
        fs::write(&path, value).tried(&format!("sysctl {name} = {value} ({path})"))?;
    }
    File::open(OWN).tried(OWN)
}
