//! The readers of capture files: any bytes give records, then the end or one error.

use tcplab_capture::{Body, Error, Reader};
use tcplab_wire::{Config, Parsed, parse_frame};

/// What one reading of an input gave.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Records delivered.
    pub records: u64,
    /// TCP packets among them.
    pub tcp: u64,
    /// What ended the reading early.
    pub error: Option<Error>,
}

/// Reads `data` to its end and checks what [`Reader`] promises of each record.
pub fn read(data: &[u8]) -> Outcome {
    let mut out = Outcome::default();
    let mut reader = match Reader::new(data) {
        Ok(reader) => reader,
        Err(error) => {
            out.error = Some(error);
            return out;
        }
    };
    loop {
        match reader.next() {
            Ok(Some(record)) => {
                out.records += 1;
                assert_eq!(record.number, out.records, "numbers count from 1");
                out.tcp += u64::from(holds_tcp(&record.body));
            }
            Ok(None) => break,
            Err(error) => {
                assert!(!error.message.is_empty(), "an error says what was wrong");
                out.error = Some(error);
                break;
            }
        }
    }
    // What follows the end, or the error, is the end.
    assert!(
        matches!(reader.next(), Ok(None)),
        "nothing comes after the end"
    );
    out
}

fn holds_tcp(body: &Body<'_>) -> bool {
    match *body {
        Body::Frame {
            link,
            data,
            orig_len,
        } => {
            assert!(
                usize::try_from(orig_len).is_ok_and(|n| n >= data.len()),
                "a frame is at least as long as what was captured of it"
            );
            matches!(
                parse_frame(link, data, orig_len, &Config::default()),
                Parsed::Tcp(_)
            )
        }
        Body::Tcp(_) => true,
        Body::Other => false,
    }
}

/// Reads twice and expects the same; an error's offset lies in the input, as this one is not packed.
fn read_plain(data: &[u8]) {
    let first = read(data);
    let second = read(data);
    assert_eq!(
        (first.records, first.tcp),
        (second.records, second.tcp),
        "reading has no hidden state"
    );
    if let Some(error) = first.error {
        assert!(
            error.offset <= data.len() as u64,
            "offset {} in an input of {} bytes",
            error.offset,
            data.len()
        );
    }
}

const PCAP: [[u8; 4]; 6] = [
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0x4d, 0x3c, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x34, 0xcd, 0xb2, 0xa1],
    [0xa1, 0xb2, 0xcd, 0x34],
];

const PCAPNG: [[u8; 12]; 2] = [
    [0x0a, 0x0d, 0x0d, 0x0a, 28, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a],
    [0x0a, 0x0d, 0x0d, 0x0a, 0, 0, 0, 28, 0x1a, 0x2b, 0x3c, 0x4d],
];

/// Classic pcap: the first byte chooses the magic number, so that mutants rarely leave the format.
pub fn pcap(data: &[u8]) {
    if let Some(file) = pcap_file(data) {
        read_plain(&file);
    }
}

/// pcapng: the first byte chooses the byte order; the section header's length is the usual one.
pub fn pcapng(data: &[u8]) {
    if let Some(file) = pcapng_file(data) {
        read_plain(&file);
    }
}

/// The file that an input of [`pcap`] stands for.
pub(crate) fn pcap_file(input: &[u8]) -> Option<Vec<u8>> {
    with_head(input, &PCAP)
}

/// The file that an input of [`pcapng`] stands for.
pub(crate) fn pcapng_file(input: &[u8]) -> Option<Vec<u8>> {
    with_head(input, &PCAPNG)
}

/// One choice more than there are heads: the input as it is, because the recogniser is under test too.
fn with_head<const N: usize>(data: &[u8], heads: &[[u8; N]]) -> Option<Vec<u8>> {
    let (&choice, rest) = data.split_first()?;
    let head = heads.get(usize::from(choice) % (heads.len() + 1));
    Some([head.map_or(&[][..], <[u8; N]>::as_slice), rest].concat())
}

/// The text of `tcpdump -n`.
pub fn text(data: &[u8]) {
    read_plain(data);
}

/// gzip and zstd: the first byte says whether the input is packed data (0), or is packed before it is read.
pub fn packed(data: &[u8]) {
    let Some((&choice, rest)) = data.split_first() else {
        return;
    };
    if choice % 4 == 0 {
        read(rest);
        return;
    }
    let plain = read(rest);
    let packed = if choice % 2 == 0 {
        crate::corpus::gzip(rest)
    } else {
        crate::corpus::zstd(rest)
    };
    let unpacked = read(&packed);
    // Packing a packed input is one layer too many, and an empty one has no format.
    if plain.records > 0 && !crate::corpus::is_packed(rest) {
        assert_eq!(
            (plain.records, plain.tcp),
            (unpacked.records, unpacked.tcp),
            "packing changes nothing"
        );
    }
}
