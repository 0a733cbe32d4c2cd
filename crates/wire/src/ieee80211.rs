//! IEEE 802.11 data frames that are not encrypted, and what capture tools put before them: radiotap, Prism, AVS, PPI.
//!
//! Left out: fragments; of aggregated frames (A-MSDU) only the first is read.

use crate::NotTcp;
use crate::frame::{Layer, Step};
use crate::links;
use crate::rest::Rest;

/// A frame with one of this family's LINKTYPE numbers.
pub(crate) fn first(number: u32, rest: Rest<'_>) -> Step<'_> {
    match number {
        105 => frame(rest, false),
        127 => radiotap(rest),
        // The AVS header may stand where Prism's is announced.
        119 if !rest.data().starts_with(&[0x80, 0x21, 0x10]) => frame(rest.skip(144)?, false),
        119 | 163 => {
            let len = u32::from_be_bytes(*rest.array(4)?);
            frame(rest.skip(len as usize)?, false)
        }
        _ => per_packet(rest),
    }
}

/// PPI: version, flags, length and LINKTYPE of what follows, little-endian.
fn per_packet(rest: Rest<'_>) -> Step<'_> {
    let &[_, _, a, b, c, d, e, f]: &[u8; 8] = rest.head()?;
    let inner = rest.skip(usize::from(u16::from_le_bytes([a, b])))?;
    match u32::from_le_bytes([c, d, e, f]) {
        1 => Ok((Layer::Ethernet, inner)),
        105 => frame(inner, false),
        // Not itself again, which would not end.
        192 => Err(NotTcp::Malformed),
        n => links::first(n, inner),
    }
}

fn radiotap(rest: Rest<'_>) -> Step<'_> {
    let &[_, _, a, b, ..]: &[u8; 8] = rest.head()?;
    let len = usize::from(u16::from_le_bytes([a, b]));
    let present = u32::from_le_bytes(*rest.array(4)?);
    // Bit 31 says that another word of such bits follows; the fields come after the last.
    let mut at = 4;
    while at + 4 <= len && rest.u8(at + 3)? & 0x80 != 0 {
        at += 4;
    }
    at += 4;
    if present & 1 != 0 {
        at = at.next_multiple_of(8) + 8;
    }
    let flags = if present & 2 != 0 && at < len {
        rest.u8(at)?
    } else {
        0
    };
    frame(rest.skip(len)?, flags & 0x20 != 0)
}

/// An 802.11 frame; `padded`: the header is filled up to 4 bytes.
pub(crate) fn frame(rest: Rest<'_>, padded: bool) -> Step<'_> {
    const PROTECTED: u8 = 0x40;
    const MORE_FRAGMENTS: u8 = 0x04;
    let [control, flags]: [u8; 2] = *rest.head()?;
    let (kind, subtype) = (control >> 2 & 3, control >> 4);
    let no_data = subtype & 0x04 != 0;
    if kind != 2 || no_data || flags & (PROTECTED | MORE_FRAGMENTS) != 0 || rest.u8(22)? & 0x0f != 0
    {
        return Err(NotTcp::NotIp);
    }
    let four_addresses = flags & 3 == 3;
    let mut len = if four_addresses { 30 } else { 24 };
    let mut aggregated = false;
    if subtype & 0x08 != 0 {
        aggregated = rest.u8(len)? & 0x80 != 0;
        len += 2;
        // The order bit announces an HT control field in QoS frames.
        if flags & 0x80 != 0 {
            len += 4;
        }
    }
    if padded {
        len = len.next_multiple_of(4);
    }
    let body = rest.skip(len)?;
    if aggregated {
        let inner = u32::from(body.u16(12)?);
        return Ok((Layer::Llc, body.skip(14)?.limit(inner)));
    }
    Ok((Layer::Llc, body))
}
