//! The answer of `tcplab analyze --pair`: plain data, schema `tcplab.pair/1`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use tcplab_base::Samples;

use super::changed::{self, Changed};
use super::clock::Sides;
use super::matching::Matched;
use super::{Capture, Clock, Packet};
use crate::report::{Rtt, is_zero};
use crate::trace::AckClass;

/// `schema` of the document.
pub const SCHEMA: &str = "tcplab.pair/1";

/// Two captures of the same connections, compared.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Pair {
    /// Always `tcplab.pair/1`.
    pub schema: String,
    /// Name of the first capture.
    pub a: String,
    /// Name of the second capture.
    pub b: String,
    /// Packets found in both.
    pub packets: Packets,
    /// Difference between the clocks of both captures.
    pub clock: Clock,
    /// Connections in both captures, by stream number in A.
    pub streams: Vec<Stream>,
}

/// Counts of TCP packets.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct Packets {
    /// Packets in A.
    pub a: u64,
    /// Packets in B.
    pub b: u64,
    /// Packets in both.
    pub matched: u64,
    /// Lost on the way to B, changed on the way (NAT), or not captured by B.
    pub only_a: u64,
    /// As `only_a`, for B.
    pub only_b: u64,
    /// Equal, indistinguishable packets that one capture has more of.
    pub ambiguous: u64,
    /// Packets of A whose bytes are in B, joined or split (TSO, GRO): not lost, without times.
    #[serde(skip_serializing_if = "is_zero")]
    pub resegmented_a: u64,
    /// Packets of B whose bytes are in A, joined or split.
    #[serde(skip_serializing_if = "is_zero")]
    pub resegmented_b: u64,
    /// Without time stamp in either capture; left out.
    pub without_time: u64,
    /// Beyond `--max-packets` in either capture; left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// What of A could not be compared.
    pub defects_a: Defects,
    /// What of B could not be compared.
    pub defects_b: Defects,
}

/// What could not be compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Defects {
    /// TCP packets without time stamp; left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub without_time: u64,
    /// TCP packets beyond `--max-packets`; left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// Duplicates, recognised by IP identification: captured twice, or duplicated by the network. Each packet counts
    /// once.
    #[serde(skip_serializing_if = "is_zero")]
    pub copies: u64,
    /// TCP packets with cut headers. If either capture has some, packets match without their time stamp option.
    #[serde(skip_serializing_if = "is_zero")]
    pub headers_cut: u64,
    /// Frames cut before TCP's numbers; left out.
    #[serde(skip_serializing_if = "is_zero")]
    pub unreadable: u64,
}

impl Defects {
    /// Whether packets of all times are left out: that one is absent says nothing.
    fn hides(&self) -> bool {
        self.without_time > 0 || self.unreadable > 0
    }
}

/// One of the two captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The first.
    A,
    /// The second.
    B,
}

/// Connection in both captures.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Stream {
    /// Stream number in A.
    pub stream_a: u32,
    /// Stream number in B.
    pub stream_b: u32,
    /// `ip:port` of the client.
    pub client: String,
    /// `ip:port` of the server.
    pub server: String,
    /// Capture at the client's end; null if only one direction matched, or if the times contradict each other.
    pub client_side: Option<End>,
    /// What the client sent.
    pub client_to_server: OneWay,
    /// What the server sent.
    pub server_to_client: OneWay,
    /// Changes in the SYN or SYN-ACK between the captures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<Changed>,
    /// ACKs of new data in both captures. Empty if `client_side` is unknown.
    pub acks: Vec<Ack>,
}

/// One direction of a connection.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
pub struct OneWay {
    /// Packets in both captures.
    pub matched: u64,
    /// Packets only at the sender's end, although the other capture ran: lost, or changed on the way. Null if ends
    /// or clocks are unknown, the other capture has packets that are cut or without time, or this one may have packets
    /// twice (equal ones, without IP identification, within 20 ms).
    pub only_at_sender: Option<u64>,
    /// Packets only at the receiver's end, although the other capture ran: not captured there, or changed.
    pub only_at_receiver: Option<u64>,
    /// Packets only at the sender's end, outside the time of the other capture: perhaps lost.
    #[serde(skip_serializing_if = "is_zero")]
    pub outside_at_sender: u64,
    /// Packets only at the receiver's end, outside the time of the other capture.
    #[serde(skip_serializing_if = "is_zero")]
    pub outside_at_receiver: u64,
    /// Packets that lost their ECN mark (ECT or CE) on the way.
    #[serde(skip_serializing_if = "is_zero")]
    pub ecn_cleared: u64,
    /// Packets whose window field differs between the captures.
    #[serde(skip_serializing_if = "is_zero")]
    pub window_changed: u64,
    /// One-way times, corrected for the clock offset. Null without packets, or if the offset or the ends are unknown.
    pub one_way_us: Option<Rtt>,
}

/// The same ACK at both ends.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
pub struct Ack {
    /// Frame number in A.
    pub packet_a: u64,
    /// Frame number in B.
    pub packet_b: u64,
    /// True: the client sent it.
    pub from_client: bool,
    /// Bytes acknowledged, as the ACK's own end saw it.
    pub bytes: u32,
    /// Class at its own end.
    pub class: AckClass,
    /// Class at the data's sender, if it is an ACK of new data there too.
    pub class_at_sender: Option<AckClass>,
    /// From the data to the ACK at the ACK's own end: the receiver's delay.
    pub wait_at_receiver_us: u32,
    /// From the data to the ACK at the data's sender: includes the path both ways.
    pub wait_at_sender_us: Option<u32>,
    /// Null if the clock offset is unknown.
    pub one_way_us: Option<u32>,
}

struct Building {
    stream: Stream,
    to_server: Samples,
    to_client: Samples,
}

/// Puts the answer together; the names of the captures are the caller's to fill in.
pub(crate) fn build(
    a: &Capture,
    b: &Capture,
    matched: &Matched,
    clock: Clock,
    sides: &Sides,
) -> Pair {
    let mut streams: BTreeMap<(u32, u32), Building> = BTreeMap::new();
    for (x, y) in &matched.pairs {
        add(a, b, (x, y), &clock, sides, &mut streams);
    }
    let mut streams: Vec<Stream> = streams.into_values().map(finish).collect();
    let mut changed = changed::find(a, b);
    for s in &mut streams {
        let mine = |c: &mut ((u32, u32), Changed)| c.0 == (s.stream_a, s.stream_b);
        s.changed = changed.extract_if(.., mine).map(|c| c.1).collect();
    }
    alone(a, b, matched, &clock, &mut streams);
    let defects = |capture: &Capture, copies| Defects {
        copies,
        ..capture.defects
    };
    let [copies_a, copies_b] = matched.copies;
    let [resegmented_a, resegmented_b] = matched.resegmented;
    Pair {
        schema: SCHEMA.into(),
        a: String::new(),
        b: String::new(),
        packets: Packets {
            a: a.packets.len() as u64,
            b: b.packets.len() as u64,
            matched: matched.pairs.len() as u64,
            only_a: matched.only_a.len() as u64,
            only_b: matched.only_b.len() as u64,
            ambiguous: matched.ambiguous,
            resegmented_a,
            resegmented_b,
            without_time: a.defects.without_time + b.defects.without_time,
            left_out: a.defects.left_out + b.defects.left_out,
            defects_a: defects(a, copies_a),
            defects_b: defects(b, copies_b),
        },
        clock,
        streams,
    }
}

/// Adds a matched packet to its stream.
fn add(
    a: &Capture,
    b: &Capture,
    (x, y): (&Packet, &Packet),
    clock: &Clock,
    sides: &Sides,
    streams: &mut BTreeMap<(u32, u32), Building>,
) {
    let (Some(in_a), Some(in_b)) = (a.verdict(x.number), b.verdict(y.number)) else {
        return;
    };
    let side = sides.get(&in_a.stream).copied();
    let building = streams
        .entry((in_a.stream, in_b.stream))
        .or_insert_with(|| begin(in_a.stream, in_b.stream, in_a.from_client, x, side));
    let way = match in_a.from_client {
        true => &mut building.stream.client_to_server,
        false => &mut building.stream.server_to_client,
    };
    way.matched += 1;
    way.window_changed += u64::from(x.window != y.window);
    // Unless the ends are known, sender and receiver are unknown.
    let Some(side) = side else { return };
    let from_a = in_a.from_client == (side == End::A);
    let (left, arrived) = if from_a { (x, y) } else { (y, x) };
    way.ecn_cleared += u64::from(left.ecn != 0 && arrived.ecn == 0);
    let one_way_us = one_way(clock, (x, y), from_a);
    let samples = match in_a.from_client {
        true => &mut building.to_server,
        false => &mut building.to_client,
    };
    one_way_us.into_iter().for_each(|us| samples.push(us));
    let (receiver, sender) = if from_a {
        (in_a.ack, in_b.ack)
    } else {
        (in_b.ack, in_a.ack)
    };
    if let Some(ack) = receiver {
        building.stream.acks.push(Ack {
            packet_a: x.number,
            packet_b: y.number,
            from_client: in_a.from_client,
            bytes: ack.bytes,
            class: ack.class,
            class_at_sender: sender.map(|s| s.class),
            wait_at_receiver_us: ack.wait_us,
            wait_at_sender_us: sender.map(|s| s.wait_us),
            one_way_us,
        });
    }
}

/// Time of a packet on the way, microseconds. From A's end: later at B by the way. From B's end: earlier at B.
fn one_way(clock: &Clock, (x, y): (&Packet, &Packet), from_a: bool) -> Option<u32> {
    let later = y.time.since(x.time).as_nanos();
    let ahead = later.saturating_sub(clock.offset_at(x.time)?);
    let way = if from_a {
        ahead
    } else {
        ahead.saturating_neg()
    };
    Some(u32::try_from(way.max(0) / 1_000).unwrap_or(u32::MAX))
}

fn begin(
    stream_a: u32,
    stream_b: u32,
    from_client: bool,
    p: &Packet,
    side: Option<End>,
) -> Building {
    let (client, server) = match from_client {
        true => (p.key.src, p.key.dst),
        false => (p.key.dst, p.key.src),
    };
    Building {
        stream: Stream {
            stream_a,
            stream_b,
            client: client.to_string(),
            server: server.to_string(),
            client_side: side,
            ..Stream::default()
        },
        to_server: Samples::default(),
        to_client: Samples::default(),
    }
}

fn finish(building: Building) -> Stream {
    let mut stream = building.stream;
    for (way, mut samples) in [
        (&mut stream.client_to_server, building.to_server),
        (&mut stream.server_to_client, building.to_client),
    ] {
        let q = samples.quantiles();
        way.one_way_us = (q.samples > 0).then_some(Rtt {
            min: q.min,
            p50: q.p50,
            p95: q.p95,
            max: q.max,
            samples: q.samples,
        });
    }
    stream
}

/// The numbers of the streams in one capture.
fn numbers(streams: &[Stream], end: End) -> impl Iterator<Item = u32> + use<'_> {
    streams.iter().map(move |s| match end {
        End::A => s.stream_a,
        End::B => s.stream_b,
    })
}

/// Counts the packets that only one capture has.
fn alone(a: &Capture, b: &Capture, matched: &Matched, clock: &Clock, streams: &mut [Stream]) {
    let known = clock.offset_ns.is_some();
    for stream in streams.iter_mut() {
        let Some(side) = stream.client_side.filter(|_| known) else {
            continue;
        };
        let (at_client, at_server) = match side {
            End::A => (a, b),
            End::B => (b, a),
        };
        // Zero, unless what the other capture lacks may hide in what could not be compared.
        let hidden_by = |other: &Capture| (!other.defects.hides()).then_some(0);
        let (up, down) = (&mut stream.client_to_server, &mut stream.server_to_client);
        (up.only_at_sender, up.only_at_receiver) = (hidden_by(at_server), hidden_by(at_client));
        (down.only_at_sender, down.only_at_receiver) = (hidden_by(at_client), hidden_by(at_server));
    }
    let [excess_a, excess_b] = &matched.excess;
    let [doubtful_a, doubtful_b] = &matched.doubtful;
    let both = [
        (End::A, a, b, [&matched.only_a, excess_a], doubtful_a),
        (End::B, b, a, [&matched.only_b, excess_b], doubtful_b),
    ];
    for (end, capture, other, alone, doubtful) in both {
        let index: BTreeMap<u32, usize> = numbers(streams, end).zip(0..).collect();
        let mut each = |packet: &Packet, take: &dyn Fn(bool, &mut Stream)| {
            let verdict = capture.verdict(packet.number);
            let mine = verdict.and_then(|v| streams.get_mut(*index.get(&v.stream)?));
            if let (Some(stream), Some(verdict)) = (mine, verdict) {
                take(verdict.from_client, stream);
            }
        };
        for packet in alone.into_iter().flatten() {
            each(packet, &|from_client, stream| {
                count(end, from_client, packet, other, clock, stream);
            });
        }
        for packet in doubtful {
            each(packet, &|from_client, stream| {
                forget(end, from_client, stream)
            });
        }
    }
}

/// The capture of `end` has more packets than the other one that are equal, or has some twice: which, nobody knows.
fn forget(end: End, from_client: bool, stream: &mut Stream) {
    let at_sender = stream.client_side.map(|side| (side == end) == from_client);
    let way = match from_client {
        true => &mut stream.client_to_server,
        false => &mut stream.server_to_client,
    };
    match at_sender {
        Some(true) => way.only_at_sender = None,
        Some(false) => way.only_at_receiver = None,
        None => {}
    }
}

/// Counts a packet that only the capture of `end` has.
fn count(
    end: End,
    from_client: bool,
    packet: &Packet,
    other: &Capture,
    clock: &Clock,
    stream: &mut Stream,
) {
    let Some(side) = stream.client_side else {
        return;
    };
    let way = match from_client {
        true => &mut stream.client_to_server,
        false => &mut stream.server_to_client,
    };
    let at_sender = (side == end) == from_client;
    let fastest = way.one_way_us.map_or(0, |t| i64::from(t.min) * 1_000);
    let there = match end {
        End::A => clock.at_b(packet.time),
        End::B => clock.at_a(packet.time),
    };
    let (Some(there), Some((first, last))) = (there, other.span) else {
        return;
    };
    let passes = there.as_nanos().saturating_add(match at_sender {
        true => fastest,
        false => -fastest,
    });
    let outside = passes < first.as_nanos() || passes > last.as_nanos();
    match (at_sender, outside) {
        (true, true) => way.outside_at_sender += 1,
        (false, true) => way.outside_at_receiver += 1,
        (true, false) => way.only_at_sender.iter_mut().for_each(|n| *n += 1),
        (false, false) => way.only_at_receiver.iter_mut().for_each(|n| *n += 1),
    }
}
