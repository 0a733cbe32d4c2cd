//! Types and codes of ICMP (RFC 792, RFC 1812) and ICMPv6 (RFC 4443) by the words of scripts.

const V4_TYPES: &[(&str, u8)] = &[
    ("echo_reply", 0),
    ("unreachable", 3),
    ("source_quench", 4),
    ("redirect", 5),
    ("echo_request", 8),
    ("time_exceeded", 11),
    ("parameter_problem", 12),
    ("timestamp_request", 13),
    ("timestamp_reply", 14),
    ("information_request", 15),
    ("information_reply", 16),
    ("address_mask_request", 17),
    ("address_mask_reply", 18),
];

const V4_UNREACHABLE: &[(&str, u8)] = &[
    ("net_unreachable", 0),
    ("host_unreachable", 1),
    ("protocol_unreachable", 2),
    ("port_unreachable", 3),
    ("frag_needed", 4),
    ("source_route_failed", 5),
    ("net_unknown", 6),
    ("host_unknown", 7),
    ("source_host_isolated", 8),
    ("net_prohibited", 9),
    ("host_prohibited", 10),
    ("net_unreachable_for_tos", 11),
    ("host_unreachable_for_tos", 12),
    ("packet_filtered", 13),
    ("precedence_violation", 14),
    ("precedence_cutoff", 15),
];

const V4_TIME_EXCEEDED: &[(&str, u8)] =
    &[("ttl_exceeded_in_transit", 0), ("frag_reass_exceeded", 1)];

const V6_TYPES: &[(&str, u8)] = &[
    ("unreachable", 1),
    ("packet_too_big", 2),
    ("time_exceeded", 3),
    ("parameter_problem", 4),
    ("echo_request", 128),
    ("echo_reply", 129),
];

const V6_UNREACHABLE: &[(&str, u8)] = &[
    ("net_unreachable", 0),
    ("no_route", 0),
    ("admin_prohibited", 1),
    ("not_neighbour", 2),
    ("address_unreachable", 3),
    ("port_unreachable", 4),
];

const V6_TIME_EXCEEDED: &[(&str, u8)] = &[("exceeded_hop_limit", 0), ("exceeded_frag_time", 1)];

const V6_PARAMETER_PROBLEM: &[(&str, u8)] = &[
    ("header_field", 0),
    ("unknown_next_header", 1),
    ("unknown_option", 2),
];

/// Type and code of an ICMP message as numbers; `type_N` and `code_N` say a number. No code is 0.
///
/// # Errors
/// The words are not known, with those that are.
pub fn icmp(is_v6: bool, kind: &str, code: Option<&str>) -> Result<(u8, u8), String> {
    let types = if is_v6 { V6_TYPES } else { V4_TYPES };
    let version = if is_v6 { "ICMPv6" } else { "ICMP" };
    let number = numbered(kind, "type_").or_else(|| find(types, kind));
    let number = number.ok_or_else(|| unknown(&format!("a type of {version}"), kind, types))?;
    let Some(code) = code else {
        return Ok((number, 0));
    };
    let codes = codes(is_v6, number);
    let found = numbered(code, "code_").or_else(|| find(codes, code));
    let found =
        found.ok_or_else(|| unknown(&format!("a code of {version}'s `{kind}`"), code, codes))?;
    Ok((number, found))
}

/// Type and code in the words of scripts, for messages: `unreachable frag_needed`, `type_200 code_7`.
pub fn icmp_names(is_v6: bool, kind: u8, code: u8) -> String {
    let types = if is_v6 { V6_TYPES } else { V4_TYPES };
    let word = |table: &[(&'static str, u8)], n: u8| {
        let found = table.iter().find(|(_, number)| *number == n);
        found.map(|(name, _)| *name)
    };
    let mut text = word(types, kind).map_or_else(|| format!("type_{kind}"), str::to_string);
    match word(codes(is_v6, kind), code) {
        Some(name) => text += &format!(" {name}"),
        None if code == 0 => {}
        None => text += &format!(" code_{code}"),
    }
    text
}

fn codes(is_v6: bool, kind: u8) -> &'static [(&'static str, u8)] {
    match (is_v6, kind) {
        (false, 3) => V4_UNREACHABLE,
        (false, 11) => V4_TIME_EXCEEDED,
        (true, 1) => V6_UNREACHABLE,
        (true, 3) => V6_TIME_EXCEEDED,
        (true, 4) => V6_PARAMETER_PROBLEM,
        _ => &[],
    }
}

fn numbered(word: &str, prefix: &str) -> Option<u8> {
    word.strip_prefix(prefix)?.parse().ok()
}

fn find(table: &[(&str, u8)], word: &str) -> Option<u8> {
    let found = table.iter().find(|(name, _)| *name == word);
    found.map(|(_, number)| *number)
}

fn unknown(what: &str, word: &str, table: &[(&str, u8)]) -> String {
    let near = crate::nearest::hint(word, table.iter().map(|(name, _)| *name));
    format!("`{word}` is not {what}{near}")
}

#[cfg(test)]
mod tests {
    use super::icmp;

    #[test]
    fn words_and_numbers() {
        for (is_v6, kind, code, expected) in [
            (false, "unreachable", None, Ok((3, 0))),
            (false, "unreachable", Some("frag_needed"), Ok((3, 4))),
            (false, "type_200", Some("code_7"), Ok((200, 7))),
            (true, "packet_too_big", None, Ok((2, 0))),
            (true, "unreachable", Some("address_unreachable"), Ok((1, 3))),
            (
                true,
                "unreachable",
                Some("port_unreachabel"),
                Err(
                    "`port_unreachabel` is not a code of ICMPv6's `unreachable`; did you mean `port_unreachable`?",
                ),
            ),
            (
                false,
                "packet_too_big",
                None,
                Err("`packet_too_big` is not a type of ICMP"),
            ),
            (
                false,
                "type_256",
                None,
                Err("`type_256` is not a type of ICMP"),
            ),
            (
                false,
                "echo_reply",
                Some("net_unknown"),
                Err("`net_unknown` is not a code of ICMP's `echo_reply`"),
            ),
        ] {
            let got = icmp(is_v6, kind, code);
            assert_eq!(got, expected.map_err(str::to_string), "{kind} {code:?}");
        }
    }
}
