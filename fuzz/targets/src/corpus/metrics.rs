//! Outputs of tools that `tcplab compare` reads: the samples of its tests.

use std::path::Path;

use super::cut;

/// The samples, sorted by name, and the tables of the seed.
pub fn metrics() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["tests/compare", "tests/compare/samples"] {
        let Ok(entries) = std::fs::read_dir(root.join(folder)) else {
            continue;
        };
        let paths = entries.flatten().map(|entry| entry.path());
        files.extend(paths.filter(|path| path.is_file()));
    }
    files.sort();
    let bytes = files.iter().filter_map(|path| std::fs::read(path).ok());
    bytes.map(|bytes| cut(&bytes).to_vec()).collect()
}
