//! Reads a file that a user names as a whole, up to a limit of bytes, even if it is a device or a pipe.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Bytes that are looked at before the limit is chosen.
const HEAD: u64 = 4096;

/// Why a file cannot be read as a whole.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// The system refuses.
    #[error("{}: cannot read: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A folder.
    #[error("{}: is a folder; name a file", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// It goes on behind the limit, perhaps for ever.
    #[error("{}: larger than {most} bytes: is this the right file?", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The limit.
        most: u64,
    },
    /// Not UTF-8.
    #[error("{}: is not text: byte {at} is not UTF-8", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// The first byte that is wrong, from 0.
        at: usize,
    },
}

/// The bytes of a file, a pipe or a device (`-` is standard input), of which one byte more than the limit is read at most. `most` gets the first
/// bytes, by which it may know the kind of file, and says the limit. A pipe without a writer is waited for.
///
/// # Errors
/// [`TextError`], but for [`TextError::NotText`].
pub fn read_bytes(path: &Path, most: impl FnOnce(&[u8]) -> u64) -> Result<Vec<u8>, TextError> {
    let fail = |source| TextError::Io {
        path: path.to_owned(),
        source,
    };
    let mut file: Box<dyn Read> = match path == Path::new("-") {
        true => Box::new(io::stdin()),
        false => {
            let file = File::open(path).map_err(fail)?;
            if file.metadata().map_err(fail)?.is_dir() {
                let path = path.to_owned();
                return Err(TextError::Folder { path });
            }
            Box::new(file)
        }
    };
    let mut bytes = Vec::new();
    (&mut file)
        .take(HEAD)
        .read_to_end(&mut bytes)
        .map_err(fail)?;
    let most = most(&bytes);
    let left = (most + 1).saturating_sub(bytes.len() as u64);
    file.take(left).read_to_end(&mut bytes).map_err(fail)?;
    match bytes.len() as u64 > most {
        true => Err(TextError::TooLong {
            path: path.to_owned(),
            most,
        }),
        false => Ok(bytes),
    }
}

/// The text of a file: [`read_bytes`] with one limit.
///
/// # Errors
/// [`TextError`].
pub fn read_text(path: &Path, most: u64) -> Result<String, TextError> {
    text(path, read_bytes(path, |_| most)?)
}

/// Bytes of a file as text.
///
/// # Errors
/// [`TextError::NotText`].
pub fn text(path: &Path, bytes: Vec<u8>) -> Result<String, TextError> {
    String::from_utf8(bytes).map_err(|e| TextError::NotText {
        path: path.to_owned(),
        at: e.utf8_error().valid_up_to(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_the_limit_is_read() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("x");
        std::fs::write(&file, [b'x'; 10_000]).unwrap();
        assert_eq!(read_text(&file, 10_000).unwrap().len(), 10_000);
        for most in [0, 10, 9_999] {
            let e = read_text(&file, most).unwrap_err();
            assert!(matches!(e, TextError::TooLong { .. }), "{e}");
        }
        std::fs::write(&file, b"ab\xff").unwrap();
        assert!(matches!(
            read_text(&file, 10),
            Err(TextError::NotText { at: 2, .. })
        ));
        assert!(matches!(
            read_text(place.path(), 10),
            Err(TextError::Folder { .. })
        ));
        let e = read_text(&place.path().join("none"), 10).unwrap_err();
        assert!(matches!(e, TextError::Io { .. }), "{e}");
        // Without an end.
        let e = read_text(Path::new("/dev/zero"), 1 << 20).unwrap_err();
        assert!(matches!(e, TextError::TooLong { .. }), "{e}");
    }

    #[test]
    fn the_begin_may_tell_the_limit() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("x");
        std::fs::write(&file, "{".to_owned() + &" ".repeat(20_000)).unwrap();
        let most = |head: &[u8]| if head.starts_with(b"{") { 30_000 } else { 10 };
        assert_eq!(read_bytes(&file, most).unwrap().len(), 20_001);
    }
}
