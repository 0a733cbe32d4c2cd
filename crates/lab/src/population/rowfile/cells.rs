//! The cells of a row as bytes, one after another: whole numbers in LEB128, zigzag.

use crate::population::record::put;
#[cfg(any(test, feature = "parquet"))]
use crate::population::record::take;

pub(super) fn put_int(out: &mut Vec<u8>, n: i64) {
    put(out, (n << 1 ^ n >> 63) as u64);
}

pub(super) fn put_maybe(out: &mut Vec<u8>, n: Option<i64>) {
    out.push(n.is_some().into());
    if let Some(n) = n {
        put_int(out, n);
    }
}

pub(super) fn put_ints(out: &mut Vec<u8>, all: &[i64]) {
    put(out, all.len() as u64);
    for n in all {
        put_int(out, *n);
    }
}

/// Null is 0; otherwise the bytes and one more, then the bytes.
pub(super) fn put_text(out: &mut Vec<u8>, text: Option<&str>) {
    put(out, text.map_or(0, |text| text.len() as u64 + 1));
    out.extend_from_slice(text.unwrap_or_default().as_bytes());
}

#[cfg(any(test, feature = "parquet"))]
pub(super) fn take_int(input: &mut &[u8]) -> Option<i64> {
    let folded = take(input)?;
    Some((folded >> 1) as i64 ^ -((folded & 1) as i64))
}

#[cfg(any(test, feature = "parquet"))]
pub(super) fn take_maybe(input: &mut &[u8]) -> Option<Option<i64>> {
    match take(input)? {
        0 => Some(None),
        _ => take_int(input).map(Some),
    }
}

/// Gives each number to `found`.
#[cfg(any(test, feature = "parquet"))]
pub(super) fn take_ints(input: &mut &[u8], mut found: impl FnMut(i64)) -> Option<()> {
    for _ in 0..take(input)? {
        found(take_int(input)?);
    }
    Some(())
}

#[cfg(any(test, feature = "parquet"))]
pub(super) fn take_text<'a>(input: &mut &'a [u8]) -> Option<Option<&'a [u8]>> {
    let Some(len) = take(input)?.checked_sub(1) else {
        return Some(None);
    };
    let (text, rest) = input.split_at_checked(usize::try_from(len).ok()?)?;
    *input = rest;
    Some(Some(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_come_back() {
        let mut out = Vec::new();
        for n in [0, -1, 63, -64, i64::MAX, i64::MIN] {
            put_int(&mut out, n);
        }
        put_maybe(&mut out, None);
        put_maybe(&mut out, Some(i64::MIN));
        put_ints(&mut out, &[]);
        put_ints(&mut out, &[7, -7]);
        put_text(&mut out, None);
        put_text(&mut out, Some(""));
        put_text(&mut out, Some("ETIME"));
        let mut input = out.as_slice();
        let read = &mut input;
        for n in [0, -1, 63, -64, i64::MAX, i64::MIN] {
            assert_eq!(take_int(read), Some(n));
        }
        assert_eq!(take_maybe(read), Some(None));
        assert_eq!(take_maybe(read), Some(Some(i64::MIN)));
        let mut all = Vec::new();
        take_ints(read, |n| all.push(n)).unwrap();
        take_ints(read, |n| all.push(n)).unwrap();
        assert_eq!(all, [7, -7]);
        assert_eq!(take_text(read), Some(None));
        assert_eq!(take_text(read), Some(Some(&b""[..])));
        assert_eq!(take_text(read), Some(Some(&b"ETIME"[..])));
        assert!(input.is_empty());
    }
}
