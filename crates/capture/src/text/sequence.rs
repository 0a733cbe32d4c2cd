//! From the sequence numbers that tcpdump prints to ones that fit together.
//!
//! tcpdump prints the first packet of a connection as it is and later ones relative to it; with `-S` all as they are. A log
//! may also begin in the middle, or hold one direction only. Each direction has a base, learnt from the first packet; a
//! printed number is taken as absolute or as relative to the base, whichever is nearer to where the direction stands.
//! Pure ACKs are printed without sequence number: theirs is where the direction stands.

use std::collections::BTreeMap;

use tcplab_base::Seq;
use tcplab_wire::{Endpoint, TcpFlags};

use super::line::Line;

/// Connections that are kept; the older half goes when there are more.
const MAX_CONNECTIONS: usize = 16_384;

/// A first number from here on is no relative one: nobody prints the first 16 MB of a connection away.
const ABSOLUTE: u32 = 1 << 24;

/// What is known about one direction.
#[derive(Clone, Copy, Default, Debug)]
struct Direction {
    /// What relative numbers are relative to.
    base: u32,
    /// Highest sequence number seen or acknowledged.
    next: Option<Seq>,
}

impl Direction {
    /// The number that `printed` stands for.
    fn absolute(&self, printed: u32) -> Seq {
        let (as_is, relative) = (Seq(printed), Seq(printed) + self.base);
        let Some(next) = self.next else {
            return relative;
        };
        let far = |s: Seq| s.distance(next).unsigned_abs();
        if far(as_is) < far(relative) {
            as_is
        } else {
            relative
        }
    }

    fn advance(&mut self, to: Seq) {
        self.next = Some(self.next.map_or(to, |n| n.max(to)));
    }
}

#[derive(Clone, Copy, Default, Debug)]
struct Connection {
    /// From the lower endpoint to the higher one, and back.
    directions: [Direction; 2],
    used: u64,
}

/// The connections of a log.
#[derive(Default, Debug)]
pub(crate) struct Sequences {
    connections: BTreeMap<(Endpoint, Endpoint), Connection>,
    lines: u64,
}

impl Sequences {
    /// Sequence and acknowledgment number of a line. SACK blocks in it are made absolute too.
    pub(crate) fn resolve(&mut self, line: &mut Line) -> (Seq, Seq) {
        self.lines += 1;
        let forward = line.src <= line.dst;
        let key = if forward {
            (line.src, line.dst)
        } else {
            (line.dst, line.src)
        };
        let syn = line.flags.has(TcpFlags::SYN);
        if !self.connections.contains_key(&key) {
            self.make_room();
        }
        let known = self.connections.get(&key).copied();
        let mut c = known.unwrap_or_default();
        c.used = self.lines;
        let (this, peer) = if forward { (0, 1) } else { (1, 0) };
        let [mut from, mut to] = [c.directions[this], c.directions[peer]];
        if syn {
            begin(line, &mut from, &mut to);
        } else if known.is_none() {
            guess(line, &mut from, &mut to);
        }
        let ack = line.ack.map(|n| to.absolute(n));
        if let (Some(ack), Some(printed)) = (ack, line.ack) {
            shift_sack(line, ack - Seq(printed));
            // Never trust an ACK to say that bytes were sent before the SYN was.
            to.advance(ack);
        }
        let seq = match line.seq {
            Some(n) => from.absolute(n),
            None => from.next.unwrap_or(Seq(from.base) + 1),
        };
        from.advance(seq + seq_len(line));
        c.directions[this] = from;
        c.directions[peer] = to;
        self.connections.insert(key, c);
        (seq, ack.unwrap_or_default())
    }

    fn make_room(&mut self) {
        if self.connections.len() < MAX_CONNECTIONS {
            return;
        }
        let mut used: Vec<u64> = self.connections.values().map(|c| c.used).collect();
        used.sort_unstable();
        let middle = used.get(used.len() / 2).copied().unwrap_or(0);
        self.connections.retain(|_, c| c.used > middle);
    }
}

fn seq_len(line: &Line) -> u32 {
    let flag = |bit| u32::from(line.flags.has(bit));
    line.payload_len
        .wrapping_add(flag(TcpFlags::SYN) + flag(TcpFlags::FIN))
}

/// SYN and SYN-ACK print absolute numbers, and begin a connection.
fn begin(line: &Line, from: &mut Direction, to: &mut Direction) {
    let isn = line.seq.unwrap_or(0);
    *from = Direction {
        base: isn,
        next: Some(Seq(isn)),
    };
    *to = match line.ack {
        Some(ack) => Direction {
            base: ack.wrapping_sub(1),
            next: Some(Seq(ack)),
        },
        None => Direction::default(),
    };
}

/// A connection that begins in the middle. Large numbers are absolute, and later ones are relative to them (tcpdump:
/// `seq` itself, and `ack` minus 1). Small ones are relative to an unknown number.
fn guess(line: &Line, from: &mut Direction, to: &mut Direction) {
    let absolute = line.seq.max(line.ack).is_some_and(|n| n >= ABSOLUTE);
    if !absolute {
        return;
    }
    if let Some(seq) = line.seq {
        *from = Direction {
            base: seq,
            next: Some(Seq(seq)),
        };
    }
    if let Some(ack) = line.ack {
        *to = Direction {
            base: ack.wrapping_sub(1),
            next: Some(Seq(ack)),
        };
    }
}

/// SACK blocks are printed relative as the acknowledgment number is.
fn shift_sack(line: &mut Line, by: u32) {
    let old = line.options.sack;
    line.options.sack = Default::default();
    for (left, right) in old.as_slice() {
        line.options.sack.push(*left + by, *right + by);
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::{Kind, read};
    use super::*;

    fn resolve(lines: &[&str]) -> Vec<(u32, u32)> {
        let mut all = Sequences::default();
        lines
            .iter()
            .map(|l| {
                let Kind::Tcp(mut line, _) = read(l) else {
                    panic!("{l}");
                };
                let (seq, ack) = all.resolve(&mut line);
                (seq.0, ack.0)
            })
            .collect()
    }

    const A: &str = "IP 192.0.2.1.9 > 192.0.2.2.80: ";
    const B: &str = "IP 192.0.2.2.80 > 192.0.2.1.9: ";

    fn log(lines: &[(&str, &str)]) -> Vec<String> {
        lines
            .iter()
            .map(|(who, what)| format!("{who}{what}, win 1, length 0"))
            .collect()
    }

    fn run(lines: &[(&str, &str)]) -> Vec<(u32, u32)> {
        let lines = log(lines);
        resolve(&lines.iter().map(String::as_str).collect::<Vec<_>>())
    }

    #[test]
    fn relative_after_the_handshake() {
        let got = run(&[
            (A, "Flags [S], seq 4000000000"),
            (B, "Flags [S.], seq 100, ack 4000000001"),
            (A, "Flags [.], ack 1"),
            (A, "Flags [P.], seq 1:1001, ack 1"),
            (B, "Flags [.], ack 1001"),
            (B, "Flags [P.], seq 1:11, ack 1001"),
            (A, "Flags [F.], seq 1001, ack 11"),
            (A, "Flags [R], seq 4000001002"),
        ]);
        let lengths = [
            0,
            101,
            4_000_000_001,
            4_000_000_001,
            101,
            101,
            4_000_001_001,
            4_000_001_002,
        ];
        assert_eq!(
            got.iter().map(|g| g.0).skip(1).collect::<Vec<_>>()[1..],
            lengths[2..]
        );
        assert_eq!(got[0], (4_000_000_000, 0));
        assert_eq!(got[1], (100, 4_000_000_001));
        assert_eq!(got[4].1, 4_000_001_001);
        assert_eq!(got[6].1, 111);
    }

    #[test]
    fn absolute_numbers_stay() {
        let got = run(&[
            (A, "Flags [S], seq 4000000000"),
            (B, "Flags [S.], seq 5000, ack 4000000001"),
            (A, "Flags [.], ack 5001"),
            (A, "Flags [P.], seq 4000000001:4000001001, ack 5001"),
            (B, "Flags [.], ack 4000001001"),
        ]);
        assert_eq!(got[2], (4_000_000_001, 5001));
        assert_eq!(got[3], (4_000_000_001, 5001));
        assert_eq!(got[4], (5001, 4_000_001_001));
    }

    #[test]
    fn a_log_that_begins_in_the_middle() {
        // As tcpdump prints it: the first packet absolute, then relative to it.
        let got = run(&[
            (A, "Flags [P.], seq 3000000000:3000001448, ack 2000000000"),
            (B, "Flags [.], ack 1448"),
            (A, "Flags [P.], seq 1448:2896, ack 1"),
        ]);
        assert_eq!(got[1], (2_000_000_000, 3_000_001_448));
        assert_eq!(got[2], (3_000_001_448, 2_000_000_000));
        // Cut out of a longer log: relative to something unknown, and consistent.
        let got = run(&[
            (A, "Flags [P.], seq 5793:7241, ack 77"),
            (B, "Flags [.], ack 7241"),
            (A, "Flags [.], ack 77"),
        ]);
        assert_eq!(got, [(5793, 77), (77, 7241), (7241, 77)]);
    }

    #[test]
    fn sack_blocks_move_with_the_ack() {
        let mut all = Sequences::default();
        let lines = [
            "IP 192.0.2.2.80 > 192.0.2.1.9: Flags [S.], seq 100, ack 1000001, win 1, length 0",
            "IP 192.0.2.2.80 > 192.0.2.1.9: Flags [.], ack 1, win 1, options [nop,nop,sack 1 {1449:2897}], length 0",
        ];
        let mut last = None;
        for text in lines {
            let Kind::Tcp(mut line, _) = read(text) else {
                panic!("{text}");
            };
            all.resolve(&mut line);
            last = Some(line);
        }
        let blocks = last.expect("two lines").options.sack;
        assert_eq!(blocks.as_slice(), [(Seq(1_001_449), Seq(1_002_897))]);
    }

    #[test]
    fn many_connections_take_bounded_room() {
        let mut all = Sequences::default();
        for i in 0..3 * MAX_CONNECTIONS {
            let text = format!(
                "IP 192.0.{}.{}.9 > 192.0.2.2.80: Flags [S], seq 1, win 1, length 0",
                i / 256 % 256,
                i % 256
            );
            let text = text.replace(".9 >", &format!(".{} >", i / 65_536 + 1));
            let Kind::Tcp(mut line, _) = read(&text) else {
                panic!("{text}");
            };
            all.resolve(&mut line);
        }
        assert!(all.connections.len() <= MAX_CONNECTIONS);
    }
}
