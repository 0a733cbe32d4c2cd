//! Whether packets of an application find their way, and what stands in it.

use std::collections::{BTreeMap, VecDeque};

use crate::network::{Neighbours, first_links, neighbours};
use crate::point::{Host, Link};

/// The ways between the hosts of a point.
pub(crate) struct Ways {
    neighbours: Neighbours,
    /// For hosts that were asked for: which others they reach.
    reached: BTreeMap<usize, Vec<bool>>,
}

impl Ways {
    pub fn new(hosts: &[Host], links: &[Link]) -> Self {
        Self {
            neighbours: neighbours(hosts, links),
            reached: BTreeMap::new(),
        }
    }

    /// Why no path leads from one host to the other; `None` if one does. A way there is a way back,
    /// for links go both ways.
    pub fn obstacle(&mut self, from: usize, to: usize, hosts: &[Host]) -> Option<String> {
        let all = &self.neighbours;
        let reached = self.reached.entry(from).or_insert_with(|| {
            let first = first_links(all, hosts, from);
            first.iter().map(Option::is_some).collect()
        });
        if from == to || reached.get(to) == Some(&true) {
            return None;
        }
        let name = |i: usize| hosts.get(i).map_or("", |h| h.name.as_str());
        let (a, b) = (name(from), name(to));
        Some(match self.first_blocker(from, to, hosts) {
            Some(host) => {
                let host = hosts.get(host)?;
                let table = host.group.as_ref().unwrap_or(&host.name);
                format!(
                    "the path from `{a}` to `{b}` passes `{}`, which does not forward: \
                     write `forward = true` in host `{table}`",
                    host.name
                )
            }
            None => format!("no link joins `{a}` and `{b}`, nor do several"),
        })
    }

    /// The first host that does not forward on the shortest way that there would be if all did.
    fn first_blocker(&self, from: usize, to: usize, hosts: &[Host]) -> Option<usize> {
        let mut before: Vec<Option<usize>> = vec![None; hosts.len()];
        let mut queue = VecDeque::from([from]);
        while let Some(at) = queue.pop_front() {
            for &(_, next) in self.neighbours.get(at)? {
                if next != from && before.get(next)?.is_none() {
                    before[next] = Some(at);
                    queue.push_back(next);
                }
            }
        }
        let mut blocker = None;
        let mut at = (*before.get(to)?)?;
        while at != from {
            if !hosts.get(at)?.forward {
                blocker = Some(at);
            }
            at = (*before.get(at)?)?;
        }
        blocker
    }
}
