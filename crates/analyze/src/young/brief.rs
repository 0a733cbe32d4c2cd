//! The fields of an ordinary packet in 72 bytes.

use tcplab_base::{Instant, Seq};
use tcplab_wire::{Encap, SackBlocks, Standing, TcpFlags, TcpOptions, TcpPacket};

use crate::table::Key;

/// A packet of a known pair of endpoints. The fields are what they are in [`TcpPacket`], so that they are copied and no
/// more.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Brief {
    pub number: u64,
    pub now: Instant,
    pub seq: Seq,
    ack: Seq,
    block: (Seq, Seq),
    timestamps: Option<(u32, u32)>,
    payload_len: u32,
    ip_id: Option<u16>,
    mss: Option<u16>,
    flags: TcpFlags,
    window: u16,
    window_scale: Option<u8>,
    blocks: u8,
    from_b: bool,
    sack_permitted: bool,
    malformed: bool,
    header_len: u8,
    ecn: u8,
    ttl: u8,
    vlan_tags: u8,
}

impl Brief {
    /// A packet of side `dir`. `None`: it has something that does not fit, or it ends the connection.
    #[inline]
    pub(super) fn of(number: u64, now: Instant, dir: usize, p: &TcpPacket) -> Option<Self> {
        let (o, e) = (&p.options, &p.encap);
        let blocks = o.sack.as_slice();
        let plain = p.standing == Standing::Whole
            && !p.flags.has(TcpFlags::FIN | TcpFlags::RST)
            && !p.header_truncated
            && p.urgent | e.fragments | u16::from(o.mptcp | e.tunnels) == 0
            && blocks.len() < 2
            && o.fast_open_len() == 0
            && e.caqm.is_none();
        plain.then(|| Self {
            number,
            now,
            seq: p.seq,
            ack: p.ack,
            block: blocks.first().copied().unwrap_or_default(),
            timestamps: o.timestamps,
            payload_len: p.payload_len,
            ip_id: p.ip_id,
            mss: o.mss,
            flags: p.flags,
            window: p.window,
            window_scale: o.window_scale,
            blocks: blocks.len() as u8,
            from_b: dir > 0,
            sack_permitted: o.sack_permitted,
            malformed: o.malformed,
            header_len: p.header_len,
            ecn: p.ecn,
            ttl: p.ttl,
            vlan_tags: e.vlan_tags,
        })
    }

    /// The side that sent it.
    pub(super) fn dir(&self) -> usize {
        usize::from(self.from_b)
    }

    /// The packet as it was.
    #[inline]
    pub(super) fn packet(&self, key: &Key) -> TcpPacket {
        let mut packet = TcpPacket {
            src: key.a,
            dst: key.b,
            seq: self.seq,
            ack: self.ack,
            flags: self.flags,
            window: self.window,
            urgent: 0,
            payload_len: self.payload_len,
            header_len: self.header_len,
            options: TcpOptions {
                mss: self.mss,
                window_scale: self.window_scale,
                sack_permitted: self.sack_permitted,
                sack: SackBlocks::default(),
                timestamps: self.timestamps,
                mptcp: 0,
                malformed: self.malformed,
            },
            ecn: self.ecn,
            ttl: self.ttl,
            ip_id: self.ip_id,
            header_truncated: false,
            standing: Standing::Whole,
            encap: Encap {
                vlan_tags: self.vlan_tags,
                ..Encap::default()
            },
        };
        if self.from_b {
            (packet.src, packet.dst) = (key.b, key.a);
        }
        if self.blocks > 0 {
            packet.options.sack.push(self.block.0, self.block.1);
        }
        packet
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_brief_packet_stays_small() {
        assert_eq!(size_of::<Brief>(), 72);
    }
}
