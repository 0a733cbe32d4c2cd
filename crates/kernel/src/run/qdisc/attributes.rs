//! Netlink attributes, written and read.

use netlink_packet_core::NlasIterator;

/// Attributes one after another, behind a structure or alone.
#[derive(Default)]
pub(super) struct Attributes(Vec<u8>);

impl Attributes {
    /// Begins with a structure of 32-bit words.
    pub(super) fn behind(words: &[u32]) -> Self {
        Self(words.iter().flat_map(|word| word.to_ne_bytes()).collect())
    }

    pub(super) fn put(&mut self, kind: u16, value: &[u8]) {
        let length = u16::try_from(value.len() + 4).unwrap_or(u16::MAX);
        self.0.extend_from_slice(&length.to_ne_bytes());
        self.0.extend_from_slice(&kind.to_ne_bytes());
        self.0.extend_from_slice(value);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    pub(super) fn u32(&mut self, kind: u16, value: u32) {
        self.put(kind, &value.to_ne_bytes());
    }

    pub(super) fn u64(&mut self, kind: u16, value: u64) {
        self.put(kind, &value.to_ne_bytes());
    }

    /// A structure of 32-bit words.
    pub(super) fn words(&mut self, kind: u16, words: &[u32]) {
        let Self(bytes) = Self::behind(words);
        self.put(kind, &bytes);
    }

    pub(super) fn bytes(self) -> Vec<u8> {
        self.0
    }
}

/// The kinds and values of attributes; what is damaged ends them.
pub(super) fn read(bytes: &[u8]) -> impl Iterator<Item = (u16, Vec<u8>)> {
    NlasIterator::new(bytes)
        .map_while(Result::ok)
        .map(|attribute| (attribute.kind(), attribute.value().to_vec()))
}

/// The value of the first attribute of a kind.
pub(super) fn find(bytes: &[u8], kind: u16) -> Option<Vec<u8>> {
    read(bytes)
        .find(|(is, _)| *is == kind)
        .map(|(_, value)| value)
}

/// A number of 32 or 64 bits at a place of a structure; 0 where an older kernel's ends before it.
pub(super) fn number(value: &[u8], at: usize, size: usize) -> u64 {
    let part = value.get(at..at + size).unwrap_or_default();
    match (part.try_into().map(u32::from_ne_bytes), part.try_into()) {
        (Ok(n), _) => n.into(),
        (_, Ok(bytes)) => u64::from_ne_bytes(bytes),
        _ => 0,
    }
}
