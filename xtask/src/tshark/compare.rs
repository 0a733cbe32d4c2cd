//! Two readings of one capture, side by side.

use std::collections::{BTreeMap, BTreeSet};

use tcplab_analyze::compat::Verdicts;
use tcplab_wire::{NotTcp, Standing};

use super::Frame;
use super::ours::{Kind, Ours, Sums};
use super::theirs::Theirs;

/// Why a difference is no error of ours; `docs/fidelity.md` says more about each.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reason {
    /// tshark puts fragments of IP packets together, we count them.
    Fragment,
    /// TCP inside a tunnel or link layer that we do not read.
    Tunnel,
    /// A format that we do not read, or only one of us stops at the damage.
    Format,
    /// Another dissector of tshark began a conversation of its own in the middle of a connection:
    /// VNC's splits the stream, SOCKS's takes a number that no frame has.
    Split,
    /// The stream also has a frame with one of the reasons above.
    Consequence,
}

/// A frame that the two see differently.
#[derive(Debug)]
pub struct Difference {
    pub number: usize,
    pub ours: Frame,
    pub theirs: Frame,
    pub reason: Option<Reason>,
    pub note: String,
}

/// What became of one capture.
#[derive(Debug)]
pub struct Comparison {
    pub packets: (usize, usize),
    pub tcp: (usize, usize),
    pub streams: (usize, usize),
    /// For each of [`Verdicts::FIELDS`]: both, only ours, only theirs.
    pub flags: Vec<(usize, usize, usize)>,
    pub differences: Vec<Difference>,
    pub format: Option<Format>,
    /// What the sums of our report miss, when every frame agrees.
    pub sums: Option<String>,
    pub late_packets: u64,
}

/// The two did not read the same frames.
#[derive(Debug)]
pub struct Format {
    pub text: String,
    /// One of the two does not read this format or link type, and says so.
    pub is_foreign: bool,
}

impl Comparison {
    pub fn new(ours: &Ours, theirs: &Theirs) -> Self {
        let mut comparison = Self {
            packets: (ours.frames.len(), theirs.frames.len()),
            tcp: (count_tcp(&ours.frames), count_tcp(&theirs.frames)),
            streams: (count_streams(&ours.frames), count_streams(&theirs.frames)),
            flags: count_flags(&ours.frames, &theirs.frames),
            differences: Vec::new(),
            format: None,
            sums: None,
            late_packets: ours.sums.late_packets,
        };
        if ours.frames.len() != theirs.frames.len()
            || ours.error.is_some() != theirs.error.is_some()
        {
            let none = "no error".to_owned();
            let text = format!(
                "we read {} frames ({}), tshark {} ({})",
                ours.frames.len(),
                ours.error.as_ref().unwrap_or(&none),
                theirs.frames.len(),
                theirs.error.as_ref().unwrap_or(&none),
            );
            let is_foreign = ours.frames.is_empty()
                && ours.error.as_ref().is_some_and(|e| {
                    ["neither pcap", "no pcap or pcapng"]
                        .iter()
                        .any(|words| e.contains(words))
                });
            let is_refused = theirs.frames.is_empty()
                && theirs
                    .error
                    .as_ref()
                    .is_some_and(|e| e.contains("unknown or unsupported"));
            let is_foreign = is_foreign || is_refused;
            comparison.format = Some(Format { text, is_foreign });
        }
        comparison.frames(ours, theirs);
        comparison.sums(ours);
        comparison
    }

    fn frames(&mut self, ours: &Ours, theirs: &Theirs) {
        let mut pairs = Pairs::default();
        let frames = ours.frames.iter().zip(&ours.kinds);
        let others = theirs.frames.iter().zip(&theirs.protocols);
        for (i, ((a, kind), (b, protocols))) in frames.zip(others).enumerate() {
            let reason = reason(*kind, b, protocols);
            let reason = reason.or_else(|| pairs.note_split(a, b).then_some(Reason::Split));
            if let Some(reason) = reason {
                pairs.disturb(a, b);
                self.push(i, a, b, Some(reason), *kind, protocols);
                continue;
            }
            let same = a.is_tcp == b.is_tcp && a.verdicts == b.verdicts;
            let streams = pairs.agree(a, b);
            if !same || !streams {
                let reason = pairs.is_disturbed(a, b).then_some(Reason::Consequence);
                self.push(i, a, b, reason, *kind, protocols);
            }
        }
    }

    /// The sums of the report against those of the frames.
    fn sums(&mut self, ours: &Ours) {
        let count = |bit| {
            let with = ours.frames.iter().filter(|f| f.verdicts & bit != 0);
            with.count() as u64
        };
        let frames = Sums {
            packets: self.packets.0 as u64,
            tcp_packets: self.tcp.0 as u64,
            streams: self.streams.0 as u64,
            duplicate_acks: count(Verdicts::DUPLICATE_ACK),
            lost_segments: count(Verdicts::LOST_SEGMENT),
            zero_windows: count(Verdicts::ZERO_WINDOW),
            late_packets: ours.sums.late_packets,
        };
        if frames != ours.sums {
            self.sums = Some(format!("sums {:?}, frames {frames:?}", ours.sums));
        }
    }

    fn push(
        &mut self,
        index: usize,
        ours: &Frame,
        theirs: &Frame,
        reason: Option<Reason>,
        kind: Kind,
        protocols: &str,
    ) {
        self.differences.push(Difference {
            number: index + 1,
            ours: *ours,
            theirs: *theirs,
            reason,
            note: format!("{kind:?} {protocols}"),
        });
    }

    /// Whether anything differs, explained or not.
    pub fn differs(&self) -> bool {
        self.format.is_some() || self.sums.is_some() || !self.differences.is_empty()
    }

    /// Lines for a reader: at most `show` differing frames.
    pub fn describe(&self, show: usize) -> String {
        let mut text = format!(
            "packets {} / {}, TCP {} / {}, streams {} / {} (ours / tshark)",
            self.packets.0, self.packets.1, self.tcp.0, self.tcp.1, self.streams.0, self.streams.1
        );
        if let Some(format) = &self.format {
            text += &format!("\n    {}", format.text);
        }
        if let Some(sums) = &self.sums {
            text += &format!("\n    {sums}");
        }
        for d in self.differences.iter().take(show) {
            let why = d
                .reason
                .map_or("UNEXPLAINED".to_owned(), |r| format!("{r:?}"));
            text += &format!(
                "\n    frame {}: ours {}, tshark {} [{why}; {}]",
                d.number,
                show_frame(&d.ours),
                show_frame(&d.theirs),
                d.note
            );
        }
        if self.differences.len() > show {
            text += &format!("\n    ... {} frames in all", self.differences.len());
        }
        text
    }
}

fn show_frame(f: &Frame) -> String {
    if !f.is_tcp {
        return "no TCP".to_owned();
    }
    let stream = f.stream.map_or("-".to_owned(), |s| s.to_string());
    let mut text = format!("stream {stream}");
    for name in Verdicts(f.verdicts).fields() {
        text += name.strip_prefix("tcp.analysis").unwrap_or(name);
    }
    text
}

/// Why the two need not agree about this frame.
fn reason(kind: Kind, theirs: &Frame, protocols: &str) -> Option<Reason> {
    let inside = |list: &[&str]| protocols.split(':').any(|p| list.contains(&p));
    match kind {
        Kind::NotTcp(NotTcp::Fragment) if theirs.is_tcp => Some(Reason::Fragment),
        Kind::Tcp(Standing::FirstFragment) if !theirs.is_tcp => Some(Reason::Fragment),
        Kind::NotTcp(NotTcp::UnknownLink) if theirs.is_tcp => Some(Reason::Tunnel),
        Kind::NotTcp(_) if theirs.is_tcp && inside(UNREAD) => Some(Reason::Tunnel),
        Kind::NotAPacket if theirs.is_tcp => Some(Reason::Format),
        _ => None,
    }
}

/// Layers around IP that we do not read.
const UNREAD: &[&str] = &["udp", "sctp", "l2tp", "gtp", "vxlan", "teredo"];

fn count_tcp(frames: &[Frame]) -> usize {
    frames.iter().filter(|f| f.is_tcp).count()
}

fn count_streams(frames: &[Frame]) -> usize {
    let numbers: BTreeSet<u32> = frames.iter().filter_map(|f| f.stream).collect();
    numbers.len()
}

fn count_flags(ours: &[Frame], theirs: &[Frame]) -> Vec<(usize, usize, usize)> {
    let count = |bit: u32| {
        let mut n = (0, 0, 0);
        for (a, b) in ours.iter().zip(theirs) {
            match (a.verdicts & bit != 0, b.verdicts & bit != 0) {
                (true, true) => n.0 += 1,
                (true, false) => n.1 += 1,
                (false, true) => n.2 += 1,
                (false, false) => {}
            }
        }
        n
    };
    Verdicts::FIELDS
        .iter()
        .map(|(bit, _)| count(*bit))
        .collect()
}

/// Which stream of ours is which of theirs. Numbers must be equal until a frame that only one of
/// us counts has moved them; from then on each must stay with its partner.
#[derive(Default)]
struct Pairs {
    theirs_of: BTreeMap<u32, u32>,
    disturbed: BTreeSet<u32>,
    moved: bool,
    /// One above the highest number of theirs.
    next: u32,
}

impl Pairs {
    fn disturb(&mut self, ours: &Frame, theirs: &Frame) {
        self.moved = true;
        self.disturbed.extend(theirs.stream);
        if let (Some(a), Some(b)) = (ours.stream, theirs.stream) {
            self.theirs_of.insert(a, b);
        }
    }

    /// Whether tshark leaves a number out, or gives a stream of ours a new one without a word about
    /// ports used again.
    fn note_split(&mut self, ours: &Frame, theirs: &Frame) -> bool {
        let Some(b) = theirs.stream else {
            return false;
        };
        let (is_new, leaves_out) = (b >= self.next, b > self.next);
        self.next = self.next.max(b + 1);
        let reused = (ours.verdicts | theirs.verdicts) & Verdicts::REUSED_PORTS != 0;
        let known = ours.stream.and_then(|a| self.theirs_of.get(&a));
        leaves_out || is_new && !reused && known.is_some_and(|known| *known != b)
    }

    fn agree(&mut self, ours: &Frame, theirs: &Frame) -> bool {
        match (ours.stream, theirs.stream) {
            (Some(a), Some(b)) => {
                let partner = *self.theirs_of.entry(a).or_insert(b);
                partner == b && (self.moved || a == b)
            }
            (a, b) => a == b,
        }
    }

    fn is_disturbed(&self, ours: &Frame, theirs: &Frame) -> bool {
        let partner = ours.stream.and_then(|a| self.theirs_of.get(&a));
        [theirs.stream.as_ref(), partner]
            .into_iter()
            .flatten()
            .any(|b| self.disturbed.contains(b))
    }
}
