//! A policer shared by several connections: no single one of them gets through at its rate.

use std::net::IpAddr;

use super::token_bucket::{self, Lossy};
use super::{Finding, Severity, measured, packets, policer};

/// Most connections that are kept to the end of the capture, and of one path.
const KEPT: usize = 48;
const ONE_PATH: usize = 8;

/// Connections that lost much, and by no policer of their own.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    list: Vec<Lossy>,
}

impl Shared {
    pub(crate) fn note(&mut self, lossy: impl IntoIterator<Item = Lossy>) {
        for new in lossy {
            let same = self.list.iter().filter(|l| path(l) == path(&new)).count();
            if self.list.len() < KEPT && same < ONE_PATH {
                self.list.push(new);
            }
        }
    }

    /// The policers, one for a path.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        let first = |(n, l): &(usize, &Lossy)| {
            let before = self.list.iter().take(*n);
            !before.into_iter().any(|b| path(b) == path(l))
        };
        let paths = self.list.iter().enumerate().filter(first);
        paths.filter_map(|(_, l)| self.of_path(path(l))).collect()
    }

    fn of_path(&self, of: (IpAddr, IpAddr)) -> Option<Finding> {
        let all: Vec<&Lossy> = self.list.iter().filter(|l| path(l) == of).collect();
        if all.len() < 2 || all.iter().any(|l| l.alone) {
            return None;
        }
        let bucket = token_bucket::shared(&all)?;
        let first = all.first()?;
        let words = policer::Words {
            from: of.0,
            to: of.1,
            rate: bucket.between.map(|r| r * 8.0),
            burst: Some(bucket.burst),
            unqueued: "",
            lost: bucket.losses as u64,
            connections: all.len(),
        };
        Some(words.put_into(Finding {
            id: policer::DETECTOR.id,
            severity: Severity::Medium,
            stream: first.stream,
            packets: packets(all.iter().flat_map(|l| l.packets.iter().copied().take(4))),
            title: String::new(),
            cause: String::new(),
            remedy: Vec::new(),
            confidence: measured::confidence(policer::DETECTOR.id),
            proof: None,
        }))
    }
}

fn path(l: &Lossy) -> (IpAddr, IpAddr) {
    (l.from, l.to)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lossy(stream: u32, to: u8) -> Lossy {
        Lossy::empty(
            stream,
            [IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, to])],
        )
    }

    #[test]
    fn few_connections_of_each_path_are_kept() {
        let mut shared = Shared::default();
        shared.note((0..20).map(|n| lossy(n, 2)));
        assert_eq!(shared.list.len(), ONE_PATH);
        shared.note((20..200).map(|n| lossy(n, n as u8)));
        assert_eq!(shared.list.len(), KEPT);
        assert!(shared.findings().is_empty(), "they lost nothing");
    }
}
