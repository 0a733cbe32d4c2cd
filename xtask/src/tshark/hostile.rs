//! TCP conversations that no sane pair of hosts would have, from a seed.
//!
//! They exercise corner cases of Wireshark's rules: loss before and after the capture, reordering, ports reused by
//! either side, zero windows, keep-alives, numbers that wrap or are 0, half-captured handshakes, wrong SYN-ACKs,
//! resets, missing window scaling.

use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use anyhow::Context;
use tcplab_base::{Duration, Instant, Seq};
use tcplab_capture::PcapWriter;
use tcplab_wire::emit::{Payload, emit};
use tcplab_wire::{Config, Encap, Endpoint, LinkType, Standing, TcpFlags, TcpOptions, TcpPacket};

/// A capture in memory.
pub fn capture(seed: u64, packets: usize) -> anyhow::Result<Vec<u8>> {
    let mut rng = Rng(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1_e995);
    // One capture in four is cut inside the headers.
    let snaplen = *rng.pick(&[65_535, 65_535, 65_535, 58]);
    // Simulators begin at 0, which Wireshark takes for "no time".
    let start = *rng.pick(&[0, 1_700_000_000]);
    let mut time = Instant::from_nanos(start * 1_000_000_000);
    let mut writer = PcapWriter::new(Vec::new(), LinkType::Ethernet, snaplen)?;
    let mut talks: Vec<Talk> = (0..12).map(|i| Talk::new(&mut rng, i)).collect();
    let mut held = None;
    let mut frame = Vec::new();
    for _ in 0..packets {
        let n = rng.below(talks.len());
        let talk = talks.get_mut(n).context("no such conversation")?;
        let mut packet = talk.next(&mut rng);
        if rng.one_in(15) {
            // Swap with a later one: reordering, across conversations too.
            match held.replace(packet) {
                Some(older) => packet = older,
                None => continue,
            }
        }
        time = time + pause(&mut rng);
        let copies = if rng.one_in(40) { 2 } else { 1 };
        for _ in 0..copies {
            frame.clear();
            let len = emit(
                LinkType::Ethernet,
                &packet,
                Payload::Len,
                &Config::default(),
                &mut frame,
            )?;
            frame.truncate(snaplen as usize);
            writer.packet(Some(time), &frame, len)?;
        }
    }
    Ok(writer.finish()?)
}

/// SplitMix64.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        let i = self.below(from.len());
        &from[i]
    }
}

/// Time to the next packet; now and then backwards, as in captures of several interfaces.
fn pause(rng: &mut Rng) -> Duration {
    let us = |n| Duration::from_micros(n);
    match rng.below(20) {
        0 => us(0),
        1..=9 => us(rng.below(300) as i64),
        10..=13 => us(rng.below(4_000) as i64),
        14..=16 => us(rng.below(30_000) as i64),
        17 => us(rng.below(300_000) as i64),
        18 => us(1_000_000),
        _ => us(-(rng.below(2_000) as i64)),
    }
}

/// One side of a conversation.
#[derive(Clone, Copy)]
struct Side {
    isn: u32,
    /// Next number to send.
    next: u32,
    /// The highest number of the peer that it ACKs.
    acked: u32,
    window: u16,
    scale: Option<u8>,
}

/// A conversation.
struct Talk {
    ends: [Endpoint; 2],
    sides: [Side; 2],
    /// Steps of the handshake still to come.
    opening: u8,
    last: Option<TcpPacket>,
    /// The rest of an episode.
    queue: VecDeque<TcpPacket>,
}

impl Talk {
    fn new(rng: &mut Rng, index: u16) -> Self {
        let ip = |last: u16| match index % 3 {
            // Both ends one address: the ports alone tell the direction.
            0 => IpAddr::V4(Ipv4Addr::LOCALHOST),
            1 => IpAddr::V4(Ipv4Addr::new(10, 0, index as u8, last as u8)),
            _ => IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, index, last)),
        };
        let high = 40_000 + index;
        // One conversation even has equal ports.
        let low = if index == 3 { high } else { 7_000 };
        let mut talk = Self {
            ends: [
                Endpoint {
                    ip: ip(1),
                    port: high,
                },
                Endpoint {
                    ip: ip(2),
                    port: low,
                },
            ],
            sides: [Self::side(rng), Self::side(rng)],
            opening: 0,
            last: None,
            queue: VecDeque::new(),
        };
        talk.open(rng);
        talk
    }

    fn side(rng: &mut Rng) -> Side {
        let anywhere = rng.next() as u32;
        let isn = *rng.pick(&[anywhere, anywhere, u32::MAX - 1_000, u32::MAX, 0]);
        Side {
            isn,
            next: isn,
            acked: 0,
            window: *rng.pick(&[1_000, 8_192, 65_535]),
            scale: *rng.pick(&[None, Some(0), Some(2), Some(7), Some(14)]),
        }
    }

    /// Begins again, from either end, with the whole handshake or what is left of it.
    fn open(&mut self, rng: &mut Rng) {
        if rng.one_in(4) {
            self.ends.swap(0, 1);
        }
        self.sides = [Self::side(rng), Self::side(rng)];
        self.opening = *rng.pick(&[3, 3, 3, 2, 1, 0]);
        if self.opening == 0 {
            self.after_handshake();
        }
    }

    fn after_handshake(&mut self) {
        let [a, b] = &mut self.sides;
        a.next = a.isn.wrapping_add(1);
        b.next = b.isn.wrapping_add(1);
        (a.acked, b.acked) = (b.next, a.next);
    }

    fn packet(&self, from: usize, flags: u16, seq: u32, len: u32) -> TcpPacket {
        let me = self.sides[from & 1];
        TcpPacket {
            src: self.ends[from & 1],
            dst: self.ends[(from & 1) ^ 1],
            seq: Seq(seq),
            ack: Seq(if flags & TcpFlags::ACK == 0 {
                0
            } else {
                me.acked
            }),
            flags: TcpFlags(flags),
            window: me.window,
            urgent: 0,
            payload_len: len,
            header_len: 20,
            options: TcpOptions::default(),
            ecn: 0,
            ttl: 64,
            ip_id: Some(0),
            header_truncated: false,
            standing: Standing::Whole,
            encap: Encap::default(),
        }
    }

    fn syn(&self, from: usize, flags: u16) -> TcpPacket {
        let me = self.sides[from & 1];
        let mut p = self.packet(from, flags, me.isn, 0);
        p.options.mss = Some(1460);
        p.options.window_scale = me.scale;
        p
    }

    fn next(&mut self, rng: &mut Rng) -> TcpPacket {
        let packet = if let Some(packet) = self.queue.pop_front() {
            packet
        } else if self.opening > 0 {
            self.handshake(rng)
        } else {
            self.step(rng)
        };
        self.last = Some(packet);
        packet
    }

    fn handshake(&mut self, rng: &mut Rng) -> TcpPacket {
        if rng.one_in(6) {
            // Again, or both at once.
            let from = rng.below(2);
            return self.syn(from, TcpFlags::SYN);
        }
        let step = self.opening;
        self.opening -= 1;
        match step {
            3 => {
                let mut p = self.syn(0, TcpFlags::SYN);
                // Data in the SYN (RFC 7413), or an ACK number without the flag.
                if rng.one_in(8) {
                    p.payload_len = 100;
                }
                if rng.one_in(8) {
                    p.ack = Seq(rng.next() as u32);
                }
                p
            }
            2 => {
                self.after_handshake();
                self.sides[1].acked = self.sides[0].isn.wrapping_add(1);
                self.syn(1, TcpFlags::SYN | TcpFlags::ACK)
            }
            _ => {
                self.after_handshake();
                self.packet(0, TcpFlags::ACK, self.sides[0].next, 0)
            }
        }
    }

    /// Something that happens in a connection, and many things that should not.
    fn step(&mut self, rng: &mut Rng) -> TcpPacket {
        let from = rng.below(2);
        let me = self.sides[from];
        match rng.below(40) {
            0..=7 => self.data(rng, from),
            8..=12 => self.ack(rng, from),
            13..=15 => self.again(rng, from),
            16 | 17 => self.packet(from, TcpFlags::ACK, me.next, 0),
            18 | 19 => self.repeat(rng),
            // Not captured.
            20 => {
                self.sides[from].next = me.next.wrapping_add(1_000);
                self.data(rng, from)
            }
            21 => {
                let len = rng.below(3) as u32;
                self.packet(from, TcpFlags::ACK, me.next.wrapping_sub(1), len)
            }
            22 => self.packet(from, TcpFlags::ACK, me.next, 1),
            23 => {
                self.sides[from].window = *rng.pick(&[0, 0, 1, 500, 3_000, 65_535]);
                self.packet(from, TcpFlags::ACK, me.next, 0)
            }
            24 => self.fill_window(rng, from),
            25 => {
                let acked = me.acked.wrapping_add(rng.below(5_000) as u32);
                self.sides[from].acked = acked;
                self.packet(from, TcpFlags::ACK, me.next, 0)
            }
            26 => {
                let fin = TcpFlags::FIN | TcpFlags::ACK;
                let p = self.packet(from, fin, me.next, rng.below(2) as u32 * 10);
                self.sides[from].next = p.seq_end().0;
                p
            }
            27 => self.packet(from, TcpFlags::RST, *rng.pick(&[me.next, me.acked, 0]), 0),
            28 => self.packet(from, TcpFlags::RST | TcpFlags::ACK, me.next, 0),
            29 => self.syn(from, TcpFlags::SYN),
            30 => self.syn(from, TcpFlags::SYN | TcpFlags::ACK),
            31 => {
                self.sides[from].isn = rng.next() as u32;
                self.syn(from, *rng.pick(&[TcpFlags::SYN, 0x12, 0x12]))
            }
            32 | 33 => {
                self.open(rng);
                self.next(rng)
            }
            34 => self.garbage(rng, from),
            35 | 36 => self.repeated_acks(rng, from),
            37 => self.closed_window(rng, from),
            38 => self.kept_alive(rng, from),
            _ => self.packet(from, *rng.pick(&[0, TcpFlags::PSH, 0x3f, 0x18]), me.next, 5),
        }
    }

    fn data(&mut self, rng: &mut Rng, from: usize) -> TcpPacket {
        let len = *rng.pick(&[1_000, 1_000, 1_460, 1_460, 1, 2, 9_000]);
        let p = self.packet(from, TcpFlags::ACK, self.sides[from].next, len);
        self.sides[from].next = p.seq_end().0;
        p
    }

    fn ack(&mut self, rng: &mut Rng, from: usize) -> TcpPacket {
        let theirs = self.sides[from ^ 1].next;
        let behind = *rng.pick(&[0, 0, 0, 1_000, 1_460]);
        self.sides[from].acked = theirs.wrapping_sub(behind);
        self.packet(from, TcpFlags::ACK, self.sides[from].next, 0)
    }

    /// Something sent before, or next to it.
    fn again(&mut self, rng: &mut Rng, from: usize) -> TcpPacket {
        let back = *rng.pick(&[1_000, 1_460, 2_000, 2_460, 1, 2, 5_000]);
        let wanted = self.sides[from ^ 1].acked;
        let seq = *rng.pick(&[self.sides[from].next.wrapping_sub(back), wanted]);
        let len = *rng.pick(&[1_000, 1_460, 1, 2, 500]);
        self.packet(from, TcpFlags::ACK, seq, len)
    }

    /// The last packet of the conversation once more, perhaps with another window.
    fn repeat(&mut self, rng: &mut Rng) -> TcpPacket {
        let from = rng.below(2);
        let next = self.sides[from].next;
        let mut p = self
            .last
            .unwrap_or_else(|| self.packet(from, TcpFlags::ACK, next, 0));
        if rng.one_in(4) {
            p.window = p.window.wrapping_add(100);
        }
        if rng.one_in(6) {
            p.options.window_scale = Some(3);
        }
        p
    }

    /// Exactly up to the edge of the peer's window, by some guess at its scale.
    fn fill_window(&mut self, rng: &mut Rng, from: usize) -> TcpPacket {
        let peer = self.sides[from ^ 1];
        let shift = *rng.pick(&[0, peer.scale.unwrap_or(0)]);
        let edge = peer.acked.wrapping_add(u32::from(peer.window) << shift);
        let len = *rng.pick(&[1, 1_000]);
        self.packet(from, TcpFlags::ACK, edge.wrapping_sub(len), len)
    }

    /// Several ACKs of the same number, then what they ask for.
    fn repeated_acks(&mut self, rng: &mut Rng, from: usize) -> TcpPacket {
        let back = *rng.pick(&[1_000, 1_460, 2_460]);
        let wanted = self.sides[from ^ 1].next.wrapping_sub(back);
        self.sides[from].acked = wanted;
        let ack = self.packet(from, TcpFlags::ACK, self.sides[from].next, 0);
        for _ in 0..rng.below(4) {
            self.queue.push_back(ack);
        }
        let again = self.packet(from ^ 1, TcpFlags::ACK, wanted, *rng.pick(&[1_000, back]));
        self.queue.push_back(again);
        ack
    }

    /// A window of 0, probes of one byte and their answers.
    fn closed_window(&mut self, rng: &mut Rng, from: usize) -> TcpPacket {
        self.sides[from].acked = self.sides[from ^ 1].next;
        self.sides[from].window = 0;
        let closed = self.packet(from, TcpFlags::ACK, self.sides[from].next, 0);
        let probe = self.packet(from ^ 1, TcpFlags::ACK, closed.ack.0, 1);
        for _ in 0..=rng.below(3) {
            self.queue.push_back(probe);
            self.queue.push_back(closed);
        }
        if rng.one_in(2) {
            self.sides[from].window = 2_000;
        }
        closed
    }

    /// Keep-alives and their answers.
    fn kept_alive(&mut self, rng: &mut Rng, from: usize) -> TcpPacket {
        self.sides[from ^ 1].acked = self.sides[from].next;
        let seq = self.sides[from].next.wrapping_sub(1);
        let probe = self.packet(from, TcpFlags::ACK, seq, rng.below(2) as u32);
        let answer = self.packet(from ^ 1, TcpFlags::ACK, self.sides[from ^ 1].next, 0);
        for _ in 0..rng.below(3) {
            self.queue.extend([answer, probe]);
        }
        self.queue.push_back(answer);
        probe
    }

    fn garbage(&mut self, rng: &mut Rng, from: usize) -> TcpPacket {
        let flags = rng.next() as u16 & 0x1ff;
        let mut p = self.packet(from, flags, rng.next() as u32, rng.below(1_500) as u32);
        p.ack = Seq(rng.next() as u32);
        p.window = rng.next() as u16;
        p
    }
}
