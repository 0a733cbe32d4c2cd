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
    /// The sum of two.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            bytes: self.bytes + other.bytes,
            packets: self.packets + other.packets,
            drops: self.drops + other.drops,
            dropped_bytes: self.dropped_bytes + other.dropped_bytes,
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

/// What only one kind of qdisc counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Xstats {
    /// Nothing.
    None,
    /// CAKE's.
    Cake(CakeStats),
    /// netem's.
    Netem(NetemStats),
    /// CoDel's.
    Codel(CodelStats),
    /// FQ-CoDel's.
    FqCodel(FqCodelStats),
    /// fq's.
    Fq(FqStats),
    /// RED's.
    Red(RedStats),
    /// Those of htb's class, and of what queues in it.
    Htb(HtbStats),
    /// CAQM's.
    Caqm(CaqmStats),
}

/// What netem did to packets. tc shows the first only, among the counters of every qdisc.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetemStats {
    /// Packets that overtook others.
    pub requeues: u64,
    /// Packets that were marked in place of a loss; tc counts them as drops.
    pub marked: u64,
    /// Copies made.
    pub duplicated: u64,
    /// Bytes of these.
    pub duplicated_bytes: u64,
    /// Packets with a bit flipped.
    pub corrupted: u64,
}

/// CoDel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodelStats {
    /// Drops since it began to drop.
    pub count: u32,
    /// The count when it began.
    pub lastcount: u32,
    /// Time in the queue of the last packet, in microseconds.
    pub ldelay: u32,
    /// Whether it drops.
    pub dropping: bool,
    /// Microseconds from the last dequeue to the next drop; negative: it is due.
    pub drop_next: i32,
    /// The longest packet.
    pub maxpacket: u32,
    /// Packets marked in place of a drop.
    pub ecn_mark: u32,
    /// Packets dropped at the limit.
    pub drop_overlimit: u32,
    /// Packets marked by `ce_threshold`.
    pub ce_mark: u32,
}

/// FQ-CoDel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FqCodelStats {
    /// The longest packet.
    pub maxpacket: u32,
    /// Packets dropped at a limit.
    pub drop_overlimit: u32,
    /// How often a queue became a new one.
    pub new_flow_count: u32,
    /// Packets marked in place of a drop.
    pub ecn_mark: u32,
    /// Packets marked by `ce_threshold`.
    pub ce_mark: u32,
    /// Bytes of memory in use.
    pub memory_used: u32,
    /// Packets dropped at the memory limit.
    pub drop_overmemory: u32,
    /// New queues.
    pub new_flows_len: u32,
    /// Old queues.
    pub old_flows_len: u32,
}

/// fq.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FqStats {
    /// Flows that are known.
    pub flows: u32,
    /// Flows without packets.
    pub inactive: u32,
    /// Flows that wait for their time; tc shows them as the first of two `throttled`.
    pub throttled_flows: u32,
    /// Nanoseconds from the last look to the time of the next flow.
    pub next_packet_delay: i64,
    /// Flows forgotten.
    pub gc: u64,
    /// Packets of the highest priority.
    pub highprio: u64,
    /// How often a flow had to wait for its time.
    pub throttled: u64,
    /// Nanoseconds that flows were late, as a moving mean.
    pub latency: u64,
    /// Packets that passed `ce_threshold`; those that cannot be marked are counted too.
    pub ce_mark: u64,
    /// Packets dropped at the limit of their flow.
    pub flows_plimit: u64,
    /// Packets that would have taken more than a second.
    pub pkts_too_long: u64,
    /// Packets dropped beyond the horizon.
    pub horizon_drops: u64,
    /// Packets brought to the horizon.
    pub horizon_caps: u64,
}

/// RED.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RedStats {
    /// Packets marked.
    pub marked: u32,
    /// Packets dropped by the mean.
    pub early: u32,
    /// Packets dropped at the limit.
    pub pdrop: u32,
}

/// CAQM: what became of packets. The sum of all packets that were judged or passed is what came to be judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CaqmStats {
    /// Packets that got the window they asked for.
    pub granted: u64,
    /// Of these: from what others gave up in the same period.
    pub shuffled: u64,
    /// Packets whose hint was refused.
    pub refused: u64,
    /// Packets that were marked: their flow gives up window.
    pub marked: u64,
    /// Packets that a switch before had marked.
    pub already_marked: u64,
    /// Packets that ask for nothing, as a switch before had refused them.
    pub already_refused: u64,
    /// Packets with feedback, which is left alone.
    pub feedback: u64,
    /// Packets with a tag of another type.
    pub other_type: u64,
    /// Packets without a tag, or with one that is cut off.
    pub untagged: u64,
    /// Bytes of window granted.
    pub granted_bytes: u64,
    /// Bytes of window asked for in vain, those of marked packets included.
    pub refused_bytes: u64,
    /// Bytes that may be granted now; negative: packets are marked.
    pub credit: i64,
    /// The most bytes that waited.
    pub max_backlog: u64,
}

/// The class of htb, as `tc -s class` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HtbStats {
    /// Packets sent with the class's own tokens: all.
    pub lended: u32,
    /// Tokens of the rate, in ticks of 64 ns.
    pub tokens: i32,
    /// Tokens of the ceiling.
    pub ctokens: i32,
    /// How often the child's own shaper made packets wait.
    pub child_overlimits: u64,
    /// What only the child's kind counts.
    pub child: Box<Xstats>,
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
