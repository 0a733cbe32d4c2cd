//! TCP sequence numbers (RFC 9293 3.4): arithmetic modulo 2^32.

use std::fmt;
use std::ops::{Add, Sub};

/// A sequence number. It has no `Ord`: on a circle only `before` and `after` mean something.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Hash)]
pub struct Seq(pub u32);

impl Seq {
    /// `self < other` in the half circle that ends at `other` (Linux `before()`).
    #[inline]
    pub const fn before(self, other: Self) -> bool {
        (self.0.wrapping_sub(other.0) as i32) < 0
    }

    /// `self > other` in the half circle that starts at `other` (Linux `after()`).
    #[inline]
    pub const fn after(self, other: Self) -> bool {
        other.before(self)
    }

    /// `self <= other`.
    #[inline]
    pub const fn at_or_before(self, other: Self) -> bool {
        !self.after(other)
    }

    /// `self >= other`.
    #[inline]
    pub const fn at_or_after(self, other: Self) -> bool {
        !self.before(other)
    }

    /// Signed distance from `origin` to `self`, in bytes.
    #[inline]
    pub const fn distance(self, origin: Self) -> i32 {
        self.0.wrapping_sub(origin.0) as i32
    }

    /// The later of two.
    #[inline]
    pub const fn max(self, other: Self) -> Self {
        if self.before(other) { other } else { self }
    }

    /// The earlier of two.
    #[inline]
    pub const fn min(self, other: Self) -> Self {
        if other.before(self) { other } else { self }
    }
}

impl Add<u32> for Seq {
    type Output = Self;
    #[inline]
    fn add(self, n: u32) -> Self {
        Self(self.0.wrapping_add(n))
    }
}

impl Sub<u32> for Seq {
    type Output = Self;
    #[inline]
    fn sub(self, n: u32) -> Self {
        Self(self.0.wrapping_sub(n))
    }
}

impl Sub for Seq {
    type Output = u32;
    /// Bytes from `other` forward to `self`, modulo 2^32.
    #[inline]
    fn sub(self, other: Self) -> u32 {
        self.0.wrapping_sub(other.0)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_holds_across_the_wrap() {
        let a = Seq(u32::MAX - 5);
        let b = a + 10;
        assert!(a.before(b) && b.after(a) && !b.before(a));
        assert_eq!(b - a, 10);
        assert_eq!(b.distance(a), 10);
        assert_eq!(a.distance(b), -10);
        assert_eq!(a.max(b), b);
        assert_eq!(a.min(b), a);
    }

    #[test]
    fn a_number_is_neither_before_nor_after_itself() {
        let a = Seq(7);
        assert!(!a.before(a) && !a.after(a) && a.at_or_before(a) && a.at_or_after(a));
    }
}
