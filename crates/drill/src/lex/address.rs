//! The lengths of IP addresses at the beginning of a text. Sequence numbers (`1:1001`, `1001:2001 3001:4001`) do not
//! match: an IPv6 address has `::` or eight groups.

/// Length in bytes of the IPv4 address at the beginning of `bytes`; 0 when there is no address.
pub fn ipv4(bytes: &[u8]) -> usize {
    let mut at = 0;
    for part in 0..4 {
        if part > 0 {
            if bytes.get(at) != Some(&b'.') {
                return 0;
            }
            at += 1;
        }
        match super::digits(&bytes[at..]) {
            0 => return 0,
            digits => at += digits,
        }
    }
    at
}

/// Length in bytes of the IPv6 address at the beginning of `bytes`; 0 when there is no address.
pub fn ipv6(bytes: &[u8]) -> usize {
    let (before, mut at) = groups(bytes, 8);
    if before == 8 {
        return at;
    }
    // `::` after the groups: they may have been read with one of its colons.
    if !bytes[at..].starts_with(b"::") {
        return 0;
    }
    at += 2;
    let room = 7 - before;
    let (_, after) = groups(&bytes[at..], room);
    let mapped = mapped(&bytes[at..], room);
    at + after.max(mapped)
}

/// Groups of hexadecimal digits with `:` between, at most `most`: their number and their length.
fn groups(bytes: &[u8], most: usize) -> (usize, usize) {
    let (mut number, mut at) = (0, 0);
    while number < most {
        let start = match number {
            0 => at,
            _ if bytes.get(at) == Some(&b':') => at + 1,
            _ => break,
        };
        let len = super::run(&bytes[start..], |b| b.is_ascii_hexdigit());
        if len == 0 {
            break;
        }
        // A group has four digits; what follows is another token, so a longer word ends the address before it.
        if len > 4 || bytes.get(start + len).is_some_and(|&b| super::is_word(b)) {
            break;
        }
        number += 1;
        at = start + len;
    }
    (number, at)
}

/// An IPv4 address behind `::`, perhaps with groups before it.
fn mapped(bytes: &[u8], room: usize) -> usize {
    let mut at = 0;
    for _ in 0..=room {
        let len = ipv4(&bytes[at..]);
        if len > 0 {
            return at + len;
        }
        let group = super::run(&bytes[at..], |b| b.is_ascii_hexdigit());
        if group == 0 || bytes.get(at + group) != Some(&b':') {
            return 0;
        }
        at += group + 1;
    }
    0
}
