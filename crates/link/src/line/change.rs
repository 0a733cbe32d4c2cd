//! Other settings of a line while frames wait: what `tc qdisc replace` does, and other keys of the wire.

use tcplab_base::Instant;
use tcplab_plan::outcome::WayCount;
use tcplab_plan::point::Direction;
use tcplab_qdisc::{Device, QdiscCount, Settings};

use super::{Line, Payload, Queue, device};

/// What became of the qdisc.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Changed {
    /// The qdisc stays as it was, or there is still no qdisc.
    Kept,
    /// It has other settings, and keeps its packets and its statistics (`tc qdisc change`).
    Settings,
    /// Another kind has taken its place, or that of the wire's FIFO, or it is gone: what waited was dropped, and
    /// statistics begin anew.
    Replaced {
        /// Packets that waited.
        pkts: u32,
        /// Bytes of them.
        bytes: u64,
    },
}

/// Why settings were refused; nothing has changed then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    /// Linux does not change this while the qdisc is in use.
    #[error(
        "{0} does not take these settings while it is in use, as in Linux (fq_codel keeps its number of flows, and a child its kind): put another kind in its place first"
    )]
    InUse(&'static str),
}

/// What [`WayCount`] has to have added since the qdisc was replaced.
#[derive(Clone, Debug)]
pub(super) struct Past {
    frames: i64,
    bytes: i64,
    queue_drops: i64,
    peak_pkts: u32,
    /// What the qdiscs counted that are gone.
    pub(super) qdiscs: Option<QdiscCount>,
}

impl Past {
    /// What makes `now` the same as `before`.
    fn between(before: WayCount, now: WayCount, qdiscs: Option<QdiscCount>) -> Self {
        Self {
            qdiscs,
            frames: before.frames as i64 - now.frames as i64,
            bytes: before.bytes as i64 - now.bytes as i64,
            queue_drops: before.queue_drops as i64 - now.queue_drops as i64,
            peak_pkts: before.peak_pkts,
        }
    }

    pub(super) fn and(&self, now: WayCount) -> WayCount {
        WayCount {
            frames: now.frames.saturating_add_signed(self.frames),
            bytes: now.bytes.saturating_add_signed(self.bytes),
            queue_drops: now.queue_drops.saturating_add_signed(self.queue_drops),
            peak_pkts: now.peak_pkts.max(self.peak_pkts),
            ..now
        }
    }
}

impl<F: Payload> Line<F> {
    /// Other settings from `now` on, with the streams of this seed and name (see [`Line::new`]). A qdisc of the same kind
    /// is changed, another kind replaces it, and one with the same settings is left alone. What waits in the wire's own
    /// FIFO leaves at the new rate, unless a qdisc takes the FIFO's place.
    ///
    /// # Errors
    /// When the qdisc refuses the settings; nothing has changed then.
    pub fn change(
        &mut self,
        now: Instant,
        way: &Direction,
        mtu: u32,
        streams: (u64, &str),
    ) -> Result<Changed, ChangeError> {
        self.advance(now);
        let changed = self.change_queue(now, way.queue.as_ref(), device(way, mtu), streams)?;
        self.way
            .change(now, way, streams, |frame| frame.size() as usize);
        if self.queue.is_some() {
            self.take(now);
        }
        Ok(changed)
    }

    fn change_queue(
        &mut self,
        now: Instant,
        settings: Option<&Settings>,
        device: Device,
        streams: (u64, &str),
    ) -> Result<Changed, ChangeError> {
        match (&mut self.queue, settings) {
            (None, None) => return Ok(Changed::Kept),
            (Some(queue), Some(settings)) => {
                // Most do not ask for the rate: it may change without them.
                let knows = match settings.kind().asks_rate() {
                    true => queue.device == device,
                    false => queue.device.mtu == device.mtu,
                };
                let is_same = queue.settings == *settings && knows;
                let kind = settings.kind().name();
                if is_same {
                    return Ok(Changed::Kept);
                }
                if queue.settings.kind().name() == kind {
                    if !queue.qdisc.change(settings, device) {
                        return Err(ChangeError::InUse(kind));
                    }
                    queue.settings = settings.clone();
                    queue.device = device;
                    return Ok(Changed::Settings);
                }
            }
            _ => {}
        }
        Ok(self.replace(now, settings, device, streams))
    }

    /// Puts another qdisc, or none, in the place of what is there.
    fn replace(
        &mut self,
        now: Instant,
        settings: Option<&Settings>,
        device: Device,
        streams: (u64, &str),
    ) -> Changed {
        let waited = self.queue.as_ref().map(|queue| queue.qdisc.stats());
        let mut before = self.count();
        let (pkts, bytes) = match waited {
            Some(stats) => (stats.qlen, stats.backlog),
            None => self.way.drop_waiting(now, |frame| frame.size() as usize),
        };
        before.queue_drops += u64::from(pkts);
        let start = self.start;
        let qdiscs = self.qdiscs().map(|count| QdiscCount {
            drops: count.drops + count.qlen,
            qlen: 0,
            backlog: 0,
            ..count
        });
        let depth = match self.queue.take() {
            Some(queue) => queue.depth,
            None => self.way.take_depth(now),
        };
        match (settings, depth) {
            (Some(settings), depth) => {
                self.queue = Some(Box::new(Queue {
                    depth,
                    start,
                    on_wire: self.way.holds_bytes(now),
                    ..Queue::new(settings, device, streams)
                }));
            }
            (None, Some(depth)) => self.way.take_over(now, depth),
            (None, None) => {}
        }
        self.is_plain = self.queue.is_none() && self.middlebox.is_none();
        self.past = None;
        self.past = Some(Box::new(Past::between(before, self.count(), qdiscs)));
        Changed::Replaced { pkts, bytes }
    }
}
