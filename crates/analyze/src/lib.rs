//! What a capture says about TCP: streams, ACK delays, losses, recovery, findings.
//!
//! Level 2 of the map. Push in, drain out: [`Analyzer::packet`] takes the packets of one capture
//! in the order of the file, [`Analyzer::poll`] gives what is finished. State belongs to
//! connections, not to packets; a closed connection is handed out and forgotten.

pub mod compat;
pub mod findings;
pub mod report;
pub mod trace;

use tcplab_base::Instant;
use tcplab_wire::{NotTcp, TcpPacket};

/// What the analyser may be told.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Keep a [`trace::Row`] for each packet and hand out [`Output::Trace`] with each stream.
    pub trace: bool,
    /// Most connections held at once; the least recently active one is handed out early.
    pub max_streams: Option<usize>,
    /// Key of the flow table's hash; any number, it never shows in the results.
    pub hash_seed: u64,
}

/// Something that is finished.
#[derive(Debug)]
pub enum Output {
    /// A connection.
    Stream(Box<report::Stream>),
    /// Its findings follow it.
    Finding(Box<findings::Finding>),
    /// Its packets, when [`Options::trace`] is on.
    Trace(Box<trace::StreamTrace>),
}

/// The analyser of one capture.
#[derive(Debug, Default)]
pub struct Analyzer {
    totals: report::Totals,
}

impl Analyzer {
    /// An analyser that has seen nothing.
    pub fn new(options: Options) -> Self {
        let _ = options;
        Self::default()
    }

    /// Takes a TCP packet: its frame number in the file, its time stamp, its fields.
    pub fn packet(&mut self, number: u64, time: Option<Instant>, packet: &TcpPacket) {
        let _ = (number, time, packet);
        self.totals.packets += 1;
        self.totals.tcp_packets += 1;
    }

    /// Counts a frame that holds no TCP.
    pub fn other(&mut self, why: NotTcp) {
        let _ = why;
        self.totals.packets += 1;
    }

    /// The next finished thing, if any.
    pub fn poll(&mut self) -> Option<Output> {
        None
    }

    /// Closes every connection that is still open; drain [`Analyzer::poll`] after it.
    pub fn finish(&mut self) {}

    /// The counts so far. `error` is for the caller to fill in.
    pub fn totals(&self) -> &report::Totals {
        &self.totals
    }
}
