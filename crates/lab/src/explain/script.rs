//! What one receiver of a captured connection was given and did: the input of a replay, and the ACKs to compare with.
//!
//! Times count from the capture's clock. A segment arrives when it was captured. The receiver's actions are moved
//! back by the path from the capture to the receiver and back (`gap`): 20 microseconds for a capture at the
//! receiver, the round-trip time for one at the sender.

use schemars::JsonSchema;
use serde::Serialize;
use tcplab_base::Seq;
use tcplab_plan::point::Ip;
use tcplab_wire::TcpFlags;

use super::gather::{Packet, Stream};

/// Packets of one receiver that are replayed at most: bounds time.
const MOST_EVENTS: usize = 50_000;

/// A copy comes within so many packets.
const COPY_REACH: usize = 16;

/// Why a receiver cannot be replayed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// The capture begins in the middle of the connection, or the handshake is not whole.
    Handshake,
    /// Its data, or its own packets, are not in the capture.
    Direction,
    /// Some packets were cut before the end of their TCP header.
    Headers,
    /// Packets are in the file twice.
    Copies,
    /// The SYN-ACK was sent again.
    SynAck,
    /// ACKs were lost between it and the capture.
    AcksLost,
    /// Nobody sent it data.
    Data,
    /// It sent no ACK of new data.
    Acks,
    /// The capture has too many connections to play all.
    Many,
    /// The model did not open the connection.
    Model,
}

impl Lack {
    /// For a person.
    pub fn text(self) -> &'static str {
        match self {
            Self::Handshake => {
                "the capture lacks the handshake, which shows options, first windows and the receiver's initial state: capture from the start of the connection"
            }
            Self::Direction => {
                "only one direction was captured: both the data and the ACKs are needed"
            }
            Self::Headers => {
                "packets were cut before the end of their TCP header, and options with them: capture 128 bytes or more of each packet (tcpdump -s 128)"
            }
            Self::Copies => {
                "packets were captured twice, so nobody knows how many ACKs it sent: remove the copies (editcap -d), or capture on one interface"
            }
            Self::SynAck => {
                "the SYN-ACK was sent again, and the capture does not show which one began the connection"
            }
            Self::AcksLost => {
                "some of its ACKs were lost before the capture: D-SACKs or time stamps show that it had received data that was sent again. Capture at this end"
            }
            Self::Data => "it received no data",
            Self::Many => {
                "skipped: only the 500 connections with the most packets are played; select this one with --stream"
            }
            Self::Acks => "the capture contains no ACK of new data from it",
            Self::Model => "the model rejected the captured handshake",
        }
    }
}

/// Something that happens to the receiver.
#[derive(Clone, Copy, Debug)]
pub(super) enum What {
    /// A segment of the peer.
    Arrives(Packet),
    /// Its application writes these bytes.
    Writes(u32),
    /// Its application has no more to send.
    Finishes,
}

/// An event with its time in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    pub(super) at: i64,
    pub(super) what: What,
}

/// An ACK of new data, or one with SACK blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// When it left, in the receiver's time (nanoseconds).
    pub(super) at: i64,
    pub(super) ack: Seq,
    /// The first SACK block.
    pub(super) sack: Option<(Seq, Seq)>,
    /// Frame number; 0 for a predicted one.
    pub(super) frame: u64,
    /// Since the last data packet that it covers.
    pub(super) wait: i64,
}

/// The reserved bits with which a SYN asks for CAQM and a SYN-ACK agrees (docs/caqm.md).
const ASKS: u16 = 0x100;
const AGREES: u16 = 0x200;

/// Tags of a connection whose ends agreed on CAQM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Tags {
    /// Tagged frames of the receiver. 0: its `sysctl_caqm_filter_nics` lets none out.
    pub receiver: usize,
    /// Tagged frames of the sender.
    pub sender: usize,
}

impl Tags {
    fn of(syn: &Packet, syn_ack: &Packet, all: &[Packet], side: usize) -> Option<Self> {
        // Beside ECE and CWR the bit of the SYN is AccECN's.
        let ecn = syn.flags.has(TcpFlags::ECE) || syn.flags.has(TcpFlags::CWR);
        let agreed = syn.flags.has(ASKS) && syn_ack.flags.has(AGREES) && !ecn;
        let tagged = |mine: bool| {
            let of = all.iter().filter(|p| (p.from == side) == mine);
            of.filter(|p| p.caqm.is_some()).count()
        };
        agreed.then(|| Self {
            receiver: tagged(true),
            sender: tagged(false),
        })
    }
}

/// All about one receiver.
#[derive(Debug)]
pub(super) struct Script {
    /// The receiver opened the connection.
    pub(super) is_client: bool,
    /// The internet protocol of its packets.
    pub(super) ip: Ip,
    pub(super) syn: Packet,
    pub(super) syn_ack: Packet,
    /// The receiver's time of the first packet.
    pub(super) start: i64,
    pub(super) events: Vec<Event>,
    pub(super) acks: Vec<Ack>,
    /// From the capture to the receiver and back, its own work included (nanoseconds).
    pub(super) gap: i64,
    /// How much later than that an ACK comes that nothing held (nanoseconds).
    pub(super) noise: i64,
    /// Segments that were captured before they were lost.
    pub(super) lost: usize,
    /// CAQM, where the handshake agrees on it.
    pub(super) caqm: Option<Tags>,
    /// The script ends before the capture does.
    pub(super) cut: bool,
}

impl Script {
    /// The script of the receiver `side` (0: the client).
    pub(super) fn of(stream: &Stream, side: usize) -> Result<Self, Lack> {
        let all = &stream.packets;
        if !all.iter().any(|p| p.from == side) || all.iter().all(|p| p.from == side) {
            return Err(Lack::Direction);
        }
        let (syn, syn_ack, last) = handshake(all).ok_or(Lack::Handshake)?;
        if !all.iter().any(|p| p.from != side && p.len > 0) {
            return Err(Lack::Data);
        }
        readable(all)?;
        let is_client = side == 0;
        let gap = match is_client {
            true => last.time.since(syn_ack.time).as_nanos(),
            false => syn_ack.time.since(syn.time).as_nanos(),
        };
        let end = all
            .iter()
            .position(|p| p.from == side && p.flags.has(TcpFlags::RST))
            .unwrap_or(all.len());
        let cut = end > MOST_EVENTS;
        let all = all.get(..end.min(MOST_EVENTS)).unwrap_or_default();
        let mut script = Self {
            is_client,
            ip: match stream.ends[side].ip.is_ipv6() {
                true => Ip::V6,
                false => Ip::V4,
            },
            syn,
            syn_ack,
            start: syn.time.as_nanos(),
            events: Vec::new(),
            acks: Vec::new(),
            gap: gap.max(0),
            noise: 0,
            lost: 0,
            caqm: Tags::of(&syn, &syn_ack, all, side),
            cut,
        };
        let waits = script.read_acks(all, side);
        if script.acks.is_empty() {
            return Err(Lack::Acks);
        }
        script.fit_gap(&waits);
        script.read_events(all, side)?;
        Ok(script)
    }

    /// The receiver's first sequence number.
    pub(super) fn own_isn(&self) -> Seq {
        match self.is_client {
            true => self.syn.seq,
            false => self.syn_ack.seq,
        }
    }

    /// The SYN or SYN-ACK of the receiver.
    pub(super) fn own_syn(&self) -> &Packet {
        match self.is_client {
            true => &self.syn,
            false => &self.syn_ack,
        }
    }

    /// Gives the waits of the ACKs whose data was sent once (Karn: nobody knows which copy of a repeated segment an ACK
    /// answers) and arrived in order (an ACK with SACK blocks answers data above its number).
    fn read_acks(&mut self, all: &[Packet], side: usize) -> Vec<i64> {
        let peer_isn = match self.is_client {
            true => self.syn_ack.seq,
            false => self.syn.seq,
        };
        let mut filter = News::after(peer_isn + 1);
        let mut sent = peer_isn + 1;
        let mut last_data = Vec::new();
        let mut waits = Vec::new();
        for p in all {
            if p.from != side {
                if p.len > 0 {
                    last_data.push((p.end(), p.time.as_nanos(), p.seq.before(sent)));
                    sent = sent.max(p.end());
                }
                continue;
            }
            let sack = p.options.sack.as_slice().first().copied();
            if !p.flags.has(TcpFlags::ACK)
                || p.flags.has(TcpFlags::SYN)
                || !filter.takes(p.ack, sack)
            {
                continue;
            }
            let at = p.time.as_nanos();
            let covered = last_data.iter().rev();
            let newest = covered.take(64).find(|(end, ..)| end.at_or_before(p.ack));
            let wait = newest.map_or(0, |(_, t, _)| at - t);
            if sack.is_none() && newest.is_some_and(|(.., is_again)| !is_again) {
                waits.push(wait);
            }
            self.acks.push(Ack {
                at,
                ack: p.ack,
                sack,
                frame: p.number,
                wait,
            });
        }
        waits
    }

    /// The smallest wait of an ACK is the path, when that is shorter than the handshake's; the waits of the other
    /// ACKs that nothing held show how much the path varies.
    fn fit_gap(&mut self, waits: &[i64]) {
        // Nothing that waits for a timer of 40 ms is as fast as this.
        const HELD: i64 = 20_000_000;
        let waits = waits.iter().copied().filter(|&w| w > 0);
        let least = waits.clone().min().unwrap_or(i64::MAX);
        self.gap = self.gap.min(least);
        let mut quick: Vec<i64> = waits.map(|w| w - self.gap).filter(|&w| w < HELD).collect();
        quick.sort_unstable();
        let p95 = quick.get(quick.len() * 95 / 100).copied().unwrap_or(0);
        // A quarter of a millisecond for the receiver's own work, which no capture shows apart.
        self.noise = p95 + 250_000;
        for ack in &mut self.acks {
            ack.at -= self.gap;
        }
    }

    fn read_events(&mut self, all: &[Packet], side: usize) -> Result<(), Lack> {
        let peer_is_far = self.gap > 1_000_000;
        let mut sent_end = self.own_isn() + 1;
        let mut finished = false;
        let mut arrived: Vec<(Seq, i64)> = Vec::new();
        for (i, p) in all.iter().enumerate() {
            let at = p.time.as_nanos();
            if p.from != side {
                if peer_is_far && let Some((again, answer)) = unanswered(all, i, side, self.gap) {
                    let una = una(all, i, side).unwrap_or(p.seq);
                    if answer.is_some_and(|ack| came_at_once(una, p, again, ack)) {
                        return Err(Lack::AcksLost);
                    }
                    self.lost += 1;
                    continue;
                }
                arrived.push((p.end(), at));
                self.push(at, What::Arrives(*p));
                continue;
            }
            if p.flags.has(TcpFlags::SYN) {
                continue;
            }
            // It was sent after what it acknowledges, however the path varies.
            let after = arrived.iter().rev().take(64);
            let after = after
                .filter(|(end, _)| end.at_or_before(p.ack))
                .map(|(_, t)| *t)
                .max();
            let at = (at - self.gap).max(after.unwrap_or(i64::MIN));
            let data_end = p.seq + p.len;
            if p.len > 0 && data_end.after(sent_end) {
                self.push(at, What::Writes(data_end.distance(sent_end) as u32));
                sent_end = data_end;
            }
            if p.flags.has(TcpFlags::FIN) && !finished {
                finished = true;
                self.push(at, What::Finishes);
            }
        }
        // Stable: what was captured first goes first.
        self.events.sort_by_key(|event| event.at);
        Ok(())
    }

    fn push(&mut self, at: i64, what: What) {
        self.events.push(Event { at, what });
    }
}

/// Lets through ACKs of new data and those with SACK blocks: window updates depend on sizes of buffers.
#[derive(Clone, Copy, Debug)]
pub(super) struct News {
    last: Seq,
}

impl News {
    pub(super) fn after(ack: Seq) -> Self {
        Self { last: ack }
    }

    pub(super) fn takes(&mut self, ack: Seq, sack: Option<(Seq, Seq)>) -> bool {
        let is_new = ack.after(self.last);
        if is_new {
            self.last = ack;
        }
        is_new || sack.is_some()
    }
}

/// SYN, SYN-ACK and the client's next packet.
fn handshake(all: &[Packet]) -> Option<(Packet, Packet, Packet)> {
    let syn = *all.first()?;
    if !syn.flags.has(TcpFlags::SYN) || syn.flags.has(TcpFlags::ACK) {
        return None;
    }
    let answers = |p: &&Packet| p.from == 1 && p.flags.has(TcpFlags::SYN) && p.ack == syn.seq + 1;
    let at = all.iter().position(|p| answers(&p))?;
    let syn_ack = *all.get(at)?;
    let rest = all.get(at..)?;
    let last = rest
        .iter()
        .find(|p| p.from == 0 && p.ack == syn_ack.seq + 1)?;
    // The SYN that was answered: a repeated one, when the first was lost.
    let before = all.get(..at)?;
    let syn = before.iter().rev().find(|p| p.from == 0).copied()?;
    Some((syn, syn_ack, *last))
}

/// Whether these packets are what the ends sent, and all of it.
fn readable(all: &[Packet]) -> Result<(), Lack> {
    if all.iter().any(|p| p.header_truncated) {
        return Err(Lack::Headers);
    }
    let is_copy = |(i, p): (usize, &Packet)| {
        let before = all.get(i.saturating_sub(COPY_REACH)..i).unwrap_or_default();
        // Something of the other side comes before what a sender sends again.
        let marked = p.ip_id.is_some_and(|id| id != 0);
        let mut near = before
            .iter()
            .rev()
            .take_while(|q| marked || q.from == p.from);
        near.any(|q| q.is_copied_by(p))
    };
    if all.iter().enumerate().any(is_copy) {
        return Err(Lack::Copies);
    }
    let answers = |p: &&Packet| p.flags.has(TcpFlags::SYN) && p.flags.has(TcpFlags::ACK);
    match all.iter().filter(answers).count() {
        0 | 1 => Ok(()),
        _ => Err(Lack::SynAck),
    }
}

/// A segment at `i` that was sent again before anything acknowledged it: the one that repeats it first, and the packet
/// that acknowledges it afterwards, if one of the next 4,096 does. None: it was acknowledged, or sent once.
fn unanswered(
    all: &[Packet],
    i: usize,
    side: usize,
    gap: i64,
) -> Option<(&Packet, Option<&Packet>)> {
    let p = all.get(i).filter(|p| p.len > 0)?;
    let mut again: Option<&Packet> = None;
    for q in all.get(i + 1..)?.iter().take(4096) {
        if q.from != side {
            if q.len > 0 && q.seq.at_or_before(p.seq) && q.end().after(p.seq) {
                again.get_or_insert(q);
            }
            continue;
        }
        let sacks = q.options.sack.as_slice().iter();
        let mut covers = sacks.filter(|(l, r)| l.at_or_before(p.seq) && r.at_or_after(p.end()));
        if q.flags.has(TcpFlags::ACK) && (q.ack.at_or_after(p.end()) || covers.next().is_some()) {
            // An answer before the second one could have been answered is one to the first.
            let second = again.filter(|a| q.time.since(a.time).as_nanos() >= gap / 2)?;
            return Some((second, Some(q)));
        }
    }
    again.map(|again| (again, None))
}

/// The newest ACK of the receiver before the packet at `i`.
fn una(all: &[Packet], i: usize, side: usize) -> Option<Seq> {
    let is_ack = |p: &&Packet| p.from == side && p.flags.has(TcpFlags::ACK);
    let before = all.get(..i)?.iter().rev().take(4096);
    before.filter(is_ack).map(|p| p.ack).reduce(Seq::max)
}

/// Whether the answer to a repeated segment shows that the first one had come: it reports it as received twice (RFC
/// 2883: its first block lies at or below its ACK number), or echoes the first one's time stamp (RFC 3522). If data before
/// it waited for an ACK, the echo is that data's (RFC 7323 4.3): `una` is the receiver's newest ACK when it was sent.
fn came_at_once(una: Seq, first: &Packet, again: &Packet, answer: &Packet) -> bool {
    let block = answer.options.sack.as_slice().first();
    let is_twice = |(l, r): &(Seq, Seq)| {
        r.at_or_before(answer.ack) && l.at_or_before(first.seq) && r.after(first.seq)
    };
    let stamps = |p: &Packet| p.options.timestamps.map(|(val, _)| Seq(val));
    let echo = answer.options.timestamps.map(|(_, ecr)| Seq(ecr));
    let echoes_first = match (stamps(first), stamps(again), echo) {
        (Some(first), Some(again), Some(echo)) => echo.at_or_after(first) && echo.before(again),
        _ => false,
    };
    block.is_some_and(is_twice) || (first.seq.at_or_before(una) && echoes_first)
}
