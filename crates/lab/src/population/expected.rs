//! Which groups the file of a run may hold: a checkpoint may be damaged, or come from somebody else.

use tcplab_plan::Population;

use super::engine::{GROUPS, groups, size};
use super::record::Group;
use crate::shard::Shard;

/// The groups of a shard, and which of them have come.
#[derive(Debug)]
pub(crate) struct Expected<'a> {
    population: &'a Population,
    shard: Shard,
    seen: Vec<bool>,
}

impl<'a> Expected<'a> {
    pub(crate) fn new(population: &'a Population, shard: Shard) -> Self {
        Self {
            population,
            shard,
            seen: vec![false; GROUPS as usize],
        }
    }

    pub(crate) fn arms(&self) -> usize {
        self.population.arms.len()
    }

    /// Whether a group is one of them, with the connections that it must have, and comes for the first time.
    pub(crate) fn takes(&mut self, group: &Group) -> bool {
        let number = group.number;
        let is_own = number < GROUPS && self.shard.has(number as usize);
        let connections = size(self.population, number);
        let has_all = group.arms.iter().all(|arm| arm.connections == connections);
        let is_of_it = |connection: u64| {
            connection < self.population.connections
                && connection % u64::from(GROUPS) == u64::from(number)
        };
        let knows = group.outliers.iter().all(|o| is_of_it(o.connection));
        if !(is_own && has_all && knows) {
            return false;
        }
        let seen = self.seen.get_mut(number as usize);
        seen.is_some_and(|seen| !std::mem::replace(seen, true))
    }

    /// The first missing group. A run that ends when all is decided has the first groups only.
    pub(crate) fn missing(&self) -> Option<u32> {
        let has = |group: &u32| self.seen.get(*group as usize) == Some(&true);
        let missing = groups(self.shard).find(|group| !has(group))?;
        let later = groups(self.shard).skip_while(|group| *group != missing);
        let ended_early = self.population.compare.stops && !later.into_iter().any(|g| has(&g));
        (!ended_early || missing == 0).then_some(missing)
    }
}
