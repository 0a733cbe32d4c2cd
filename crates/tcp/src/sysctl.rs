//! The sysctls that TCP reads, by the names of Documentation/networking/ip-sysctl.rst: a row each with its type, default,
//! unit, range, the kernels that let a host set it, and its meaning. All else that speaks of a sysctl is made of its row.

use tcplab_wire::CaqmUnits;

use crate::fastopen::FastOpenKeys;
use crate::sysctl_set::{Value, within};

/// A sysctl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SysctlRow {
    /// Its full name (`net.ipv4.tcp_sack`).
    pub name: &'static str,
    /// What it takes: `0 or 1`, `number`, `3 numbers`, `name`, `keys`.
    pub takes: &'static str,
    /// Unit of its numbers; empty: none.
    pub unit: &'static str,
    /// The least and the largest number; none: it takes no numbers.
    pub range: Option<(i64, i64)>,
    /// The value of a host that sets nothing, as sysctl(8) prints it.
    pub default: String,
    /// What it is for.
    pub meaning: &'static str,
    /// Which kernels let a host of an experiment, a network namespace, set it.
    pub kernels: Kernels,
}

/// Kernels that let a network namespace set a sysctl.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernels {
    /// Those of 6.1.192 and later (a test of the command sets them on one).
    All,
    /// Those from this release on.
    Since(u32, u32),
    /// None: it belongs to the machine.
    Machine,
    /// None of kernel.org: trees with CAQM.
    Caqm,
}

use Kernels::{All, Caqm, Machine, Since};

const INT_MAX: i64 = i32::MAX as i64;

macro_rules! table {
    ($($place:literal { $($field:ident: $kind:ty = $usual:expr, $unit:literal, $range:expr, $kernels:expr, $meaning:literal;)+ })+) => {
        /// Values of `net.ipv4.tcp_*` and `net.core.*`. Times are in the sysctl's own unit.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Sysctl {
            $($(#[doc = $meaning] pub $field: $kind,)+)+
        }

        impl Default for Sysctl {
            /// Those of Linux 6.1 with much memory.
            fn default() -> Self {
                Self { $($($field: $usual,)+)+ }
            }
        }

        impl Sysctl {
            /// Full names of all that [`Sysctl::set`] knows.
            pub const NAMES: &'static [&'static str] =
                &[$($(concat!($place, ".", stringify!($field)),)+)+];

            /// A row for each of [`Sysctl::NAMES`].
            pub fn rows() -> Vec<SysctlRow> {
                let usual = Self::default();
                vec![$($(row(&usual.$field, $range, SysctlRow {
                    name: concat!($place, ".", stringify!($field)),
                    unit: $unit,
                    meaning: $meaning,
                    kernels: $kernels,
                    takes: "",
                    range: None,
                    default: String::new(),
                }),)+)+]
            }

            /// Reads a value, within its range, into the field of this name.
            pub(crate) fn put(&mut self, name: &str, text: &str) -> Result<(), String> {
                match name {
                    $($(concat!($place, ".", stringify!($field)) => self.$field = within(text, $range)?,)+)+
                    _ => return Err("the model has no such sysctl".into()),
                }
                Ok(())
            }
        }
    };
}

/// A row, with what the type of its field says.
fn row<T: Value>(usual: &T, range: Option<(i64, i64)>, row: SysctlRow) -> SysctlRow {
    SysctlRow {
        takes: T::TAKES,
        range: range.or(T::RANGE),
        default: usual.text(),
        ..row
    }
}

// A row for each sysctl. Ranges narrower than their type's come from net/ipv4/sysctl_net_ipv4.c.
#[rustfmt::skip]
table! {
    "net.ipv4" {
        tcp_sack: bool = true, "", None, All, "selective acknowledgements (RFC 2018)";
        tcp_dsack: bool = true, "", None, All, "reports of duplicates by SACK (RFC 2883)";
        tcp_fack: bool = false, "", None, All, "forward acknowledgement; Linux reads it until 4.14, the model under profiles that old";
        tcp_timestamps: u8 = 1, "", None, All, "time stamps (RFC 7323): 0 off, 1 with a random offset, 2 without";
        tcp_window_scaling: bool = true, "", None, All, "windows beyond 64 KiB (RFC 7323)";
        tcp_ecn: u8 = 2, "", Some((0, 2)), All, "ECN: 0 off, 1 asked for and answered, 2 answered";
        tcp_ecn_fallback: bool = true, "", None, All, "a SYN that asked for ECN and got lost is sent again without";
        tcp_rmem: [u32; 3] = [4096, 131_072, 6_291_456], "bytes", Some((1, INT_MAX)), All, "receive buffer: least, default, most of auto-tuning";
        tcp_wmem: [u32; 3] = [4096, 16_384, 4_194_304], "bytes", Some((1, INT_MAX)), All, "send buffer: least, default, most of auto-tuning";
        tcp_adv_win_scale: i8 = 1, "", Some((-31, 31)), All, "window of a receive buffer: all but 1/2^N of it, with N <= 0 1/2^-N of it";
        tcp_rcvbuf_low_rtt: u32 = 0, "us", Some((0, INT_MAX)), Since(6, 19), "round trips below which auto-tuning grows the receive buffer less; 0: none (the default of linux-7.2 is 1000)";
        tcp_app_win: u8 = 31, "", Some((0, 31)), All, "part of the window that is kept for the application: 1/2^N; 0: none";
        tcp_moderate_rcvbuf: bool = true, "", None, All, "auto-tuning of the receive buffer";
        tcp_congestion_control: String = "cubic".to_owned(), "", None, All, "congestion control of new sockets";
        tcp_early_retrans: u8 = 3, "", Some((0, 4)), All, "tail loss probes: 3 on, 0 off";
        tcp_recovery: u8 = 1, "", None, All, "bits: 1 RACK, 2 a fixed reordering window, 4 no duplicate-ACK threshold";
        tcp_frto: u8 = 2, "", None, All, "detection of spurious timeouts (RFC 5682)";
        tcp_reordering: u32 = 3, "segments", Some((1, INT_MAX)), All, "reordering that is no loss, to begin with";
        tcp_max_reordering: u32 = 300, "segments", Some((1, INT_MAX)), All, "the most that reordering may grow to";
        tcp_rto_max_ms: u32 = 120_000, "ms", Some((1000, 120_000)), Since(6, 15), "largest retransmission timeout";
        tcp_retries1: u8 = 3, "timeouts", None, All, "timeouts before the route is suspected";
        tcp_retries2: u8 = 15, "timeouts", None, All, "timeouts before a connection is given up";
        tcp_orphan_retries: u8 = 0, "timeouts", None, All, "the same for one that its application has closed; 0: 8";
        tcp_syn_retries: u8 = 6, "retries", Some((1, 127)), All, "SYNs sent again before connect() fails";
        tcp_synack_retries: u8 = 5, "retries", None, All, "SYN-ACKs sent again before a request is dropped";
        tcp_syn_linear_timeouts: u8 = 0, "retries", Some((0, 127)), Since(6, 5), "first retries of a SYN that do not back off";
        tcp_syncookies: u8 = 1, "", None, All, "SYN cookies: 0 off, 1 when the backlog is full, 2 always";
        tcp_max_syn_backlog: u32 = 512, "requests", Some((0, INT_MAX)), All, "requests of a listener that wait for their ACK";
        tcp_abort_on_overflow: bool = false, "", None, All, "a full accept queue answers with RST";
        tcp_keepalive_time: u32 = 7200, "s", Some((0, 4_000_000)), All, "idle time before the first keepalive (a socket's `keepalive` sets its own: scripts show it)";
        tcp_keepalive_intvl: u32 = 75, "s", Some((0, 4_000_000)), All, "time between keepalives (a socket's `keepalive` sets its own: scripts show it)";
        tcp_keepalive_probes: u8 = 9, "probes", None, All, "keepalives without an answer before the connection is given up";
        tcp_fin_timeout: u32 = 60, "s", Some((0, 4_000_000)), All, "time in FIN-WAIT-2 without an application";
        tcp_slow_start_after_idle: bool = true, "", None, All, "the congestion window shrinks while a connection is idle";
        tcp_no_ssthresh_metrics_save: bool = true, "", None, All, "ssthresh is not kept for the next connection to a host";
        tcp_no_metrics_save: bool = false, "", None, All, "nothing of a connection is kept for the next one to a host";
        tcp_autocorking: bool = true, "", None, All, "small writes wait while earlier ones lie in the host's own queue";
        tcp_limit_output_bytes: u32 = 1_048_576, "bytes", Some((0, INT_MAX)), All, "bytes of a socket that may lie in the host's own queue";
        tcp_tso_win_divisor: u8 = 3, "", None, All, "share of the window that one super-segment may use: 1/N";
        tcp_min_tso_segs: u8 = 2, "segments", Some((1, 255)), All, "least size of a paced super-segment";
        tcp_tso_rtt_log: u8 = 9, "", None, All, "super-segments grow on short paths: RTT >> N";
        tcp_pacing_ss_ratio: u32 = 200, "%", Some((0, 1000)), All, "pacing rate in slow start, of cwnd/srtt";
        tcp_pacing_ca_ratio: u32 = 120, "%", Some((0, 1000)), All, "pacing rate in congestion avoidance, of cwnd/srtt";
        tcp_min_rtt_wlen: u32 = 300, "s", Some((0, 86_400)), All, "window of the least round-trip time";
        tcp_min_snd_mss: u32 = 48, "bytes", Some((48, 65_535)), All, "least MSS of what is sent";
        tcp_base_mss: u32 = 1024, "bytes", Some((0, INT_MAX)), All, "MSS with which probing of the path MTU begins";
        tcp_mtu_probing: u8 = 0, "", None, All, "probing of the path MTU (RFC 4821): 0 off, 1 after a black hole, 2 always";
        tcp_mtu_probe_floor: u32 = 48, "bytes", Some((48, 65_535)), All, "least MSS of probing";
        tcp_probe_threshold: u32 = 8, "bytes", Some((0, INT_MAX)), All, "probing ends when the range is narrower than this";
        tcp_probe_interval: u32 = 600, "s", Some((0, u32::MAX as i64 / 1000)), All, "time between two rounds of probing";
        tcp_comp_sack_delay_ns: u64 = 1_000_000, "ns", None, All, "most that a compressed SACK waits";
        tcp_comp_sack_rtt_percent: u32 = 5, "%", Some((1, 1000)), Since(6, 19), "most that a compressed SACK waits, as a part of the round trip";
        tcp_comp_sack_slack_ns: u64 = 100_000, "ns", None, All, "slack of that timer";
        tcp_comp_sack_nr: u8 = 44, "ACKs", None, All, "SACKs that may be compressed; 0: none";
        tcp_challenge_ack_limit: u32 = i32::MAX as u32, "ACKs", Some((0, INT_MAX)), All, "challenge ACKs of a host in a second";
        tcp_invalid_ratelimit: u32 = 500, "ms", Some((0, INT_MAX)), All, "time between two duplicate ACKs for segments out of the window";
        tcp_notsent_lowat: u32 = u32::MAX, "bytes", None, All, "unsent bytes above which a socket takes no more writes";
        tcp_thin_linear_timeouts: bool = false, "", None, All, "thin streams do not back off their first timeouts";
        tcp_retrans_collapse: bool = true, "", None, All, "small segments are joined when they are sent again";
        tcp_workaround_signed_windows: bool = false, "", None, All, "the window of a peer without scaling stays below 32 KiB";
        tcp_rfc1337: bool = false, "", None, All, "an RST does not end TIME-WAIT";
        tcp_tw_reuse: u8 = 2, "", Some((0, 2)), All, "ports in TIME-WAIT may be used again: 0 no, 1 yes, 2 over loopback";
        tcp_rto_min_us: u32 = 200_000, "us", Some((1, INT_MAX)), Since(6, 11), "minimum RTO";
        tcp_pingpong_thresh: u8 = 1, "answers", Some((1, 255)), Since(6, 7), "answers that lead into interactive mode";
        tcp_backlog_ack_defer: bool = false, "", None, Since(6, 7), "one ACK for all segments that came while a call used the socket";
        tcp_tw_reuse_delay: u32 = 1000, "ms", Some((1, 60_000)), Since(6, 14), "time in TIME-WAIT after which tcp_tw_reuse takes a port (profiles of 6.18 and later)";
        tcp_reflect_tos: bool = false, "", None, All, "the SYN-ACK, and what follows, has the DS field of the SYN";
        tcp_stdurg: bool = false, "", None, All, "the urgent pointer as RFC 1122 reads it";
        tcp_shrink_window: bool = false, "", None, All, "the window may shrink when memory is short (Linux 6.5; 6.1.192 has it too)";
        tcp_fastopen: u32 = 1, "", Some((0, INT_MAX)), All, "bits of Fast Open: 1 client, 2 server, 4 and 0x200 without a cookie; applications ask for it with `fastopen`";
        tcp_fastopen_key: Option<FastOpenKeys> = None, "", None, All, "keys that make Fast Open's cookies";
        tcp_fastopen_blackhole_timeout_sec: u32 = 0, "s", Some((0, INT_MAX)), All, "time without Fast Open after a path dropped it; 0: not looked for";
        ip_default_ttl: u8 = 64, "hops", Some((1, 255)), All, "time to live of packets that the host sends";
        ip_local_port_range: [u16; 2] = [32_768, 60_999], "", None, All, "ports that connect() chooses from: first, last";
    }
    "net.core" {
        rmem_max: u32 = 212_992, "bytes", None, Machine, "the most that SO_RCVBUF may ask for";
        wmem_max: u32 = 212_992, "bytes", None, Machine, "the most that SO_SNDBUF may ask for";
        somaxconn: u32 = 4096, "connections", Some((0, INT_MAX)), All, "the most that listen() may ask for";
        sysctl_caqm_enable: bool = false, "", None, Caqm, "CAQM on new connections";
        sysctl_caqm_filter_nics: u64 = 0, "", Some((0, INT_MAX)), Caqm, "interfaces that send CAQM's tags, a bit each; 0: none";
        sysctl_caqm_cc_type: u8 = 0, "", Some((0, 7)), Caqm, "type of congestion control in CAQM's tag";
        sysctl_caqm_alpha_fx_8: u32 = 8, "1/8", Some((1, 32_767)), Caqm, "weight of a request: how fast the window grows";
        sysctl_caqm_beta: u32 = 512, "bytes", Some((1, INT_MAX)), Caqm, "bytes that a marked packet takes away";
        sysctl_caqm_min_cwnd: u32 = 1, "segments", Some((1, INT_MAX)), Caqm, "least congestion window";
        sysctl_caqm_mtu_unit: u32 = 1024, "bytes", Some((64, 9000)), Caqm, "bytes of a segment as CAQM counts";
        sysctl_caqm_data_hint_unit: u32 = 8, "bytes", Some((1, 1024)), Caqm, "unit of a request's hint";
        sysctl_caqm_ack_hint_unit: u32 = 64, "bytes", Some((1, 1024)), Caqm, "unit of a feedback's hint";
        sysctl_caqm_rtt_standard: u32 = 1600, "us", Some((1, INT_MAX)), Caqm, "round-trip time that growth is scaled to";
        sysctl_caqm_tpid: u16 = 0x8200, "", Some((0x0600, 0xffff)), Caqm, "EtherType of the tag";
        sysctl_caqm_debug_info: u32 = 10, "", Some((0, INT_MAX)), Caqm, "how much CAQM writes into the kernel's log";
    }
}

impl Sysctl {
    /// What CAQM's hints stand for.
    pub fn caqm_units(&self) -> CaqmUnits {
        CaqmUnits {
            cc_type: self.sysctl_caqm_cc_type,
            data_hint_unit: self.sysctl_caqm_data_hint_unit,
            ack_hint_unit: self.sysctl_caqm_ack_hint_unit,
            beta: self.sysctl_caqm_beta,
        }
    }
}
