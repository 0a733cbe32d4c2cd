//! Sockets of the applications, by the number of their end, and what an epoll would know of each.

use tcplab_plan::Point;
use tcplab_plan::point::SocketOptions;
use tcplab_tcp::{Addr, ConnId, ListenId};

use crate::ready::{Ready, Source};

/// A socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Socket {
    None,
    Tcp(ConnId),
    /// A port, and where a datagram goes.
    Udp(u16, Option<Addr>),
    /// An identifier of echoes, and where they go.
    Echo(u16, Addr),
}

/// What the event loop watches of a socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watch {
    /// It is not in the epoll.
    Absent,
    Nothing,
    Readable,
    Writable,
    Either,
}

/// The socket of an end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sock {
    pub(crate) socket: Socket,
    /// Where the end is.
    pub(crate) host: u16,
    /// Its application.
    pub(crate) app: u16,
    pub(crate) watch: Watch,
    /// It waits in the list of what is ready.
    is_ready: bool,
    /// A write has left less room than poll(2) asks for, and nobody has polled since.
    pub(crate) is_full: bool,
}

/// The listener of an application, and the options of its sockets.
#[derive(Debug)]
pub(crate) struct Listener {
    /// The servers' host.
    pub(crate) host: usize,
    pub(crate) id: Option<ListenId>,
    /// It waits in the list of what is ready.
    is_ready: bool,
    /// Of clients and of servers.
    pub(crate) options: [SocketOptions; 2],
    /// Changes of them that were made.
    pub(crate) changed: usize,
}

/// All sockets of a run.
#[derive(Debug, Default)]
pub(crate) struct Sockets {
    pub(crate) of: Vec<Sock>,
    /// By application.
    pub(crate) listeners: Vec<Listener>,
}

impl Sockets {
    pub(crate) fn new(point: &Point) -> Self {
        let flows: usize = point.apps.iter().map(|app| app.connections as usize).sum();
        let mut all = Self {
            of: Vec::with_capacity(2 * flows),
            listeners: Vec::new(),
        };
        for (number, app) in point.apps.iter().enumerate() {
            let options = |own: &SocketOptions, host: usize| own.or(&point.hosts[host].socket);
            all.listeners.push(Listener {
                host: app.server,
                id: None,
                is_ready: false,
                options: [
                    options(&app.client_socket, app.client),
                    options(&app.server_socket, app.server),
                ],
                changed: 0,
            });
            let ends = [app.client, app.server].map(|host| Sock {
                socket: Socket::None,
                host: host as u16,
                app: number as u16,
                watch: Watch::Absent,
                is_ready: false,
                is_full: false,
            });
            for _ in 0..app.connections {
                all.of.extend(ends);
            }
        }
        all
    }

    /// Something happened to the socket of an end: it joins the list of what is ready when it is watched.
    #[inline]
    pub(crate) fn touched(&mut self, ready: &mut Ready, end: u32) {
        let sock = &mut self.of[end as usize];
        if !matches!(sock.watch, Watch::Absent | Watch::Nothing)
            && !std::mem::replace(&mut sock.is_ready, true)
        {
            ready.push(Source::End(end));
        }
    }

    /// Connections wait at a listener of a host.
    #[inline(never)]
    pub(crate) fn listens(&mut self, ready: &mut Ready, host: usize, listener: ListenId) {
        let mut all = self.listeners.iter_mut().enumerate();
        let found = all.find(|(_, a)| a.host == host && a.id == Some(listener));
        if let Some((number, app)) = found
            && !std::mem::replace(&mut app.is_ready, true)
        {
            ready.push(Source::Listener(number as u32));
        }
    }

    /// Whether something happened to it; it has left the list.
    #[inline]
    pub(crate) fn leaves(&mut self, source: Source) -> bool {
        let touched = match source {
            Source::End(end) => &mut self.of[end as usize].is_ready,
            Source::Listener(app) => &mut self.listeners[app as usize].is_ready,
            Source::Host(_) => return false,
        };
        std::mem::replace(touched, false)
    }

    /// The options of an end's sockets.
    pub(crate) fn options(&self, end: usize) -> &SocketOptions {
        &self.listeners[usize::from(self.of[end].app)].options[end % 2]
    }

    /// Bytes that they take.
    pub(crate) fn memory(&self) -> usize {
        self.of.capacity() * size_of::<Sock>()
    }
}
