//! Which queue is longest: a heap over all queues of all tins, made when memory first runs out.

use super::flow::QUEUES;

/// Tins at most.
pub(crate) const TINS: usize = 8;
const ALL: usize = TINS * QUEUES;

/// A queue by tin and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Which {
    pub tin: u8,
    pub flow: u16,
}

impl Which {
    fn index(self) -> usize {
        usize::from(self.tin) * QUEUES + usize::from(self.flow)
    }
}

/// The heap; empty while nothing was dropped for lack of memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overflow {
    heap: Vec<Which>,
    places: Vec<u16>,
    /// Dequeues for which it is kept in order.
    timeout: u16,
}

impl Overflow {
    /// Whether changes of queues are to be told.
    #[inline]
    pub fn is_kept(&self) -> bool {
        self.timeout > 0
    }

    /// The longest queue.
    pub fn longest(&mut self, backlog: impl Fn(Which) -> u32) -> Which {
        if self.heap.is_empty() {
            self.heap = (0..ALL)
                .map(|n| Which {
                    tin: (n % TINS) as u8,
                    flow: (n / TINS) as u16,
                })
                .collect();
            self.places = vec![0; ALL];
            for (place, which) in self.heap.iter().enumerate() {
                self.places[which.index()] = place as u16;
            }
        }
        if self.timeout == 0 {
            for place in (0..=ALL / 2).rev() {
                self.sink(place, &backlog);
            }
        }
        self.timeout = u16::MAX;
        self.heap[0]
    }

    /// The heap was wrong: make it anew.
    pub fn distrust(&mut self) {
        self.timeout = 0;
    }

    /// A packet left; after so many the heap is not kept any longer.
    pub fn age(&mut self) {
        self.timeout = self.timeout.saturating_sub(1);
    }

    /// The longest queue has become shorter.
    pub fn longest_shrank(&mut self, backlog: impl Fn(Which) -> u32) {
        self.sink(0, &backlog);
    }

    /// A queue has become shorter.
    pub fn shrank(&mut self, which: Which, backlog: impl Fn(Which) -> u32) {
        let place = usize::from(self.places[which.index()]);
        self.sink(place, &backlog);
    }

    /// A queue has become longer.
    pub fn grew(&mut self, which: Which, backlog: impl Fn(Which) -> u32) {
        let mut place = usize::from(self.places[which.index()]);
        while place > 0 {
            let above = (place - 1) / 2;
            if backlog(self.heap[place]) <= backlog(self.heap[above]) {
                return;
            }
            self.swap(place, above);
            place = above;
        }
    }

    /// As the kernel's `cake_heapify`: what moved up stays the measure one level further down, so an element seldom sinks
    /// by more than one level, and the heap is one only roughly.
    fn sink(&mut self, mut place: usize, backlog: &impl Fn(Which) -> u32) {
        let mut longest = backlog(self.heap[place]);
        loop {
            let mut most = place;
            for child in [2 * place + 1, 2 * place + 2] {
                if child < ALL && backlog(self.heap[child]) > longest {
                    (most, longest) = (child, backlog(self.heap[child]));
                }
            }
            if most == place {
                return;
            }
            self.swap(place, most);
            place = most;
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        self.places[self.heap[a].index()] = a as u16;
        self.places[self.heap[b].index()] = b as u16;
    }
}
