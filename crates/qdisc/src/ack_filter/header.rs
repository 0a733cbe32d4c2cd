//! What the filter knows of a TCP segment.

use tcplab_base::Seq;

/// The addresses, flags, numbers and options of a TCP segment that the filter compares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckHeader {
    /// Source and destination address; an IPv4 address stands in the first word.
    pub addresses: [[u32; 4]; 2],
    /// Source and destination port.
    pub ports: [u16; 2],
    /// 4 or 6, of the IP header next to TCP (6 in a 6in4 tunnel).
    pub version: u8,
    /// The twelve flag bits of RFC 9293 3.1, with what was NS (RFC 3540) as the ninth.
    pub flags: u16,
    /// Whether the IP packet ends with the TCP header.
    pub no_payload: bool,
    /// The acknowledgment number.
    pub ack: Seq,
    /// The options.
    pub options: AckOptions,
}

/// Options of an ACK. All that fits into the 40 bytes of options fits here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckOptions {
    /// All options are known to be without effect on others: NOP, MD5 signature, well-formed SACK and time stamps.
    pub are_harmless: bool,
    /// There is a SACK option, be it empty.
    pub has_sack: bool,
    /// First the time stamps (value, echo), then the blocks of the first SACK option (begin, end).
    pairs: [(u32, u32); 4],
    stamps: u8,
    blocks: u8,
}

impl Default for AckOptions {
    fn default() -> Self {
        Self {
            are_harmless: true,
            has_sack: false,
            pairs: [(0, 0); 4],
            stamps: 0,
            blocks: 0,
        }
    }
}

impl AckOptions {
    /// Adds a time stamp; before any SACK block.
    pub fn add_stamp(&mut self, value: u32, echo: u32) {
        debug_assert_eq!(self.blocks, 0, "stamps stand in front of blocks");
        if let Some(pair) = self.pairs.get_mut(usize::from(self.stamps)) {
            *pair = (value, echo);
            self.stamps += 1;
        }
    }

    /// Adds a SACK block.
    pub fn add_block(&mut self, begin: Seq, end: Seq) {
        self.has_sack = true;
        let place = usize::from(self.stamps + self.blocks);
        if let Some(pair) = self.pairs.get_mut(place) {
            *pair = (begin.0, end.0);
            self.blocks += 1;
        }
    }

    /// Time stamps; of a segment as it should be, at most one.
    pub fn stamps(&self) -> &[(u32, u32)] {
        &self.pairs[..usize::from(self.stamps)]
    }

    /// Blocks of the first SACK option.
    pub fn blocks(&self) -> impl Iterator<Item = (Seq, Seq)> + Clone + '_ {
        let from = usize::from(self.stamps);
        let blocks = &self.pairs[from..from + usize::from(self.blocks)];
        blocks.iter().map(|(begin, end)| (Seq(*begin), Seq(*end)))
    }

    /// Whether there is a block.
    pub fn has_blocks(&self) -> bool {
        self.blocks > 0
    }
}

/// Flags, as in `flags` of [`AckHeader`].
impl AckHeader {
    /// SYN.
    pub const SYN: u16 = 0x002;
    /// ACK.
    pub const ACK: u16 = 0x010;
    /// ECN echo.
    pub const ECE: u16 = 0x040;
    /// Congestion window reduced.
    pub const CWR: u16 = 0x080;
    /// What was the nonce sum, and is AE of accurate ECN.
    pub const NS: u16 = 0x100;

    /// It may make others redundant: it ACKs, and is no SYN, before which there are no ACKs.
    pub fn is_trigger(&self) -> bool {
        self.flags & (Self::ACK | Self::SYN) == Self::ACK
    }

    /// ECE and CWR.
    pub fn ecn(&self) -> u16 {
        self.flags & (Self::ECE | Self::CWR)
    }

    /// Of the same connection, in the same direction.
    pub fn same_flow(&self, other: &Self) -> bool {
        self.ports == other.ports
            && self.version == other.version
            && self.addresses == other.addresses
    }
}
