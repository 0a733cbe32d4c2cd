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
    /// Bytes of these; tc has no such counter.
    pub dropped_bytes: u64,
    /// How often the shaper made packets wait.
    pub overlimits: u64,
    /// Bytes that wait.
    pub backlog: u64,
    /// Packets that wait.
    pub qlen: u32,
}

impl Stats {
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

/// What only one kind of qdisc counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Xstats {
    /// Nothing.
    None,
    /// CAKE's.
    Cake(CakeStats),
}

/// CAKE as a whole, then its tins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CakeStats {
    /// Bytes of memory used at most.
    pub memory_used: u32,
    /// Bytes of memory that may be used.
    pub memory_limit: u32,
    /// Bytes a second that `autorate-ingress` estimates; else what was set.
    pub capacity_estimate: u64,
    /// The shortest packet, without its link header when an overhead is set.
    pub min_network_size: u32,
    /// The longest one.
    pub max_network_size: u32,
    /// The shortest packet as the shaper charges it.
    pub min_adj_size: u32,
    /// The longest one.
    pub max_adj_size: u32,
    /// Bytes of the link header.
    pub avg_hdr_offset: u32,
    /// In the order of tc: lowest priority first.
    pub tins: Vec<TinStats>,
}

/// One tin of CAKE.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TinStats {
    /// Bytes a second up to which the tin has priority.
    pub threshold_rate: u64,
    /// Bytes that were put into it.
    pub sent_bytes: u64,
    /// Bytes that wait.
    pub backlog_bytes: u32,
    /// COBALT's target.
    pub target_us: u32,
    /// COBALT's interval.
    pub interval_us: u32,
    /// Time of packets in the queue: rises fast, falls slowly.
    pub peak_delay_us: u32,
    /// The mean time.
    pub avg_delay_us: u32,
    /// Falls fast, rises slowly.
    pub base_delay_us: u32,
    /// Packets that were put into it, those that the ACK filter took included.
    pub sent_packets: u32,
    /// Flows found beside their own queue.
    pub way_indirect_hits: u32,
    /// Flows that got an empty queue.
    pub way_misses: u32,
    /// Flows that share a queue.
    pub way_collisions: u32,
    /// Packets dropped by COBALT or for lack of memory.
    pub drops: u32,
    /// Packets marked.
    pub ecn_mark: u32,
    /// ACKs that the filter took.
    pub ack_drops: u32,
    /// Flows whose queue is short.
    pub sparse_flows: u32,
    /// Flows with a standing queue.
    pub bulk_flows: u32,
    /// Flows with BLUE at work.
    pub unresponsive_flows: u32,
    /// The longest packet.
    pub max_pkt_len: u32,
    /// Bytes that a flow may send in its turn.
    pub flow_quantum: u32,
}
