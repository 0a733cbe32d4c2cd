//! Times at which netem's packets leave together (`get_slot_next()`).

use tcplab_base::{Duration, Instant, Random};

use super::random::draw;
use super::settings::{Every, Slot as Settings};
use super::spread::Spread;

/// The slot that is next.
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    next: Instant,
    packets_left: u32,
    bytes_left: u32,
    packets: u32,
    bytes: u32,
    delay: Delay,
}

#[derive(Clone, Debug)]
enum Delay {
    Between(i64, i64, Random),
    Spread(Spread),
}

impl Slots {
    /// None when the words leave no time between slots.
    pub fn new(settings: &Settings, draws: Random) -> Option<Self> {
        let any = |n: u32| if n == 0 { i32::MAX as u32 } else { n };
        let delay = match settings.every {
            Every::Between { max_ns: 0, .. } | Every::Distributed { jitter_ns: 0, .. } => {
                return None;
            }
            Every::Between { min_ns, max_ns } => Delay::Between(min_ns, max_ns, draws),
            Every::Distributed {
                by,
                delay_ns,
                jitter_ns,
            } => Delay::Spread(Spread::new([delay_ns, jitter_ns], by, 0, draws)),
        };
        Some(Self {
            // In the kernel: when the words were given. It lies before any packet's time either way.
            next: Instant::from_nanos(i64::MIN),
            packets_left: any(settings.packets),
            bytes_left: any(settings.bytes),
            packets: any(settings.packets),
            bytes: any(settings.bytes),
            delay,
        })
    }

    /// The slot for a packet that may leave from `at` on: one that is past gives way to a new one.
    pub fn for_packet(&mut self, now: Instant, at: Instant) -> Instant {
        if self.next < at {
            self.begin(now);
        }
        self.next
    }

    /// A packet leaves in the slot, and may be its last.
    pub fn takes(&mut self, now: Instant, len: u32) {
        self.packets_left = self.packets_left.saturating_sub(1);
        self.bytes_left = self.bytes_left.saturating_sub(len);
        if self.packets_left == 0 || self.bytes_left == 0 {
            self.begin(now);
        }
    }

    fn begin(&mut self, now: Instant) {
        let ns = match &mut self.delay {
            Delay::Between(min, max, draws) => {
                let range = (*max - *min).max(0) as u128;
                *min + ((range * u128::from(draw(draws))) >> 32) as i64
            }
            Delay::Spread(spread) => spread.next(),
        };
        self.next = now + Duration::from_nanos(ns);
        (self.packets_left, self.bytes_left) = (self.packets, self.bytes);
    }
}
