//! Connections that are idle, in a tenth of their memory.
//!
//! A million connections that wait need little each: most of what an endpoint holds is the same for all of a host, or
//! zero. A packed one is a string of differences from another endpoint of the same host (`like`): a bit for each value
//! that is equal, else four bits of length and its bytes. Sequence numbers are told by their distance from the one
//! before. Packing loses nothing: what comes out is what went in, field by field.
//!
//! Linux has nothing like it; it is not seen from outside. Each group lists its fields once, with [`packed!`] beside
//! its definition: a field that is not listed does not compile.

mod endpoint;

use tcplab_base::{Instant, Seq};

/// Writes values.
#[derive(Debug, Default)]
pub(crate) struct Packer {
    /// One bit 0 for each value of zero; else 1 and three bits with the number of its bytes less one.
    lengths: Vec<u8>,
    /// Those that do not make four bytes yet.
    bits: u64,
    count: u32,
    /// The bytes, the lowest first.
    bytes: Vec<u8>,
    /// The last sequence number.
    seq: u32,
}

impl Packer {
    /// One value; small ones take little.
    #[inline]
    pub(crate) fn put(&mut self, value: u64) {
        if value == 0 {
            self.count += 1;
        } else {
            let len = (71 - value.leading_zeros()) / 8;
            self.bits |= u64::from(2 * len - 1) << self.count;
            self.count += 4;
            let end = self.bytes.len() + len as usize;
            self.bytes.extend_from_slice(&value.to_le_bytes());
            self.bytes.truncate(end);
        }
        if self.count >= 32 {
            self.lengths
                .extend_from_slice(&(self.bits as u32).to_le_bytes());
            self.bits >>= 32;
            self.count -= 32;
        }
    }

    /// All of it, in as many bytes as it needs; the packer is as new.
    pub(crate) fn finish(&mut self) -> Box<[u8]> {
        let rest = self.count.div_ceil(8) as usize;
        let bits = self.bits.to_le_bytes();
        let rest = bits.get(..rest).unwrap_or_default();
        let lengths = self.lengths.len() + rest.len();
        let mut all = Vec::with_capacity(1 + lengths + self.bytes.len());
        all.push(lengths as u8);
        all.extend_from_slice(&self.lengths);
        all.extend_from_slice(rest);
        all.extend_from_slice(&self.bytes);
        self.lengths.clear();
        self.bytes.clear();
        (self.bits, self.count, self.seq) = (0, 0, 0);
        all.into_boxed_slice()
    }
}

/// Reads them back, in the same order.
#[derive(Debug)]
pub(crate) struct Unpacker<'a> {
    all: &'a [u8],
    /// The next bit of the lengths.
    bit: usize,
    /// The next byte of the values.
    at: usize,
    seq: u32,
}

impl<'a> Unpacker<'a> {
    pub(crate) fn new(all: &'a [u8]) -> Self {
        let lengths = all.first().map_or(0, |&n| usize::from(n));
        Self {
            all,
            bit: 8,
            at: 1 + lengths,
            seq: 0,
        }
    }

    /// The next value.
    #[inline]
    pub(crate) fn take(&mut self) -> u64 {
        let code = self.word(self.bit / 8) >> (self.bit % 8);
        if code & 1 == 0 {
            self.bit += 1;
            return 0;
        }
        self.bit += 4;
        let len = (code >> 1 & 7) as usize + 1;
        let value = self.word(self.at) & (u64::MAX >> (64 - 8 * len));
        self.at += len;
        value
    }

    /// Eight bytes; zeros behind the end.
    #[inline]
    fn word(&self, at: usize) -> u64 {
        if let Some(Ok(eight)) = self.all.get(at..at + 8).map(<[u8; 8]>::try_from) {
            return u64::from_le_bytes(eight);
        }
        let tail = self.all.get(at..).unwrap_or_default();
        let of = |word: u64, byte: &u8| word << 8 | u64::from(*byte);
        tail.iter().rev().fold(0, of)
    }
}

/// A value that can be packed as its difference from another one.
pub(crate) trait Pack: Sized {
    fn pack(&self, like: &Self, to: &mut Packer);
    fn unpack(like: &Self, from: &mut Unpacker<'_>) -> Self;
}

macro_rules! whole {
    ($($type:ty as $bits:ty),*) => { $(
        impl Pack for $type {
            #[inline]
            fn pack(&self, like: &Self, to: &mut Packer) {
                to.put((*self ^ *like) as $bits as u64);
            }
            #[inline]
            fn unpack(like: &Self, from: &mut Unpacker<'_>) -> Self {
                from.take() as $type ^ *like
            }
        }
    )* };
}

whole!(
    u8 as u8,
    u16 as u16,
    u32 as u32,
    u64 as u64,
    usize as usize,
    i32 as u32,
    i64 as u64
);

impl Pack for bool {
    #[inline]
    fn pack(&self, like: &Self, to: &mut Packer) {
        to.put(u64::from(self != like));
    }
    #[inline]
    fn unpack(like: &Self, from: &mut Unpacker<'_>) -> Self {
        (from.take() != 0) != *like
    }
}

impl Pack for Instant {
    #[inline]
    fn pack(&self, like: &Self, to: &mut Packer) {
        self.as_nanos().pack(&like.as_nanos(), to);
    }
    #[inline]
    fn unpack(like: &Self, from: &mut Unpacker<'_>) -> Self {
        Self::from_nanos(i64::unpack(&like.as_nanos(), from))
    }
}

/// Packed as the distance from the previous sequence number. Zero often means "unset", so it has a separate code: that
/// of an equal value, if the other endpoint has zero too.
impl Pack for Seq {
    #[inline]
    fn pack(&self, like: &Self, to: &mut Packer) {
        let zero = u64::from(like.0 != 0);
        let distance = self.0.wrapping_sub(to.seq) as i32;
        match (self.0, distance) {
            (0, _) => return to.put(zero),
            (_, 0) => to.put(zero ^ 1),
            _ => to.put(u64::from((distance << 1 ^ distance >> 31) as u32) + 1),
        }
        to.seq = self.0;
    }
    #[inline]
    fn unpack(like: &Self, from: &mut Unpacker<'_>) -> Self {
        match from.take() {
            n if n == u64::from(like.0 != 0) => return Self(0),
            0 | 1 => {}
            n => {
                let n = (n - 1) as u32;
                from.seq = from.seq.wrapping_add(n >> 1 ^ (n & 1).wrapping_neg());
            }
        }
        Self(from.seq)
    }
}

impl<T: Pack + Default> Pack for Option<T> {
    fn pack(&self, like: &Self, to: &mut Packer) {
        self.is_some().pack(&like.is_some(), to);
        if let Some(value) = self {
            value.pack(&T::default(), to);
        }
    }
    fn unpack(like: &Self, from: &mut Unpacker<'_>) -> Self {
        bool::unpack(&like.is_some(), from).then(|| T::unpack(&T::default(), from))
    }
}

impl<T: Pack> Pack for Box<T> {
    fn pack(&self, like: &Self, to: &mut Packer) {
        (**self).pack(like, to);
    }
    fn unpack(like: &Self, from: &mut Unpacker<'_>) -> Self {
        Self::new(T::unpack(like, from))
    }
}

impl<A: Pack, B: Pack> Pack for (A, B) {
    #[inline]
    fn pack(&self, like: &Self, to: &mut Packer) {
        self.0.pack(&like.0, to);
        self.1.pack(&like.1, to);
    }
    #[inline]
    fn unpack(like: &Self, from: &mut Unpacker<'_>) -> Self {
        (A::unpack(&like.0, from), B::unpack(&like.1, from))
    }
}

impl<T: Pack, const N: usize> Pack for [T; N] {
    #[inline]
    fn pack(&self, like: &Self, to: &mut Packer) {
        for (value, like) in self.iter().zip(like) {
            value.pack(like, to);
        }
    }
    #[inline]
    fn unpack(like: &Self, from: &mut Unpacker<'_>) -> Self {
        std::array::from_fn(|n| T::unpack(&like[n], from))
    }
}

/// `packed!(Type { every, field })`: the fields of a group, all of them, in any order; `packed!(Type)`: a type without fields.
macro_rules! packed {
    ($type:ident) => {
        impl $crate::pack::Pack for $type {
            fn pack(&self, _: &Self, _: &mut $crate::pack::Packer) {}
            fn unpack(_: &Self, _: &mut $crate::pack::Unpacker<'_>) -> Self {
                Self
            }
        }
    };
    ($type:ty { $($field:ident),* $(,)? }) => {
        impl $crate::pack::Pack for $type {
            fn pack(&self, like: &Self, to: &mut $crate::pack::Packer) {
                let Self { $($field),* } = self;
                $($crate::pack::Pack::pack($field, &like.$field, to);)*
            }
            fn unpack(like: &Self, from: &mut $crate::pack::Unpacker<'_>) -> Self {
                Self { $($field: $crate::pack::Pack::unpack(&like.$field, from)),* }
            }
        }
    };
}

/// `packed_enum!(Type { Every, Variant })`: one without data.
macro_rules! packed_enum {
    ($type:ty { $($variant:ident),* $(,)? }) => {
        impl $crate::pack::Pack for $type {
            fn pack(&self, like: &Self, to: &mut $crate::pack::Packer) {
                let number = match self { $(Self::$variant => Self::$variant as u64),* };
                to.put(number ^ *like as u64);
            }
            fn unpack(like: &Self, from: &mut $crate::pack::Unpacker<'_>) -> Self {
                let number = from.take() ^ *like as u64;
                $(if number == Self::$variant as u64 {
                    return Self::$variant;
                })*
                *like
            }
        }
    };
}

/// `packed_flags!(Type)`: one of `bitflags!`.
macro_rules! packed_flags {
    ($type:ty) => {
        impl $crate::pack::Pack for $type {
            fn pack(&self, like: &Self, to: &mut $crate::pack::Packer) {
                $crate::pack::Pack::pack(&self.bits(), &like.bits(), to);
            }
            fn unpack(like: &Self, from: &mut $crate::pack::Unpacker<'_>) -> Self {
                Self::from_bits_retain($crate::pack::Pack::unpack(&like.bits(), from))
            }
        }
    };
}

pub(crate) use {packed, packed_enum, packed_flags};

#[cfg(test)]
mod tests {
    use super::*;

    fn through<T: Pack + Copy>(values: &[T], like: T) -> (Vec<T>, usize) {
        let mut to = Packer::default();
        for value in values {
            value.pack(&like, &mut to);
        }
        let all = to.finish();
        let mut from = Unpacker::new(&all);
        let back = values.iter().map(|_| T::unpack(&like, &mut from)).collect();
        (back, all.len())
    }

    #[test]
    fn what_goes_in_comes_out() {
        let mut values = vec![0, 1, u64::MAX, u64::MAX - 1];
        for shift in 0..64 {
            values.extend([1 << shift, (1 << shift) - 1, 0xa5a5_5a5a_dead_beef >> shift]);
        }
        for like in [0, 7, u64::MAX] {
            assert_eq!(through(&values, like).0, values);
        }
        let seqs: Vec<Seq> = values.iter().map(|&v| Seq(v as u32)).collect();
        assert_eq!(through(&seqs, Seq(0)).0, seqs);
        let signed: Vec<i32> = values.iter().map(|&v| v as i32).collect();
        assert_eq!(through(&signed, -1).0, signed);
        let near = [Seq(0), Seq(1 << 31), Seq(0), Seq(1), Seq(u32::MAX), Seq(0)];
        assert_eq!(through(&near, Seq(0)).0, near);
        let some = [None, Some(3_u32), Some(0)];
        assert_eq!(through(&some, Some(4)).0, some);
    }

    #[test]
    fn equal_and_near_values_take_little() {
        assert_eq!(through(&[77_u32; 64], 77).1, 1 + 8);
        // The first one, then 63 neighbours: half a byte and a byte each.
        let near: Vec<Seq> = (0..64).map(|n| Seq(0x8765_4321 + 100 * (n % 2))).collect();
        assert!(
            through(&near, Seq(0)).1 <= 1 + 5 + 32 + 63 * 2,
            "{}",
            through(&near, Seq(0)).1
        );
    }
}
