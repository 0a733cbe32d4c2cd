//! What the comparison of two runs says of a scenario.

use tcplab_lab::agree::compare::{Comparison, compare};

use super::end::{self, Other};
use super::runs::Pair;

/// A scenario's result.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// Why the second stack has no run.
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
    pub fn of(pair: &Pair) -> Self {
        match &pair.b {
            Err(why) => Self {
                failed: Some(why.clone()),
                packets: Comparison {
                    packets: (pair.a.sent.packets.len(), 0),
                    ..Comparison::default()
                },
                counters: Vec::new(),
                tcp_info: Vec::new(),
            },
            Ok(b) => Self {
                failed: None,
                packets: compare(&pair.a.sent, &b.sent),
                counters: end::counters(&pair.a.result, &b.result),
                tcp_info: end::tcp_info(&pair.a.result, &b.result),
            },
        }
    }

    /// Whether the packets are equal to the last one.
    pub fn is_equal(&self) -> bool {
        self.failed.is_none() && self.packets.first.is_none()
    }

    /// Counters that differ and that are promised to be equal.
    pub fn broken_promises(&self) -> Vec<&Other> {
        let promised = |o: &&Other| end::is_promised(&o.name);
        self.counters.iter().filter(promised).collect()
    }

    /// The class of its difference: the first field that differs and the kind of packet.
    pub fn class(&self) -> String {
        match (&self.failed, &self.packets.first) {
            (Some(why), _) => format!("no run: {}", why.lines().next().unwrap_or_default()),
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
