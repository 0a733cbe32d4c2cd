//! A packet that the host shall send: awaited, put together from pieces, mapped and compared.

use tcplab_base::{Duration, Instant};

use super::message::{self, Both};
use super::socket::{Socket, State};
use super::time::{Due, Kind};
use super::{Runner, SENT, Stop, Waiting, What, fail};
use crate::packet::{Layer, Packet, Rules, Shown, Tcp, build, compare, continues, flag, line};
use crate::script::{Direction, PacketSpec};
use crate::target::{Happening, Target};

/// How long a packet may be late until nobody waits for it, in microseconds.
const PATIENCE_US: i64 = 2_000_000;
/// How long a packet may come at any time.
const PATIENCE_ANY_US: i64 = 180_000_000;

/// A packet that was taken.
struct Taken {
    at: Instant,
    entry: usize,
    packet: Packet,
}

impl<T: Target + ?Sized> Runner<'_, T> {
    pub(super) fn leave(&mut self, spec: &PacketSpec, due: &Due) -> Result<(), Stop> {
        let mode = self.settings.network.mode;
        let script = build(spec, mode).map_err(|why| fail(spec.place, why))?;
        let number = self.socket_for(&script, Direction::Out, spec.place)?;
        let syn_ack = script.tcp().filter(|tcp| tcp.is_syn_ack());
        if let Some(tcp) = syn_ack
            && let Some(socket) = self.sockets.get_mut(number)
            && socket.state == State::PacketReceived
        {
            socket.script.local.isn = tcp.seq;
        }
        let mut pieces: Vec<Taken> = Vec::new();
        let mut payload = 0;
        loop {
            let mut taken = match self.take(number, due)? {
                Ok(taken) => taken,
                Err(passed) if pieces.is_empty() => {
                    return Err(self.packet_missing(number, (spec, due), &script, passed));
                }
                Err(_) => {
                    let why = format!("{payload} bytes came, and no more");
                    return Err(self.pieces_differ((spec, due), &script, &pieces, &why));
                }
            };
            self.take_over(number, &mut taken, syn_ack.is_some(), due.place.line);
            let len = taken.packet.payload_len;
            if let Some(previous) = pieces.last() {
                let missing = script.payload_len - payload;
                let checked = self.check_piece(previous, &taken, missing);
                pieces.push(taken);
                checked.map_err(|why| self.pieces_differ((spec, due), &script, &pieces, &why))?;
            } else {
                pieces.push(taken);
            }
            payload += len;
            // The original takes an empty segment for a piece; a script that passes by that says something else than
            // the packets.
            let is_whole = payload >= script.payload_len || len == 0;
            if is_whole || self.settings.strict_segments {
                break;
            }
        }
        let Some((at, actual)) = join(pieces) else {
            return Ok(());
        };
        self.judge(number, (spec, due), (script, actual), at)
    }

    /// The next packet of the socket. What others sent is passed over; that many when none came.
    fn take(&mut self, number: usize, due: &Due) -> Result<Result<Taken, u32>, Stop> {
        let patience = match due.kind {
            Kind::Any => PATIENCE_ANY_US,
            // Whole seconds, as in the original.
            _ => {
                let last = due.last_us.unwrap_or(0);
                let wait = due.from_us.max(due.to_us).saturating_sub(last).max(0);
                wait / 1_000_000 * 1_000_000 + PATIENCE_US
            }
        };
        let mut passed = 0;
        loop {
            let waiting = match self.waiting.pop_front() {
                Some(waiting) => waiting,
                None => {
                    let until = self.target.now() + Duration::from_micros(patience);
                    match self.await_packet(until, due)? {
                        Some(waiting) => waiting,
                        None => return Ok(Err(passed)),
                    }
                }
            };
            let packet = waiting
                .packet
                .map_err(|why| fail(due.place, format!("the host sent a broken packet: {why}")))?;
            let Some(packet) = packet else { continue };
            let socket = self.sockets.get_mut(number);
            if socket.is_some_and(|s| s.sent(&packet) && !s.is_new_syn(&packet) || s.learn(&packet))
            {
                return Ok(Ok(Taken {
                    at: waiting.at,
                    entry: waiting.entry,
                    packet,
                }));
            }
            passed += 1;
        }
    }

    fn await_packet(&mut self, until: Instant, due: &Due) -> Result<Option<Waiting>, Stop> {
        while let Some((at, happening)) = self.step(until, due.place)? {
            match happening {
                Happening::Packet(bytes) => return Ok(Some(self.note_packet(at, &bytes))),
                other => self.happened(at, other, due.place)?,
            }
        }
        Ok(None)
    }

    /// The packet gets the script's numbers, and its entry the line and text.
    fn take_over(&mut self, number: usize, taken: &mut Taken, is_syn_ack: bool, line_number: u32) {
        if let Some(socket) = self.sockets.get_mut(number) {
            if let Some(tcp) = taken.packet.tcp() {
                if is_syn_ack && socket.state == State::PacketReceived {
                    socket.state = State::SynAckSent;
                    socket.live.local.isn = tcp.seq;
                }
                socket.last_out = Some(tcp.clone());
            }
            socket.map_out(&mut taken.packet);
        }
        if let Some(entry) = self.entries.get_mut(taken.entry) {
            entry.line = line_number;
            if let What::Packet { text, .. } = &mut entry.what {
                *text = line(&taken.packet, SENT);
            }
        }
    }

    fn check_piece(&self, previous: &Taken, piece: &Taken, missing: u32) -> Result<(), String> {
        continues(&previous.packet, &piece.packet)?;
        let (before, len) = (previous.packet.payload_len, piece.packet.payload_len);
        if len < missing && len != before {
            return Err(format!(
                "it has {len} bytes after a piece of {before}, and {missing} are missing"
            ));
        }
        Ok(())
    }

    /// Compares and says what differs.
    fn judge(
        &mut self,
        number: usize,
        (spec, due): (&PacketSpec, &Due),
        (script, mut actual): (Packet, Packet),
        at: Instant,
    ) -> Result<(), Stop> {
        let tolerance = self.tolerance();
        let label = |p: &Packet| p.ip().map_or(0, |ip| ip.flow_label);
        let mut flow_label = None;
        if let Some(socket) = self.sockets.get_mut(number) {
            socket.map_stamp(&script, &mut actual);
            flow_label = socket
                .check_flow_label(label(&script), label(&actual))
                .err();
        }
        let rules = Rules {
            ts_tick_us: self.settings.ts_tick_us,
            ts_tolerance_us: tolerance.since(Some(due.from_us)),
            sums: self.settings.check_sums,
        };
        let differences = compare(spec, &script, &actual, rules);
        let at_us = self.us(at);
        let off = due.check(at_us, tolerance).err();
        if differences.is_empty() && off.is_none() && flow_label.is_none() {
            return Ok(());
        }
        let both = Both {
            spec,
            script: &script,
            actual: Some((&actual, at_us)),
            due,
        };
        let mut why = message::differs(&both, &differences, off, flow_label);
        why += &self.explained(number);
        if self.settings.non_fatal_packet {
            self.note(at, due.place.line, What::Note(why));
            return Ok(());
        }
        Err(fail(due.place, why))
    }

    fn packet_missing(
        &mut self,
        number: usize,
        (spec, due): (&PacketSpec, &Due),
        script: &Packet,
        passed: u32,
    ) -> Stop {
        let both = Both {
            spec,
            script,
            actual: None,
            due,
        };
        let mut why = message::nothing(&both, self.now_us(), passed);
        why += &self.explained(number);
        fail(due.place, why)
    }

    fn pieces_differ(
        &self,
        (spec, due): (&PacketSpec, &Due),
        script: &Packet,
        pieces: &[Taken],
        why: &str,
    ) -> Stop {
        let shown = Shown {
            spec: Some(spec),
            is_script: true,
            direction: Direction::Out,
        };
        let mut text = format!("the packet came in pieces that differ from it: {why}\n");
        text += &format!("  expected  {} at {}", line(script, shown), due.text());
        // The last ones say enough.
        for piece in pieces.iter().skip(pieces.len().saturating_sub(3)) {
            let at = super::report::seconds(self.us(piece.at));
            text += &format!("\n  piece     {} at {at}", line(&piece.packet, SENT));
        }
        fail(due.place, text)
    }

    /// What the target says of the socket, as a line of a message.
    pub(super) fn explained(&mut self, number: usize) -> String {
        let fd = self.sockets.get(number).and_then(|s| s.fd);
        message::explained(&self.target.explain(fd))
    }
}

impl Socket {
    /// A SYN of a connection that was begun again: its number is not known yet.
    fn is_new_syn(&self, packet: &Packet) -> bool {
        let is_syn = packet.tcp().is_some_and(Tcp::is_syn);
        self.state == State::SynSent && self.last_out.is_none() && is_syn
    }
}

/// One packet of all pieces: the headers of the last one, sequence number and CWR of the first, the time of the last.
fn join(mut pieces: Vec<Taken>) -> Option<(Instant, Packet)> {
    let Taken { at, mut packet, .. } = pieces.pop()?;
    let Some(first) = pieces.first().and_then(|p| p.packet.tcp()) else {
        return Some((at, packet));
    };
    let before: u32 = pieces.iter().map(|p| p.packet.payload_len).sum();
    packet.payload_len += before;
    packet.is_dirty |= pieces.iter().any(|p| p.packet.is_dirty);
    packet.has_bad_sum |= pieces.iter().any(|p| p.packet.has_bad_sum);
    for layer in &mut packet.layers {
        match layer {
            Layer::Ip(ip) => ip.total_len += before,
            Layer::Tcp(tcp) => {
                tcp.seq = first.seq;
                tcp.flags = tcp.flags & !flag::CWR | first.flags & flag::CWR;
            }
            _ => {}
        }
    }
    Some((at, packet))
}
