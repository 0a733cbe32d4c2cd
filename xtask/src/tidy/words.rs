//! Rules: words that are forbidden in code.
//!
//! L0 to L3 have no input or output, threads, clock, randomness of the operating system, globals, or maps with an
//! unpredictable order. Their tests may open files, but not read the clock. (clippy.toml also forbids the clock, by
//! type; the workspace's lints forbid `unsafe`.) Product code does not unwrap. Code has no marks of unfinished work,
//! and files contain no names that mean something on one machine only.

use super::tree::{File, Kind, Tree};
use super::{Failures, failure, layers};

const CLOCK: &str = "take `now` as an argument";
const RANDOM: &str = "take a seeded stream of `base` as an argument";
const OUTSIDE: &str = "take `Read`, `Write` or data as an argument; open things in L4 and above";
const SHARED: &str = "no globals, no threads below L4: pass `&mut`";
const ORDER: &str = "use BTreeMap, or hashbrown's map with a hasher whose keys the caller gives";

/// What L0 to L3 do not say, in tests neither.
const NEVER_PURE: &[(&str, &str)] = &[
    ("time::Instant", CLOCK),
    ("time::*", CLOCK),
    ("SystemTime", CLOCK),
    ("UNIX_EPOCH", CLOCK),
    ("thread_rng", RANDOM),
    ("rand::", RANDOM),
    ("OsRng", RANDOM),
    ("os_rng", RANDOM),
    ("from_entropy", RANDOM),
    ("getrandom", RANDOM),
    ("RandomState", RANDOM),
];

/// What they do not say outside of tests.
const NOT_PURE: &[(&str, &str)] = &[
    (
        "std::{",
        "import one module of std a line, where this rule can read it",
    ),
    ("std::fs", OUTSIDE),
    ("std::env", OUTSIDE),
    ("std::os", OUTSIDE),
    ("std::process", OUTSIDE),
    ("net::*", OUTSIDE),
    ("TcpStream", OUTSIDE),
    ("TcpListener", OUTSIDE),
    ("UdpSocket", OUTSIDE),
    ("ToSocketAddrs", OUTSIDE),
    ("stdin()", OUTSIDE),
    ("stdout()", OUTSIDE),
    ("stderr()", OUTSIDE),
    ("print!(", OUTSIDE),
    ("println!(", OUTSIDE),
    ("libc::", OUTSIDE),
    ("nix::", OUTSIDE),
    ("std::thread", SHARED),
    ("thread_local!", SHARED),
    ("lazy_static!", SHARED),
    ("Mutex", SHARED),
    ("RwLock", SHARED),
    ("Condvar", SHARED),
    ("OnceLock", SHARED),
    ("LazyLock", SHARED),
    ("mpsc", SHARED),
    ("sync::atomic", SHARED),
    ("static mut ", SHARED),
    ("collections::HashMap", ORDER),
    ("collections::HashSet", ORDER),
    ("collections::hash_", ORDER),
    ("collections::*", ORDER),
    ("HashMap, ", ORDER),
    ("HashSet, ", ORDER),
    ("HashMap::new(", ORDER),
    ("HashSet::new(", ORDER),
];

const LATER: &str = "do it now, or write it down where users look";

/// What no code says. In halves, so that this file does not break its own rule.
const MARKERS: &[&str] = &[
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("XX", "X:"),
    concat!("todo", "!("),
    concat!("unimplemented", "!("),
    concat!("dbg", "!("),
];

/// Folders of one person.
const HOMES: &[&str] = &[
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
    concat!("/ro", "ot/"),
];

pub fn check(tree: &Tree) -> Failures {
    let mut out = Failures::new();
    for file in &tree.files {
        if is_pure(file) {
            out.extend(pure(file));
        }
        if file.kind == Kind::Rust && file.crate_name().is_some() {
            let way_out = "give an error, or say in `expect` why it cannot happen";
            let lines = file
                .product()
                .filter(|(_, line)| line.contains(".unwrap()"));
            out.extend(lines.map(|(n, _)| failure(&file.path, n, "`.unwrap()`", way_out)));
        }
        if !matches!(file.kind, Kind::Binary | Kind::Lock) {
            out.extend(anywhere(file, &tree.local_words));
        }
    }
    out
}

/// A file of a crate of L0 to L3.
fn is_pure(file: &File) -> bool {
    let level = file.crate_name().and_then(layers::level);
    let is_rust = file.kind == Kind::Rust && !file.path.ends_with("/build.rs");
    is_rust && level.is_some_and(|level| level <= layers::PURE_LEVEL)
}

fn pure(file: &File) -> Failures {
    let all = file.text.lines().enumerate().map(|(i, line)| (i + 1, line));
    let code = all.filter(|(_, line)| !line.trim_start().starts_with("//"));
    let never = of_list(file, code, NEVER_PURE);
    never
        .into_iter()
        .chain(of_list(file, file.product(), NOT_PURE))
        .collect()
}

fn of_list<'a>(
    file: &File,
    lines: impl Iterator<Item = (usize, &'a str)>,
    list: &[(&str, &str)],
) -> Failures {
    let mut out = Failures::new();
    for (number, line) in lines {
        if let Some((word, way_out)) = list.iter().find(|(word, _)| has_word(line, word)) {
            let what = format!("`{word}` in L0 to L3");
            out.push(failure(&file.path, number, &what, way_out));
        }
    }
    out
}

fn anywhere(file: &File, local_words: &[String]) -> Failures {
    let mut out = Failures::new();
    for (number, line) in file.text.lines().enumerate().map(|(i, line)| (i + 1, line)) {
        let mut fail = |what: &str, way_out| out.push(failure(&file.path, number, what, way_out));
        if let Some(marker) = MARKERS.iter().find(|marker| line.contains(**marker))
            && file.kind.is_code()
        {
            fail(&format!("`{marker}` in code"), LATER);
        }
        if let Some(home) = HOMES.iter().find(|home| line.contains(**home)) {
            fail(
                &format!("a path below `{home}`"),
                "use a path relative to the repository",
            );
        }
        let lower = line.to_lowercase();
        for word in local_words.iter().filter(|word| has_word(&lower, word)) {
            let what = format!("`{word}`, which .git/info/tidy-words forbids");
            fail(&what, "say it without the name");
        }
    }
    out
}

/// Whether `line` holds `word` with no letter or digit joined to those ends of it that are letters or digits.
pub fn has_word(line: &str, word: &str) -> bool {
    let joins = |inside: Option<char>, outside: Option<char>| {
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        inside.is_some_and(is_part) && outside.is_some_and(is_part)
    };
    line.match_indices(word).any(|(at, found)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let after = line.get(at + found.len()..);
        let after = after.and_then(|text| text.chars().next());
        !joins(found.chars().next(), before) && !joins(found.chars().next_back(), after)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often the rules fire on `text` as this file.
    fn fires(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn each_word_fires_once_in_a_pure_crate() {
        for (word, _) in NEVER_PURE.iter().chain(NOT_PURE) {
            let text = format!("fn f() {{ {word} x }}\n");
            assert_eq!(fires("crates/base/src/a.rs", &text), 1, "{word}");
            assert_eq!(fires("crates/kernel/src/a.rs", &text), 0, "{word}");
        }
        for bad in [
            "use std::{fs, fmt};",
            "use std::collections::{BTreeMap, HashMap, BTreeSet};",
            "let t = Instant::now(); use std::time::Instant;",
            "fn f() { assert!(std::env::var(\"X\").is_ok()); }",
        ] {
            assert_eq!(fires("crates/base/src/a.rs", bad), 1, "{bad}");
        }
        for good in [
            "use std::net::{IpAddr, Ipv6Addr};",
            "use std::time::Duration;",
            "use hashbrown::HashMap;",
            "use crate::time_of;",
            "fn operands() {}",
            "// std::fs is for others",
        ] {
            assert_eq!(fires("crates/base/src/a.rs", good), 0, "{good}");
        }
    }

    #[test]
    fn tests_may_open_files_but_not_read_the_clock() {
        let module = |body: &str| format!("\n#[cfg(test)]\nmod tests {{\n{body}\n}}\n");
        assert_eq!(
            fires("crates/base/src/a.rs", &module("use std::fs;\nx.unwrap();")),
            0
        );
        assert_eq!(
            fires("crates/base/src/a.rs", &module("use std::time::Instant;")),
            1
        );
        let both = "use std::time::Instant;\nuse std::fs;\n";
        assert_eq!(fires("crates/base/tests/a.rs", both), 1);
    }

    #[test]
    fn product_code_does_not_unwrap() {
        assert_eq!(fires("crates/cli/src/a.rs", "x.unwrap();\n"), 1);
        assert_eq!(fires("crates/cli/src/a.rs", "/// x.unwrap();\n"), 0);
        assert_eq!(fires("crates/cli/tests/a.rs", "x.unwrap();\n"), 0);
    }

    #[test]
    fn markers_homes_and_local_words() {
        for word in MARKERS {
            assert_eq!(fires("a.py", &format!("# {word}\n")), 1, "{word}");
            assert_eq!(fires("a.md", &format!("{word}\n")), 0, "{word}");
        }
        for home in HOMES {
            assert_eq!(fires("a.md", &format!("see {home}me/x\n")), 1, "{home}");
        }
        let mut tree = Tree::of(&[
            ("a.md", "our Lab7 box\n"),
            ("b.md", "label7 collab7 lab77\n"),
        ]);
        tree.local_words = vec!["lab7".into()];
        assert_eq!(check(&tree).len(), 1);
    }
}
