//! Rule: dependencies between the crates point down (ARCHITECTURE.md has the map).
//!
//! - A crate may use crates of lower levels only, and the few pairs of one level
//!   that [`SAME_LEVEL`] names.
//! - `analyze` is an independent witness of `tcp` and its simulator: it may use
//!   `base`, `wire`, `capture` and `plan`, nothing else of ours.
//! - L0 to L3 take no library that opens the outside world.
//! - No crate may use what stands outside the map (`xtask`, `fuzz`, `benches`).

use std::collections::BTreeMap;

use super::report::Report;
use super::tree::{File, Tree};

pub const NAME: &str = "layers";

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
    ("kernel", 4),
    ("report", 4),
    ("lab", 5),
    ("cli", 6),
    ("py", 6),
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

/// The level of the crate in `crates/NAME`.
pub fn level(name: &str) -> Option<u8> {
    LEVELS
        .iter()
        .find(|(crate_name, _)| *crate_name == name)
        .map(|(_, level)| *level)
}

pub fn check(tree: &Tree, report: &mut Report) {
    let manifests: Vec<(&File, toml::Table)> = tree
        .files
        .iter()
        .filter(|file| file.path.ends_with("Cargo.toml"))
        .filter_map(|file| Some((file, file.text.parse().ok()?)))
        .collect();
    let ours = packages(&manifests);
    let renamed = manifests
        .iter()
        .find(|(file, _)| file.path == "Cargo.toml")
        .and_then(|(_, root)| {
            root.get("workspace")?
                .get("dependencies")?
                .as_table()
                .cloned()
        })
        .unwrap_or_default();

    for (file, manifest) in &manifests {
        let Some(name) = file.crate_name() else {
            continue;
        };
        let Some(level) = level(name) else {
            report.fail(
                &file.path,
                1,
                format!("crate `{name}` has no level"),
                "add it to LEVELS in xtask/src/tidy/layers.rs and to ARCHITECTURE.md",
            );
            continue;
        };
        for dependency in dependencies(manifest, &renamed) {
            let line = line_of(&file.text, &dependency.key);
            let problem = match ours.get(dependency.package.as_str()) {
                Some(target) => wrong_way(name, level, target),
                None if dependency.ships && level <= PURE_LEVEL => {
                    outside(level, &dependency.package)
                }
                None => None,
            };
            if let Some((what, way_out)) = problem {
                report.fail(&file.path, line, what, way_out);
            }
        }
    }
}

/// Our packages: name of the package -> its folder from the root.
fn packages(manifests: &[(&File, toml::Table)]) -> BTreeMap<String, String> {
    let mut packages = BTreeMap::new();
    for (file, manifest) in manifests {
        let package = manifest
            .get("package")
            .and_then(|package| package.get("name")?.as_str());
        let folder = file.path.strip_suffix("/Cargo.toml");
        if let (Some(package), Some(folder)) = (package, folder) {
            packages.insert(package.to_owned(), folder.to_owned());
        }
    }
    packages
}

struct Dependency {
    /// As written in the manifest.
    key: String,
    /// The package's own name.
    package: String,
    /// Part of the product, not of its tests.
    ships: bool,
}

/// Every dependency of a manifest: all kinds, all targets.
fn dependencies(manifest: &toml::Table, renamed: &toml::Table) -> Vec<Dependency> {
    let mut found = Vec::new();
    let per_target = manifest.get("target").and_then(toml::Value::as_table);
    let tables = per_target
        .into_iter()
        .flatten()
        .filter_map(|(_, table)| table.as_table());
    for table in tables.chain([manifest]) {
        for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let entries = table.get(kind).and_then(toml::Value::as_table);
            for (key, value) in entries.into_iter().flatten() {
                let rename = value
                    .get("package")
                    .or_else(|| renamed.get(key)?.get("package"));
                let package = rename.and_then(toml::Value::as_str).unwrap_or(key);
                found.push(Dependency {
                    key: key.clone(),
                    package: package.to_owned(),
                    ships: kind == "dependencies",
                });
            }
        }
    }
    found
}

type Problem = Option<(String, &'static str)>;

/// What is wrong with `name` using the crate of ours in the folder `target`.
fn wrong_way(name: &str, own_level: u8, target: &str) -> Problem {
    let Some(used) = target.strip_prefix("crates/") else {
        return Some((
            format!("`{name}` uses `{target}`"),
            "what stands outside the map serves no crate",
        ));
    };
    let used_level = level(used)?;
    let points_down = used_level < own_level || SAME_LEVEL.contains(&(name, used));
    if !points_down {
        let what = format!("`{name}` (L{own_level}) uses `{used}` (L{used_level})");
        return Some((
            what,
            "dependencies point down: move the shared part to a lower crate",
        ));
    }
    if name == WITNESS.0 && !WITNESS.1.contains(&used) {
        let what = format!("`{name}` uses `{used}`");
        return Some((
            what,
            "the analyser stays an independent witness; shared facts are data in `plan`",
        ));
    }
    None
}

/// What is wrong with a crate of a pure level using the library `package`.
fn outside(level: u8, package: &str) -> Problem {
    OUTSIDE.contains(&package).then(|| {
        let what = format!("library `{package}` in L{level}");
        (
            what,
            "L0 to L3 do no I/O: take what is needed as an argument, or move the code up",
        )
    })
}

/// The line on which a manifest names `key`.
fn line_of(text: &str, key: &str) -> usize {
    let is_it = |line: &str| {
        let rest = line.trim_start().trim_start_matches('"').strip_prefix(key);
        rest.is_some_and(|rest| rest.starts_with([' ', '.', '=', '"']))
    };
    text.lines().position(is_it).map_or(1, |index| index + 1)
}

#[cfg(test)]
mod tests {
    use super::super::report::failures_of;
    use super::check;

    /// The manifest of a crate with one section of dependencies.
    fn manifest(name: &str, dependencies: &str) -> String {
        format!("[package]\nname = \"tcplab-{name}\"\n{dependencies}\n")
    }

    /// The failures when `user` has the section `dependencies`.
    fn failures(user: &str, dependencies: &str) -> Vec<(String, usize, String)> {
        let path = format!("crates/{user}/Cargo.toml");
        let text = manifest(user, dependencies);
        let others: Vec<(String, String)> = ["base", "wire", "capture", "tcp", "plan", "kernel"]
            .iter()
            .filter(|name| **name != user)
            .map(|name| (format!("crates/{name}/Cargo.toml"), manifest(name, "")))
            .collect();
        let mut samples: Vec<(&str, &str)> = others
            .iter()
            .map(|(path, text)| (path.as_str(), text.as_str()))
            .collect();
        samples.push((&path, &text));
        samples.push(("xtask/Cargo.toml", "[package]\nname = 'xtask'\n"));
        samples.push((
            "Cargo.toml",
            "[workspace.dependencies]\nend = { package = 'tcplab-tcp', path = 'crates/tcp' }\n",
        ));
        failures_of(check, &samples)
    }

    #[test]
    fn down_is_allowed() {
        let down = "[dependencies]\ntcplab-base.workspace = true\ntcplab-plan = { path = '../plan' }\n\
                    serde = '1'\n[dev-dependencies]\ntempfile = '3'\n";
        assert_eq!(failures("analyze", down), []);
    }

    #[test]
    fn up_and_sideways_fire() {
        assert_eq!(
            failures("base", "[dependencies]\ntcplab-wire.workspace = true").len(),
            1
        );
        assert_eq!(
            failures("wire", "[dependencies]\ntcplab-capture.workspace = true").len(),
            1
        );
        assert_eq!(
            failures("plan", "[dev-dependencies]\ntcplab-tcp.workspace = true").len(),
            1
        );
        let target =
            "[target.'cfg(unix)'.build-dependencies]\ntcplab-kernel = { path = '../kernel' }";
        assert_eq!(failures("sim", target).len(), 1);
    }

    #[test]
    fn the_line_is_named() {
        let failures = failures("base", "[dependencies]\nserde = '1'\ntcplab-wire = '1'");
        assert_eq!(failures[0].1, 5);
        assert_eq!(failures[0].2, "`base` (L0) uses `wire` (L1)");
    }

    #[test]
    fn a_renamed_dependency_is_seen() {
        assert_eq!(
            failures("qdisc", "[dependencies]\nend.workspace = true").len(),
            1
        );
        let inline = "[dependencies]\nx = { package = 'tcplab-tcp', path = '../tcp' }";
        assert_eq!(failures("qdisc", inline).len(), 1);
    }

    #[test]
    fn nobody_uses_xtask() {
        assert_eq!(
            failures("cli", "[dependencies]\nxtask = { path = '../../xtask' }").len(),
            1
        );
    }

    #[test]
    fn the_witness_uses_nothing_of_tcp() {
        assert_eq!(
            failures("analyze", "[dependencies]\ntcplab-tcp.workspace = true").len(),
            1
        );
    }

    #[test]
    fn pure_levels_take_no_library_of_the_outside() {
        assert_eq!(failures("capture", "[dependencies]\nlibc = '0.2'").len(), 1);
        assert_eq!(failures("kernel", "[dependencies]\nlibc = '0.2'"), []);
    }

    #[test]
    fn a_crate_without_a_level_fires() {
        assert_eq!(failures("mystery", "").len(), 1);
    }
}
