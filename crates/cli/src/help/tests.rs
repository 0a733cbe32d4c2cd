//! Every word that pages and definitions name has an answer.

use std::path::Path;

use super::*;

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn open(word: &str) -> String {
    answer(&Theme::default(), word).unwrap_or_else(|_| panic!("no entry for {word}"))
}

#[test]
fn every_word_of_the_glossary_opens() {
    let page = pages::markdown("glossary").unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| **"));
    let mut words = 0;
    for row in rows {
        let first = paper::cells(row).remove(0);
        let (word, also) = first.split_once(" (").unwrap_or((&first, ""));
        let also = also.trim_end_matches(')').split(", ");
        for word in std::iter::once(word).chain(also.filter(|w| !w.is_empty())) {
            assert!(!open(word).is_empty(), "{word}");
            words += 1;
        }
    }
    assert!(words > 150, "{words}");
}

#[test]
fn every_name_of_the_reference_opens() {
    for name in reference::names() {
        let text = open(&name);
        assert!(text.lines().count() >= 3, "{name}: {text}");
    }
    for word in [
        "host.sysctl",
        "sysctl",
        "tcp_sack",
        "net.ipv4.tcp_sack",
        "model:linux-4.6",
        "client.acks.delayed",
        "exit code 3",
        "130",
        "Quick ACKs",
        "time budgets",
    ] {
        assert!(!open(word).is_empty(), "{word}");
    }
}

#[test]
fn every_page_opens_and_is_in_the_list() {
    let list = open(ALL);
    let mut pages: Vec<String> = std::fs::read_dir(root().join("docs"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".md"))
        .collect();
    pages.sort();
    let known: Vec<String> = pages::names().map(|name| format!("{name}.md")).collect();
    assert_eq!(known, pages, "crates/cli/src/help/pages.rs lists the pages");
    for page in pages {
        assert!(list.contains(&page), "{page}");
        assert!(open(&page).lines().count() > 3, "{page}");
        assert!(!open(&page).contains("<!--"), "{page}");
    }
}

#[test]
fn pages_that_texts_mention_exist() {
    let list = glossary::names().into_iter().map(open).collect::<String>();
    for (_, rest) in list.match_indices("docs/").map(|(at, _)| list.split_at(at)) {
        let name = rest.split(['`', ' ', ',', '\n']).next().unwrap_or_default();
        let name = name.trim_end_matches('.');
        assert!(root().join(name).exists(), "{name}");
    }
}

#[test]
fn a_section_opens_by_its_heading() {
    let text = open("Ctrl-C and SIGTERM");
    assert!(
        text.contains("docs/exit-codes.md") && text.contains("130"),
        "{text}"
    );
}

#[test]
fn an_unknown_word_gets_suggestions() {
    let message = |word: &str| unknown(word);
    assert!(
        message("nagel").contains("did you mean `Nagle`"),
        "{}",
        message("nagel")
    );
    assert!(message("quickack_exausted").contains("`quickack_exhausted`"));
    assert!(
        message("delay").contains("`delayed ACK`"),
        "{}",
        message("delay")
    );
    assert!(message("xyzzyxyzzy").contains("help words` lists"));
    assert!(!message("a\x1b[2Jb").contains('\x1b'));
}
