//! Packets of cases as pcapng: of those that failed in the user's cache, of all in a folder that is named.

use std::fs;
use std::path::Path;

use tcplab_guest::store::cache_folder;
use tcplab_lab::drill::{CaseResult, DrillDocument};
use tcplab_os::output::write_own;
use tcplab_os::say;

use super::names::{Names, dashed};
use crate::failure::Failure;

/// Limits file names: Linux allows 255 bytes. The end of a script's path is kept, because it tells more than the
/// beginning.
const NAME_BYTES: usize = 200;

/// A file in `folder` for each case that has packets; the cases learn their file's name.
pub fn write(folder: &Path, document: &mut DrillDocument) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|e| Failure::output(folder, &e))?;
    let mut names = Names::default();
    for result in with_packets(document) {
        let (stem, mode) = (stem(&result.script), result.mode);
        let file = folder.join(names.take(&format!("{stem}_{mode}"), ".pcapng"));
        write_own(&file, &result.pcapng).map_err(|e| Failure::output(&file, &e))?;
        result.capture = Some(file.display().to_string());
    }
    Ok(())
}

/// The same in `drill` of the user's cache, if no folder was named. That it cannot be written is no reason to lose the
/// verdicts.
pub fn keep_failed(document: &mut DrillDocument) {
    if with_packets(document).next().is_none() {
        return;
    }
    let kept = match cache_folder() {
        Ok(cache) => write(&cache.join("drill"), document).map_err(|e| e.message),
        Err(e) => Err(e.to_string()),
    };
    if let Err(why) = kept {
        say(&format!(
            "tcplab: cannot write captures of the failed cases: {why} (choose another folder with --pcap DIR)"
        ));
    }
}

fn with_packets(document: &mut DrillDocument) -> impl Iterator<Item = &mut CaseResult> {
    let results = document.results.iter_mut();
    results.filter(|r| !r.pcapng.is_empty())
}

/// The script's path with its separators made dashes.
fn stem(script: &str) -> String {
    let script = dashed(script.trim_end_matches(".pkt"));
    let begin = script.len().saturating_sub(NAME_BYTES);
    let begin = (begin..).find(|i| script.is_char_boundary(*i));
    script[begin.unwrap_or_default()..].to_owned()
}
