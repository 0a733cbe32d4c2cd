//! TCP options (RFC 9293 3.2, RFC 7323, RFC 2018, RFC 7413): the ones that the analyser reads, and those of the endpoint.

use tcplab_base::Seq;

/// Up to four SACK blocks (RFC 2018 3), in the order of the option. A SYN has no SACK blocks and
/// keeps its Fast Open cookie here ([`TcpOptions::fast_open`]), which saves memory in all other
/// segments.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SackBlocks {
    blocks: [(Seq, Seq); 4],
    len: u8,
    cookie: u8,
}

/// Bits of `SackBlocks::cookie`: there is a Fast Open option, it has the experimental kind, its cookie's length.
const HAS_COOKIE: u8 = 0x80;
const EXPERIMENTAL: u8 = 0x40;
const COOKIE_LEN: u8 = 0x1f;

/// A Fast Open option (RFC 7413 4.1.1): a cookie, or the request for one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct FastOpen {
    bytes: [u8; 16],
    len: u8,
    experimental: bool,
}

impl FastOpen {
    /// Asks for a cookie. `experimental`: with the option's first number, 254 and a magic (RFC 6994).
    pub fn request(experimental: bool) -> Self {
        Self {
            experimental,
            ..Self::default()
        }
    }

    /// A cookie of 4 to 16 bytes, of even length (RFC 7413 4.1.1); `None` for other lengths.
    pub fn cookie(cookie: &[u8], experimental: bool) -> Option<Self> {
        if !(4..=16).contains(&cookie.len()) || cookie.len() % 2 == 1 {
            return None;
        }
        let mut bytes = [0; 16];
        bytes.get_mut(..cookie.len())?.copy_from_slice(cookie);
        Some(Self {
            bytes,
            len: cookie.len() as u8,
            experimental,
        })
    }

    /// The cookie; empty: the option asks for one.
    pub fn as_slice(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or_default()
    }

    /// Whether it asks for a cookie.
    pub fn is_request(&self) -> bool {
        self.len == 0
    }

    /// Whether it has the option number 254 (RFC 6994).
    pub fn is_experimental(&self) -> bool {
        self.experimental
    }

    /// Bytes that it takes in a header, padded.
    pub fn wire_len(&self) -> u32 {
        let base = if self.experimental { 4 } else { 2 };
        (base + u32::from(self.len)).next_multiple_of(4)
    }
}

impl SackBlocks {
    /// Adds a block `[left, right)`; a fifth one is ignored (it cannot fit into an option).
    pub fn push(&mut self, left: Seq, right: Seq) {
        if self.cookie != 0 {
            *self = Self::default();
        }
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

    /// Whether there are no SACK blocks.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn put_cookie(&mut self, cookie: Option<&FastOpen>) {
        if self.len > 0 {
            return;
        }
        *self = Self::default();
        let Some(cookie) = cookie else {
            return;
        };
        self.cookie = HAS_COOKIE | cookie.len | (u8::from(cookie.experimental) * EXPERIMENTAL);
        let mut words = cookie.bytes.chunks_exact(4).map(|word| match *word {
            [a, b, c, d] => Seq(u32::from_be_bytes([a, b, c, d])),
            _ => Seq(0),
        });
        for slot in self.blocks.iter_mut().take(2) {
            *slot = (
                words.next().unwrap_or_default(),
                words.next().unwrap_or_default(),
            );
        }
    }

    fn cookie(&self) -> Option<FastOpen> {
        if self.cookie == 0 {
            return None;
        }
        let [(a, b), (c, d), ..] = self.blocks;
        let word = |n: usize, seq: Seq| u128::from(seq.0) << (96 - 32 * n);
        let bytes = word(0, a) | word(1, b) | word(2, c) | word(3, d);
        Some(FastOpen {
            bytes: bytes.to_be_bytes(),
            len: self.cookie & COOKIE_LEN,
            experimental: self.cookie & EXPERIMENTAL != 0,
        })
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
    pub(crate) const FAST_OPEN: u8 = 34;
    pub(crate) const EXPERIMENTAL: u8 = 254;
}

/// What marks an experimental option as Fast Open's (RFC 7413 4.1.1).
pub(crate) const FAST_OPEN_MAGIC: [u8; 2] = [0xf9, 0x89];

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
            (kind::FAST_OPEN, cookie) => self.read_fast_open(cookie, false),
            (kind::EXPERIMENTAL, [0xf9, 0x89, cookie @ ..]) => self.read_fast_open(cookie, true),
            _ => {}
        }
    }

    /// As Linux's `tcp_parse_fastopen_option()`: an odd length says nothing, an even one that is no cookie's takes back
    /// what an option before said.
    fn read_fast_open(&mut self, cookie: &[u8], experimental: bool) {
        match cookie.len() {
            0 => self.set_fast_open(Some(FastOpen::request(experimental))),
            n if n % 2 == 0 => self.set_fast_open(FastOpen::cookie(cookie, experimental)),
            _ => {}
        }
    }

    /// The Fast Open option (kind 34, or 254 with its magic), in a header without SACK blocks.
    #[inline]
    pub fn fast_open(&self) -> Option<FastOpen> {
        self.sack.cookie()
    }

    /// Sets the Fast Open option; a header with SACK blocks, which no SYN has, keeps those.
    pub fn set_fast_open(&mut self, option: Option<FastOpen>) {
        self.sack.put_cookie(option.as_ref());
    }

    /// Bytes of the Fast Open option in a header, padded; 0 without the option.
    #[inline]
    pub fn fast_open_len(&self) -> u32 {
        match self.sack.cookie {
            0 => 0,
            _ => self.fast_open().map_or(0, |option| option.wire_len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Option<FastOpen> {
        TcpOptions::read(bytes).fast_open()
    }

    #[test]
    fn fast_open_in_both_kinds() {
        let cookie = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 255];
        for len in 0..=18 {
            for experimental in [false, true] {
                let mut bytes = match experimental {
                    false => vec![34, 2 + len],
                    true => vec![254, 4 + len, 0xf9, 0x89],
                };
                bytes.extend(cookie.iter().cycle().take(usize::from(len)));
                let got = read(&bytes);
                let good = len == 0 || (4..=16).contains(&len) && len % 2 == 0;
                assert_eq!(got.is_some(), good, "{len} {experimental}");
                if let Some(got) = got {
                    assert_eq!(got.as_slice(), &cookie[..usize::from(len)]);
                    assert_eq!(got.is_experimental(), experimental);
                    assert_eq!(got.is_request(), len == 0);
                }
            }
        }
        assert_eq!(read(&[254, 4, 1, 2]), None, "another experiment");
    }

    #[test]
    fn the_last_fast_open_option_counts() {
        let (first, second) = ([34, 6, 1, 2, 3, 4], [34, 6, 5, 6, 7, 8]);
        assert_eq!(
            read(&[first, second].concat()).unwrap().as_slice(),
            [5, 6, 7, 8]
        );
        assert_eq!(read(&[&first[..], &[34, 4, 0, 0]].concat()), None);
        let odd = [&first[..], &[34, 5, 0, 0, 0]].concat();
        assert_eq!(read(&odd).unwrap().as_slice(), [1, 2, 3, 4]);
    }

    #[test]
    fn sack_blocks_drive_a_cookie_out() {
        let sack = [5, 10, 0, 0, 0, 1, 0, 0, 0, 2];
        let cookie = [34, 6, 1, 2, 3, 4];
        let one = TcpOptions::read(&sack);
        for bytes in [[&sack[..], &cookie].concat(), [&cookie[..], &sack].concat()] {
            assert_eq!(TcpOptions::read(&bytes), one);
        }
        assert_eq!(one.fast_open(), None);
    }
}
