//! Namespaces: without root (user_namespaces(7)), of networks (network_namespaces(7)).

use std::fs::{self, File};
use std::io;
use std::thread;

use nix::sched::{CloneFlags, setns, unshare};
use nix::unistd::{getegid, geteuid};

/// The network namespace of the thread that looks.
pub const OWN_NET: &str = "/proc/thread-self/ns/net";

/// New interfaces send nothing over IPv6 by themselves, and their addresses can be used at once.
pub const QUIET_IPV6: [(&str, &str); 3] = [
    ("net.ipv6.conf.default.router_solicitations", "0"),
    ("net.ipv6.conf.default.accept_ra", "0"),
    ("net.ipv6.conf.default.accept_dad", "0"),
];

/// New interfaces have no link-local address.
pub const NO_LINK_LOCAL: (&str, &str) = ("net.ipv6.conf.default.addr_gen_mode", "1");

/// A user namespace in which this user is root, and other namespaces in it.
///
/// # Errors
/// Where user namespaces are not allowed.
pub fn new_user(more: CloneFlags) -> io::Result<()> {
    let (user, group) = (geteuid(), getegid());
    unshare(CloneFlags::CLONE_NEWUSER | more)?;
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("0 {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("0 {group} 1"))
}

/// Moves this thread into a new network namespace.
///
/// # Errors
/// What the system refuses.
pub fn new_net() -> io::Result<()> {
    Ok(unshare(CloneFlags::CLONE_NEWNET)?)
}

/// Moves this thread into a network namespace.
///
/// # Errors
/// What the system refuses.
pub fn enter_net(namespace: &File) -> io::Result<()> {
    Ok(setns(namespace, CloneFlags::CLONE_NEWNET)?)
}

/// Does something on a thread of its own, because a thread that enters a namespace stays there. None: it panicked.
pub fn apart<T: Send>(does: impl FnOnce() -> T + Send) -> Option<T> {
    thread::scope(|scope| scope.spawn(does).join()).ok()
}
