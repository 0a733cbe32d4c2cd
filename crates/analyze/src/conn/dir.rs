//! One side of a connection: what it sent, and how it acknowledges what its peer sent.

use tcplab_base::{Duration, Instant, Samples, Seq};
use tcplab_wire::{Standing, TcpFlags, TcpPacket};

use super::ack::{AckStats, TIMER_US};
use super::ahead::Ahead;
use super::caqm::Tags;
use super::clock::{OneWay, TsClock};
use super::copy::Recent;
use super::data::At;
use super::flight::Flight;
use super::icmp::Icmp;
use super::input::begun_before;
use super::load::Load;
use super::loss::Loss;
use super::moment::Moment;
use super::reset::{Ignored, Reset};
use super::rounds::Rounds;
use super::segment_size::SegmentSize;
use super::window::ZeroWindow;
use crate::compat::Verdicts;

/// State of one side. Kept small: a capture may hold a million open connections.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dir {
    // What it sent.
    pub packets: u32,
    pub data_segments: u32,
    pub data_bytes: u64,
    pub unique_bytes: u64,
    pub max_payload: u32,
    pub max_in_flight: u32,
    /// First-transmitted data segments so far.
    pub ordinal: u32,
    /// Sequence numbers are known (some packet with them was seen).
    pub started: bool,
    /// The peer's ACKs were seen.
    pub acks_seen: bool,
    pub fin_seen: bool,
    pub fin_acked: bool,
    /// TTL or hop limit of its newest packet, RSTs left out, and whether there were others.
    pub ttl: u8,
    pub ttl_varies: bool,
    /// Highest sequence number seen, exclusive.
    pub nxt: Seq,
    /// Highest ACK seen from the peer.
    pub una: Seq,
    /// `nxt` relative to the ISN, without wrap.
    pub nxt_rel: u64,
    pub first_data: Moment,
    pub last_data: Instant,
    /// When its last packet passed.
    pub last_packet: Instant,
    /// When an ACK of the peer last brought news.
    pub progress: Instant,
    /// Newest IP identification (RFC 6864), as far as they count up.
    pub newest_id: u16,
    /// How many steps of one it made in a row. Below 0: how often it jumped instead, as random numbers do, twice, less the
    /// times that it made a few steps.
    pub id_run: i8,
    /// Its last packet, for capture duplicates: see [`mark`].
    pub previous: u64,
    pub flight: Flight,
    // Options of its SYN.
    pub mss: Option<u16>,
    pub window_scale: Option<u8>,
    /// Shift of the windows that it advertises: 0 until both sides have sent the option.
    pub shift: u8,
    pub sack_permitted: bool,
    pub stamps_offered: bool,
    /// The window of its SYN, which is never scaled.
    pub syn_window: u16,
    /// ECN, as RFC 3168 sets it up.
    pub ecn_offered: bool,
    /// It sends time stamps, and the peer's SYN or SYN-ACK did not turn them down.
    pub timestamps: bool,
    /// A packet of it after the SYN had time stamps.
    pub stamps_used: bool,
    // How it receives.
    /// Window it advertises, scaled bytes.
    pub window: u32,
    /// The same before its newest packet.
    pub window_before: u32,
    /// Smallest and largest so far; the smallest is above the largest before the first.
    pub window_range: (u32, u32),
    /// Its guess of the peer's segment size (Linux `rcv_mss`), as far as packets tell.
    pub rcv_mss: u16,
    /// Length of the last short segment (Linux `last_seg_size`): two alike make a new `rcv_mss`.
    pub last_seg_size: u16,
    /// Shortest time from a packet of the peer to this side's answer, microseconds: the path
    /// between the capture and this side and back. `u32::MAX` before the first.
    pub path_us: u32,
    /// How well it is proven that this is the path, up to [`PROVEN`].
    pub path_proofs: u8,
    /// Its SYN was seen with all options.
    pub options_seen: bool,
    /// Largest payload without PSH so far, up to what Ethernet carries: a full segment, if the MSS is not known.
    pub unpushed: u16,
    /// Smoothed RTT of this side's data at the capture point, microseconds.
    pub srtt_us: u32,
    /// How fast its time stamps run.
    pub clock: TsClock,
    /// How long its packets were under way, by its time stamps.
    pub one_way: OneWay,
    /// A TSval of this side that waits for its echo, and when it passed.
    pub echo_tsval: u32,
    pub echo_at: Moment,
    /// It was on a pure ACK: its echo comes when the peer next sends, at once or not.
    pub echo_bare: bool,
    // Rare things, allocated when they happen.
    tally: Option<Box<Tally>>,
    pub acks: Option<AckStats>,
    pub rtt: Option<RttSamples>,
    pub loss: Option<Box<Loss>>,
    pub zero: Option<Box<ZeroWindow>>,
    pub rounds: Option<Box<Rounds>>,
    pub rare: Option<Box<Rare>>,
}

/// Verdicts counted as Wireshark counts, and one that is our own.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    /// Rows of the kind `OutOfOrder`. Wireshark's verdict calls some retransmissions so, and late originals not.
    pub out_of_order: u32,
    pub duplicate_acks: u32,
    pub lost_segments: u32,
    pub zero_windows: u32,
    pub window_updates: u32,
    pub window_full: u32,
}

/// Round trips of one side's data, microseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct RttSamples {
    /// From a segment to its ACK.
    pub by_ack: Samples,
    /// Those of `by_ack` whose ACK was sent at once and for nothing but the data; `None`: all of them.
    pub prompt: Option<Box<Samples>>,
    /// By the echo of a time stamp.
    pub by_ts: Samples,
    /// What the path does under load, of senders of bulk.
    pub load: Option<Box<Load>>,
}

impl RttSamples {
    /// The sender turns out to be one of bulk.
    pub(crate) fn begin(&mut self, us: u32, at: At) {
        let mut load = Box::new(Load::default());
        load.answered.least = self.by_ack.quantiles().min.into();
        load.answered(us, at.now, at.number);
        self.load = Some(load);
    }
}

impl RttSamples {
    /// A sample; `prompt` tells that the ACK neither waited nor rode on data.
    pub(crate) fn by_ack(&mut self, us: u32, prompt: bool) {
        match &mut self.prompt {
            Some(samples) if prompt => samples.push(us),
            None if !prompt => self.prompt = Some(Box::new(self.by_ack.clone())),
            _ => {}
        }
        self.by_ack.push(us);
    }

    /// The samples of ACKs that were sent at once.
    pub(crate) fn prompt(&mut self) -> &mut Samples {
        self.prompt.as_deref_mut().unwrap_or(&mut self.by_ack)
    }
}

/// Counters that most connections never need.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rare {
    pub keep_alives: u32,
    pub zero_window_probes: u32,
    pub dsacks: u32,
    pub ecn_ect: u32,
    pub ecn_ce: u32,
    pub ecn_ece: u32,
    pub ecn_cwr: u32,
    pub caqm_tags: Option<Box<Tags>>,
    pub capture_duplicates: u32,
    /// Packets that came twice and that the receiver got twice (DSACK): doubled by the network.
    pub network_duplicates: u32,
    /// What the receiver got twice (DSACK) though the capture shows it once.
    pub unseen_duplicates: u32,
    /// Frame number of the first DSACK that told of either.
    pub first_doubled: u64,
    /// SACK blocks told of data that the capture had not shown.
    pub sacked_unseen: bool,
    /// It refused the connection.
    pub refuses: bool,
    /// Its first RST, unless the peer ignored it.
    pub reset: Option<Box<Reset>>,
    /// Segments on the wire that its super-segments stand for, one less for each.
    pub joined_segments: u32,
    /// Frame number of the first super-segment.
    pub first_super: u64,
    pub missed: Missed,
    pub truncated: u32,
    pub seldom: Option<Box<Seldom>>,
    /// How often one IP identification was left out: a packet that the capture does not show.
    pub id_gaps: u32,
}

/// What is rare among the rare.
#[derive(Clone, Debug, Default)]
pub(crate) struct Seldom {
    pub unanswered: Option<Unanswered>,
    /// A hole in front of what was not ACKed.
    pub ahead: Option<Ahead>,
    /// What ICMP errors said of its packets.
    pub icmp: Option<Box<Icmp>>,
    /// RSTs in its name that its peer did not take.
    pub ignored: Option<Box<Ignored>>,
    /// Its full segments, where the path carries less than the options allow.
    pub size: SegmentSize,
    /// Frame number of its first SYN, if the file has it behind packets that were sent later; 0: no.
    pub late_syn: u64,
    /// How long the window that it advertised was at most half of the largest one.
    pub low_window: Duration,
    /// When its last data was ACKed, where the ACK of its FIN came later.
    pub data_acked: Moment,
    /// Packets of which the capture has only a part of the first fragment.
    pub cut_fragments: u32,
    /// Its newest packets, where the capture has some twice.
    pub recent: Option<Box<Recent>>,
}

/// Keep-alives since the peer's last packet.
#[derive(Clone, Debug)]
pub(crate) struct Unanswered {
    pub since: Instant,
    pub last: Instant,
    pub count: u32,
    pub packets: Vec<u64>,
}

impl Rare {
    /// Keeps a packet, if copies are expected.
    #[inline]
    pub(super) fn keep_mark(&mut self, mark: u64, now: Instant) {
        let recent = self
            .seldom
            .as_deref_mut()
            .and_then(|s| s.recent.as_deref_mut());
        if let Some(recent) = recent {
            recent.add(mark, now);
        }
    }

    /// A keep-alive passes; the peer's last packet passed at `heard`.
    pub(crate) fn keep_alive(&mut self, heard: Instant, number: u64, now: Instant) {
        self.keep_alives += 1;
        let new = || Unanswered {
            since: now,
            last: now,
            count: 0,
            packets: Vec::new(),
        };
        let seldom = self.seldom.get_or_insert_default();
        let u = seldom.unanswered.get_or_insert_with(new);
        if heard > u.since {
            *u = new();
        }
        u.last = now;
        u.count += 1;
        if u.packets.len() < 8 {
            u.packets.push(number);
        }
    }
}

/// Data that was ACKed though the capture had not shown it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Missed {
    pub bytes: u64,
    from: Seq,
    to: Seq,
    /// When the newest ACK of such data passed.
    pub at: Instant,
}

/// What a capture writes in the wrong order is not further apart; later it was sent again.
const SWAPPED: Duration = Duration::from_millis(20);

impl Missed {
    /// An ACK covers `bytes` that were not seen, `last` is the last stretch of them.
    pub(crate) fn add(&mut self, bytes: u32, last: (Seq, Seq), now: Instant) {
        self.bytes += u64::from(bytes);
        (self.from, self.to, self.at) = (last.0, last.1, now);
    }

    /// Data of the last such range comes after its ACK: the capture swapped them.
    pub(crate) fn turned_up(&mut self, seq: Seq, end: Seq, now: Instant) -> bool {
        let inside = seq == self.from && end.after(seq) && end.at_or_before(self.to);
        let inside = inside && now.since(self.at) <= SWAPPED;
        if inside {
            self.bytes -= u64::from(end - seq);
            self.from = end;
        }
        inside
    }
}

/// Enough of a packet to recognise the same packet captured twice, as 64 bits: two packets that follow each other and
/// differ have the same ones once in 10^19.
#[inline]
pub(crate) fn mark(p: &TcpPacket) -> u64 {
    // Odd numbers without a pattern (of the fraction of pi).
    const KEYS: [u64; 3] = [
        0x243f_6a88_85a3_08d3,
        0x1319_8a2e_0370_7345,
        0xa409_3822_299f_31d1,
    ];
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    };
    let pair = |a: u32, b: u32| u64::from(a) << 32 | u64::from(b);
    let (tsval, tsecr) = p.options.timestamps.unwrap_or_default();
    let small = pair(
        u32::from(p.ip_id.unwrap_or(0)),
        u32::from(p.flags.0) << 16 | u32::from(p.window),
    );
    let mark = fold(pair(p.seq.0, p.ack.0) ^ KEYS[0], small ^ KEYS[1]);
    let mark = fold(
        mark ^ pair(tsval, tsecr),
        u64::from(p.payload_len) ^ KEYS[2],
    );
    match p.options.sack.as_slice().first() {
        Some((left, right)) => fold(mark ^ pair(left.0, right.0), KEYS[0]),
        None => mark,
    }
}

/// Whether `p` is a second capture of the packet `gap` before it, which looks the same. An equal non-zero IP
/// identification proves it within 150 ms; later, a stack that keeps the number may have sent `p` from a timer.
/// Without an identification, only data or a SYN within 100 µs counts. Two SYN-ACKs need `doubled`: the second may
/// come from a timer or answer a second SYN.
pub(crate) fn repeats(p: &TcpPacket, gap: Duration, doubled: bool) -> bool {
    let opens = p.flags.0 & (TcpFlags::SYN | TcpFlags::ACK) == TcpFlags::SYN;
    let close = gap <= Duration::from_micros(100);
    let soon = gap < Duration::from_millis(150);
    (soon && p.ip_id.unwrap_or(0) != 0) || (close && (p.payload_len > 0 || opens || doubled))
}

/// So much proof of a path is enough: the handshake, or two answers that left out what came next.
pub(crate) const PROVEN: u8 = 4;

/// Linux `tcp_initialize_rcv_mss()`: a receiver starts with 536 at most.
pub(super) const RCV_MSS_START: u16 = 536;

impl Dir {
    /// Of which nothing was seen.
    pub(super) fn new() -> Self {
        Self {
            window_range: (u32::MAX, 0),
            rcv_mss: RCV_MSS_START,
            path_us: u32::MAX,
            ..Self::default()
        }
    }

    pub(crate) fn rare(&mut self) -> &mut Rare {
        self.rare.get_or_insert_default()
    }

    /// When the last of its data was ACKed that is.
    pub(crate) fn last_acked(&self) -> Instant {
        let apart = self.seldom().and_then(|s| s.data_acked.get());
        apart.unwrap_or(self.progress)
    }

    /// Packets that the capture has twice.
    pub(crate) fn copies(&self) -> u64 {
        self.rare
            .as_deref()
            .map_or(0, |r| r.capture_duplicates.into())
    }

    /// The same, and those that the network had doubled.
    pub(crate) fn all_copies(&self) -> u64 {
        let doubled = self.rare.as_deref().map_or(0, |r| r.network_duplicates);
        self.copies() + u64::from(doubled)
    }

    /// The capture has copies of one in `part` of its packets, or of more.
    pub(crate) fn has_copies(&self, part: u64) -> bool {
        self.copies() * part >= u64::from(self.packets.max(2))
    }

    /// What is rare among the rare, if anything is.
    pub(crate) fn seldom(&self) -> Option<&Seldom> {
        self.rare.as_deref()?.seldom.as_deref()
    }

    /// The same, to take more in.
    pub(super) fn seldom_mut(&mut self) -> &mut Seldom {
        self.rare().seldom.get_or_insert_default()
    }

    /// The content of its CAQM tags; `None` if it sent none.
    pub(crate) fn caqm(&self) -> Option<&Tags> {
        let tags = self.rare.as_deref()?.caqm_tags.as_deref();
        tags.filter(|tags| tags.first.tag > 0)
    }

    /// Frame number of its first SYN-ACK that answers CAQM's offer, or takes another for it.
    pub(crate) fn caqm_answer(&self) -> u64 {
        let tags = self.rare.as_deref().and_then(|r| r.caqm_tags.as_deref());
        tags.map_or(0, |tags| tags.first.answer)
    }

    /// What the path did under load, if this is a sender of bulk.
    pub(crate) fn load(&self) -> Option<&Load> {
        self.rtt.as_ref()?.load.as_deref()
    }

    /// The same, to take more in.
    #[inline]
    pub(crate) fn load_mut(&mut self) -> Option<&mut Load> {
        self.rtt.as_mut()?.load.as_deref_mut()
    }

    /// Packets that the capture does not show, by gaps of one in the IP identification.
    pub(crate) fn hidden(&self) -> u32 {
        self.rare.as_deref().map_or(0, |r| r.id_gaps)
    }

    pub(crate) fn loss(&mut self) -> &mut Loss {
        self.loss.get_or_insert_default()
    }

    /// Counts what every packet shows.
    pub(super) fn count(&mut self, p: &TcpPacket, verdicts: Verdicts, at: At) {
        self.packets += 1;
        if p.payload_len > 0 && p.standing.has_length() {
            self.data_segments += 1;
            self.data_bytes += u64::from(p.payload_len);
            self.max_payload = self.max_payload.max(p.payload_len);
        }
        if verdicts != Verdicts::default() {
            self.count_verdicts(verdicts);
            if verdicts.has(Verdicts::LOST_SEGMENT) {
                self.ahead(p, at);
            }
        }
        let handshake = p.flags.has(TcpFlags::SYN);
        if p.ecn != 0 || p.encap.caqm.is_some() || p.header_truncated {
            let rare = self.rare();
            rare.ecn_ce += u32::from(p.ecn == 3);
            rare.ecn_ect += u32::from(p.ecn == 1 || p.ecn == 2);
            if p.encap.caqm.is_some() {
                rare.caqm_tags.get_or_insert_default().packets += 1;
            }
            // An ICMP error may quote any length, which says nothing about the capture.
            let is_cut = p.header_truncated && p.standing != Standing::Quoted;
            rare.truncated += u32::from(is_cut);
            // The options that were cut off: on data they are time stamps, mostly (RFC 7323 appendix A: 12 bytes).
            self.timestamps |= p.header_truncated && p.header_len >= 32 && p.payload_len > 0;
        }
        if !handshake && p.flags.has(TcpFlags::ECE | TcpFlags::CWR) {
            let rare = self.rare();
            rare.ecn_ece += u32::from(p.flags.has(TcpFlags::ECE));
            rare.ecn_cwr += u32::from(p.flags.has(TcpFlags::CWR));
        }
    }

    fn count_verdicts(&mut self, v: Verdicts) {
        const COUNTED: u32 = Verdicts::DUPLICATE_ACK
            | Verdicts::LOST_SEGMENT
            | Verdicts::ZERO_WINDOW
            | Verdicts::WINDOW_UPDATE
            | Verdicts::WINDOW_FULL;
        if !v.has(COUNTED) {
            return;
        }
        let one = |flag| u32::from(v.has(flag));
        let tally = self.tally.get_or_insert_default();
        tally.duplicate_acks += one(Verdicts::DUPLICATE_ACK);
        tally.lost_segments += one(Verdicts::LOST_SEGMENT);
        tally.zero_windows += one(Verdicts::ZERO_WINDOW);
        tally.window_updates += one(Verdicts::WINDOW_UPDATE);
        tally.window_full += one(Verdicts::WINDOW_FULL);
    }

    /// A segment was late, not sent again. What an ICMP error quotes is no segment of this place.
    #[cold]
    pub(super) fn count_late(&mut self, p: &TcpPacket) {
        let is_segment = p.standing != Standing::Quoted;
        self.tally.get_or_insert_default().out_of_order += u32::from(is_segment);
    }

    /// The counted verdicts.
    pub(crate) fn tally(&self) -> Tally {
        self.tally.as_deref().copied().unwrap_or_default()
    }

    /// Follows the IP identification: late packets do not turn it back.
    #[inline]
    pub(crate) fn follow_id(&mut self, id: u16) {
        let step = id.wrapping_sub(self.newest_id) as i16;
        if step == 1 {
            self.id_run = self.id_run.max(0).saturating_add(1);
            self.newest_id = id;
            return;
        }
        if step == 2 && self.id_run >= 2 {
            self.rare().id_gaps += 1;
        }
        let jumps = self.id_run.min(0);
        self.id_run = match step {
            _ if id == 0 || self.newest_id == 0 => jumps,
            2..1000 => jumps.saturating_add(1).min(0),
            -1000..2 => jumps,
            _ => jumps.saturating_sub(2),
        };
        if self.newest_id == 0 || !(-1000..0).contains(&step) {
            self.newest_id = id;
        }
    }

    /// The IP identification counts up, as far as the packets show.
    pub(crate) fn counts_ids(&self) -> bool {
        self.id_run > -2
    }

    /// Whether `id` is the next IP identification of this side: no packet was lost before it.
    pub(crate) fn is_next(&self, id: u16) -> bool {
        id != 0 && id == self.newest_id.wrapping_add(1)
    }

    /// Follows the TTL.
    #[inline]
    pub(crate) fn follow_ttl(&mut self, ttl: u8) {
        if self.ttl != ttl {
            self.ttl_varies |= self.ttl != 0;
            self.ttl = ttl;
        }
    }

    /// Learns the options of a SYN or SYN-ACK.
    pub(crate) fn learn_options(&mut self, p: &TcpPacket) {
        self.mss = p.options.mss;
        self.window_scale = p.options.window_scale;
        self.sack_permitted = p.options.sack_permitted;
        self.stamps_offered = p.options.timestamps.is_some();
        self.syn_window = p.window;
        let ecn = p.flags.0 & (TcpFlags::ECE | TcpFlags::CWR | TcpFlags::AE);
        self.ecn_offered = ecn
            == if p.flags.has(TcpFlags::ACK) {
                TcpFlags::ECE
            } else {
                TcpFlags::ECE | TcpFlags::CWR
            };
        self.options_seen = !p.header_truncated || p.options.window_scale.is_some();
    }

    /// Relative sequence number without wrap.
    pub(crate) fn relative(&self, seq: Seq) -> u64 {
        self.nxt_rel
            .saturating_add_signed(i64::from(seq.distance(self.nxt)))
    }

    /// Data segments that it put on the wire: a super-segment is cut into full ones behind the capture, or was joined
    /// before it.
    pub(crate) fn wire_segments(&self) -> u64 {
        let joined = self.rare.as_deref().map_or(0, |r| r.joined_segments);
        u64::from(self.data_segments) + u64::from(joined)
    }

    /// Moves `nxt` forward to `end`.
    pub(crate) fn advance(&mut self, end: Seq) {
        self.nxt_rel += u64::from(end - self.nxt);
        self.nxt = end;
    }

    /// Largest payload that one packet of this side can have on the wire, towards a peer with `peer_mss`: by the options, or
    /// less where its packets show that the path carries less.
    pub(crate) fn wire_mss(&self, peer_mss: Option<u16>) -> Option<u32> {
        let most = self.mss_bound(peer_mss)?;
        Some(self.found_size().map_or(most, |found| found.min(most)))
    }

    /// [`Dir::path_us`], 0 while it is not known.
    pub(crate) fn path_or_zero(&self) -> u32 {
        if self.path_us == u32::MAX {
            0
        } else {
            self.path_us
        }
    }

    /// Waits for the echo of a TSval: of new data, and of ACKs where no handshake tells the path to `peer`.
    pub(crate) fn await_echo(&mut self, tsval: u32, data: bool, peer: &Self, now: Instant) {
        let untold = begun_before(self) || !peer.knows_path();
        let bare = !data && untold && tsval != self.echo_tsval;
        if data || bare {
            self.echo_tsval = tsval;
            self.echo_at.set(now);
            self.echo_bare = bare;
        }
    }

    /// This side sends data without a pause (`gap` after the last) and echoed an ACK after `us`. One packet earlier it
    /// did not have the ACK, so the path is about this long.
    pub(crate) fn echoed_after(&mut self, us: u32, gap: Duration) {
        let dense = gap.as_micros() < i64::from(us / 4);
        if !dense || self.knows_path() {
            return;
        }
        if self.path_us == u32::MAX || us.saturating_add(TIMER_US) <= self.path_us {
            self.answered_after(us);
        }
        if us / 4 * 3 <= self.path_us {
            self.prove_path(1);
        }
    }

    /// SACK was permitted, or nobody saw whether: stacks do.
    pub(crate) fn may_sack(&self) -> bool {
        self.sack_permitted || !self.options_seen
    }

    /// Whether [`Dir::path_us`] is the path and no wait of a timer: shorter than any, or proven.
    pub(crate) fn knows_path(&self) -> bool {
        self.path_us < TIMER_US || (self.path_us != u32::MAX && self.path_proofs >= PROVEN)
    }

    /// This side answered a packet of its peer after `us` microseconds: the path is not longer.
    pub(crate) fn answered_after(&mut self, us: u32) {
        if us < self.path_us {
            if us.saturating_add(TIMER_US) <= self.path_us {
                self.path_proofs = 0;
            }
            self.path_us = us;
        }
    }

    /// An answer shows that no timer made [`Dir::path_us`] what it is. One may be wrong: a packet may be lost.
    pub(crate) fn prove_path(&mut self, weight: u8) {
        self.path_proofs = self.path_proofs.saturating_add(weight).min(PROVEN);
    }

    /// Largest payload of one packet on the wire towards `peer`. If no MSS option was seen: the largest segment
    /// without PSH (more data followed, so it was full), or Ethernet's.
    pub(crate) fn full_payload(&self, peer_mss: Option<u16>) -> u32 {
        let guess = || match self.unpushed {
            536.. => u32::from(self.unpushed),
            _ => self.wire_mss(Some(1460)).unwrap_or(1460),
        };
        self.wire_mss(peer_mss).unwrap_or_else(guess)
    }
}
