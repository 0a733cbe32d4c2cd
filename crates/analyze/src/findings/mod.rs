//! Findings: what happened, why, how sure, and what to do about it. One file for each mechanism.
//!
//! A detector looks at one direction of one finished connection (the data of `sender`, the ACKs of
//! `receiver`) and says nothing unless the packets show the cause.

mod accept_queue_overflow;
mod ack_loss;
mod ack_thinning;
mod artefacts;
mod black_hole;
mod bufferbloat;
mod caqm;
mod clock_step;
mod delayed_ack;
mod duplication;
mod episodes;
mod keepalive_death;
mod limits;
mod list;
mod loss;
mod measured;
mod needs;
mod no_answer;
mod options;
mod others_queue;
mod policer;
pub mod proof;
mod quickack;
mod quiet;
mod receive_window;
mod refused;
mod releases;
mod reordered;
mod reordering;
mod reset;
mod rto;
mod send_buffer;
mod shared_policer;
mod slow_client;
mod slow_server;
mod slow_start;
mod syn;
mod tail_loss;
mod time_wait_reuse;
mod token_bucket;
mod window_after_idle;
mod zero_window;

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;
use tcplab_base::quantity::micros;
pub(crate) use tcplab_base::quantity::time as length;
use tcplab_wire::Endpoint;

use crate::conn::{Connection, Dir, Record};

pub(crate) use limits::Limits;
pub use list::{about, ids, looked_for, needs, releases, table};
use needs::Missing;
pub use needs::{Lacks, Need, NotChecked};
pub use proof::Proof;
pub(crate) use shared_policer::Shared;

/// One thing worth telling a person.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Finding {
    /// Stable name, listed in `docs/findings.md`.
    pub id: Id,
    /// How much it matters.
    pub severity: Severity,
    /// Stream number.
    pub stream: u32,
    /// Packets that show it, at most 16.
    pub packets: Vec<u64>,
    /// One line for the report.
    pub title: String,
    /// The mechanism, with kernel versions where they are known.
    pub cause: String,
    /// What to do, one entry for each way out; commands can be pasted.
    pub remedy: Vec<String>,
    /// Share of findings of this name that were right on captures with known causes, 0 to 1, drawn towards that of all
    /// findings; absent when nobody has measured it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// What an experiment said about it (`--prove`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Box<Proof>>,
}

/// The stable name of a finding; `findings/list.rs` has all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Id(pub(crate) &'static str);

impl Id {
    /// The name in JSON and on the command line.
    pub const fn name(self) -> &'static str {
        self.0
    }

    /// It is about the capture as a whole, and explains nothing of a stream.
    pub fn is_about_the_capture(self) -> bool {
        self == artefacts::DETECTOR.id || self == clock_step::DETECTOR.id
    }

    /// The finding with this name.
    pub fn of(name: &str) -> Option<Self> {
        ids().find(|id| id.0 == name)
    }
}

impl JsonSchema for Id {
    fn schema_name() -> Cow<'static, str> {
        "Id".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = ids().map(Self::name).collect();
        json_schema!({ "type": "string", "enum": names })
    }
}

/// One kind of finding: its row of the list and of `docs/findings.md`, and the function that looks for it.
pub(crate) struct Detector {
    pub id: Id,
    /// How severe it is, for the document.
    pub severity: &'static str,
    /// When it is said, for the document.
    pub said_when: &'static str,
    /// What it has to see. Where the capture lacks one of these the finding is reported as not checked.
    pub needs: &'static [Need],
    /// Looks at one direction of one connection.
    pub detect: fn(&Side<'_>, &mut Found),
}

/// What the detectors made of a connection.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub findings: Vec<Finding>,
    /// What could not be looked for, and why.
    pub not_checked: Vec<(Id, Need)>,
    /// Those that may have lost by a policer which others share.
    pub lossy: Vec<token_bucket::Lossy>,
    /// The detector at work.
    current: Option<Id>,
}

impl Found {
    /// The detector at work could not tell, for want of this.
    pub(crate) fn cannot_tell(&mut self, lacks: Need) {
        if let Some(id) = self.current
            && !self.not_checked.iter().any(|n| n.0 == id)
        {
            self.not_checked.push((id, lacks));
        }
    }

    /// What could not be looked for, by what the capture lacks.
    pub(crate) fn lacks(&self) -> Vec<Lacks> {
        let mut all: Vec<Lacks> = Vec::new();
        for &(finding, lacks) in &self.not_checked {
            match all.iter_mut().find(|l| l.lacks == lacks) {
                Some(l) => l.findings.push(finding),
                None => all.push(Lacks {
                    lacks,
                    findings: vec![finding],
                }),
            }
        }
        all
    }

    /// Nothing was found, and everything was looked for.
    fn is_silent(&self) -> bool {
        self.findings.is_empty() && self.not_checked.is_empty()
    }

    /// Runs one detector.
    ///
    /// `missing` is what the capture lacks in this direction: it is the same for all detectors.
    fn run(&mut self, detector: &Detector, side: &Side<'_>, missing: Missing) {
        self.current = Some(detector.id);
        let lack = |needs: &'static [Need]| needs.iter().find(|need| missing.has(**need));
        let mut lacks = lack(detector.needs);
        // Whether it goes by the clock is asked only where one was set: nearly never.
        if lacks.is_none() && missing.has(Need::SteadyClock) {
            lacks = lack(clock_step::needed_by(detector.id));
        }
        match lacks {
            Some(need) if side.is_used() => self.cannot_tell(*need),
            Some(_) => {}
            None => {
                let before = self.findings.len();
                (detector.detect)(side, self);
                // Where no single packet shows it: the connection's first.
                let new = self.findings.get_mut(before..).unwrap_or_default();
                new.iter_mut()
                    .filter(|f| f.packets.is_empty())
                    .for_each(|f| f.packets.push(side.connection.first));
            }
        }
    }
}

impl Extend<Finding> for Found {
    fn extend<T: IntoIterator<Item = Finding>>(&mut self, findings: T) {
        self.findings.extend(findings);
    }
}

/// How much a finding matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Costs time or throughput again and again.
    High,
    /// Cost time once or twice.
    Medium,
    /// Worth knowing.
    Info,
}

/// One direction of a finished connection.
pub(crate) struct Side<'a> {
    pub stream: u32,
    /// Who sends the data.
    pub sender: &'a Dir,
    pub sender_end: Endpoint,
    /// Who ACKs it.
    pub receiver: &'a Dir,
    pub receiver_end: Endpoint,
    pub connection: &'a Connection,
    limits: &'a Limits,
}

impl Side<'_> {
    /// Episodes of the sender that ended or not, oldest first; without those that a server caused which did not take
    /// the connection.
    pub(crate) fn episodes(&self) -> &[Record] {
        let Some(loss) = self.sender.loss.as_deref() else {
            return &[];
        };
        let all = loss.episodes.ended.as_slice();
        let ignored = accept_queue_overflow::episodes_explained(self, all);
        all.get(ignored..).unwrap_or_default()
    }

    /// Nothing before this had been ACKed, and the beginning of the connection is not in the capture: a server that never
    /// accepted the connection leaves the same packets as a loss.
    pub(crate) fn may_be_unaccepted(&self, r: &Record) -> bool {
        r.passed <= 1 && !self.has(Need::Handshake)
    }

    /// The sender is `key.a` of the connection.
    pub(crate) fn is_a(&self) -> bool {
        std::ptr::eq(self.sender, &self.connection.dirs[0])
    }

    /// A finding of this direction, without packets and remedies.
    pub(crate) fn finding(&self, id: Id, severity: Severity) -> Finding {
        Finding {
            id,
            severity,
            stream: self.stream,
            packets: Vec::new(),
            title: String::new(),
            cause: String::new(),
            remedy: Vec::new(),
            confidence: measured::confidence(id),
            proof: None,
        }
    }

    /// Whether a finding of this name is handed out, and not only counted: its words cost more than all else of it.
    pub(crate) fn is_told(&self, id: Id) -> bool {
        self.limits.has_room(id)
    }

    /// The data's sender is the client.
    pub(crate) fn sender_is_client(&self) -> bool {
        self.connection.client_index() == usize::from(!self.is_a())
    }
}

/// What the detectors say of a connection. Where `limits` say that a finding is not handed out, it may have no words.
pub(crate) fn of(connection: &Connection, limits: &Limits) -> Found {
    if quiet::is_quiet(connection) {
        let silent = || run_all(connection, limits).is_silent();
        debug_assert!(silent(), "it has nothing to tell");
        return Found::default();
    }
    run_all(connection, limits)
}

/// Runs every detector on both directions of a connection.
fn run_all(connection: &Connection, limits: &Limits) -> Found {
    let mut found = Found::default();
    let ends = [connection.key.a, connection.key.b];
    let caqm: &[Detector] = if caqm::is_spoken(connection) {
        list::CAQM
    } else {
        &[]
    };
    for (s, r) in [(0, 1), (1, 0)] {
        let side = Side {
            stream: connection.stream,
            sender: &connection.dirs[s],
            sender_end: ends[s],
            receiver: &connection.dirs[r],
            receiver_end: ends[r],
            connection,
            limits,
        };
        let missing = side.missing();
        for detector in list::LIST.iter().chain(caqm) {
            found.run(detector, &side, missing);
        }
    }
    found
}

/// The length of so many microseconds.
pub(crate) fn us(us: u32) -> String {
    micros(us.into())
}

/// `1 time`, `5 times`.
pub(crate) fn times(n: u64) -> String {
    if n == 1 {
        "once".to_owned()
    } else {
        format!("{n} times")
    }
}

/// Before the longest of so many lengths.
pub(crate) fn up_to(n: u64) -> &'static str {
    if n == 1 { "" } else { "up to " }
}

/// At most 16 packet numbers.
pub(crate) fn packets(numbers: impl IntoIterator<Item = u64>) -> Vec<u64> {
    numbers.into_iter().take(16).collect()
}
