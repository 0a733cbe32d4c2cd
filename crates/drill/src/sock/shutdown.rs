//! shutdown(2) and close(2) (Linux `inet_shutdown()`, `inet_release()`, `__tcp_close()`).

use tcplab_base::Duration;
use tcplab_tcp::{Addr, ConnId, Shutdown, State};

use super::Model;
use super::call::{Answer, failed, over};
use super::fds::{File, Kind};
use super::numbers::errno::{EBADF, EINVAL, ENOTCONN};
use super::pending::{Pending, Progress};
use crate::call::{Fd, Outcome};

const SHUT_RD: i32 = 0;
const SHUT_RDWR: i32 = 2;

impl Model {
    pub(super) fn shutdown(&mut self, fd: Fd, how: i32) -> Answer<Outcome> {
        if self.udp(fd).is_some() && (SHUT_RD..=SHUT_RDWR).contains(&how) {
            // RCV_SHUTDOWN and SEND_SHUTDOWN are one more.
            return Ok(self.udp_shutdown(fd, Shutdown::from_bits_retain(how as u8 + 1)));
        }
        self.tcp_socket(fd)?;
        if !(SHUT_RD..=SHUT_RDWR).contains(&how) {
            return failed(EINVAL);
        }
        let reads = how != 1;
        if let Some(id) = self.listener(fd) {
            if reads {
                self.stack.close_listener(self.now, id);
                self.renew(fd);
            }
            return Ok(Outcome::ok(0));
        }
        let state = self.with(fd, |ep, _| ep.state());
        let outcome = match state {
            None => Outcome::failed(ENOTCONN),
            Some(State::SynSent) => {
                self.with(fd, |ep, cx| ep.abort(cx));
                self.renew(fd);
                Outcome::ok(0)
            }
            Some(state) => {
                self.with(fd, |ep, cx| {
                    if reads {
                        ep.shutdown_read();
                    }
                    if how != SHUT_RD {
                        // The state was looked at.
                        let _ = ep.shutdown_write(cx);
                    }
                });
                match state {
                    State::Close => Outcome::failed(ENOTCONN),
                    _ => Outcome::ok(0),
                }
            }
        };
        // Everybody who waits for the socket is woken.
        self.wake(fd, 0);
        Ok(outcome)
    }

    pub(super) fn close(&mut self, fd: Fd) -> Answer<Pending> {
        for epoll in self.files.epolls_mut() {
            epoll.forget(fd);
        }
        let Some(file) = self.files.remove(fd) else {
            return failed(EBADF);
        };
        let File::Socket(socket) = file else {
            return over(Outcome::ok(0));
        };
        match socket.kind {
            Kind::Fresh(_) | Kind::Udp(_) => over(Outcome::ok(0)),
            Kind::Listener(id) => {
                self.stack.close_listener(self.now, id);
                over(Outcome::ok(0))
            }
            Kind::Conn(id) => {
                let ends = (self.stack.get(id)).map(|ep| (ep.local(), ep.remote()));
                self.stack.close(self.now, id);
                match (socket.plain.linger, ends) {
                    ((true, seconds), Some(ends)) if seconds > 0 => Ok(Pending::Linger {
                        id,
                        ends,
                        until: self.now + Duration::from_secs(i64::from(seconds)),
                    }),
                    _ => over(Outcome::ok(0)),
                }
            }
        }
    }

    /// `sk_stream_wait_close()`: until the peer has ACKed all, or the time is over.
    pub(super) fn linger_step(&mut self, id: ConnId, ends: (Addr, Addr), late: bool) -> Progress {
        let is_closing = self.stack.get(id).is_some_and(|ep| {
            (ep.local(), ep.remote()) == ends
                && matches!(
                    ep.state(),
                    State::FinWait1 | State::Closing | State::LastAck
                )
        });
        match is_closing && !late {
            true => Progress::Wait,
            false => Progress::ok(0),
        }
    }
}
