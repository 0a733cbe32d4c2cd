//! The files of the repository that the rules look at, read once.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

/// Folders that hold what tools make, never what people write.
pub const SKIPPED_FOLDERS: &[&str] = &[".git", "target", "node_modules", "dist", "__pycache__"];

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
    /// The syntax tree of a Rust file, or what is wrong with it and at which line.
    pub syntax: Option<Result<syn::File, (usize, String)>>,
    /// Rust that is compiled for tests and benches only.
    pub is_test: bool,
}

impl File {
    fn new(path: String, content: Vec<u8>) -> File {
        let bytes = content.len();
        let text = String::from_utf8(content).ok();
        let kind = Kind::of(&path, text.as_deref());
        let text = text.unwrap_or_default();
        let syntax = (kind == Kind::Rust)
            .then(|| syn::parse_file(&text).map_err(|e| (e.span().start().line, e.to_string())));
        let is_test = is_test_path(&path);
        File {
            path,
            kind,
            text,
            bytes,
            syntax,
            is_test,
        }
    }

    /// The syntax tree, when this is Rust that parses.
    pub fn rust(&self) -> Option<&syn::File> {
        self.syntax.as_ref().and_then(|parsed| parsed.as_ref().ok())
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
        } else if kind.is_file() && name != ".git" {
            let content = fs::read(entry.path()).with_context(|| format!("cannot read {path}"))?;
            files.push(File::new(path, content));
        }
    }
    Ok(())
}

/// The words in `.git/info/tidy-words`; none when there is no such file, or no git.
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

/// The paths that a file's `#[cfg(test)] mod name;` may mean.
fn test_modules(file: &File) -> Vec<String> {
    let Some(syntax) = file.rust() else {
        return Vec::new();
    };
    let (folder, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
    let base = match name {
        "mod.rs" | "lib.rs" | "main.rs" => folder.to_owned(),
        _ => format!("{folder}/{}", name.trim_end_matches(".rs")),
    };
    let mut paths = Vec::new();
    for item in &syntax.items {
        let syn::Item::Mod(module) = item else {
            continue;
        };
        if module.content.is_none() && (file.is_test || is_cfg_test(&module.attrs)) {
            paths.push(format!("{base}/{}.rs", module.ident));
            paths.push(format!("{base}/{}/mod.rs", module.ident));
        }
    }
    paths
}

/// Whether an item is compiled for tests only: `#[test]` or a `cfg` that needs `test`.
pub fn is_cfg_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        if attribute.path().is_ident("test") {
            return true;
        }
        if !attribute.path().is_ident("cfg") {
            return false;
        }
        let syn::Meta::List(list) = &attribute.meta else {
            return false;
        };
        let text = list.tokens.to_string();
        text == "test" || (text.starts_with("all") && text.contains("test"))
    })
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
    fn a_folder_is_found_by_its_files() {
        let tree = Tree::of(&[("docs/a.md", ""), ("docs.txt", "")]);
        assert!(tree.has("docs") && tree.has("docs/a.md") && !tree.has("doc"));
    }
}
