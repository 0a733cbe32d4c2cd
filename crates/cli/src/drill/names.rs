//! File names that differ: paths lose their separators in a name, so two of them may come to the same one.

use std::collections::BTreeSet;

/// Names that are given.
#[derive(Default)]
pub struct Names(BTreeSet<String>);

impl Names {
    /// `stem` with `end`; if that name is given already, with the first free number between them.
    pub fn take(&mut self, stem: &str, end: &str) -> String {
        let numbered = (2..).map(|number: usize| format!("{stem}-{number}{end}"));
        let mut wanted = std::iter::once(format!("{stem}{end}")).chain(numbered);
        let name = wanted.find(|name| !self.0.contains(name));
        let name = name.unwrap_or_default();
        self.0.insert(name.clone());
        name
    }
}

/// A path as a part of a file's name.
pub fn dashed(path: &str) -> String {
    path.trim_start_matches(['.', '/'])
        .replace(['/', '\\'], "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_is_given_twice() {
        let mut names = Names::default();
        let given = ["a", "a", "a-2", "a"].map(|stem| names.take(stem, ".x"));
        assert_eq!(given, ["a.x", "a-2.x", "a-2-2.x", "a-3.x"]);
    }
}
