//! Files that grow by whole entries: length, checksum, content. If a killed process left a half-written entry, the
//! next writer finds it and cuts it off.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use sha2::{Digest, Sha256};

/// Bytes of the checksum.
const CHECK: usize = 8;
/// Bytes before the content.
pub(super) const HEAD: usize = 4 + CHECK;
/// Bytes of a content at most: a damaged length asks for no more.
const MAX_BYTES: u32 = 256 << 20;

/// The bytes of an entry, to be written at once.
pub(super) fn entry(content: &[u8]) -> io::Result<Vec<u8>> {
    match u32::try_from(content.len()) {
        Ok(len) if len <= MAX_BYTES => {
            Ok([&len.to_le_bytes()[..], &check(content), content].concat())
        }
        _ => Err(io::Error::other(format!(
            "a group of connections takes {} MB, more than {}: ask for fewer connections",
            content.len() >> 20,
            MAX_BYTES >> 20
        ))),
    }
}

/// The content of a whole entry.
pub(super) fn content(entry: &[u8]) -> Option<&[u8]> {
    let (head, content) = entry.split_at_checked(HEAD)?;
    (head[..4] == (content.len() as u32).to_le_bytes() && head[4..] == check(content))
        .then_some(content)
}

fn check(bytes: &[u8]) -> [u8; CHECK] {
    let mut out = [0; CHECK];
    out.copy_from_slice(&Sha256::digest(bytes)[..CHECK]);
    out
}

/// Gives the place, length and content of each whole entry, until the first one that is not, or that is not wanted. The
/// bytes of all that were.
pub(super) fn scan(
    file: &File,
    mut wanted: impl FnMut(u64, u32, &[u8]) -> bool,
) -> io::Result<u64> {
    let mut file = file;
    let mut left = file.metadata()?.len();
    file.seek(SeekFrom::Start(0))?;
    let mut input = BufReader::with_capacity(1 << 18, file);
    let mut at = 0;
    let mut bytes = Vec::new();
    loop {
        let mut head = [0; HEAD];
        if !fill(&mut input, &mut head)? {
            return Ok(at);
        }
        left = left.saturating_sub(HEAD as u64);
        let len = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
        // A damaged length asks for no memory.
        if len > MAX_BYTES || u64::from(len) > left {
            return Ok(at);
        }
        left -= u64::from(len);
        bytes.resize(len as usize, 0);
        if !fill(&mut input, &mut bytes)? || check(&bytes) != head[4..] {
            return Ok(at);
        }
        let whole = len + HEAD as u32;
        if !wanted(at, whole, &bytes) {
            return Ok(at);
        }
        at += u64::from(whole);
    }
}

/// Whether there was as much.
fn fill(input: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match input.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(e) => Err(e),
    }
}
