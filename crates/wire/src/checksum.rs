//! The Internet checksum (RFC 1071).

use std::net::IpAddr;

/// A running one's complement sum of 16-bit words.
#[derive(Clone, Copy, Default, Debug)]
pub struct Sum(u64);

/// Bytes of a step: eight lanes of 32 bits, which compilers turn into vector instructions.
const STEP: usize = 32;

impl Sum {
    /// The sum of a pseudo header (RFC 9293 3.1, RFC 8200 8.1): the protocol, and the bytes behind the IP header. None: the
    /// addresses are of two families.
    #[must_use]
    #[inline]
    pub fn pseudo(src: IpAddr, dst: IpAddr, protocol: u8, len: u32) -> Option<Self> {
        let addresses = match (src, dst) {
            (IpAddr::V4(s), IpAddr::V4(d)) => Self::default().add(&s.octets()).add(&d.octets()),
            (IpAddr::V6(s), IpAddr::V6(d)) => Self::default().add(&s.octets()).add(&d.octets()),
            _ => return None,
        };
        Some(addresses.add_number(u32::from(protocol)).add_number(len))
    }

    /// Adds bytes; a last odd byte is padded with zero, so only the last piece may be odd.
    #[must_use]
    #[inline]
    #[allow(clippy::should_implement_trait)] // It takes many bytes, and gives the sum back.
    pub fn add(mut self, bytes: &[u8]) -> Self {
        self.0 += u64::from(u16::from_be(fold(words(bytes))));
        self
    }

    /// Adds a number, as the pseudo header needs it.
    #[must_use]
    #[inline]
    pub fn add_number(mut self, n: u32) -> Self {
        self.0 += u64::from(n >> 16) + u64::from(n & 0xffff);
        self
    }

    /// The checksum to write.
    #[inline]
    pub fn finish(self) -> u16 {
        !self.folded()
    }

    /// The sum itself, as a partial checksum has it; 0 only when all that was added is 0.
    #[inline]
    pub fn folded(self) -> u16 {
        fold(self.0)
    }
}

/// The sum in the machine's byte order, which RFC 1071 2 (B) allows: lanes of 32 bits in 64 do not overflow.
#[inline]
fn words(bytes: &[u8]) -> u64 {
    let mut lanes = [0_u64; STEP / 4];
    let (steps, rest) = bytes.as_chunks::<STEP>();
    for step in steps {
        let (longs, _) = step.as_chunks::<4>();
        for (lane, long) in lanes.iter_mut().zip(longs) {
            *lane += u64::from(u32::from_ne_bytes(*long));
        }
    }
    let mut sum = lanes.iter().fold(0, |sum, lane| sum + fold_once(*lane));
    let (longs, rest) = rest.as_chunks::<4>();
    for long in longs {
        sum += u64::from(u32::from_ne_bytes(*long));
    }
    let (words, odd) = rest.as_chunks::<2>();
    for word in words {
        sum += u64::from(u16::from_ne_bytes(*word));
    }
    if let [last] = odd {
        sum += u64::from(u16::from_ne_bytes([*last, 0]));
    }
    sum
}

/// Its halves of 32 bits, added.
#[inline]
const fn fold_once(sum: u64) -> u64 {
    (sum >> 32) + (sum & 0xffff_ffff)
}

#[inline]
const fn fold(sum: u64) -> u16 {
    // At most 33 bits, then 32, 17 and 16.
    let sum = fold_once(fold_once(sum));
    let sum = (sum >> 16) + (sum & 0xffff);
    ((sum >> 16) + (sum & 0xffff)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn example_of_rfc_1071() {
        let sum = Sum::default().add(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]);
        assert_eq!(sum.finish(), !0xddf2);
        assert_eq!(Sum::default().add(&[0x12]).finish(), !0x1200);
        assert_eq!(Sum::default().add_number(0x0001_0002).finish(), !3);
    }

    /// Word by word, as RFC 1071 4.1 has it.
    fn plain(bytes: &[u8]) -> u16 {
        let mut sum = 0_u64;
        for word in bytes.chunks(2) {
            let low = word.get(1).copied().unwrap_or(0);
            sum += u64::from(u16::from_be_bytes([word[0], low]));
        }
        while sum > 0xffff {
            sum = (sum >> 16) + (sum & 0xffff);
        }
        sum as u16
    }

    #[test]
    fn every_length_and_the_carries() {
        let mut state = 1_u32;
        for len in 0..200 {
            let random = (0..len).map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (state >> 24) as u8
            });
            let random: Vec<u8> = random.collect();
            for bytes in [random, vec![0xff; len], vec![0; len]] {
                let sum = Sum::default().add(&bytes);
                assert_eq!(sum.folded(), plain(&bytes), "{len}");
                let (head, tail) = bytes.split_at(len / 4 * 2);
                let pieces = Sum::default().add(head).add(tail);
                assert_eq!(pieces.folded(), plain(&bytes), "{len}");
            }
        }
        let long = vec![0xff; 70_000];
        assert_eq!(Sum::default().add(&long).folded(), 0xffff);
    }
}
