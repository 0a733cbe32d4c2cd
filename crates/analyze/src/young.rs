//! A connection of a few packets, kept as these packets.
//!
//! A flood, a scan or a proxy leaves millions of connections that stay short. Their packets take a
//! quarter of the memory of a [`Connection`]. The `Connection` is built when more packets come,
//! when one of them does not fit the short form, or for the report. It then reads the same packets
//! in the same order, so the result does not change.

mod brief;

use tcplab_base::Instant;
use tcplab_wire::{CaqmUnits, TcpFlags, TcpPacket};

use crate::conn::{Connection, Moment};
use crate::table::Key;
use crate::trace::Shelf;
use brief::Brief;

/// Most packets that are kept: a handshake, a request and its answer with their ACKs, and one more.
const MOST: usize = 8;

/// A connection, and its first packets.
#[derive(Debug)]
pub(crate) struct Young {
    stream: u32,
    key: Key,
    start: Instant,
    /// The ports were those of an older connection: when that ended, if it had been open.
    reused: Option<Moment>,
    /// How many packets each side sent.
    sent: [u8; 2],
    packets: [Brief; MOST],
}

impl Young {
    pub(crate) fn new(stream: u32, key: Key, start: Instant, reused: Option<Moment>) -> Self {
        Self {
            stream,
            key,
            start,
            reused,
            sent: [0; 2],
            packets: [Brief::default(); MOST],
        }
    }

    fn len(&self) -> usize {
        self.sent.into_iter().map(usize::from).sum()
    }

    /// Keeps a packet of side `dir`. `false`: there is no room for it, or it has no short form.
    #[inline]
    pub(crate) fn take(&mut self, number: u64, now: Instant, dir: usize, p: &TcpPacket) -> bool {
        let len = self.len();
        let (Some(room), Some(sent)) = (self.packets.get_mut(len), self.sent.get_mut(dir)) else {
            return false;
        };
        let Some(brief) = Brief::of(number, now, dir, p) else {
            return false;
        };
        debug_assert_eq!((brief.packet(&self.key), brief.dir()), (*p, dir));
        *room = brief;
        *sent += 1;
        true
    }

    /// Whether `p` is a SYN that belongs to a new connection with the same ports (see [`crate::compat::Compat::reuses`]); `None` where the
    /// packets so far have to be looked at for that.
    pub(crate) fn reuses(&self, p: &TcpPacket) -> Option<bool> {
        if !p.flags.has(TcpFlags::SYN) || p.flags.has(TcpFlags::ACK) {
            return Some(false);
        }
        // Sequence numbers of a side count from its first SYN.
        let mut before = self
            .packets
            .iter()
            .take(self.len())
            .map(|b| b.packet(&self.key));
        let first = self.packets[0].seq;
        let same = |b: TcpPacket| b.flags == p.flags && b.src == p.src && b.seq == first;
        before.all(same).then(|| first != p.seq)
    }

    /// The state that these packets make.
    #[inline(never)]
    pub(crate) fn grow(&self, units: &CaqmUnits, shelf: &mut Shelf) -> Connection {
        let mut connection = Connection::new(self.stream, self.key, self.start, self.reused, false);
        for brief in self.packets.iter().take(self.len()) {
            let p = brief.packet(&self.key);
            connection.packet(brief.number, brief.now, brief.dir(), &p, units, shelf);
        }
        connection
    }

    /// How many packets each side sent.
    pub(crate) fn sent(&self) -> [u32; 2] {
        self.sent.map(u32::from)
    }
}
