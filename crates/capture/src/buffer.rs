//! One growing window over an input: records borrow it, nothing is copied.
//!
//! The buffer grows only when it is full of bytes that really arrived, so a length field in a file can never make it
//! allocate more than twice what the file holds.

use std::io::{ErrorKind, Read};
use std::ops::Range;

use crate::Error;

/// Size at the start; files are read in pieces of about this size.
const START: usize = 256 * 1024;

pub(crate) struct Buffer<R> {
    input: R,
    bytes: Vec<u8>,
    /// What is there and not consumed: `bytes[start..end]`.
    start: usize,
    end: usize,
    /// Offset in the stream of `bytes[start]`.
    offset: u64,
    at_end: bool,
}

impl<R: Read> Buffer<R> {
    pub(crate) fn new(input: R) -> Self {
        Self {
            input,
            bytes: vec![0; START],
            start: 0,
            end: 0,
            offset: 0,
            at_end: false,
        }
    }

    /// Offset in the stream of the next byte.
    pub(crate) const fn offset(&self) -> u64 {
        self.offset
    }

    /// What is there already.
    #[inline]
    pub(crate) fn ready(&self) -> &[u8] {
        self.bytes.get(self.start..self.end).unwrap_or_default()
    }

    /// Waits for `n` bytes; fewer are given at the end of the input only.
    ///
    /// # Errors
    /// When the input cannot be read.
    #[inline]
    pub(crate) fn peek(&mut self, n: usize) -> Result<&[u8], Error> {
        if self.end - self.start < n {
            self.fill(n)?;
        }
        let have = self.ready();
        Ok(have.get(..n).unwrap_or(have))
    }

    #[cold]
    fn fill(&mut self, n: usize) -> Result<(), Error> {
        while !self.at_end && self.end - self.start < n {
            self.make_room(n);
            let Some(room) = self.bytes.get_mut(self.end..) else {
                return Ok(());
            };
            match self.input.read(room) {
                Ok(0) => self.at_end = true,
                Ok(got) => self.end += got.min(room.len()),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => {
                    self.at_end = true;
                    let at = self.offset + (self.end - self.start) as u64;
                    return Err(Error::at(at, format!("cannot read on: {e}")));
                }
            }
        }
        Ok(())
    }

    /// Room for at least one byte more: moves the rest to the front, then doubles.
    fn make_room(&mut self, n: usize) {
        if self.start > 0 && self.start + n > self.bytes.len() {
            self.bytes.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        if self.end == self.bytes.len() {
            self.bytes.resize(self.bytes.len() * 2, 0);
        }
    }

    /// Takes `n` bytes that are there and gives where they stand until the next `peek`.
    #[inline]
    pub(crate) fn take(&mut self, n: usize) -> Range<usize> {
        let n = n.min(self.end - self.start);
        let range = self.start..self.start + n;
        self.start += n;
        self.offset += n as u64;
        range
    }

    /// The bytes of a range that `take` gave.
    #[inline]
    pub(crate) fn slice(&self, range: Range<usize>) -> &[u8] {
        self.bytes.get(range).unwrap_or_default()
    }

    /// Passes over `n` bytes without keeping them. Whether there were that many.
    ///
    /// # Errors
    /// When the input cannot be read.
    pub(crate) fn skip(&mut self, n: u64) -> Result<bool, Error> {
        let mut left = n;
        while left > 0 {
            let piece = usize::try_from(left).unwrap_or(usize::MAX).min(START / 2);
            let got = self.peek(piece)?.len();
            if got == 0 {
                return Ok(false);
            }
            self.take(got);
            left -= got as u64;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives `left` bytes, a few at a time.
    struct Drip {
        left: usize,
    }

    impl Read for Drip {
        fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
            let n = buf.len().min(self.left).min(7_777);
            self.left -= n;
            Ok(n)
        }
    }

    #[test]
    fn memory_follows_received_not_requested_bytes() {
        for left in [0, 1, START - 1, START, START + 1, 3 * START] {
            let mut buffer = Buffer::new(Drip { left });
            let got = buffer.peek(usize::MAX / 4).map(<[u8]>::len);
            assert_eq!(got, Ok(left));
            assert!(buffer.bytes.len() <= START.max(2 * left));
        }
    }

    #[test]
    fn consumed_bytes_make_room() {
        let mut buffer = Buffer::new(Drip { left: 100 * START });
        for _ in 0..1_000 {
            assert_eq!(buffer.peek(20_000).map(<[u8]>::len), Ok(20_000));
            buffer.take(20_000);
        }
        assert_eq!(buffer.bytes.len(), START);
        assert_eq!(buffer.offset(), 20_000_000);
        assert_eq!(buffer.skip(1 << 40), Ok(false));
        assert_eq!(buffer.offset(), 100 * START as u64);
        assert_eq!(buffer.bytes.len(), START);
    }
}
