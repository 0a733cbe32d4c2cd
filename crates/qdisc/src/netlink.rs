//! Messages to a kernel about a qdisc, and its answers, as bytes (linux/rtnetlink.h, linux/pkt_sched.h). The crate
//! `kernel` sends and receives them.

/// A message that makes a qdisc, or a class of one (`RTM_NEWQDISC`, `RTM_NEWTCLASS`).
///
/// The tables of transmission times (`TCA_TBF_RTAB` and the like) are left out of all options: a kernel that is told the link
/// layer does not use them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// It makes a class.
    pub is_class: bool,
    /// Where it stands: [`ROOT`], or a class.
    pub parent: u32,
    /// Its own handle; 0: the kernel chooses one.
    pub handle: u32,
    /// `TCA_KIND`.
    pub kind: &'static str,
    /// `TCA_OPTIONS`; none: the kernel's defaults.
    pub options: Option<Vec<u8>>,
}

/// `TC_H_ROOT`: the root of an interface.
pub const ROOT: u32 = u32::MAX;

/// The handle `1:MINOR`.
pub const fn handle(minor: u16) -> u32 {
    0x1_0000 | minor as u32
}

impl Message {
    /// A qdisc whose handle the kernel chooses.
    pub(crate) fn qdisc(parent: u32, kind: &'static str, options: Option<Vec<u8>>) -> Self {
        Self {
            is_class: false,
            parent,
            handle: 0,
            kind,
            options,
        }
    }
}

/// Attributes one after another, behind a structure or alone.
#[derive(Default)]
pub struct Attributes(Vec<u8>);

impl Attributes {
    /// Begins with a structure of 32-bit words.
    pub fn behind(words: &[u32]) -> Self {
        Self(words.iter().flat_map(|word| word.to_ne_bytes()).collect())
    }

    /// Adds an attribute of this kind.
    pub fn put(&mut self, kind: u16, value: &[u8]) {
        let length = u16::try_from(value.len() + 4).unwrap_or(u16::MAX);
        self.0.extend_from_slice(&length.to_ne_bytes());
        self.0.extend_from_slice(&kind.to_ne_bytes());
        self.0.extend_from_slice(value);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
    }

    /// Adds a number.
    pub fn u32(&mut self, kind: u16, value: u32) {
        self.put(kind, &value.to_ne_bytes());
    }

    /// Adds a number that is said.
    pub fn maybe(&mut self, kind: u16, value: Option<u32>) {
        if let Some(value) = value {
            self.u32(kind, value);
        }
    }

    /// Adds a long number.
    pub fn u64(&mut self, kind: u16, value: u64) {
        self.put(kind, &value.to_ne_bytes());
    }

    /// Adds a structure of 32-bit words.
    pub fn words(&mut self, kind: u16, words: &[u32]) {
        let Self(bytes) = Self::behind(words);
        self.put(kind, &bytes);
    }

    /// The whole.
    pub fn bytes(self) -> Vec<u8> {
        self.0
    }
}

/// The kinds and values of attributes; what is damaged ends them.
pub fn read(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    // `NLA_F_NESTED` and `NLA_F_NET_BYTEORDER` are no part of a kind.
    const KIND: u16 = 0x3fff;
    std::iter::from_fn(move || {
        let (head, _) = bytes.split_first_chunk::<4>()?;
        let [length, kind] = [[head[0], head[1]], [head[2], head[3]]].map(u16::from_ne_bytes);
        let value = bytes.get(4..usize::from(length))?;
        let next = usize::from(length).next_multiple_of(4);
        bytes = bytes.get(next..).unwrap_or_default();
        Some((kind & KIND, value))
    })
}

/// The value of the first attribute of a kind.
pub fn find(bytes: &[u8], kind: u16) -> Option<&[u8]> {
    let found = read(bytes).find(|(is, _)| *is == kind);
    found.map(|(_, value)| value)
}

/// A number of 32 or 64 bits at a place of a structure; 0 where an older kernel's ends before it.
pub fn number(value: &[u8], at: usize, size: usize) -> u64 {
    let part = value.get(at..at + size).unwrap_or_default();
    match (part.try_into().map(u32::from_ne_bytes), part.try_into()) {
        (Ok(n), _) => n.into(),
        (_, Ok(bytes)) => u64::from_ne_bytes(bytes),
        _ => 0,
    }
}
