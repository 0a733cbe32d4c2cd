//! ICMP messages of scripts as numbers.

use crate::script::IcmpSpec;
use crate::symbols;

/// Type, code and the second word of the header.
pub(super) fn numbers(spec: &IcmpSpec, is_v6: bool) -> Result<(u8, u8, u32), String> {
    let code = spec.code.as_ref().map(|c| c.value.as_str());
    let (kind, code) = symbols::icmp(is_v6, &spec.kind.value, code)?;
    Ok((kind, code, word(spec, kind, code, is_v6)?))
}

fn word(spec: &IcmpSpec, kind: u8, code: u8, is_v6: bool) -> Result<u32, String> {
    let mut word = u32::from(spec.echo_id) << 16;
    if let Some(mtu) = spec.mtu {
        word = match (is_v6, kind, code) {
            (true, 2, 0) => mtu,
            (false, 3, 4) => u32::from(u16::try_from(mtu).map_err(|_| "an MTU has 16 bits here")?),
            (true, ..) => return Err("`mtu` belongs to `packet_too_big`".into()),
            (false, ..) => return Err("`mtu` belongs to `unreachable frag_needed`".into()),
        };
    }
    Ok(word)
}
