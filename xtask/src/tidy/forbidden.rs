//! Rule: L0 to L3 have no input or output, threads, clock, randomness of the
//! operating system, globals, or maps whose order changes from run to run.
//! No crate but `kernel` has `unsafe`, and nothing has `static mut`.
//!
//! Tests of these crates may open files; they may not read the clock either, since
//! a timed assertion fails on a busy machine. `std::net`'s addresses are data and
//! are allowed. What this rule reads is one file at a time (see `rust_paths`);
//! clippy.toml forbids the clock and the randomness once more, by type.

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use super::layers;
use super::report::Report;
use super::rust_paths::{self, Named, Place};
use super::tree::Tree;

pub const NAME: &str = "forbidden";

/// The one crate that may hold `unsafe`: it speaks to the operating system.
pub const UNSAFE_CRATE: &str = "kernel";

/// Why something is forbidden, and what to do instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Why {
    Clock,
    Randomness,
    Outside,
    Shared,
    Unordered,
}

impl Why {
    fn way_out(self) -> &'static str {
        match self {
            Why::Clock => "take `now` as an argument",
            Why::Randomness => "take a seeded stream of `base` as an argument",
            Why::Outside => {
                "take `Read`, `Write` or data as an argument; open things in L4 and above"
            }
            Why::Shared => "no globals, no threads below L4: pass `&mut`",
            Why::Unordered => "use BTreeMap, or a map with a hasher whose keys the caller gives",
        }
    }

    /// Whether tests are free of it too.
    fn holds_in_tests(self) -> bool {
        matches!(self, Why::Clock | Why::Randomness)
    }
}

/// Paths that are forbidden with all that lies below them.
const PATHS: &[(&str, Why)] = &[
    ("std::time::Instant", Why::Clock),
    ("std::time::SystemTime", Why::Clock),
    ("std::time::UNIX_EPOCH", Why::Clock),
    ("std::time::*", Why::Clock),
    ("chrono", Why::Clock),
    ("rand::thread_rng", Why::Randomness),
    ("rand::rng", Why::Randomness),
    ("rand::random", Why::Randomness),
    ("rand::rngs::OsRng", Why::Randomness),
    ("rand::rngs::ThreadRng", Why::Randomness),
    ("rand_core::OsRng", Why::Randomness),
    ("getrandom", Why::Randomness),
    ("foldhash::fast::RandomState", Why::Randomness),
    ("foldhash::quality::RandomState", Why::Randomness),
    ("fastrand", Why::Randomness),
    ("std::hash::RandomState", Why::Randomness),
    ("std::collections::hash_map::RandomState", Why::Randomness),
    ("std::fs", Why::Outside),
    ("std::env", Why::Outside),
    ("std::net", Why::Outside),
    ("std::os", Why::Outside),
    ("std::process", Why::Outside),
    ("std::io::stdin", Why::Outside),
    ("std::io::stdout", Why::Outside),
    ("std::io::stderr", Why::Outside),
    ("libc", Why::Outside),
    ("nix", Why::Outside),
    ("std::thread", Why::Shared),
    ("std::sync::Mutex", Why::Shared),
    ("std::sync::RwLock", Why::Shared),
    ("std::sync::Condvar", Why::Shared),
    ("std::sync::Once", Why::Shared),
    ("std::sync::OnceLock", Why::Shared),
    ("std::sync::LazyLock", Why::Shared),
    ("std::sync::mpsc", Why::Shared),
    ("std::sync::atomic", Why::Shared),
    ("std::collections::*", Why::Unordered),
];

/// Plain data below a forbidden path.
const ALLOWED: &[&str] = &[
    "std::net::IpAddr",
    "std::net::Ipv4Addr",
    "std::net::Ipv6Addr",
    "std::net::SocketAddr",
    "std::net::SocketAddrV4",
    "std::net::SocketAddrV6",
    "std::net::AddrParseError",
];

/// Functions of any type that draw from the operating system.
const SEEDING: &[&str] = &["from_entropy", "from_os_rng", "try_from_os_rng"];

/// Macros that print or make globals.
const MACROS: &[(&str, Why)] = &[
    ("print", Why::Outside),
    ("println", Why::Outside),
    ("eprint", Why::Outside),
    ("eprintln", Why::Outside),
    ("thread_local", Why::Shared),
    ("lazy_static", Why::Shared),
];

/// Maps whose order is random unless a hasher is named: path, and the number of
/// type arguments that names one.
const MAPS: &[(&str, usize)] = &[
    ("std::collections::HashMap", 3),
    ("std::collections::hash_map::HashMap", 3),
    ("hashbrown::HashMap", 3),
    ("std::collections::HashSet", 2),
    ("std::collections::hash_set::HashSet", 2),
    ("hashbrown::HashSet", 2),
];

/// Constructors that choose the random hasher.
const RANDOM_CONSTRUCTORS: &[&str] = &["new", "with_capacity", "from"];

pub fn check(tree: &Tree, report: &mut Report) {
    for file in &tree.files {
        let Some(syntax) = file.rust() else { continue };
        Keywords {
            path: &file.path,
            may_be_unsafe: file.crate_name() == Some(UNSAFE_CRATE),
            report,
        }
        .visit_file(syntax);

        let level = file.crate_name().and_then(layers::level);
        if level.is_none_or(|level| level > layers::PURE_LEVEL) || file.path.ends_with("/build.rs")
        {
            continue;
        }
        for named in rust_paths::paths(syntax, file.is_test) {
            let Some(why) = judge(&named) else { continue };
            if named.in_test && !why.holds_in_tests() {
                continue;
            }
            let what = format!("`{}` in L0 to L3", named.path.join("::"));
            report.fail(&file.path, named.line, what, why.way_out());
        }
    }
}

/// Why a path is forbidden, if it is.
fn judge(named: &Named) -> Option<Why> {
    if named.place == Place::Macro {
        let name = named.path.last()?;
        return MACROS
            .iter()
            .find(|(macro_name, _)| macro_name == name)
            .map(|(_, why)| *why);
    }
    // An import that is forbidden itself was reported where it stands.
    if named.import.as_deref().and_then(forbidden_path).is_some() {
        return None;
    }
    // One word that no import has brought is a variable or a field, even when a crate is called so.
    let is_own = named.place == Place::Value && named.import.is_none() && named.path.len() == 1;
    if let (Some(why), false) = (forbidden_path(&named.path), is_own) {
        return Some(why);
    }
    let last = named.path.last()?;
    if named.place == Place::Value && SEEDING.contains(&last.as_str()) {
        return Some(Why::Randomness);
    }
    is_random_map(named).then_some(Why::Unordered)
}

/// The first entry of [`PATHS`] that covers a path which [`ALLOWED`] does not.
fn forbidden_path(path: &[String]) -> Option<Why> {
    let covers = |entry: &str| {
        let mut segments = path.iter();
        entry
            .split("::")
            .all(|part| segments.next().is_some_and(|segment| segment == part))
    };
    if ALLOWED.iter().any(|entry| covers(entry)) {
        return None;
    }
    PATHS
        .iter()
        .find(|(entry, _)| covers(entry))
        .map(|(_, why)| *why)
}

/// Whether a path means a map with the hasher that is seeded at random.
fn is_random_map(named: &Named) -> bool {
    let path = named.path.join("::");
    MAPS.iter().any(|(map, with_hasher)| match named.place {
        Place::Type(arguments) => path == *map && arguments < *with_hasher && arguments > 0,
        Place::Value => {
            let constructor = path
                .strip_prefix(map)
                .and_then(|rest| rest.strip_prefix("::"));
            constructor.is_some_and(|name| RANDOM_CONSTRUCTORS.contains(&name))
        }
        Place::Import | Place::Macro => false,
    })
}

/// Finds `unsafe` and `static mut`.
struct Keywords<'a> {
    path: &'a str,
    may_be_unsafe: bool,
    report: &'a mut Report,
}

impl Keywords<'_> {
    fn found(&mut self, span: proc_macro2::Span) {
        if !self.may_be_unsafe {
            let way_out = "only crates/kernel speaks to the operating system; use a safe library";
            self.report
                .fail(self.path, span.start().line, "`unsafe`", way_out);
        }
    }
}

impl<'ast> Visit<'ast> for Keywords<'_> {
    fn visit_expr_unsafe(&mut self, item: &'ast syn::ExprUnsafe) {
        self.found(item.unsafe_token.span());
        visit::visit_expr_unsafe(self, item);
    }

    fn visit_signature(&mut self, item: &'ast syn::Signature) {
        if let syn::Safety::Unsafe(token) = &item.safety {
            self.found(token.span());
        }
        visit::visit_signature(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if let Some(token) = &item.unsafety {
            self.found(token.span());
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        if matches!(item.mutability, syn::StaticMutability::Mut(_)) {
            let line = item.static_token.span().start().line;
            self.report.fail(
                self.path,
                line,
                "`static mut`",
                "pass the state as an argument",
            );
        }
        visit::visit_item_static(self, item);
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::failures_of;
    use super::check;

    /// How often the rule fires on `text` as a file of the crate `base`.
    fn fires(text: &str) -> usize {
        failures_of(check, &[("crates/base/src/sample.rs", text)]).len()
    }

    #[test]
    fn each_forbidden_call_fires_once() {
        for bad in [
            "use std::time::Instant;\nfn f() { let x = Instant::now(); }",
            "fn f() { let x = std::time::SystemTime::now(); }",
            "use std::time;\nfn f() { time::Instant::now(); }",
            "use std::time::*;",
            "use rand::thread_rng;",
            "use chrono;",
            "fn f() { g!(chrono::Utc::now()); }",
            "fn f() { rand::rng(); }",
            "fn f() { Pcg64::from_os_rng(); }",
            "use std::fs::File;",
            "use std::{fs, fmt};",
            "fn f() { std::env::var(\"X\"); }",
            "use std::net::TcpStream;",
            "fn f() { std::thread::spawn(|| {}); }",
            "use std::process::Command;",
            "fn f() { std::io::stdin(); }",
            "fn f() { println!(\"x\"); }",
            "fn f() { assert!(std::env::var(\"X\").is_ok()); }",
            "thread_local! { static A: u8 = 1; }",
            "use std::sync::OnceLock;",
            "use std::collections::HashMap;\nstruct A { a: HashMap<u8, u8> }",
            "use std::collections as c;\nfn f() { c::HashSet::with_capacity(1); }",
            "use std::collections::{BTreeMap, HashMap as M};\nfn f() { let a = M::new(); }",
            "use hashbrown::HashSet;\nfn f(a: &HashSet<u8>) {}",
            "use std::collections::hash_map::RandomState;",
            "fn f() { unsafe { g() } }",
            "unsafe fn f() {}",
            "unsafe impl Send for A {}",
            "static mut A: u8 = 1;",
        ] {
            assert_eq!(fires(bad), 1, "{bad}");
        }
    }

    #[test]
    fn what_is_plain_data_is_silent() {
        for good in [
            "use std::net::{IpAddr, Ipv6Addr};\nfn f(a: IpAddr) { Ipv6Addr::from(1); }",
            "use std::time::Duration;",
            "use std::collections::{BTreeMap, HashMap};\ntype Map<K, V> = HashMap<K, V, MyHasher>;",
            "use std::io::{Read, Write, Error};",
            "use std::sync::Arc;",
            "use crate::time::Instant;\nfn f(now: Instant) {}",
            "fn f(chrono: u8) { g!(chrono); }",
        ] {
            assert_eq!(fires(good), 0, "{good}");
        }
    }

    #[test]
    fn tests_may_open_files_but_not_read_the_clock() {
        let module = |body: &str| format!("#[cfg(test)]\nmod tests {{\n{body}\n}}\n");
        assert_eq!(
            fires(&module(
                "use std::fs;\nfn f() { fs::read(\"x\"); println!(\"x\"); }"
            )),
            0
        );
        assert_eq!(fires(&module("use std::time::Instant;")), 1);
        let in_folder = [(
            "crates/base/tests/all.rs",
            "use std::time::Instant;\nuse std::fs;\n",
        )];
        assert_eq!(failures_of(check, &in_folder).len(), 1);
    }

    #[test]
    fn upper_crates_may_do_io_but_no_unsafe() {
        let of = |path, text| failures_of(check, &[(path, text)]).len();
        assert_eq!(
            of(
                "crates/cli/src/main.rs",
                "use std::fs; use std::time::Instant;"
            ),
            0
        );
        assert_eq!(of("crates/cli/src/main.rs", "fn f() { unsafe { g() } }"), 1);
        assert_eq!(
            of("crates/kernel/src/lib.rs", "fn f() { unsafe { g() } }"),
            0
        );
        assert_eq!(of("crates/kernel/src/lib.rs", "static mut A: u8 = 1;"), 1);
    }
}
