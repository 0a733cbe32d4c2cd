//! What a detector has to see before its silence means something.
//!
//! "No findings" is an answer only where every detector could look. Each one lists its needs; those that a capture
//! does not meet are reported, never passed over.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Id, Side};
use crate::conn::Loss;
use crate::report::Vantage;

/// Evidence that a capture may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Need {
    /// SYN and SYN-ACK, with options.
    Handshake,
    /// Packets of both sides.
    BothDirections,
    /// All packets: the capture dropped none.
    EveryPacket,
    /// Whole TCP headers: time stamps and SACK blocks not cut off.
    WholeHeaders,
    /// Time stamps (RFC 7323).
    TimeStamps,
    /// Capture at the data's sender, or before any loss.
    AtSender,
    /// Capture at the data's receiver.
    AtReceiver,
    /// The data, not only its ACKs.
    Data,
    /// A handshake, or an answer that cannot have waited.
    RoundTrip,
    /// Clock not set during the capture.
    SteadyClock,
    /// Time of each packet, finer than a second.
    PacketTimes,
    /// The packets in the order in which they passed.
    Order,
    /// The stream to its end: it was not reported early for lack of room.
    LaterPackets,
    /// Whole IP fragments: the snap length cut none.
    WholeFragments,
    /// A path whose delay hardly varies.
    SteadyPath,
}

impl Need {
    /// All of them.
    const ALL: [Self; 15] = [
        Self::Handshake,
        Self::BothDirections,
        Self::EveryPacket,
        Self::WholeHeaders,
        Self::TimeStamps,
        Self::AtSender,
        Self::AtReceiver,
        Self::Data,
        Self::RoundTrip,
        Self::SteadyClock,
        Self::PacketTimes,
        Self::Order,
        Self::LaterPackets,
        Self::WholeFragments,
        Self::SteadyPath,
    ];

    /// What has to be there, for a sentence that begins with "needs".
    pub fn what(self) -> &'static str {
        match self {
            Self::Handshake => "the handshake",
            Self::BothDirections => "both directions",
            Self::EveryPacket => "every packet",
            Self::WholeHeaders => "whole TCP headers",
            Self::TimeStamps => "TCP time stamps",
            Self::AtSender => "the sender's end of the path",
            Self::AtReceiver => "the receiver's end of the path",
            Self::Data => "the data",
            Self::RoundTrip => "the path's round trip, apart from waits",
            Self::SteadyClock => "a steady clock",
            Self::PacketTimes => "the time of each packet",
            Self::Order => "the order of the packets",
            Self::LaterPackets => "the stream to its end",
            Self::WholeFragments => "whole IP fragments",
            Self::SteadyPath => "a path without jitter",
        }
    }

    /// What is missing, for a sentence that begins with "not in this capture: ".
    pub fn missing(self) -> &'static str {
        match self {
            Self::Handshake => "the handshake",
            Self::BothDirections => "one of the two directions",
            Self::EveryPacket => "some of the packets",
            Self::WholeHeaders => "the end of the TCP headers",
            Self::TimeStamps => "TCP time stamps",
            Self::AtSender => "the sender's end of the path",
            Self::AtReceiver => "the receiver's end of the path",
            Self::Data => "the data",
            Self::RoundTrip => "the path's round trip, apart from waits",
            Self::SteadyClock => "a steady clock (the clock was set during the capture)",
            Self::PacketTimes => {
                "the packets' times (time stamps are absent, or too coarse to show a round trip)"
            }
            Self::Order => "the order of the packets (some times are earlier than those before)",
            Self::LaterPackets => {
                "the stream to its end (it was reported early, to keep within --max-streams or memory)"
            }
            Self::WholeFragments => "packets that came in fragments (the snap length cut them)",
            Self::SteadyPath => "whether the sender waited (the path's delay varies too much)",
        }
    }

    /// How to capture it: a sentence that begins with a verb.
    pub fn how_to_get(self) -> &'static str {
        match self {
            Self::Handshake => {
                "Start the capture before the connection begins, or make the client connect again."
            }
            Self::BothDirections => {
                "Capture where both directions pass, without a filter on one address as source."
            }
            Self::EveryPacket => {
                "Capture with a larger buffer (`tcpdump -B 65536`) and a short snap length (-s 128)."
            }
            Self::WholeHeaders => "Capture at least 128 bytes of each packet (`tcpdump -s 128`).",
            Self::TimeStamps => {
                "Turn TCP time stamps on at both ends (`sysctl net.ipv4.tcp_timestamps=1`)."
            }
            Self::AtSender => "Capture at the host that sends the data.",
            Self::AtReceiver => "Capture at the host that receives the data.",
            Self::Data => "Capture where the data passes, not only its ACKs.",
            Self::RoundTrip => {
                "Start the capture before the connection begins: the handshake tells the round trip."
            }
            Self::SteadyClock => {
                "Capture again while nothing sets the clock of the capturing host (`chronyc tracking`)."
            }
            Self::PacketTimes => {
                "Keep the time stamps to the microsecond (`tcpdump` without `-t`), or analyze the capture file itself."
            }
            Self::Order => {
                "Sort the file by time (`reordercap IN OUT`), or capture on one interface."
            }
            Self::LaterPackets => "Analyze again with a larger --max-streams.",
            Self::WholeFragments => "Capture whole packets (`tcpdump -s 0`).",
            Self::SteadyPath => {
                "Look at the sender: `ss -tmi` prints its send buffer and its congestion window."
            }
        }
    }
}

/// What one direction of a connection lacks: a set of needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Missing(u16);

impl Missing {
    /// Whether this is missing.
    pub(crate) fn has(self, need: Need) -> bool {
        self.0 & (1 << need as u16) != 0
    }
}

/// Findings not checked in a stream, by what it lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Lacks {
    /// What the capture lacks.
    pub lacks: Need,
    /// Findings that need it.
    pub findings: Vec<Id>,
}

/// Finding that could not be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct NotChecked {
    /// The finding.
    pub finding: Id,
    /// What the capture lacks.
    pub lacks: Need,
    /// Number of streams not checked for it; 0: frames were cut before the TCP header.
    pub streams: u64,
    /// First of these `streams`.
    pub stream: u32,
}

impl Side<'_> {
    /// Whether there is anything to look at in this direction. A single byte that was missed may be a FIN.
    pub(crate) fn is_used(&self) -> bool {
        let hidden = self
            .sender
            .rare
            .as_deref()
            .is_some_and(|r| r.missed.bytes > 1);
        self.sender.data_segments > 0 || hidden
    }

    /// All that the capture lacks.
    pub(crate) fn missing(&self) -> Missing {
        let bit = |need: &Need| u16::from(!self.has(*need)) << *need as u16;
        Missing(Need::ALL.iter().fold(0, |set, need| set | bit(need)))
    }

    /// Whether the capture has this.
    pub(crate) fn has(&self, need: Need) -> bool {
        let rare =
            |side: &crate::conn::Dir| side.rare.as_deref().map(|r| (r.missed.bytes, r.truncated));
        let [sent, acked] = [rare(self.sender), rare(self.receiver)].map(Option::unwrap_or_default);
        match need {
            Need::Handshake => self.connection.handshake.is_whole(),
            Need::BothDirections => self.sender.packets > 0 && self.receiver.packets > 0,
            Need::EveryPacket => {
                let loss = self.sender.loss.as_deref();
                let repaired = loss.is_some_and(Loss::has_unseen_repairs);
                sent.0 == 0 && acked.0 == 0 && !repaired && self.has(Need::WholeFragments)
            }
            Need::WholeFragments => !self.connection.lacks_fragments(),
            Need::WholeHeaders => sent.1 == 0 && acked.1 == 0,
            Need::TimeStamps => self.sender.timestamps && self.receiver.timestamps,
            Need::AtSender => self.vantage_is(true),
            Need::AtReceiver => self.vantage_is(false),
            Need::Data => self.sender.data_segments > 0,
            Need::RoundTrip => self.receiver.knows_path(),
            Need::PacketTimes => !self.connection.is_untimed(),
            Need::Order => !self.connection.is_shuffled(),
            Need::LaterPackets => !self.connection.was_dropped_early(),
            // Only a detector knows how much jitter hides what it looks for.
            Need::SteadyPath => true,
            // A step back is taken out of all times. One ahead shows only later.
            Need::SteadyClock => self.connection.clock_step().is_none_or(|step| step.back),
        }
    }

    /// The stream was reported early, and had not ended: what looks like silence may not be.
    pub(super) fn may_go_on(&self) -> bool {
        !self.has(Need::LaterPackets) && !self.connection.over
    }

    /// Time stamps were cut off, which would tell what was sent again for nothing.
    pub(super) fn stamps_cut(&self) -> bool {
        !self.has(Need::WholeHeaders) && self.sender.timestamps && !self.sender.clock.runs()
    }

    /// What is missing to know the receiver's windows in bytes: without their scale they look smaller than they are.
    pub(super) fn scale_lacks(&self) -> Option<Need> {
        if self.connection.scale_known(!self.is_a()) {
            None
        } else if self.has(Need::Handshake) {
            Some(Need::WholeHeaders)
        } else {
            Some(Need::Handshake)
        }
    }

    /// Whether the capture was taken at this direction's sender, or at its receiver.
    fn vantage_is(&self, sender: bool) -> bool {
        match self.connection.vantage() {
            Vantage::Client => self.sender_is_client() == sender,
            Vantage::Server => self.sender_is_client() != sender,
            Vantage::Between | Vantage::Unknown => false,
        }
    }
}
