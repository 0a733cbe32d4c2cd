//! Rule: what a user keeps is written by `crates/os/src/output`, and temporary folders are made by
//! `crates/os/src/scratch.rs`.
//!
//! Those two know what a link, a device or a full disk means and leave nothing behind. Every other file that creates,
//! renames or opens files for writing is listed here, with the reason why that is no result.

use super::tree::Tree;
use super::words::has_word;
use super::{Failures, failure};

/// Calls that create files, or give them names.
const CALLS: &[&str] = &[
    "fs::write(",
    "fs::copy(",
    "fs::rename(",
    "File::create",
    "File::options(",
    "OpenOptions::new(",
    "tempfile::",
];

const OWN: &str = "in a folder that this process has just made";
const CACHE: &str = "in the cache of kernels, whose lock it holds";
const KERNEL: &str = "files of the kernel, which are there";

/// Files, or folders of files, that may.
const ALLOWED: &[(&str, &str)] = &[
    ("crates/os/src/output/", "the one place"),
    ("crates/os/src/scratch.rs", "the one place"),
    ("crates/os/src/captures.rs", OWN),
    ("crates/os/src/namespaces.rs", KERNEL),
    ("crates/os/src/tap.rs", KERNEL),
    ("crates/bench/src/ends/command.rs", OWN),
    ("crates/bench/src/ends/end.rs", OWN),
    ("crates/bench/src/ends/hosts.rs", OWN),
    ("crates/bench/src/ends/place.rs", KERNEL),
    ("crates/guest/src/build/command.rs", CACHE),
    ("crates/guest/src/build/folder.rs", CACHE),
    ("crates/guest/src/build/make.rs", CACHE),
    ("crates/guest/src/build/overlay.rs", CACHE),
    ("crates/guest/src/build/package.rs", CACHE),
    ("crates/guest/src/build/source.rs", CACHE),
    (
        "crates/guest/src/doctor/",
        "trials of what this machine can do, in /dev/shm",
    ),
    ("crates/kernel/src/drill/job.rs", OWN),
    ("crates/kernel/src/drill/network.rs", KERNEL),
    ("crates/guest/src/boot/folder.rs", OWN),
    ("crates/guest/src/boot/init.rs", KERNEL),
    ("crates/guest/src/boot/init_qemu.rs", KERNEL),
    ("crates/guest/src/boot/parcel.rs", OWN),
    ("crates/guest/src/boot/stage.rs", OWN),
    ("crates/guest/src/image/fetch.rs", CACHE),
    ("crates/inject/src/arena/made.rs", KERNEL),
    ("crates/inject/src/arena/kmsg.rs", KERNEL),
    ("crates/kernel/src/run/host.rs", KERNEL),
    ("crates/kernel/src/ssh/held.rs", KERNEL),
    ("crates/kernel/src/ssh/pair.rs", OWN),
    ("crates/kernel/src/ssh/remote.rs", KERNEL),
    ("crates/guest/src/store/", CACHE),
    ("crates/bench/src/folder.rs", OWN),
    ("crates/lab/src/flent.rs", OWN),
    ("crates/lab/src/folder.rs", OWN),
    ("crates/inject/src/guest/", OWN),
    ("crates/lab/src/model.rs", OWN),
    ("crates/lab/src/population/log.rs", "a file without a name"),
];

pub fn check(tree: &Tree) -> Failures {
    let mut out = Failures::new();
    let mut used = vec![false; ALLOWED.len()];
    let product = |path: &str| path.starts_with("crates/") && path.contains("/src/");
    for file in tree.files.iter().filter(|file| product(&file.path)) {
        let allowed = ALLOWED
            .iter()
            .position(|(path, _)| file.path.starts_with(path));
        for (number, line) in file.product() {
            let Some(call) = CALLS.iter().find(|call| has_word(line, call)) else {
                continue;
            };
            match allowed {
                Some(entry) => used[entry] = true,
                None => out.push(failure(
                    &file.path,
                    number,
                    &format!("`{call}` outside crates/os/src/output"),
                    "write results with tcplab_os::output, temporary folders with Scratch",
                )),
            }
        }
    }
    for ((path, _), used) in ALLOWED.iter().zip(used) {
        if !used && tree.files.iter().any(|file| file.path.starts_with(path)) {
            let way_out = "remove its line from xtask/src/tidy/outputs.rs";
            out.push(failure(
                path,
                1,
                "it may create files and does not",
                way_out,
            ));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fires(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn each_way_to_create_a_file_fires_once() {
        for call in CALLS {
            let bad = format!("fn f() {{ std::{call}(a, b); }}\n");
            assert_eq!(fires("crates/cli/src/a.rs", &bad), 1, "{bad}");
            assert_eq!(fires("crates/cli/tests/a.rs", &bad), 0, "{bad}");
        }
        assert_eq!(fires("crates/lab/src/a.rs", "std::fs::read(a);"), 0);
    }

    #[test]
    fn unused_excuse_is_a_failure() {
        assert_eq!(fires("crates/lab/src/flent.rs", "fs::write(a, b);"), 0);
        assert_eq!(fires("crates/lab/src/flent.rs", "fn f() {}"), 1);
    }
}
