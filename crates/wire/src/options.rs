//! TCP options (RFC 9293 3.2, RFC 7323, RFC 2018): the ones that the analyser reads.

use tcplab_base::Seq;

/// Up to four SACK blocks (RFC 2018 3), in the order of the option.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackBlocks {
    blocks: [(Seq, Seq); 4],
    len: u8,
}

impl SackBlocks {
    /// Adds a block `[left, right)`; a fifth one is ignored (it cannot fit into an option).
    pub fn push(&mut self, left: Seq, right: Seq) {
        if let Some(slot) = self.blocks.get_mut(usize::from(self.len)) {
            *slot = (left, right);
            self.len += 1;
        }
    }

    /// The blocks as `(left, right)`, right edge exclusive.
    #[inline]
    pub fn as_slice(&self) -> &[(Seq, Seq)] {
        self.blocks.get(..usize::from(self.len)).unwrap_or_default()
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// What the options of one header say.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TcpOptions {
    /// Maximum segment size (kind 2), bytes.
    pub mss: Option<u16>,
    /// Window scale shift (kind 3); values above 14 were made 14 (RFC 7323 2.3).
    pub window_scale: Option<u8>,
    /// SACK permitted (kind 4).
    pub sack_permitted: bool,
    /// SACK blocks (kind 5).
    pub sack: SackBlocks,
    /// Time stamps (kind 8): TSval, TSecr.
    pub timestamps: Option<(u32, u32)>,
    /// Subtypes of Multipath TCP options (kind 30, RFC 8684 3): bit n for subtype n. An MP_CAPABLE without a key, as in
    /// the first SYN, has no bit.
    pub mptcp: u8,
    /// An option ran past the header, or had an impossible length; what stood before it was read.
    pub malformed: bool,
}

/// Kinds of <https://www.iana.org/assignments/tcp-parameters>.
pub(crate) mod kind {
    pub(crate) const END: u8 = 0;
    pub(crate) const NOP: u8 = 1;
    pub(crate) const MSS: u8 = 2;
    pub(crate) const WINDOW_SCALE: u8 = 3;
    pub(crate) const SACK_PERMITTED: u8 = 4;
    pub(crate) const SACK: u8 = 5;
    pub(crate) const TIMESTAMPS: u8 = 8;
    pub(crate) const MPTCP: u8 = 30;
}

/// RFC 7323 2.3: larger shifts count as this one.
const MAX_WINDOW_SCALE: u8 = 14;

impl TcpOptions {
    /// Reads the bytes between the fixed header and the payload, at most 40.
    #[inline]
    pub(crate) fn read(bytes: &[u8]) -> Self {
        Self::read_any(bytes, true)
    }

    /// What Linux puts into every packet after the handshake, and nothing else: NOP, NOP, time stamps.
    #[inline(always)]
    pub(crate) fn only_timestamps(bytes: &[u8]) -> Option<(u32, u32)> {
        let [1, 1, 8, 10, v0, v1, v2, v3, e0, e1, e2, e3] = *bytes else {
            return None;
        };
        let tsval = u32::from_be_bytes([v0, v1, v2, v3]);
        Some((tsval, u32::from_be_bytes([e0, e1, e2, e3])))
    }

    /// Reads options that the capture cut: the last one may be incomplete, which says nothing about the packet.
    #[cold]
    pub(crate) fn read_cut(bytes: &[u8]) -> Self {
        Self::read_any(bytes, false)
    }

    /// Each step takes at least one byte, so there are at most 40. As Linux does (`tcp_parse_options()`), an option
    /// of a wrong length is stepped over, and one that runs past the end stops the reading.
    #[inline(never)]
    fn read_any(bytes: &[u8], complete: bool) -> Self {
        let mut options = Self::default();
        let mut rest = bytes;
        loop {
            rest = match *rest {
                [] | [kind::END, ..] => return options,
                [kind::NOP, ref rest @ ..] => rest,
                [kind, len, ..] => {
                    let Some((option, rest)) = rest.split_at_checked(usize::from(len)) else {
                        options.malformed |= complete;
                        return options;
                    };
                    let Some(data) = option.get(2..) else {
                        options.malformed = true;
                        return options;
                    };
                    options.one(kind, data);
                    rest
                }
                [_] => {
                    options.malformed |= complete;
                    return options;
                }
            };
        }
    }

    fn one(&mut self, kind: u8, data: &[u8]) {
        match (kind, data) {
            (kind::MSS, &[a, b]) => self.mss = Some(u16::from_be_bytes([a, b])),
            (kind::WINDOW_SCALE, &[shift]) => {
                self.window_scale = Some(shift.min(MAX_WINDOW_SCALE));
            }
            (kind::SACK_PERMITTED, []) => self.sack_permitted = true,
            (kind::TIMESTAMPS, &[a, b, c, d, e, f, g, h]) => {
                self.timestamps = Some((
                    u32::from_be_bytes([a, b, c, d]),
                    u32::from_be_bytes([e, f, g, h]),
                ));
            }
            (kind::SACK, blocks) if !blocks.is_empty() && blocks.len() % 8 == 0 => {
                for block in blocks.chunks_exact(8) {
                    if let &[a, b, c, d, e, f, g, h] = block {
                        self.sack.push(
                            Seq(u32::from_be_bytes([a, b, c, d])),
                            Seq(u32::from_be_bytes([e, f, g, h])),
                        );
                    }
                }
            }
            (kind::MPTCP, &[first, ..]) if first >> 4 < 8 => {
                let with_key = matches!(data.len(), 10 | 18 | 20 | 22);
                if first >> 4 > 0 || with_key {
                    self.mptcp |= 1 << (first >> 4);
                }
            }
            (
                kind::MSS
                | kind::WINDOW_SCALE
                | kind::SACK_PERMITTED
                | kind::TIMESTAMPS
                | kind::SACK,
                _,
            ) => self.malformed = true,
            _ => {}
        }
    }
}
