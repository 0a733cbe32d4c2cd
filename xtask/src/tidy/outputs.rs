//! Rule: what a user keeps is written by `crates/kernel/src/output`, and temporary folders are made by
//! `crates/kernel/src/scratch.rs`.
//!
//! Those two know what a link, a device or a full disk means and leave nothing behind. Every other file that creates,
//! renames or opens files for writing is listed here, with the reason why that is no result.

use super::report::Report;
use super::rust_paths::{self, Place};
use super::tree::Tree;

pub const NAME: &str = "outputs";

/// Calls that create files, or give them names.
const CALLS: &[&str] = &[
    "std::fs::write",
    "std::fs::copy",
    "std::fs::rename",
    "std::fs::File::create",
    "std::fs::File::create_new",
    "std::fs::File::options",
    "std::fs::OpenOptions::new",
    "tempfile",
];

const OWN: &str = "in a folder that this process has just made";
const CACHE: &str = "in the cache of kernels, whose lock it holds";
const KERNEL: &str = "files of the kernel, which are there";

/// Files, or folders of files, that may.
const ALLOWED: &[(&str, &str)] = &[
    ("crates/kernel/src/output/", "the one place"),
    ("crates/kernel/src/scratch.rs", "the one place"),
    ("crates/kernel/src/bench/command.rs", OWN),
    ("crates/kernel/src/bench/end.rs", OWN),
    ("crates/kernel/src/bench/hosts.rs", OWN),
    ("crates/kernel/src/bench/http/nginx.rs", OWN),
    ("crates/kernel/src/bench/place.rs", KERNEL),
    ("crates/kernel/src/build/command.rs", CACHE),
    ("crates/kernel/src/build/folder.rs", CACHE),
    ("crates/kernel/src/build/make.rs", CACHE),
    ("crates/kernel/src/build/overlay.rs", CACHE),
    ("crates/kernel/src/build/package.rs", CACHE),
    ("crates/kernel/src/build/source.rs", CACHE),
    (
        "crates/kernel/src/doctor/",
        "trials of what this machine can do, in /dev/shm",
    ),
    ("crates/kernel/src/drill/job.rs", OWN),
    ("crates/kernel/src/drill/network.rs", KERNEL),
    ("crates/kernel/src/guest/folder.rs", OWN),
    ("crates/kernel/src/guest/init.rs", KERNEL),
    ("crates/kernel/src/guest/init_qemu.rs", KERNEL),
    ("crates/kernel/src/guest/parcel.rs", OWN),
    ("crates/kernel/src/guest/stage.rs", OWN),
    ("crates/kernel/src/image/fetch.rs", CACHE),
    ("crates/kernel/src/inject/made.rs", KERNEL),
    ("crates/kernel/src/inject/kmsg.rs", KERNEL),
    ("crates/kernel/src/run/captures.rs", OWN),
    ("crates/kernel/src/run/host.rs", KERNEL),
    ("crates/kernel/src/run/tap.rs", KERNEL),
    ("crates/kernel/src/ssh/half.rs", KERNEL),
    ("crates/kernel/src/ssh/pair.rs", OWN),
    ("crates/kernel/src/ssh/remote.rs", KERNEL),
    ("crates/kernel/src/stack/store.rs", CACHE),
    ("crates/lab/src/bench/folder.rs", OWN),
    ("crates/lab/src/flent.rs", OWN),
    ("crates/lab/src/folder.rs", OWN),
    ("crates/lab/src/inject/guest/", OWN),
    ("crates/lab/src/model.rs", OWN),
    (
        "crates/lab/src/population/rowfile/log.rs",
        "a file without a name",
    ),
];

pub fn check(tree: &Tree, report: &mut Report) {
    let mut used = vec![false; ALLOWED.len()];
    for file in &tree.files {
        let Some(syntax) = file.rust().filter(|_| !file.is_test) else {
            continue;
        };
        if !is_product(&file.path) {
            continue;
        }
        let allowed = ALLOWED
            .iter()
            .position(|(path, _)| file.path.starts_with(path));
        for named in rust_paths::paths(syntax, false) {
            let path = named.path.join("::");
            let is_call = named.place == Place::Value && !named.in_test;
            let calls = |call: &&str| path == **call || path.starts_with(&format!("{call}::"));
            if !is_call || !CALLS.iter().any(calls) {
                continue;
            }
            match allowed {
                Some(entry) => used[entry] = true,
                None => report.fail(
                    &file.path,
                    named.line,
                    format!("`{path}` outside crates/kernel/src/output"),
                    "write results with tcplab_kernel::output, temporary folders with Scratch",
                ),
            }
        }
    }
    for ((path, _), used) in ALLOWED.iter().zip(used) {
        if !used && tree.files.iter().any(|file| file.path.starts_with(path)) {
            let what = format!("{path} is allowed to create files and does not");
            report.fail(
                path,
                1,
                what,
                "remove its line from xtask/src/tidy/outputs.rs",
            );
        }
    }
}

/// The sources of the crates.
fn is_product(path: &str) -> bool {
    path.starts_with("crates/") && path.contains("/src/")
}

#[cfg(test)]
mod tests {
    use super::super::report::failures_of;
    use super::*;

    fn fires(path: &str, text: &str) -> usize {
        failures_of(check, &[(path, text)]).len()
    }

    #[test]
    fn each_way_to_create_a_file_fires_once() {
        for bad in [
            "fn f() { std::fs::write(a, b); }",
            "use std::fs;\nfn f() { fs::rename(a, b); }",
            "use std::fs::File;\nfn f() { File::create(a); }",
            "use std::fs::OpenOptions;\nfn f() { OpenOptions::new(); }",
            "fn f() { tempfile::tempdir(); }",
            "use tempfile::NamedTempFile;\nfn f() { NamedTempFile::new(); }",
        ] {
            assert_eq!(fires("crates/cli/src/a.rs", bad), 1, "{bad}");
            assert_eq!(fires("crates/cli/tests/a.rs", bad), 0, "{bad}");
            let test = format!("#[cfg(test)]\nmod tests {{ {bad} }}");
            assert_eq!(fires("crates/lab/src/a.rs", &test), 0, "{bad}");
        }
        assert_eq!(
            fires("crates/lab/src/a.rs", "fn f() { std::fs::read(a); }"),
            0
        );
    }

    #[test]
    fn a_line_that_excuses_nothing_is_a_failure() {
        assert_eq!(
            fires(
                "crates/lab/src/flent.rs",
                "fn f() { std::fs::write(a, b); }"
            ),
            0
        );
        assert_eq!(fires("crates/lab/src/flent.rs", "fn f() {}"), 1);
    }
}
