//! A time that may not be known, in eight bytes: `Option<Instant>` takes sixteen, and a connection has many of them.

use tcplab_base::Instant;

/// An instant, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment(Instant);

/// Stands for none. A time stamp of a capture that really says this (292 years before 1970) is moved by a nanosecond.
const NONE: Instant = Instant::from_nanos(i64::MIN);

impl Default for Moment {
    fn default() -> Self {
        Self(NONE)
    }
}

impl Moment {
    /// The instant, if any.
    #[inline]
    pub(crate) fn get(self) -> Option<Instant> {
        self.is_some().then_some(self.0)
    }

    #[inline]
    pub(crate) fn is_some(self) -> bool {
        self.0 != NONE
    }

    #[inline]
    pub(crate) fn is_none(self) -> bool {
        !self.is_some()
    }

    /// Becomes `now`; gives whether it had been none.
    #[inline]
    pub(crate) fn set(&mut self, now: Instant) -> bool {
        let first = self.is_none();
        self.0 = now.max(Instant::from_nanos(i64::MIN + 1));
        first
    }

    /// Sets the moment to `now` if it is unset.
    #[inline]
    pub(crate) fn set_first(&mut self, now: Instant) {
        if self.is_none() {
            self.set(now);
        }
    }

    /// Becomes none.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.0 = NONE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_instant_is_still_an_instant() {
        let mut m = Moment::default();
        assert_eq!((m.get(), size_of::<Moment>()), (None, 8));
        assert!(m.set(NONE) && m.is_some());
        m.set_first(Instant::from_nanos(5));
        assert_eq!(m.get(), Some(Instant::from_nanos(i64::MIN + 1)));
        assert!(!m.set(Instant::from_nanos(7)));
        assert_eq!(m.get(), Some(Instant::from_nanos(7)));
        m.clear();
        assert!(m.is_none());
    }
}
