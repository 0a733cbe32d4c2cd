//! The profiles: which value each behaviour has in which release.
//!
//! Each release lists its differences from 6.1.192, oldest release first. Upstream's kernels are meant, also where a
//! distribution has taken later commits back; el8's receive side is as it was measured.

use super::{
    AckEngine, AckPushRule, BufferGrowth, CompressedSack, PingpongRule, Profile,
    QuickackAccounting, RtoEstimator, RtoFloor, TlpRule, WindowShare,
};

/// A profile that has a name.
#[derive(Debug)]
pub struct Known {
    /// Its name.
    pub name: &'static str,
    /// Which kernels it stands for.
    pub what: &'static str,
    /// Whether a kernel of this release was compared with it, packet by packet.
    pub verified: bool,
    make: fn() -> Profile,
}

impl Known {
    /// Its values.
    pub fn profile(&self) -> Profile {
        (self.make)()
    }
}

/// All of them, oldest first; FreeBSD last.
pub const KNOWN: &[Known] = &[
    Known {
        name: "linux-4.6",
        what: "Linux 4.6 as of the RTO patch of June 2016: duplicate ACKs detect losses; old tail loss probe",
        verified: false,
        make: linux_4_6,
    },
    Known {
        name: "linux-4.18",
        what: "Linux 4.18 with the receive side of AlmaLinux 8 (el8) as of 2023",
        verified: false,
        make: linux_4_18,
    },
    Known {
        name: "linux-5.10.46",
        what: "Linux 5.10.46 (Debian 11 of summer 2021)",
        verified: false,
        make: linux_5_10_46,
    },
    Known {
        name: "linux-5.10",
        what: "Linux 5.10.262 (Debian 11 of autumn 2026) with the delayed-ACK fixes of 5.10.198",
        verified: true,
        make: linux_5_10,
    },
    Known {
        name: "linux-5.14",
        what: "Linux 5.14 (el9 without RHEL's backports from later releases)",
        verified: false,
        make: linux_5_14,
    },
    Known {
        name: "linux-6.1.56",
        what: "Linux 6.1 before the delayed-ACK fixes of 6.1.57 (Debian 12 until 6.1.0-13)",
        verified: true,
        make: linux_6_1_56,
    },
    Known {
        name: "linux-6.1",
        what: "Linux 6.1.192; the default",
        verified: true,
        make: Profile::default,
    },
    Known {
        name: "linux-6.12",
        what: "Linux 6.12 (Debian 13)",
        verified: true,
        make: linux_6_12,
    },
    Known {
        name: "linux-6.18",
        what: "Linux 6.18",
        verified: false,
        make: linux_6_18,
    },
    Known {
        name: "linux-7.2",
        what: "Linux 7.2",
        verified: true,
        make: linux_7_2,
    },
    Known {
        name: "freebsd-13.2",
        what: "FreeBSD 13.2 as a receiver: ACKs delayed 40 ms, no quick-ACK credits; the rest is Linux with Reno and RFC 6298",
        verified: false,
        make: freebsd_13_2,
    },
];

/// The word behind the name of a profile that no kernel was compared with.
const UNVERIFIED: &str = " (unverified)";

/// The name of a profile as people and results see it: `linux-5.14 (unverified)`.
pub fn marked(name: &str) -> String {
    let known = KNOWN.iter().find(|known| known.name == name);
    let mark = known
        .is_some_and(|known| !known.verified)
        .then_some(UNVERIFIED);
    format!("{name}{}", mark.unwrap_or_default())
}

/// The warning for a stack whose profile was never compared with a kernel; `None` for others. `stack`:
/// `model:linux-5.14@1000`, or the name of a profile.
pub fn unverified(stack: &str) -> Option<String> {
    let name = stack.strip_prefix("model:").unwrap_or(stack);
    let name = name.split('@').next().unwrap_or_default();
    let known = KNOWN
        .iter()
        .find(|known| known.name == name && !known.verified)?;
    Some(format!(
        "{}: unverified: no kernel of this release was compared with the model (`tcplab stacks --profiles`)",
        known.name
    ))
}

/// The profile of this name.
pub fn named(name: &str) -> Option<Profile> {
    KNOWN
        .iter()
        .find(|known| known.name == name)
        .map(Known::profile)
}

fn linux_4_6() -> Profile {
    Profile {
        name: "linux-4.6",
        tlp_rule: TlpRule::DelackMax,
        early_retransmit: true,
        forward_retransmit: true,
        compressed_sack: CompressedSack::Never,
        hz: 250,
        rx_truesize: 0,
        sysctl: &[
            ("net.ipv4.tcp_rmem", "4096 87380 6291456"),
            // RACK of 4.6 only finds lost retransmissions; the model's RACK is 4.18's.
            ("net.ipv4.tcp_recovery", "0"),
            ("net.ipv4.tcp_fack", "1"),
            ("net.ipv4.tcp_limit_output_bytes", "262144"),
            ("net.ipv4.tcp_challenge_ack_limit", "100"),
            ("net.ipv4.tcp_tso_rtt_log", "0"),
            ("net.ipv4.tcp_tw_reuse", "0"),
            ("net.core.somaxconn", "128"),
        ],
        ..linux_4_18()
    }
}

fn linux_4_18() -> Profile {
    Profile {
        name: "linux-4.18",
        // RHEL's choice.
        hz: 1000,
        compressed_sack: CompressedSack::All,
        pingpong_rule: PingpongRule::EachSegment,
        pingpong_threshold: 1,
        repair_ack: false,
        resends_syn_data_at_once: true,
        rcvbuf_fixup: true,
        // The card of the machine whose window grew by 2048 bytes a segment.
        rx_truesize: 2304,
        sysctl: &[
            ("net.ipv4.tcp_rmem", "4096 87380 6291456"),
            ("net.ipv4.tcp_limit_output_bytes", "262144"),
            ("net.ipv4.tcp_challenge_ack_limit", "1000"),
            ("net.ipv4.tcp_tso_rtt_log", "0"),
            ("net.ipv4.tcp_tw_reuse", "0"),
            ("net.core.somaxconn", "128"),
        ],
        ..linux_5_14()
    }
}

fn linux_5_10_46() -> Profile {
    Profile {
        name: "linux-5.10.46",
        resends_syn_data_at_once: true,
        hz: 250,
        tx_header: 256,
        tx_truesize: 832,
        ..linux_5_14()
    }
}

fn linux_5_10() -> Profile {
    Profile {
        name: "linux-5.10",
        prr_waits_for_retransmission: true,
        hystart_rounds_from_16: true,
        takes_crossed_synack: false,
        delack_sends_sack: false,
        resends_syn_data_at_once: true,
        rack_counts_every_dsack: true,
        tlp_ends_by_any_dsack: true,
        clamp_moves_ssthresh: false,
        old_ack_sets_echo: false,
        buffers_of_whole_pages: true,
        sysctl: SYSCTL_BEFORE_5_18,
        ..Profile::default()
    }
}

/// Defaults until 5.17 or so that some later release changed.
const SYSCTL_BEFORE_5_18: &[(&str, &str)] = &[
    ("net.ipv4.tcp_challenge_ack_limit", "1000"),
    ("net.ipv4.tcp_tso_rtt_log", "0"),
];

fn linux_5_14() -> Profile {
    Profile {
        name: "linux-5.14",
        hz: 1000,
        pingpong_rule: PingpongRule::FirstOfReply,
        pingpong_threshold: 3,
        prr_waits_for_retransmission: true,
        hystart_rounds_from_16: true,
        takes_crossed_synack: false,
        delack_sends_sack: false,
        rack_counts_every_dsack: true,
        tlp_ends_by_any_dsack: true,
        clamp_moves_ssthresh: false,
        old_ack_sets_echo: false,
        buffers_of_whole_pages: true,
        tx_header: 320,
        tx_truesize: 1280,
        sysctl: SYSCTL_BEFORE_5_18,
        ..linux_6_1_56()
    }
}

fn linux_6_1_56() -> Profile {
    Profile {
        name: "linux-6.1.56",
        quickack_accounting: QuickackAccounting::PerPacket,
        ack_push_rule: AckPushRule::Short,
        syn_queue_at_backlog: true,
        ..Profile::default()
    }
}

fn linux_6_12() -> Profile {
    Profile {
        name: "linux-6.12",
        window_share: WindowShare::Measured,
        // As a kernel for `uml:` is built: from 6.4 on without SLOB, so that a small head has a cache of its own.
        tx_truesize: 896,
        rcv_mss_of_ofo: true,
        tunes_without_queue: true,
        user_timeout_in_jiffies: false,
        delack_below_rto_min: true,
        ato_has_8_bits: true,
        takes_zero_window: true,
        full_memory_closes_window: true,
        takes_bare_fin: true,
        prunes_above_only: true,
        syn_before_paws: true,
        long_replay_window: true,
        rehash_by_label: true,
        syn_data_beyond_page: true,
        whole_first_window: true,
        tap_frames_in_pages: true,
        grows_segments: true,
        rcv_rtt_skips_zero: true,
        fin_beyond_cwnd: false,
        sysctl: &[
            ("net.ipv4.tcp_syn_linear_timeouts", "4"),
            ("net.ipv4.tcp_backlog_ack_defer", "1"),
        ],
        ..Profile::default()
    }
}

fn linux_6_18() -> Profile {
    Profile {
        name: "linux-6.18",
        buffer_growth: BufferGrowth::Reordered,
        rcv_rtt_of_empty_queue: true,
        rack_only: true,
        drops_old_acks: true,
        checks_segment_end: true,
        tw_reuse_by_delay: true,
        sysctl: &[
            ("net.ipv4.tcp_rmem", "4096 131072 33554432"),
            ("net.ipv4.tcp_limit_output_bytes", "4194304"),
            ("net.ipv4.tcp_syn_linear_timeouts", "4"),
            ("net.ipv4.tcp_backlog_ack_defer", "1"),
            ("net.core.rmem_max", "4194304"),
            ("net.core.wmem_max", "4194304"),
        ],
        ..linux_6_12()
    }
}

fn linux_7_2() -> Profile {
    Profile {
        name: "linux-7.2",
        comp_sack_reads_clock: true,
        advmss_ignores_path: true,
        keeps_largest_edge: true,
        read_keeps_clock: true,
        rcvbuf_sets_clamp: true,
        challenges_unsent_ack: true,
        checks_synack_echo: true,
        synack_ece_ends: true,
        tw_ack_keeps_ecn: true,
        sysctl: &[
            ("net.ipv4.tcp_rmem", "4096 131072 33554432"),
            ("net.ipv4.tcp_rcvbuf_low_rtt", "1000"),
            ("net.ipv4.tcp_comp_sack_rtt_percent", "33"),
            ("net.ipv4.tcp_comp_sack_slack_ns", "10000"),
            ("net.ipv4.tcp_limit_output_bytes", "4194304"),
            ("net.ipv4.tcp_syn_linear_timeouts", "4"),
            ("net.ipv4.tcp_backlog_ack_defer", "1"),
            ("net.core.rmem_max", "4194304"),
            ("net.core.wmem_max", "4194304"),
        ],
        ..linux_6_18()
    }
}

fn freebsd_13_2() -> Profile {
    Profile {
        name: "freebsd-13.2",
        hz: 1000,
        ack_engine: AckEngine::EverySecond,
        compressed_sack: CompressedSack::Never,
        rto_estimator: RtoEstimator::Rfc6298,
        rto_floor: RtoFloor::Timeout,
        // net.inet.tcp.rexmit_min, and the slop of 200 ms that is added to each.
        rto_floor_ms: 230,
        sysctl: &[
            // net.inet.tcp.recvspace and recvbuf_max; half of such a buffer is window in the model.
            ("net.ipv4.tcp_rmem", "4096 131072 4194304"),
            ("net.ipv4.tcp_wmem", "4096 32768 2097152"),
            ("net.ipv4.tcp_congestion_control", "reno"),
            ("net.ipv4.tcp_early_retrans", "0"),
            ("net.ipv4.tcp_recovery", "0"),
            ("net.ipv4.tcp_frto", "0"),
            ("net.ipv4.tcp_autocorking", "0"),
        ],
        ..Profile::default()
    }
}

/// Linux 6.1's defaults of the sysctls that some profile changes.
pub const SYSCTL_6_1: &[(&str, &str)] = &[
    ("net.core.rmem_max", "212992"),
    ("net.core.somaxconn", "4096"),
    ("net.core.wmem_max", "212992"),
    ("net.ipv4.tcp_autocorking", "1"),
    ("net.ipv4.tcp_backlog_ack_defer", "0"),
    ("net.ipv4.tcp_challenge_ack_limit", "2147483647"),
    ("net.ipv4.tcp_comp_sack_rtt_percent", "5"),
    ("net.ipv4.tcp_comp_sack_slack_ns", "100000"),
    ("net.ipv4.tcp_congestion_control", "cubic"),
    ("net.ipv4.tcp_early_retrans", "3"),
    ("net.ipv4.tcp_fack", "0"),
    ("net.ipv4.tcp_frto", "2"),
    ("net.ipv4.tcp_limit_output_bytes", "1048576"),
    ("net.ipv4.tcp_rcvbuf_low_rtt", "0"),
    ("net.ipv4.tcp_recovery", "1"),
    ("net.ipv4.tcp_rmem", "4096 131072 6291456"),
    ("net.ipv4.tcp_syn_linear_timeouts", "0"),
    ("net.ipv4.tcp_tso_rtt_log", "9"),
    ("net.ipv4.tcp_tw_reuse", "2"),
    ("net.ipv4.tcp_wmem", "4096 16384 4194304"),
];

/// What the model does the same way under every profile, though kernels differ: what, and the commit with its release.
/// Behaviours of this list have no row of their own until the endpoint has them.
pub const NOT_MODELLED: &[(&str, &str)] = &[
    (
        "time stamps count jiffies before 4.13 and milliseconds since 4.13; since 6.7 they count microseconds if the route asks for it",
        "9a568de4818d, 4.13; 614e8316aa4c, 6.7 (from memory)",
    ),
    (
        "RACK has no reordering timer until 4.10 and runs beside RFC 6675 until 4.17",
        "57dde7f70d48, 4.11; b38a51fec1c1, 4.18 (from memory)",
    ),
    (
        "HyStart counts milliseconds and ignores pacing until 5.5",
        "ede656e84658, 5.6 and its series (from memory)",
    ),
    (
        "number of immediate ACKs after an ECN mark: 16 until 4.17, 1 in 4.18, 2 since 4.19",
        "9a9c9b51e54618, 4.18; 15ecbe94a45e, 4.19 (from memory)",
    ),
    (
        "net.ipv4.tcp_limit_output_bytes does not limit paced flows from 5.1 to 6.15",
        "c73e5807e4f6, 5.1 (from memory); c4221a8cc3a7, 6.16",
    ),
    (
        "since 6.7 one ACK answers all segments that arrived while a program used the socket (tcp_backlog_ack_defer)",
        "133c4c0d3717, 6.7 (from memory)",
    ),
    (
        "over IPv6 a receiver changes its flow label if duplicate data arrive with another flow label; the model changes it on duplicate data with any label",
        "939463016b7a, 6.7",
    ),
    (
        "Accurate ECN (tcp_ecn 3 to 5) exists since 7.0; 7.2 reads CWR in a SYN-ACK as a sign of Accurate ECN",
        "667539f6dce2, 7885ce014740, 1247fb19cafe, 7.0 (the release inferred)",
    ),
];
