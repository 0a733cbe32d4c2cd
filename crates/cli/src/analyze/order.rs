//! A window that puts streams back into the order of their numbers as far as its size allows:
//! connections are handed out when they close, people and programs expect them by number.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use tcplab_analyze::report::Stream;

/// Streams held back at most: a few megabytes.
const WINDOW: usize = 2048;

struct ByNumber(Box<Stream>);

impl PartialEq for ByNumber {
    fn eq(&self, other: &Self) -> bool {
        self.0.stream == other.0.stream
    }
}
impl Eq for ByNumber {}
impl PartialOrd for ByNumber {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for ByNumber {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.stream.cmp(&other.0.stream)
    }
}

/// The window.
#[derive(Default)]
pub struct Reorder {
    held: BinaryHeap<Reverse<ByNumber>>,
    /// One past the largest number given out.
    next: u32,
}

impl Reorder {
    /// Takes a stream in.
    pub fn push(&mut self, stream: Box<Stream>) {
        self.held.push(Reverse(ByNumber(stream)));
    }

    /// The next stream that may go: the next in number, or the smallest when the window is full.
    pub fn ready(&mut self) -> Option<Box<Stream>> {
        let first = self.held.peek()?.0.0.stream;
        if first > self.next && self.held.len() <= WINDOW {
            return None;
        }
        self.pop()
    }

    /// The smallest stream held; for the end of a capture.
    pub fn pop(&mut self) -> Option<Box<Stream>> {
        let Reverse(ByNumber(stream)) = self.held.pop()?;
        self.next = self.next.max(stream.stream.saturating_add(1));
        Some(stream)
    }

    /// Forgets the numbers: the next capture starts at 0.
    pub fn reset(&mut self) {
        self.next = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn through(numbers: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let (mut window, mut out) = (Reorder::default(), Vec::new());
        for stream in numbers {
            window.push(Box::new(Stream {
                stream,
                ..Stream::default()
            }));
            while let Some(s) = window.ready() {
                out.push(s.stream);
            }
        }
        while let Some(s) = window.pop() {
            out.push(s.stream);
        }
        out
    }

    #[test]
    fn sorts_what_fits_into_the_window() {
        assert_eq!(through([2, 1, 0, 5, 3]), [0, 1, 2, 3, 5]);
        let n = WINDOW as u32;
        let late_first: Vec<u32> = (1..n).chain([0]).collect();
        assert_eq!(through(late_first), (0..n).collect::<Vec<_>>());
    }

    #[test]
    fn a_stream_that_stays_open_does_not_hold_the_others_for_ever() {
        let n = 3 * WINDOW as u32;
        let out = through((1..n).chain([0]));
        assert_eq!(out.len(), n as usize);
        assert_eq!(out.last(), Some(&0), "the open one comes at the end");
        assert_eq!(out.windows(2).filter(|w| w[0] > w[1]).count(), 1);
    }
}
