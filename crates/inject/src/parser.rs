//! The parser of captures alone: it must stay on its feet, and not believe more than a frame holds.

use std::net::IpAddr;

use tcplab_base::Seq;
use tcplab_wire::malformed::{Aim, Case, Family, Flow, Group};
use tcplab_wire::{CAQM_ETHERTYPE, Endpoint, Parsed, Standing};

use super::target::{Effect, Kind, Parse, Target};
use crate::error::InjectError;

/// The target.
pub(super) struct Parser {
    parse: Parse,
    family: Family,
}

/// Counts of what the parser said.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Kinds {
    pub(super) parsed: u64,
    pub(super) not_tcp: u64,
    pub(super) malformed: u64,
}

impl Kinds {
    /// One more; none: the parser broke down.
    pub(super) fn add(&mut self, kind: Option<Kind>) {
        match kind {
            Some(Kind::Parsed) => self.parsed += 1,
            Some(Kind::NotTcp) => self.not_tcp += 1,
            Some(Kind::Malformed) => self.malformed += 1,
            None => {}
        }
    }
}

impl Parser {
    pub(super) fn new(parse: Parse) -> Self {
        Self {
            parse,
            family: Family::V4,
        }
    }
}

/// A connection that nobody has.
pub(super) fn nowhere(family: Family) -> Flow {
    let end = |n: u16, port| Endpoint {
        ip: match family {
            Family::V4 => IpAddr::from([192, 0, 2, n as u8]),
            Family::V6 => IpAddr::from([0x2001, 0xdb8, 0, 0, 0, 0, 0, n]),
        },
        port,
    };
    Flow {
        src_mac: [2, 0x77, 0, 0, 0, 2],
        dst_mac: [2, 0x77, 0, 0, 0, 1],
        src: end(2, 40_000),
        dst: end(1, 80),
        seq: Seq(0x1234_5678),
        ack: Seq(0x9abc_def0),
        window: 502,
        rcv_wnd: 65_536,
        timestamps: Some((1_000_000, 2_000_000)),
        caqm_ethertype: CAQM_ETHERTYPE,
    }
}

impl Target for Parser {
    fn begin(&mut self, group: &Group) -> Result<(), InjectError> {
        self.family = group.family;
        Ok(())
    }

    fn flow(&mut self, _: Aim) -> Result<Flow, String> {
        Ok(nowhere(self.family))
    }

    fn take(&mut self, case: &Case) -> Result<Effect, String> {
        case.frames().try_for_each(|frame| self.read(frame))?;
        Ok(Effect::default())
    }

    fn end(&mut self, _: &Group) -> Result<(), String> {
        Ok(())
    }
}

impl Parser {
    fn read(&self, frame: &[u8]) -> Result<(), String> {
        let len = frame.len();
        match (self.parse)(frame) {
            Parsed::Tcp(p) if p.standing != Standing::Quoted && p.payload_len as usize > len => {
                Err(format!(
                    "{} bytes of payload in a frame of {len}",
                    p.payload_len
                ))
            }
            Parsed::Tcp(p) if usize::from(p.header_len) > 60 => {
                Err(format!("a TCP header of {} bytes", p.header_len))
            }
            _ => Ok(()),
        }
    }
}
