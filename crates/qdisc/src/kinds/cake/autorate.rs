//! `autorate-ingress`: an estimate of what the link before can carry.

use tcplab_base::Instant;

use super::tin::ewma;

/// The estimate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Autorate {
    last_packet: Instant,
    window_begin: Instant,
    window_bytes: u64,
    interval_ns: u64,
    /// Bytes a second.
    pub peak: u64,
}

const NS_A_SECOND: u64 = 1_000_000_000;
/// Before any packet came: the kernel's clock has run for a while then.
pub(crate) const LONG_AGO: Instant = Instant::from_nanos(-10_000 * NS_A_SECOND as i64);

impl Autorate {
    pub fn new(rate: u64) -> Self {
        Self {
            last_packet: LONG_AGO,
            window_begin: LONG_AGO,
            window_bytes: 0,
            interval_ns: 0,
            peak: rate,
        }
    }

    /// Autorate is off: only the time is noted.
    pub fn idle(&mut self, now: Instant) {
        self.window_bytes = 0;
        self.last_packet = now;
    }

    /// So many bytes more wait: a packet came, and an ACK may have given way. Some: the new rate in bytes a second.
    pub fn on_packet(&mut self, now: Instant, bytes: i64) -> Option<u64> {
        self.window_bytes = self.window_bytes.saturating_add_signed(bytes);
        let interval = (now.since(self.last_packet).as_nanos() as u64).min(NS_A_SECOND);
        let shift = if interval > self.interval_ns { 2 } else { 8 };
        self.interval_ns = ewma(self.interval_ns, interval, shift);
        self.last_packet = now;
        if interval <= self.interval_ns {
            return None;
        }
        let window = now.since(self.window_begin).as_nanos() as u64;
        let rate = self.window_bytes.saturating_mul(NS_A_SECOND) / window.max(1);
        self.peak = ewma(self.peak, rate, if rate > self.peak { 2 } else { 8 });
        self.window_bytes = 0;
        self.window_begin = now;
        // Linux 6.1 means to do this once in 250 ms, but never notes when it did.
        Some((self.peak * 15) >> 4)
    }
}
