//! Words of scripts that only other systems have: a script that names one is skipped, and says which.

/// What a word belongs to that is not there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Foreign {
    /// A socket option or a sysctl of FreeBSD.
    FreeBsd(&'static str),
    /// Another transport protocol: its calls and structures have a grammar of their own.
    Protocol(&'static str),
}

/// Beginnings of names, with what they belong to.
const BEGINNINGS: &[(&str, Foreign)] = &[
    ("IPPROTO_SCTP", Foreign::Protocol("SCTP")),
    ("IPPROTO_UDPLITE", Foreign::Protocol("UDP-Lite")),
    ("SCTP_", Foreign::Protocol("SCTP")),
    ("sctp_", Foreign::Protocol("SCTP")),
    ("UDPLITE_", Foreign::Protocol("UDP-Lite")),
    ("IPV6_USE_MIN_MTU", SOCKET_OPTION),
    ("TCP_BBR_", SOCKET_OPTION),
    ("TCP_FUNCTION_BLK", SOCKET_OPTION),
    ("TCP_KEEPINIT", SOCKET_OPTION),
    ("TCP_NOOPT", SOCKET_OPTION),
    ("TCP_NOPUSH", SOCKET_OPTION),
    ("TCP_RACK_", SOCKET_OPTION),
    ("TCP_REMOTE_UDP_ENCAPS_PORT", SOCKET_OPTION),
    ("TCP_RST_REASON", SOCKET_OPTION),
    ("kern.", SYSCTL),
    ("net.inet.", SYSCTL),
    ("net.inet6.", SYSCTL),
    ("security.bsd.", SYSCTL),
];

const SOCKET_OPTION: Foreign = Foreign::FreeBsd("socket option");
const SYSCTL: Foreign = Foreign::FreeBsd("sysctl");

/// Why nothing here has this word; none: it may be known.
pub fn foreign(word: &str) -> Option<(Foreign, String)> {
    let (_, of) = BEGINNINGS
        .iter()
        .find(|(start, _)| word.starts_with(start))?;
    let what = match of {
        Foreign::FreeBsd(what) => format!("names {word}, a FreeBSD {what}"),
        Foreign::Protocol(name) => {
            format!("names {word}: {name} is not supported, only TCP, UDP and ICMP")
        }
    };
    Some((*of, what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_other_systems_are_named() {
        for (word, expected) in [
            (
                "net.inet.tcp.rexmit_min",
                Some("names net.inet.tcp.rexmit_min, a FreeBSD sysctl"),
            ),
            (
                "TCP_NOOPT",
                Some("names TCP_NOOPT, a FreeBSD socket option"),
            ),
            (
                "sctp_bindx",
                Some("names sctp_bindx: SCTP is not supported, only TCP, UDP and ICMP"),
            ),
            ("net.ipv4.tcp_sack", None),
            ("kernel.msgmax", None),
            ("TCP_NODELAY", None),
        ] {
            let found = foreign(word).map(|(_, what)| what);
            assert_eq!(found.as_deref(), expected, "{word}");
            assert!(found.is_none() || super::super::number(word).is_none());
        }
    }
}
