//! Kinds of paths by their share: with a middle box, with another rate or delay from a time on, with a segment that
//! nobody sent.

use serde::Serialize;

use super::draw::{Draws, chosen};
use super::keys::{self, BOX, CHANGE, INJECT};
use super::read::{dist, kinds, needed};
use crate::dist::Dist;
use crate::experiment::error::Fault;
use crate::experiment::fields::Fields;
use crate::experiment::middlebox;
use crate::point::{Change, Direction, Inject, Link, Rewrite};
use crate::rules::MAX_TIME_NS;

/// A kind of middle box, on both ways of a path.
#[derive(Clone, Debug, PartialEq)]
pub struct Middlebox {
    /// Share of the paths, in parts per billion.
    pub share_ppb: u32,
    /// What it does, in this order.
    pub rules: Vec<Rewrite>,
}

/// A kind of path that is another one from a time on.
#[derive(Clone, Debug, PartialEq)]
pub struct Changing {
    /// Share of the paths, in parts per billion.
    pub share_ppb: u32,
    /// When, after the connection's start.
    pub at: Dist,
    /// The bottleneck's rate from then on, both ways; none: as before.
    pub rate: Option<Dist>,
    /// The round-trip time without queues from then on; none: as before.
    pub rtt: Option<Dist>,
}

/// A kind of path on which somebody sends a segment into the connection.
#[derive(Clone, Debug, PartialEq)]
pub struct Injecting {
    /// Share of the paths, in parts per billion.
    pub share_ppb: u32,
    /// When, after the connection's start.
    pub at: Dist,
    /// What is sent; its time is 0.
    pub segment: Inject,
    /// It goes to the client; otherwise to the server.
    pub to_client: bool,
}

/// A change as it was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Changed {
    /// Index in [`Population::changes`](super::Population::changes).
    pub kind: usize,
    /// When, after the connection's start.
    pub at_ns: i64,
    /// The rate from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_bps: Option<u64>,
    /// The round-trip time from then on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_ns: Option<i64>,
}

/// An injected segment as it was drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Forged {
    /// Index in [`Population::injects`](super::Population::injects).
    pub kind: usize,
    /// When, after the connection's start.
    pub at_ns: i64,
}

impl Middlebox {
    /// What it does, in words.
    pub fn words(&self) -> String {
        let words: Vec<String> = self.rules.iter().map(Rewrite::to_string).collect();
        words.join(", ")
    }
}

impl Changing {
    /// What becomes of the path, in words.
    pub fn words(&self) -> String {
        let rate = self.rate.as_ref().map(|dist| format!("rate {dist}"));
        let rtt = self.rtt.as_ref().map(|dist| format!("rtt {dist}"));
        let words: Vec<String> = rate.into_iter().chain(rtt).collect();
        format!("{}, at {}", words.join(", "), self.at)
    }

    fn draw(&self, kind: usize, draws: &Draws) -> Changed {
        let some = |key, dist: &Option<Dist>| dist.as_ref().map(|dist| draws.one(key, dist));
        Changed {
            kind,
            at_ns: draws.one("change/at", &self.at).clamp(0, LAST_NS),
            rate_bps: some("change/rate", &self.rate).map(|bps| bps.max(1) as u64),
            rtt_ns: some("change/rtt", &self.rtt).map(|ns| ns.clamp(0, LAST_NS)),
        }
    }
}

impl Injecting {
    /// What is sent, in words.
    pub fn words(&self) -> String {
        let to = if self.to_client { "client" } else { "server" };
        format!("{} to the {to}, at {}", self.segment.segment(), self.at)
    }
}

const LAST_NS: i64 = MAX_TIME_NS.cast_signed();

/// The middle box of this path, if it has one.
pub(super) fn middlebox_of(kinds: &[Middlebox], draws: &Draws) -> Option<usize> {
    let shares = kinds.iter().map(|kind| kind.share_ppb);
    chosen(&mut draws.stream("middlebox"), shares)
}

/// The change of this path, if it has one.
pub(super) fn change_of(kinds: &[Changing], draws: &Draws) -> Option<Changed> {
    let shares = kinds.iter().map(|kind| kind.share_ppb);
    let kind = chosen(&mut draws.stream("change"), shares)?;
    kinds.get(kind).map(|rule| rule.draw(kind, draws))
}

/// What is sent into this connection, if anything.
pub(super) fn inject_of(kinds: &[Injecting], draws: &Draws) -> Option<Forged> {
    let shares = kinds.iter().map(|kind| kind.share_ppb);
    let kind = chosen(&mut draws.stream("inject"), shares)?;
    kinds.get(kind).map(|rule| Forged {
        kind,
        at_ns: draws.one("inject/at", &rule.at).clamp(0, LAST_NS),
    })
}

/// Puts a change into both ways of the path: half of the round-trip time on each.
pub(super) fn put_change(link: &mut Link, drawn: Changed) {
    let down = drawn.rtt_ns.map(|rtt| rtt / 2);
    let up = drawn.rtt_ns.map(|rtt| rtt - rtt / 2);
    let put = |way: &mut Direction, delay_ns| {
        way.changes.push(Change {
            at_ns: drawn.at_ns,
            rate_bps: drawn.rate_bps,
            delay_ns,
            ..Change::default()
        });
    };
    put(&mut link.a_to_b, down);
    put(&mut link.b_to_a, up);
}

/// Puts a forged segment into the way to its receiver.
pub(super) fn put_inject(link: &mut Link, rule: &Injecting, at_ns: i64) {
    let way = match rule.to_client {
        true => &mut link.a_to_b,
        false => &mut link.b_to_a,
    };
    way.injects.push(Inject {
        at_ns,
        ..rule.segment
    });
}

/// Reads `middlebox`.
pub(super) fn middleboxes(of: &Fields<'_>) -> Result<Vec<Middlebox>, Fault> {
    kinds(of, (&keys::THE_MIDDLEBOXES, BOX), |fields| {
        let rules = middlebox::rewrites(fields, &keys::BOX_RULES)?.unwrap_or_default();
        if rules.is_empty() {
            return Err(fields.missing(&keys::BOX_RULES));
        }
        let share_ppb = fields.get(&keys::BOX_SHARE)?;
        Ok((share_ppb, Middlebox { share_ppb, rules }))
    })
}

/// Reads `change`.
pub(super) fn changes(of: &Fields<'_>) -> Result<Vec<Changing>, Fault> {
    kinds(of, (&keys::THE_CHANGES, CHANGE), |fields| {
        let rule = Changing {
            share_ppb: fields.get(&keys::CHANGE_SHARE)?,
            at: needed(fields, &keys::CHANGE_AT)?,
            rate: dist(fields, &keys::CHANGE_RATE)?,
            rtt: dist(fields, &keys::CHANGE_RTT)?,
        };
        if rule.rate.is_none() && rule.rtt.is_none() {
            let why = "changes nothing: add `rate` or `rtt`";
            return Err(fields.at(&keys::CHANGE_AT, why));
        }
        Ok((rule.share_ppb, rule))
    })
}

/// Reads `inject`.
pub(super) fn injects(of: &Fields<'_>) -> Result<Vec<Injecting>, Fault> {
    kinds(of, (&keys::THE_INJECTS, INJECT), |fields| {
        let rule = Injecting {
            share_ppb: fields.get(&keys::INJECT_SHARE)?,
            at: needed(fields, &keys::INJECT_AT)?,
            segment: middlebox::segment(fields, &keys::INJECT_SEGMENT)?,
            to_client: fields
                .word(&keys::INJECT_TO, &[true, false])?
                .unwrap_or(true),
        };
        Ok((rule.share_ppb, rule))
    })
}
