//! What the suite's `common/defaults.sh` sets before most scripts, by our own table.

use crate::target::Setting;

const SYSCTLS: &[(&str, &str)] = &[
    ("tcp_rmem", "4096 540000 15728640"),
    ("tcp_wmem", "4096 262144 4194304"),
    ("tcp_timestamps", "1"),
    ("tcp_syn_retries", "5"),
    ("tcp_synack_retries", "5"),
    ("tcp_frto", "2"),
    ("tcp_sack", "1"),
    ("tcp_dsack", "1"),
    ("tcp_fack", "0"),
    ("tcp_reordering", "3"),
    ("tcp_congestion_control", "cubic"),
    ("tcp_slow_start_after_idle", "0"),
    ("tcp_early_retrans", "4"),
    ("tcp_recovery", "1"),
    ("tcp_tso_win_divisor", "3"),
    ("tcp_ecn", "0"),
    ("tcp_ecn_option", "2"),
    ("tcp_pacing_ss_ratio", "200"),
    ("tcp_pacing_ca_ratio", "120"),
    ("tcp_notsent_lowat", "4294967295"),
    ("tcp_fastopen", "0x70403"),
    ("tcp_fastopen_key", "a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4"),
    ("tcp_syncookies", "1"),
];

/// The settings of `defaults.sh`.
pub fn settings() -> Vec<Setting> {
    let sysctl = |(name, value): &(&str, &str)| {
        Setting::SysctlIfThere(format!("net.ipv4.{name}"), (*value).to_string())
    };
    let mut out = vec![Setting::FlushMetrics];
    out.extend(SYSCTLS.iter().map(sysctl));
    // No pacing by the device's qdisc.
    out.push(Setting::Qdisc(vec!["pfifo".into()]));
    out
}
