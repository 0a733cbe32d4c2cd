//! The output at an end. Frames that follow each other as on a fast wire are joined before the host gets them, as a
//! card's driver does (GRO).

use tcplab_base::{Duration, Instant};
use tcplab_os::{Context, OsError};
use tcplab_wire::{Joiner, SuperFrame, VnetHeader};

use super::port::{Header, LONGEST, Port};

/// Frames that are due within this time of each other are joined: those of a wire of 600 Mbit/s and more.
const TOGETHER: Duration = Duration::from_micros(20);

/// A frame without work for the host: its checksums are filled in.
const COMPLETE: Header = [0; VnetHeader::LEN];

/// How many frames and bytes a device took, and how many frames it had no room for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) frames: u64,
    pub(super) bytes: u64,
    pub(super) refused: u64,
}

/// Frames on their way to a device.
#[derive(Debug, Default)]
pub(super) struct Out {
    held: Option<Held>,
    joiner: Option<Joiner>,
    /// For super-segments.
    room: Vec<u8>,
    pub(super) written: Written,
}

/// What waits for others to join it.
#[derive(Debug)]
struct Held {
    first: Vec<u8>,
    /// When the last one of it was due.
    last: Instant,
    frames: u64,
    bytes: u64,
}

impl Out {
    /// A frame that was due at `at` goes out, now or with those that follow: [`Out::flush`] ends it. Gives a buffer back.
    pub(super) fn push(
        &mut self,
        at: Instant,
        frame: Vec<u8>,
        to: &Port,
    ) -> Result<Option<Vec<u8>>, OsError> {
        let frame = SuperFrame::plain(frame);
        if self.joins(at, &frame) {
            return Ok(Some(frame.into_bytes()));
        }
        let before = self.flush(to)?;
        let first = frame.into_bytes();
        self.held = Some(Held {
            last: at,
            frames: 1,
            bytes: first.len() as u64,
            first,
        });
        Ok(before)
    }

    /// Whether the frame has joined those that wait.
    fn joins(&mut self, at: Instant, frame: &SuperFrame) -> bool {
        let Some(held) = self
            .held
            .as_mut()
            .filter(|held| at.since(held.last) <= TOGETHER)
        else {
            return false;
        };
        let room = &mut self.room;
        let joiner = self.joiner.get_or_insert_with(|| {
            let mut room = std::mem::take(room);
            room.clear();
            room.reserve(LONGEST);
            room.extend_from_slice(&held.first);
            Joiner::new(SuperFrame::plain(room))
        });
        let joins = joiner.push(frame);
        if joins {
            held.last = at;
            held.frames += 1;
            held.bytes += frame.bytes().len() as u64;
        }
        joins
    }

    /// What waits goes out. Gives a buffer back.
    pub(super) fn flush(&mut self, to: &Port) -> Result<Option<Vec<u8>>, OsError> {
        let Some(held) = self.held.take() else {
            return Ok(None);
        };
        let is_written = match self.joiner.take() {
            None => to.write(&COMPLETE, &held.first),
            Some(joiner) => {
                let joined = joiner.finish();
                let is_written = to.write(&joined.header().emit(), joined.bytes());
                self.room = joined.into_bytes();
                is_written
            }
        };
        let is_written = is_written.tried("cannot write to a device of the link")?;
        self.count(held.frames, held.bytes, is_written);
        Ok(Some(held.first))
    }

    /// A frame or super-segment as it came in.
    pub(super) fn pass(&mut self, header: &Header, frame: &[u8], to: &Port) -> Result<(), OsError> {
        let written = to.write(header, frame);
        let is_written = written.tried("cannot write to a device of the link")?;
        self.count(1, frame.len() as u64, is_written);
        Ok(())
    }

    fn count(&mut self, frames: u64, bytes: u64, is_written: bool) {
        let written = &mut self.written;
        if is_written {
            written.frames += frames;
            written.bytes += bytes;
        } else {
            written.refused += frames;
        }
    }
}
