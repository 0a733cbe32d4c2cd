//! The settings of `cake`.

/// CAKE's settings, with the defaults of the kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Bits a second; none: `unlimited`.
    pub bandwidth_bps: Option<u64>,
    /// `autorate-ingress`: the bandwidth follows what arrives.
    pub autorate: bool,
    /// `rtt`: CoDel's interval.
    pub interval_ns: i64,
    /// CoDel's target, which follows from `rtt`.
    pub target_ns: i64,
    /// How packets get their tin.
    pub tins: TinMode,
    /// What shares out fairly.
    pub flows: FlowMode,
    /// `nat`: read, without effect where there is no NAT.
    pub nat: bool,
    /// Clear the DSCP of what leaves.
    pub wash: bool,
    /// Cut super-segments into packets.
    pub split_gso: bool,
    /// The ACK filter.
    pub ack_filter: AckFilter,
    /// `memlimit` in bytes; none: by rate and interval.
    pub memlimit_bytes: Option<u32>,
    /// Bits of the firewall's mark that name a tin; no packet has a mark in the simulator.
    pub fwmark: u32,
    /// Cells of the link below.
    pub framing: Framing,
    /// Bytes that a packet is longer on the wire than its IP packet; `None`: frame lengths count.
    pub overhead: Option<i32>,
    /// `raw`: the overhead comes on top of the frame as Linux has it, not of the IP packet.
    pub raw: bool,
    /// The shortest packet with its overhead, in bytes.
    pub mpu: u32,
    /// `ingress`: drops are charged to the shaper.
    pub ingress: bool,
}

/// How packets get their tin; the numbers are `CAKE_DIFFSERV_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TinMode {
    /// One tin.
    Besteffort = 3,
    /// Eight, by the first three bits of the DSCP.
    Precedence = 4,
    /// Three.
    Diffserv3 = 0,
    /// Four.
    Diffserv4 = 1,
    /// Eight.
    Diffserv8 = 2,
}

/// What shares out fairly, in the order of `CAKE_FLOW_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowMode {
    /// One queue in each tin.
    Flowblind,
    /// By source address.
    Srchost,
    /// By destination address.
    Dsthost,
    /// By both addresses.
    Hosts,
    /// By addresses, protocol and ports.
    Flows,
    /// By flow, and over them by source address.
    DualSrchost,
    /// By flow, and over them by destination address.
    DualDsthost,
    /// By flow, and over them by both addresses.
    TripleIsolate,
}

/// Which ACKs the filter drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckFilter {
    /// `no-ack-filter`.
    Off,
    /// `ack-filter`: the older of two that are made redundant.
    Conservative,
    /// `ack-filter-aggressive`: each that is made redundant.
    Aggressive,
    /// `ack-filter-2018`: the conservative filter as it was first posted, without options, ECE and CWR in mind.
    First,
    /// `ack-filter-2018-aggressive`: the aggressive one of that version.
    FirstAggressive,
    /// `ack-filter-naive`: flow state only: the ACK at the tail of its flow's queue gives way to the one that arrives.
    Naive,
}

/// What carries the packets, in the order of `CAKE_ATM_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// `noatm`.
    None,
    /// Cells of 53 bytes with 48 of payload.
    Atm,
    /// 65 bytes for each 64.
    Ptm,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            bandwidth_bps: None,
            autorate: false,
            interval_ns: 100_000_000,
            target_ns: 5_000_000,
            tins: TinMode::Diffserv3,
            flows: FlowMode::TripleIsolate,
            nat: false,
            wash: false,
            split_gso: true,
            ack_filter: AckFilter::Off,
            memlimit_bytes: None,
            fwmark: 0,
            framing: Framing::None,
            overhead: None,
            raw: false,
            mpu: 0,
            ingress: false,
        }
    }
}
