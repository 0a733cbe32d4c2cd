//! Link types, by the numbers of <https://www.tcpdump.org/linktypes.html>.

/// How the bytes of a frame begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum LinkType {
    /// BSD loopback: 4 bytes address family in the byte order of the writing host (0), or in network order (108).
    Null,
    /// Ethernet II or 802.3 (1).
    Ethernet,
    /// An IPv4 or IPv6 packet, told apart by the version nibble (101, and 12 and 14 in old files).
    Raw,
    /// Linux "any" device, first version (113).
    Sll,
    /// Linux "any" device, second version (276).
    Sll2,
    /// An IPv4 packet (228).
    Ipv4,
    /// An IPv6 packet (229).
    Ipv6,
    /// PPP, with or without HDLC address and control bytes (9, 50).
    Ppp,
    /// Another number. The parser reads some of these too (802.11, Cisco HDLC, packet filter logs ...).
    Other(u32),
}

impl LinkType {
    /// From the number in a file header or an interface description block.
    pub const fn from_number(number: u32) -> Self {
        match number {
            0 | 108 => Self::Null,
            1 => Self::Ethernet,
            9 | 50 => Self::Ppp,
            12 | 14 | 101 => Self::Raw,
            113 => Self::Sll,
            276 => Self::Sll2,
            228 => Self::Ipv4,
            229 => Self::Ipv6,
            n => Self::Other(n),
        }
    }

    /// The number to write into a file.
    pub const fn number(self) -> u32 {
        match self {
            Self::Null => 0,
            Self::Ethernet => 1,
            Self::Ppp => 9,
            Self::Raw => 101,
            Self::Sll => 113,
            Self::Sll2 => 276,
            Self::Ipv4 => 228,
            Self::Ipv6 => 229,
            Self::Other(n) => n,
        }
    }
}
