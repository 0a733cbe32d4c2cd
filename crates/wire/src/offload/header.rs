//! `struct virtio_net_hdr`, which stands before each frame of a TAP or packet socket with `IFF_VNET_HDR`
//! (virtio 1.2 5.1.6, "legacy interface").

/// The ten bytes before a frame, as they stand there: nothing is checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct VnetHeader {
    /// [`VnetHeader::NEEDS_CSUM`], [`VnetHeader::DATA_VALID`].
    pub flags: u8,
    /// How the frame is to be cut, `VIRTIO_NET_HDR_GSO_*`.
    pub gso_type: u8,
    /// Bytes of headers that should lie in one piece: a hint.
    pub hdr_len: u16,
    /// Bytes of payload of each segment.
    pub gso_size: u16,
    /// Where the sum begins, bytes from the frame's first one.
    pub csum_start: u16,
    /// Where the checksum stands, bytes from there.
    pub csum_offset: u16,
}

impl VnetHeader {
    /// Bytes of it.
    pub const LEN: usize = 10;
    /// Flag: the checksum is only that of the pseudo header.
    pub const NEEDS_CSUM: u8 = 1;
    /// Flag: the checksum was found right.
    pub const DATA_VALID: u8 = 2;
    /// One packet.
    pub const NONE: u8 = 0;
    /// TCP over IPv4.
    pub const TCPV4: u8 = 1;
    /// TCP over IPv6.
    pub const TCPV6: u8 = 4;
    /// UDP datagrams of equal size (Linux since 6.2).
    pub const UDP_L4: u8 = 5;
    /// A bit beside the type: CWR is of the first segment only (RFC 3168 6.1.2).
    pub const ECN: u8 = 0x80;

    /// The header at the start of what a device gave; none: there are fewer bytes.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let [flags, gso_type, a, b, c, d, e, f, g, h] = *bytes.first_chunk::<{ Self::LEN }>()?;
        // Linux: tun_is_little_endian(): the machine's order, unless TUNSETVNETBE or TUNSETVNETLE said otherwise.
        Some(Self {
            flags,
            gso_type,
            hdr_len: u16::from_ne_bytes([a, b]),
            gso_size: u16::from_ne_bytes([c, d]),
            csum_start: u16::from_ne_bytes([e, f]),
            csum_offset: u16::from_ne_bytes([g, h]),
        })
    }

    /// Its bytes.
    pub fn emit(&self) -> [u8; Self::LEN] {
        let [a, b] = self.hdr_len.to_ne_bytes();
        let [c, d] = self.gso_size.to_ne_bytes();
        let [e, f] = self.csum_start.to_ne_bytes();
        let [g, h] = self.csum_offset.to_ne_bytes();
        [self.flags, self.gso_type, a, b, c, d, e, f, g, h]
    }
}
