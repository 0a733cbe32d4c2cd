//! How long a queue was how long: its bytes weighted by time, at each packet.

use tcplab_base::{Duration, Instant};
use tcplab_plan::outcome::QueueCount;

/// Bits of a value that its place among the times keeps: a part in a thousand.
const BITS: u32 = 10;

/// The bytes of a queue over time. What is before its begin does not count.
#[derive(Clone, Debug)]
pub(crate) struct Depth {
    /// The part of the run that does not count; `None` if means and parts of time are not wanted.
    settle: Option<Duration>,
    from: Instant,
    /// When the applications have ended: from there on it counts until it is empty.
    ends: Option<Instant>,
    is_over: bool,
    /// When it got the bytes that it has.
    since: Instant,
    bytes: u64,
    /// What it has from a later time on: the frame on the wire is out then.
    falls: Option<(Instant, u64)>,
    most: u64,
    /// The fewest and the most bytes that it had for some time since they were taken last.
    extremes: Option<(u64, u64)>,
    /// Bytes times nanoseconds.
    sum: u128,
    /// Nanoseconds with each number of bytes, by its place.
    times: Vec<u64>,
}

impl Depth {
    /// Of a run that starts at time 0, unless told otherwise.
    pub fn new(settle_ns: Option<i64>) -> Self {
        let settle = settle_ns.map(Duration::from_nanos);
        Self {
            settle,
            from: begin(Instant::default(), settle),
            ends: None,
            is_over: false,
            since: Instant::default(),
            bytes: 0,
            falls: None,
            most: 0,
            extremes: None,
            sum: 0,
            times: Vec::new(),
        }
    }

    /// The run starts at this time.
    pub fn begin(&mut self, start: Instant) {
        self.from = begin(start, self.settle);
        self.since = start;
    }

    /// The applications have ended: what comes after the last of their bytes does not count.
    pub fn ends(&mut self, now: Instant) {
        self.ends = Some(now);
    }

    /// It has so many bytes from now on.
    pub fn set(&mut self, now: Instant, bytes: u64) {
        if let Some((at, left)) = self.falls.take_if(|(at, _)| *at <= now) {
            self.step(at, left);
        }
        self.falls = None;
        self.step(now, bytes);
    }

    /// It has so many bytes from now on, and other ones from a later time on.
    pub fn set_until(&mut self, now: Instant, bytes: u64, falls: (Instant, u64)) {
        self.set(now, bytes);
        self.falls = Some(falls);
    }

    /// So many bytes more, or less.
    pub fn add(&mut self, now: Instant, bytes: i64) {
        let bytes = self.bytes.saturating_add_signed(bytes);
        self.step(now, bytes);
    }

    /// The bytes that it has, and the fewest and the most that it had for some time since they were taken last.
    pub fn take_extremes(&mut self, now: Instant) -> [u64; 3] {
        match self.falls.take_if(|(at, _)| *at <= now) {
            Some((at, left)) => {
                self.step(at, left);
                self.step(now, left);
            }
            None => self.step(now, self.bytes),
        }
        let (least, most) = self.extremes.take().unwrap_or((self.bytes, self.bytes));
        [self.bytes, least.min(self.bytes), most.max(self.bytes)]
    }

    fn step(&mut self, now: Instant, bytes: u64) {
        if now > self.since {
            let (least, most) = self.extremes.unwrap_or((self.bytes, self.bytes));
            self.extremes = Some((least.min(self.bytes), most.max(self.bytes)));
        }
        let begin = self.since.max(self.from);
        let idle_until = self.ends.filter(|_| self.bytes == 0);
        let until = idle_until.map_or(now, |ends| now.min(ends));
        if until > begin && !self.is_over {
            let ns = until.since(begin).as_nanos().max(0) as u64;
            self.sum += u128::from(self.bytes) * u128::from(ns);
            self.most = self.most.max(self.bytes);
            let place = place(self.bytes);
            if self.times.len() <= place {
                self.times.resize(place + 1, 0);
            }
            self.times[place] += ns;
        }
        self.is_over |= idle_until.is_some_and(|ends| now > ends);
        self.since = self.since.max(now);
        self.bytes = bytes;
    }

    /// The count until `now`; `None` if no time has counted yet.
    pub fn until(&self, now: Instant) -> Option<QueueCount> {
        let mut whole = self.clone();
        let bytes = whole.bytes;
        match whole.falls.filter(|(at, _)| *at <= now) {
            Some((at, left)) => {
                whole.step(at, left);
                whole.step(now, left);
            }
            None => whole.step(now, bytes),
        }
        let ns: u64 = whole.times.iter().sum();
        let mean = (whole.sum + u128::from(ns) / 2).checked_div(ns.into())?;
        Some(QueueCount {
            ns,
            mean_bytes: mean as u64,
            p50_bytes: whole.part(ns, 50).min(whole.most),
            p99_bytes: whole.part(ns, 99).min(whole.most),
            max_bytes: whole.most,
        })
    }

    /// The fewest bytes that it did not exceed for so many of a hundred parts of the time.
    fn part(&self, ns: u64, percent: u64) -> u64 {
        let need = u128::from(ns) * u128::from(percent);
        let mut so_far = 0;
        let found = self.times.iter().position(|ns| {
            so_far += u128::from(*ns) * 100;
            so_far >= need
        });
        found.map_or(0, most_of)
    }
}

/// When it begins to count.
fn begin(start: Instant, settle: Option<Duration>) -> Instant {
    settle.map_or(Instant::from_nanos(i64::MAX), |settle| start + settle)
}

/// Numbers up to 2,047 have a place each; above, as many places for each power of two.
fn place(bytes: u64) -> usize {
    let shift = (u64::BITS - bytes.leading_zeros()).saturating_sub(BITS + 1);
    ((shift as usize) << BITS) + (bytes >> shift) as usize
}

/// The largest number of a place.
fn most_of(place: usize) -> u64 {
    let shift = (place >> BITS).saturating_sub(1);
    let value = (place - (shift << BITS)) as u64;
    ((value + 1) << shift) - 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: i64) -> Instant {
        Instant::from_nanos(ns)
    }

    #[test]
    fn places_keep_three_digits() {
        let numbers = (0..5_000).chain([65_535, 65_536, 1 << 20, 12_345_678, u64::from(u32::MAX)]);
        let mut last = 0;
        for bytes in numbers {
            let most = most_of(place(bytes));
            assert!(
                most >= bytes && most - bytes <= bytes >> BITS,
                "{bytes} {most}"
            );
            assert_eq!(place(most), place(bytes));
            assert!(most >= last);
            last = most;
        }
    }

    /// 100 ns with 0 bytes, 100 ns with 3,000, 2 ns with 9,000, of which the first 50 ns do not count.
    #[test]
    fn bytes_are_weighted_by_time() {
        let mut depth = Depth::new(Some(50));
        assert_eq!(depth.until(at(50)), None);
        depth.set(at(100), 1_500);
        depth.add(at(100), 1_500);
        assert_eq!(depth.until(at(100)).map(|count| count.ns), Some(50));
        depth.set_until(at(200), 9_000, (at(202), 0));
        let count = depth.until(at(202)).unwrap();
        assert_eq!(count.ns, 152);
        assert_eq!(count.mean_bytes, (300_000 + 18_000 + 76) / 152, "rounded");
        assert_eq!((count.p50_bytes, count.max_bytes), (3_001, 9_000));
        assert_eq!(count.p99_bytes, 9_000);
        // What falls has fallen.
        assert_eq!(depth.until(at(252)).unwrap().ns, 202);
        assert_eq!(depth.until(at(252)).unwrap().mean_bytes, 1_574);
        depth.set(at(252), 700);
        assert_eq!(depth.until(at(252)).unwrap().mean_bytes, 1_574);
    }

    /// A depth that lasted no time is no extreme. The current depth belongs to the next extremes.
    #[test]
    fn extremes_are_of_the_time_since_they_were_taken() {
        let mut depth = Depth::new(None);
        depth.set(at(10), 3_000);
        depth.set(at(20), 9_000);
        depth.set(at(20), 1_000);
        assert_eq!(depth.take_extremes(at(30)), [1_000, 0, 3_000]);
        assert_eq!(depth.take_extremes(at(30)), [1_000, 1_000, 1_000]);
        depth.set_until(at(40), 5_000, (at(45), 2_000));
        assert_eq!(depth.take_extremes(at(42)), [5_000, 1_000, 5_000]);
        assert_eq!(depth.take_extremes(at(60)), [2_000, 2_000, 5_000]);
        assert_eq!(depth.take_extremes(at(70)), [2_000, 2_000, 2_000]);
        assert_eq!(depth.until(at(80)), None, "nobody asked for it");
    }

    /// 3,000 bytes until 100 ns, 1,000 until 150: idle time behind the end of the applications does not count, nor what
    /// comes later.
    #[test]
    fn it_counts_until_the_applications_have_ended_and_it_is_empty() {
        let mut depth = Depth::new(Some(0));
        depth.set(at(0), 3_000);
        depth.ends(at(60));
        depth.set(at(100), 1_000);
        depth.set(at(150), 0);
        let count = depth.until(at(500)).unwrap();
        assert_eq!((count.ns, count.mean_bytes), (150, 2_333));
        depth.set(at(500), 9_000);
        assert_eq!(depth.until(at(600)), Some(count));
        // An empty queue counts until they end.
        let mut depth = Depth::new(Some(0));
        depth.set(at(0), 3_000);
        depth.set(at(100), 0);
        depth.ends(at(300));
        let count = depth.until(at(500)).unwrap();
        assert_eq!((count.ns, count.mean_bytes), (300, 1_000));
    }

    #[test]
    fn a_run_begins_when_it_is_told() {
        let mut depth = Depth::new(Some(10));
        depth.begin(at(1_000));
        depth.set(at(1_005), 100);
        assert_eq!(depth.until(at(1_010)), None);
        let count = depth.until(at(1_020)).unwrap();
        assert_eq!(
            (count.ns, count.mean_bytes, count.p99_bytes),
            (10, 100, 100)
        );
    }
}
