//! Files in one stream of bytes: how a guest without a folder of the host sends its answer.
//!
//! Packed with zstd (a serial line is slow); inside, for each file: length of the name (1 byte), the
//! name, length of the content (8 bytes, little endian), the content. A length of 0 ends it.

use std::fs;
use std::io::{self, Read, Write};
use std::path::Path;

/// Most bytes of a parcel; no guest has as much memory.
const MOST: u64 = 4 << 30;

/// Sends files.
pub(super) struct Writer<W: Write>(zstd::Encoder<'static, W>);

impl<W: Write> Writer<W> {
    pub(super) fn new(to: W) -> io::Result<Self> {
        zstd::Encoder::new(to, 1).map(Self)
    }

    pub(super) fn file(&mut self, name: &str, content: &[u8]) -> io::Result<()> {
        let length = u8::try_from(name.len()).map_err(|_| wrong("a name is too long"))?;
        self.0.write_all(&[length])?;
        self.0.write_all(name.as_bytes())?;
        self.0.write_all(&(content.len() as u64).to_le_bytes())?;
        self.0.write_all(content)
    }

    pub(super) fn finish(mut self) -> io::Result<W> {
        self.0.write_all(&[0])?;
        self.0.finish()
    }
}

/// Writes the files of a parcel into `folder`. A name outside `allowed` or a truncated parcel is an error, and its
/// files must then be ignored.
pub(super) fn unpack(from: impl Read, folder: &Path, allowed: &[String]) -> io::Result<()> {
    let mut from = zstd::Decoder::new(from)?.take(MOST);
    loop {
        let mut length = [0];
        from.read_exact(&mut length)?;
        if length[0] == 0 {
            return Ok(());
        }
        let mut name = vec![0; usize::from(length[0])];
        from.read_exact(&mut name)?;
        let name = allowed.iter().find(|a| a.as_bytes() == name);
        let name = name.ok_or_else(|| wrong("a file that nobody asked for"))?;
        let mut size = [0; 8];
        from.read_exact(&mut size)?;
        let size = u64::from_le_bytes(size);
        let mut file = fs::File::create(folder.join(name))?;
        if io::copy(&mut from.by_ref().take(size), &mut file)? != size {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parcel(files: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = Writer::new(Vec::new()).unwrap();
        for (name, content) in files {
            writer.file(name, content).unwrap();
        }
        writer.finish().unwrap()
    }

    #[test]
    fn what_goes_in_comes_out() {
        let place = tempfile::tempdir().unwrap();
        let large = vec![7; 1 << 20];
        let bytes = parcel(&[("a", b"\n\0\r"), ("b", &large), ("c", b"")]);
        let names = ["a", "b", "c"].map(str::to_owned);
        unpack(bytes.as_slice(), place.path(), &names).unwrap();
        let read = |name| fs::read(place.path().join(name)).unwrap();
        assert_eq!(read("a"), b"\n\0\r");
        assert_eq!(read("b"), large);
        assert_eq!(read("c"), b"");
    }

    #[test]
    fn a_part_of_a_parcel_is_an_error() {
        let place = tempfile::tempdir().unwrap();
        let bytes = parcel(&[("a", b"some words")]);
        for end in 0..bytes.len() - 1 {
            assert!(unpack(&bytes[..end], place.path(), &["a".to_owned()]).is_err());
        }
    }

    #[test]
    fn only_the_names_that_were_asked_for() {
        let place = tempfile::tempdir().unwrap();
        let inner = place.path().join("inner");
        fs::create_dir(&inner).unwrap();
        let bytes = parcel(&[("../outside", b"x")]);
        assert!(unpack(bytes.as_slice(), &inner, &["a".to_owned()]).is_err());
        assert!(!place.path().join("outside").exists());
    }
}
