//! Rule: no names that mean something on one machine only.
//!
//! Paths in somebody's home folder fail everywhere. Other words (host names,
//! customers, tools of one workplace) cannot stand here without breaking the rule;
//! a checkout lists them, one a line, in `.git/info/tidy-words`.

use super::report::Report;
use super::tree::{Kind, Tree};

pub const NAME: &str = "names";

const HOMES: &[&str] = &[
    concat!("/ho", "me/"),
    concat!("/Us", "ers/"),
    concat!("/ro", "ot/"),
];

pub fn check(tree: &Tree, report: &mut Report) {
    for file in tree
        .files
        .iter()
        .filter(|f| !matches!(f.kind, Kind::Binary | Kind::Lock))
    {
        for (number, line) in file.text.lines().enumerate().map(|(i, line)| (i + 1, line)) {
            for home in HOMES.iter().filter(|home| line.contains(**home)) {
                let what = format!("a path below `{home}`");
                report.fail(
                    &file.path,
                    number,
                    what,
                    "use a path relative to the repository",
                );
            }
            let lower = line.to_lowercase();
            for word in tree
                .local_words
                .iter()
                .filter(|word| has_word(&lower, word))
            {
                let what = format!("`{word}`, which .git/info/tidy-words forbids");
                report.fail(&file.path, number, what, "say it without the name");
            }
        }
    }
}

/// Whether `line` holds `word` (both in lower case) with no letter or digit joined
/// to those ends of it that are letters or digits.
fn has_word(line: &str, word: &str) -> bool {
    let joins = |inside: Option<char>, outside: Option<char>| {
        inside.is_some_and(char::is_alphanumeric) && outside.is_some_and(char::is_alphanumeric)
    };
    line.match_indices(word).any(|(at, found)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let after = line
            .get(at + found.len()..)
            .and_then(|text| text.chars().next());
        !joins(found.chars().next(), before) && !joins(found.chars().next_back(), after)
    })
}

#[cfg(test)]
mod tests {
    use super::super::report::{Report, failures_of};
    use super::super::tree::Tree;
    use super::{HOMES, check, has_word};

    #[test]
    fn fires_on_paths_in_a_home_folder() {
        for home in HOMES {
            let text = format!("see {home}me/x\n");
            assert_eq!(failures_of(check, &[("a.md", &text)]).len(), 1, "{home}");
        }
    }

    #[test]
    fn fires_on_the_words_of_the_checkout() {
        let mut tree = Tree::of(&[("a.md", "our Lab7 box\n"), ("b.md", "label7\n")]);
        tree.local_words = vec!["lab7".into()];
        let mut report = Report::default();
        check(&tree, &mut report);
        let found: Vec<_> = report
            .failures()
            .iter()
            .map(|f| (f.path.as_str(), f.line))
            .collect();
        assert_eq!(found, [("a.md", 1)]);
    }

    #[test]
    fn words_have_ends() {
        assert!(has_word("a lab7.", "lab7") && has_word("x/lab/y", "/lab/"));
        assert!(!has_word("collab7", "lab7") && !has_word("lab77", "lab7"));
    }
}
