//! The calls of the operating system that no safe library offers. The only file with `unsafe`.
//!
//! Each function is a safe wrapper around one call: it owns or borrows what it hands over, says
//! why the call is sound, and turns errno into [`io::Error`].
#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

use tcplab_base::Duration;

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
    /// `TCP_CORK`, tcp(7).
    pub const CORK: Self = Self::tcp(libc::TCP_CORK);
    /// `TCP_RTO_MIN_US` in microseconds, linux/tcp.h of Linux 6.15.
    pub const RTO_MIN_US: Self = Self::tcp(45);
    /// `TCP_DELACK_MAX_US` in microseconds, linux/tcp.h of Linux 6.15.
    pub const DELACK_MAX_US: Self = Self::tcp(46);
    /// `TCP_LINGER2` in seconds, tcp(7).
    pub const LINGER2: Self = Self::tcp(libc::TCP_LINGER2);
    /// `TCP_SYNCNT`, tcp(7).
    pub const SYNCNT: Self = Self::tcp(libc::TCP_SYNCNT);
    /// `TCP_WINDOW_CLAMP` in bytes, tcp(7).
    pub const WINDOW_CLAMP: Self = Self::tcp(libc::TCP_WINDOW_CLAMP);
    /// `TCP_DEFER_ACCEPT` in seconds, tcp(7).
    pub const DEFER_ACCEPT: Self = Self::tcp(libc::TCP_DEFER_ACCEPT);
    /// `TCP_FASTOPEN`: most connections of a listener that are not ACKed yet, tcp(7).
    pub const FASTOPEN: Self = Self::tcp(libc::TCP_FASTOPEN);
    /// `TCP_FASTOPEN_CONNECT`, tcp(7).
    pub const FASTOPEN_CONNECT: Self = Self::tcp(libc::TCP_FASTOPEN_CONNECT);
    /// `SO_MAX_PACING_RATE` in bytes a second, socket(7): an `unsigned long`, see [`set_bytes`].
    pub const MAX_PACING_RATE: Self = Self::socket(libc::SO_MAX_PACING_RATE);
    /// `SO_RCVLOWAT` in bytes, socket(7).
    pub const RCVLOWAT: Self = Self::socket(libc::SO_RCVLOWAT);
    /// `SO_RCVBUF` in bytes, socket(7): Linux gives back twice what was set.
    pub const RCVBUF: Self = Self::socket(libc::SO_RCVBUF);
    /// `SO_SNDBUF` in bytes, socket(7): Linux gives back twice what was set.
    pub const SNDBUF: Self = Self::socket(libc::SO_SNDBUF);

    /// `IP_TOS`: the DS field, ip(7).
    pub const TOS: Self = Self {
        level: libc::IPPROTO_IP,
        name: libc::IP_TOS,
    };
    /// `IPV6_TCLASS`: the same of IPv6, RFC 3542 6.5.
    pub const TCLASS: Self = Self {
        level: libc::IPPROTO_IPV6,
        name: libc::IPV6_TCLASS,
    };

    /// `PACKET_VNET_HDR`: a `struct virtio_net_hdr` before each frame (linux/if_packet.h).
    pub const PACKET_VNET_HDR: Self = Self::packet(libc::PACKET_VNET_HDR);
    /// `PACKET_STATISTICS`, packet(7): two `unsigned int`, which begin anew when they are read.
    pub const PACKET_STATISTICS: Self = Self::packet(libc::PACKET_STATISTICS);
    /// `PACKET_AUXDATA`, packet(7): the VLAN tag that a card has taken off comes as a control message.
    pub const PACKET_AUXDATA: Self = Self::packet(libc::PACKET_AUXDATA);
    /// `PACKET_IGNORE_OUTGOING`, packet(7).
    pub const PACKET_IGNORE_OUTGOING: Self = Self::packet(libc::PACKET_IGNORE_OUTGOING);
    /// `PACKET_ADD_MEMBERSHIP`, packet(7): takes a `struct packet_mreq`.
    pub const PACKET_ADD_MEMBERSHIP: Self = Self::packet(libc::PACKET_ADD_MEMBERSHIP);

    const fn packet(name: libc::c_int) -> Self {
        Self {
            level: libc::SOL_PACKET,
            name,
        }
    }

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

/// Another descriptor of the same open file.
///
/// # Errors
/// Those of fcntl(2): the descriptor is not open.
pub fn duplicate(number: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: F_DUPFD_CLOEXEC takes no pointer; a number that is no descriptor gives EBADF.
    let new = unsafe { libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3) };
    if new < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just given it to us.
    Ok(unsafe { OwnedFd::from_raw_fd(new) })
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
    set_bytes(fd, option, &value.to_ne_bytes())
}

/// Sets an option that is a structure.
///
/// # Errors
/// Those of setsockopt(2).
pub fn set_bytes(fd: impl AsFd, option: SockOpt, value: &[u8]) -> io::Result<()> {
    let fd = fd.as_fd().as_raw_fd();
    let length = libc::socklen_t::try_from(value.len()).unwrap_or(libc::socklen_t::MAX);
    // SAFETY: the kernel reads `length` bytes of `value`, which is as long and outlives the call.
    let done =
        unsafe { libc::setsockopt(fd, option.level, option.name, value.as_ptr().cast(), length) };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Takes a descriptor that a call of nix has just made and nobody else owns.
pub fn owned(fd: std::os::fd::RawFd) -> std::os::fd::OwnedFd {
    // SAFETY: the callers hand over the result of accept4(2) at once: it is open and theirs.
    unsafe { std::os::fd::FromRawFd::from_raw_fd(fd) }
}

/// Makes the kernel end a command's process when the thread that started it has gone.
pub fn die_with_parent(command: &mut std::process::Command) {
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

/// Puts a process between this one and a command's, which waits for it and returns its status (128 + a signal's
/// number): the first process of a namespace, which must not end itself by a signal (pid_namespaces(7)).
///
/// With `tell`, a pipe, it writes the status there as wait(2) has it. It then stays until all processes of the command
/// have ended, or until it is killed, which ends them.
pub fn behind_an_init(command: &mut std::process::Command, tell: Option<std::os::fd::RawFd>) {
    use std::os::unix::process::CommandExt as _;
    // SAFETY: the closure runs between fork and exec, in a process with one thread. It makes system calls only, which
    // allocate nothing and take no lock; of both processes that it leaves, one never returns from it.
    unsafe {
        command.pre_exec(move || {
            let child = libc::fork();
            match child {
                -1 => return Err(io::Error::last_os_error()),
                0 => {
                    nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL)?;
                    return Ok(());
                }
                _ => {}
            }
            // The pipe by which the one who started the command hears of its exec; files of the guest.
            let first = match tell {
                Some(pipe) => libc::dup2(pipe, 3) + 1,
                None => 3,
            };
            libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, 0);
            let mut status = 0;
            loop {
                let ended = libc::waitpid(-1, &raw mut status, libc::__WALL);
                if ended == child && tell.is_some() {
                    libc::write(3, (&raw const status).cast(), size_of_val(&status));
                    libc::close(3);
                } else if ended == child {
                    break;
                }
                if ended < 0 && io::Error::last_os_error().raw_os_error() != Some(libc::EINTR) {
                    libc::_exit(127);
                }
            }
            libc::_exit(match libc::WIFEXITED(status) {
                true => libc::WEXITSTATUS(status),
                false => 128 + libc::WTERMSIG(status),
            })
        });
    }
}

/// Mounts a fresh /proc for a command in a process namespace, if allowed: pidof(1) and pkill(1) then find the
/// processes that they can signal. Mounts made by others remain visible.
pub fn with_own_proc(command: &mut std::process::Command) {
    use nix::mount::{MsFlags, mount};
    use std::os::unix::process::CommandExt as _;
    let none = None::<&str>;
    // SAFETY: the closure runs between fork and exec and makes system calls only, which allocate nothing (their paths are
    // short: nix copies them to the stack) and take no lock.
    unsafe {
        command.pre_exec(move || {
            let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
            // Containers may forbid it; then /proc shows the numbers of outside.
            let _ = nix::sched::unshare(nix::sched::CloneFlags::CLONE_NEWNS)
                .and_then(|()| mount(none, "/", none, MsFlags::MS_SLAVE | MsFlags::MS_REC, none))
                .and_then(|()| mount(Some("proc"), "/proc", Some("proc"), flags, none));
            Ok(())
        });
    }
}

/// Makes the TAP device `name` of `/dev/net/tun`, without a header before the frames and without
/// offloads: each frame is whole, with its checksums.
///
/// # Errors
/// Those of TUNSETIFF; a name that is too long.
pub(crate) fn attach_tap(tun: &std::fs::File, name: &str) -> io::Result<()> {
    attach(tun, name, libc::IFF_TAP | libc::IFF_NO_PI, 0)
}

/// Makes or attaches to the TAP device `name`: Ethernet frames behind a `struct virtio_net_hdr`. The reader does
/// checksums and segmentation, as a network card does them for a kernel.
///
/// # Errors
/// Those of TUNSETIFF; a name that is too long.
pub fn attach_tap_with_offload(tun: &std::fs::File, name: &str) -> io::Result<()> {
    let flags = libc::IFF_TAP | libc::IFF_NO_PI | libc::IFF_VNET_HDR;
    let offload = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;
    attach(tun, name, flags, offload)?;
    // A device that stays may have been given a longer header.
    let length: libc::c_int = 10;
    // SAFETY: the kernel reads an `int`, which outlives the call.
    let set = unsafe { libc::ioctl(tun.as_raw_fd(), libc::TUNSETVNETHDRSZ, &raw const length) };
    answer(set).map(drop)
}

/// Makes the TUN device `name`: IP packets behind a `struct virtio_net_hdr`. The reader does checksums and
/// segmentation, as a network card does them for a kernel.
///
/// # Errors
/// Those of TUNSETIFF; a name that is too long.
pub fn attach_tun(tun: &std::fs::File, name: &str) -> io::Result<()> {
    let flags = libc::IFF_TUN | libc::IFF_NO_PI | libc::IFF_VNET_HDR;
    let offload = libc::TUN_F_CSUM | libc::TUN_F_TSO4 | libc::TUN_F_TSO6 | libc::TUN_F_TSO_ECN;
    attach(tun, name, flags, offload)
}

fn attach(tun: &std::fs::File, name: &str, flags: libc::c_int, offload: u32) -> io::Result<()> {
    let mut request = interface(name)?;
    request.ifr_ifru.ifru_flags = flags as libc::c_short;
    // SAFETY: the kernel reads and writes no more than the `ifreq`, which outlives the call.
    let made = unsafe { libc::ioctl(tun.as_raw_fd(), libc::TUNSETIFF, &raw mut request) };
    answer(made)?;
    // SAFETY: TUNSETOFFLOAD takes its argument by value.
    let set = unsafe { libc::ioctl(tun.as_raw_fd(), libc::TUNSETOFFLOAD, offload) };
    answer(set).map(drop)
}

/// The argument of an ioctl(2) about an interface.
fn interface(name: &str) -> io::Result<libc::ifreq> {
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
    Ok(request)
}

/// The result of a call, or errno.
fn answer<T: TryInto<i64>>(result: T) -> io::Result<i64> {
    match result.try_into() {
        Ok(n) if n >= 0 => Ok(n),
        _ => Err(io::Error::last_os_error()),
    }
}

/// SIOCETHTOOL with a command that sets one number (`ETHTOOL_SGSO`).
///
/// # Errors
/// Those of the device; a name that is too long.
pub fn ethtool_set(socket: impl AsFd, name: &str, what: u32, to: u32) -> io::Result<()> {
    // Larger than the argument of any command: `struct ethtool_value` is its first two words.
    let mut words = [0_u32; 1024];
    (words[0], words[1]) = (what, to);
    let mut request = interface(name)?;
    request.ifr_ifru.ifru_data = (&raw mut words).cast();
    // SAFETY: the kernel reads and writes the `ifreq` and `words`; both outlive the call.
    let done = unsafe {
        libc::ioctl(
            socket.as_fd().as_raw_fd(),
            libc::SIOCETHTOOL,
            &raw mut request,
        )
    };
    answer(done).map(drop)
}

/// SIOCGIFMTU: bytes of the longest IP packet of an interface of the socket's network namespace.
///
/// # Errors
/// The interface does not exist, or its name is too long.
pub fn interface_mtu(socket: impl AsFd, name: &str) -> io::Result<u32> {
    let mut request = interface(name)?;
    // SAFETY: the kernel reads and writes the `ifreq`, which outlives the call.
    let done = unsafe {
        libc::ioctl(
            socket.as_fd().as_raw_fd(),
            libc::SIOCGIFMTU,
            &raw mut request,
        )
    };
    answer(done)?;
    // SAFETY: SIOCGIFMTU has written this member; any bytes are an `int`.
    let mtu = unsafe { request.ifr_ifru.ifru_mtu };
    u32::try_from(mtu).map_err(io::Error::other)
}

/// The number of this thread in the kernel.
pub fn thread_id() -> libc::pid_t {
    // SAFETY: takes nothing, cannot fail.
    unsafe { libc::gettid() }
}

/// From now on [`wake`] ends a call that a thread of this process waits in, with EINTR.
///
/// # Errors
/// Those of sigaction(2).
pub fn prepare_wake() -> io::Result<()> {
    use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
    extern "C" fn nothing(_: libc::c_int) {}
    // Without SA_RESTART.
    let action = SigAction::new(
        SigHandler::Handler(nothing),
        SaFlags::empty(),
        SigSet::empty(),
    );
    // SAFETY: the handler does nothing.
    unsafe { sigaction(Signal::SIGUSR1, &action) }?;
    Ok(())
}

/// From now on reading from a terminal in the background fails with EIO (SIGTTIN is ignored).
///
/// # Errors
/// Those of sigaction(2).
pub fn ignore_terminal_input() -> io::Result<()> {
    use nix::sys::signal::{SigHandler, Signal, signal};
    // SAFETY: no handler is run.
    unsafe { signal(Signal::SIGTTIN, SigHandler::SigIgn) }?;
    Ok(())
}

/// Sends a thread of this process the signal of [`prepare_wake`].
pub fn wake(thread: libc::pid_t) {
    let process = libc::pid_t::try_from(std::process::id()).unwrap_or_default();
    // SAFETY: three numbers; a thread that has gone is an error that does not matter.
    unsafe { libc::syscall(libc::SYS_tgkill, process, thread, libc::SIGUSR1) };
}

/// System calls as a packetdrill script makes them, wrong arguments included.
///
/// A descriptor is a plain number: a script may use one that it has closed. These calls touch only the memory passed
/// to them, for any descriptor.
pub mod call {
    use std::io::{self, IoSlice, IoSliceMut};
    use std::os::fd::{IntoRawFd, RawFd};
    use std::ptr;

    use super::answer;

    /// A buffer, or the null pointer with a length beside it.
    pub enum Memory<B> {
        /// Bytes of ours.
        Bytes(B),
        /// No memory, with a length all the same: the kernel answers EFAULT.
        Null(usize),
    }

    /// What recvmsg(2) gave beside the data.
    pub struct Received {
        /// How many came.
        pub bytes: i64,
        /// `msg_flags`.
        pub flags: i32,
        /// Bytes of control messages.
        pub control: usize,
    }

    /// Room for any socket address.
    const ADDRESS_ROOM: usize = size_of::<libc::sockaddr_storage>();

    fn reading(memory: &Memory<&[u8]>) -> (*const libc::c_void, usize) {
        match memory {
            Memory::Bytes(bytes) => (bytes.as_ptr().cast(), bytes.len()),
            Memory::Null(len) => (ptr::null(), *len),
        }
    }

    fn writing(memory: Memory<&mut [u8]>) -> (*mut libc::c_void, usize) {
        match memory {
            Memory::Bytes(bytes) => (bytes.as_mut_ptr().cast(), bytes.len()),
            Memory::Null(len) => (ptr::null_mut(), len),
        }
    }

    fn socklen(n: usize) -> libc::socklen_t {
        libc::socklen_t::try_from(n).unwrap_or(libc::socklen_t::MAX)
    }

    /// socket(2).
    pub fn socket(domain: i32, kind: i32, protocol: i32) -> io::Result<i64> {
        // SAFETY: three numbers.
        answer(unsafe { libc::socket(domain, kind, protocol) })
    }

    /// bind(2).
    pub fn bind(fd: RawFd, address: &[u8]) -> io::Result<i64> {
        // SAFETY: the kernel reads `address` and no more.
        answer(unsafe { libc::bind(fd, address.as_ptr().cast(), socklen(address.len())) })
    }

    /// connect(2).
    pub fn connect(fd: RawFd, address: &[u8]) -> io::Result<i64> {
        // SAFETY: the kernel reads `address` and no more.
        answer(unsafe { libc::connect(fd, address.as_ptr().cast(), socklen(address.len())) })
    }

    /// listen(2).
    pub fn listen(fd: RawFd, backlog: i32) -> io::Result<i64> {
        // SAFETY: two numbers.
        answer(unsafe { libc::listen(fd, backlog) })
    }

    /// shutdown(2).
    pub fn shutdown(fd: RawFd, how: i32) -> io::Result<i64> {
        // SAFETY: two numbers.
        answer(unsafe { libc::shutdown(fd, how) })
    }

    /// The caller owns the descriptor, or knows that the number is not open.
    pub fn close(fd: RawFd) -> io::Result<i64> {
        // SAFETY: one number.
        answer(unsafe { libc::close(fd) })
    }

    /// Gives the peer's address too.
    pub fn accept(fd: RawFd, flags: i32) -> io::Result<(i64, Vec<u8>)> {
        let mut address = vec![0; ADDRESS_ROOM];
        let mut length = socklen(address.len());
        // SAFETY: the kernel writes at most `length` bytes of `address`, and `length`.
        let got = unsafe { libc::accept4(fd, address.as_mut_ptr().cast(), &raw mut length, flags) };
        let got = answer(got)?;
        address.truncate(length as usize);
        Ok((got, address))
    }

    /// recvfrom(2), with the sender's address.
    pub fn recvfrom(fd: RawFd, into: Memory<&mut [u8]>, flags: i32) -> io::Result<(i64, Vec<u8>)> {
        let (start, room) = writing(into);
        let mut address = vec![0; ADDRESS_ROOM];
        let mut length = socklen(address.len());
        let from = address.as_mut_ptr().cast();
        // SAFETY: `start` is null or valid for `room` bytes; of `address` the kernel writes at most
        // `length` bytes.
        let got = unsafe { libc::recvfrom(fd, start, room, flags, from, &raw mut length) };
        let got = answer(got)?;
        address.truncate(length as usize);
        Ok((got, address))
    }

    /// read(2), for what is no socket.
    pub fn read(fd: RawFd, into: Memory<&mut [u8]>) -> io::Result<i64> {
        let (start, room) = writing(into);
        // SAFETY: `start` is null or valid for `room` bytes.
        answer(unsafe { libc::read(fd, start, room) })
    }

    /// write(2), for what is no socket.
    pub fn write(fd: RawFd, from: &Memory<&[u8]>) -> io::Result<i64> {
        let (start, len) = reading(from);
        // SAFETY: `start` is null or valid for `len` bytes.
        answer(unsafe { libc::write(fd, start, len) })
    }

    /// sendto(2); without an address it is send(2).
    pub fn sendto(
        fd: RawFd,
        from: &Memory<&[u8]>,
        flags: i32,
        to: Option<&[u8]>,
    ) -> io::Result<i64> {
        let (start, len) = reading(from);
        let (address, length) = to.map_or((ptr::null(), 0), |to| (to.as_ptr(), to.len()));
        let length = socklen(length);
        // SAFETY: `start` is null or valid for `len` bytes, `address` for `length`.
        answer(unsafe { libc::sendto(fd, start, len, flags, address.cast(), length) })
    }

    /// readv(2).
    pub fn readv(fd: RawFd, into: &mut [IoSliceMut<'_>]) -> io::Result<i64> {
        let count = libc::c_int::try_from(into.len()).unwrap_or(libc::c_int::MAX);
        // SAFETY: `IoSliceMut` has the layout of `struct iovec` by its documentation; each is valid.
        answer(unsafe { libc::readv(fd, into.as_mut_ptr().cast(), count) })
    }

    /// writev(2).
    pub fn writev(fd: RawFd, from: &[IoSlice<'_>]) -> io::Result<i64> {
        let count = libc::c_int::try_from(from.len()).unwrap_or(libc::c_int::MAX);
        // SAFETY: `IoSlice` has the layout of `struct iovec` by its documentation; each is valid.
        answer(unsafe { libc::writev(fd, from.as_ptr().cast(), count) })
    }

    /// recvmsg(2), without the address.
    pub fn recvmsg(
        fd: RawFd,
        into: &mut [IoSliceMut<'_>],
        control: &mut [u8],
        flags: i32,
    ) -> io::Result<Received> {
        // SAFETY: all-zero bytes are a valid `msghdr`: integers and null pointers.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = into.as_mut_ptr().cast();
        message.msg_iovlen = into.len();
        message.msg_control = control.as_mut_ptr().cast();
        message.msg_controllen = control.len();
        // SAFETY: the message points at slices that are valid for writes of their lengths.
        let bytes = answer(unsafe { libc::recvmsg(fd, &raw mut message, flags) })?;
        Ok(Received {
            bytes,
            flags: message.msg_flags,
            control: message.msg_controllen,
        })
    }

    /// sendmsg(2).
    pub fn sendmsg(
        fd: RawFd,
        from: &[IoSlice<'_>],
        control: &[u8],
        to: &[u8],
        flags: i32,
    ) -> io::Result<i64> {
        // SAFETY: all-zero bytes are a valid `msghdr`: integers and null pointers.
        let mut message: libc::msghdr = unsafe { std::mem::zeroed() };
        message.msg_iov = from.as_ptr().cast_mut().cast();
        message.msg_iovlen = from.len();
        if !control.is_empty() {
            message.msg_control = control.as_ptr().cast_mut().cast();
            message.msg_controllen = control.len();
        }
        if !to.is_empty() {
            message.msg_name = to.as_ptr().cast_mut().cast();
            message.msg_namelen = socklen(to.len());
        }
        // SAFETY: the kernel only reads what a message to be sent points at; all of it is valid.
        answer(unsafe { libc::sendmsg(fd, &raw const message, flags) })
    }

    /// setsockopt(2).
    pub fn setsockopt(fd: RawFd, level: i32, name: i32, value: &Memory<&[u8]>) -> io::Result<i64> {
        let (start, len) = reading(value);
        // SAFETY: `start` is null or valid for `len` bytes, which the kernel reads.
        answer(unsafe { libc::setsockopt(fd, level, name, start, socklen(len)) })
    }

    /// Gives how much of `value` the kernel has filled. Some options read it first: zeros are sound.
    pub fn getsockopt(fd: RawFd, level: i32, name: i32, value: &mut [u8]) -> io::Result<usize> {
        value.fill(0);
        let mut length = socklen(value.len());
        let start = value.as_mut_ptr().cast();
        // SAFETY: the kernel writes at most `length` bytes; what it finds there is zeros, so no
        // option takes an address from it.
        answer(unsafe { libc::getsockopt(fd, level, name, start, &raw mut length) })?;
        Ok((length as usize).min(value.len()))
    }

    /// fcntl(2) with a command that takes a number.
    pub fn fcntl(fd: RawFd, command: i32, arg: i32) -> io::Result<i64> {
        let known = [libc::F_GETFD, libc::F_SETFD, libc::F_GETFL, libc::F_SETFL];
        if !known.contains(&command) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        // SAFETY: those commands take no address.
        answer(unsafe { libc::fcntl(fd, command, arg) })
    }

    /// ioctl(2) with a request that gives an `int`.
    pub fn ioctl(fd: RawFd, request: u64) -> io::Result<(i64, i32)> {
        /// linux/sockios.h.
        const SIOCOUTQNSD: u64 = 0x894b;
        const SIOCATMARK: u64 = 0x8905;
        let known = [libc::FIONREAD, libc::TIOCOUTQ, SIOCOUTQNSD, SIOCATMARK];
        if !known.contains(&request) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let mut value: libc::c_int = 0;
        // SAFETY: those requests write one `int`.
        let result = answer(unsafe { libc::ioctl(fd, request, &raw mut value) })?;
        Ok((result, value))
    }

    /// poll(2).
    pub fn poll(fds: &mut [libc::pollfd], timeout_ms: i32) -> io::Result<i64> {
        let count = libc::nfds_t::try_from(fds.len()).unwrap_or(libc::nfds_t::MAX);
        // SAFETY: `fds` has `count` members.
        answer(unsafe { libc::poll(fds.as_mut_ptr(), count, timeout_ms) })
    }

    /// epoll_create(2).
    pub fn epoll_create(size: i32) -> io::Result<i64> {
        // SAFETY: one number.
        answer(unsafe { libc::epoll_create(size) })
    }

    /// epoll_ctl(2).
    pub fn epoll_ctl(
        epoll: RawFd,
        op: i32,
        fd: RawFd,
        mut event: libc::epoll_event,
    ) -> io::Result<i64> {
        // SAFETY: the kernel reads the event, which outlives the call.
        answer(unsafe { libc::epoll_ctl(epoll, op, fd, &raw mut event) })
    }

    /// `most` may be wrong: the kernel gets it, but writes no more than `events` holds.
    pub fn epoll_wait(
        epoll: RawFd,
        events: &mut [libc::epoll_event],
        most: i32,
        timeout_ms: i32,
    ) -> io::Result<i64> {
        let room = i32::try_from(events.len()).unwrap_or(i32::MAX);
        // SAFETY: the kernel writes at most `room` events.
        answer(unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), most.min(room), timeout_ms) })
    }

    /// pipe(2).
    pub fn pipe() -> io::Result<[RawFd; 2]> {
        let (from, to) = nix::unistd::pipe()?;
        Ok([from.into_raw_fd(), to.into_raw_fd()])
    }

    /// splice(2) without offsets.
    pub fn splice(from: RawFd, to: RawFd, len: usize, flags: u32) -> io::Result<i64> {
        let none = ptr::null_mut();
        // SAFETY: numbers and null pointers.
        answer(unsafe { libc::splice(from, none, to, none, len, flags) })
    }

    /// Gives the new offset too.
    pub fn sendfile(
        out: RawFd,
        from: RawFd,
        offset: Option<i64>,
        len: usize,
    ) -> io::Result<(i64, Option<i64>)> {
        let mut at = offset.unwrap_or_default();
        let pointer = match offset {
            Some(_) => &raw mut at,
            None => ptr::null_mut(),
        };
        // SAFETY: the pointer is null or that of `at`, which outlives the call.
        let sent = answer(unsafe { libc::sendfile(out, from, pointer, len) })?;
        Ok((sent, offset.map(|_| at)))
    }
}

/// How a process ended, and what it and its children took.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    /// How it ended.
    pub status: ExitStatus,
    /// On processors in user code.
    pub user: Duration,
    /// On processors in the kernel.
    pub system: Duration,
    /// The most memory of one of them, bytes.
    pub peak_bytes: u64,
}

/// wait4(2): waits for a child of this process.
///
/// # Errors
/// Those of wait4(2): it is no child, or somebody else waited for it.
pub fn wait4(id: u32) -> io::Result<Ended> {
    let id = libc::pid_t::try_from(id).map_err(io::Error::other)?;
    let mut status: libc::c_int = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: both pointers are valid for writes of their types and outlive the call.
        let done = unsafe { libc::wait4(id, &raw mut status, 0, usage.as_mut_ptr()) };
        match done {
            -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            -1 => return Err(io::Error::last_os_error()),
            _ => break,
        }
    }
    // SAFETY: integers, for which zeroes are values.
    let usage = unsafe { usage.assume_init() };
    let time = |t: libc::timeval| Duration::from_micros(t.tv_sec * 1_000_000 + t.tv_usec);
    Ok(Ended {
        status: ExitStatus::from_raw(status),
        user: time(usage.ru_utime),
        system: time(usage.ru_stime),
        // Linux counts it in units of 1,024 bytes.
        peak_bytes: usage.ru_maxrss.unsigned_abs() * 1_024,
    })
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
