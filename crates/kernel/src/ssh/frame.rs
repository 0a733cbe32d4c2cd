//! What both sides send each other: a head as JSON, and bytes.
//!
//! A frame: the length of the head and of the bytes (4 bytes each, big endian), the head, the bytes.

use std::io::{self, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Reply, Request};

/// Most bytes of a head: the outcome of a run with a long log.
const MOST_HEAD: u32 = 256 << 20;

/// Most bytes beside a head.
pub(super) const MOST_BYTES: usize = 4 << 20;

/// To the far side.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// A request with a number of its own.
    Call(u32, Request),
    /// The request of this number shall end.
    Stop(u32),
    /// The request of this number, which is ready, shall begin.
    Go(u32),
    /// The near side is still there.
    Alive,
}

/// From the far side, about the request of this number.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct News {
    pub(super) id: u32,
    pub(super) what: What,
}

/// What it is.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum What {
    /// More follows.
    Note(Reply),
    /// The last of the request.
    Done(Reply),
    /// It failed, in words for a person.
    Failed(String),
}

/// Writes one frame and flushes.
pub(super) fn write(to: &mut impl Write, head: &impl Serialize, bytes: &[u8]) -> io::Result<()> {
    let text = serde_json::to_vec(head).map_err(io::Error::other)?;
    let (Some(head), true) = (
        u32::try_from(text.len()).ok().filter(|n| *n <= MOST_HEAD),
        bytes.len() <= MOST_BYTES,
    ) else {
        return Err(io::Error::other("a message is too long"));
    };
    // One write: a frame is one packet where it fits.
    let mut frame = Vec::with_capacity(8 + text.len() + bytes.len());
    frame.extend_from_slice(&head.to_be_bytes());
    frame.extend_from_slice(&(bytes.len() as u32).to_be_bytes());
    frame.extend_from_slice(&text);
    frame.extend_from_slice(bytes);
    to.write_all(&frame)?;
    to.flush()
}

/// Reads one frame; none: the stream ends before it.
pub(super) fn read<H: DeserializeOwned>(from: &mut impl Read) -> io::Result<Option<(H, Vec<u8>)>> {
    let mut lengths = [0; 8];
    match from.read(&mut lengths)? {
        0 => return Ok(None),
        n => from.read_exact(&mut lengths[n..])?,
    }
    let [a, b, c, d, e, f, g, h] = lengths;
    let head = u32::from_be_bytes([a, b, c, d]);
    let bytes = u32::from_be_bytes([e, f, g, h]);
    if head > MOST_HEAD || bytes as usize > MOST_BYTES {
        return Err(wrong("this is not a message of tcplab"));
    }
    let head = exactly(from, head)?;
    let bytes = exactly(from, bytes)?;
    let head = serde_json::from_slice(&head).map_err(|e| wrong(&e.to_string()))?;
    Ok(Some((head, bytes)))
}

/// Reads exactly this many bytes. Memory grows with the received bytes, not with the announced ones.
fn exactly(from: &mut impl Read, length: u32) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let got = from.take(length.into()).read_to_end(&mut bytes)?;
    match got == length as usize {
        true => Ok(bytes),
        false => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_in_comes_out() {
        let mut stream = Vec::new();
        write(&mut stream, &Order::Stop(7), b"").unwrap();
        write(&mut stream, &Order::Alive, &[0, 1, 255]).unwrap();
        let mut from = stream.as_slice();
        let (first, none) = read::<Order>(&mut from).unwrap().unwrap();
        assert!(matches!(first, Order::Stop(7)) && none.is_empty());
        let (second, bytes) = read::<Order>(&mut from).unwrap().unwrap();
        assert!(matches!(second, Order::Alive));
        assert_eq!(bytes, [0, 1, 255]);
        assert!(read::<Order>(&mut from).unwrap().is_none());
    }

    #[test]
    fn a_part_of_a_frame_or_other_bytes_are_an_error() {
        let mut stream = Vec::new();
        write(&mut stream, &Order::Alive, b"abc").unwrap();
        for end in 1..stream.len() {
            assert!(read::<Order>(&mut &stream[..end]).is_err(), "{end}");
        }
        assert!(read::<Order>(&mut &b"Welcome to this host\n"[..]).is_err());
        let too_long = vec![0; MOST_BYTES + 1];
        assert!(write(&mut Vec::new(), &Order::Alive, &too_long).is_err());
    }
}
