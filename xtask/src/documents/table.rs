//! Commands in a table that are run, with files in place of the words that stand for some.
//!
//! `<!-- example: run below: FILE=tests/a.pcap -->` before a table has `tcplab analyze FILE` run in it. A command is run when
//! something was put in and its stack is the model.

use super::shell;
use super::usage::{filled, plain};

/// The commands of a span that can be run, as lines of shell. `with` is `NAME=VALUE` for each word.
pub fn runnable(span: &str, with: &str) -> Vec<String> {
    let pairs: Vec<(&str, &str)> = with
        .split_whitespace()
        .filter_map(|pair| pair.split_once('='))
        .collect();
    let commands = shell::commands(&plain(span));
    let lines = commands.iter().filter_map(|words| line(words, &pairs));
    lines.collect()
}

fn line(words: &[String], pairs: &[(&str, &str)]) -> Option<String> {
    let (mut line, mut is_filled) = (String::new(), false);
    for word in filled(words) {
        let needs_more = ["uml:", "ssh:", "host"];
        let stands_for_something =
            |word: &str| word.len() > 1 && word.chars().all(|c| c.is_ascii_uppercase() || c == '_');
        let found = pairs.iter().find(|(name, _)| *name == word);
        is_filled |= found.is_some();
        let word = found.map_or(word.as_str(), |(_, value)| value);
        if stands_for_something(word) || needs_more.iter().any(|it| word.starts_with(it)) {
            return None;
        }
        line.push_str(&format!("'{word}' "));
    }
    (is_filled && words[0] == "tcplab").then(|| line.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_with_files_put_in_are_run() {
        let with = "FILE=a.pcap X.toml=b.toml";
        assert_eq!(
            runnable("tcplab analyze --json FILE...", with),
            ["'tcplab' 'analyze' '--json' 'a.pcap'"]
        );
        assert_eq!(runnable("tcplab run X.toml", with).len(), 1);
        for left_out in [
            "tcplab stacks",
            "tcplab run X.toml --on uml:6.1",
            "tcplab run X.toml --bad EXPRESSION",
            "jq FILE",
        ] {
            assert!(runnable(left_out, with).is_empty(), "{left_out}");
        }
    }
}
