//! Malformed frames, enumerated: tags cut short, lengths that lie, every option, wrong sums, strange flags.
//!
//! One generator for tests, fuzzing and `tcplab inject`. A frame depends only on its group, its number there, the seed
//! and the connection that it is aimed at ([`Flow`]), so a harmful frame can be made again. Most groups enumerate;
//! groups that mutate draw from the seed. The rule that makes a frame also states what a host may do with it
//! ([`Fate`]); no parser is involved.
//!
//! Left out: neighbour discovery and multicast listeners (ICMPv6 whose hop limit says that it is from this link),
//! everything above TCP.

mod build;
mod fragments;
mod icmp;
mod ipv4;
mod ipv6;
mod link;
mod mutate;
mod options;
mod sample;
mod shapes;
mod tcp;

pub use sample::Sample;
pub use shapes::{SHAPES, Shape};

use tcplab_base::Seq;

use crate::{Endpoint, TcpFlags};

/// A connection as its receiver sees it: the frames claim to come from its peer.
#[derive(Clone, Copy, Debug)]
pub struct Flow {
    /// Ethernet address of the peer.
    pub src_mac: [u8; 6],
    /// Ethernet address of the host under test.
    pub dst_mac: [u8; 6],
    /// The peer.
    pub src: Endpoint,
    /// The host under test.
    pub dst: Endpoint,
    /// What the host expects next (RCV.NXT).
    pub seq: Seq,
    /// What the host sends next (SND.NXT).
    pub ack: Seq,
    /// The window field that the peer last sent.
    pub window: u16,
    /// Bytes that the host takes from `seq` on (RCV.WND).
    pub rcv_wnd: u32,
    /// Time stamps of a valid segment: TSval, TSecr. `None`: the connection has no time stamps.
    pub timestamps: Option<(u32, u32)>,
    /// EtherType of the CAQM tag.
    pub caqm_ethertype: u16,
}

/// What a frame may do to a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// Every host refuses it: no state of TCP may change, not even a counter.
    Refused,
    /// A host may read it (its sums are right), but must ignore it: it lies outside the window of its connection, or
    /// belongs to no connection. No connection's stream may change.
    Harmless,
    /// It may count for the connection that it is aimed at, which is there for that; no other may change.
    Any,
}

/// What the frames of a group are aimed at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Aim {
    /// A connection that must go on as if nothing had come.
    Live,
    /// A connection that may be hurt.
    Victim,
    /// A listener, from ports that have no connection.
    Listener,
}

/// The IP version of a group's frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// IPv4.
    V4,
    /// IPv6.
    V6,
}

/// One frame.
#[derive(Clone, Debug)]
pub struct Case {
    /// From the Ethernet header on, without a frame check sequence; it may be shorter than that header.
    pub frame: Vec<u8>,
    /// Frames that follow it at once: the other fragments of its packet.
    pub rest: Vec<Vec<u8>>,
    /// What they may do.
    pub fate: Fate,
}

impl Case {
    fn new(frame: Vec<u8>, fate: Fate) -> Self {
        Self {
            frame,
            rest: Vec::new(),
            fate,
        }
    }

    /// All frames, in the order in which they are sent.
    pub fn frames(&self) -> impl Iterator<Item = &[u8]> {
        let first = std::iter::once(&self.frame);
        first.chain(&self.rest).map(Vec::as_slice)
    }
}

/// Frames of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Group {
    /// Its name.
    pub name: &'static str,
    /// What it holds, in a line.
    pub about: &'static str,
    /// How many frames there are.
    pub count: u64,
    /// What they are aimed at.
    pub aim: Aim,
    /// Their IP version, where it matters.
    pub family: Family,
    make: fn(&Flow, u64, u64) -> Case,
}

impl Group {
    /// Frames in IPv4 that are aimed at a connection that must go on.
    const fn v4(
        name: &'static str,
        about: &'static str,
        count: u64,
        make: fn(&Flow, u64, u64) -> Case,
    ) -> Self {
        Self {
            name,
            about,
            count,
            aim: Aim::Live,
            family: Family::V4,
            make,
        }
    }

    /// The same in IPv6.
    const fn v6(
        name: &'static str,
        about: &'static str,
        count: u64,
        make: fn(&Flow, u64, u64) -> Case,
    ) -> Self {
        Self {
            family: Family::V6,
            ..Self::v4(name, about, count, make)
        }
    }

    const fn aimed(self, aim: Aim) -> Self {
        Self { aim, ..self }
    }

    /// The frame with this number, of 0 to `count` - 1. `flow` is of the group's family.
    pub fn case(&self, flow: &Flow, number: u64, seed: u64) -> Case {
        (self.make)(flow, number, seed)
    }
}

/// All groups, in the order in which they are run: the test report's cases first.
pub const GROUPS: &[&[Group]] = &[
    link::GROUPS,
    ipv4::GROUPS,
    ipv6::GROUPS,
    tcp::GROUPS,
    options::GROUPS,
    icmp::GROUPS,
    fragments::GROUPS,
    mutate::GROUPS,
];

/// All groups in a row.
pub fn groups() -> impl Iterator<Item = &'static Group> {
    GROUPS.iter().copied().flatten()
}

/// The group of this name.
pub fn group(name: &str) -> Option<&'static Group> {
    groups().find(|group| group.name == name)
}

/// A frame that is not malformed: the last byte that the host has had, once more. A host that is well answers at once with an
/// ACK (RFC 9293 3.10.7.4), and nothing else happens.
pub fn question(flow: &Flow) -> Vec<u8> {
    let stamps = build::stamps(flow);
    let draft = build::Draft {
        seq: flow.seq - 1,
        flags: TcpFlags::ACK,
        payload: &[0],
        ..build::Draft::next(flow, &stamps)
    };
    draft.frame(flow)
}

/// A number as digits, the last radix first.
pub(crate) struct Digits(u64);

impl Digits {
    pub(crate) fn of(number: u64) -> Self {
        Self(number)
    }

    /// The next digit: 0 to `radix` - 1.
    pub(crate) fn next(&mut self, radix: u64) -> u64 {
        let digit = self.0 % radix.max(1);
        self.0 /= radix.max(1);
        digit
    }

    /// One of these.
    pub(crate) fn one_of<T: Copy>(&mut self, of: &[T]) -> Option<T> {
        of.get(self.next(of.len() as u64) as usize).copied()
    }
}
