//! Rule: dependencies between the crates point down (ARCHITECTURE.md has the map).
//!
//! - A crate may use crates of lower levels only, and the few pairs of one level that [`SAME_LEVEL`] names.
//! - `analyze` is an independent witness of `tcp` and its simulator: it may use `base`, `wire`, `capture` and `plan`,
//!   nothing else of ours.
//! - L0 to L3 take no library that opens the outside world.
//! - No crate may use what stands outside the map (`xtask`, `fuzz`), or give one of ours another name.
//! - Each takes the workspace's lints. The one crate that may hold `unsafe` repeats them, since `forbid` cannot be taken back.

use toml::{Table, Value};

use super::tree::{File, Tree};
use super::{Failures, failure};

/// The level of each crate, by its folder under `crates/`.
const LEVELS: &[(&str, u8)] = &[
    ("base", 0),
    ("examples", 0),
    ("wire", 1),
    ("capture", 1),
    ("stats", 1),
    ("compare", 2),
    ("tcp", 2),
    ("qdisc", 2),
    ("analyze", 2),
    ("plan", 2),
    ("apps", 2),
    ("link", 2),
    ("sim", 3),
    ("drill", 3),
    ("os", 4),
    ("tables", 3),
    ("report", 4),
    ("guest", 5),
    ("livelink", 5),
    ("kernel", 6),
    ("bench", 7),
    ("inject", 7),
    ("probe", 7),
    ("lab", 8),
    ("diff", 8),
    ("cli", 9),
    ("py", 9),
];

/// Pairs of one level where the first may use the second.
const SAME_LEVEL: &[(&str, &str)] = &[
    ("capture", "wire"),
    ("analyze", "plan"),
    ("apps", "plan"),
    ("link", "plan"),
    ("compare", "plan"),
    ("link", "qdisc"),
    ("plan", "qdisc"),
    ("tcp", "plan"),
    ("diff", "lab"),
];

/// All that `analyze` may use of ours.
const WITNESS: (&str, &[&str]) = ("analyze", &["base", "wire", "capture", "plan"]);

/// The highest level without input, output, threads, clock, randomness, globals.
pub const PURE_LEVEL: u8 = 3;

/// Libraries that open the outside world, or whose results depend on it.
const OUTSIDE: &[&str] = &[
    "ahash",
    "anyhow",
    "async-std",
    "chrono",
    "crossbeam",
    "crossbeam-channel",
    "fastrand",
    "getrandom",
    "indicatif",
    "jiff",
    "lazy_static",
    "libc",
    "log",
    "mio",
    "nix",
    "once_cell",
    "parking_lot",
    "rand",
    "rayon",
    "rustix",
    "smol",
    "socket2",
    "tempfile",
    "time",
    "tokio",
    "tracing",
    "tun-rs",
    "uuid",
    "walkdir",
];

/// The crates that may hold `unsafe`: `os` speaks to the operating system; of `py` only what pyo3's macros write.
const UNSAFE_CRATES: &[&str] = &["os", "py"];

/// The level of the crate in `crates/NAME`.
pub fn level(name: &str) -> Option<u8> {
    let found = LEVELS.iter().find(|(known, _)| *known == name)?;
    Some(found.1)
}

pub fn check(tree: &Tree) -> Failures {
    let mut out = Failures::new();
    for file in tree.files.iter().filter(|file| is_member(&file.path)) {
        let mut fail =
            |line, what: &str, way_out| out.push(failure(&file.path, line, what, way_out));
        let Ok(manifest) = file.text.parse::<Table>() else {
            fail(1, "this TOML does not parse", "repair it");
            continue;
        };
        if !has_lints(tree, file, &manifest) {
            fail(
                1,
                "does not take the workspace's lints",
                "add `[lints] workspace = true`",
            );
        }
        let Some(name) = file.crate_name() else {
            continue;
        };
        if level(name).is_none() {
            let way_out = "add it to LEVELS in xtask/src/tidy/layers.rs and to ARCHITECTURE.md";
            fail(1, "a crate without a level", way_out);
        }
        for (key, value, ships) in dependencies(&manifest) {
            if let Some((what, way_out)) = wrong(name, key, value, ships) {
                let line = file
                    .text
                    .lines()
                    .position(|line| line.trim_start().starts_with(key));
                fail(line.map_or(1, |at| at + 1), &what, way_out);
            }
        }
    }
    out
}

/// The manifests of the workspace's members; `fuzz/` itself has a workspace of its own.
fn is_member(path: &str) -> bool {
    matches!(path, "xtask/Cargo.toml" | "fuzz/targets/Cargo.toml")
        || (path.starts_with("crates/") && path.ends_with("/Cargo.toml"))
}

fn has_lints(tree: &Tree, file: &File, manifest: &Table) -> bool {
    let lints = manifest.get("lints");
    match file.crate_name() {
        Some(name) if UNSAFE_CRATES.contains(&name) => lints == unsafe_lints(tree).as_ref(),
        _ => lints.and_then(|lints| lints.get("workspace")) == Some(&Value::Boolean(true)),
    }
}

/// The workspace's lints with `unsafe_code` denied instead of forbidden.
fn unsafe_lints(tree: &Tree) -> Option<Value> {
    let root: Table = tree.file("Cargo.toml")?.text.parse().ok()?;
    let mut lints = root.get("workspace")?.get("lints")?.clone();
    let rust = lints.get_mut("rust")?.as_table_mut()?;
    rust.insert("unsafe_code".into(), "deny".into());
    Some(lints)
}

/// Every dependency of a manifest, all kinds and targets: its name, what stands there, whether it is part of the product.
fn dependencies(manifest: &Table) -> impl Iterator<Item = (&str, &Value, bool)> {
    let per_target = manifest.get("target").and_then(Value::as_table);
    let targets = per_target.into_iter().flatten();
    let tables = targets
        .filter_map(|(_, table)| table.as_table())
        .chain([manifest]);
    tables.flat_map(|table| {
        let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
        kinds.into_iter().flat_map(move |kind| {
            let entries = table.get(kind).and_then(Value::as_table);
            let ships = kind == "dependencies";
            entries
                .into_iter()
                .flatten()
                .map(move |(key, value)| (&**key, value, ships))
        })
    })
}

/// What is wrong with `name` using `key`.
fn wrong(name: &str, key: &str, value: &Value, ships: bool) -> Option<(String, &'static str)> {
    if value.get("package").is_some() {
        return Some((
            format!("`{key}` has another name"),
            "use its own name, which this rule reads",
        ));
    }
    let own = level(name)?;
    if let Some(used) = key.strip_prefix("tcplab-") {
        let Some(below) = level(used) else {
            let way_out = "what stands outside the map serves no crate";
            return Some((format!("`{name}` uses `{key}`"), way_out));
        };
        if below >= own && !SAME_LEVEL.contains(&(name, used)) {
            let way_out = "dependencies point down: move the shared part to a lower crate";
            return Some((
                format!("`{name}` (L{own}) uses `{used}` (L{below})"),
                way_out,
            ));
        }
        let is_foreign = name == WITNESS.0 && !WITNESS.1.contains(&used);
        let way_out = "the analyser stays an independent witness; shared facts are data in `plan`";
        return is_foreign.then(|| (format!("`{name}` uses `{used}`"), way_out));
    }
    if key == "xtask" {
        return Some((
            format!("`{name}` uses `xtask`"),
            "what stands outside the map serves no crate",
        ));
    }
    let opens = ships && own <= PURE_LEVEL && OUTSIDE.contains(&key);
    let way_out = "L0 to L3 do no I/O: take what is needed as an argument, or move the code up";
    opens.then(|| (format!("library `{key}` in L{own}"), way_out))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOT: &str = "[workspace.lints.rust]\nunsafe_code = 'forbid'\nmissing_docs = 'warn'\n";

    /// What is said of a crate with this part of its manifest.
    fn failures(name: &str, part: &str) -> Failures {
        let text = format!("[lints]\nworkspace = true\n{part}\n");
        check(&Tree::of(&[
            ("Cargo.toml", ROOT),
            (&format!("crates/{name}/Cargo.toml"), &text),
        ]))
    }

    #[test]
    fn down_is_allowed() {
        let down = "[dependencies]\ntcplab-base.workspace = true\ntcplab-plan = { path = '../plan' }\n\
                    serde = '1'\n[dev-dependencies]\ntempfile = '3'";
        assert_eq!(failures("analyze", down), [""; 0]);
        assert_eq!(failures("lab", "[dependencies]\nlibc = '0.2'"), [""; 0]);
    }

    #[test]
    fn each_other_way_fires_once() {
        for (name, part) in [
            ("base", "[dependencies]\ntcplab-wire.workspace = true"),
            ("wire", "[dependencies]\ntcplab-capture.workspace = true"),
            ("plan", "[dev-dependencies]\ntcplab-tcp.workspace = true"),
            (
                "sim",
                "[target.'cfg(unix)'.build-dependencies]\ntcplab-kernel = { path = '../kernel' }",
            ),
            (
                "qdisc",
                "[dependencies]\nx = { package = 'tcplab-tcp', path = '../tcp' }",
            ),
            ("cli", "[dependencies]\nxtask = { path = '../../xtask' }"),
            ("analyze", "[dependencies]\ntcplab-tcp.workspace = true"),
            ("capture", "[dependencies]\nlibc = '0.2'"),
            ("mystery", ""),
        ] {
            assert_eq!(failures(name, part).len(), 1, "{name}: {part}");
        }
        let second = failures("base", "[dependencies]\nserde = '1'\ntcplab-wire = '1'");
        assert!(second[0].starts_with("crates/base/Cargo.toml:5: `base` (L0) uses `wire` (L1)"));
    }

    #[test]
    fn lints_are_the_workspaces() {
        let of = |path, text| check(&Tree::of(&[("Cargo.toml", ROOT), (path, text)])).len();
        let repeated = "[lints.rust]\nunsafe_code = 'deny'\nmissing_docs = 'warn'\n";
        assert_eq!(of("crates/os/Cargo.toml", repeated), 0);
        assert_eq!(of("crates/base/Cargo.toml", repeated), 1);
        assert_eq!(of("crates/base/Cargo.toml", ""), 1);
        assert_eq!(
            of(
                "crates/os/Cargo.toml",
                "[lints.rust]\nunsafe_code = 'deny'\n"
            ),
            1
        );
    }
}
