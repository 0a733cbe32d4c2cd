//! What init does in QEMU: loads modules, runs, sends the answer over the second serial line.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::kmod::{ModuleInitFlags, finit_module};
use nix::sys::termios::{self, SetArg};
use tcplab_os::clock::Pace;

use super::errand::{self, Errand};
use super::{folder, init, parcel};

/// Modules of the initramfs, to be loaded in order of their names.
pub(super) const MODULES: &str = "/modules";

/// The line to the host: the first one is the console.
const LINE: &str = "/dev/ttyS1";

/// Answers the question that lies in the initramfs.
pub(super) fn run(errands: &[Errand]) -> Result<(), String> {
    load()?;
    init::prepare()?;
    let place = Path::new(init::SHARED);
    // The guest's clock goes on while it works: what is done late has its real time.
    let errand = errand::asked(errands, place)?;
    (errand.work)(place, Pace::Real)?;
    send(place).map_err(|e| format!("cannot send the result: {e}"))
}

fn load() -> Result<(), String> {
    let mut files: Vec<PathBuf> = fs::read_dir(MODULES)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.sort();
    for path in files {
        let file = File::open(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        match finit_module(file, &CString::default(), ModuleInitFlags::empty()) {
            Ok(()) | Err(Errno::EEXIST) => (),
            Err(e) => return Err(format!("cannot load {}: {e}", path.display())),
        }
    }
    Ok(())
}

/// Everything in the folder of the run.
fn send(place: &Path) -> Result<(), String> {
    let text = |e: std::io::Error| e.to_string();
    let line = fs::OpenOptions::new().write(true).read(true).open(LINE);
    let line = line.map_err(|e| format!("{LINE}: {e}"))?;
    let mut settings = termios::tcgetattr(&line).map_err(|e| e.to_string())?;
    termios::cfmakeraw(&mut settings);
    termios::tcsetattr(&line, SetArg::TCSANOW, &settings).map_err(|e| e.to_string())?;
    let mut parcel = parcel::Writer::new(&line).map_err(text)?;
    for entry in fs::read_dir(place).map_err(text)?.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if !folder::is_of_question(&name) {
            let content = fs::read(entry.path()).map_err(text)?;
            parcel.file(&name, &content).map_err(text)?;
        }
    }
    parcel
        .finish()
        .and_then(|mut line| line.flush())
        .map_err(text)?;
    termios::tcdrain(&line).map_err(|e| e.to_string())
}
