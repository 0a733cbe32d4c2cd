//! The length of a packet on the wire below.

use tcplab_wire::Segments;

use super::settings::{Framing, Settings};

/// Lengths: as settings make them, and which were seen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overhead {
    framing: Framing,
    overhead: i32,
    /// The link header does not count: the overhead has it.
    from_network: bool,
    mpu: i32,
    pub min_network: u32,
    pub max_network: u32,
    pub min_charged: u32,
    pub max_charged: u32,
    /// Mean link header, in 2^-16 bytes.
    offset: u32,
}

impl Overhead {
    pub fn new(settings: &Settings) -> Self {
        Self {
            framing: settings.framing,
            overhead: settings.overhead.unwrap_or(0),
            from_network: settings.overhead.is_some() && !settings.raw,
            mpu: settings.mpu as i32,
            min_network: u32::MAX,
            max_network: 0,
            min_charged: u32::MAX,
            max_charged: 0,
            offset: 0,
        }
    }

    /// Bytes to charge for a frame of `len` bytes with its IP header at `offset`.
    #[inline]
    pub fn charge(&mut self, len: u32, offset: u32) -> u32 {
        self.sees(offset);
        self.charge_frame(len, offset)
    }

    /// Bytes to charge for a super-segment that stays whole (`cake_overhead()`).
    #[cold]
    pub fn charge_all(&mut self, segments: Segments, offset: u32) -> u32 {
        self.sees(offset);
        let each = self.charge_frame(segments.len, offset);
        let last = self.charge_frame(segments.last_len, offset);
        each.saturating_mul(segments.count - 1).saturating_add(last)
    }

    fn sees(&mut self, offset: u32) {
        self.offset = self.offset - (self.offset >> 8) + ((offset << 16) >> 8);
    }

    #[inline]
    fn charge_frame(&mut self, len: u32, offset: u32) -> u32 {
        let len = match self.from_network {
            true => len.saturating_sub(offset),
            false => len,
        };
        self.min_network = self.min_network.min(len);
        self.max_network = self.max_network.max(len);
        let charged = self.on_the_wire(len);
        self.min_charged = self.min_charged.min(charged);
        self.max_charged = self.max_charged.max(charged);
        charged
    }

    /// ATM: 53 bytes for each 48; PTM: one more for each 64.
    fn on_the_wire(&self, len: u32) -> u32 {
        let len = (len as i32 + self.overhead).max(self.mpu).max(0) as u32;
        match self.framing {
            Framing::None => len,
            Framing::Atm => len.div_ceil(48) * 53,
            Framing::Ptm => len + len.div_ceil(64),
        }
    }

    /// Mean bytes of the link header.
    pub fn mean_offset(&self) -> u32 {
        (self.offset + 0x8000) >> 16
    }
}

#[cfg(test)]
mod tests {
    use crate::Kind;

    use super::*;

    #[test]
    fn lengths_on_the_wire() {
        // (words, IP packet, charged); frames have 14 bytes before it.
        for (words, packet, charged) in [
            ("", 52, 66),
            ("raw", 1_500, 1_514),
            ("raw overhead 18", 1_500, 1_532),
            ("overhead 0", 52, 52),
            ("overhead 44 atm", 52, 106),
            ("overhead 44 atm", 1_500, 1_749),
            ("pppoe-ptm", 1_500, 1_554),
            ("conservative", 52, 159),
            ("ethernet", 40, 84),
            ("ethernet ether-vlan", 1_500, 1_542),
            ("docsis", 40, 64),
            ("overhead -20 mpu 0", 10, 0),
            ("pppoa-vcmux", 40, 106),
            ("pppoe-llcsnap", 40, 106),
            ("bridged-ptm", 64, 88),
        ] {
            let settings = crate::Settings::parse(&format!("cake {words}")).expect(words);
            let Kind::Cake(cake) = settings.kind() else {
                panic!("{words}")
            };
            let mut overhead = Overhead::new(cake);
            assert_eq!(
                overhead.charge(packet + 14, 14),
                charged,
                "{words} {packet}"
            );
        }
    }
}
