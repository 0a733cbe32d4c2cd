//! Frames of a device with `IFF_VNET_HDR` as packets of a qdisc: super-segments that a discipline may cut.

use tcplab_wire::{CaqmInfo, Segments, SuperFrame};

use crate::ack_filter::AckHeader;
use crate::frame;
use crate::packet::{FlowKeys, Packet};

impl Packet for SuperFrame {
    /// Of a super-segment, with the headers of each packet that it becomes (`qdisc_pkt_len_init()`).
    fn size(&self) -> u32 {
        match self.segments() {
            None => self.bytes().len() as u32,
            Some(segments) => {
                let most = (segments.count - 1).saturating_mul(segments.len);
                most.saturating_add(segments.last_len)
            }
        }
    }

    fn flow_keys(&self) -> FlowKeys {
        frame::flow_keys(self.bytes())
    }

    fn dscp(&self) -> u8 {
        frame::dscp(self.bytes())
    }

    fn wash(&mut self) {
        frame::wash(self.bytes_mut());
    }

    fn set_ce(&mut self) -> bool {
        frame::set_ce(self.bytes_mut())
    }

    /// Linux: `netem_enqueue()` completes the checksum first, so that the damage shows.
    fn corrupt(&mut self, byte: u32, bit: u8) {
        self.complete();
        frame::corrupt(self.bytes_mut(), byte, bit);
    }

    fn ack_header(&self) -> Option<AckHeader> {
        frame::ack_header(self.bytes())
    }

    fn caqm(&self, ethertype: u16) -> Option<CaqmInfo> {
        frame::caqm(self.bytes(), ethertype)
    }

    fn set_caqm(&mut self, ethertype: u16, info: CaqmInfo) {
        frame::set_caqm(self.bytes_mut(), ethertype, info);
    }

    fn segments(&self) -> Option<Segments> {
        SuperFrame::segments(self)
    }

    fn split(&self, each: &mut dyn FnMut(Self)) -> bool {
        SuperFrame::split(self, Vec::new, each)
    }
}
