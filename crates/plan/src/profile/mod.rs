//! Profiles: the TCP of a kernel release as named behaviours. They are data for `tcp`, `tcplab stacks` and
//! experiments.
//!
//! No other code knows a version number. Each behaviour is a field of [`Profile`] with an enum, a flag or a number,
//! and a row of [`BEHAVIOURS`] with its words and the commit that changed it. A profile is a list of values
//! ([`named`]). [`Profile::default`] is Linux 6.1.192, which the fidelity list compares with that kernel.
//!
//! To add a behaviour: an enum (or bool, u32) with `words!` here, a field of [`Profile`] with 6.1.192's value in
//! `default()`, a row in `registry.rs`, and the other profiles' values in `releases.rs`.

mod receive;
mod registry;
mod releases;
mod words;

pub use receive::{AckEngine, BufferGrowth, CompressedSack, PingpongRule, WindowShare};
pub use registry::{BEHAVIOURS, Behaviour, Takes};
pub use releases::{KNOWN, Known, NOT_MODELLED, SYSCTL_6_1, marked, named, unverified};
pub use words::BehaviourError;

use words::words;

#[cfg(test)]
mod tests;

/// When a receiver's credit of immediate ACKs falls.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum QuickackAccounting {
    /// By the wire packets of each segment that leaves with an ACK (until 6.1.56, 6.5.6).
    PerPacket,
    /// By one for each ACK of new data (059217c18be6).
    #[default]
    PerAck,
}
words!(QuickackAccounting {
    PerPacket: "per-packet",
    PerAck: "per-ack"
});

/// Which segments let the reader's next read send an ACK (`ICSK_ACK_PUSHED`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum AckPushRule {
    /// Segments shorter than the guess of the MSS only (until 6.1.56, 6.5.6).
    Short,
    /// Also those with PSH that are at least as long (4720852ed9af).
    #[default]
    AtMss,
}
words!(AckPushRule {
    Short: "short",
    AtMss: "at-mss"
});

/// How round-trip times become a retransmission timeout.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RtoEstimator {
    /// `tcp_rtt_estimator()`: the deviation falls slowly, and its maximum over a round trip counts.
    #[default]
    Linux,
    /// RFC 6298 2.3 as written (the patch of June 2016 on netdev).
    Rfc6298,
}
words!(RtoEstimator {
    Linux: "linux",
    Rfc6298: "rfc6298"
});

/// What the least retransmission timeout bounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum RtoFloor {
    /// Four times the deviation, before the round-trip time is added.
    #[default]
    Deviation,
    /// The timeout itself (RFC 6298 2.4).
    Timeout,
}
words!(RtoFloor {
    Deviation: "deviation",
    Timeout: "timeout"
});

/// When a tail loss probe is sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TlpRule {
    /// After two round trips, at least 10 ms; with one segment out at least after 1.5 and 200 ms (until 4.13).
    DelackMax,
    /// After two round trips and 2 ms; with one segment out and the least timeout (bb4d991a28cc).
    #[default]
    RtoMin,
}
words!(TlpRule {
    DelackMax: "delack-max",
    RtoMin: "rto-min"
});

/// The behaviours of one stack.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Its name: `linux-6.1`.
    pub name: &'static str,
    /// Ticks a second.
    pub hz: u32,
    /// See [`QuickackAccounting`].
    pub quickack_accounting: QuickackAccounting,
    /// See [`AckPushRule`].
    pub ack_push_rule: AckPushRule,
    /// See [`RtoEstimator`].
    pub rto_estimator: RtoEstimator,
    /// See [`RtoFloor`].
    pub rto_floor: RtoFloor,
    /// The least retransmission timeout of the estimator, in milliseconds; 0: that of the route or the sysctl.
    pub rto_floor_ms: u32,
    /// See [`TlpRule`].
    pub tlp_rule: TlpRule,
    /// Whether a tail loss probe moves forward to the retransmission timeout when the timeout is
    /// due first. If false, no probe is sent.
    pub tlp_rto_cap: bool,
    /// Whether a window of fewer than four segments recovers with fewer than three duplicates (RFC 5827).
    pub early_retransmit: bool,
    /// Whether recovery sends segments again that are not known to be lost, when no new data can go.
    pub forward_retransmit: bool,
    /// See [`AckEngine`].
    pub ack_engine: AckEngine,
    /// How long an ACK waits for the second segment with [`AckEngine::EverySecond`], in milliseconds; 0: 40.
    pub delack_ms: u32,
    /// See [`PingpongRule`].
    pub pingpong_rule: PingpongRule,
    /// Answers that lead into the interactive mode, where no sysctl says more.
    pub pingpong_threshold: u32,
    /// See [`CompressedSack`].
    pub compressed_sack: CompressedSack,
    /// Part of the round-trip time that an ACK of out-of-order data waits for others at most, in percent; 0: the sysctl's.
    pub comp_sack_rtt_percent: u32,
    /// Whether the timer of such ACKs reads the clock for their time stamp; else they have that of the last segment.
    pub comp_sack_reads_clock: bool,
    /// Whether the delayed-ACK timer, also one whose ACK has left, sends a SACK that was held back.
    pub delack_sends_sack: bool,
    /// Whether the segment that fills the last hole, and one with CWR, is ACKed at once.
    pub repair_ack: bool,
    /// Whether the receive buffer of a new connection is raised to hold four initial windows.
    pub rcvbuf_fixup: bool,
    /// Whether the SYN queue is full with `backlog` requests; else with one more.
    pub syn_queue_at_backlog: bool,
    /// Whether out-of-order segments count for the guess of the peer's segment size, and with it for [`WindowShare::Measured`].
    pub rcv_mss_of_ofo: bool,
    /// Whether auto-tuning of the receive buffer leaves out what still waits to be read (`tcp_rcv_space_adjust()`).
    pub tunes_without_queue: bool,
    /// Whether `tcp_cwnd_reduction()` makes up for what it did not send only when a retransmission was ACKed.
    pub prr_waits_for_retransmission: bool,
    /// Whether HyStart begins a new round only with a window of 16 segments.
    pub hystart_rounds_from_16: bool,
    /// Whether the SYN-ACK of crossed SYNs is taken (`tcp_validate_incoming()`); else it is challenged.
    pub takes_crossed_synack: bool,
    /// Whether `tcp_rtx_probe0_timed_out()` compares TCP_USER_TIMEOUT, in milliseconds, with jiffies.
    pub user_timeout_in_jiffies: bool,
    /// Whether an ACK is delayed at most by the least timeout less a tick (`tcp_delack_max()`).
    pub delack_below_rto_min: bool,
    /// Whether `icsk_ack.ato` is at most 200 ms and compared as a signed number.
    pub ato_has_8_bits: bool,
    /// Whether a window of 0 counts that comes with the segment that set the last one (`tcp_may_update_window()`).
    pub takes_zero_window: bool,
    /// Whether the receiver without memory ACKs at once with a window of 0 (ICSK_ACK_NOMEM).
    pub full_memory_closes_window: bool,
    /// Whether a FIN without data is taken when the window is closed.
    pub takes_bare_fin: bool,
    /// Whether `tcp_prune_ofo_queue()` drops only what stands above the segment that arrives.
    pub prunes_above_only: bool,
    /// Whether a SYN is challenged before PAWS is asked.
    pub syn_before_paws: bool,
    /// Whether an overtaken ACK may be older by 1.2 timeouts (`tcp_tsval_replay()`); else by 1.024.
    pub long_replay_window: bool,
    /// Whether `tcp_rcv_spurious_retrans()` goes by the flow label.
    pub rehash_by_label: bool,
    /// Whether a SYN of Fast Open may carry more than fits in a page (`tcp_send_syn_data()`).
    pub syn_data_beyond_page: bool,
    /// Whether `rcv_wnd` may begin with more than 65,535 bytes.
    pub whole_first_window: bool,
    /// Whether the part of a frame beyond a page is in pages of its own (`tun_alloc_skb()`).
    pub tap_frames_in_pages: bool,
    /// Whether a segment that is shorter than what may leave at once takes bytes of the next one (`tcp_grow_skb()`).
    pub grows_segments: bool,
    /// See [`BufferGrowth`].
    pub buffer_growth: BufferGrowth,
    /// Whether the receiver's round-trip time leaves out echoes of the same millisecond; else they count as one.
    pub rcv_rtt_skips_zero: bool,
    /// Whether it leaves out longer samples while something waits to be read.
    pub rcv_rtt_of_empty_queue: bool,
    /// Whether a read leaves `tcp_mstamp` alone, so that auto-tuning counts up to the last segment; ACKs that a read
    /// sends always read the clock then.
    pub read_keeps_clock: bool,
    /// Whether SO_RCVBUF also sets the window clamp (`tcp_set_rcvbuf()`).
    pub rcvbuf_sets_clamp: bool,
    /// Whether losses are found by time alone (RACK), for every value of net.ipv4.tcp_recovery.
    pub rack_only: bool,
    /// Whether an ACK of what was not sent is challenged; else it is dropped.
    pub challenges_unsent_ack: bool,
    /// Whether an overtaken ACK that PAWS refuses is dropped without an answer; it has a counter of its own then, and so
    /// has TIME-WAIT.
    pub drops_old_acks: bool,
    /// Whether a segment that ends beyond the window is taken only when nothing waits to be read.
    pub checks_segment_end: bool,
    /// Whether the ACK of a SYN-ACK must echo one of its time stamps.
    pub checks_synack_echo: bool,
    /// Whether a SYN-ACK has no ECE any more after its second timeout.
    pub synack_ece_ends: bool,
    /// Whether the ACK of a FIN that comes after the close has the ECN bits of the connection's last segment; else none.
    pub tw_ack_keeps_ecn: bool,
    /// Whether a port in TIME-WAIT may be used again net.ipv4.tcp_tw_reuse_delay after that began; else in the next second.
    pub tw_reuse_by_delay: bool,
    /// Whether a last FIN goes out beyond the congestion window (`tcp_cwnd_test()`).
    pub fin_beyond_cwnd: bool,
    /// Whether data of a SYN that the SYN-ACK does not acknowledge are sent again past the congestion control; else they are
    /// marked lost.
    pub resends_syn_data_at_once: bool,
    /// Whether a DSACK widens RACK's reordering window also before any reordering, and one of a loss probe.
    pub rack_counts_every_dsack: bool,
    /// Whether any DSACK ends the episode of a loss probe; else only that of the probe.
    pub tlp_ends_by_any_dsack: bool,
    /// Whether TCP_WINDOW_CLAMP on an open connection also moves rcv_ssthresh.
    pub clamp_moves_ssthresh: bool,
    /// Whether an ACK below SND.UNA may set the time stamp that is echoed (TS.Recent).
    pub old_ack_sets_echo: bool,
    /// Whether a received frame of a page or more counts whole pages in a kernel with SLOB.
    pub buffers_of_whole_pages: bool,
    /// Whether data up to the largest window that was ever offered are taken after it was taken back.
    pub keeps_largest_edge: bool,
    /// Whether the MSS that is offered comes from the MTU of the route or the device; else from that of the path.
    pub advmss_ignores_path: bool,
    /// See [`WindowShare`].
    pub window_share: WindowShare,
    /// Memory that a received frame counts for, in bytes; 0: as small as the allocator makes it for a TAP device.
    pub rx_truesize: u32,
    /// Room for headers in front of a segment's data in the send queue, in bytes (`MAX_TCP_HEADER`).
    pub tx_header: u32,
    /// Memory that the send buffer counts for a segment without data, in bytes (`tcp_stream_alloc_skb()`).
    pub tx_truesize: u32,
    /// Whether one client that asks for CAQM makes the listener take every later one for a speaker.
    pub caqm_listener_flags: bool,
    /// Whether a SYN-ACK says CAQM to a client that did not ask.
    pub caqm_unasked_srv: bool,
    /// Whether a SYN may ask for CAQM and ECN at once, which is how AccECN asks (RFC 9768).
    pub caqm_syn_with_ecn: bool,
    /// Whether segments of CAQM are as long as others, and their frames 4 bytes longer than the MTU allows.
    pub caqm_long_frames: bool,
    /// Whether a hint is computed in products of 32 bits, which wrap at windows over 335,544 packets and at alphas over 655.
    pub caqm_hint_32bit: bool,
    /// Whether tags count before the segment was found acceptable.
    pub caqm_counts_all: bool,
    /// Whether slow start also ends by an ACK that acknowledges no new data and tells nothing.
    pub caqm_empty_ack_ends_start: bool,
    /// Whether slow start goes on after a loss.
    pub caqm_start_after_loss: bool,
    /// Whether slow start does not come back after a timeout, or after ten round trips without sending.
    pub caqm_never_restarts: bool,
    /// Whether feedback waits for an ACK that is sent anyway.
    pub caqm_feedback_waits: bool,
    /// Whether a host with CAQM enabled forgets that an accepted connection agreed on ECN, whatever its congestion control: it never echoes a mark.
    pub caqm_child_loses_ecn: bool,
    /// Whether slow start goes on after the close: in ESTABLISHED only an ACK that grants nothing ends it.
    pub caqm_start_after_close: bool,
    /// Whether a tag of another cc_type counts, as one that grants nothing: in an ACK it ends slow start.
    pub caqm_foreign_type_counts: bool,
    /// Defaults of sysctls that differ from those of Linux 6.1, by full name.
    pub sysctl: &'static [(&'static str, &'static str)],
}

impl Default for Profile {
    fn default() -> Self {
        Self {
            name: "linux-6.1",
            hz: 250,
            quickack_accounting: QuickackAccounting::PerAck,
            ack_push_rule: AckPushRule::AtMss,
            rto_estimator: RtoEstimator::Linux,
            rto_floor: RtoFloor::Deviation,
            rto_floor_ms: 0,
            tlp_rule: TlpRule::RtoMin,
            tlp_rto_cap: true,
            early_retransmit: false,
            forward_retransmit: false,
            ack_engine: AckEngine::Linux,
            delack_ms: 0,
            pingpong_rule: PingpongRule::EachSegment,
            pingpong_threshold: 1,
            compressed_sack: CompressedSack::AfterThree,
            comp_sack_rtt_percent: 0,
            comp_sack_reads_clock: false,
            delack_sends_sack: true,
            repair_ack: true,
            rcvbuf_fixup: false,
            syn_queue_at_backlog: false,
            rcv_mss_of_ofo: false,
            tunes_without_queue: false,
            prr_waits_for_retransmission: false,
            hystart_rounds_from_16: false,
            takes_crossed_synack: true,
            user_timeout_in_jiffies: true,
            delack_below_rto_min: false,
            ato_has_8_bits: false,
            takes_zero_window: false,
            full_memory_closes_window: false,
            takes_bare_fin: false,
            prunes_above_only: false,
            syn_before_paws: false,
            long_replay_window: false,
            rehash_by_label: false,
            syn_data_beyond_page: false,
            whole_first_window: false,
            tap_frames_in_pages: false,
            grows_segments: false,
            buffer_growth: BufferGrowth::Margin,
            rcv_rtt_skips_zero: false,
            rcv_rtt_of_empty_queue: false,
            read_keeps_clock: false,
            rcvbuf_sets_clamp: false,
            rack_only: false,
            challenges_unsent_ack: false,
            drops_old_acks: false,
            checks_segment_end: false,
            checks_synack_echo: false,
            synack_ece_ends: false,
            tw_ack_keeps_ecn: false,
            tw_reuse_by_delay: false,
            fin_beyond_cwnd: true,
            resends_syn_data_at_once: false,
            rack_counts_every_dsack: false,
            tlp_ends_by_any_dsack: false,
            clamp_moves_ssthresh: true,
            old_ack_sets_echo: true,
            buffers_of_whole_pages: false,
            keeps_largest_edge: false,
            advmss_ignores_path: false,
            window_share: WindowShare::Sysctl,
            rx_truesize: 0,
            tx_header: 256,
            tx_truesize: 832,
            caqm_listener_flags: false,
            caqm_unasked_srv: false,
            caqm_syn_with_ecn: false,
            caqm_long_frames: false,
            caqm_hint_32bit: false,
            caqm_counts_all: false,
            caqm_empty_ack_ends_start: false,
            caqm_start_after_loss: false,
            caqm_never_restarts: false,
            caqm_feedback_waits: false,
            caqm_child_loses_ecn: false,
            caqm_start_after_close: false,
            caqm_foreign_type_counts: false,
            sysctl: &[],
        }
    }
}
