//! The records of a host: connections, requests of listeners, TIME-WAIT; by number and by their two ends.
//!
//! One hash probe finds what a segment is for, whichever kind of record it is (Linux's ehash). The hash's seed comes
//! from the host's secret, so colliding ends cannot be computed from outside, and the same run has the same order.

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::pack::WorkingSet;
use super::ports::{Crowds, PortSet};
use super::request::Request;
use super::secret::ends;
use super::timewait::TimeWait;
use crate::endpoint::Endpoint;
use crate::segment::Addr;

/// A connection, and who holds it.
#[derive(Clone, Debug)]
pub(crate) struct Conn {
    pub(crate) ep: Endpoint,
    pub(crate) holder: Holder,
    /// Its ends are in the table: segments find it.
    pub(crate) hashed: bool,
}

/// Who will free a connection's record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Holder {
    /// The application, until it calls close.
    Application,
    /// A listener's queue.
    Queue(u32),
    /// Nobody: it ends by itself.
    Nobody,
}

/// What a number stands for.
#[derive(Debug)]
pub(crate) enum Record {
    /// Nothing; the next free number.
    Free(u32),
    Conn(Box<Conn>),
    /// An idle connection, see `pack.rs`.
    Packed(Box<[u8]>),
    Request(Box<Request>),
    TimeWait(Box<TimeWait>),
}

/// No free record.
const END: u32 = u32::MAX;

/// All records of a host.
#[derive(Debug)]
pub(crate) struct Table {
    pub(super) records: Vec<Record>,
    free: u32,
    pub(super) working: WorkingSet,
    by_ends: HashMap<u64, u32, FixedState>,
    crowds: Crowds,
}

impl Table {
    pub(crate) fn new(secret: u64) -> Self {
        Self {
            records: Vec::new(),
            free: END,
            working: WorkingSet::default(),
            by_ends: HashMap::with_hasher(FixedState::with_seed(secret)),
            crowds: Crowds::default(),
        }
    }

    /// Takes a record in, under a free number.
    pub(crate) fn insert(&mut self, record: Record) -> u32 {
        let is_conn = matches!(record, Record::Conn(_));
        let number = self.place(record);
        if is_conn {
            self.make_room(None);
            self.joins_working_set(number);
        }
        number
    }

    fn place(&mut self, record: Record) -> u32 {
        match self.records.get_mut(self.free as usize) {
            Some(slot) => {
                let number = self.free;
                if let Record::Free(next) = *slot {
                    self.free = next;
                }
                *slot = record;
                number
            }
            None => {
                self.records.push(record);
                (self.records.len() - 1) as u32
            }
        }
    }

    /// Frees a number, and gives what it stood for.
    pub(crate) fn remove(&mut self, number: u32) -> Option<Record> {
        let slot = self.records.get_mut(number as usize)?;
        if matches!(slot, Record::Free(_)) {
            return None;
        }
        let record = std::mem::replace(slot, Record::Free(self.free));
        self.free = number;
        if let Record::Conn(_) = record {
            self.left_working_set();
        }
        Some(record)
    }

    #[inline]
    pub(crate) fn get(&self, number: u32) -> Option<&Record> {
        self.records.get(number as usize)
    }

    #[inline]
    pub(crate) fn get_mut(&mut self, number: u32) -> Option<&mut Record> {
        self.records.get_mut(number as usize)
    }

    /// The connection of this number, not packed any more.
    #[inline]
    pub(crate) fn conn_mut(&mut self, number: u32) -> Option<&mut Conn> {
        if !matches!(self.get(number), Some(Record::Conn(_))) {
            self.unpack(number);
        }
        match self.get_mut(number)? {
            Record::Conn(conn) => Some(conn),
            _ => None,
        }
    }

    /// The request of this number.
    pub(crate) fn request_mut(&mut self, number: u32) -> Option<&mut Request> {
        match self.get_mut(number)? {
            Record::Request(request) => Some(request),
            _ => None,
        }
    }

    /// The TIME-WAIT record of this number.
    pub(crate) fn time_wait_mut(&mut self, number: u32) -> Option<&mut TimeWait> {
        match self.get_mut(number)? {
            Record::TimeWait(record) => Some(record),
            _ => None,
        }
    }

    /// Whose a segment from `remote` to `local` is.
    #[inline]
    pub(crate) fn find(&self, local: Addr, remote: Addr) -> Option<u32> {
        self.by_ends.get(&ends(local, remote)).copied()
    }

    /// Segments between these ends are now for `number`.
    pub(crate) fn hash(&mut self, local: Addr, remote: Addr, number: u32) {
        let key = ends(local, remote);
        self.by_ends.insert(key, number);
        self.crowds.note(key, true);
    }

    /// Segments between these ends find nothing any more, unless they are another record's by now.
    pub(crate) fn unhash(&mut self, local: Addr, remote: Addr, number: u32) {
        let key = ends(local, remote);
        if self.by_ends.get(&key) == Some(&number) {
            self.by_ends.remove(&key);
            self.crowds.note(key, false);
        }
    }

    /// Bytes of what finds records by their ends.
    pub(super) fn finding(&self) -> usize {
        self.by_ends.allocation_size()
    }

    /// The ports of `local_host` that find something from `remote`, when they are kept.
    pub(crate) fn used_ports(&self, local_host: u16, remote: Addr) -> Option<&PortSet> {
        self.crowds.get(local_host, remote)
    }

    /// Keeps them from now on, for the ports of this range.
    pub(crate) fn keep_used_ports(&mut self, host: u16, remote: Addr, range: [u16; 2]) {
        let by_ends = &self.by_ends;
        let is_used = |port: &u16| by_ends.contains_key(&ends(Addr { host, port: *port }, remote));
        let used = (range[0]..=range[1]).filter(is_used);
        self.crowds.begin(host, remote, used);
    }

    /// Every record with its number.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u32, &Record)> {
        self.records
            .iter()
            .enumerate()
            .map(|(n, record)| (n as u32, record))
    }

    /// Every connection, in the order of their numbers; none is packed any more.
    pub(crate) fn conns(&mut self) -> impl Iterator<Item = (u32, &Conn)> {
        for number in 0..self.records.len() as u32 {
            self.conn_mut(number);
        }
        self.iter().filter_map(|(number, record)| match record {
            Record::Conn(conn) => Some((number, &**conn)),
            _ => None,
        })
    }
}
