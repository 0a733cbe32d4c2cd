//! The files of the repository that the rules look at, read once.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

/// Folders that hold what tools make, never what people write.
pub const SKIPPED_FOLDERS: &[&str] = &[
    ".git",
    "target",
    "node_modules",
    "dist",
    "__pycache__",
    ".pytest_cache",
];

/// What kind of text a file is, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Rust,
    /// TypeScript and JavaScript.
    Script,
    Python,
    Shell,
    Style,
    Make,
    Toml,
    Markdown,
    /// Lock files: written by tools.
    Lock,
    /// Anything else that is UTF-8.
    Text,
    /// Not UTF-8: captures, images. `text` is empty.
    Binary,
}

impl Kind {
    /// The kind of the file at `path`; `text` settles scripts without an ending.
    fn of(path: &str, text: Option<&str>) -> Kind {
        let name = path.rsplit('/').next().unwrap_or(path);
        let Some(text) = text else {
            return Kind::Binary;
        };
        if matches!(name, "Cargo.lock" | "package-lock.json") {
            return Kind::Lock;
        }
        match name.rsplit_once('.').map(|(_, ending)| ending) {
            Some("rs") => Kind::Rust,
            Some("ts" | "tsx" | "js" | "mjs" | "cjs") => Kind::Script,
            Some("py") => Kind::Python,
            Some("sh") => Kind::Shell,
            Some("css") => Kind::Style,
            Some("toml") => Kind::Toml,
            Some("md") => Kind::Markdown,
            Some("mk") => Kind::Make,
            _ if name == "Makefile" => Kind::Make,
            _ => Kind::by_first_line(text),
        }
    }

    fn by_first_line(text: &str) -> Kind {
        let first = text.lines().next().unwrap_or("");
        match first.strip_prefix("#!") {
            Some(program) if program.contains("python") => Kind::Python,
            Some(program) if program.contains("node") => Kind::Script,
            Some(program) if program.ends_with("sh") => Kind::Shell,
            _ => Kind::Text,
        }
    }

    /// Code that people write: size limits and heads apply.
    pub fn is_code(self) -> bool {
        matches!(
            self,
            Kind::Rust | Kind::Script | Kind::Python | Kind::Shell | Kind::Style | Kind::Make
        )
    }
}

/// One file.
pub struct File {
    /// Path from the repository's root, with `/`.
    pub path: String,
    pub kind: Kind,
    /// The text; empty for [`Kind::Binary`].
    pub text: String,
    /// Size on disk.
    pub bytes: usize,
    /// Rust that is compiled for tests and benches only.
    pub is_test: bool,
}

impl File {
    fn new(path: String, content: Vec<u8>) -> File {
        let bytes = content.len();
        let text = String::from_utf8(content).ok();
        let kind = Kind::of(&path, text.as_deref());
        let text = text.unwrap_or_default();
        let is_test = is_test_path(&path);
        File {
            path,
            kind,
            text,
            bytes,
            is_test,
        }
    }

    /// The lines of the product with their numbers, without comments, tests, and the module of unit tests that ends a
    /// file.
    pub fn product(&self) -> impl Iterator<Item = (usize, &str)> {
        let text = match self.text.find("\n#[cfg(test)]\nmod tests {") {
            Some(at) => self.text.get(..=at).unwrap_or_default(),
            None => &self.text,
        };
        let mut lines = text.lines().enumerate().map(|(i, line)| (i + 1, line));
        let mut is_test = self.is_test;
        std::iter::from_fn(move || {
            loop {
                let (number, line) = lines.next()?;
                // A function of tests beside the product: to its closing brace.
                is_test |= line.trim() == "#[cfg(test)]" && !self.is_test;
                let was_test = is_test;
                is_test &= self.is_test || !(line == "}" || line.ends_with(';'));
                if !was_test && !line.trim_start().starts_with("//") {
                    return Some((number, line));
                }
            }
        })
    }

    /// The folder name under `crates/`, when the file lies there.
    pub fn crate_name(&self) -> Option<&str> {
        self.path
            .strip_prefix("crates/")?
            .split_once('/')
            .map(|(name, _)| name)
    }
}

/// All files, sorted by path.
pub struct Tree {
    pub files: Vec<File>,
    /// Words in lower case that this checkout forbids (`.git/info/tidy-words`).
    pub local_words: Vec<String>,
    paths: BTreeSet<String>,
}

impl Tree {
    /// Reads the repository at `root`.
    pub fn read(root: &Path) -> Result<Tree> {
        let mut files = Vec::new();
        walk(root, "", &mut files)?;
        let mut tree = Tree::new(files);
        tree.local_words = local_words(root);
        Ok(tree)
    }

    /// A tree of samples, for the tests of the rules.
    #[cfg(test)]
    pub fn of(samples: &[(&str, &str)]) -> Tree {
        let file = |(path, text): &(&str, &str)| File::new((*path).into(), (*text).into());
        Tree::new(samples.iter().map(file).collect())
    }

    fn new(mut files: Vec<File>) -> Tree {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        let test_modules: BTreeSet<String> = files.iter().flat_map(test_modules).collect();
        for file in &mut files {
            file.is_test |= test_modules.contains(&file.path);
        }
        let paths = files.iter().map(|file| file.path.clone()).collect();
        Tree {
            files,
            local_words: Vec::new(),
            paths,
        }
    }

    /// The file at `path`.
    pub fn file(&self, path: &str) -> Option<&File> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Whether `path` is a file or a folder of the repository.
    pub fn has(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        self.paths.contains(path)
            || self
                .paths
                .range(folder.clone()..)
                .next()
                .is_some_and(|p| p.starts_with(&folder))
    }
}

fn walk(root: &Path, folder: &str, files: &mut Vec<File>) -> Result<()> {
    let place = root.join(folder);
    let entries = fs::read_dir(&place).with_context(|| format!("cannot list {place:?}"))?;
    for entry in entries {
        let entry = entry.with_context(|| format!("cannot list {place:?}"))?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = if folder.is_empty() {
            name.clone()
        } else {
            format!("{folder}/{name}")
        };
        let kind = entry
            .file_type()
            .with_context(|| format!("cannot look at {path}"))?;
        if kind.is_dir() {
            if !SKIPPED_FOLDERS.contains(&name.as_str()) {
                walk(root, &path, files)?;
            }
        } else if kind.is_file() && name != ".git" && !name.ends_with(".so") {
            let content = fs::read(entry.path()).with_context(|| format!("cannot read {path}"))?;
            files.push(File::new(path, content));
        }
    }
    Ok(())
}

/// The words in `.git/info/tidy-words`; empty without the file or without git.
fn local_words(root: &Path) -> Vec<String> {
    let git = Command::new("git")
        .args(["rev-parse", "--git-common-dir"])
        .current_dir(root)
        .output();
    let Ok(output) = git else { return Vec::new() };
    let folder = root.join(String::from_utf8_lossy(&output.stdout).trim());
    let list = fs::read_to_string(folder.join("info/tidy-words")).unwrap_or_default();
    let words = list.lines().map(|line| line.trim().to_lowercase());
    words
        .filter(|word| !word.is_empty() && !word.starts_with('#'))
        .collect()
}

/// Whether the path alone says that a Rust file is for tests or benches.
fn is_test_path(path: &str) -> bool {
    let mut folders = path.split('/').rev().skip(1);
    folders.any(|folder| matches!(folder, "tests" | "benches" | "fuzz" | "examples"))
}

/// The paths that a file's `#[cfg(test)] mod name;` may mean, or any `mod name;` of a file of tests.
fn test_modules(file: &File) -> Vec<String> {
    let (folder, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
    let base = match name {
        "mod.rs" | "lib.rs" | "main.rs" => folder.to_owned(),
        _ => format!("{folder}/{}", name.trim_end_matches(".rs")),
    };
    let lines: Vec<&str> = file.text.lines().collect();
    let declared = lines.windows(2).filter_map(|pair| {
        let name = pair.get(1)?.strip_prefix("mod ")?.strip_suffix(';')?;
        (file.is_test || pair.first()?.starts_with("#[cfg(test)]")).then_some(name)
    });
    declared
        .flat_map(|name| [format!("{base}/{name}.rs"), format!("{base}/{name}/mod.rs")])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_follow_names_and_first_lines() {
        assert_eq!(Kind::of("a/b.rs", Some("")), Kind::Rust);
        assert_eq!(Kind::of("web/package-lock.json", Some("")), Kind::Lock);
        assert_eq!(Kind::of(".ci/run", Some("#!/bin/bash\n")), Kind::Shell);
        assert_eq!(
            Kind::of("tools/x", Some("#!/usr/bin/env python3\n")),
            Kind::Python
        );
        assert_eq!(Kind::of("LICENSE-MIT", Some("text\n")), Kind::Text);
        assert_eq!(Kind::of("x.pcap", None), Kind::Binary);
    }

    #[test]
    fn a_cfg_test_module_makes_its_file_a_test() {
        let tree = Tree::of(&[
            (
                "crates/base/src/lib.rs",
                "#[cfg(test)]\nmod checks;\nmod seq;\n",
            ),
            ("crates/base/src/checks.rs", ""),
            ("crates/base/src/seq.rs", ""),
            ("crates/base/tests/all.rs", ""),
        ]);
        assert!(tree.file("crates/base/src/checks.rs").unwrap().is_test);
        assert!(!tree.file("crates/base/src/seq.rs").unwrap().is_test);
        assert!(tree.file("crates/base/tests/all.rs").unwrap().is_test);
    }

    #[test]
    fn the_product_has_no_comments_and_no_tests() {
        let text = "//! Head.\nfn a() {}\n#[cfg(test)]\nfn b() {\n}\n    // c\nfn d() {}\n\n#[cfg(test)]\nmod tests {\n    fn e() {}\n}\n";
        let tree = Tree::of(&[
            ("crates/base/src/lib.rs", text),
            ("crates/base/tests/a.rs", text),
        ]);
        let lines = |path: &str| -> Vec<&str> {
            let product = tree.file(path).unwrap().product();
            product
                .map(|(_, line)| line)
                .filter(|line| !line.is_empty())
                .collect()
        };
        assert_eq!(lines("crates/base/src/lib.rs"), ["fn a() {}", "fn d() {}"]);
        assert_eq!(lines("crates/base/tests/a.rs"), [""; 0]);
    }

    #[test]
    fn a_folder_is_found_by_its_files() {
        let tree = Tree::of(&[("docs/a.md", ""), ("docs.txt", "")]);
        assert!(tree.has("docs") && tree.has("docs/a.md") && !tree.has("doc"));
    }
}
