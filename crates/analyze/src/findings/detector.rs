//! How findings are looked for: each detector, in both directions of a connection.

use std::borrow::Cow;

use tcplab_wire::Endpoint;

use super::{
    CAQM, Finding, Id, LIST, Lacks, Limits, Missing, Need, Severity, accept_queue_overflow, caqm,
    clock_step, measured, path_mtu, quiet, token_bucket,
};
use crate::conn::{Connection, Dir, KEPT, Record};

// The text of findings below names the number.
const _: () = assert!(KEPT == 65_536);

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
    /// The packets that are missing came in fragments.
    lacks_fragments: bool,
}

impl Found {
    /// The detector at work could not tell, for want of this.
    pub(crate) fn cannot_tell(&mut self, lacks: Need) {
        let lacks = if lacks == Need::EveryPacket && self.lacks_fragments {
            Need::WholeFragments
        } else {
            lacks
        };
        if let Some(id) = self.current
            && !self.not_checked.iter().any(|n| n.0 == id)
        {
            self.not_checked.push((id, lacks));
        }
    }

    /// The findings that could not be looked for, by what the capture lacks.
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

    /// Runs one detector.
    ///
    /// `missing` is what the capture lacks in this direction: it is the same for all detectors.
    fn run(&mut self, detector: &Detector, side: &Side<'_>, missing: Missing) {
        self.current = Some(detector.id);
        if missing.has(Need::Order) && detector.id.needs_order() {
            if side.is_used() {
                self.cannot_tell(Need::Order);
            }
            return;
        }
        let lack = |needs: &'static [Need]| needs.iter().find(|need| missing.has(**need));
        let clocked = || lack(clock_step::needed_by(detector.id));
        let mut lacks = lack(detector.needs);
        // Few captures lack times or have a clock that was set: only for those, ask whether the detector needs the clock.
        if missing.has(Need::PacketTimes) {
            lacks = clocked().or(lacks);
        } else if lacks.is_none() && missing.has(Need::SteadyClock) {
            lacks = clocked();
        }
        match lacks {
            Some(need) if side.is_used() => self.cannot_tell(*need),
            Some(_) => {}
            None => {
                let before = self.findings.len();
                (detector.detect)(side, self);
                // Where no single packet shows it: the connection's first.
                let new = self.findings.get_mut(before..).unwrap_or_default();
                debug_assert!(new.iter().all(|f| super::may_be(f.id, f.severity)));
                for f in new {
                    if f.packets.is_empty() {
                        f.packets.push(side.connection.first);
                    }
                    if side.has_more_episodes() && !f.cause.is_empty() {
                        f.cause += " tcplab judged the first 65,536 recoveries only.";
                    }
                }
            }
        }
    }
}

impl Extend<Finding> for Found {
    fn extend<T: IntoIterator<Item = Finding>>(&mut self, findings: T) {
        self.findings.extend(findings);
    }
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
    /// What the sender repeated for a reason that no other packet names.
    episodes: Cow<'a, [Record]>,
    limits: &'a Limits,
}

impl Side<'_> {
    /// Episodes of the sender, ended or not, oldest first. Left out: those caused by a server that did not take the
    /// connection, and repairs of segments too big for the path ([`path_mtu`]).
    pub(crate) fn episodes(&self) -> &[Record] {
        let all = &*self.episodes;
        let ignored = accept_queue_overflow::episodes_explained(self, all);
        all.get(ignored..).unwrap_or_default()
    }

    /// The sender repaired losses more often than is kept.
    fn has_more_episodes(&self) -> bool {
        let loss = self.sender.loss.as_deref();
        loss.is_some_and(|loss| loss.episodes.not_kept() > 0)
    }

    /// The sender repaired a lone segment by a timeout, and its window showed that.
    pub(crate) fn has_no_probes(&self) -> bool {
        self.sender
            .loss
            .as_deref()
            .is_some_and(|l| l.has_no_probes())
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

    /// Whether a finding of this name is reported in words, and not only counted: its words are the most expensive
    /// part.
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
        let told = || {
            let found = run_all(connection, limits);
            let ids = found.findings.iter().map(|f| f.id);
            ids.chain(found.not_checked.iter().map(|n| n.0)).next()
        };
        debug_assert_eq!(told(), None, "quiet.rs says that it has nothing to tell");
        return Found::default();
    }
    run_all(connection, limits)
}

/// Runs every detector on both directions of a connection.
fn run_all(connection: &Connection, limits: &Limits) -> Found {
    let mut found = Found {
        lacks_fragments: connection.lacks_fragments(),
        ..Found::default()
    };
    let ends = [connection.key.a, connection.key.b];
    let caqm: &[Detector] = if caqm::is_spoken(connection) {
        CAQM
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
            episodes: path_mtu::others(&connection.dirs[s], &connection.dirs[r]),
            limits,
        };
        let missing = side.missing();
        for detector in LIST.iter().chain(caqm) {
            found.run(detector, &side, missing);
        }
    }
    found
}
