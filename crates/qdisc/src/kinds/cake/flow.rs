//! The queues of a tin, and the three lists that they stand in.

use super::cobalt::Cobalt;
use crate::store::Chain;

/// Queues of a tin.
pub(crate) const QUEUES: usize = 1_024;

/// What a queue is counted as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Set {
    /// In no list.
    #[default]
    None,
    Sparse,
    /// Counted as sparse, in the list of the bulk flows.
    SparseWait,
    Bulk,
    Decaying,
}

/// The lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    New = 0,
    Old = 1,
    Decaying = 2,
}

/// One queue.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Flow {
    pub chain: Chain,
    pub backlog: u32,
    pub deficit: i32,
    pub cobalt: Cobalt,
    /// The hash of the flow that has it.
    pub tag: u32,
    /// Places of its hosts in the tin's table.
    pub hosts: [u16; 2],
    pub set: Set,
    link: Option<Link>,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    list: List,
    before: u16,
    after: u16,
}

const END: u16 = u16::MAX;

/// Queues and their lists.
#[derive(Clone, Debug)]
pub(crate) struct Flows {
    flows: Vec<Flow>,
    first: [u16; 3],
    last: [u16; 3],
}

impl Default for Flows {
    fn default() -> Self {
        Self {
            flows: vec![Flow::default(); QUEUES],
            first: [END; 3],
            last: [END; 3],
        }
    }
}

impl Flows {
    #[inline]
    pub fn get(&self, n: usize) -> &Flow {
        &self.flows[n]
    }

    #[inline]
    pub fn get_mut(&mut self, n: usize) -> &mut Flow {
        &mut self.flows[n]
    }

    /// The first of a list.
    #[inline]
    pub fn first(&self, list: List) -> Option<usize> {
        match self.first[list as usize] {
            END => None,
            n => Some(usize::from(n)),
        }
    }

    /// Puts a queue at the end of a list, out of the one that it stands in.
    #[inline]
    pub fn move_to(&mut self, n: usize, list: List) {
        self.unlink(n);
        let before = self.last[list as usize];
        self.flows[n].link = Some(Link {
            list,
            before,
            after: END,
        });
        let n = n as u16;
        self.last[list as usize] = n;
        match self.link_mut(before) {
            Some(link) => link.after = n,
            None => self.first[list as usize] = n,
        }
    }

    /// Takes a queue out of its list.
    #[inline]
    pub fn unlink(&mut self, n: usize) {
        let Some(link) = self.flows[n].link.take() else {
            return;
        };
        match self.link_mut(link.before) {
            Some(before) => before.after = link.after,
            None => self.first[link.list as usize] = link.after,
        }
        match self.link_mut(link.after) {
            Some(after) => after.before = link.before,
            None => self.last[link.list as usize] = link.before,
        }
    }

    fn link_mut(&mut self, n: u16) -> Option<&mut Link> {
        self.flows.get_mut(usize::from(n))?.link.as_mut()
    }
}
