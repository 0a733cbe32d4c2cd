//! Two runs of one point, packet by packet: the first difference of each host, and the first of all.
//!
//! Every field must be equal; time stamps may differ by one (their clock's milliseconds begin
//! somewhere between two readings). Times are compared relative to the offset of the two runs at the
//! packets before, so one difference does not count twice. A packet may be off by [`NEAR_NS`]. If the
//! timer frequencies differ, a packet that leaves at a tick may be off by the longer jiffy.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use tcplab_wire::TcpFlags;

use super::packets::{Packet, Place, Sent};
use super::text::Text;

/// How far a packet may be off, against those before it.
const NEAR_NS: i64 = 1_000;
/// What comes so soon after a tick is the tick's.
const AFTER_TICK_NS: i64 = 20_000;
/// First numbers grow by one each 64 ns.
const NEW_ISN: u64 = 1_000;
/// Packets that a later one may take its distance from: chains of events with distances of their own.
const MEMORY: usize = 64;

/// The field of a packet that only the first run has.
pub const MISSING: &str = "missing";
/// The field of a packet that only the second run has.
pub const EXTRA: &str = "extra";

/// The first difference between two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What differs: a field's name, `time`, [`MISSING`] or [`EXTRA`].
    pub field: &'static str,
    /// Kind of the packet, as the first run has it (the second, when it is the only one).
    pub kind: &'static str,
    /// Host that sent it.
    pub host: usize,
    /// Number of its connection.
    pub flow: usize,
    /// Its number among those of its host and connection, from 0.
    pub number: usize,
    /// Where the first run has it (the second, when it is the only one).
    pub place: Place,
    /// When it was sent; in the run that sent it earlier.
    pub time_ns: i64,
    /// When each run sent it.
    pub times_ns: [Option<i64>; 2],
    /// Both values as text.
    pub values: (String, String),
}

impl Difference {
    /// The field that differs and the kind of packet: differences of one class often have one cause.
    pub fn class(&self) -> String {
        format!("{} of {}", self.field, self.kind)
    }
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

impl Sent {
    fn tick_ns(&self, host: usize) -> i64 {
        self.ticks_ns.get(host).copied().unwrap_or(1)
    }

    fn is_on_tick(&self, packet: &Packet) -> bool {
        let since_boot = self.since_boot_ns + packet.time_ns;
        since_boot.rem_euclid(self.tick_ns(packet.host)) < AFTER_TICK_NS
    }
}

/// Compares what the hosts sent in two runs.
pub fn compare(a: &Sent, b: &Sent) -> Comparison {
    let (ours, theirs) = (by_direction(a), by_direction(b));
    let mut found: Vec<Difference> = Vec::new();
    let directions: BTreeSet<&Direction> = ours.keys().chain(theirs.keys()).collect();
    for direction in directions {
        let (a, b) = (ours.get(direction), theirs.get(direction));
        found.extend(first_field(
            a.map_or(&[], Vec::as_slice),
            b.map_or(&[], Vec::as_slice),
        ));
    }
    let fields = found.into_iter().min_by_key(|d| d.time_ns);
    let until = fields.as_ref().map_or(i64::MAX, |d| d.time_ns);
    let first = first_time(a, (b, &theirs), until).or(fields);
    let end = first.as_ref().map_or(i64::MAX, |d| d.time_ns);
    Comparison {
        packets: (a.packets.len(), b.packets.len()),
        equal: a.packets.iter().filter(|p| p.time_ns < end).count(),
        first,
    }
}

/// A host, a connection, and its end: both are on one host where it talks to itself.
type Direction = (usize, usize, bool);
/// What each direction has, in order. That between connections is open where times are equal.
type Directions<'a> = BTreeMap<Direction, Vec<&'a Packet>>;

fn direction(p: &Packet) -> Direction {
    (p.host, p.flow, p.is_answer)
}

fn by_direction(sent: &Sent) -> Directions<'_> {
    let mut directions = Directions::new();
    for p in &sent.packets {
        directions.entry(direction(p)).or_default().push(p);
    }
    directions
}

/// A difference of this packet, which both runs have or one of them.
fn difference(
    (x, y): (Option<&Packet>, Option<&Packet>),
    number: usize,
    field: &'static str,
    values: (String, String),
) -> Option<Difference> {
    // Whichever run did something first is where they part.
    let first = x.into_iter().chain(y).min_by_key(|p| p.time_ns)?;
    Some(Difference {
        field,
        kind: kind(first),
        host: first.host,
        flow: first.flow,
        number,
        place: x.or(y)?.place,
        time_ns: first.time_ns,
        times_ns: [x, y].map(|p| p.map(|p| p.time_ns)),
        values,
    })
}

/// The first packet of a direction whose fields differ, or that only one run has.
fn first_field(a: &[&Packet], b: &[&Packet]) -> Option<Difference> {
    for (number, (x, y)) in a.iter().zip(b).enumerate() {
        if let Some((field, values)) = fields(x, y) {
            return difference((Some(x), Some(y)), number, field, values);
        }
    }
    let both = a.len().min(b.len());
    let field = if a.len() > both { MISSING } else { EXTRA };
    let counts = (a.len().to_string(), b.len().to_string());
    let one = (a.get(both).copied(), b.get(both).copied());
    difference(one, both, field, counts)
}

/// The first packet before `until` that comes at another time, given the packets before it.
fn first_time(
    a: &Sent,
    (b, directions): (&Sent, &Directions<'_>),
    until: i64,
) -> Option<Difference> {
    let mut numbers: BTreeMap<Direction, usize> = BTreeMap::new();
    let mut offsets = VecDeque::from([0_i64]);
    for x in &a.packets {
        if x.time_ns >= until {
            return None;
        }
        let next = numbers.entry(direction(x)).or_default();
        let number = *next;
        *next += 1;
        let y = directions.get(&direction(x))?.get(number)?;
        let apart = x.time_ns - y.time_ns;
        let least = offsets.iter().map(|o| (apart - o).abs()).min();
        let least = least.unwrap_or(0).min(apart.abs());
        let ticks = (a.tick_ns(x.host), b.tick_ns(x.host));
        let is_tick = ticks.0 != ticks.1 && (a.is_on_tick(x) || b.is_on_tick(y));
        let jiffy = if is_tick { ticks.0.max(ticks.1) } else { 0 };
        if least > NEAR_NS + jiffy {
            let us = |ns: i64| format!("{:.1} us", ns as f64 / 1e3);
            let values = (us(x.time_ns), us(y.time_ns));
            return difference((Some(x), Some(y)), number, "time", values);
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
    fn differs<T: PartialEq + Text>(
        name: &'static str,
        a: &T,
        b: &T,
    ) -> Option<(&'static str, (String, String))> {
        (a != b).then(|| (name, (a.text(), b.text())))
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
        .or_else(|| (x.flags != y.flags).then(|| ("flags", (flags(x), flags(y)))))
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
