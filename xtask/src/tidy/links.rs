//! Rule: a relative link in a Markdown file leads to something that exists.

use super::tree::{Kind, Tree};
use super::{Failures, failure};

pub fn check(tree: &Tree) -> Failures {
    let mut out = Failures::new();
    for file in tree.files.iter().filter(|file| file.kind == Kind::Markdown) {
        let folder = file.path.rsplit_once('/').map_or("", |(folder, _)| folder);
        for (number, line) in outside_code(&file.text) {
            for target in targets(line) {
                let Some(path) = resolve(folder, target) else {
                    continue;
                };
                if !tree.has(&path) {
                    let what = format!("link to `{target}`, which does not exist");
                    let way_out = "correct or remove the link";
                    out.push(failure(&file.path, number, &what, way_out));
                }
            }
        }
    }
    out
}

/// The numbered lines that are not in a fenced block.
fn outside_code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    text.lines()
        .enumerate()
        .map(|(i, line)| (i + 1, line))
        .filter(move |(_, line)| {
            let is_fence = line.trim_start().starts_with("```");
            in_code ^= is_fence;
            !in_code && !is_fence
        })
}

/// The targets of the links `[text](target)` in a line.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')').map(|(target, _)| target))
}

/// The path that a relative target means; `None` for what is not a file here.
fn resolve(folder: &str, target: &str) -> Option<String> {
    let path = target.split('#').next().unwrap_or("");
    if path.is_empty() || path.contains("://") || path.starts_with("mailto:") {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            name => parts.push(name),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fires_on_a_dead_link_only() {
        let text = "[a](b.md#x) [c](../README.md) [d](gone.md)\n[e](https://x.org/y) [f](#here)\n\
                    ```\n[g](in-code.md)\n```\n[h](..)\n";
        let samples = [("docs/a.md", text), ("docs/b.md", ""), ("README.md", "")];
        let failures = check(&Tree::of(&samples));
        assert_eq!(failures.len(), 1);
        assert!(failures[0].contains("link to `gone.md`, which does not exist"));
    }
}
