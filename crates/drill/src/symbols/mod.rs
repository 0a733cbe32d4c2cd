//! What the words of scripts stand for: Linux's numbers on x86-64, and back to words for messages.

mod cap;
mod file;
mod foreign;
mod icmp;
mod inet;
mod socket;
mod time;

pub use foreign::{Foreign, foreign};
pub use icmp::{icmp, icmp_names};

const TABLES: &[&[(&str, i64)]] = &[
    socket::SOCKET,
    inet::INET,
    file::FILE,
    time::TIME,
    tcplab_base::Errno::NAMED,
    cap::CAP,
];

/// The number that `word` stands for.
pub fn number(word: &str) -> Option<i64> {
    // As Google's does, names that Linux only has with an underscore before them are known with it.
    let word = word.strip_prefix('_').unwrap_or(word);
    let mut all = TABLES.iter().copied().flatten();
    all.find(|(name, _)| *name == word)
        .map(|(_, number)| *number)
}

/// The number of a name while this crate is built: a name that no table has does not compile.
pub(crate) const fn constant(name: &str) -> i64 {
    let mut table = 0;
    while table < TABLES.len() {
        let mut at = 0;
        while at < TABLES[table].len() {
            if is_same(TABLES[table][at].0.as_bytes(), name.as_bytes()) {
                return TABLES[table][at].1;
            }
            at += 1;
        }
        table += 1;
    }
    panic!("no table of symbols has this name")
}

const fn is_same(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

/// The number that `word` stands for.
///
/// # Errors
/// It is not known, with the word that is nearest.
pub fn number_or_hint(word: &str) -> Result<i64, String> {
    number(word).ok_or_else(|| {
        let all = TABLES.iter().copied().flatten().map(|(name, _)| *name);
        format!(
            "`{word}` is not a symbol that we know{}",
            crate::nearest::hint(word, all)
        )
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn words_stand_for_the_kernel_s_numbers() {
        for (word, expected) in [
            ("SOL_SOCKET", Some(1)),
            ("SO_ZEROCOPY", Some(60)),
            ("SOCK_NONBLOCK", Some(0o4000)),
            ("TCP_FASTOPEN_CONNECT", Some(30)),
            ("TCP_CA_Recovery", Some(3)),
            ("EPOLLET", Some(1 << 31)),
            ("MSG_FASTOPEN", Some(0x2000_0000)),
            ("EWOULDBLOCK", Some(11)),
            ("_TCP_NLA_SRTT", Some(22)),
            ("SIOCOUTQ", Some(0x5411)),
            ("IP_RECVERR", Some(11)),
            ("IPV6_RECVERR", Some(25)),
            ("NULL", Some(0)),
            ("touch", None),
        ] {
            assert_eq!(number(word), expected, "{word}");
        }
    }

    #[test]
    fn no_word_stands_for_two_numbers() {
        let mut known = BTreeMap::new();
        for (name, number) in TABLES.iter().copied().flatten() {
            assert_eq!(known.insert(*name, *number), None, "{name}");
        }
    }

    #[test]
    fn an_unknown_word_has_a_neighbour() {
        let message = number_or_hint("SO_RCVBUFF").unwrap_err();
        assert_eq!(
            message,
            "`SO_RCVBUFF` is not a symbol that we know; did you mean `SO_RCVBUF`?"
        );
    }
}
