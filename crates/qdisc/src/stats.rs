//! What a qdisc has done, by the names of `tc -s -j qdisc`.

/// Counters of every qdisc.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Bytes that left.
    pub bytes: u64,
    /// Packets that left.
    pub packets: u64,
    /// Packets that were dropped; ACKs that the filter took are among them.
    pub drops: u64,
    /// Bytes of the drops; tc does not count them.
    pub dropped_bytes: u64,
    /// Bytes of copies that it made itself; tc does not count them.
    pub copied_bytes: u64,
    /// How often the shaper made packets wait.
    pub overlimits: u64,
    /// Bytes that wait.
    pub backlog: u64,
    /// Packets that wait.
    pub qlen: u32,
}

impl Stats {
    /// The sum of two.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            packets: self.packets + other.packets,
            drops: self.drops + other.drops,
            dropped_bytes: self.dropped_bytes + other.dropped_bytes,
            copied_bytes: self.copied_bytes + other.copied_bytes,
            overlimits: self.overlimits + other.overlimits,
            backlog: self.backlog + other.backlog,
            qlen: self.qlen + other.qlen,
        }
    }

    /// The same when what waits is dropped.
    pub(crate) fn dropped(self) -> Self {
        Self {
            drops: self.drops + u64::from(self.qlen),
            dropped_bytes: self.dropped_bytes + self.backlog,
            backlog: 0,
            qlen: 0,
            ..self
        }
    }

    #[inline]
    pub(crate) fn enters(&mut self, len: u32) {
        self.qlen += 1;
        self.backlog += u64::from(len);
    }

    #[inline]
    pub(crate) fn takes(&mut self, len: u32) {
        self.qlen -= 1;
        self.backlog -= u64::from(len);
    }

    #[inline]
    pub(crate) fn leaves(&mut self, len: u32) {
        self.packets += 1;
        self.bytes += u64::from(len);
    }

    #[inline]
    pub(crate) fn drops(&mut self, len: u32) {
        self.drops += 1;
        self.dropped_bytes += u64::from(len);
    }
}
