//! Descriptors of a script: those that it has made are its own, others it does not get to see.

use std::collections::BTreeSet;

use tcplab_drill::call::{Call, Outcome, Output, PollFd};

use tcplab_os::sys::call::{self, Memory};

/// A number that no process has open: the kernel answers EBADF.
const CLOSED: i32 = i32::MAX;

/// The descriptor itself when it is the script's own.
pub(super) fn own(fds: &BTreeSet<i32>, fd: i32) -> i32 {
    match fds.contains(&fd) {
        true => fd,
        // A negative number stays as it is, because poll(2) treats it differently.
        false if fd < 0 => fd,
        false => CLOSED,
    }
}

/// The call with every descriptor that is not the script's own replaced.
pub(super) fn only_own(call: &Call, fds: &BTreeSet<i32>) -> Call {
    let mut call = call.clone();
    match &mut call {
        Call::Bind { fd, .. }
        | Call::Listen { fd, .. }
        | Call::Accept { fd, .. }
        | Call::Connect { fd, .. }
        | Call::Recv { fd, .. }
        | Call::Readv { fd, .. }
        | Call::Recvmsg { fd, .. }
        | Call::Send { fd, .. }
        | Call::Writev { fd, .. }
        | Call::Sendmsg { fd, .. }
        | Call::Shutdown { fd, .. }
        | Call::Close { fd }
        | Call::Setsockopt { fd, .. }
        | Call::Getsockopt { fd, .. }
        | Call::Fcntl { fd, .. }
        | Call::Ioctl { fd, .. }
        | Call::EpollWait { epoll: fd, .. } => *fd = own(fds, *fd),
        Call::EpollCtl {
            epoll: a, fd: b, ..
        }
        | Call::Splice { from: a, to: b, .. }
        | Call::Sendfile {
            out: a, from: b, ..
        } => (*a, *b) = (own(fds, *a), own(fds, *b)),
        Call::Poll { fds: list, .. } => {
            for PollFd { fd, .. } in list {
                *fd = own(fds, *fd);
            }
        }
        Call::Socket { .. } | Call::EpollCreate { .. } | Call::Pipe | Call::Open { .. } => (),
    }
    call
}

/// Keeps the books about a call that is over.
pub(super) fn settle(fds: &mut BTreeSet<i32>, call: &Call, outcome: &Outcome) {
    match (call, &outcome.out) {
        // Whatever close(2) says, the descriptor is gone.
        (Call::Close { fd }, _) => {
            fds.remove(fd);
        }
        (_, Output::Pipe(ends)) => fds.extend(ends),
        (
            Call::Socket { .. }
            | Call::Accept { .. }
            | Call::EpollCreate { .. }
            | Call::Open { .. },
            _,
        ) => {
            let made = i32::try_from(outcome.result).ok();
            fds.extend(made.filter(|fd| *fd >= 0));
        }
        _ => (),
    }
}

/// Whether a call could wait, as far as its descriptor and flags tell.
pub(super) fn may_wait(call: &Call) -> bool {
    let never = libc::MSG_DONTWAIT | libc::MSG_ERRQUEUE;
    match call {
        Call::Recv { fd, flags, .. }
        | Call::Recvmsg { fd, flags, .. }
        | Call::Send { fd, flags, .. }
        | Call::Sendmsg { fd, flags, .. } => flags & never == 0 && blocks(*fd),
        Call::Accept { fd, .. }
        | Call::Connect { fd, .. }
        | Call::Readv { fd, .. }
        | Call::Writev { fd, .. }
        | Call::Sendfile { out: fd, .. } => blocks(*fd),
        Call::Splice { from, to, .. } => blocks(*from) || blocks(*to),
        Call::Poll { timeout_ms, .. } | Call::EpollWait { timeout_ms, .. } => *timeout_ms != 0,
        Call::Close { fd } => lingers(*fd),
        _ => false,
    }
}

fn blocks(fd: i32) -> bool {
    call::fcntl(fd, libc::F_GETFL, 0).is_ok_and(|flags| flags & i64::from(libc::O_NONBLOCK) == 0)
}

fn lingers(fd: i32) -> bool {
    let mut value = [0; 8];
    let got = call::getsockopt(fd, libc::SOL_SOCKET, libc::SO_LINGER, &mut value);
    got.is_ok() && value[..4] != [0; 4] && value[4..] != [0; 4]
}

/// Closes a socket at once, so the kernel keeps no state of it.
pub(super) fn abort(fd: i32) {
    let now = [1_i32.to_ne_bytes(), 0_i32.to_ne_bytes()].concat();
    let value = Memory::Bytes(now.as_slice());
    // Fails for descriptors other than sockets, which lack this option.
    let _ = call::setsockopt(fd, libc::SOL_SOCKET, libc::SO_LINGER, &value);
    let _ = call::close(fd);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_descriptors_are_refused() {
        let mut fds = BTreeSet::new();
        let pipe = Outcome {
            out: Output::Pipe([7, 8]),
            ..Outcome::ok(0)
        };
        settle(&mut fds, &Call::Pipe, &pipe);
        let read = |fd| Call::Readv { fd, lens: vec![1] };
        assert_eq!(only_own(&read(7), &fds), read(7));
        assert_eq!(only_own(&read(0), &fds), read(CLOSED));
        assert_eq!(only_own(&read(-1), &fds), read(-1));
        settle(&mut fds, &Call::Close { fd: 7 }, &Outcome::failed(5));
        assert_eq!(only_own(&read(7), &fds), read(CLOSED));
        assert_eq!(
            call::read(CLOSED, Memory::Null(0))
                .unwrap_err()
                .raw_os_error(),
            Some(libc::EBADF)
        );
    }
}
