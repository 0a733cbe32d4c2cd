//! Other settings of a wire while frames are on it.
//!
//! What has left keeps its time, and order is kept: a shorter delay counts from the frame on that no earlier one is in
//! front of. What waits for the rate leaves at the new one. Times for which the link stands still end with the change.

use std::cmp::Reverse;

use tcplab_base::{Duration, Instant};
use tcplab_plan::point::Direction;

use super::Way;
use crate::depth::Depth;
use crate::fifo::Fifo;

impl<F: Clone> Way<F> {
    /// Other settings from `now` on; `len` gives the bytes of a frame. Streams of chances that have changed begin anew,
    /// listed events that are still there go on counting.
    pub(crate) fn change(
        &mut self,
        now: Instant,
        way: &Direction,
        (seed, name): (u64, &str),
        len: impl Fn(&F) -> usize,
    ) {
        self.choose.change(way, seed, name);
        self.delay = Duration::from_nanos(way.delay_ns);
        self.jitter = Duration::from_nanos(way.jitter_ns);
        let depth = self.take_depth(now);
        let mut fifo = Fifo::of(way);
        if let Some(fifo) = &mut fifo
            && (self.counts_whole || depth.is_some())
        {
            fifo.count_whole();
        }
        if let Some(mut old) = self.fifo.take() {
            if let Some(fifo) = &mut fifo {
                fifo.follows(&mut old);
            }
            let waiting: Vec<Instant> = old.not_out(now).collect();
            self.send_again(&waiting, fifo.as_mut(), len);
        }
        self.fifo = fifo;
        if let Some(depth) = depth {
            self.take_over(now, depth);
        }
    }

    /// Gives away what it knows of how long its queue was.
    pub(crate) fn take_depth(&mut self, now: Instant) -> Option<Box<Depth>> {
        let fifo = self.fifo.as_mut();
        let depth = fifo.and_then(|fifo| fifo.take_depth(now));
        depth.or_else(|| self.depth.take())
    }

    /// Goes on with what is known of how long the queue was.
    pub(crate) fn take_over(&mut self, now: Instant, mut depth: Box<Depth>) {
        match &mut self.fifo {
            Some(fifo) => fifo.take_over(now, depth),
            None => {
                depth.set(now, 0);
                self.depth = Some(depth);
            }
        }
    }

    /// Bytes that wait or are on their way out.
    pub(crate) fn holds_bytes(&self, now: Instant) -> u64 {
        let held = self.fifo.as_ref().map_or(0, |fifo| fifo.holds(now).1);
        u64::try_from(held).unwrap_or(0)
    }

    /// Drops what waits in the FIFO, as if it had never entered; the frame on its way out goes on. Returns their number
    /// and their bytes.
    pub(crate) fn drop_waiting(&mut self, now: Instant, len: impl Fn(&F) -> usize) -> (u32, u64) {
        let fifo = self.fifo.as_mut();
        let gone = fifo.map_or(0, |fifo| fifo.drop_waiting(now)) as u64;
        let kept = self.order.saturating_sub(gone);
        let (mut pkts, mut bytes) = (0, 0);
        let mut drop = |frame: &F| {
            pkts += 1;
            bytes += len(frame) as u64;
        };
        while self.line.back().is_some_and(|place| place.number >= kept) {
            self.line.pop_back();
            self.frames.pop_back().iter().for_each(&mut drop);
        }
        let late = std::mem::take(&mut self.overtaken).into_iter();
        for Reverse((at, number, place)) in late {
            if number < kept {
                self.overtaken.push(Reverse((at, number, place)));
                continue;
            }
            let gone = self.late.get_mut(place).and_then(Option::take);
            gone.iter().for_each(|late| drop(&late.frame));
            self.free.push(place);
        }
        self.order = kept;
        self.count.queue_drops += u64::from(pkts);
        self.more_bytes -= bytes as i64;
        let first = Instant::from_nanos(i64::MIN);
        self.last = self.line.back().map_or(first, |place| place.at);
        (pkts, bytes)
    }

    /// Frames whose last bits were to leave at these times, the first of them being on its way out, leave as the new
    /// FIFO says.
    fn send_again(
        &mut self,
        waiting: &[Instant],
        mut fifo: Option<&mut Fifo>,
        len: impl Fn(&F) -> usize,
    ) {
        let Some(first) = waiting.first() else { return };
        let begin = self.order.saturating_sub(waiting.len() as u64);
        if let Some(fifo) = &mut fifo {
            fifo.begin(*first, self.frame(begin).map_or(0, &len));
        }
        let mut leaves = *first;
        for (number, old) in (begin..).zip(waiting).skip(1) {
            let bytes = self.frame(number).map_or(0, &len);
            if let Some(fifo) = &mut fifo {
                leaves = fifo.sends(bytes);
            }
            self.moves(number, leaves.since(*old));
        }
        // Frames that keep their order keep it.
        let mut last = Instant::from_nanos(i64::MIN);
        for place in &mut self.line {
            place.at = place.at.max(last);
            last = place.at;
        }
        self.last = last;
    }

    /// A frame that is still in the way.
    fn frame(&self, number: u64) -> Option<&F> {
        match self
            .line
            .binary_search_by_key(&number, |place| place.number)
        {
            Ok(at) => self.frames.get(at),
            Err(_) => {
                let mut late = self.overtaken.iter();
                let place = late.find(|late| late.0.1 == number)?.0.2;
                self.late.get(place)?.as_ref().map(|late| &late.frame)
            }
        }
    }

    /// It comes out by this much later.
    fn moves(&mut self, number: u64, by: Duration) {
        if let Ok(at) = self
            .line
            .binary_search_by_key(&number, |place| place.number)
        {
            if let Some(place) = self.line.get_mut(at) {
                place.at = place.at + by;
            }
            return;
        }
        let mut late = std::mem::take(&mut self.overtaken).into_vec();
        if let Some(entry) = late.iter_mut().find(|late| late.0.1 == number) {
            entry.0.0 = entry.0.0 + by;
            if let Some(Some(frame)) = self.late.get_mut(entry.0.2) {
                frame.at = entry.0.0;
            }
        }
        self.overtaken = late.into();
    }
}
