//! What is left of a frame while its headers are read: the captured bytes, and how many bytes the wire had.
//!
//! Both are needed: snapped captures hold fewer bytes than the wire had, and lengths must be judged by the wire.

use crate::NotTcp;

/// The rest of a frame. Invariant: `len >= data.len()`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rest<'a> {
    /// Captured bytes.
    data: &'a [u8],
    /// Bytes on the wire.
    len: u32,
}

impl<'a> Rest<'a> {
    #[inline]
    pub(crate) fn new(data: &'a [u8], orig_len: u32) -> Self {
        let captured = u32::try_from(data.len()).unwrap_or(u32::MAX);
        Self {
            data,
            len: orig_len.max(captured),
        }
    }

    /// Bytes on the wire.
    #[inline]
    pub(crate) const fn len(&self) -> u32 {
        self.len
    }

    /// Captured bytes.
    #[inline]
    pub(crate) const fn data(&self) -> &'a [u8] {
        self.data
    }

    /// Why `end` bytes cannot be read: the capture stops short, or the packet itself does.
    #[cold]
    fn missing(&self, end: usize) -> NotTcp {
        if end as u64 > u64::from(self.len) {
            NotTcp::Malformed
        } else {
            NotTcp::Truncated
        }
    }

    /// The first `N` bytes.
    #[inline]
    pub(crate) fn head<const N: usize>(&self) -> Result<&'a [u8; N], NotTcp> {
        self.data.first_chunk().ok_or_else(|| self.missing(N))
    }

    /// `N` bytes from `at`.
    #[inline]
    pub(crate) fn array<const N: usize>(&self, at: usize) -> Result<&'a [u8; N], NotTcp> {
        self.data
            .get(at..)
            .and_then(<[u8]>::first_chunk)
            .ok_or_else(|| self.missing(at.saturating_add(N)))
    }

    /// The byte at `at`.
    #[inline]
    pub(crate) fn u8(&self, at: usize) -> Result<u8, NotTcp> {
        self.data
            .get(at)
            .copied()
            .ok_or_else(|| self.missing(at.saturating_add(1)))
    }

    /// Big-endian number at `at`.
    #[inline]
    pub(crate) fn u16(&self, at: usize) -> Result<u16, NotTcp> {
        self.array(at).map(|b| u16::from_be_bytes(*b))
    }

    /// Without the first `n` bytes. The wire must have had them; the capture may end before.
    #[inline]
    pub(crate) fn skip(self, n: usize) -> Result<Self, NotTcp> {
        let wire = u32::try_from(n).ok().and_then(|n| self.len.checked_sub(n));
        Ok(Self {
            data: self.data.get(n..).unwrap_or_default(),
            len: wire.ok_or(NotTcp::Malformed)?,
        })
    }

    /// Cuts to `len` bytes on the wire: padding and trailers go.
    #[inline]
    pub(crate) fn limit(self, len: u32) -> Self {
        if len >= self.len {
            return self;
        }
        Self {
            data: self.data.get(..len as usize).unwrap_or(self.data),
            len,
        }
    }

    /// Whether the capture holds all of it.
    #[inline]
    pub(crate) const fn is_complete(&self) -> bool {
        self.data.len() as u64 >= self.len as u64
    }
}
