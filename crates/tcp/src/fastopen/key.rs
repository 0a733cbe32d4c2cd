//! Fast Open cookies: SipHash-2-4 of both addresses with the host's or the listener's key (RFC 7413 4.1.2; Linux
//! `__tcp_fastopen_cookie_gen_cipher()`, `sscanf_key()`).

use std::net::IpAddr;

use tcplab_wire::FastOpen;

/// A key of 16 bytes as SipHash takes it: two words, the low byte first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct FastOpenKey(pub [u64; 2]);

impl FastOpenKey {
    /// The key of these bytes (setsockopt(TCP_FASTOPEN_KEY)).
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        let all = u128::from_le_bytes(bytes);
        Self([all as u64, (all >> 64) as u64])
    }

    /// Its bytes.
    pub fn to_bytes(self) -> [u8; 16] {
        (u128::from(self.0[0]) | u128::from(self.0[1]) << 64).to_le_bytes()
    }

    /// `XXXXXXXX-XXXXXXXX-XXXXXXXX-XXXXXXXX`: four words in hexadecimal.
    fn read(text: &str) -> Option<Self> {
        let mut words = [0_u64; 4];
        let mut parts = text.trim().split('-');
        for word in &mut words {
            *word = u32::from_str_radix(parts.next()?, 16).ok()?.into();
        }
        let [a, b, c, d] = words;
        parts
            .next()
            .is_none()
            .then_some(Self([a | b << 32, c | d << 32]))
    }

    /// The cookie of a client at `src` that asks `dst`; none: the addresses are of two families.
    pub fn cookie(self, src: IpAddr, dst: IpAddr, experimental: bool) -> Option<FastOpen> {
        let mut bytes = [0_u8; 32];
        let len = match (src, dst) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => {
                bytes[..4].copy_from_slice(&src.octets());
                bytes[4..8].copy_from_slice(&dst.octets());
                8
            }
            (IpAddr::V6(src), IpAddr::V6(dst)) => {
                bytes[..16].copy_from_slice(&src.octets());
                bytes[16..].copy_from_slice(&dst.octets());
                32
            }
            _ => return None,
        };
        let hash = siphash_words(self.0, &bytes[..len]);
        FastOpen::cookie(&hash.to_le_bytes(), experimental)
    }
}

/// SipHash-2-4 of whole words.
fn siphash_words(key: [u64; 2], bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(8).map(|chunk| {
        let mut word = [0; 8];
        word.copy_from_slice(chunk);
        u64::from_le_bytes(word)
    });
    crate::stack::siphash_of(key, words, bytes.len())
}

/// `net.ipv4.tcp_fastopen_key`: one key, or one that makes cookies and one that still counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub struct FastOpenKeys {
    /// Cookies are made with this one.
    pub primary: FastOpenKey,
    /// Cookies made with this one are good too; the peer gets a new one then.
    pub backup: Option<FastOpenKey>,
}

impl FastOpenKeys {
    /// Reads the sysctl's text: one key or two with a comma between them.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (primary, backup) = match text.split_once(',') {
            Some((primary, backup)) => (primary, Some(FastOpenKey::read(backup)?)),
            None => (text, None),
        };
        Some(Self {
            primary: FastOpenKey::read(primary)?,
            backup,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_words_and_bytes() {
        let key = FastOpenKey::read("00112233-44556677-8899aabb-ccddeeff").unwrap();
        assert_eq!(key.0, [0x4455_6677_0011_2233, 0xccdd_eeff_8899_aabb]);
        assert_eq!(key.to_bytes()[..5], [0x33, 0x22, 0x11, 0x00, 0x77]);
        assert_eq!(FastOpenKey::from_bytes(key.to_bytes()), key);
        for text in ["", "1-2-3", "1-2-3-4-5", "1-2-3-x", "1-2-3-123456789"] {
            assert_eq!(FastOpenKey::read(text), None, "{text}");
        }
        let keys = FastOpenKeys::read("1-2-3-4,5-6-7-8").unwrap();
        assert_eq!(keys.backup, FastOpenKey::read("5-6-7-8"));
        assert_eq!(FastOpenKeys::read("1-2-3-4,"), None);
    }

    /// The standard library's SipHash is 2-4, too.
    #[test]
    #[allow(deprecated)]
    fn a_cookie_is_siphash_of_the_addresses() {
        use std::hash::{Hasher, SipHasher};
        let key = FastOpenKey([0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908]);
        let cases: [(IpAddr, IpAddr, Vec<u8>); 2] = [
            (
                [10, 0, 0, 1].into(),
                [10, 0, 0, 2].into(),
                vec![10, 0, 0, 1, 10, 0, 0, 2],
            ),
            (
                [1_u8; 16].into(),
                [2_u8; 16].into(),
                [[1_u8; 16], [2; 16]].concat(),
            ),
        ];
        for (src, dst, bytes) in cases {
            let mut hasher = SipHasher::new_with_keys(key.0[0], key.0[1]);
            hasher.write(&bytes);
            let cookie = key.cookie(src, dst, true).unwrap();
            assert_eq!(cookie.as_slice(), hasher.finish().to_le_bytes());
            assert!(cookie.is_experimental());
        }
        assert_eq!(key.cookie([1; 4].into(), [1_u8; 16].into(), false), None);
    }
}
