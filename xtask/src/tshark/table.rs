//! The sums over all captures, for a person.

use std::collections::BTreeMap;
use std::fmt;

use tcplab_analyze::compat::Verdicts;

use super::compare::Comparison;

/// Sums over captures.
#[derive(Default)]
pub struct Table {
    captures: usize,
    same: usize,
    packets: usize,
    tcp: (usize, usize),
    streams: (usize, usize),
    flags: Vec<(usize, usize, usize)>,
    explained: BTreeMap<String, usize>,
    unexplained: usize,
    formats: usize,
    foreign: usize,
    sums: usize,
    late_packets: u64,
}

impl Table {
    pub fn add(&mut self, c: &Comparison) {
        self.captures += 1;
        self.same += usize::from(!c.differs());
        self.packets += c.packets.1;
        self.tcp.0 += c.tcp.0;
        self.tcp.1 += c.tcp.1;
        self.streams.0 += c.streams.0;
        self.streams.1 += c.streams.1;
        self.flags.resize(c.flags.len(), (0, 0, 0));
        for (sum, n) in self.flags.iter_mut().zip(&c.flags) {
            *sum = (sum.0 + n.0, sum.1 + n.1, sum.2 + n.2);
        }
        for d in &c.differences {
            match d.reason {
                Some(reason) => *self.explained.entry(format!("{reason:?}")).or_default() += 1,
                None => self.unexplained += 1,
            }
        }
        match &c.format {
            Some(format) if format.is_foreign => self.foreign += 1,
            Some(_) => self.formats += 1,
            None => {}
        }
        self.sums += usize::from(c.sums.is_some());
        self.late_packets += c.late_packets;
    }

    /// Whether everything agrees or is explained.
    pub fn is_clean(&self) -> bool {
        self.unexplained == 0 && self.formats == 0 && self.sums == 0
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} captures, {} without any difference; {} packets",
            self.captures, self.same, self.packets
        )?;
        writeln!(f, "{:<24}{:>10}{:>10}", "", "ours", "tshark")?;
        writeln!(
            f,
            "{:<24}{:>10}{:>10}",
            "TCP packets", self.tcp.0, self.tcp.1
        )?;
        writeln!(
            f,
            "{:<24}{:>10}{:>10}",
            "streams", self.streams.0, self.streams.1
        )?;
        writeln!(
            f,
            "{:<24}{:>10}{:>10}{:>12}{:>12}",
            "tcp.analysis.", "both", "", "only ours", "only tshark"
        )?;
        for ((_, name), n) in Verdicts::FIELDS.iter().zip(&self.flags) {
            let short = name.strip_prefix("tcp.analysis.").unwrap_or(name);
            writeln!(f, "{short:<24}{:>10}{:>10}{:>12}{:>12}", n.0, "", n.1, n.2)?;
        }
        for (reason, n) in &self.explained {
            writeln!(f, "explained ({reason}): {n} frames")?;
        }
        if self.foreign > 0 {
            writeln!(
                f,
                "in formats that one of us does not read: {} captures",
                self.foreign
            )?;
        }
        if self.late_packets > 0 {
            writeln!(
                f,
                "after their connection was reported: {} packets",
                self.late_packets
            )?;
        }
        write!(
            f,
            "unexplained: {} frames; captures of which one reads more: {}; with other sums: {}",
            self.unexplained, self.formats, self.sums
        )
    }
}
