//! The hosts of a tin: how many of its bulk flows each has.

use super::flow::QUEUES;
use super::ways;

/// Which end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Source = 0,
    Destination = 1,
}

#[derive(Clone, Copy, Debug, Default)]
struct Host {
    tag: u32,
    bulk_flows: u16,
}

/// One table for sources, one for destinations.
#[derive(Clone, Debug)]
pub(crate) struct Hosts([Vec<Host>; 2]);

impl Default for Hosts {
    fn default() -> Self {
        let table = || vec![Host::default(); QUEUES];
        Self([table(), table()])
    }
}

impl Hosts {
    /// The place of the host with this hash: its own, or one that no bulk flow uses, or the first of its set.
    pub fn place(&mut self, end: End, hash: u32) -> u16 {
        let table = &mut self.0[end as usize];
        let own = ways(hash).find(|n| table[*n].tag == hash);
        let place = own.unwrap_or_else(|| {
            let free = ways(hash).find(|n| table[*n].bulk_flows == 0);
            free.unwrap_or(hash as usize % QUEUES)
        });
        table[place].tag = hash;
        place as u16
    }

    /// A flow of this host becomes a bulk flow.
    pub fn add(&mut self, end: End, place: u16) {
        let host = &mut self.0[end as usize][usize::from(place)];
        host.bulk_flows = (host.bulk_flows + 1).min(QUEUES as u16);
    }

    /// The flow is no longer a bulk flow of its host.
    pub fn remove(&mut self, end: End, place: u16) {
        let host = &mut self.0[end as usize][usize::from(place)];
        host.bulk_flows = host.bulk_flows.saturating_sub(1);
    }

    /// Bulk flows of the host.
    #[inline]
    pub fn bulk_flows(&self, end: End, place: u16) -> u16 {
        self.0[end as usize][usize::from(place)].bulk_flows
    }
}
