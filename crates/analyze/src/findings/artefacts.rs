//! What the capture does not show: told once for a capture and kind, with the first stream.

use super::{Detector, Finding, Id, Severity, measured};
use crate::report::Artefact;

pub(crate) const DETECTOR: Detector = Detector {
    id: Id("capture_artefacts"),
    severity: "info",
    said_when: "Super-segments (TSO, GRO), one direction only, packets ACKed but never seen, packets captured twice, time stamps that go backwards, cut headers, cut fragments. One finding per type and capture",
    needs: &[],
    detect: |_, _| {},
};

/// What was noted of one kind of artefact.
#[derive(Clone, Debug)]
pub(crate) struct Noted {
    pub artefact: Artefact,
    pub stream: u32,
    pub streams: u64,
    pub packets: Vec<u64>,
}

pub(crate) fn describe(noted: &Noted) -> Finding {
    let (what, cause, remedy) = words(noted.artefact);
    let many = if noted.streams == 1 {
        String::new()
    } else {
        format!(" ({} streams)", noted.streams)
    };
    let first = match noted.packets.iter().min() {
        Some(number) => format!(" (first: packet {number})"),
        None => String::new(),
    };
    Finding {
        id: DETECTOR.id,
        severity: Severity::Info,
        stream: noted.stream,
        packets: noted.packets.clone(),
        title: format!("{what}{first}{many}"),
        cause: cause.to_owned(),
        remedy: vec![remedy.to_owned()],
        confidence: measured::confidence(DETECTOR.id),
        proof: None,
    }
}

fn words(artefact: Artefact) -> (&'static str, &'static str, &'static str) {
    match artefact {
        Artefact::SuperSegments => (
            "some packets here stand for several on the wire",
            "Packets are larger than the MSS: the capture was taken above the sender's TSO/GSO or the \
             receiver's GRO/LRO. Counts of segments and ACK classes are those of the packets seen.",
            "To see the wire's packets: `ethtool -K DEVICE tso off gso off gro off lro off` while \
             capturing, or capture on a switch.",
        ),
        Artefact::OneDirection => (
            "only one direction was captured",
            "The other direction takes another route or was filtered out. RTT, ACK delays and the \
             reasons for retransmissions are unknown.",
            "Capture where both directions pass, without a filter on one address as source.",
        ),
        Artefact::MissedPackets => (
            "the capture misses packets that arrived",
            "Data was ACKed that the capture does not show: the capturing program was too slow, or a \
             mirror port was overrun.",
            "Capture with a larger buffer and a short snap length (`tcpdump -B 65536 -s 128`), and \
             check \"dropped by kernel\".",
        ),
        Artefact::Duplicates => (
            "the same packets were captured twice",
            "The same packets pass twice: two interfaces, or both ends of a mirror port. Copies are known by the IP \
             identification and the time stamps; those that are known count in no figure.",
            "Capture on one interface instead of \"any\", or run `editcap -d` on the file.",
        ),
        Artefact::TimeOutOfOrder => (
            "time stamps go backwards",
            "Packets of several queues or interfaces were written out of order, files were joined in the wrong order, or \
             single records have wrong stamps. Times near them are guesses, and counts of packets sent again may be too high.",
            "Sort the file by time: `reordercap IN OUT`.",
        ),
        Artefact::Snapped => (
            "TCP headers were cut",
            "The snap length was too short for the TCP options. Time stamps and SACK blocks may be \
             missing.",
            "Capture at least 96 bytes of each packet (-s 96; 128 for IPv6 or tunnels).",
        ),
        Artefact::CutFragments => (
            "IP fragments were cut",
            "The snap length cut fragments of IP packets, so they could not be put together. What they carried is in no \
             figure.",
            "Capture whole packets (-s 0). Fragments of TCP are rare: find out why the MTU of the path is smaller than that of \
             the sender (`tracepath`).",
        ),
    }
}
