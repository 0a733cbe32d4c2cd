//! What of an endpoint a frame may not change.

use super::pair::{Conn, Pair};

/// Fields that a segment outside the window may change. The kernel counts it and may answer it with an ACK (RFC 9293
/// 3.10.7.4). An old segment with data makes the next ACKs quick and is reported (`tcp_send_dupack()`, RFC 2883); when
/// it comes again, the hash changes (`tcp_rcv_spurious_retrans()`).
const ANSWERED: [&str; 16] = [
    "dsack",
    "dsack_start",
    "last_oow_ack_time",
    "saw_tstamp",
    "rcv_tsval",
    "rcv_tsecr",
    "segs_in",
    "segs_out",
    "data_segs_in",
    "quick",
    "pingpong",
    "ato",
    "wstamp_ns",
    "compressed",
    "told_us",
    "rehashes",
];

/// A host at one time: the connection that must stand, and the counters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Digest {
    endpoint: String,
    counters: String,
}

impl Digest {
    pub(super) fn of(pair: &mut Pair, live: &Conn) -> Self {
        let endpoint = match pair.end(live) {
            Some(endpoint) => format!("{endpoint:?}"),
            None => String::new(),
        };
        Self {
            endpoint,
            counters: pair.counters(),
        }
    }

    /// What is not the same: any field, any counter.
    pub(super) fn differs(&self, other: &Self) -> Option<String> {
        difference(&self.endpoint, &other.endpoint)
            .or_else(|| difference(&self.counters, &other.counters))
    }

    /// How the connections differ, apart from the fields that an answer may change ([`ANSWERED`]).
    pub(super) fn differs_in_stream(&self, other: &Self) -> Option<String> {
        if self.endpoint == other.endpoint {
            return None;
        }
        let [a, b] = [self, other].map(|digest| without(&digest.endpoint, &ANSWERED));
        difference(&a, &b)
    }
}

/// The field in which two texts begin to differ, with both values.
pub(super) fn difference(a: &str, b: &str) -> Option<String> {
    if a == b {
        return None;
    }
    let same = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b);
    // Debug texts of numbers and names: a boundary of characters, or nothing is shown.
    let head = a.get(..same.count()).unwrap_or_default();
    let colon = head.rfind(": ").unwrap_or(0);
    let from = head[..colon].rfind([' ', '{']).map_or(0, |at| at + 1);
    let field = |text: &str| -> String {
        let text = text.get(from..).unwrap_or_default();
        text.chars().take(80).collect()
    };
    Some(format!("{} became {}", field(a), field(b)))
}

/// The endpoint's text without these fields.
pub(super) fn without(text: &str, names: &[&str]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    'next: while !rest.is_empty() {
        if out.ends_with([' ', '{']) {
            for name in names {
                let value = rest.strip_prefix(name).and_then(|r| r.strip_prefix(": "));
                if let Some(value) = value {
                    rest = behind(value);
                    continue 'next;
                }
            }
        }
        let step = rest.find(' ').map_or(rest.len(), |at| at + 1);
        out.push_str(&rest[..step]);
        rest = &rest[step..];
    }
    out
}

/// Behind a value and its comma.
fn behind(text: &str) -> &str {
    let mut depth = 0_i32;
    for (at, c) in text.char_indices() {
        match c {
            '{' | '(' | '[' => depth += 1,
            '}' | ')' | ']' if depth == 0 => return &text[at..],
            '}' | ')' | ']' => depth -= 1,
            ',' if depth == 0 => return text.get(at + 2..).unwrap_or_default(),
            _ => {}
        }
    }
    ""
}
