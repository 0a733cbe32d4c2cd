//! JSON for plain data, into a buffer: what `serde_json` writes, about three times as fast.
//!
//! Own code because the document of a large capture is written at several hundred megabytes a
//! second and is a good part of the whole run: names of fields are known to need no escaping,
//! and small pieces go straight into one buffer. Everything unusual is left to `serde_json`;
//! a test compares both.

use std::fmt::Display;

use serde::ser::{self, Impossible, Serialize};

/// Appends `value` to `out` as compact JSON.
///
/// # Errors
/// For map keys that are no text, and what a type's own `Serialize` refuses.
pub fn write(out: &mut Vec<u8>, value: &impl Serialize) -> std::io::Result<()> {
    value.serialize(Compact(out)).map_err(|e| e.0)
}

/// Why a value has no JSON.
#[derive(Debug)]
pub struct Error(std::io::Error);

impl Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Error {}

impl ser::Error for Error {
    fn custom<T: Display>(message: T) -> Self {
        Self(std::io::Error::other(message.to_string()))
    }
}

type Done = Result<(), Error>;

struct Compact<'a>(&'a mut Vec<u8>);

impl<'a> Compact<'a> {
    fn integer(self, value: impl itoa::Integer) -> Done {
        self.0
            .extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
        Ok(())
    }

    /// Leaves the value to `serde_json`.
    #[cold]
    fn other(self, value: &(impl Serialize + ?Sized)) -> Done {
        serde_json::to_writer(self.0, value).map_err(|e| Error(e.into()))
    }

    fn open(self, bracket: u8, close: u8) -> Compound<'a> {
        self.0.push(bracket);
        Compound {
            out: self.0,
            first: true,
            close,
        }
    }
}

/// Text as it is, when nothing in it needs escaping.
fn plain(out: &mut Vec<u8>, text: &str) -> bool {
    let (words, rest) = text.as_bytes().as_chunks::<8>();
    let special = |b: &u8| *b < 0x20 || *b == b'"' || *b == b'\\';
    if words.iter().any(|w| has_special(*w)) || rest.iter().any(special) {
        return false;
    }
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
    true
}

/// Whether one of eight bytes is a control character, a quote or a backslash. A byte below `n`
/// borrows from its high bit when `n` is subtracted.
fn has_special(bytes: [u8; 8]) -> bool {
    const EACH: u64 = u64::from_le_bytes([1; 8]);
    let below = |word: u64, n: u64| word.wrapping_sub(EACH * n) & !word & (EACH * 0x80);
    let word = u64::from_le_bytes(bytes);
    let quote = word ^ (EACH * b'"' as u64);
    let backslash = word ^ (EACH * b'\\' as u64);
    (below(word, 0x20) | below(quote, 1) | below(backslash, 1)) != 0
}

/// A list or an object that is being written.
struct Compound<'a> {
    out: &'a mut Vec<u8>,
    first: bool,
    close: u8,
}

impl Compound<'_> {
    fn comma(&mut self) {
        if !self.first {
            self.out.push(b',');
        }
        self.first = false;
    }

    fn field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Done {
        // A name is an identifier or a `rename`; both are written by us, without quotes in them.
        self.out.reserve(name.len() + 4);
        self.comma();
        self.out.push(b'"');
        self.out.extend_from_slice(name.as_bytes());
        self.out.extend_from_slice(b"\":");
        value.serialize(Compact(self.out))
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        self.comma();
        value.serialize(Compact(self.out))
    }

    fn close(self) -> Done {
        self.out.push(self.close);
        Ok(())
    }
}

macro_rules! integers {
    ($($name:ident: $type:ty),*) => {
        $(fn $name(self, value: $type) -> Done {
            self.integer(value)
        })*
    };
}

impl<'a> ser::Serializer for Compact<'a> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Compound<'a>;
    type SerializeTuple = Compound<'a>;
    type SerializeTupleStruct = Compound<'a>;
    type SerializeTupleVariant = Impossible<(), Error>;
    type SerializeMap = Compound<'a>;
    type SerializeStruct = Compound<'a>;
    type SerializeStructVariant = Impossible<(), Error>;

    integers!(
        serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64
    );

    fn serialize_bool(self, value: bool) -> Done {
        self.0
            .extend_from_slice(if value { b"true" } else { b"false" });
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Done {
        self.other(&value)
    }

    fn serialize_f64(self, value: f64) -> Done {
        self.other(&value)
    }

    fn serialize_char(self, value: char) -> Done {
        self.other(&value)
    }

    fn serialize_str(self, value: &str) -> Done {
        if plain(self.0, value) {
            return Ok(());
        }
        self.other(value)
    }

    fn serialize_bytes(self, value: &[u8]) -> Done {
        self.other(value)
    }

    fn serialize_none(self) -> Done {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Done {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Done {
        self.0.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Done {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Done {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Done {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Done {
        let mut object = self.open(b'{', b'}');
        object.field(variant, value)?;
        object.close()
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<Compound<'a>, Error> {
        Ok(self.open(b'[', b']'))
    }

    fn serialize_tuple(self, _len: usize) -> Result<Compound<'a>, Error> {
        Ok(self.open(b'[', b']'))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Compound<'a>, Error> {
        Ok(self.open(b'[', b']'))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Error> {
        Err(ser::Error::custom(format!(
            "variant {variant} with a tuple"
        )))
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<Compound<'a>, Error> {
        Ok(self.open(b'{', b'}'))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Compound<'a>, Error> {
        Ok(self.open(b'{', b'}'))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Error> {
        Err(ser::Error::custom(format!("variant {variant} with fields")))
    }
}

macro_rules! elements {
    ($($kind:ident $method:ident),*) => {
        $(impl ser::$kind for Compound<'_> {
            type Ok = ();
            type Error = Error;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
                self.element(value)
            }
            fn end(self) -> Done {
                self.close()
            }
        })*
    };
}

elements!(
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field
);

impl ser::SerializeStruct for Compound<'_> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Done {
        self.field(name, value)
    }

    fn end(self) -> Done {
        self.close()
    }
}

impl ser::SerializeMap for Compound<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Done {
        self.comma();
        let begin = self.out.len();
        key.serialize(Compact(self.out))?;
        match self.out.get(begin) {
            Some(b'"') => Ok(()),
            _ => Err(ser::Error::custom("a key that is no text")),
        }
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        self.out.push(b':');
        value.serialize(Compact(self.out))
    }

    fn end(self) -> Done {
        self.close()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tcplab_analyze::findings::{Finding, Id, Severity};
    use tcplab_analyze::report::{Artefact, Episode, EpisodeKind, Handshake, Stream, Totals};

    #[track_caller]
    fn same(value: &impl Serialize) {
        let mut ours = Vec::new();
        write(&mut ours, value).unwrap();
        let theirs = serde_json::to_string(value).unwrap();
        assert_eq!(String::from_utf8(ours).unwrap(), theirs);
    }

    #[test]
    fn writes_what_serde_json_writes() {
        let mut stream = Stream {
            stream: u32::MAX,
            client: "[2001:db8::1]:1".into(),
            server: "quote \" backslash \\ line\n end \u{1f600}\u{7f}".into(),
            start_ns: i64::MIN,
            duration_us: u64::MAX,
            handshake: Some(Handshake::default()),
            artefacts: vec![Artefact::SuperSegments, Artefact::Snapped],
            ..Stream::default()
        };
        same(&stream);
        let more = &mut stream.client_to_server.more;
        more.window_bytes = Some((0, 7));
        more.sack_permitted = true;
        more.episodes = vec![
            Episode {
                kind: EpisodeKind::Tlp,
                packet: 1,
                start_ns: 2,
                duration_us: None,
                retransmissions: 3,
                spurious: None,
            };
            2
        ];
        same(&stream);
        same(&Totals::default());
        for confidence in [0.0, 0.1, 1.0, 1e-9, f64::NAN] {
            same(&Finding {
                id: Id::RtoStall,
                severity: Severity::Info,
                stream: 0,
                packets: Vec::new(),
                title: String::new(),
                cause: "\u{0}\u{1f}".into(),
                remedy: vec!["\t".into()],
                confidence,
            });
        }
    }

    #[test]
    fn finds_each_byte_that_needs_escaping_at_each_place() {
        for place in 0..20 {
            for byte in 0..0x80_u8 {
                let mut text = vec![b'x'; 20];
                text[place] = byte;
                same(&String::from_utf8(text).unwrap());
            }
        }
        same(&"\u{fffd}\u{e9}\u{20ac}\u{1f600}\u{7f}\u{80}".repeat(3));
    }

    #[test]
    fn writes_the_shapes_that_the_report_does_not_use_yet() {
        use std::collections::BTreeMap;
        same(&(1_u8, -1_i8, 'x', 0.5_f32, Some(()), None::<u8>));
        same(&BTreeMap::from([("a\"b", vec![1_u16]), ("c", vec![])]));
        same(&Ok::<u8, u8>(1));
        let mut out = Vec::new();
        assert!(write(&mut out, &BTreeMap::from([(1, 2)])).is_err());
    }
}
