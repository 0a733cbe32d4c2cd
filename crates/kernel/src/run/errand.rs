//! A point as an errand: what a guest, or a process in namespaces of this machine, is asked for.

use std::path::Path;

use tcplab_guest::boot::{self, Errand};
use tcplab_os::clock::Pace;

use super::run;

/// Runs the point of the folder.
pub(crate) const POINT: Errand = Errand {
    question: boot::POINT,
    needs_sysfs: false,
    work,
};

fn work(folder: &Path, pace: Pace) -> Result<(), String> {
    let here = |point: &_| run(point, folder, pace).map_err(|e| e.to_string());
    boot::answer(folder, here).map_err(|e| e.to_string())
}
