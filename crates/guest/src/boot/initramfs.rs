//! The file system of a guest: this executable as /init, and its shared libraries.
//!
//! Format: cpio "newc" (Linux's Documentation/driver-api/early-userspace/buffer-format), uncompressed, because a guest
//! spends more time on decompression than on reading. ELF files are reduced to their loaded segments (ELF-64 program
//! headers): most of a development build is debug information.

use std::collections::BTreeSet;
use std::ffi::CString;
use std::fs::{self, File};
use std::io::{Read, Seek, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use nix::sys::memfd::{MFdFlags, memfd_create};

use tcplab_os::Context;

use super::error::GuestError;

/// An initramfs in memory, made once and handed to every guest of this process.
#[derive(Debug)]
pub struct Initramfs(File);

impl Initramfs {
    /// Packs the running executable and what it is linked with.
    ///
    /// # Errors
    /// When `/proc` or one of the files cannot be read.
    pub fn of_this_program() -> Result<Self, GuestError> {
        let maps = fs::read_to_string("/proc/self/maps").tried("/proc/self/maps")?;
        let program = fs::read("/proc/self/exe").tried("/proc/self/exe")?;
        let mut archive = Archive::default();
        if let Some(interpreter) = interpreter(&program) {
            let path = PathBuf::from(&interpreter);
            let bytes = fs::read(&path).tried(&interpreter)?;
            archive.file(&path, loaded_part(bytes));
        }
        for library in libraries(&maps) {
            let bytes = fs::read(&library).context(|| library.display().to_string())?;
            archive.file(&library, loaded_part(bytes));
        }
        archive.file(Path::new("/init"), loaded_part(program));
        Self::in_memory(&[&archive.finish()])
    }

    /// This one with more files: the kernel takes archives one after the other.
    ///
    /// # Errors
    /// When this one cannot be read or the new one not be written.
    pub(super) fn with<'a>(
        &self,
        files: impl IntoIterator<Item = (&'a Path, &'a [u8])>,
    ) -> Result<Self, GuestError> {
        let mut archive = Archive::default();
        for (path, content) in files {
            archive.file(path, content.to_vec());
        }
        let mut first = Vec::new();
        let mut file = &self.0;
        file.rewind()
            .and_then(|()| file.read_to_end(&mut first))
            .tried("cannot read the initramfs")?;
        Self::in_memory(&[&first, &archive.finish()])
    }

    fn in_memory(parts: &[&[u8]]) -> Result<Self, GuestError> {
        let name = CString::new("tcplab-initramfs").unwrap_or_default();
        let fd = memfd_create(name.as_c_str(), MFdFlags::MFD_CLOEXEC)
            .tried("cannot make a file in memory")?;
        let mut file = File::from(fd);
        for part in parts {
            file.write_all(part).tried("cannot write the initramfs")?;
        }
        Ok(Self(file))
    }
}

impl AsFd for Initramfs {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Shared libraries in the text of /proc/PID/maps, by their paths.
fn libraries(maps: &str) -> BTreeSet<PathBuf> {
    let is_library = |name: &str| name.ends_with(".so") || name.contains(".so.");
    maps.lines()
        .filter_map(|line| line.find('/').map(|at| &line[at..]))
        .filter(|path| path.rsplit('/').next().is_some_and(is_library))
        .map(PathBuf::from)
        .collect()
}

/// The program headers of an ELF-64 file of this machine: (type, offset, size in the file).
fn program_headers(elf: &[u8]) -> Vec<(u32, u64, u64)> {
    let word = |at: usize| Some(u64::from_le_bytes(*elf.get(at..)?.first_chunk()?));
    let half = |at: usize| Some(u16::from_le_bytes(*elf.get(at..)?.first_chunk()?));
    let kind = |at: usize| Some(u32::from_le_bytes(*elf.get(at..)?.first_chunk()?));
    let (Some(b"\x7fELF\x02\x01"), Some(table), Some(size), Some(count)) =
        (elf.get(..6), word(32), half(54), half(56))
    else {
        return Vec::new();
    };
    let mut headers = Vec::new();
    for n in 0..usize::from(count) {
        let at = usize::try_from(table)
            .unwrap_or(usize::MAX)
            .saturating_add(n * usize::from(size));
        if let (Some(kind), Some(offset), Some(length)) = (
            kind(at),
            word(at.saturating_add(8)),
            word(at.saturating_add(32)),
        ) {
            headers.push((kind, offset, length));
        }
    }
    headers
}

const PT_LOAD: u32 = 1;
const PT_INTERP: u32 = 3;

/// The dynamic linker that an executable asks for.
pub fn interpreter(elf: &[u8]) -> Option<String> {
    let headers = program_headers(elf);
    let (_, offset, length) = headers.iter().find(|h| h.0 == PT_INTERP)?;
    let from = usize::try_from(*offset).ok()?;
    let bytes = elf.get(from..from.checked_add(usize::try_from(*length).ok()?)?)?;
    let text = bytes.strip_suffix(b"\0").unwrap_or(bytes);
    String::from_utf8(text.to_vec()).ok()
}

/// The file up to the end of its last loaded segment, without its section table.
pub fn loaded_part(mut elf: Vec<u8>) -> Vec<u8> {
    let ends = program_headers(&elf)
        .into_iter()
        .filter(|h| h.0 == PT_LOAD)
        .map(|h| h.1.saturating_add(h.2));
    if let Some(end) = ends.max().and_then(|end| usize::try_from(end).ok()) {
        elf.truncate(end);
        // e_shoff, e_shnum and e_shstrndx: what they point at is gone.
        elf[40..48].fill(0);
        elf[60..64].fill(0);
    }
    elf
}

/// A cpio archive under construction.
#[derive(Default)]
struct Archive {
    bytes: Vec<u8>,
    folders: BTreeSet<PathBuf>,
    entries: u32,
}

impl Archive {
    /// Adds a file that can be executed, after the folders on the way to it.
    fn file(&mut self, path: &Path, content: Vec<u8>) {
        let mut above: Vec<&Path> = path.ancestors().skip(1).collect();
        above.pop();
        for folder in above.into_iter().rev() {
            if self.folders.insert(folder.to_owned()) {
                self.entry(folder, 0o40_755, &[]);
            }
        }
        self.entry(path, 0o100_755, &content);
    }

    fn entry(&mut self, path: &Path, mode: u32, content: &[u8]) {
        let name = path.to_string_lossy();
        self.raw(name.trim_start_matches('/'), mode, content);
    }

    fn raw(&mut self, name: &str, mode: u32, content: &[u8]) {
        self.entries += 1;
        let size = content.len() as u32;
        let name_size = name.len() as u32 + 1;
        self.bytes.extend_from_slice(b"070701");
        // inode, mode, uid, gid, links, time, size, 4 device numbers, length of the name, check
        let numbers = [
            self.entries,
            mode,
            0,
            0,
            1,
            0,
            size,
            0,
            0,
            0,
            0,
            name_size,
            0,
        ];
        for number in numbers {
            self.bytes
                .extend_from_slice(format!("{number:08X}").as_bytes());
        }
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(content);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }

    fn finish(mut self) -> Vec<u8> {
        self.raw("TRAILER!!!", 0, &[]);
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_has_an_interpreter_and_shrinks() {
        let program = fs::read("/proc/self/exe").unwrap();
        let interpreter = interpreter(&program).expect("tests are linked dynamically");
        assert!(Path::new(&interpreter).exists(), "{interpreter}");
        let whole = program.len();
        let loaded = loaded_part(program);
        assert!(loaded.len() < whole);
        assert!(!program_headers(&loaded).is_empty());
    }

    #[test]
    fn what_is_no_elf_stays() {
        assert_eq!(loaded_part(b"#!/bin/sh\n".to_vec()), b"#!/bin/sh\n");
        assert_eq!(interpreter(b"\x7fELF"), None);
    }

    #[test]
    fn libraries_come_from_the_map_of_memory() {
        let maps = "7f1-7f2 r--p 0 fe:01 5 /usr/lib/x86_64-linux-gnu/libc.so.6\n\
                    7f2-7f3 r-xp 0 fe:01 5 /usr/lib/x86_64-linux-gnu/libc.so.6\n\
                    55d-55e r--p 0 fe:01 9 /usr/bin/tcplab\n\
                    7ff-7fe rw-p 0 00:00 0 [stack]\n";
        let found: Vec<_> = libraries(maps).into_iter().collect();
        assert_eq!(
            found,
            [PathBuf::from("/usr/lib/x86_64-linux-gnu/libc.so.6")]
        );
    }

    #[test]
    fn entries_are_aligned_and_folders_come_once() {
        let mut archive = Archive::default();
        archive.file(Path::new("/a/b"), b"x".to_vec());
        archive.file(Path::new("/a/c"), b"yy".to_vec());
        let bytes = archive.finish();
        assert_eq!(bytes.len() % 4, 0);
        let text = String::from_utf8_lossy(&bytes);
        assert_eq!(text.matches("070701").count(), 4);
        assert!(text.contains("TRAILER!!!"));
    }
}
