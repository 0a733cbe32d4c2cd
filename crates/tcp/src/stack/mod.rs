//! A host's TCP: connections by their ends, listeners, TIME-WAIT records, resets.

use tcplab_base::Instant;

use crate::endpoint::{Endpoint, OpenError};
use crate::host::HostConfig;
use crate::mib::Mib;
use crate::options::OpenOptions;
use crate::segment::{Addr, Segment};

/// Names a connection of a stack until it is released; numbers are used again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub struct ConnId(pub u32);

/// Names a listener.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ListenId(pub u32);

/// Something that the owner of sockets may want to act on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// connect(2) is over: the connection stands, or it failed (see its error).
    Connected(ConnId),
    /// A connection waits in accept(2)'s queue.
    Acceptable(ListenId),
    /// Something may be read: data, a FIN, an error (`sk_data_ready()`, `sk_state_change()`).
    Readable(ConnId),
    /// A full send buffer has room again (`sk_write_space()`).
    Writable(ConnId),
}

/// A host's TCP.
#[derive(Debug)]
pub struct Stack {
    /// Its settings.
    pub host: HostConfig,
    /// Its counters.
    pub mib: Mib,
}

#[allow(missing_docs, clippy::unused_self)]
impl Stack {
    /// A host without connections.
    pub fn new(host: HostConfig) -> Self {
        Self {
            host,
            mib: Mib::default(),
        }
    }

    /// Listens at a port of `addr` with this backlog; `options` are those of accepted sockets.
    pub fn listen(
        &mut self,
        _addr: Addr,
        _options: &OpenOptions,
        _backlog: u32,
        _mtu: u32,
    ) -> ListenId {
        ListenId(0)
    }

    /// Takes the first connection that waits.
    pub fn accept(&mut self, _now: Instant, _listener: ListenId) -> Option<(ConnId, Addr)> {
        None
    }

    /// Opens a connection from a free port; the SYN leaves at once. `mtu` is that of the path.
    pub fn connect(
        &mut self,
        _now: Instant,
        _local_host: u16,
        _remote: Addr,
        _options: &OpenOptions,
        _mtu: u32,
    ) -> Result<(ConnId, Addr), OpenError> {
        Err(OpenError(String::new()))
    }

    /// A segment for this host arrived.
    pub fn on_segment(&mut self, _now: Instant, _seg: &Segment) {}

    /// The next segment that leaves, in their order.
    pub fn poll_segment(&mut self) -> Option<Segment> {
        None
    }

    /// The next event for the owner of sockets, in their order.
    pub fn poll_event(&mut self) -> Option<Event> {
        None
    }

    /// When [`Stack::on_timer`] shall be called.
    pub fn next_timer(&self) -> Option<Instant> {
        None
    }

    /// Runs all timers that are due at `now`.
    pub fn on_timer(&mut self, _now: Instant) {}

    /// A call on a connection: `stack.with(now, id, |endpoint, cx| endpoint.read(cx, 4096))`. None: it was released.
    pub fn with<R>(
        &mut self,
        _now: Instant,
        _id: ConnId,
        _call: impl FnOnce(&mut Endpoint, &mut crate::Cx<'_>) -> R,
    ) -> Option<R> {
        None
    }

    /// Looks at a connection.
    pub fn get(&self, _id: ConnId) -> Option<&Endpoint> {
        None
    }

    /// close(2) and forget: the connection goes on by itself until it is over, then its record is freed.
    pub fn close(&mut self, _now: Instant, _id: ConnId) {}
}
