//! Every file format, from bytes written by hand here: the packets that are read, and the messages about damage.

use std::io::{Read, Write};

use tcplab_base::Instant;
use tcplab_capture::{Body, Error, Reader};
use tcplab_wire::LinkType;

/// One record as a tuple: nanoseconds (`None`: no time), interface, bytes, length on the wire.
type Row = (Option<i64>, u32, Vec<u8>, u32);

fn read_all(input: impl Read) -> (Vec<Row>, Option<Error>) {
    let mut reader = match Reader::new(input) {
        Ok(reader) => reader,
        Err(e) => return (Vec::new(), Some(e)),
    };
    let mut rows = Vec::new();
    loop {
        match reader.next() {
            Ok(Some(record)) => {
                assert_eq!(record.number, rows.len() as u64 + 1);
                let time = record.time.map(Instant::as_nanos);
                match record.body {
                    Body::Frame {
                        link,
                        data,
                        orig_len,
                    } => {
                        assert_eq!(link, LinkType::Ethernet);
                        rows.push((time, record.interface, data.to_vec(), orig_len));
                    }
                    Body::Other => rows.push((time, u32::MAX, Vec::new(), 0)),
                    Body::Tcp(_) => panic!("no text here"),
                }
            }
            Ok(None) => return (rows, None),
            Err(e) => {
                assert_eq!(reader.next(), Ok(None), "after an error comes the end");
                return (rows, Some(e));
            }
        }
    }
}

/// Writes numbers in one byte order.
struct Bytes {
    big: bool,
    out: Vec<u8>,
}

impl Bytes {
    fn new(big: bool) -> Self {
        Self {
            big,
            out: Vec::new(),
        }
    }

    fn u32(&mut self, n: u32) -> &mut Self {
        self.out.extend(if self.big {
            n.to_be_bytes()
        } else {
            n.to_le_bytes()
        });
        self
    }

    fn u16(&mut self, n: u16) -> &mut Self {
        self.out.extend(if self.big {
            n.to_be_bytes()
        } else {
            n.to_le_bytes()
        });
        self
    }

    fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.out.extend_from_slice(bytes);
        self
    }

    fn pcap_header(&mut self, magic: u32, minor: u16, network: u32) -> &mut Self {
        self.u32(magic)
            .u16(2)
            .u16(minor)
            .u32(0)
            .u32(0)
            .u32(65_535)
            .u32(network)
    }

    /// A block: type, length, body padded to 4 bytes, length.
    fn block(&mut self, kind: u32, body: &[u8]) -> &mut Self {
        let len = body.len().next_multiple_of(4) as u32 + 12;
        self.u32(kind).u32(len).raw(body);
        self.out.resize(self.out.len().next_multiple_of(4), 0);
        self.u32(len)
    }

    fn section(&mut self) -> &mut Self {
        let mut body = Self::new(self.big);
        body.u32(0x1a2b_3c4d)
            .u16(1)
            .u16(0)
            .u32(u32::MAX)
            .u32(u32::MAX);
        self.block(0x0a0d_0d0a, &body.out)
    }

    fn interface(&mut self, snaplen: u32, options: &[(u16, &[u8])]) -> &mut Self {
        let mut body = Self::new(self.big);
        body.u16(1).u16(0).u32(snaplen);
        for (code, value) in options {
            body.u16(*code).u16(value.len() as u16).raw(value);
            body.out.resize(body.out.len().next_multiple_of(4), 0);
        }
        body.u32(0);
        self.block(1, &body.out)
    }

    fn enhanced(&mut self, interface: u32, ticks: u64, data: &[u8], orig_len: u32) -> &mut Self {
        let mut body = Self::new(self.big);
        body.u32(interface)
            .u32((ticks >> 32) as u32)
            .u32(ticks as u32);
        body.u32(data.len() as u32).u32(orig_len).raw(data);
        self.block(6, &body.out)
    }
}

const DATA: &[u8] = b"an odd frame";

#[test]
fn pcap_in_both_orders_and_resolutions() {
    for big in [false, true] {
        for (magic, per_tick) in [(0xa1b2_c3d4, 1_000), (0xa1b2_3c4d, 1)] {
            let mut b = Bytes::new(big);
            b.pcap_header(magic, 4, 1);
            let seconds = [0, 1, i32::MAX as u32, 1 << 31, u32::MAX];
            for s in seconds {
                b.u32(s).u32(999_999).u32(12).u32(1514).raw(DATA);
            }
            let want: Vec<Row> = seconds
                .iter()
                .map(|s| {
                    let ns = i64::from(*s) * 1_000_000_000 + 999_999 * per_tick;
                    (Some(ns), 0, DATA.to_vec(), 1514)
                })
                .collect();
            assert_eq!(read_all(&b.out[..]), (want, None));
        }
    }
}

#[test]
fn pcap_variants() {
    // Magic number, minor version, network, bytes behind the file header, bytes behind a record header, nanoseconds of a tick.
    let variants: [(u32, u16, u32, usize, usize, i64); 7] = [
        (0xa1b2_cd34, 4, 1, 0, 8, 1_000),
        (0xa1b2_cd34, 4, 1, 0, 12, 1_000),
        (0xa1b2_c3d4, 4, 1, 0, 8, 1_000),
        (0xa1b2_c3d4, 4, 1, 0, 4, 1_000),
        (0x1c00_01ac, 4, 1, 4, 0, 1_000),
        (0x1c00_01ab, 4, 1, 4, 0, 1_000),
        (0xa1b2_c3d4, 2, 6, 0, 0, 1),
    ];
    for (magic, minor, network, after_header, after_record, tick) in variants {
        let mut b = Bytes::new(true);
        b.pcap_header(magic, minor, network)
            .raw(&vec![0xee; after_header]);
        for i in 0..5 {
            b.u32(1_000_000_000 + i).u32(i);
            if minor == 2 {
                b.u32(60 + i).u32(12)
            } else {
                b.u32(12).u32(60 + i)
            };
            b.raw(&vec![0xee; after_record]).raw(DATA);
        }
        let (rows, error) = read_all(&b.out[..]);
        assert_eq!(error, None, "{magic:x} {after_record}");
        let want: Vec<Row> = (0..5)
            .map(|i| {
                let ns = (1_000_000_000 + i64::from(i)) * 1_000_000_000 + i64::from(i) * tick;
                (Some(ns), 0, DATA.to_vec(), 60 + i)
            })
            .collect();
        assert_eq!(rows, want, "{magic:x} {after_record}");
    }
}

#[test]
fn pcap_version_2_3_has_lengths_in_either_order() {
    let mut b = Bytes::new(false);
    b.pcap_header(0xa1b2_c3d4, 3, 1);
    b.u32(5).u32(0).u32(12).u32(60).raw(DATA);
    b.u32(5).u32(0).u32(60).u32(12).raw(DATA);
    let row: Row = (Some(5_000_000_000), 0, DATA.to_vec(), 60);
    assert_eq!(read_all(&b.out[..]), (vec![row.clone(), row], None));
}

#[test]
fn orig_len_is_at_least_what_was_captured() {
    let mut b = Bytes::new(false);
    b.pcap_header(0xa1b2_c3d4, 4, 1)
        .u32(0)
        .u32(0)
        .u32(12)
        .u32(3)
        .raw(DATA);
    assert_eq!(read_all(&b.out[..]).0, [(Some(0), 0, DATA.to_vec(), 12)]);
}

#[test]
fn pcapng_in_both_orders() {
    for big in [false, true] {
        let mut b = Bytes::new(big);
        let name: &[u8] = b"eth0";
        b.section()
            .interface(0, &[(2, name)])
            .interface(0, &[(9, &[9])]);
        b.enhanced(0, 7, DATA, 99)
            .enhanced(1, u64::from(u32::MAX) + 5, &DATA[..5], 5);
        // Obsolete packet block: interface and drops share 4 bytes.
        let mut body = Bytes::new(big);
        body.u16(1).u16(3).u32(0).u32(77).u32(12).u32(12).raw(DATA);
        b.block(2, &body.out);
        let want: Vec<Row> = vec![
            (Some(7_000), 0, DATA.to_vec(), 99),
            (Some(i64::from(u32::MAX) + 5), 1, DATA[..5].to_vec(), 5),
            (Some(77), 1, DATA.to_vec(), 12),
        ];
        assert_eq!(read_all(&b.out[..]), (want, None), "big-endian: {big}");
        let mut reader = Reader::new(&b.out[..]).expect("a section");
        assert!(reader.next().is_ok());
        let all: Vec<_> = reader
            .interfaces()
            .iter()
            .map(|i| (i.tsresol, i.name.as_deref()))
            .collect();
        assert_eq!(all, [(6, Some("eth0")), (9, None)]);
    }
}

#[test]
fn simple_packets_have_no_time_and_their_length_from_the_interface() {
    for (snaplen, kept) in [(0, 12), (5, 5), (100, 12)] {
        let mut b = Bytes::new(false);
        b.section().interface(snaplen, &[]);
        let mut body = Bytes::new(false);
        body.u32(12).raw(&DATA[..kept]);
        b.block(3, &body.out);
        assert_eq!(
            read_all(&b.out[..]),
            (vec![(None, 0, DATA[..kept].to_vec(), 12)], None)
        );
    }
}

#[test]
fn sections_change_order_and_count_interfaces_on() {
    let mut b = Bytes::new(false);
    b.section().interface(0, &[]).enhanced(0, 1, DATA, 12);
    b.big = true;
    b.section()
        .interface(0, &[(9, &[3])])
        .interface(0, &[])
        .enhanced(1, 2, DATA, 12)
        .enhanced(0, 3, DATA, 12);
    let (rows, error) = read_all(&b.out[..]);
    assert_eq!(error, None);
    let got: Vec<_> = rows.iter().map(|r| (r.0, r.1)).collect();
    assert_eq!(
        got,
        [(Some(1_000), 0), (Some(2_000), 2), (Some(3_000_000), 1)]
    );
}

#[test]
fn every_time_resolution() {
    for resolution in 0..=u8::MAX {
        let ticks = 1_700_000_000_123_456_789_u64;
        let mut b = Bytes::new(false);
        b.section()
            .interface(0, &[(9, &[resolution])])
            .enhanced(0, ticks, DATA, 12);
        let exponent = u32::from(resolution & 0x7f);
        let (finest, ns) = if resolution & 0x80 != 0 {
            (
                64,
                (u128::from(ticks) * 1_000_000_000).checked_shr(exponent),
            )
        } else if exponent <= 9 {
            (19, Some(u128::from(ticks) * 10_u128.pow(9 - exponent)))
        } else {
            let divisor = 10_u128.checked_pow(exponent - 9);
            (19, divisor.map(|d| u128::from(ticks) / d))
        };
        let want = ns.and_then(|ns| i64::try_from(ns).ok());
        let (rows, error) = read_all(&b.out[..]);
        let said = error.map(|e| (e.offset, e.message));
        match (exponent <= finest, want) {
            (true, Some(want)) => {
                assert_eq!(
                    (rows[0].0, said),
                    (Some(want), None),
                    "if_tsresol {resolution}"
                );
            }
            // What no 64 bits of nanoseconds hold is said where it stands: at the packet.
            (true, None) => {
                let (at, message) = said.expect("a time beyond 64 bits");
                assert!(rows.is_empty() && at == 28 + 32, "{resolution}: {at}");
                assert!(message.contains("292 years from 1970"), "{message}");
            }
            // Or at the interface.
            (false, _) => {
                let (at, message) = said.expect("a clock that counts nothing");
                assert!(rows.is_empty() && at == 28, "{resolution}: {at}");
                assert!(message.contains("if_tsresol"), "{message}");
            }
        }
    }
}

#[test]
fn time_offsets() {
    for (offset, want) in [
        (1_i64, Some(1_000_001_000)),
        (-3, Some(-2_999_999_000)),
        (9_223_372_036, Some(9_223_372_036_000_001_000)),
        (-9_223_372_036, Some(-9_223_372_035_999_999_000)),
        (9_223_372_037, None),
        (i64::MAX, None),
        (i64::MIN, None),
    ] {
        for big in [false, true] {
            let bytes = if big {
                offset.to_be_bytes()
            } else {
                offset.to_le_bytes()
            };
            let mut b = Bytes::new(big);
            b.section()
                .interface(0, &[(14, &bytes)])
                .enhanced(0, 1, DATA, 12);
            let (rows, error) = read_all(&b.out[..]);
            assert_eq!(rows.first().map(|r| r.0), want.map(Some), "offset {offset}");
            let said = error.map(|e| (e.offset, e.message.contains("if_tsoffset")));
            assert_eq!(
                said,
                want.is_none().then_some((28, true)),
                "offset {offset}"
            );
        }
    }
}

#[test]
fn a_time_that_only_its_offset_brings_near_is_read() {
    // 10^19 steps of a nanosecond are too far alone; the sum is not.
    let offset = -9_000_000_000_i64;
    let mut b = Bytes::new(false);
    b.section()
        .interface(0, &[(9, &[9]), (14, &offset.to_le_bytes())])
        .enhanced(0, 10_000_000_000_000_000_000, DATA, 12);
    let (rows, error) = read_all(&b.out[..]);
    assert_eq!((rows[0].0, error), (Some(1_000_000_000_000_000_000), None));
}

#[test]
fn a_second_has_a_million_microseconds() {
    for (magic, most) in [(0xa1b2_c3d4, 999_999), (0xa1b2_3c4d, 999_999_999)] {
        let mut b = Bytes::new(false);
        b.pcap_header(magic, 4, 1);
        for fraction in [0, most] {
            b.u32(7).u32(fraction).u32(12).u32(12).raw(DATA);
        }
        let at = b.out.len() as u64;
        b.u32(7).u32(most + 1).u32(12).u32(12).raw(DATA);
        let (rows, error) = read_all(&b.out[..]);
        let error = error.expect("a fraction of more than a second");
        assert_eq!((rows.len(), error.offset), (2, at));
        assert!(error.message.contains("more than a second"), "{error}");
    }
}

#[test]
fn other_blocks_are_passed_over_and_numbered_as_wireshark_does() {
    let mut b = Bytes::new(false);
    b.section()
        .interface(0, &[])
        .block(4, &[0; 40])
        .block(5, &[0; 12])
        .enhanced(0, 1, DATA, 12);
    b.block(0x0bad, &[0; 8])
        .block(10, &[0; 700_000])
        .block(0x7777_7777, &[])
        .enhanced(0, 2, DATA, 12);
    let (rows, error) = read_all(&b.out[..]);
    assert_eq!(error, None);
    assert_eq!(
        rows.iter().map(|r| r.1).collect::<Vec<_>>(),
        [0, u32::MAX, 0]
    );
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(bytes)
        .and_then(|()| out.finish())
        .expect("memory")
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::stream::encode_all(bytes, 1).expect("memory")
}

#[test]
fn packed_files() {
    let mut b = Bytes::new(false);
    b.pcap_header(0xa1b2_c3d4, 4, 1);
    for i in 0..100 {
        b.u32(i).u32(0).u32(12).u32(12).raw(DATA);
    }
    let plain = read_all(&b.out[..]);
    assert_eq!(plain.0.len(), 100);
    let (first, second) = b.out.split_at(500);
    let files = [
        gzip(&b.out),
        [gzip(first), gzip(second)].concat(),
        zstd(&b.out),
        [zstd(first), zstd(second)].concat(),
        gzip(&zstd(&b.out)),
        gzip(&gzip(&b.out)),
    ];
    for (i, file) in files.iter().enumerate() {
        assert_eq!(read_all(&file[..]), plain, "file {i}");
    }
    let (rows, error) = read_all(&gzip(&gzip(&gzip(&b.out)))[..]);
    assert!(rows.is_empty() && error.is_some_and(|e| e.message.contains("more than twice")));
    // A packed file that is cut gives what it held.
    let cut = &files[0][..files[0].len() / 2];
    let (rows, error) = read_all(cut);
    assert!(!rows.is_empty() && rows.len() < 100 && error.is_some());
}

#[test]
fn damage_is_named_with_its_offset() {
    let mut header = Bytes::new(false);
    header
        .pcap_header(0xa1b2_c3d4, 4, 1)
        .u32(0)
        .u32(0)
        .u32(12)
        .u32(12)
        .raw(DATA);
    let good = header.out.len() as u64;
    header.u32(0).u32(0).u32(0x7fff_ffff).u32(12);
    let (rows, error) = read_all(&header.out[..]);
    assert_eq!((rows.len(), error.map(|e| e.offset)), (1, Some(good)));

    let start = |kind, len: u32| {
        let mut b = Bytes::new(false);
        b.section().interface(0, &[]).enhanced(0, 1, DATA, 12);
        let at = b.out.len() as u64;
        b.u32(kind).u32(len).raw(&[0; 64]);
        (b.out, at)
    };
    for kind in [0, 1, 2, 3, 4, 6, 0x0a0d_0d0a, 0xffff_ffff] {
        for len in [0, 1, 11, 13, 0x7fff_ffff, 0xffff_ffff] {
            let (bytes, at) = start(kind, len);
            let (rows, error) = read_all(&bytes[..]);
            let error = error.unwrap_or_else(|| panic!("kind {kind} length {len} must be refused"));
            assert_eq!(
                (rows.len(), error.offset),
                (1, at),
                "kind {kind} length {len}: {error}"
            );
        }
    }
    // Captured length past the block; interface that is not there; lengths that differ; version.
    let mut b = Bytes::new(false);
    b.section().interface(0, &[]);
    let fine = b.out.clone();
    for body in [[0_u32, 0, 0, 1_000, 1_000, 0], [7, 0, 0, 4, 4, 0]] {
        let mut bytes = Bytes::new(false);
        bytes.raw(&fine);
        let mut inner = Bytes::new(false);
        for n in body {
            inner.u32(n);
        }
        bytes.block(6, &inner.out);
        assert_eq!(
            read_all(&bytes.out[..]).1.map(|e| e.offset),
            Some(fine.len() as u64)
        );
    }
    let mut bytes = Bytes::new(false);
    bytes.raw(&fine).enhanced(0, 1, DATA, 12);
    let last = bytes.out.len() - 4;
    bytes.out[last] ^= 4;
    assert_eq!(
        read_all(&bytes.out[..]).1.map(|e| e.offset),
        Some(fine.len() as u64)
    );
    let mut bytes = fine.clone();
    bytes[12] = 9;
    assert!(
        read_all(&bytes[..])
            .1
            .is_some_and(|e| e.message.contains("version"))
    );
}

#[test]
fn non_capture_is_refused_with_a_remedy() {
    for (bytes, word) in [
        (&b""[..], "empty"),
        (&[0_u8; 100][..], "editcap"),
        (&b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0"[..], "editcap"),
        (&b"Dear all,\nsee my capture.\n"[..], "tcpdump -n"),
        (
            &b"12:00:00.1 IP a.example.http > b.example.99: Flags [.], ack 1, win 1, length 0\n"[..],
            "tcpdump -n",
        ),
        (&b"\xd4\xc3\xb2\xa1\x02\x00"[..], "header"),
        (
            &b"\xd4\xc3\xb2\xa1\x01\x00\x04\x00aaaaaaaaaaaaaaaa"[..],
            "version",
        ),
    ] {
        let (rows, error) = read_all(bytes);
        assert!(rows.is_empty());
        assert!(
            error.as_ref().is_some_and(|e| e.message.contains(word)),
            "{error:?}"
        );
    }
}

/// Gives one byte at a time.
struct Slow<'a>(&'a [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let n = buf.len().min(1);
        self.0.read(&mut buf[..n])
    }
}

/// Small files of every format.
fn samples() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for (magic, after_record) in [(0xa1b2_c3d4, 0), (0xa1b2_3c4d, 0), (0xa1b2_cd34, 8)] {
        let mut b = Bytes::new(magic == 0xa1b2_3c4d);
        b.pcap_header(magic, 4, 1);
        for i in 0..4 {
            b.u32(i)
                .u32(i)
                .u32(12)
                .u32(60)
                .raw(&vec![0; after_record])
                .raw(DATA);
        }
        all.push(b.out);
    }
    let mut b = Bytes::new(true);
    b.section()
        .interface(0, &[(2, b"lo"), (9, &[9])])
        .enhanced(0, 1, DATA, 12)
        .block(4, &[0; 16]);
    b.enhanced(0, 2, DATA, 12)
        .section()
        .interface(64, &[])
        .enhanced(0, 3, DATA, 12);
    let mut body = Bytes::new(true);
    body.u32(12).raw(DATA);
    b.block(3, &body.out);
    all.push(b.out);
    all
}

#[test]
fn truncation_at_every_byte() {
    for (which, file) in samples().into_iter().enumerate() {
        let (whole, error) = read_all(&file[..]);
        assert!(error.is_none() && whole.len() == 4, "file {which}");
        let mut before = 0;
        for cut in 0..file.len() {
            let (rows, error) = read_all(&file[..cut]);
            assert!(
                rows.len() >= before && rows == whole[..rows.len()],
                "file {which} cut at {cut}"
            );
            before = rows.len();
            if let Some(e) = &error {
                assert!(e.offset as usize <= cut, "file {which} cut at {cut}: {e}");
                // What stands before the offset is whole.
                assert_eq!(
                    read_all(&file[..e.offset as usize]).0,
                    rows,
                    "file {which} cut at {cut}"
                );
            }
        }
    }
}

#[test]
fn pieces_of_one_byte_change_nothing() {
    for file in samples() {
        assert_eq!(read_all(Slow(&file)), read_all(&file[..]));
    }
}
