//! MPLS label stack (RFC 3032). What follows has no type: the first nibble tells IPv4 and IPv6 from the rest.

use crate::NotTcp;
use crate::frame::{Layer, Step};
use crate::rest::Rest;

/// Labels that may be stacked before we give up.
const MAX_LABELS: usize = 64;

pub(crate) fn step(rest: Rest<'_>) -> Step<'_> {
    let mut rest = rest;
    for _ in 0..MAX_LABELS {
        let [_, _, bottom, _]: [u8; 4] = *rest.head()?;
        rest = rest.skip(4)?;
        if bottom & 1 == 0 {
            continue;
        }
        return match rest.u8(0)? >> 4 {
            4 | 6 => Ok((Layer::Ip, rest)),
            // A pseudowire's control word (RFC 4385), then an Ethernet frame.
            0 => Ok((Layer::Ethernet, rest.skip(4)?)),
            // Anything else may be an Ethernet frame without control word, or not.
            _ => Ok((Layer::Ethernet, rest)),
        };
    }
    Err(NotTcp::Malformed)
}
