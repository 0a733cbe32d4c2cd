//! RED's mean length of the queue (`red_calc_qavg()`).

use tcplab_base::Instant;

use super::settings::Settings;

/// The mean in bytes, times 2^wlog.
#[derive(Clone, Debug)]
pub(crate) struct Average {
    wlog: u8,
    scell_log: u8,
    damping: Box<[u8; 256]>,
    mean: u64,
    /// Since when nothing waits; none: something does.
    idle: Option<Instant>,
}

impl Average {
    pub fn new(settings: &Settings) -> Self {
        Self {
            wlog: settings.wlog,
            scell_log: settings.scell_log,
            damping: settings.damping.clone(),
            mean: 0,
            // With a mean of 0 it does not matter since when.
            idle: Some(Instant::from_nanos(0)),
        }
    }

    /// A length with the mean's scale.
    pub fn scale(&self, bytes: u32) -> u64 {
        u64::from(bytes) << self.wlog
    }

    pub fn scaled(&self) -> u64 {
        self.mean
    }

    /// A packet comes while so many bytes wait. After an idle time, its length is not looked at.
    pub fn on_packet(&mut self, now: Instant, backlog: u64) {
        self.mean = match self.idle.take() {
            Some(since) => self.after(now, since),
            None => (self.mean + backlog).saturating_sub(self.mean >> self.wlog),
        };
    }

    /// The queue is found empty.
    pub fn idle(&mut self, now: Instant) {
        self.idle.get_or_insert(now);
    }

    /// The mean at a time at which no packet comes.
    pub fn at(&self, now: Instant) -> u64 {
        self.idle.map_or(self.mean, |since| self.after(now, since))
    }

    fn after(&self, now: Instant, since: Instant) -> u64 {
        let longest = 255_i64 << self.scell_log;
        let us = now.since(since).as_micros().clamp(0, longest) as u64;
        let shift = self.damping[(us >> self.scell_log) as usize & 255];
        if shift > 0 {
            return self.mean >> shift;
        }
        // The first part of the exponential is taken as a line.
        let less = (u128::from(self.mean) * u128::from(us)) >> self.scell_log;
        let half = self.mean >> 1;
        match less < u128::from(half) {
            true => self.mean - less as u64,
            false => half,
        }
    }
}
