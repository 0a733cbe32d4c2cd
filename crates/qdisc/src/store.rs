//! Packets of many queues in one place: each queue is a chain through it.

use tcplab_base::Instant;

use crate::ack_filter::AckHeader;

const NONE: u32 = u32::MAX;

/// A queue of a [`Store`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Chain {
    head: u32,
    tail: u32,
}

impl Default for Chain {
    fn default() -> Self {
        Self {
            head: NONE,
            tail: NONE,
        }
    }
}

impl Chain {
    #[inline]
    pub fn is_empty(self) -> bool {
        self.head == NONE
    }
}

/// A packet that waits.
#[derive(Clone, Debug)]
pub(crate) struct Waiting<P> {
    pub packet: P,
    /// Bytes of its frame.
    pub len: u32,
    /// Bytes of memory that it is charged with.
    pub truesize: u32,
    /// Bytes that the shaper charges for it.
    pub charged: u32,
    /// When it came.
    pub since: Instant,
}

#[derive(Clone, Debug)]
struct Slot<P> {
    waiting: Option<Waiting<P>>,
    next: u32,
}

/// The packets of many queues.
#[derive(Clone, Debug)]
pub(crate) struct Store<P> {
    slots: Vec<Slot<P>>,
    /// The TCP headers of the slots' packets; empty when nobody looks at them.
    headers: Vec<Option<AckHeader>>,
    free: Vec<u32>,
}

impl<P> Default for Store<P> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            headers: Vec::new(),
            free: Vec::new(),
        }
    }
}

impl<P> Store<P> {
    /// Adds a packet at the tail.
    #[inline]
    pub fn push(&mut self, chain: &mut Chain, waiting: Waiting<P>) {
        let slot = Slot {
            waiting: Some(waiting),
            next: NONE,
        };
        let place = match self.free.pop() {
            Some(place) => {
                self.slots[place as usize] = slot;
                if let Some(header) = self.headers.get_mut(place as usize) {
                    *header = None;
                }
                place
            }
            None => {
                self.slots.push(slot);
                self.slots.len() as u32 - 1
            }
        };
        match chain.tail {
            NONE => chain.head = place,
            tail => self.slots[tail as usize].next = place,
        }
        chain.tail = place;
    }

    /// Notes the header of the packet at the tail.
    pub fn note_header(&mut self, chain: Chain, header: Option<AckHeader>) {
        if self.headers.len() < self.slots.len() {
            self.headers.resize(self.slots.len(), None);
        }
        if let Some(place) = self.headers.get_mut(chain.tail as usize) {
            *place = header;
        }
    }

    /// Takes the packet at the head.
    #[inline]
    pub fn pop(&mut self, chain: &mut Chain) -> Option<Waiting<P>> {
        self.remove_after(chain, NONE)
    }

    /// Takes the packet behind the one at `before`; that at the head with `NONE`.
    fn remove_after(&mut self, chain: &mut Chain, before: u32) -> Option<Waiting<P>> {
        let place = match before {
            NONE => chain.head,
            before => self.slots.get(before as usize)?.next,
        };
        let slot = self.slots.get_mut(place as usize)?;
        let (waiting, next) = (slot.waiting.take()?, slot.next);
        match before {
            NONE => chain.head = next,
            before => self.slots[before as usize].next = next,
        }
        if chain.tail == place {
            chain.tail = before;
        }
        self.free.push(place);
        Some(waiting)
    }

    /// The places of a queue from its head up to the last but one, each with the header of its packet.
    pub fn headers(&self, chain: Chain) -> Headers<'_, P> {
        Headers {
            store: self,
            next: chain.head,
            before: NONE,
            tail: chain.tail,
        }
    }

    /// The header of the packet at the tail.
    pub fn last_header(&self, chain: Chain) -> Option<&AckHeader> {
        self.headers.get(chain.tail as usize)?.as_ref()
    }

    /// Takes a packet out of the middle of a queue.
    pub fn remove(&mut self, chain: &mut Chain, place: Place) -> Option<Waiting<P>> {
        self.remove_after(chain, place.before)
    }
}

/// A place in a queue, good until the queue changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    before: u32,
}

/// A walk along a queue.
#[derive(Debug)]
pub(crate) struct Headers<'a, P> {
    store: &'a Store<P>,
    next: u32,
    before: u32,
    tail: u32,
}

impl<'a, P> Iterator for Headers<'a, P> {
    type Item = (Place, Option<&'a AckHeader>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.next == self.tail {
            return None;
        }
        let slot = self.store.slots.get(self.next as usize)?;
        let header = self.store.headers.get(self.next as usize);
        let place = Place {
            before: self.before,
        };
        self.before = self.next;
        self.next = slot.next;
        Some((place, header.and_then(Option::as_ref)))
    }
}
