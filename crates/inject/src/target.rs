//! What frames are put into.

use tcplab_wire::malformed::{Aim, Case, Flow, Group};
use tcplab_wire::{Config, LinkType, NotTcp, Parsed, Standing, parse_frame};

use super::document::{KernelCounter, SiteRecord};
use crate::error::InjectError;

/// What a target says that [`Target::begin`] was not called on.
pub(super) const NOT_BEGUN: &str = "no group has begun";

/// What came of one frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Effect {
    /// The target took it for TCP of its own.
    pub(super) accepted: bool,
    /// A connection that may be hurt, a listener or the answers changed.
    pub(super) changed: bool,
}

/// Somebody who takes frames.
pub(super) trait Target {
    /// A group begins: connections stand from here on.
    ///
    /// # Errors
    /// It cannot go on at all.
    fn begin(&mut self, group: &Group) -> Result<(), InjectError>;

    /// What the group's frames are aimed at now.
    ///
    /// # Errors
    /// The connection is gone: harm.
    fn flow(&mut self, aim: Aim) -> Result<Flow, String>;

    /// One frame.
    ///
    /// # Errors
    /// It did harm.
    fn take(&mut self, case: &Case) -> Result<Effect, String>;

    /// The group is over: is it well?
    ///
    /// # Errors
    /// Something does not work any more.
    fn end(&mut self, group: &Group) -> Result<(), String>;

    /// Counters of a kernel that have moved since the group began.
    fn counters(&mut self) -> Vec<KernelCounter> {
        Vec::new()
    }

    /// What has to be known about the result, in words.
    fn notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Why this group's frames cannot be sent to it at all.
    fn lacks(&self, _group: &Group) -> Option<String> {
        None
    }

    /// The interface that frames go into.
    fn site(&self) -> Option<SiteRecord> {
        None
    }
}

/// What the parser of captures says of a frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    /// A TCP packet whose header can be used.
    Parsed,
    /// Something else.
    NotTcp,
    /// A header contradicts itself, or the frame ends within one.
    Malformed,
}

/// The parser of captures, or one with a planted bug.
pub(super) type Parse = fn(&[u8]) -> Parsed;

/// The parser that `tcplab analyze` uses.
pub(super) fn parse(frame: &[u8]) -> Parsed {
    let len = frame.len() as u32;
    parse_frame(LinkType::Ethernet, frame, len, &Config::default())
}

pub(super) fn kind(parsed: &Parsed) -> Kind {
    match parsed {
        Parsed::Tcp(p) if p.standing == Standing::Whole && !p.options.malformed => Kind::Parsed,
        Parsed::Tcp(_) => Kind::Malformed,
        Parsed::NotTcp(NotTcp::Malformed | NotTcp::Truncated | NotTcp::TcpStub) => Kind::Malformed,
        Parsed::NotTcp(_) => Kind::NotTcp,
    }
}
