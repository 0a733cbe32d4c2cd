//! Every capture that ships, cut at every byte: never more packets than in a longer piece, an error with
//! its offset wherever the cut is inside a record, no panic.

use tcplab_fuzz_targets::corpus;
use tcplab_fuzz_targets::{Outcome, read};

/// Captures up to this size are cut at each byte; larger ones at each byte of the first part and then at every 97th.
const EVERY_BYTE: usize = 300_000;

fn lengths(total: usize) -> impl Iterator<Item = usize> {
    (0..=total).filter(move |n| *n < EVERY_BYTE || n % 97 == 0 || *n == total)
}

fn check(name: &str, bytes: &[u8]) -> Outcome {
    let mut longest = Outcome::default();
    let mut whole_records = 0;
    let text = name.ends_with(".txt");
    for length in lengths(bytes.len()) {
        let now = read(&bytes[..length]);
        assert!(
            now.records >= longest.records && now.tcp >= longest.tcp,
            "{name}: {} packets in {length} bytes, {} in fewer",
            now.records,
            longest.records
        );
        match &now.error {
            Some(error) => assert!(
                error.offset <= bytes.len() as u64 * 1100,
                "{name} at {length}: offset {}",
                error.offset
            ),
            None => whole_records += 1,
        }
        // A piece of a line of text may say another thing than the whole line: the next piece is compared with whole lines.
        let in_line = text && length > 0 && bytes[length - 1] != b'\n';
        if !in_line {
            longest = now;
        }
    }
    // A cut is clean only between two records (and, in text, anywhere).
    let clean = usize::try_from(longest.records).unwrap_or(0) + 64;
    assert!(
        text || whole_records <= clean,
        "{name}: {whole_records} cuts gave no error, with {} packets",
        longest.records
    );
    longest
}

#[test]
fn shipped_captures_cut_at_every_byte() {
    let shipped = corpus::shipped();
    assert!(!shipped.is_empty(), "tests/captures holds captures");
    for (path, bytes) in shipped {
        let name = path.to_string_lossy();
        let whole = check(&name, &bytes);
        assert!(whole.error.is_none(), "{name}: {:?}", whole.error);
        assert!(whole.records > 0, "{name} is empty");
    }
}

#[test]
fn made_captures_of_every_format_cut_at_every_byte() {
    for (i, bytes) in corpus::files().iter().enumerate() {
        let whole = check(&format!("file {i}"), bytes);
        assert!(whole.error.is_none(), "file {i}: {:?}", whole.error);
        // In pcapng the custom block has a number too.
        let pcapng = bytes.starts_with(&[0x0a, 0x0d, 0x0d, 0x0a]);
        assert_eq!(whole.records, 5 + u64::from(pcapng), "file {i}");
        assert_eq!(whole.tcp, 5, "file {i}");
    }
}

#[test]
fn text_cut_at_every_byte() {
    for (i, bytes) in corpus::text().iter().enumerate() {
        let whole = check(&format!("text {i}.txt"), bytes);
        // Five TCP packets in each form of the lines, none in tcpdump's own messages.
        let lines = i + 1 < corpus::text().len();
        assert_eq!(whole.tcp, if lines { 5 } else { 0 }, "text {i}");
    }
}
