//! The calls of the operating system that no safe library offers. The only file with `unsafe`.
//!
//! Each function is a safe wrapper around one call: it owns or borrows what it hands over, says
//! why the call is sound, and turns errno into [`io::Error`].
#![allow(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// An option of a socket: the level and the name of getsockopt(2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SockOpt {
    level: libc::c_int,
    name: libc::c_int,
}

impl SockOpt {
    /// `TCP_QUICKACK`, tcp(7).
    pub const QUICKACK: Self = Self::tcp(libc::TCP_QUICKACK);
    /// `TCP_NODELAY`, tcp(7).
    pub const NODELAY: Self = Self::tcp(libc::TCP_NODELAY);
    /// `TCP_INFO`, tcp(7): a structure, see [`get_bytes`].
    pub const INFO: Self = Self::tcp(libc::TCP_INFO);
    /// `TCP_NOTSENT_LOWAT` in bytes.
    pub const NOTSENT_LOWAT: Self = Self::tcp(libc::TCP_NOTSENT_LOWAT);
    /// `TCP_MAXSEG` in bytes, tcp(7).
    pub const MAXSEG: Self = Self::tcp(libc::TCP_MAXSEG);
    /// `TCP_USER_TIMEOUT` in milliseconds, tcp(7).
    pub const USER_TIMEOUT: Self = Self::tcp(libc::TCP_USER_TIMEOUT);
    /// `SO_RCVLOWAT` in bytes, socket(7).
    pub const RCVLOWAT: Self = Self::socket(libc::SO_RCVLOWAT);
    /// `SO_RCVBUF` in bytes, socket(7): Linux gives back twice what was set.
    pub const RCVBUF: Self = Self::socket(libc::SO_RCVBUF);
    /// `SO_SNDBUF` in bytes, socket(7): Linux gives back twice what was set.
    pub const SNDBUF: Self = Self::socket(libc::SO_SNDBUF);

    const fn tcp(name: libc::c_int) -> Self {
        Self {
            level: libc::IPPROTO_TCP,
            name,
        }
    }

    const fn socket(name: libc::c_int) -> Self {
        Self {
            level: libc::SOL_SOCKET,
            name,
        }
    }
}

/// Reads an option that is a structure; gives how many bytes of `into` the kernel has filled.
///
/// # Errors
/// Those of getsockopt(2).
pub fn get_bytes(fd: impl AsFd, option: SockOpt, into: &mut [u8]) -> io::Result<usize> {
    let fd = fd.as_fd().as_raw_fd();
    let mut length = libc::socklen_t::try_from(into.len()).unwrap_or(libc::socklen_t::MAX);
    // SAFETY: `into` is valid for writes of `length` bytes, and the kernel writes no more than
    // that; `length` outlives the call.
    let done = unsafe {
        libc::getsockopt(
            fd,
            option.level,
            option.name,
            into.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    match done {
        0 => Ok(usize::try_from(length)
            .unwrap_or(usize::MAX)
            .min(into.len())),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Reads an option that is an `int`.
///
/// # Errors
/// Those of getsockopt(2).
pub fn get_int(fd: impl AsFd, option: SockOpt) -> io::Result<i32> {
    let mut value = [0; size_of::<libc::c_int>()];
    get_bytes(fd, option, &mut value)?;
    Ok(i32::from_ne_bytes(value))
}

/// Sets an option that is an `int`.
///
/// # Errors
/// Those of setsockopt(2).
pub fn set_int(fd: impl AsFd, option: SockOpt, value: i32) -> io::Result<()> {
    let fd = fd.as_fd().as_raw_fd();
    let length = libc::socklen_t::try_from(size_of::<libc::c_int>()).unwrap_or(4);
    // SAFETY: the kernel reads `length` bytes of `value`, which is as long and outlives the call.
    let done = unsafe {
        libc::setsockopt(
            fd,
            option.level,
            option.name,
            (&raw const value).cast(),
            length,
        )
    };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Takes a descriptor that a call of nix has just made and nobody else owns.
pub(crate) fn owned(fd: std::os::fd::RawFd) -> std::os::fd::OwnedFd {
    // SAFETY: the callers hand over the result of accept4(2) at once: it is open and theirs.
    unsafe { std::os::fd::FromRawFd::from_raw_fd(fd) }
}

/// Makes the kernel end a command's process when the thread that started it has gone.
pub(crate) fn die_with_parent(command: &mut std::process::Command) {
    use std::os::unix::process::CommandExt as _;
    // SAFETY: the closure runs between fork and exec and makes one system call, which allocates
    // nothing and takes no lock.
    unsafe {
        command.pre_exec(|| {
            nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL)?;
            Ok(())
        });
    }
}

/// Makes the TAP device `name` of `/dev/net/tun`, without a header before the frames and without
/// offloads: each frame is whole, with its checksums.
///
/// # Errors
/// Those of TUNSETIFF; a name that is too long.
pub fn attach_tap(tun: &std::fs::File, name: &str) -> io::Result<()> {
    // SAFETY: all-zero bytes are a valid `ifreq`: integers, arrays and null pointers.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if name.len() >= request.ifr_name.len() {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("the interface name {name} is too long"),
        ));
    }
    for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: the kernel reads and writes no more than the `ifreq`, which outlives the call.
    let made = unsafe { libc::ioctl(tun.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
    if made != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: TUNSETOFFLOAD takes its argument by value.
    let set = unsafe { libc::ioctl(tun.as_raw_fd(), libc::TUNSETOFFLOAD, 0) };
    if set != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn integers_go_in_and_out() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        assert_eq!(get_int(&socket, SockOpt::NODELAY).unwrap(), 0);
        set_int(&socket, SockOpt::NODELAY, 1).unwrap();
        assert_eq!(get_int(&socket, SockOpt::NODELAY).unwrap(), 1);
        assert_eq!(get_int(&socket, SockOpt::QUICKACK).unwrap(), 1);
    }

    #[test]
    fn errors_are_the_kernels() {
        let no_socket = std::fs::File::open("/dev/null").unwrap();
        let error = get_int(&no_socket, SockOpt::NODELAY).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOTSOCK));
        assert!(set_int(&no_socket, SockOpt::NODELAY, 1).is_err());
    }

    #[test]
    fn a_short_buffer_gets_the_first_bytes() {
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut one = [0xff; 1];
        assert_eq!(get_bytes(&socket, SockOpt::INFO, &mut one).unwrap(), 1);
        assert_eq!(one, [10], "TCP_LISTEN");
    }
}
