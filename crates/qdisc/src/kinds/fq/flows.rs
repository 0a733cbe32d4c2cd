//! The flows of `fq`: found by a key, forgotten when they have been idle for long and there are many.

use std::collections::BTreeMap;

use tcplab_base::Instant;

use crate::timed::Timed;

/// Where a flow stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// In no list, since then.
    Detached(Instant),
    /// Among the new or the old flows.
    Listed,
    /// It waits for its time.
    Throttled,
}

/// One flow.
#[derive(Clone, Debug)]
pub(crate) struct Flow<P> {
    pub queue: Timed<P>,
    pub credit: i32,
    /// When its next packet may leave at the earliest.
    pub next: Option<Instant>,
    pub place: Place,
}

/// All of them.
#[derive(Clone, Debug)]
pub(crate) struct Flows<P> {
    by_key: BTreeMap<u64, u32>,
    flows: Vec<Flow<P>>,
    free: Vec<u32>,
    /// Flows that are detached.
    pub inactive: u32,
}

impl<P> Default for Flows<P> {
    fn default() -> Self {
        Self {
            by_key: BTreeMap::new(),
            flows: Vec::new(),
            free: Vec::new(),
            inactive: 0,
        }
    }
}

/// `FQ_GC_AGE`, `FQ_GC_MAX`.
const AGE_NS: i64 = 3_000_000_000;
const MOST: usize = 8;
/// Flows that are looked at for these (in the kernel: those on the way to the key, in one tree of many).
const LOOKED_AT: usize = 16;

impl<P> Flows<P> {
    pub fn len(&self) -> u32 {
        self.by_key.len() as u32
    }

    pub fn get_mut(&mut self, n: u32) -> &mut Flow<P> {
        &mut self.flows[n as usize]
    }

    /// The flow with this key; a new one may send `credit` bytes.
    pub fn find(&mut self, key: u64, now: Instant, credit: i32) -> u32 {
        if let Some(n) = self.by_key.get(&key) {
            return *n;
        }
        let flow = Flow {
            queue: Timed::default(),
            credit,
            next: None,
            place: Place::Detached(now),
        };
        let n = match self.free.pop() {
            Some(n) => {
                self.flows[n as usize] = flow;
                n
            }
            None => {
                self.flows.push(flow);
                self.flows.len() as u32 - 1
            }
        };
        self.by_key.insert(key, n);
        self.inactive += 1;
        n
    }

    /// Forgets some of the flows near a key that have been idle for long, when there are many and most are idle
    /// (`fq_gc()`); gives their number.
    pub fn collect(&mut self, key: u64, now: Instant, buckets_log: u32) -> u32 {
        if self.len() < 2 << buckets_log || self.inactive <= self.len() / 2 {
            return 0;
        }
        let is_old = |n: u32| match self.flows[n as usize].place {
            Place::Detached(since) => now.since(since).as_nanos() > AGE_NS,
            _ => false,
        };
        let near = self.by_key.range(key..).chain(self.by_key.range(..key));
        let old = near
            .take(LOOKED_AT)
            .filter(|(other, n)| **other != key && is_old(**n));
        let old: Vec<(u64, u32)> = old.take(MOST).map(|(key, n)| (*key, *n)).collect();
        for (key, n) in &old {
            self.by_key.remove(key);
            self.free.push(*n);
        }
        self.inactive -= old.len() as u32;
        old.len() as u32
    }

    /// A packet of the first flow that has one.
    pub fn pop_any(&mut self) -> Option<P> {
        self.by_key
            .values()
            .find_map(|n| self.flows[*n as usize].queue.pop())
    }
}
