//! A window that puts streams back into the order of their numbers as far as its size allows:
//! connections are handed out when they close, people and programs expect them by number.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Streams held back at most: a few megabytes.
const WINDOW: usize = 2048;

/// Largest buffer that is kept, in bytes.
const LARGE: usize = 16 * 1024;

/// The window: streams as text, each with its number.
#[derive(Default)]
pub struct Reorder {
    held: BinaryHeap<Reverse<(u32, Vec<u8>)>>,
    /// One past the largest number given out.
    next: u32,
    /// Buffers that may be used again.
    free: Vec<Vec<u8>>,
}

impl Reorder {
    /// An empty buffer for the text of a stream.
    pub fn buffer(&mut self) -> Vec<u8> {
        // Most streams take between two and three kilobytes.
        self.free.pop().unwrap_or_else(|| Vec::with_capacity(4096))
    }

    /// Takes back the buffer of a text that was written.
    pub fn give_back(&mut self, mut text: Vec<u8>) {
        if text.capacity() <= LARGE {
            text.clear();
            self.free.push(text);
        }
    }

    /// Takes a stream in.
    pub fn push(&mut self, number: u32, text: Vec<u8>) {
        self.held.push(Reverse((number, text)));
    }

    /// The next stream that may go: the next in number, or the smallest when the window is full.
    pub fn ready(&mut self) -> Option<Vec<u8>> {
        let Reverse((first, _)) = self.held.peek()?;
        if *first > self.next && self.held.len() <= WINDOW {
            return None;
        }
        self.pop()
    }

    /// The smallest stream held; for the end of a capture.
    pub fn pop(&mut self) -> Option<Vec<u8>> {
        let Reverse((number, text)) = self.held.pop()?;
        self.next = self.next.max(number.saturating_add(1));
        Some(text)
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
        let number = |text: &[u8]| std::str::from_utf8(text).unwrap().parse().unwrap();
        for stream in numbers {
            let mut text = window.buffer();
            assert!(text.is_empty(), "a buffer that was used before");
            text.extend_from_slice(stream.to_string().as_bytes());
            window.push(stream, text);
            while let Some(text) = window.ready() {
                out.push(number(&text));
                window.give_back(text);
            }
        }
        while let Some(text) = window.pop() {
            out.push(number(&text));
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
    fn open_stream_does_not_block_the_others_for_ever() {
        let n = 3 * WINDOW as u32;
        let out = through((1..n).chain([0]));
        assert_eq!(out.len(), n as usize);
        assert_eq!(out.last(), Some(&0), "the open one comes at the end");
        assert_eq!(out.windows(2).filter(|w| w[0] > w[1]).count(), 1);
    }
}
