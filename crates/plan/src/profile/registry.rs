//! All behaviours by name: what each takes, what it does, which commit changed it.
//!
//! Commits are upstream's; a later number after a semicolon is the stable release that took it. "from memory"
//! marks what no public page or kernel here has confirmed.

use super::words::{BehaviourError, Word};
use super::{
    AckEngine, AckPushRule, BufferGrowth, CompressedSack, PingpongRule, QuickackAccounting,
    RtoEstimator, RtoFloor, SYSCTL_6_1, TlpRule, WindowShare, named,
};
use crate::point::Host;

/// What a behaviour's value can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// One of these words.
    Words(&'static [&'static str]),
    /// A whole number in this range.
    Number(u32, u32),
}

impl Takes {
    /// For messages and documents.
    pub fn words(&self) -> String {
        match self {
            Self::Words(words) => words
                .iter()
                .map(|word| format!("`{word}`"))
                .collect::<Vec<_>>()
                .join(", "),
            Self::Number(min, max) => format!("{min} to {max}"),
        }
    }
}

/// One behaviour: a field of [`Profile`].
#[derive(Debug)]
pub struct Behaviour {
    /// The field's name.
    pub name: &'static str,
    /// What it can be.
    pub takes: Takes,
    /// What it does.
    pub meaning: &'static str,
    /// The commit that changed it, with the release, and how sure that is.
    pub changed: &'static str,
    get: fn(&Profile) -> String,
    put: fn(&mut Profile, &str) -> bool,
}

impl Behaviour {
    /// Its value in a profile, as a word.
    pub fn value(&self, profile: &Profile) -> String {
        (self.get)(profile)
    }
}

/// A behaviour with words (an enum or a flag), or with a number in a range.
macro_rules! behaviour {
    ($field:ident: $of:ty, $meaning:literal, $changed:literal) => {
        Behaviour {
            name: stringify!($field),
            takes: Takes::Words(<$of as Word>::WORDS),
            meaning: $meaning,
            changed: $changed,
            get: |profile| profile.$field.word().to_owned(),
            put: |profile, text| match <$of as Word>::of(text) {
                Some(value) => {
                    profile.$field = value;
                    true
                }
                None => false,
            },
        }
    };
    ($field:ident: $of:ty, $min:literal ..= $max:literal, $meaning:literal, $changed:literal) => {
        Behaviour {
            name: stringify!($field),
            takes: Takes::Number($min, $max),
            meaning: $meaning,
            changed: $changed,
            get: |profile| profile.$field.to_string(),
            put: |profile, text| match text.parse() {
                Ok(value) if ($min..=$max).contains(&value) => {
                    profile.$field = value;
                    true
                }
                _ => false,
            },
        }
    };
}

/// Makes of one row a field of [`Profile`], its value in Linux 6.1.192, and its entry in [`BEHAVIOURS`]: field and type, that
/// value, the range of a number, what it does, the commit that changed it.
macro_rules! behaviours {
    ($(
        $(#[$doc:meta])*
        $field:ident: $of:ty = $usual:expr, $(in $min:literal ..= $max:literal,)?
            $meaning:literal,
            $changed:literal;
    )+) => {
        /// The behaviours of one stack.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Profile {
            /// Its name: `linux-6.1`.
            pub name: &'static str,
            $(
                #[doc = $meaning]
                $(#[$doc])*
                pub $field: $of,
            )+
            /// Defaults of sysctls that differ from those of Linux 6.1, by full name.
            pub sysctl: &'static [(&'static str, &'static str)],
        }

        impl Default for Profile {
            fn default() -> Self {
                Self {
                    name: "linux-6.1",
                    $($field: $usual,)+
                    sysctl: &[],
                }
            }
        }

        /// All behaviours, in the order in which they are printed.
        pub const BEHAVIOURS: &[Behaviour] = &[$(
            behaviour!($field: $of, $($min..=$max,)? $meaning, $changed),
        )+];
    };
}

behaviours! {
    hz: u32 = 250, in 24..=1000,
        "timer ticks per second (CONFIG_HZ)",
        "the distribution's choice: Debian 250, RHEL 1000";
    quickack_accounting: QuickackAccounting = QuickackAccounting::PerAck,
        "quick-ACK credits that an ACK costs: one per wire packet of the segment that carries it, or one if it \
         acknowledges new data",
        "059217c18be6, 6.6; 6.1.57";
    ack_push_rule: AckPushRule = AckPushRule::AtMss,
        "segments after which the next read sends an ACK: those shorter than rcv_mss, or also those of exactly rcv_mss \
         with PSH",
        "4720852ed9af, 6.6; 6.1.57";
    rto_estimator: RtoEstimator = RtoEstimator::Linux,
        "RTO estimator: Linux's, or RFC 6298 2.3 as written",
        "no commit: the patch of June 2016 was not merged";
    rto_floor: RtoFloor = RtoFloor::Deviation,
        "what the minimum RTO bounds: four times the deviation, before the RTT is added, or the RTO itself",
        "no commit: the patch of June 2016 was not merged";
    rto_floor_ms: u32 = 0, in 0..=120_000,
        "minimum RTO of the estimator, milliseconds; 0: the route's or the sysctl's",
        "no commit: Linux's floor is tcp_rto_min()";
    tlp_rule: TlpRule = TlpRule::RtoMin,
        "time of a tail loss probe: after two RTTs; with one segment in flight, not before 1.5 RTTs plus 200 ms \
         (`delack-max`), or after two RTTs plus the minimum RTO (`rto-min`)",
        "bb4d991a28cc, 4.14";
    tlp_rto_cap: bool = true,
        "a probe replaces an RTO that would come earlier; off: the RTO fires",
        "no commit: shows the effect of tying the probe to the RTO";
    early_retransmit: bool = false,
        "with fewer than four segments in flight, fewer than three duplicate ACKs start recovery, immediately or after \
         a quarter of an RTT (net.ipv4.tcp_early_retrans 1, 2 and 3; RFC 5827)",
        "removed by bec41a11dd3d, 4.11 (the release from memory)";
    forward_retransmit: bool = false,
        "recovery resends segments not known to be lost, below the highest SACKed one, if no new data can be sent (RFC \
         6675's NextSeg rule 3)",
        "removed by 840a3cbe8969, 4.11 (from memory)";
    ack_engine: AckEngine = AckEngine::Linux,
        "rule for immediate ACKs: Linux's quickack credits and ATO, or every second segment with a 40 ms timer",
        "FreeBSD r360010 for the 40 ms";
    /// For [`AckEngine::EverySecond`].
    delack_ms: u32 = 0, in 0..=500,
        "delayed-ACK time with `ack_engine` every-second, milliseconds; 0: 40",
        "FreeBSD's net.inet.tcp.delacktime; Windows' TcpDelAckTicks";
    pingpong_rule: PingpongRule = PingpongRule::EachSegment,
        "replies that count towards interactive mode: each segment, or only the first after received data",
        "4a41f453bedf, 5.1; reverted by 4d8f24eeedc5, 6.0 and stable kernels";
    pingpong_threshold: u32 = 1, in 1..=255,
        "number of counted replies that starts interactive mode (since 6.7 also net.ipv4.tcp_pingpong_thresh)",
        "3 by 4a41f453bedf, 5.1; 1 by 4d8f24eeedc5, 6.0 and stable kernels";
    compressed_sack: CompressedSack = CompressedSack::AfterThree,
        "which ACKs of out-of-order data are compressed: none, all, or those after the first three",
        "5d9f4262b7ea, 4.18; 86de5921a3d5, 4.20";
    comp_sack_rtt_percent: u32 = 0, in 0..=1000,
        "longest wait of a compressed ACK, percent of the RTT; 0: the kernel's, which is 5 percent or, since 6.19, net.ipv4.tcp_comp_sack_rtt_percent",
        "33 by 416dd649f3aa, 6.19 (the release from memory)";
    comp_sack_reads_clock: bool = false,
        "a compressed ACK sent by its timer has the time stamp of that moment; off: of the last segment",
        "between 6.12.118 and 7.2.13 (commit unknown)";
    delack_sends_sack: bool = true,
        "the delayed-ACK timer sends a held-back SACK, even if the delayed ACK has already left",
        "30c6f0bf9579, 6.4; before 6.1.56";
    repair_ack: bool = true,
        "the segment that fills the last hole, and one with CWR, is ACKed immediately in any mode",
        "15bdd5686c1e and 9aee40006190, 4.19";
    rcvbuf_fixup: bool = false,
        "a new connection's receive buffer is raised to four initial windows, and the first window offered is one initial \
         window: 20 segments",
        "removed by a337531b942b, 4.20 and 4.19.9";
    syn_queue_at_backlog: bool = false,
        "a listener's SYN queue is full with `backlog` requests; off: with one more",
        "3479c7549fb1, 6.13; 6.12.10, 6.6.72 (from memory) and 6.1.125";
    /// So it counts for [`WindowShare::Measured`] too.
    rcv_mss_of_ofo: bool = false,
        "out-of-order segments count for the receiver's guess of the segment size (tcp_measure_rcv_mss())",
        "38d7e4443365, 6.17; before 6.12.118";
    /// Linux: `tcp_rcv_space_adjust()`.
    tunes_without_queue: bool = false,
        "receive-buffer auto-tuning subtracts unread data from what was read in an RTT",
        "ea33537d8292, 6.16; before 6.12.118";
    /// Linux: `tcp_cwnd_reduction()`.
    prr_waits_for_retransmission: bool = false,
        "PRR makes up for segments that it has not sent only on an ACK of a retransmission; off: on every ACK, and it \
         sends one segment more if the ACK shows no new loss",
        "off by 9ad084d66619, 6.0";
    hystart_rounds_from_16: bool = false,
        "HyStart begins a new round only with a window of at least 16 segments",
        "off by 25c1a9ca53db, 6.14; stable kernels from 6.1 on";
    /// Linux: `tcp_validate_incoming()`.
    takes_crossed_synack: bool = true,
        "after crossed SYNs the SYN-ACK ends the handshake; off: it gets a challenge ACK, which ends the handshake",
        "23e89e8ee7be, 6.12; stable kernels from 6.1 on";
    /// Linux: `tcp_rtx_probe0_timed_out()`.
    user_timeout_in_jiffies: bool = true,
        "for retransmissions into a closed window, TCP_USER_TIMEOUT's milliseconds count as jiffies; off: as \
         milliseconds",
        "614e8316aa4c, 6.7";
    /// Linux: `tcp_delack_max()`.
    delack_below_rto_min: bool = false,
        "an ACK is delayed by at most the minimum RTO minus one tick",
        "bbf80d713fe7, 6.7";
    /// Linux: `icsk_ack.ato`, compared as a signed number.
    ato_has_8_bits: bool = false,
        "the estimated time between segments is at most 200 ms, in an 8-bit field (after crossed SYNs, the first gap \
         counts as short until 300 s after boot)",
        "95b9a87c6a6b, 6.7";
    /// Linux: `tcp_may_update_window()`.
    takes_zero_window: bool = false,
        "a window of 0 is taken even from a segment with the sequence number of the last window update",
        "800a666141de, 6.6";
    /// Linux: `ICSK_ACK_NOMEM`.
    full_memory_closes_window: bool = false,
        "a receiver out of memory immediately sends an ACK with a window of 0",
        "e2142825c120, 6.6";
    takes_bare_fin: bool = false,
        "a FIN without data is accepted while the window is closed",
        "2bd99aef1b19, 6.10";
    /// Linux: `tcp_prune_ofo_queue()`.
    prunes_above_only: bool = false,
        "a full receive buffer drops only out-of-order segments above the arriving one",
        "b0e01253a764, 6.2";
    syn_before_paws: bool = false,
        "a SYN on an open connection gets a challenge ACK even if PAWS would reject it",
        "ee05d90d0ac7, 6.4";
    /// Linux: `tcp_tsval_replay()`.
    long_replay_window: bool = false,
        "an overtaken ACK may be up to 1.2 RTOs older than PAWS allows; off: 1.024 RTOs",
        "9c25aae0132b, 6.7";
    /// Linux: `tcp_rcv_spurious_retrans()`.
    rehash_by_label: bool = false,
        "a receiver of duplicate data changes its flow label only if the sender's label changed; off: if the same data \
         came twice, also over IPv4",
        "939463016b7a, 6.7";
    /// Linux: `tcp_send_syn_data()`.
    syn_data_beyond_page: bool = false,
        "a SYN may carry as much data as a segment; off: at most 3,520 bytes",
        "fbf934068f6b, 6.5";
    /// Linux: `rcv_wnd`.
    whole_first_window: bool = false,
        "the first window may exceed 65,535 bytes",
        "378979e94e95, 6.10";
    /// Linux: `tun_alloc_skb()`.
    tap_frames_in_pages: bool = false,
        "a frame's bytes beyond one page get own pages, each counted whole",
        "ce7c7fef1473, 6.6";
    /// Linux: `tcp_grow_skb()`.
    grows_segments: bool = false,
        "a queued segment shorter than the largest allowed takes bytes from the next one",
        "8ee602c63520, 6.10";
    buffer_growth: BufferGrowth = BufferGrowth::Margin,
        "room that receive-buffer auto-tuning adds to twice the bytes read in an RTT and their growth: 16 segments, or \
         the out-of-order data (paths shorter than net.ipv4.tcp_rcvbuf_low_rtt grow less, 91e1007ad, 6.19)",
        "c1269d3d12b8, 6.16";
    rcv_rtt_skips_zero: bool = false,
        "the receiver's RTT ignores echoes of the same millisecond; off: they count as 1 ms",
        "d59fc95be9d0, 6.16; before 6.12.118";
    rcv_rtt_of_empty_queue: bool = false,
        "the receiver's RTT ignores larger samples while unread data waits",
        "a00f135cd986, 6.16";
    /// A read leaves `tcp_mstamp` alone then, and the ACKs that it sends always read the clock.
    read_keeps_clock: bool = false,
        "receive-buffer auto-tuning ends an RTT at the last segment; off: at the read",
        "between 6.12.118 and 7.2.13 (commit unknown)";
    /// Linux: `tcp_set_rcvbuf()`.
    rcvbuf_sets_clamp: bool = false,
        "SO_RCVBUF on an open connection also sets the window clamp",
        "between 6.12.118 and 7.2.13 (commit unknown)";
    rack_only: bool = false,
        "time alone detects losses (RACK); off: duplicate ACKs do if net.ipv4.tcp_recovery lacks bit 0x1",
        "1c120191dcec, 6.17";
    challenges_unsent_ack: bool = false,
        "an ACK of unsent data gets a challenge ACK; off: it is dropped",
        "42726ec644cb, 2026 (the release is not known)";
    /// Such ACKs have a counter of their own then, and so has TIME-WAIT.
    drops_old_acks: bool = false,
        "an overtaken ACK that PAWS rejects is dropped; off: it is answered with an ACK",
        "124c4c32e9f3, 6.14";
    checks_segment_end: bool = false,
        "a segment that ends beyond the window is accepted only if no data are unread; off: if it starts in the window",
        "9ca48d616ed7, 6.17";
    checks_synack_echo: bool = false,
        "the ACK that ends a handshake must echo a time stamp of a SYN-ACK",
        "between 6.12.118 and 7.2.13 (commit unknown)";
    synack_ece_ends: bool = false,
        "after its second timeout a SYN-ACK is sent without ECE",
        "7.0, with AccECN (commit unknown)";
    tw_ack_keeps_ecn: bool = false,
        "the ACK of a FIN after the close has the ECN bits of the connection's last segment; off: none",
        "7.0, with AccECN (commit unknown)";
    tw_reuse_by_delay: bool = false,
        "net.ipv4.tcp_tw_reuse waits net.ipv4.tcp_tw_reuse_delay after TIME-WAIT began; off: until the clock's next full second",
        "ca6a6f93867a, 6.14";
    /// Linux: `tcp_cwnd_test()`.
    fin_beyond_cwnd: bool = true,
        "the last segment with FIN is sent even if the congestion window is full",
        "22555032c513, 6.10";
    resends_syn_data_at_once: bool = false,
        "SYN data that the SYN-ACK does not acknowledge are resent immediately, regardless of the congestion window; \
         off: marked lost",
        "a7abf3cd76e1, 5.13";
    rack_counts_every_dsack: bool = false,
        "a DSACK widens RACK's reordering window even before any reordering, and even if a loss probe caused it",
        "a657db0350bb, 5.15";
    tlp_ends_by_any_dsack: bool = false,
        "any DSACK ends the episode of a loss probe; off: only a DSACK for the probe",
        "63f367d9de77, 5.15";
    clamp_moves_ssthresh: bool = true,
        "TCP_WINDOW_CLAMP on an open connection also moves rcv_ssthresh",
        "3aa7857fe1d7, 5.15; both ways in 6.1.192";
    old_ack_sets_echo: bool = true,
        "an ACK below SND.UNA may set the echoed time stamp (TS.Recent)",
        "between 5.10.262 and 6.1.192 (commit unknown)";
    buffers_of_whole_pages: bool = false,
        "with SLOB, a received frame of a page or more counts whole pages",
        "12d6c1d3a2ad, 6.2; before 6.1.192";
    keeps_largest_edge: bool = false,
        "data up to the largest window ever offered are accepted, even after the window shrank",
        "0e24d17bd966, 7.1 (the release inferred)";
    advmss_ignores_path: bool = false,
        "the offered MSS comes from the MTU of the route or device; off: from the path MTU",
        "between 6.12.118 and 7.2.13 (commit unknown)";
    window_share: WindowShare = WindowShare::Sysctl,
        "share of the receive buffer that becomes window: by tcp_adv_win_scale, or measured",
        "dfa2f0483360, 6.6";
    rx_truesize: u32 = 0, in 0..=65_536,
        "receive-buffer bytes per received frame; 0: as few as for a TAP device",
        "the network card's choice: 2304 with buffers of 2 kB";
    tx_header: u32 = 256, in 192..=1024,
        "bytes kept free for headers before a segment's data in the send queue (MAX_TCP_HEADER)",
        "the configuration's choice: 256 without wireless drivers, 320 in distributions' kernels";
    /// Linux: `tcp_stream_alloc_skb()`.
    tx_truesize: u32 = 832, in 512..=8192,
        "send-buffer bytes of a segment without data",
        "the allocator's choice: 832 with SLOB (as requested), 1280 with kmalloc (next size class)";
    caqm_listener_flags: bool = false,
        "one client that asks for CAQM makes the listener assume CAQM for all later clients",
        "openEuler's CAQM";
    caqm_unasked_srv: bool = false,
        "a SYN-ACK offers CAQM to a client that did not ask",
        "openEuler's CAQM";
    caqm_syn_with_ecn: bool = false,
        "a SYN may ask for both CAQM and ECN, which sets the bits of AccECN (RFC 9768)",
        "openEuler's CAQM";
    caqm_long_frames: bool = false,
        "CAQM does not shorten segments: frames are 4 bytes longer than the MTU allows",
        "openEuler's CAQM, not its later version";
    caqm_hint_32bit: bool = false,
        "a hint is computed in 32-bit products, which wrap at windows over 335,544 packets and alphas over \
         655",
        "openEuler's CAQM";
    caqm_counts_all: bool = false,
        "tags count before the segment is checked, also in old duplicates and in data outside the window",
        "openEuler's CAQM";
    caqm_empty_ack_ends_start: bool = false,
        "an ACK without new data or feedback also ends slow start",
        "openEuler's CAQM";
    caqm_start_after_loss: bool = false,
        "slow start continues after a loss; without a switch that refuses, it never ends",
        "openEuler's CAQM";
    caqm_never_restarts: bool = false,
        "slow start is not resumed after a timeout, or after ten round trips without sending",
        "openEuler's CAQM";
    caqm_feedback_waits: bool = false,
        "feedback waits for the next regular ACK, which can take long (data both ways, or a window of one \
         packet and a delayed ACK)",
        "openEuler's CAQM";
    caqm_child_loses_ecn: bool = false,
        "a host with CAQM enabled forgets that an accepted connection agreed on ECN, so it never echoes a mark",
        "openEuler's CAQM";
    caqm_start_after_close: bool = false,
        "slow start continues after the close: only an ACK without a grant in ESTABLISHED ends it",
        "openEuler's CAQM";
    caqm_foreign_type_counts: bool = false,
        "a tag of another cc_type counts as a tag without a grant: in an ACK it ends slow start",
        "openEuler's CAQM";
}

impl Behaviour {
    /// The behaviour of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        BEHAVIOURS.iter().find(|known| known.name == name)
    }
}

impl Profile {
    /// The default of a sysctl that is not the same under all profiles, by its full name.
    pub fn sysctl(&self, name: &str) -> Option<&'static str> {
        let mut all = self.sysctl.iter().chain(SYSCTL_6_1);
        let found = all.find(|(known, _)| *known == name);
        found.map(|(_, value)| *value)
    }

    /// Sets a behaviour by its name and a value's word; gives the word in its usual form.
    ///
    /// # Errors
    /// A name that no behaviour has, or a value that it does not take.
    pub fn set(&mut self, name: &str, value: &str) -> Result<String, BehaviourError> {
        let behaviour = Behaviour::named(name)
            .ok_or_else(|| BehaviourError::Name(name.chars().take(40).collect()))?;
        match (behaviour.put)(self, value) {
            true => Ok(behaviour.value(self)),
            false => Err(BehaviourError::Value {
                name: behaviour.name,
                value: value.chars().take(40).collect(),
                takes: behaviour.takes,
            }),
        }
    }

    /// The profile of an experiment's host: this one or the one that it names, with the host's own
    /// behaviours.
    ///
    /// # Errors
    /// A profile, behaviour or value is unknown: the point was not made from a checked file.
    pub fn of_host(&self, host: &Host) -> Result<Self, BehaviourError> {
        let mut profile = match &host.profile {
            Some(name) => named(name).ok_or_else(|| BehaviourError::Profile(name.clone()))?,
            None => self.clone(),
        };
        for (name, value) in &host.behaviour {
            profile.set(name, value)?;
        }
        Ok(profile)
    }
}
