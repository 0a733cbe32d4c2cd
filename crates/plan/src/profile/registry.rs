//! All behaviours by name: what each takes, what it does, which commit changed it.
//!
//! Commits are upstream's; a later number after a semicolon is the stable release that took it. "from memory"
//! marks what no public page or kernel here has confirmed.

use super::words::{BehaviourError, Word};
use super::{
    AckEngine, AckPushRule, BufferGrowth, CompressedSack, PingpongRule, Profile,
    QuickackAccounting, RtoEstimator, RtoFloor, SYSCTL_6_1, TlpRule, WindowShare, named,
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

/// A behaviour with words: an enum or a flag.
macro_rules! choice {
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
}

/// A behaviour with a number.
macro_rules! number {
    ($field:ident, $min:literal ..= $max:literal, $meaning:literal, $changed:literal) => {
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

/// All behaviours, in the order in which they are printed.
pub const BEHAVIOURS: &[Behaviour] = &[
    number!(
        hz,
        24..=1000,
        "ticks a second: what a timer counts in (CONFIG_HZ)",
        "the distribution's choice: Debian 250, RHEL 1000"
    ),
    choice!(
        quickack_accounting: QuickackAccounting,
        "cost of an ACK in quick-ACK credits: the wire packets of the segment that carries it, or one per ACK of new data",
        "059217c18be6, 6.6; 6.1.57"
    ),
    choice!(
        ack_push_rule: AckPushRule,
        "segments after which the next read sends an ACK: only those shorter than rcv_mss, or also those with PSH that are exactly as long",
        "4720852ed9af, 6.6; 6.1.57"
    ),
    choice!(
        rto_estimator: RtoEstimator,
        "estimator of the retransmission timeout: Linux's, or RFC 6298 2.3 as written",
        "none: the patch of June 2016 was not taken"
    ),
    choice!(
        rto_floor: RtoFloor,
        "what the least timeout bounds: four times the deviation, to which the round-trip time is added, or the timeout itself",
        "none: the patch of June 2016 was not taken"
    ),
    number!(
        rto_floor_ms,
        0..=120_000,
        "least timeout of the estimator in milliseconds; 0: the route's or the sysctl's",
        "none: the floor is tcp_rto_min()'s"
    ),
    choice!(
        tlp_rule: TlpRule,
        "when a tail loss probe is sent: after two round trips; with one segment out not before 1.5 round trips plus 200 ms (`delack-max`), or after two round trips plus the least timeout (`rto-min`)",
        "bb4d991a28cc, 4.14"
    ),
    choice!(
        tlp_rto_cap: bool,
        "whether a probe is sent in place of a retransmission timeout that would come earlier; off: the timeout fires",
        "none: to ask what the probe's tie to the timeout does"
    ),
    choice!(
        early_retransmit: bool,
        "whether a window of fewer than four segments recovers with fewer than three duplicates, at once or after a quarter of a round trip (net.ipv4.tcp_early_retrans 1, 2 and 3; RFC 5827)",
        "gone by bec41a11dd3d, 4.11 (the release from memory)"
    ),
    choice!(
        forward_retransmit: bool,
        "whether recovery sends again what is not known to be lost, below the highest SACKed segment, when no new data can go (RFC 6675's NextSeg rule 3)",
        "gone by 840a3cbe8969, 4.11 (from memory)"
    ),
    choice!(
        ack_engine: AckEngine,
        "rule for immediate ACKs: Linux's credits and estimates, or every second segment with a 40 ms timer",
        "FreeBSD r360010 for the 40 ms"
    ),
    number!(
        delack_ms,
        0..=500,
        "how long an ACK waits for the second segment where every second one is ACKed, in milliseconds; 0: 40",
        "FreeBSD's net.inet.tcp.delacktime; Windows' TcpDelAckTicks"
    ),
    choice!(
        pingpong_rule: PingpongRule,
        "replies that count towards the interactive mode: each segment, or only the first after received data",
        "4a41f453bedf, 5.1; back by 4d8f24eeedc5, 6.0 and stable kernels"
    ),
    number!(
        pingpong_threshold,
        1..=255,
        "number of such replies that start the interactive mode (since 6.7 also net.ipv4.tcp_pingpong_thresh)",
        "3 by 4a41f453bedf, 5.1; 1 by 4d8f24eeedc5, 6.0 and stable kernels"
    ),
    choice!(
        compressed_sack: CompressedSack,
        "ACKs of out-of-order data that are compressed",
        "5d9f4262b7ea, 4.18; 86de5921a3d5, 4.20"
    ),
    number!(
        comp_sack_rtt_percent,
        0..=1000,
        "how long such ACKs wait at most, in percent of the round-trip time; 0: 5, since 6.19 net.ipv4.tcp_comp_sack_rtt_percent",
        "33 by 416dd649f3aa, 6.19 (the release from memory)"
    ),
    choice!(
        comp_sack_reads_clock: bool,
        "whether an ACK that leaves when that time is over has a time stamp of that moment; off: that of the last segment",
        "between 6.12.118 and 7.2.13 (read in the sources; the commit is not known)"
    ),
    choice!(
        delack_sends_sack: bool,
        "whether the delayed-ACK timer, also one whose ACK has left, sends a SACK that was held back",
        "30c6f0bf9579, 6.4; before 6.1.56"
    ),
    choice!(
        repair_ack: bool,
        "whether the segment that fills the last hole, and one with CWR, is ACKed at once, whatever the mode",
        "15bdd5686c1e and 9aee40006190, 4.19"
    ),
    choice!(
        rcvbuf_fixup: bool,
        "whether the receive buffer of a new connection is raised to hold four initial windows of 20 segments, of which the first is offered",
        "gone by a337531b942b, 4.20 and 4.19.9"
    ),
    choice!(
        syn_queue_at_backlog: bool,
        "whether a listener's SYN queue is full with as many requests as its backlog, or only with one more",
        "3479c7549fb1, 6.13; 6.12.10, 6.6.72 and 6.1.125 (the last but one from memory)"
    ),
    choice!(
        rcv_mss_of_ofo: bool,
        "whether out-of-order segments count for the receiver's guess of the segment size (tcp_measure_rcv_mss())",
        "38d7e4443365, 6.17; before 6.12.118"
    ),
    choice!(
        tunes_without_queue: bool,
        "whether auto-tuning of the receive buffer takes what still waits to be read from what was read in a round trip",
        "ea33537d8292, 6.16; before 6.12.118"
    ),
    choice!(
        prr_waits_for_retransmission: bool,
        "whether proportional rate reduction makes up for what it did not send only when a retransmission was ACKed; off: unless more is lost",
        "off by 9ad084d66619, 6.0"
    ),
    choice!(
        hystart_rounds_from_16: bool,
        "whether HyStart begins a new round only with a window of 16 segments or more",
        "off by 25c1a9ca53db, 6.14; stable kernels from 6.1 on"
    ),
    choice!(
        takes_crossed_synack: bool,
        "whether the SYN-ACK of crossed SYNs ends the handshake; off: it is challenged, and the ACK ends it",
        "23e89e8ee7be, 6.12; stable kernels from 6.1 on"
    ),
    choice!(
        user_timeout_in_jiffies: bool,
        "whether retransmissions into a closed window end when as many jiffies are over as TCP_USER_TIMEOUT has milliseconds; off: milliseconds",
        "614e8316aa4c, 6.7"
    ),
    choice!(
        delack_below_rto_min: bool,
        "whether an ACK is delayed at most by the least retransmission timeout less a tick",
        "bbf80d713fe7, 6.7"
    ),
    choice!(
        ato_has_8_bits: bool,
        "whether the estimate of the time between segments is at most 200 ms, in a field of 8 bits (which makes a gap without a beginning, after crossed SYNs, a short one until 300 s after the boot)",
        "95b9a87c6a6b, 6.7"
    ),
    choice!(
        takes_zero_window: bool,
        "whether a window of 0 counts that comes with the segment that set the last one",
        "800a666141de, 6.6"
    ),
    choice!(
        full_memory_closes_window: bool,
        "whether the receiver without memory ACKs at once with a window of 0",
        "e2142825c120, 6.6"
    ),
    choice!(
        takes_bare_fin: bool,
        "whether a FIN without data is taken when the window is closed",
        "2bd99aef1b19, 6.10"
    ),
    choice!(
        prunes_above_only: bool,
        "whether a full receive buffer drops only out-of-order segments above the one that arrives",
        "b0e01253a764, 6.2"
    ),
    choice!(
        syn_before_paws: bool,
        "whether a SYN on an open connection is challenged also where PAWS would refuse it",
        "ee05d90d0ac7, 6.4"
    ),
    choice!(
        long_replay_window: bool,
        "whether overtaken ACKs may be older than PAWS allows by 1.2 timeouts; off: by 1.024",
        "9c25aae0132b, 6.7"
    ),
    choice!(
        rehash_by_label: bool,
        "whether the receiver of data that it has changes its flow label only when theirs changed; off: when the same data came twice, over IPv4 too",
        "939463016b7a, 6.7"
    ),
    choice!(
        syn_data_beyond_page: bool,
        "whether a SYN with data may carry as much as a segment; off: at most 3,520 bytes",
        "fbf934068f6b, 6.5"
    ),
    choice!(
        whole_first_window: bool,
        "whether the window that a connection begins with may be more than 65,535 bytes",
        "378979e94e95, 6.10"
    ),
    choice!(
        tap_frames_in_pages: bool,
        "whether the part of a frame beyond a page is in pages of its own, each counted whole",
        "ce7c7fef1473, 6.6"
    ),
    choice!(
        grows_segments: bool,
        "whether a waiting segment that is shorter than what may leave at once takes bytes of the next one",
        "8ee602c63520, 6.10"
    ),
    choice!(
        buffer_growth: BufferGrowth,
        "what auto-tuning of the receive buffer makes room for, beside twice what was read in a round trip and its growth: 16 segments, or what lies out of order (paths shorter than net.ipv4.tcp_rcvbuf_low_rtt grow less, 91e1007ad, 6.19)",
        "c1269d3d12b8, 6.16"
    ),
    choice!(
        rcv_rtt_skips_zero: bool,
        "whether the receiver's round-trip time leaves out echoes of the same millisecond; off: they count as 1 ms",
        "d59fc95be9d0, 6.16; before 6.12.118"
    ),
    choice!(
        rcv_rtt_of_empty_queue: bool,
        "whether the receiver's round-trip time leaves out longer samples while data wait to be read",
        "a00f135cd986, 6.16"
    ),
    choice!(
        read_keeps_clock: bool,
        "whether auto-tuning of the receive buffer counts a round trip up to the last segment; off: up to the read",
        "between 6.12.118 and 7.2.13 (read in the sources; the commit is not known)"
    ),
    choice!(
        rcvbuf_sets_clamp: bool,
        "whether SO_RCVBUF on an open connection also sets the window clamp",
        "between 6.12.118 and 7.2.13 (read in the sources; the commit is not known)"
    ),
    choice!(
        rack_only: bool,
        "whether losses are found by time alone; off: bit 1 of net.ipv4.tcp_recovery turns to counted duplicates",
        "1c120191dcec, 6.17"
    ),
    choice!(
        challenges_unsent_ack: bool,
        "whether an ACK of data that was not sent gets a challenge ACK; off: it is dropped",
        "42726ec644cb, 2026 (the release is not known)"
    ),
    choice!(
        drops_old_acks: bool,
        "whether an overtaken ACK that PAWS refuses is dropped; off: it gets an ACK",
        "124c4c32e9f3, 6.14"
    ),
    choice!(
        checks_segment_end: bool,
        "whether a segment that ends beyond the window is taken only when no data wait to be read; off: where it begins decides",
        "9ca48d616ed7, 6.17"
    ),
    choice!(
        checks_synack_echo: bool,
        "whether the ACK that ends a handshake must echo a time stamp of a SYN-ACK",
        "between 6.12.118 and 7.2.13 (read in the sources; the commit is not known)"
    ),
    choice!(
        synack_ece_ends: bool,
        "whether a SYN-ACK goes out without ECE after its second timeout",
        "with AccECN, 7.0 (read in the sources of 7.2.13; the commit is not known)"
    ),
    choice!(
        tw_ack_keeps_ecn: bool,
        "whether the ACK of a FIN that comes after the close has the ECN bits of the connection's last segment; off: none",
        "with AccECN, 7.0 (read in the sources of 7.2.13; the commit is not known)"
    ),
    choice!(
        tw_reuse_by_delay: bool,
        "whether net.ipv4.tcp_tw_reuse waits net.ipv4.tcp_tw_reuse_delay after TIME-WAIT began; off: until the next second",
        "ca6a6f93867a, 6.14"
    ),
    choice!(
        fin_beyond_cwnd: bool,
        "whether the last segment with FIN goes out although the congestion window is full",
        "22555032c513, 6.10"
    ),
    choice!(
        resends_syn_data_at_once: bool,
        "whether data of a SYN that the SYN-ACK does not acknowledge are sent again past the congestion control; off: they are marked lost",
        "a7abf3cd76e1, 5.13"
    ),
    choice!(
        rack_counts_every_dsack: bool,
        "whether a DSACK widens RACK's reordering window also before any reordering, and one of a loss probe",
        "a657db0350bb, 5.15"
    ),
    choice!(
        tlp_ends_by_any_dsack: bool,
        "whether any DSACK ends the episode of a loss probe; off: only that of the probe",
        "63f367d9de77, 5.15"
    ),
    choice!(
        clamp_moves_ssthresh: bool,
        "whether TCP_WINDOW_CLAMP on an open connection also moves rcv_ssthresh",
        "3aa7857fe1d7, 5.15; both ways in 6.1.192"
    ),
    choice!(
        old_ack_sets_echo: bool,
        "whether an ACK below SND.UNA may set the time stamp that is echoed (TS.Recent)",
        "between 5.10.262 and 6.1.192 (read in the sources; the commit is not known)"
    ),
    choice!(
        buffers_of_whole_pages: bool,
        "whether a received frame of a page or more counts whole pages in a kernel with SLOB",
        "12d6c1d3a2ad, 6.2; before 6.1.192"
    ),
    choice!(
        keeps_largest_edge: bool,
        "whether data up to the largest window that was ever offered are taken after it was taken back",
        "0e24d17bd966, 7.1 (the release inferred)"
    ),
    choice!(
        advmss_ignores_path: bool,
        "whether the MSS that is offered comes from the MTU of the route or the device; off: from that of the path",
        "between 6.12.118 and 7.2.13 (read in the sources; the commit is not known)"
    ),
    choice!(
        window_share: WindowShare,
        "how much of the receive buffer becomes window: as tcp_adv_win_scale says, or as measured",
        "dfa2f0483360, 6.6"
    ),
    number!(
        rx_truesize,
        0..=65_536,
        "bytes of the receive buffer that each received frame counts for; 0: as few as for a TAP device",
        "the network card's choice: 2304 with buffers of 2 kB"
    ),
    number!(
        tx_header,
        192..=1024,
        "bytes kept free for headers in front of a segment's data in the send queue (MAX_TCP_HEADER)",
        "the configuration's choice: 256 without wireless drivers, 320 in distributions' kernels"
    ),
    number!(
        tx_truesize,
        512..=8192,
        "bytes of the send buffer that a segment without data counts for",
        "the allocator's choice: 832 as large as was asked for (SLOB), 1280 in the next size of kmalloc"
    ),
    choice!(
        caqm_listener_flags: bool,
        "whether one client that asks for CAQM makes the listener assume CAQM for every later client",
        "in openEuler's CAQM; ours differs"
    ),
    choice!(
        caqm_unasked_srv: bool,
        "whether a SYN-ACK offers CAQM to a client that did not ask",
        "in openEuler's CAQM; ours differs"
    ),
    choice!(
        caqm_syn_with_ecn: bool,
        "whether a SYN may ask for CAQM and ECN at once, which is how AccECN asks (RFC 9768)",
        "in openEuler's CAQM; ours differs"
    ),
    choice!(
        caqm_long_frames: bool,
        "whether CAQM does not shorten segments, so frames are 4 bytes longer than the MTU allows",
        "in openEuler's CAQM; ours differs, since its later version the kernel too"
    ),
    choice!(
        caqm_hint_32bit: bool,
        "whether a hint is computed in products of 32 bits, which wrap at windows over 335,544 packets and at alphas over 655",
        "in openEuler's CAQM; ours differs"
    ),
    choice!(
        caqm_counts_all: bool,
        "whether tags count before the segment is checked, also in old duplicates and in data outside the window",
        "in openEuler's CAQM; ours differs"
    ),
    choice!(
        caqm_empty_ack_ends_start: bool,
        "whether an ACK without new data and without feedback also ends slow start",
        "in openEuler's CAQM; ours differs"
    ),
    choice!(
        caqm_start_after_loss: bool,
        "whether slow start continues after a loss; without a switch that refuses, it never ends",
        "in openEuler's CAQM; ours differs"
    ),
    choice!(
        caqm_never_restarts: bool,
        "whether slow start is not resumed after a timeout, or after ten round trips without sending",
        "in openEuler's CAQM; ours differs"
    ),
    choice!(
        caqm_feedback_waits: bool,
        "whether feedback waits for the next regular ACK, which can take long (data both ways, or a window of one packet and a delayed ACK)",
        "in openEuler's CAQM; ours differs"
    ),
    choice!(
        caqm_child_loses_ecn: bool,
        "whether a host with CAQM enabled forgets that an accepted connection agreed on ECN, so it never echoes a mark",
        "in openEuler's CAQM; ours differs"
    ),
    choice!(
        caqm_start_after_close: bool,
        "whether slow start continues after the close, because only an ACK without a grant in ESTABLISHED ends it",
        "in openEuler's CAQM; ours differs"
    ),
    choice!(
        caqm_foreign_type_counts: bool,
        "whether a tag of another cc_type counts as a tag without a grant: in an ACK it ends slow start",
        "in openEuler's CAQM; ours differs"
    ),
];

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

    /// What a host of an experiment has: this profile, or the one that it names, with its own behaviours.
    ///
    /// # Errors
    /// A profile, behaviour or value that there is not: the point was not made from a checked file.
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
