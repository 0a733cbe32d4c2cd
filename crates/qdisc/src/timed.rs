//! Packets by the time at which they may leave; of two with the same time, the first that came is the first to go.

use std::collections::{BTreeMap, VecDeque};

use tcplab_base::Instant;

/// The packets: those that came in order in a line, the others in a tree beside it, as in the kernel's `tfifo_enqueue()`
/// and sch_fq's `flow_queue_add()`.
#[derive(Clone, Debug)]
pub(crate) struct Timed<P> {
    line: VecDeque<(Instant, P)>,
    tree: BTreeMap<(Instant, u64), P>,
    /// Of packets that went into the tree.
    number: u64,
}

impl<P> Default for Timed<P> {
    fn default() -> Self {
        Self {
            line: VecDeque::new(),
            tree: BTreeMap::new(),
            number: 0,
        }
    }
}

impl<P> Timed<P> {
    pub fn push(&mut self, at: Instant, packet: P) {
        match self.line.back() {
            Some((last, _)) if at < *last => {
                self.number += 1;
                self.tree.insert((at, self.number), packet);
            }
            _ => self.line.push_back((at, packet)),
        }
    }

    /// The time of the first.
    pub fn first(&self) -> Option<Instant> {
        match (self.line.front(), self.tree.first_key_value()) {
            (Some((line, _)), Some(((tree, _), _))) => Some(*line.min(tree)),
            (Some((line, _)), None) => Some(*line),
            (None, tree) => tree.map(|((at, _), _)| *at),
        }
    }

    /// The time of the last.
    pub fn last(&self) -> Option<Instant> {
        let line = self.line.back().map(|(at, _)| *at);
        let tree = self.tree.last_key_value().map(|((at, _), _)| *at);
        line.max(tree)
    }

    pub fn pop(&mut self) -> Option<P> {
        let line = self.line.front().map(|(at, _)| *at);
        let is_tree = match (self.tree.first_key_value(), line) {
            (Some(((tree, _), _)), Some(line)) => *tree < line,
            (tree, None) => tree.is_some(),
            (None, _) => false,
        };
        match is_tree {
            true => self.tree.pop_first().map(|(_, packet)| packet),
            false => self.line.pop_front().map(|(_, packet)| packet),
        }
    }

    pub fn len(&self) -> usize {
        self.line.len() + self.tree.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_leave_by_time_and_then_by_arrival() {
        let mut timed = Timed::default();
        let arrivals = [10, 20, 10, 5, 20, 15, 15, 30, 5];
        for (n, at) in arrivals.into_iter().enumerate() {
            timed.push(Instant::from_nanos(at), n);
        }
        assert_eq!(timed.last(), Some(Instant::from_nanos(30)));
        let mut right: Vec<usize> = (0..arrivals.len()).collect();
        right.sort_by_key(|n| arrivals[*n]);
        let mut left = Vec::new();
        while let Some(first) = timed.first() {
            let n = timed.pop().unwrap();
            assert_eq!(first, Instant::from_nanos(arrivals[n]));
            left.push(n);
        }
        assert_eq!(left, right);
        assert_eq!(timed.len(), 0);
    }
}
