//! The settings of `netem`.
//!
//! Chances are what the kernel takes: parts of 2^32, rounded as tc rounds them. Times are nanoseconds, which the kernel
//! takes as well; tc itself cuts them to 64 ns.

/// The settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Packets that it may hold.
    pub limit: u32,
    /// `delay`.
    pub latency_ns: i64,
    /// How far a packet's delay may lie from it.
    pub jitter_ns: i64,
    /// How much a packet's delay is like that of the one before, in parts of 2^32.
    pub delay_correlation: u32,
    /// How delays are spread.
    pub distribution: Distribution,
    /// Which packets are lost.
    pub loss: Loss,
    /// Mark what would be lost, where it can be marked.
    pub ecn: bool,
    /// Every so many-th packet may go at once; 0: none.
    pub gap: u32,
    /// The chance of such a packet to do so.
    pub reorder: Chance,
    /// The chance of a packet to come twice.
    pub duplicate: Chance,
    /// The chance of a packet to be damaged.
    pub corrupt: Chance,
    /// The rate; none: unlimited.
    pub rate: Option<Rate>,
    /// Times at which packets leave, as on a radio link.
    pub slot: Option<Slot>,
    /// The seed of its draws; `None`: the run's.
    pub seed: Option<u64>,
}

/// A chance in parts of 2^32, and how much a draw is like the one before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chance {
    /// The chance.
    pub probability: u32,
    /// The correlation.
    pub correlation: u32,
}

/// How draws are spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Evenly.
    Uniform,
    /// By the normal distribution.
    Normal,
    /// By that of Pareto, with the exponent 3.
    Pareto,
    /// A quarter normal, three quarters Pareto.
    ParetoNormal,
}

/// Which packets are lost; chances in parts of 2^32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// `loss random`: each by itself, but for the correlation.
    Random(Chance),
    /// `loss state`: a chain of four states: good, bursts of loss, good inside a burst, a single loss.
    State {
        /// Good to burst.
        p13: u32,
        /// Burst to good.
        p31: u32,
        /// Burst to good inside the burst.
        p32: u32,
        /// And back.
        p23: u32,
        /// Good to a single loss.
        p14: u32,
    },
    /// `loss gemodel`: Gilbert and Elliott's chain of two states.
    Gemodel {
        /// Good to bad.
        p: u32,
        /// Bad to good.
        r: u32,
        /// The chance to get through in the bad state.
        h: u32,
        /// The chance of loss in the good state.
        k1: u32,
    },
}

/// A rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// Bytes a second.
    pub bytes: u64,
    /// Bytes added to each packet.
    pub packet_overhead: i32,
    /// Bytes of a cell; 0 without cells.
    pub cell_size: u32,
    /// Bytes added to each cell.
    pub cell_overhead: i32,
}

/// Times at which packets leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    /// From one to the next.
    pub every: Every,
    /// Packets that one takes; 0: any number.
    pub packets: u32,
    /// Bytes that one takes; 0: any number.
    pub bytes: u32,
}

/// Time between slots, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Every {
    /// Evenly drawn.
    Between {
        /// At least.
        min_ns: i64,
        /// At most.
        max_ns: i64,
    },
    /// Drawn from a distribution.
    Distributed {
        /// Which.
        by: Distribution,
        /// Its middle.
        delay_ns: i64,
        /// Its deviation.
        jitter_ns: i64,
    },
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limit: 1_000,
            latency_ns: 0,
            jitter_ns: 0,
            delay_correlation: 0,
            distribution: Distribution::Uniform,
            loss: Loss::Random(Chance::default()),
            ecn: false,
            gap: 0,
            reorder: Chance::default(),
            duplicate: Chance::default(),
            corrupt: Chance::default(),
            rate: None,
            slot: None,
            seed: None,
        }
    }
}
