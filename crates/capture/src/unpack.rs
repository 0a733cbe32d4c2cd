//! gzip (RFC 1952, several members) and zstd (RFC 8878) around a capture, found by their first bytes.

use std::io::{self, BufReader, Chain, Cursor, Read};

use flate2::read::MultiGzDecoder;

/// The input, with the bytes put back that were looked at.
type Whole<R> = Chain<Cursor<Vec<u8>>, R>;

const GZIP: [u8; 2] = [0x1f, 0x8b];
const ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// A zstd frame names the memory that it wants; this much is given (32 MiB; `zstd` uses more only with `--ultra`
/// levels 21 and 22 and with `--long`).
const ZSTD_WINDOW_LOG: u32 = 25;

/// An input that is unpacked once, if it is packed.
pub(crate) enum Unpacked<R: Read> {
    Plain(Whole<R>),
    Gzip(Box<MultiGzDecoder<Whole<R>>>),
    Zstd(Box<zstd::stream::read::Decoder<'static, BufReader<Whole<R>>>>),
}

impl<R: Read> Unpacked<R> {
    pub(crate) fn new(mut input: R) -> io::Result<Self> {
        let mut head = Vec::with_capacity(ZSTD.len());
        input
            .by_ref()
            .take(ZSTD.len() as u64)
            .read_to_end(&mut head)?;
        let kind = packing(&head);
        let whole = Cursor::new(head).chain(input);
        Ok(match kind {
            Packing::None => Self::Plain(whole),
            Packing::Gzip => Self::Gzip(Box::new(MultiGzDecoder::new(whole))),
            Packing::Zstd => {
                let mut decoder = zstd::stream::read::Decoder::new(whole)?;
                decoder.window_log_max(ZSTD_WINDOW_LOG)?;
                Self::Zstd(Box::new(decoder))
            }
        })
    }
}

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(r) => r.read(buf),
            Self::Gzip(r) => r.read(buf),
            Self::Zstd(r) => r.read(buf),
        }
    }
}

enum Packing {
    None,
    Gzip,
    Zstd,
}

fn packing(head: &[u8]) -> Packing {
    if head.starts_with(&GZIP) {
        Packing::Gzip
    } else if head.starts_with(&ZSTD) {
        Packing::Zstd
    } else {
        Packing::None
    }
}

/// Whether the first bytes belong to a packed file.
pub(crate) fn is_packed(head: &[u8]) -> bool {
    !matches!(packing(head), Packing::None)
}
