//! How many findings of one kind are listed, and the findings about the whole capture.

use std::collections::BTreeMap;

use super::LIST;
use super::artefacts::{self, Noted};
use super::{Finding, Id, Need, NotChecked};
use crate::conn::Connection;
use crate::report::{Artefact, Stream};

/// Most findings of one id that are handed out; the rest is counted.
const LISTED: u64 = 1_000;

/// Counts over one capture.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    seen: BTreeMap<Id, u64>,
    not_checked: Vec<NotChecked>,
    artefacts: Vec<Noted>,
}

impl Limits {
    /// Whether one more of this kind is handed out.
    pub(crate) fn admit(&mut self, id: Id) -> bool {
        let seen = self.seen.entry(id).or_default();
        *seen += 1;
        *seen <= LISTED
    }

    /// Whether the next one of this kind would be handed out.
    pub(crate) fn has_room(&self, id: Id) -> bool {
        self.seen.get(&id).is_none_or(|seen| *seen < LISTED)
    }

    /// How many were not handed out.
    pub(crate) fn not_listed(&self) -> u64 {
        self.seen.values().map(|n| n.saturating_sub(LISTED)).sum()
    }

    /// Notes what could not be looked for in a stream.
    pub(crate) fn note_not_checked(&mut self, stream: u32, list: &[(Id, Need)]) {
        for &(finding, lacks) in list {
            let same = |n: &&mut NotChecked| n.finding == finding && n.lacks == lacks;
            match self.not_checked.iter_mut().find(same) {
                Some(n) => n.streams += 1,
                None => self.not_checked.push(NotChecked {
                    finding,
                    lacks,
                    streams: 1,
                    stream,
                }),
            }
        }
    }

    /// What could not be looked for, over the whole capture. `unread`: there are TCP packets of which no stream is known.
    pub(crate) fn not_checked(&self, unread: bool) -> Vec<NotChecked> {
        let mut all = self.not_checked.clone();
        let named = |id: Id| self.not_checked.iter().any(|n| n.finding == id);
        let rest = LIST.iter().map(|d| d.id).filter(|id| unread && !named(*id));
        all.extend(rest.map(|finding| NotChecked {
            finding,
            lacks: Need::WholeHeaders,
            streams: 0,
            stream: 0,
        }));
        all
    }

    /// Notes the artefacts of a stream.
    pub(crate) fn note(&mut self, connection: &Connection, stream: &Stream) {
        for &artefact in &stream.artefacts {
            if let Some(noted) = self.artefacts.iter_mut().find(|n| n.artefact == artefact) {
                noted.streams += 1;
                continue;
            }
            let supers = connection.dirs.iter().filter_map(|d| d.rare.as_ref());
            let packets = match artefact {
                Artefact::SuperSegments => {
                    supers.map(|r| r.first_super).filter(|n| *n > 0).collect()
                }
                _ => Vec::new(),
            };
            let stream = stream.stream;
            self.artefacts.push(Noted {
                artefact,
                stream,
                streams: 1,
                packets,
            });
        }
    }

    /// The findings about the whole capture.
    pub(crate) fn about_the_capture(&self) -> Vec<Finding> {
        self.artefacts.iter().map(artefacts::describe).collect()
    }
}
