//! Wireshark's verdicts (`tcp.analysis.*`), frame by frame.

use tcplab_base::Instant;
use tcplab_wire::TcpPacket;

/// A set of Wireshark's verdicts on one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdicts(pub u32);

/// State of one connection, both directions.
#[derive(Clone, Debug, Default)]
pub struct Compat {}

impl Compat {
    /// Takes the next packet of the connection. `from_a` tells its direction.
    pub fn packet(&mut self, time: Instant, number: u64, from_a: bool, p: &TcpPacket) -> Verdicts {
        let _ = (time, number, from_a, p);
        Verdicts::default()
    }
}
