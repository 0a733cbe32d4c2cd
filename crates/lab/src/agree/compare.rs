//! Two runs of one point, packet by packet: the first difference of each host, and the first of all.
//!
//! Every field must be equal; time stamps may differ by one (their clock's milliseconds begin
//! somewhere between two readings). Times are compared with how far the two runs were apart at the
//! packets before, so one difference does not count twice: an untimed packet within
//! [`UNTIMED_NS`], one that leaves at a tick within a jiffy.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tcplab_plan::Point;
use tcplab_wire::TcpFlags;

use super::packets::Packet;

/// How far an untimed packet may be off, against those before it. A kernel's clock in virtual time
/// steps by 256 ns at each reading, and a reading of the capture's clock comes after those of TCP.
const UNTIMED_NS: i64 = 1_000;
/// What comes so soon after a tick is the tick's.
const AFTER_TICK_NS: i64 = 20_000;
/// First numbers grow by one each 64 ns.
const NEW_ISN: u64 = 1_000;
/// Packets that a later one may take its distance from: chains of events with distances of their own.
const MEMORY: usize = 64;

/// The first difference between two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What differs: a field's name, `time`, `missing` or `extra` packet.
    pub field: &'static str,
    /// Kind of the packet, as the first run has it (the second, when it is the only one).
    pub kind: &'static str,
    /// Host that sent it.
    pub host: usize,
    /// Its number among those of its host and connection, from 0.
    pub number: usize,
    /// When the first run has it (the second, when it is the only one).
    pub time_ns: i64,
    /// Both values as text.
    pub values: (String, String),
}

/// How the packets of two runs compare.
#[derive(Clone, Debug, Default)]
pub struct Comparison {
    /// Packets of each run.
    pub packets: (usize, usize),
    /// The first difference; none: equal to the last packet.
    pub first: Option<Difference>,
    /// Packets before it, over all hosts.
    pub equal: usize,
}

/// The tick of both runs.
#[derive(Clone, Copy)]
pub struct Ticks {
    /// Time after boot of the first packet.
    pub origin_ns: i64,
    /// Length of a tick.
    pub tick_ns: i64,
}

impl Ticks {
    /// Ticks of a point whose first packet leaves when its first application starts.
    pub fn of(point: &Point, hz: i64) -> Self {
        let first = point.apps.iter().map(|a| a.start_ns).min().unwrap_or(0);
        Self {
            origin_ns: point.boot_ns.unwrap_or(0) + first,
            tick_ns: 1_000_000_000 / hz,
        }
    }

    fn is_on_tick(&self, packet: &Packet) -> bool {
        (self.origin_ns + packet.time_ns).rem_euclid(self.tick_ns) < AFTER_TICK_NS
    }
}

/// Compares what the hosts sent in two runs.
pub fn compare(a: &[Packet], b: &[Packet], ticks: Ticks) -> Comparison {
    let (ours, theirs) = (by_direction(a), by_direction(b));
    let mut found: Vec<Difference> = Vec::new();
    let directions: BTreeSet<&Direction> = ours.keys().chain(theirs.keys()).collect();
    for direction in directions {
        let of = |all: &Directions| all.get(direction).cloned().unwrap_or_default();
        found.extend(first_field(direction.0, &of(&ours), &of(&theirs)));
    }
    let fields = found.into_iter().min_by_key(|d| d.time_ns);
    let until = fields.as_ref().map_or(i64::MAX, |d| d.time_ns);
    let first = first_time(a, &theirs, ticks, until).or(fields);
    let end = first.as_ref().map_or(i64::MAX, |d| d.time_ns);
    Comparison {
        packets: (a.len(), b.len()),
        equal: a.iter().filter(|p| p.time_ns < end).count(),
        first,
    }
}

/// A host and a connection.
type Direction = (usize, usize);
/// What each direction has, in order. That between connections is open where times are equal.
type Directions = BTreeMap<Direction, Vec<Packet>>;

fn by_direction(packets: &[Packet]) -> Directions {
    let mut directions = Directions::new();
    for p in packets {
        let of = directions.entry((p.host, p.flow)).or_default();
        of.push(p.clone());
    }
    directions
}

/// The first packet of a host whose fields differ, or that only one run has.
fn first_field(host: usize, a: &[Packet], b: &[Packet]) -> Option<Difference> {
    let at = |number: usize, packet: &Packet, field, values| Difference {
        field,
        kind: kind(packet),
        host,
        number,
        time_ns: packet.time_ns,
        values,
    };
    for (number, (x, y)) in a.iter().zip(b).enumerate() {
        if let Some((field, values)) = fields(x, y) {
            // Whichever run did something first is where they part.
            let first = if y.time_ns < x.time_ns { y } else { x };
            return Some(at(number, first, field, values));
        }
    }
    let both = a.len().min(b.len());
    let (field, packet) = match (a.get(both), b.get(both)) {
        (Some(x), None) => ("missing", x),
        (None, Some(y)) => ("extra", y),
        _ => return None,
    };
    Some(at(
        both,
        packet,
        field,
        (a.len().to_string(), b.len().to_string()),
    ))
}

/// The first packet before `until` that comes at another time, given the packets before it.
fn first_time(a: &[Packet], b: &Directions, ticks: Ticks, until: i64) -> Option<Difference> {
    let mut numbers: BTreeMap<Direction, usize> = BTreeMap::new();
    let mut offsets = VecDeque::from([0_i64]);
    for x in a {
        if x.time_ns >= until {
            return None;
        }
        let next = numbers.entry((x.host, x.flow)).or_default();
        let number = *next;
        *next += 1;
        let y = b.get(&(x.host, x.flow)).and_then(|p| p.get(number))?;
        let apart = x.time_ns - y.time_ns;
        let least = offsets.iter().map(|o| (apart - o).abs()).min();
        let least = least.unwrap_or(0).min(apart.abs());
        let timed = ticks.is_on_tick(x) || ticks.is_on_tick(y);
        let may = match timed {
            true => ticks.tick_ns + UNTIMED_NS,
            false => UNTIMED_NS,
        };
        if least > may {
            let us = |ns: i64| format!("{:.1} us", ns as f64 / 1e3);
            return Some(Difference {
                field: "time",
                kind: kind(x),
                host: x.host,
                number,
                time_ns: x.time_ns.min(y.time_ns),
                values: (us(x.time_ns), us(y.time_ns)),
            });
        }
        if offsets.back() != Some(&apart) {
            offsets.push_back(apart);
        }
        if offsets.len() > MEMORY {
            offsets.pop_front();
        }
    }
    None
}

/// The first field of two packets that differs, and both values.
fn fields(x: &Packet, y: &Packet) -> Option<(&'static str, (String, String))> {
    fn differs<T: PartialEq + std::fmt::Debug>(
        name: &'static str,
        a: &T,
        b: &T,
    ) -> Option<(&'static str, (String, String))> {
        (a != b).then(|| (name, (format!("{a:?}"), format!("{b:?}"))))
    }
    let near = |a: Option<i64>, b: Option<i64>| match (a, b) {
        (Some(a), Some(b)) => a.abs_diff(b) <= 1,
        (a, b) => a == b,
    };
    let stamp = |name, a: Option<i64>, b| match near(a, b) {
        true => None,
        false => differs(name, &a, &b),
    };
    // A late SYN is answered with a new first number, which follows the clock.
    let is_new = x.has(TcpFlags::SYN) && x.seq != 0 && x.seq.abs_diff(y.seq) < NEW_ISN;
    None.or_else(|| differs("seq", &x.seq, &y.seq).filter(|_| !is_new))
        .or_else(|| differs("len", &x.len, &y.len))
        .or_else(|| differs("flags", &flags(x), &flags(y)))
        .or_else(|| differs("ack", &x.ack, &y.ack))
        .or_else(|| differs("window", &x.window, &y.window))
        .or_else(|| differs("urgent", &x.urgent, &y.urgent))
        .or_else(|| differs("mss", &x.mss, &y.mss))
        .or_else(|| differs("wscale", &x.wscale, &y.wscale))
        .or_else(|| differs("sack-permitted", &x.sack_permitted, &y.sack_permitted))
        .or_else(|| differs("sack", &x.sack, &y.sack))
        .or_else(|| stamp("tsval", x.tsval, y.tsval))
        .or_else(|| stamp("tsecr", x.tsecr, y.tsecr))
        .or_else(|| differs("ecn", &x.ecn, &y.ecn))
        .or_else(|| differs("header-length", &x.header_len, &y.header_len))
}

/// The letters of a packet's flags, as tcpdump has them.
pub fn flags(p: &Packet) -> String {
    use tcplab_wire::TcpFlags as F;
    let letters = [
        (F::SYN, 'S'),
        (F::FIN, 'F'),
        (F::RST, 'R'),
        (F::PSH, 'P'),
        (F::ACK, '.'),
        (F::URG, 'U'),
        (F::ECE, 'E'),
        (F::CWR, 'W'),
    ];
    let set = letters.iter().filter(|(bit, _)| p.has(*bit));
    set.map(|(_, letter)| letter).collect()
}

/// What kind of packet it is, in one word.
pub fn kind(p: &Packet) -> &'static str {
    use tcplab_wire::TcpFlags as F;
    match () {
        () if p.has(F::SYN) && p.has(F::ACK) => "syn-ack",
        () if p.has(F::SYN) => "syn",
        () if p.has(F::RST) => "rst",
        () if p.has(F::FIN) => "fin",
        () if p.len > 0 => "data",
        () if !p.sack.is_empty() => "sack",
        () => "ack",
    }
}

#[cfg(test)]
mod tests;
