//! The program that is copied: this one, or the one that `--ssh-program` names.
//!
//! Without its debug information (most of a development build), and named by what is in it.

use std::path::{Path, PathBuf};

use tcplab_guest::boot::{interpreter, loaded_part};
use tcplab_guest::build::hash_of_bytes;
use tcplab_os::text::{TextError, read_bytes};

use super::SshError;

/// Where a process finds itself.
pub(super) const SELF: &str = "/proc/self/exe";

/// The longest program.
const MOST_BYTES: u64 = 1 << 30;

/// A program to be copied.
#[derive(Debug)]
pub(super) struct Program {
    /// Its file, for messages.
    pub(super) file: PathBuf,
    pub(super) bytes: Vec<u8>,
    /// SHA-256 of `bytes`.
    pub(super) hash: String,
    /// As `uname -m` says it.
    pub(super) machine: &'static str,
    /// It is linked with the shared libraries of this machine.
    pub(super) is_dynamic: bool,
}

impl Program {
    /// Reads a program; none: this one.
    ///
    /// # Errors
    /// A file that cannot be read, or is no program for Linux.
    pub(super) fn load(file: Option<&Path>) -> Result<Self, SshError> {
        let wrong = |what: String| SshError::Program {
            file: file.map_or_else(|| SELF.into(), Path::to_owned),
            what,
        };
        // What does not begin as a program is not read further.
        let most = |head: &[u8]| machine(head).map_or(0, |_| MOST_BYTES);
        let no_program = || wrong("no program for 64-bit Linux".into());
        let read = read_bytes(file.unwrap_or(Path::new(SELF)), most);
        let bytes = read.map_err(|e| match e {
            TextError::Io { source, .. } => wrong(source.to_string()),
            _ => no_program(),
        })?;
        let machine = machine(&bytes).ok_or_else(no_program)?;
        let is_dynamic = interpreter(&bytes).is_some();
        let bytes = loaded_part(bytes);
        Ok(Self {
            file: match file {
                Some(file) => file.to_owned(),
                None => std::env::current_exe().unwrap_or_else(|_| SELF.into()),
            },
            hash: hash_of_bytes(&bytes),
            bytes,
            machine,
            is_dynamic,
        })
    }
}

/// The machine of an ELF-64 file (`e_machine`), as `uname -m` calls it.
fn machine(elf: &[u8]) -> Option<&'static str> {
    let Some(b"\x7fELF\x02\x01") = elf.get(..6) else {
        return None;
    };
    match u16::from_le_bytes([*elf.get(18)?, *elf.get(19)?]) {
        62 => Some("x86_64"),
        183 => Some("aarch64"),
        243 => Some("riscv64"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program() {
        let program = Program::load(None).unwrap();
        assert_eq!(program.machine, std::env::consts::ARCH);
        assert_eq!(program.hash.len(), 64);
        assert!(program.bytes.starts_with(b"\x7fELF"));
    }

    #[test]
    fn what_is_no_program_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("x");
        for content in [&b"#!/bin/sh\n"[..], b"", b"\x7fELF\x02\x01"] {
            std::fs::write(&file, content).unwrap();
            assert!(Program::load(Some(&file)).is_err());
        }
        assert!(Program::load(Some(Path::new("/dev/zero"))).is_err());
        assert!(Program::load(Some(place.path())).is_err());
    }
}
