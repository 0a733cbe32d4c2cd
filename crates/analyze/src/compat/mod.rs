//! Wireshark's verdicts (`tcp.analysis.*`), frame by frame, as tshark 4.0.17 gives them.
//!
//! These are not our own opinion: [`crate::report`] counts retransmissions by kind with better
//! evidence. Here the aim is to say exactly what Wireshark says, so that a reader can put both side
//! by side and filter the same frames. The rules describe the behaviour of `dissect_tcp()` and
//! `tcp_analyze_sequence_number()` in Wireshark 4.0.17, in our own code. Oddities of Wireshark are
//! kept: 0 stands for "not known yet", and a counter of -1 counts as large. Left out: bytes in
//! flight and the tables of RTT samples.
//!
//! The verdicts of a connection depend on its packets in the order of the file and on nothing
//! else, so a [`Compat`] is small and allocates nothing.

mod flow;
mod steady;
mod verdicts;

use tcplab_base::{Instant, Seq};
use tcplab_wire::{Standing, TcpFlags, TcpPacket};

use flow::{Context, Flow, Scale, Segment};
pub use verdicts::Verdicts;

/// Below this many bytes Wireshark calls a TCP header bogus and stops reading it.
const MIN_HEADER: usize = 20;

/// State of one connection, both directions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Compat {
    a: Flow,
    b: Flow,
    /// Time of the last SYN without ACK; 0 before the first one, or when its time really is 0.
    syn_time_ns: i64,
    /// From that SYN to the first packet with ACK and without SYN, of either side; 0 as above.
    first_rtt_ns: i64,
    /// The connection replaced an older one of the same addresses and ports.
    reused: bool,
    /// Kinds of Multipath TCP options seen in either direction, as in [`tcplab_wire::TcpOptions::mptcp`].
    mptcp: u8,
}

impl Compat {
    /// State for a connection that begins. `reused`: its first packet is one that [`Compat::reuses`] spoke of, and
    /// gets [`Verdicts::REUSED_PORTS`].
    pub fn new(reused: bool) -> Self {
        let flow = || Flow {
            window: u32::MAX,
            ..Flow::default()
        };
        Self {
            a: flow(),
            b: flow(),
            reused,
            ..Self::default()
        }
    }

    /// Whether `p` starts a new stream on the same addresses and ports: a SYN without ACK whose sequence number
    /// differs from this direction's first.
    ///
    /// Wireshark starts a stream when no conversation of the address and port pairs exists, or when the youngest
    /// conversation meets this condition. FIN, RST and pauses do not end a stream. Direction a is the sender with the
    /// higher address, then the higher port; any other fixed order would do. When addresses and ports are both equal,
    /// every packet has the same direction.
    #[inline]
    pub fn reuses(&self, from_a: bool, p: &TcpPacket) -> bool {
        if !p.flags.has(TcpFlags::SYN) || p.flags.has(TcpFlags::ACK) {
            return false;
        }
        let flow = if from_a { &self.a } else { &self.b };
        flow.base_seq.is_some_and(|base| base != p.seq)
    }

    /// Takes the next packet of the connection. `from_a` tells its direction, `number` is the
    /// frame's number in the file.
    ///
    /// Packets that are not [`Standing::Whole`] belong here too: Wireshark gives them to a stream and
    /// remembers their SYN, but judges only what has a length, and shows no verdict where it gave
    /// up before the end of the header.
    #[inline]
    pub fn packet(&mut self, time: Instant, number: u64, from_a: bool, p: &TcpPacket) -> Verdicts {
        #[cfg(debug_assertions)]
        let mut by_rules = self.clone();
        if self.goes_on(time, number, from_a, p) {
            #[cfg(debug_assertions)]
            {
                let verdicts = by_rules.by_rules(time, number, from_a, p);
                assert_eq!(
                    (verdicts, &by_rules),
                    (Verdicts::default(), &*self),
                    "{p:?}"
                );
            }
            return Verdicts::default();
        }
        self.by_rules(time, number, from_a, p)
    }

    /// The same for a packet of which the rules have to be asked.
    #[inline(never)]
    fn by_rules(&mut self, time: Instant, number: u64, from_a: bool, p: &TcpPacket) -> Verdicts {
        let mut verdicts = self.begin(from_a, p);
        if p.standing.has_length() {
            let context = Context {
                first_rtt_ns: self.first_rtt_ns,
                mptcp: self.mptcp,
            };
            let (fwd, rev) = self.flows(from_a);
            if fwd.base_seq.is_none() {
                let syn = u32::from(p.flags.has(TcpFlags::SYN));
                fwd.base_seq = Some(p.seq - (1 - syn));
            }
            if rev.base_seq.is_none() && p.flags.has(TcpFlags::ACK) {
                rev.base_seq = Some(p.ack - 1);
            }
            let segment = Segment::new(time, number, p, context);
            verdicts.0 = segment.judge(fwd, rev, verdicts.0);
        }
        if usize::from(p.header_len) < MIN_HEADER {
            return Verdicts::default();
        }
        self.note_handshake(time, from_a, p);
        if self.note_options(from_a, p) {
            verdicts
        } else {
            Verdicts::default()
        }
    }

    /// Sender's and receiver's side.
    #[inline]
    fn flows(&mut self, from_a: bool) -> (&mut Flow, &mut Flow) {
        if from_a {
            (&mut self.a, &mut self.b)
        } else {
            (&mut self.b, &mut self.a)
        }
    }

    /// Which duplicate of the same ACK the packet just taken was, from 1, and the frame number of
    /// the ACK that it repeats. Meaningful after [`Verdicts::DUPLICATE_ACK`].
    pub fn duplicate_ack(&self, from_a: bool) -> (u32, u64) {
        let flow = if from_a { &self.a } else { &self.b };
        (flow.dup_acks, u64::from(flow.last_new_ack))
    }

    /// What a SYN does before it is judged.
    #[inline]
    fn begin(&mut self, from_a: bool, p: &TcpPacket) -> Verdicts {
        let mut verdicts = Verdicts::default();
        if !p.flags.has(TcpFlags::SYN) {
            self.reused = false;
            return verdicts;
        }
        let fwd = if from_a { &mut self.a } else { &mut self.b };
        if std::mem::take(&mut self.reused) {
            verdicts.0 |= Verdicts::REUSED_PORTS;
        }
        let same = fwd.base_seq.map(|base| base == p.seq);
        if p.flags.has(TcpFlags::ACK) {
            // Another SYN-ACK moves the origin, in the same stream.
            if same == Some(false) {
                fwd.base_seq = Some(p.seq);
                verdicts.0 |= Verdicts::REUSED_PORTS;
            }
        } else if same == Some(true) {
            // A RST that took its number from the peer's ACK may have moved it too far.
            fwd.next_seq = fwd.contiguous;
        }
        verdicts
    }

    /// Remembers the times and flags of the handshake.
    #[inline]
    fn note_handshake(&mut self, time: Instant, from_a: bool, p: &TcpPacket) {
        let fwd = if from_a { &mut self.a } else { &mut self.b };
        let (syn, ack) = (p.flags.has(TcpFlags::SYN), p.flags.has(TcpFlags::ACK));
        if syn {
            fwd.unscaled = true;
            if !ack {
                self.syn_time_ns = time.as_nanos();
            }
        } else if ack {
            fwd.unscaled = false;
            if self.first_rtt_ns == 0 && self.syn_time_ns != 0 {
                self.first_rtt_ns = time.as_nanos().saturating_sub(self.syn_time_ns);
            }
        }
    }

    /// Remembers the window scale. False when the options end with the capture: Wireshark gives
    /// up in the middle of such a packet and shows no verdict.
    #[inline]
    fn note_options(&mut self, from_a: bool, p: &TcpPacket) -> bool {
        let (fwd, _) = self.flows(from_a);
        if let Some(shift) = p.options.window_scale {
            fwd.scale = Scale::Shift(shift.min(14));
        }
        let cut = p.header_truncated && !p.options.malformed;
        if cut || p.standing == Standing::ShortSegment {
            return false;
        }
        self.mptcp |= p.options.mptcp;
        let (fwd, rev) = self.flows(from_a);
        if p.flags.has(TcpFlags::SYN) {
            if fwd.scale == Scale::Unknown {
                (fwd.scale, rev.scale) = (Scale::None, Scale::None);
            } else if p.flags.has(TcpFlags::ACK) && rev.scale == Scale::None {
                fwd.scale = Scale::None;
            }
        }
        true
    }

    /// The sequence number that relative numbers of a direction count from, when known.
    pub fn base_seq(&self, from_a: bool) -> Option<Seq> {
        if from_a {
            self.a.base_seq
        } else {
            self.b.base_seq
        }
    }
}
