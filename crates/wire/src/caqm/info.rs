//! The two bytes INFO of the tag.
//!
//! Bit 15 is the highest of the first byte: type of congestion control (3 bits), last hop, reserved, `caqm_en`, C, I,
//! and eight bits of hint. `caqm_en` tells the direction: a sender of data asks the switches for window, or a receiver
//! reports the grants to the sender.

/// INFO, as it stands on the wire in network order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CaqmInfo(pub u16);

/// What a host makes of hints: bytes of window that a unit, or a mark, stands for. None of them is on the wire; hosts and
/// switches have to agree (`net.core.sysctl_caqm_*`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaqmUnits {
    /// The type that counts (`sysctl_caqm_cc_type`); a tag of another one is worth nothing.
    pub cc_type: u8,
    /// Bytes of a unit in data (`sysctl_caqm_data_hint_unit`).
    pub data_hint_unit: u32,
    /// Bytes of a unit in an ACK (`sysctl_caqm_ack_hint_unit`).
    pub ack_hint_unit: u32,
    /// Bytes that a marked packet takes away (`sysctl_caqm_beta`).
    pub beta: u32,
}

impl Default for CaqmUnits {
    fn default() -> Self {
        Self {
            cc_type: 0,
            data_hint_unit: 8,
            ack_hint_unit: 64,
            beta: 512,
        }
    }
}

impl CaqmInfo {
    /// Where congestion was met: at the last switch (`is_last_hop`, LoC of UB).
    pub const LAST_HOP: u16 = 1 << 12;
    /// A packet of data, on which switches act (`caqm_en`).
    pub const EN: u16 = 1 << 10;
    /// Congestion.
    pub const C: u16 = 1 << 9;
    /// The hint is asked for, or granted.
    pub const I: u16 = 1 << 8;

    /// A request: a packet of data asks for this hint.
    #[must_use]
    pub const fn request(cc_type: u8, hint: u8) -> Self {
        Self((cc_type as u16 & 7) << 13 | Self::EN | Self::I | hint as u16)
    }

    /// What a receiver tells: `units` of window to add, or to take off when negative; beyond 255 it tells 255.
    #[must_use]
    pub const fn feedback(cc_type: u8, units: i16) -> Self {
        let hint = match units.unsigned_abs() {
            hint @ 0..=255 => hint,
            _ => 255,
        };
        let sign = if units < 0 { Self::C } else { Self::I };
        Self((cc_type as u16 & 7) << 13 | sign | hint)
    }

    /// The type of congestion control (`cc_type`): 0 is CAQM's.
    #[must_use]
    pub const fn cc_type(self) -> u8 {
        (self.0 >> 13) as u8
    }

    /// The hint, in units that depend on who speaks.
    #[must_use]
    pub const fn hint(self) -> u8 {
        self.0 as u8
    }

    /// Whether it has this bit.
    #[must_use]
    pub const fn has(self, bit: u16) -> bool {
        self.0 & bit != 0
    }

    /// A packet of data, on which switches act; else feedback, which they leave alone.
    #[must_use]
    pub const fn is_data(self) -> bool {
        self.has(Self::EN)
    }

    /// What a switch makes of a request that it refuses: no window, and none taken.
    #[must_use]
    pub const fn refused(self) -> Self {
        Self(self.0 & !Self::I)
    }

    /// What a switch makes of a packet that met congestion; `last_hop`: at the last switch. A mark clears I: with both
    /// bits set a receiver reads no change.
    #[must_use]
    pub const fn marked(self, last_hop: bool) -> Self {
        let last = if last_hop { Self::LAST_HOP } else { 0 };
        Self(self.0 & !Self::I | Self::C | last)
    }

    /// Bytes of window that it stands for at its receiver.
    #[must_use]
    pub const fn value(self, units: &CaqmUnits) -> i64 {
        if self.cc_type() != units.cc_type {
            return 0;
        }
        let hint = self.hint() as i64;
        match (self.is_data(), self.has(Self::C), self.has(Self::I)) {
            (true, false, true) => hint * units.data_hint_unit as i64,
            (true, true, false) => -(units.beta as i64),
            (false, false, true) => hint * units.ack_hint_unit as i64,
            (false, true, false) => -hint * units.ack_hint_unit as i64,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First bytes of INFO as openEuler's kernel and the reference model of UB write them.
    #[test]
    fn bytes_of_the_verdicts() {
        let data = CaqmInfo::request(0, 128);
        let bytes = |info: CaqmInfo| info.0.to_be_bytes();
        assert_eq!(bytes(data), [0x05, 128], "as sent");
        assert_eq!(bytes(data.refused()), [0x04, 128]);
        assert_eq!(bytes(data.marked(false)), [0x06, 128]);
        assert_eq!(bytes(data.marked(true)), [0x16, 128]);
        assert_eq!(bytes(CaqmInfo::feedback(0, 0)), [0x01, 0]);
        assert_eq!(bytes(CaqmInfo::feedback(0, 7)), [0x01, 7]);
        assert_eq!(bytes(CaqmInfo::feedback(0, -7)), [0x02, 7]);
        assert_eq!(bytes(CaqmInfo::feedback(0, -300)), [0x02, 255]);
        assert_eq!(bytes(CaqmInfo::request(5, 1)), [0xa5, 1]);
    }

    #[test]
    fn values_of_all_verdicts() {
        let units = CaqmUnits::default();
        for (byte, hint, right) in [
            (0x05, 128, 1024),
            (0x05, 255, 2040),
            (0x04, 128, 0),
            (0x06, 128, -512),
            (0x07, 128, 0),
            (0x01, 255, 16_320),
            (0x02, 255, -16_320),
            (0x00, 255, 0),
            (0x03, 255, 0),
            (0x16, 3, -512),
            (0x15, 3, 24),
            (0x45, 128, 0),
        ] {
            let info = CaqmInfo(u16::from_be_bytes([byte, hint]));
            assert_eq!(info.value(&units), right, "{byte:#x} {hint}");
        }
        let other = CaqmUnits {
            cc_type: 2,
            ..units
        };
        assert_eq!(CaqmInfo(0x4580).value(&other), 1024, "of its own type");
    }
}
