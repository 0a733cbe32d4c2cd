//! What the comparison of two runs says of a scenario.

use tcplab_lab::agree::compare::{Comparison, compare};

use crate::end::{self, Other};
use crate::runs::{Pair, Record};

/// A scenario's result.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Which stack has no run, and why.
    pub failed: Option<String>,
    /// The packets.
    pub packets: Comparison,
    /// Counters that differ.
    pub counters: Vec<Other>,
    /// Fields of tcp_info that differ.
    pub tcp_info: Vec<Other>,
}

impl Verdict {
    /// Compares.
    pub fn of(pair: &Pair, names: [&str; 2]) -> Self {
        let (a, b) = match (&pair.a, &pair.b) {
            (Ok(a), Ok(b)) => (a, b),
            (a, b) => return Self::without_run([a, b], names),
        };
        Self {
            failed: None,
            packets: compare(&a.sent, &b.sent),
            counters: end::counters(&a.result, &b.result),
            tcp_info: end::tcp_info(&a.result, &b.result),
        }
    }

    /// One of the stacks has no run.
    fn without_run(runs: [&Result<Record, String>; 2], names: [&str; 2]) -> Self {
        let packets =
            |run: &Result<Record, String>| run.as_ref().map_or(0, |r| r.sent.packets.len());
        let whys = runs.iter().zip(names).filter_map(|(run, name)| {
            let why = run.as_ref().err()?.lines().next().unwrap_or_default();
            let why = why
                .strip_prefix(name)
                .map_or(why, |rest| rest.trim_start_matches(": "));
            Some(format!("{name}: {why}"))
        });
        Self {
            failed: Some(whys.collect::<Vec<_>>().join("; ")),
            packets: Comparison {
                packets: (packets(runs[0]), packets(runs[1])),
                ..Comparison::default()
            },
            counters: Vec::new(),
            tcp_info: Vec::new(),
        }
    }

    /// Whether neither run has a TCP packet: nothing was compared.
    pub fn is_empty(&self) -> bool {
        self.failed.is_none() && self.packets.packets == (0, 0)
    }

    /// Whether the packets are equal to the last one.
    pub fn is_equal(&self) -> bool {
        self.failed.is_none() && self.packets.first.is_none() && !self.is_empty()
    }

    /// Counters that differ and that are promised to be equal.
    pub fn broken_promises(&self) -> Vec<&Other> {
        let promised = |o: &&Other| end::is_promised(&o.name);
        self.counters.iter().filter(promised).collect()
    }

    /// The class of its difference: the first field that differs and the kind of packet.
    pub fn class(&self) -> String {
        match (&self.failed, &self.packets.first) {
            (Some(why), _) => format!("no run on {why}"),
            _ if self.is_empty() => "no TCP packet".to_owned(),
            (None, Some(first)) => first.class(),
            (None, None) => match self.broken_promises().first() {
                Some(other) => {
                    let name = other.name.rsplit('.').next().unwrap_or_default();
                    format!("counter {name}")
                }
                None => "equal".to_owned(),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_without_a_packet_are_not_equal() {
        let verdict = |packets| Verdict {
            failed: None,
            packets: Comparison {
                packets,
                equal: packets.0,
                ..Comparison::default()
            },
            counters: Vec::new(),
            tcp_info: Vec::new(),
        };
        let empty = verdict((0, 0));
        assert!(empty.is_empty() && !empty.is_equal());
        assert_eq!(empty.class(), "no TCP packet");
        let full = verdict((3, 3));
        assert!(!full.is_empty() && full.is_equal());
        assert_eq!(full.class(), "equal");
    }
}
