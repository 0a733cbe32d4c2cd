//! The experiment files that the program carries: those of `examples/`, and starters (`examples/new/`) for files of one's own.

/// A file inside the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name without `.toml`.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

impl File {
    /// What it asks: its `title`.
    pub fn title(&self) -> &'static str {
        let mut lines = self.text.lines();
        let title = lines.find_map(|line| line.strip_prefix("title = \""));
        title.map_or("", |title| title.trim_end_matches('"'))
    }
}

/// The text of the example that is in this file: `delayed-ack.toml`.
pub fn example(file: &str) -> Option<&'static str> {
    let name = file.strip_suffix(".toml")?;
    let found = EXAMPLES.iter().find(|example| example.name == name);
    found.map(|example| example.text)
}

macro_rules! files {
    ($folder:literal: $($name:literal),* $(,)?) => {
        &[$(File {
            name: $name,
            text: include_str!(concat!("../files/", $folder, $name, ".toml")),
        }),*]
    };
}

/// The examples, by name.
pub const EXAMPLES: &[File] = files![
    "":
    "ack-filter-100k",
    "ack-filter-grid",
    "ack-filter-harm",
    "ack-filter-kernel",
    "ack-filter-rrul",
    "ack-filter-slow-start",
    "ack-filter-symmetric",
    "bench-bulk-1",
    "bench-bulk-100",
    "bench-web",
    "bench-window",
    "caqm-10g",
    "caqm-fairness",
    "caqm-incast",
    "caqm-incast-n",
    "caqm-incast-shared",
    "caqm-interop",
    "caqm-nic",
    "caqm-public",
    "caqm-public-incast",
    "caqm-qt0",
    "caqm-rtt",
    "caqm-unequal",
    "caqm-web",
    "changing-line",
    "delayed-ack",
    "delayed-ack-echo",
    "delayed-ack-intervals",
    "delayed-ack-sizes",
    "dumbbell",
    "fastopen",
    "incast",
    "middle-boxes",
    "path-mtu",
    "replay",
    "rrul",
    "rrul-cake",
    "rrul-cake-be",
    "rto-floor",
    "rto-p0",
    "rto-p4",
    "rto-rows",
    "rto-sensitivity",
    "rto-web",
    "upload-beside-call",
    "write-write-read",
];

/// The starters of `tcplab new`, the simplest first.
pub const STARTERS: &[File] = files![
    "new/":
    "two-hosts",
    "dumbbell",
    "home-line",
    "incast",
    "web",
    "population",
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Names of the experiment files in a folder.
    fn there(folder: &str) -> BTreeSet<String> {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("files")
            .join(folder);
        let names = std::fs::read_dir(root)
            .unwrap()
            .map(|entry| entry.unwrap().file_name());
        let names = names.filter_map(|name| Some(name.to_str()?.strip_suffix(".toml")?.to_owned()));
        names.collect()
    }

    #[test]
    fn every_file_is_carried_and_asks_something() {
        for (folder, files) in [("", EXAMPLES), ("new", STARTERS)] {
            let names: BTreeSet<String> = files.iter().map(|file| file.name.to_owned()).collect();
            assert_eq!(names, there(folder));
            for file in files {
                assert!(!file.title().is_empty(), "{}", file.name);
            }
        }
    }
}
