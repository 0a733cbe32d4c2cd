//! CAQM's tags of one side, and the negotiation (reserved bits of the TCP header).
//!
//! openEuler: `caqm_rcv_hdr()`'s arithmetic is [`CaqmInfo::value`]; the bits are those of its `tcp_caqm.h`: 0x01 of byte 12
//! in the SYN (CLI), 0x02 in the SYN-ACK (SRV). The first was NS and is AE of Accurate ECN (RFC 9768 3.1) now, so it counts
//! only without ECE and CWR.

use tcplab_wire::{CaqmInfo, CaqmUnits, TcpFlags, TcpPacket};

use crate::report::{CaqmOffer, CaqmTags};

/// MTUs whose frames are looked at: a full packet and 4 bytes of tag are longer than the frame should be.
const MTUS: [u32; 2] = [1500, 9000];
/// Bytes of the tag and its EtherType.
const TAG: u32 = 4;

/// The tags of one side.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tags {
    /// Packets with a tag, those too that were captured twice or that an ICMP error quotes.
    pub packets: u32,
    pub seen: CaqmTags,
    /// Window that the requests are worth to the side that gets them, as they passed the capture point; bytes.
    pub worth: i64,
    /// The same when the other side last told what it got.
    pub worth_told: i64,
    /// Bytes of window that the boldest request asks for.
    pub boldest: u64,
    /// Hint of the last feedback: 255 says that more may wait.
    pub last_hint: u8,
    /// Frame numbers of the first packet of each kind; 0 without one.
    pub first: First,
}

/// Frame numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct First {
    pub answer: u64,
    pub tag: u64,
    pub on_syn: u64,
    pub not_granted: u64,
    pub contradictory: u64,
    pub oversize: u64,
}

impl Tags {
    /// Takes the number of a SYN-ACK that has to do with CAQM.
    pub(crate) fn answer(&mut self, number: u64) {
        note(&mut self.first.answer, number);
    }

    /// Takes the tag of a packet.
    pub(crate) fn take(&mut self, number: u64, p: &TcpPacket, info: CaqmInfo, units: &CaqmUnits) {
        note(&mut self.first.tag, number);
        if p.flags.has(TcpFlags::SYN) {
            self.seen.on_syn += 1;
            note(&mut self.first.on_syn, number);
        }
        if is_oversize(p) {
            self.seen.oversize += 1;
            note(&mut self.first.oversize, number);
        }
        if info.cc_type() != units.cc_type {
            self.seen.foreign += 1;
            return;
        }
        self.seen.last_hop += u64::from(info.has(CaqmInfo::LAST_HOP));
        if info.is_data() {
            self.request(number, info, units);
        } else {
            self.seen.feedback += 1;
            self.last_hint = info.hint();
            let value = info.value(units);
            let sum = match value < 0 {
                true => &mut self.seen.feedback_minus_bytes,
                false => &mut self.seen.feedback_plus_bytes,
            };
            *sum += value.unsigned_abs();
        }
    }

    fn request(&mut self, number: u64, info: CaqmInfo, units: &CaqmUnits) {
        let seen = &mut self.seen;
        let value = info.value(units);
        self.worth = self.worth.saturating_add(value);
        seen.requests += 1;
        let asked = u64::from(info.hint()) * u64::from(units.data_hint_unit);
        seen.asked_bytes += asked;
        self.boldest = self.boldest.max(asked);
        match (info.has(CaqmInfo::C), info.has(CaqmInfo::I)) {
            (false, true) => {
                seen.granted += 1;
                seen.granted_bytes += value.unsigned_abs();
                return;
            }
            (false, false) => seen.refused += 1,
            (true, false) => {
                seen.marked += 1;
                seen.taken_bytes += value.unsigned_abs();
            }
            (true, true) => {
                seen.contradictory += 1;
                note(&mut self.first.contradictory, number);
            }
        }
        note(&mut self.first.not_granted, number);
    }
}

fn note(first: &mut u64, number: u64) {
    if *first == 0 {
        *first = number;
    }
}

/// Whether the packet fits an ordinary MTU only without the tag.
fn is_oversize(p: &TcpPacket) -> bool {
    let ip = if p.src.ip.is_ipv6() { 40 } else { 20 };
    let packet = p.payload_len.saturating_add(u32::from(p.header_len) + ip);
    MTUS.iter()
        .any(|mtu| packet <= *mtu && packet.saturating_add(TAG) > *mtu)
}

/// What SYN and SYN-ACK said, as bits.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Offer(u8);

impl Offer {
    /// The SYN asks.
    const CLI: u8 = 1;
    /// The SYN-ACK agrees.
    const SRV: u8 = 2;
    /// The SYN has the bit, but with ECE or CWR.
    const ACCECN: u8 = 4;
    /// The SYN-ACK answers Accurate ECN.
    const ACCECN_ANSWER: u8 = 8;
    /// In the SYN-ACK.
    const SRV_FLAG: u16 = 0x200;

    /// Takes a SYN or SYN-ACK; the last one of each counts.
    pub(crate) fn take(&mut self, flags: TcpFlags) {
        let has_ecn = flags.has(TcpFlags::ECE | TcpFlags::CWR);
        if flags.has(TcpFlags::ACK) {
            self.put(Self::SRV, flags.has(Self::SRV_FLAG));
            // RFC 9768 table 2: the answers to an AccECN SYN; without ECE and CWR, AE stands alone.
            let answers = flags.has(TcpFlags::AE | TcpFlags::CWR) && !flags.has(Self::SRV_FLAG);
            self.put(Self::ACCECN_ANSWER, answers);
        } else {
            self.put(Self::CLI, flags.has(TcpFlags::AE) && !has_ecn);
            self.put(Self::ACCECN, flags.has(TcpFlags::AE) && has_ecn);
        }
    }

    fn put(&mut self, bit: u8, on: bool) {
        self.0 = self.0 & !bit | if on { bit } else { 0 };
    }

    fn has(self, bit: u8) -> bool {
        self.0 & bit != 0
    }

    /// Both sides agreed.
    pub(crate) fn is_negotiated(self) -> bool {
        self.has(Self::CLI) && self.has(Self::SRV)
    }

    /// The SYN-ACK has to do with CAQM.
    pub(crate) fn is_answered(self) -> bool {
        self.has(Self::SRV) || self.took_caqm_for_accecn()
    }

    /// A server agreed to a SYN that asked for Accurate ECN.
    pub(crate) fn took_accecn_for_caqm(self) -> bool {
        self.has(Self::ACCECN) && self.has(Self::SRV)
    }

    /// A server answered CAQM's SYN as one of Accurate ECN.
    pub(crate) fn took_caqm_for_accecn(self) -> bool {
        self.has(Self::CLI) && self.has(Self::ACCECN_ANSWER)
    }

    /// For the report; `None` if neither end spoke of CAQM.
    pub(crate) fn report(self) -> Option<CaqmOffer> {
        match (self.has(Self::CLI), self.has(Self::SRV)) {
            (true, true) => Some(CaqmOffer::Negotiated),
            (true, false) => Some(CaqmOffer::NotAnswered),
            // A SYN of Accurate ECN is one of Accurate ECN, until somebody agrees to CAQM.
            (false, true) if self.has(Self::ACCECN) => Some(CaqmOffer::Ambiguous),
            (false, true) => Some(CaqmOffer::NotAsked),
            (false, false) => None,
        }
    }
}
