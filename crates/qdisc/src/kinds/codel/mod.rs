//! CoDel (RFC 8289) as in the kernel (codel_impl.h), for `codel` and for each queue of `fq_codel`. Times are 32 bits of
//! 1,024 ns, 1 / sqrt(count) has 16 bits.

mod fair;
mod settings;
mod single;

pub(crate) use fair::FqCodel;
pub use settings::{FairSettings, Settings};
pub(crate) use single::CodelQueue;

use tcplab_base::Instant;

use crate::packet::Packet;
use crate::stats::Stats;
use crate::store::{Chain, Store, Waiting};

/// Units of 1,024 ns.
pub(crate) type Time = u32;

const SHIFT: u32 = 10;
/// `CODEL_DISABLED_THRESHOLD`.
const NEVER: Time = i32::MAX as Time;

/// `codel_get_time()`.
pub(crate) fn time(now: Instant) -> Time {
    (now.as_nanos() >> SHIFT) as Time
}

/// `codel_time_to_us()`.
pub(crate) fn to_us(time: Time) -> u32 {
    ((u64::from(time) << SHIFT) / 1_000) as u32
}

fn of_us(us: u32) -> Time {
    ((u64::from(us) * 1_000) >> SHIFT) as Time
}

fn is_after(a: Time, b: Time) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

fn is_before(a: Time, b: Time) -> bool {
    is_after(b, a)
}

/// What holds for all queues.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Params {
    target: Time,
    interval: Time,
    ce_threshold: Time,
    /// A backlog of one MTU or less is no standing queue.
    mtu: u32,
    ecn: bool,
}

impl Params {
    pub fn new(settings: &Settings, frame: u32) -> Self {
        const MOST: u32 = 1 << 20;
        Self {
            target: of_us(settings.target_us),
            interval: of_us(settings.interval_us),
            ce_threshold: settings.ce_threshold_us.map_or(NEVER, of_us),
            mtu: frame.min(MOST),
            ecn: settings.ecn,
        }
    }
}

/// What is counted over all queues.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Count {
    pub maxpacket: u32,
    pub ecn_mark: u32,
    pub ce_mark: u32,
}

/// Where packets come from: a queue, and the totals that it is part of.
#[derive(Debug)]
pub(crate) struct Source<'a, P> {
    pub store: &'a mut Store<P>,
    pub chain: &'a mut Chain,
    /// Bytes of this queue.
    pub backlog: &'a mut u32,
    /// Bytes of memory of all queues.
    pub memory: &'a mut u32,
    pub stats: &'a mut Stats,
}

impl<P: Packet> Source<'_, P> {
    pub fn pop(&mut self) -> Option<Waiting<P>> {
        let waiting = self.store.pop(self.chain)?;
        *self.backlog = self.backlog.saturating_sub(waiting.len);
        *self.memory -= waiting.truesize;
        self.stats.takes(waiting.len);
        Some(waiting)
    }
}

/// One queue's state (`struct codel_vars`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Codel {
    /// Drops since it began to drop.
    pub count: u32,
    /// The count when it began.
    pub lastcount: u32,
    pub dropping: bool,
    rec_inv_sqrt: u16,
    /// When it may begin to drop; 0: the queue is short.
    first_above: Time,
    pub drop_next: Time,
    /// Time in the queue of the last packet.
    pub ldelay: Time,
}

/// What [`Codel`] works with while a packet is taken.
#[derive(Clone, Copy, Debug)]
struct At<'a> {
    now: Time,
    params: &'a Params,
}

impl Codel {
    /// The next packet that is let through (`codel_dequeue()`).
    pub fn dequeue<P: Packet>(
        &mut self,
        now: Instant,
        params: &Params,
        count: &mut Count,
        from: &mut Source<'_, P>,
    ) -> Option<Waiting<P>> {
        let at = At {
            now: time(now),
            params,
        };
        let mut head = from.pop();
        if head.is_none() {
            (self.first_above, self.dropping) = (0, false);
            return None;
        }
        let is_due = self.is_due(at, head.as_ref(), count, from.stats.backlog);
        if self.dropping {
            match is_due {
                true => head = self.go_on(at, head, count, from),
                false => self.dropping = false,
            }
        } else if is_due {
            head = self.begin(at, head, count, from);
        }
        if let Some(waiting) = &mut head
            && is_after(self.ldelay, params.ce_threshold)
            && waiting.packet.set_ce()
        {
            count.ce_mark += 1;
        }
        head
    }

    /// Whether the queue has stood above the target for an interval (`codel_should_drop()`).
    fn is_due<P>(
        &mut self,
        at: At<'_>,
        head: Option<&Waiting<P>>,
        count: &mut Count,
        backlog: u64,
    ) -> bool {
        let Some(head) = head else {
            self.first_above = 0;
            return false;
        };
        count.maxpacket = count.maxpacket.max(head.len);
        self.ldelay = at.now.wrapping_sub(time(head.since));
        if is_before(self.ldelay, at.params.target) || backlog <= u64::from(at.params.mtu) {
            self.first_above = 0;
            return false;
        }
        if self.first_above == 0 {
            self.first_above = at.now.wrapping_add(at.params.interval);
            return false;
        }
        is_after(at.now, self.first_above)
    }

    /// Drops, or marks one packet, until the next drop lies ahead.
    fn go_on<P: Packet>(
        &mut self,
        at: At<'_>,
        mut head: Option<Waiting<P>>,
        count: &mut Count,
        from: &mut Source<'_, P>,
    ) -> Option<Waiting<P>> {
        while self.dropping && !is_before(at.now, self.drop_next) {
            self.count = self.count.wrapping_add(1);
            self.newton();
            if mark(at, &mut head, count) {
                self.schedule(at, self.drop_next);
                break;
            }
            head = self.replace(head, from);
            match self.is_due(at, head.as_ref(), count, from.stats.backlog) {
                true => self.schedule(at, self.drop_next),
                false => self.dropping = false,
            }
        }
        head
    }

    /// The first drop or mark; the rate of the last time is taken up when that is not long ago.
    fn begin<P: Packet>(
        &mut self,
        at: At<'_>,
        mut head: Option<Waiting<P>>,
        count: &mut Count,
        from: &mut Source<'_, P>,
    ) -> Option<Waiting<P>> {
        if !mark(at, &mut head, count) {
            head = self.replace(head, from);
            self.is_due(at, head.as_ref(), count, from.stats.backlog);
        }
        self.dropping = true;
        let delta = self.count.wrapping_sub(self.lastcount);
        let since = at.now.wrapping_sub(self.drop_next);
        let recent = is_before(since, at.params.interval.wrapping_mul(16));
        if delta > 1 && recent {
            self.count = delta;
            self.newton();
        } else {
            self.count = 1;
            self.rec_inv_sqrt = u16::MAX;
        }
        self.lastcount = self.count;
        self.schedule(at, at.now);
        head
    }

    /// Drops a packet and takes the next.
    fn replace<P: Packet>(
        &mut self,
        head: Option<Waiting<P>>,
        from: &mut Source<'_, P>,
    ) -> Option<Waiting<P>> {
        if let Some(waiting) = head {
            from.stats.drops(waiting.len);
        }
        from.pop()
    }

    /// `codel_control_law()`.
    fn schedule(&mut self, at: At<'_>, from: Time) {
        let scaled = u64::from(at.params.interval) * (u64::from(self.rec_inv_sqrt) << 16);
        self.drop_next = from.wrapping_add((scaled >> 32) as Time);
    }

    /// One step of Newton towards 1 / sqrt(count).
    fn newton(&mut self) {
        let inverse = u64::from(self.rec_inv_sqrt) << 16;
        let square = (inverse * inverse) >> 32;
        let value = (3_u64 << 32).wrapping_sub(u64::from(self.count) * square) >> 2;
        self.rec_inv_sqrt = (value.wrapping_mul(inverse) >> 31 >> 16) as u16;
    }
}

fn mark<P: Packet>(at: At<'_>, head: &mut Option<Waiting<P>>, count: &mut Count) -> bool {
    let is_marked = at.params.ecn && head.as_mut().is_some_and(|waiting| waiting.packet.set_ce());
    count.ecn_mark += u32::from(is_marked);
    is_marked
}
