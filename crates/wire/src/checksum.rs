//! The Internet checksum (RFC 1071).

/// A running one's complement sum of 16-bit words.
#[derive(Clone, Copy, Default, Debug)]
pub struct Sum(u64);

impl Sum {
    /// Adds bytes; a last odd byte is padded with zero, so only the last piece may be odd.
    #[must_use]
    #[allow(clippy::should_implement_trait)] // It takes many bytes, and gives the sum back.
    pub fn add(mut self, bytes: &[u8]) -> Self {
        let (words, odd) = bytes.as_chunks::<2>();
        for word in words {
            self.0 += u64::from(u16::from_be_bytes(*word));
        }
        if let [last] = odd {
            self.0 += u64::from(*last) << 8;
        }
        self
    }

    /// Adds a number, as the pseudo header needs it.
    #[must_use]
    pub fn add_number(mut self, n: u32) -> Self {
        self.0 += u64::from(n >> 16) + u64::from(n & 0xffff);
        self
    }

    /// The checksum to write.
    pub fn finish(self) -> u16 {
        let mut sum = self.0;
        while sum > 0xffff {
            sum = (sum >> 16) + (sum & 0xffff);
        }
        !(sum as u16)
    }
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
}
