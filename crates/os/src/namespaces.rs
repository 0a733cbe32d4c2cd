//! Namespaces without root (user_namespaces(7)).

use std::{fs, io};

use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getegid, geteuid};

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
