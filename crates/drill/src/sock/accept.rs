//! accept(2) and accept4(2) (Linux `inet_csk_accept()`).

use super::Model;
use super::call::{Answer, failed};
use super::fds::File;
use super::numbers::errno::EINVAL;
use super::numbers::{SOCK_CLOEXEC, SOCK_NONBLOCK};
use super::pending::{Pending, Progress};
use crate::call::{Fd, Output};

impl Model {
    pub(super) fn begin_accept(&mut self, fd: Fd, flags: i32) -> Answer<Pending> {
        let nonblock = self.tcp_socket(fd)?;
        if self.listener(fd).is_none() {
            return failed(EINVAL);
        }
        Ok(Pending::Accept {
            fd,
            flags,
            nonblock,
        })
    }

    /// Takes the first connection of the queue.
    pub(super) fn accept(&mut self, fd: Fd, flags: i32) -> Progress {
        let Some(id) = self.listener(fd) else {
            return Progress::failed(EINVAL);
        };
        let Some((conn, peer)) = self.stack.accept(self.now, id) else {
            return Progress::Wait;
        };
        let serial = self.files.serial();
        let Some(listener) = self.files.socket(fd) else {
            return Progress::failed(EINVAL);
        };
        let mut socket = listener.accepted(conn, serial);
        socket.nonblock = flags & SOCK_NONBLOCK != 0;
        let plain = socket.plain.clone();
        let mut outcome = self.add(File::Socket(Box::new(socket)));
        if outcome.errno != 0 {
            self.stack.close(self.now, conn);
            return Progress::Done(outcome);
        }
        (self.files).set_cloexec(outcome.result as Fd, flags & SOCK_CLOEXEC != 0);
        self.stack.with(self.now, conn, |ep, cx| {
            let (onoff, seconds) = plain.linger;
            ep.set_linger(onoff.then_some(seconds));
            ep.set_linger2(cx, plain.linger2);
        });
        if let Some(peer) = self.socket_addr(peer) {
            outcome.out = Output::Addr(peer);
        }
        Progress::Done(outcome)
    }
}
