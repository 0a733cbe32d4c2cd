//! Packets for tests of disciplines, and ways to run them.

use tcplab_base::Instant;
use tcplab_qdisc::ack_filter::AckHeader;
use tcplab_qdisc::{Dequeued, Device, FlowKeys, Packet, Qdisc, Settings};

/// A packet that is nothing but its properties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plain {
    /// Which one it is.
    pub id: u32,
    pub len: u32,
    pub flow: u16,
    pub dscp: u8,
    /// ECN-capable.
    pub ect: bool,
    pub ce: bool,
    pub departure: Option<Instant>,
    pub is_damaged: bool,
}

impl Packet for Plain {
    fn size(&self) -> u32 {
        self.len
    }

    fn flow_keys(&self) -> FlowKeys {
        FlowKeys {
            src: [10, 0, 0, 0],
            dst: [11, 0, 0, 0],
            ports: [self.flow, 80],
            protocol: 6,
            label: 0,
        }
    }

    fn dscp(&self) -> u8 {
        self.dscp
    }

    fn wash(&mut self) {
        self.dscp = 0;
    }

    fn set_ce(&mut self) -> bool {
        self.ce |= self.ect;
        self.ect
    }

    fn corrupt(&mut self, byte: u32, bit: u8) {
        assert!(byte < self.len && bit < 8);
        self.is_damaged = true;
    }

    fn departure(&self) -> Option<Instant> {
        self.departure
    }

    fn ack_header(&self) -> Option<AckHeader> {
        None
    }
}

/// A device with an MTU of 1,500.
#[allow(dead_code)] // Not each test file needs it.
pub const DEVICE: Device = Device::new(1_500);

pub fn settings(words: &str) -> Settings {
    Settings::parse(words).unwrap_or_else(|wrong| panic!("{words}: {}", wrong.why))
}

/// A qdisc by tc's words.
#[allow(dead_code)] // Not each test file needs it.
pub fn qdisc(words: &str) -> Qdisc<Plain> {
    Qdisc::new(&settings(words), DEVICE, 1, "test")
}

#[allow(dead_code)] // Not each test file needs it.
pub fn us(n: i64) -> Instant {
    Instant::from_nanos(n * 1_000)
}

/// A packet of a flow.
#[allow(dead_code)] // Not each test file needs it.
pub fn packet(id: u32, len: u32, flow: u16) -> Plain {
    Plain {
        id,
        len,
        flow,
        ..Plain::default()
    }
}

/// Takes all that leaves until a time, as an interface does that is never busy: packets with their times in nanoseconds.
#[allow(dead_code)] // Not each test file needs it.
pub fn take_until(qdisc: &mut Qdisc<Plain>, from: Instant, until: Instant) -> Vec<(Plain, i64)> {
    let (mut now, mut out) = (from, Vec::new());
    loop {
        match qdisc.dequeue(now) {
            Dequeued::Packet(packet) => out.push((packet, now.as_nanos())),
            Dequeued::Wait(at) if at <= until => {
                assert!(at > now, "a wait for {at:?} at {now:?}");
                now = at;
            }
            _ => return out,
        }
    }
}

/// The packets' numbers and times in nanoseconds.
#[allow(dead_code)] // Not each test file needs it.
pub fn ids(out: &[(Plain, i64)]) -> Vec<(u32, i64)> {
    out.iter().map(|(packet, at)| (packet.id, *at)).collect()
}

/// What only the kind of a qdisc counts, by tc's name.
#[allow(dead_code)] // Not each test file needs it.
pub fn own<P: Packet>(qdisc: &Qdisc<P>, name: &str) -> u64 {
    let own = qdisc.own();
    let found = own.iter().find(|(is, _)| *is == name);
    found
        .unwrap_or_else(|| panic!("{name} is not in {own:?}"))
        .1
}
