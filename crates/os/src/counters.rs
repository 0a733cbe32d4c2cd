//! The kernel's counters by nstat's names: `TcpExtDelayedACKs`, `TcpRetransSegs`, `Ip6InReceives`.
//!
//! From `/proc/net/netstat`, `snmp` and `snmp6` of the calling thread's network namespace. The
//! first two hold pairs of lines, names and values, with the same first word; the last one holds a
//! name and a value a line.

use std::collections::BTreeMap;
use std::fs;
use std::io;

/// Values by names, in the order of the names.
pub type Counters = BTreeMap<String, i64>;

const PAIRED: [&str; 2] = [
    "/proc/thread-self/net/netstat",
    "/proc/thread-self/net/snmp",
];
const SINGLE: &str = "/proc/thread-self/net/snmp6";

/// Reads all counters of the calling thread's network namespace.
///
/// # Errors
/// When `/proc` cannot be read. A kernel without IPv6 has no snmp6: its counters are absent.
pub fn read() -> io::Result<Counters> {
    let mut counters = Counters::new();
    for path in PAIRED {
        parse_paired(&fs::read_to_string(path)?, &mut counters);
    }
    match fs::read_to_string(SINGLE) {
        Ok(text) => parse_single(&text, &mut counters),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) => return Err(e),
    }
    Ok(counters)
}

/// The columns of a device in a text such as `/proc/thread-self/net/dev`.
pub fn of_device<'a>(
    text: &'a str,
    device: &str,
) -> Option<impl Iterator<Item = Option<i64>> + use<'a>> {
    let columns = text.lines().find_map(|line| {
        let (name, columns) = line.split_once(':')?;
        (name.trim() == device).then_some(columns)
    });
    Some(columns?.split_whitespace().map(number))
}

/// How much each counter of `after` has grown. One that `before` lacks has begun at 0: the kernel
/// shows some (`IcmpMsgOutType3`) only once they count. Gauges (`TcpCurrEstab`) may go down. Settings that stand among
/// them (`IpDefaultTTL`) do not grow, whoever changes them.
pub fn difference(before: &Counters, after: &Counters) -> Counters {
    let since = |name: &String| before.get(name).copied().unwrap_or(0);
    let grown = |name: &String, value: i64| match SETTINGS.contains(&name.as_str()) {
        true => 0,
        false => value.wrapping_sub(since(name)),
    };
    after
        .iter()
        .map(|(name, value)| (name.clone(), grown(name, *value)))
        .collect()
}

/// Values in `/proc/net/snmp` that count nothing.
const SETTINGS: [&str; 6] = [
    "IpForwarding",
    "IpDefaultTTL",
    "TcpRtoAlgorithm",
    "TcpRtoMin",
    "TcpRtoMax",
    "TcpMaxConn",
];

/// Pairs of lines: `TcpExt: SyncookiesSent SyncookiesRecv`, `TcpExt: 0 0`.
fn parse_paired(text: &str, into: &mut Counters) {
    let mut lines = text.lines();
    while let (Some(names), Some(values)) = (lines.next(), lines.next()) {
        let (Some((prefix, names)), Some((same, values))) =
            (names.split_once(':'), values.split_once(':'))
        else {
            continue;
        };
        if prefix != same {
            continue;
        }
        let pairs = names.split_whitespace().zip(values.split_whitespace());
        into.extend(
            pairs.filter_map(|(name, value)| Some((format!("{prefix}{name}"), number(value)?))),
        );
    }
}

/// Lines of a name and a value: `Ip6InReceives    123`.
fn parse_single(text: &str, into: &mut Counters) {
    into.extend(text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let name = words.next()?;
        Some((name.to_owned(), number(words.next()?)?))
    }));
}

/// A counter is unsigned and may wrap; `TcpMaxConn` is -1.
fn number(text: &str) -> Option<i64> {
    let wrapped = |n: u64| i64::from_ne_bytes(n.to_ne_bytes());
    text.parse().ok().or_else(|| text.parse().ok().map(wrapped))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paired(text: &str) -> Vec<(String, i64)> {
        let mut counters = Counters::new();
        parse_paired(text, &mut counters);
        counters.into_iter().collect()
    }

    #[test]
    fn names_are_nstats() {
        let text = "TcpExt: SyncookiesSent DelayedACKs\nTcpExt: 0 5140\n\
                    Tcp: MaxConn RetransSegs\nTcp: -1 18446744073709551615\n";
        let found = paired(text);
        let want = [
            ("TcpExtDelayedACKs", 5140),
            ("TcpExtSyncookiesSent", 0),
            ("TcpMaxConn", -1),
            ("TcpRetransSegs", -1),
        ];
        assert_eq!(found, want.map(|(n, v)| (n.to_owned(), v)));
    }

    #[test]
    fn changed_setting_is_no_growth() {
        let of = |ttl, opens| {
            Counters::from([
                ("IpDefaultTTL".into(), ttl),
                ("TcpActiveOpens".into(), opens),
            ])
        };
        assert_eq!(difference(&of(64, 1), &of(3, 5)), of(0, 4));
    }

    #[test]
    fn what_a_device_dropped_is_read() {
        let text = "Inter-|   Receive  |  Transmit\n face |bytes\n    lo: 1 2 0 0 0 0 0 0 3 4 0 5 0 0 0 0\n\
                    tcplab0:9 8 7 6 5 4 3 2 1 10 11 73068 13 14 15 16\n";
        let dropped = |device| of_device(text, device)?.nth(11)?;
        assert_eq!(dropped("tcplab0"), Some(73_068));
        assert_eq!(dropped("lo"), Some(5));
        assert_eq!(dropped("tcplab1"), None);
        assert!(of_device("x: 1 2", "x").unwrap().nth(11).is_none());
    }

    #[test]
    fn other_text_gives_what_can_be_read() {
        let none: [(String, i64); 0] = [];
        for text in [
            "",
            "\n\n\n",
            "Tcp: A",
            "Tcp: A\nIp: 1",
            "Tcp A\nTcp 1",
            ":\n:",
        ] {
            assert_eq!(paired(text), none, "{text:?}");
        }
        assert_eq!(
            paired("T: A B C\nT: x 1"),
            [("TB".to_owned(), 1)],
            "more names than values"
        );
        let mut counters = Counters::new();
        parse_single("Ip6InReceives 7\nIp6\n\nIp6X x\n", &mut counters);
        assert_eq!(
            counters.into_iter().collect::<Vec<_>>(),
            [("Ip6InReceives".to_owned(), 7)]
        );
    }

    #[test]
    fn differences() {
        let of = |pairs: &[(&str, i64)]| -> Counters {
            pairs.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect()
        };
        let before = of(&[("A", 5), ("Gone", 1), ("Wraps", -1)]);
        let after = of(&[("A", 15), ("New", 3), ("Wraps", 1)]);
        let want = of(&[("A", 10), ("New", 3), ("Wraps", 2)]);
        assert_eq!(difference(&before, &after), want);
    }

    #[test]
    fn this_machine() {
        let counters = read().unwrap();
        assert!(counters.contains_key("TcpExtDelayedACKs"));
        assert!(counters.contains_key("TcpRetransSegs"));
    }
}
