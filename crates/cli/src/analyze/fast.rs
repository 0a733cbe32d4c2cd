//! JSON of plain data straight into a buffer: the bytes that `serde_json` writes, many times as fast.
//!
//! Own code because the streams are nearly the whole document of `--json`: with `serde_json` a capture with many
//! connections takes 1.75 times the instructions (`benches/callgrind.sh`, short connections: 4,278 against 2,449 for
//! each packet). Names of fields are our own and need no escapes; numbers are mostly small. A test compares with
//! `serde_json`.

use std::io;

use serde::ser::{
    self, Impossible, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeTuple,
};

type Result<T = (), E = serde_json::Error> = std::result::Result<T, E>;

/// A name, what stands around it, and a number fit into so many bytes.
const ROOM: usize = 96;
/// Bytes that are put together before they are appended.
const CHUNK: usize = 4096;

/// Writes texts one after the other. `chunk[..at]` follows `out`: its length is fixed, so that the compiler sees that what
/// is short fits.
pub struct Text {
    out: Vec<u8>,
    chunk: [u8; CHUNK],
    at: usize,
}

impl Default for Text {
    fn default() -> Self {
        Self {
            out: Vec::new(),
            chunk: [0; CHUNK],
            at: 0,
        }
    }
}

impl Text {
    /// Appends `value` to `out` as JSON.
    pub fn append_json(&mut self, out: &mut Vec<u8>, value: &impl Serialize) -> Result {
        std::mem::swap(&mut self.out, out);
        let done = value.serialize(Fast { out: self, name: 0 });
        self.flush();
        std::mem::swap(&mut self.out, out);
        done
    }

    /// Room for what is short; [`Text::at`] is moved by who uses it.
    #[inline(always)]
    fn room(&mut self) -> &mut [u8; ROOM] {
        let mut at = self.at;
        if at > CHUNK - ROOM {
            self.flush();
            at = 0;
        }
        let room = self.chunk[at..].first_chunk_mut();
        room.expect("at least so much is left")
    }

    #[cold]
    #[inline(never)]
    fn flush(&mut self) {
        self.out.extend_from_slice(&self.chunk[..self.at]);
        self.at = 0;
    }

    #[inline(always)]
    fn put<const N: usize>(&mut self, bytes: &[u8; N]) {
        self.room()[..N].copy_from_slice(bytes);
        self.at += N;
    }

    /// Appends anything.
    #[inline(never)]
    fn append(&mut self, bytes: &[u8]) {
        self.flush();
        self.out.extend_from_slice(bytes);
    }

    /// Appends `before`, text that needs no escapes between quotes, and `after`.
    #[inline(always)]
    fn quoted(&mut self, before: &[u8], text: &str, after: &[u8]) {
        let (b, t, a) = (before.len(), text.len(), after.len());
        if b + t + a + 2 > ROOM {
            let parts = [before, b"\"", text.as_bytes(), b"\"", after];
            return parts.iter().for_each(|part| self.append(part));
        }
        let room = self.room();
        room[..b].copy_from_slice(before);
        room[b] = b'"';
        room[b + 1..][..t].copy_from_slice(text.as_bytes());
        room[b + 1 + t] = b'"';
        room[b + t + 2..][..a].copy_from_slice(after);
        self.at += b + t + a + 2;
    }

    /// Appends a number; most have one digit.
    #[inline(always)]
    fn number(&mut self, n: u64) {
        if n < 10 {
            self.put(&[b'0' + n as u8]);
        } else {
            self.digits(n);
        }
    }

    /// Up to four digits by pairs.
    #[inline(never)]
    fn digits(&mut self, n: u64) {
        if n >= 10_000 {
            return self.many_digits(n);
        }
        // Below 10,000: 32 bits are enough, and divide faster.
        let n = n as u32;
        let pair = |n: u32| PAIRS[n as usize % 128];
        if n < 100 {
            return self.put(&pair(n));
        }
        let (high, low) = (n / 100, n % 100);
        let ([a, b], [c, d]) = (pair(high), pair(low));
        if high < 10 {
            self.put(&[b, c, d])
        } else {
            self.put(&[a, b, c, d])
        }
    }

    /// Many digits, eight at a time: found by halving (4, 2, 1) in the lanes of one word, without a loop over digits. Apart,
    /// so that short numbers save no registers.
    #[inline(never)]
    fn many_digits(&mut self, n: u64) {
        const EIGHT: u64 = 100_000_000;
        if n >= EIGHT {
            self.number(n / EIGHT);
            self.put(&(eight(n % EIGHT) | ZEROS).to_le_bytes());
            return;
        }
        let lanes = eight(n);
        let leading = (lanes.trailing_zeros() / 8).min(7);
        self.put(&((lanes | ZEROS) >> (8 * leading)).to_le_bytes());
        self.at -= leading as usize;
    }
}

/// `00` to `99`; a power of two is as long as it takes for an index to need no check.
const PAIRS: [[u8; 2]; 128] = {
    let mut pairs = [[0; 2]; 128];
    let mut n = 0;
    while n < 100 {
        pairs[n] = [b'0' + (n / 10) as u8, b'0' + (n % 10) as u8];
        n += 1;
    }
    pairs
};

/// Writes one value.
struct Fast<'a> {
    out: &'a mut Text,
    /// What stands before the name in an object that is written; 0: it is a value.
    name: u8,
}

/// Writes the parts of a list or an object.
struct Parts<'a> {
    out: &'a mut Text,
    /// What stands before the next one.
    before: u8,
    ends: [u8; 2],
}

impl<'a> Fast<'a> {
    #[inline(always)]
    fn parts(self, ends: &[u8; 2]) -> Parts<'a> {
        Parts {
            out: self.out,
            before: ends[0],
            ends: *ends,
        }
    }
}

impl Parts<'_> {
    /// What stands before the next part.
    #[inline(always)]
    fn before(&mut self) -> u8 {
        std::mem::replace(&mut self.before, b',')
    }

    #[inline(always)]
    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result {
        value.serialize(Fast {
            out: self.out,
            name: 0,
        })
    }

    #[inline(always)]
    fn close(self) -> Result {
        let [begin, end] = self.ends;
        if self.before == begin {
            self.out.put(&[begin, end]);
        } else {
            self.out.put(&[end]);
        }
        Ok(())
    }
}

/// What no report holds.
fn foreign<T>(what: &str) -> Result<T> {
    let message = format!("a report holds no {what}");
    Err(serde_json::Error::io(io::Error::other(message)))
}

/// Methods that leave the value to another one.
macro_rules! as_another {
    ($($method:ident($from:ty) -> $to:ident;)*) => {
        $(#[inline]
        fn $method(self, v: $from) -> Result {
            self.$to(v.into())
        })*
    };
}

impl<'a> ser::Serializer for Fast<'a> {
    type Ok = ();
    type Error = serde_json::Error;
    type SerializeSeq = Parts<'a>;
    type SerializeTuple = Parts<'a>;
    type SerializeTupleStruct = Impossible<(), serde_json::Error>;
    type SerializeTupleVariant = Impossible<(), serde_json::Error>;
    type SerializeMap = Parts<'a>;
    type SerializeStruct = Parts<'a>;
    type SerializeStructVariant = Impossible<(), serde_json::Error>;

    as_another! {
        serialize_i8(i8) -> serialize_i64;
        serialize_i16(i16) -> serialize_i64;
        serialize_i32(i32) -> serialize_i64;
        serialize_u8(u8) -> serialize_u64;
        serialize_u16(u16) -> serialize_u64;
        serialize_u32(u32) -> serialize_u64;
        serialize_f32(f32) -> serialize_f64;
    }

    #[inline]
    fn serialize_bool(self, v: bool) -> Result {
        if v {
            self.out.put(b"true");
        } else {
            self.out.put(b"false");
        }
        Ok(())
    }

    #[inline]
    fn serialize_i64(self, v: i64) -> Result {
        if v < 0 {
            self.out.put(b"-");
        }
        self.serialize_u64(v.unsigned_abs())
    }

    #[inline(always)]
    fn serialize_u64(self, v: u64) -> Result {
        self.out.number(v);
        Ok(())
    }

    fn serialize_f64(self, v: f64) -> Result {
        self.out.append(&serde_json::to_vec(&v)?);
        Ok(())
    }

    fn serialize_char(self, v: char) -> Result {
        self.serialize_str(v.encode_utf8(&mut [0; 4]))
    }

    #[inline(always)]
    fn serialize_str(self, v: &str) -> Result {
        if self.name != 0 {
            self.out.quoted(&[self.name], v, b":");
            return Ok(());
        }
        // Without an early end the compiler looks at many bytes at once.
        let special = |b: u8| b < 0x20 || b == b'"' || b == b'\\';
        if v.bytes().fold(false, |any, b| any | special(b)) {
            self.out.append(&serde_json::to_vec(v)?);
        } else {
            self.out.quoted(b"", v, b"");
        }
        Ok(())
    }

    fn serialize_bytes(self, _: &[u8]) -> Result {
        foreign("bytes")
    }

    #[inline]
    fn serialize_none(self) -> Result {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result {
        value.serialize(self)
    }

    #[inline]
    fn serialize_unit(self) -> Result {
        self.out.put(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result {
        self.out.quoted(b"", variant, b"");
        Ok(())
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result {
        foreign("variants with values")
    }

    #[inline]
    fn serialize_seq(self, _: Option<usize>) -> Result<Parts<'a>> {
        Ok(self.parts(b"[]"))
    }

    #[inline]
    fn serialize_tuple(self, _: usize) -> Result<Parts<'a>> {
        Ok(self.parts(b"[]"))
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct> {
        foreign("tuple structs")
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant> {
        foreign("variants with values")
    }

    #[inline]
    fn serialize_map(self, _: Option<usize>) -> Result<Parts<'a>> {
        Ok(self.parts(b"{}"))
    }

    #[inline]
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Parts<'a>> {
        Ok(self.parts(b"{}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant> {
        foreign("variants with values")
    }
}

impl SerializeStruct for Parts<'_> {
    type Ok = ();
    type Error = serde_json::Error;

    #[inline(always)]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result {
        let before = self.before();
        self.out.quoted(&[before], key, b":");
        self.value(value)
    }

    #[inline(always)]
    fn end(self) -> Result {
        self.close()
    }
}

impl SerializeMap for Parts<'_> {
    type Ok = ();
    type Error = serde_json::Error;

    #[inline(always)]
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result {
        let name = self.before();
        key.serialize(Fast {
            out: self.out,
            name,
        })
    }

    #[inline(always)]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result {
        self.value(value)
    }

    #[inline]
    fn end(self) -> Result {
        self.close()
    }
}

impl SerializeSeq for Parts<'_> {
    type Ok = ();
    type Error = serde_json::Error;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result {
        let before = self.before();
        self.out.put(&[before]);
        self.value(value)
    }

    #[inline]
    fn end(self) -> Result {
        self.close()
    }
}

impl SerializeTuple for Parts<'_> {
    type Ok = ();
    type Error = serde_json::Error;

    #[inline]
    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result {
        SerializeSeq::serialize_element(self, value)
    }

    #[inline]
    fn end(self) -> Result {
        self.close()
    }
}

/// `00000000`.
const ZEROS: u64 = u64::from_le_bytes(*b"00000000");

/// The eight digits of a number below 10^8, one in each byte, the first in the lowest.
const fn eight(n: u64) -> u64 {
    // Four digits in each half, two in each quarter, one in each byte; the quotient goes below, what is left above.
    let fours = (n / 10_000) | ((n % 10_000) << 32);
    let hundreds = ((fours * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let twos = hundreds | ((fours - hundreds * 100) << 16);
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | ((twos - tens * 10) << 8)
}

#[cfg(test)]
mod tests;
