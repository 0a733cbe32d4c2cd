//! Digests: one for each point, over everything but its cost.

use std::fs::File;
use std::io;
use std::path::Path;

use sha2::{Digest, Sha256};
use tcplab_plan::Point;
use tcplab_plan::network::capture_files;
use tcplab_plan::result::PointResult;

use crate::error::LabError;

/// SHA-256 over the result (without cost, digest, and names of columns and links) and its captures, in hexadecimal digits.
pub(crate) fn of(result: &PointResult, point: &Point, folder: &Path) -> Result<String, LabError> {
    let mut bare = result.clone();
    bare.cost = Default::default();
    bare.digest.clear();
    bare.columns.clear();
    bare.link_names.clear();
    let mut hash = Sha256::new();
    let text = serde_json::to_vec(&bare).map_err(|e| LabError::Wrong(e.to_string()))?;
    hash.update((text.len() as u64).to_le_bytes());
    hash.update(text);
    for (_, _, name) in capture_files(point) {
        let path = folder.join(name);
        add_file(&mut hash, &path).map_err(LabError::at(&path))?;
    }
    Ok(hex(&hash.finalize()))
}

/// SHA-256 of the running executable: results repeat for the same one.
pub(crate) fn of_this_program() -> io::Result<String> {
    of_file(Path::new("/proc/self/exe"))
}

/// SHA-256 of a file.
pub(crate) fn of_file(path: &Path) -> io::Result<String> {
    let mut hash = Sha256::new();
    io::copy(&mut File::open(path)?, &mut hash)?;
    Ok(hex(&hash.finalize()))
}

/// SHA-256 of a text.
pub(crate) fn of_text(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

/// The length of a file and its bytes, which are not held in memory.
fn add_file(hash: &mut Sha256, path: &Path) -> io::Result<()> {
    let mut file = File::open(path)?;
    hash.update(file.metadata()?.len().to_le_bytes());
    io::copy(&mut file, hash)?;
    Ok(())
}

/// Hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
