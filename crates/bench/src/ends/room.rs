//! Memory for the bytes of a call.

use std::ops::{Deref, DerefMut};

/// Bytes of a page.
const PAGE: usize = 4_096;

/// Zeros that begin where a page does. Processors copy between such a place and the kernel faster than from where malloc(3) puts
/// large blocks, which is 16 bytes later.
#[derive(Debug)]
pub(super) struct Room {
    bytes: Vec<u8>,
    begin: usize,
    size: usize,
}

impl Room {
    /// For so many bytes.
    pub(super) fn of(size: usize) -> Self {
        let bytes = vec![0; size + PAGE];
        let begin = bytes.as_ptr().align_offset(PAGE).min(PAGE);
        Self { bytes, begin, size }
    }
}

impl Deref for Room {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.begin..self.begin + self.size]
    }
}

impl DerefMut for Room {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.begin..self.begin + self.size]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_begins_where_a_page_does() {
        for size in [1, 64, 131_072] {
            let mut room = Room::of(size);
            assert_eq!(room.len(), size);
            assert_eq!(room.as_ptr().addr() % PAGE, 0);
            room[size - 1] = 7;
            assert_eq!(room[size - 1], 7);
        }
    }
}
