//! What the host's TCP is about, for messages.

use super::Model;
use super::fds::{File, Kind};
use crate::call::Fd;

impl Model {
    /// Of one descriptor, or of all that stand for connections.
    pub(super) fn explained(&mut self, fd: Option<Fd>) -> String {
        let fds: Vec<Fd> = match fd {
            Some(fd) => vec![fd],
            None => self.files.sockets_mut().map(|(fd, _)| fd).collect(),
        };
        let lines: Vec<String> = fds.into_iter().filter_map(|fd| self.line(fd)).collect();
        lines.join("\n")
    }

    fn line(&mut self, fd: Fd) -> Option<String> {
        let File::Socket(socket) = self.file(fd)? else {
            return None;
        };
        Some(match socket.kind {
            Kind::Fresh(_) => format!("fd {fd}: not connected"),
            Kind::Udp(_) => format!("fd {fd}: UDP"),
            Kind::Listener(id) => {
                let waiting = self.stack.waiting(id);
                format!("fd {fd}: LISTEN, {waiting} in the accept queue")
            }
            Kind::Conn(_) => {
                let reasons = self.with(fd, |ep, cx| ep.explain(cx))?;
                format!("fd {fd}: {}", reasons.join(", "))
            }
        })
    }
}
