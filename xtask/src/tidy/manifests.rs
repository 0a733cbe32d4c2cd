//! Rule: each crate takes version, edition, licence and lints from the workspace.
//! A crate without `lints.workspace = true` would escape the lints unseen. The one crate that may
//! hold `unsafe` repeats them, since `forbid` cannot be taken back: all but that one are the same.

use super::forbidden::UNSAFE_CRATE;
use super::report::Report;
use super::tree::{File, Tree};

pub const NAME: &str = "manifests";

const INHERITED: &[&str] = &["version", "edition", "license"];

pub fn check(tree: &Tree, report: &mut Report) {
    for file in members(tree) {
        let Ok(manifest) = file.text.parse::<toml::Table>() else {
            report.fail(&file.path, 1, "this TOML does not parse", "repair it");
            continue;
        };
        let inherits = |table: &str, key: &str| {
            let entry = manifest.get(table).and_then(|table| table.get(key));
            let flag = entry.and_then(|entry| entry.get("workspace")).or(entry);
            flag.and_then(toml::Value::as_bool) == Some(true)
        };
        let repeats = file.crate_name() == Some(UNSAFE_CRATE)
            && manifest.get("lints") == unsafe_lints(tree).as_ref();
        if !inherits("lints", "workspace") && !repeats {
            report.fail(
                &file.path,
                1,
                "does not take the workspace's lints",
                "add `[lints] workspace = true`",
            );
        }
        for key in INHERITED.iter().filter(|key| !inherits("package", key)) {
            let what = format!("`{key}` is not the workspace's");
            report.fail(&file.path, 1, what, "write `KEY.workspace = true`");
        }
        if manifest
            .get("package")
            .and_then(|package| package.get("description"))
            .is_none()
        {
            report.fail(
                &file.path,
                1,
                "no `description`",
                "say in one line what the crate is",
            );
        }
    }
}

/// The workspace's lints with `unsafe_code` denied instead of forbidden.
fn unsafe_lints(tree: &Tree) -> Option<toml::Value> {
    let root = tree.files.iter().find(|file| file.path == "Cargo.toml")?;
    let root: toml::Table = root.text.parse().ok()?;
    let mut lints = root.get("workspace")?.get("lints")?.clone();
    let rust = lints.get_mut("rust")?.as_table_mut()?;
    rust.insert("unsafe_code".into(), "deny".into());
    Some(lints)
}

/// The manifests of the workspace's members; `fuzz/` itself has a workspace of its own.
fn members(tree: &Tree) -> impl Iterator<Item = &File> {
    tree.files.iter().filter(|file| {
        let path = file.path.as_str();
        matches!(path, "xtask/Cargo.toml" | "fuzz/targets/Cargo.toml")
            || (path.starts_with("crates/") && path.ends_with("/Cargo.toml"))
    })
}

#[cfg(test)]
mod tests {
    use super::super::report::failures_of;
    use super::check;

    const GOOD: &str = "[package]\nname = 'a'\ndescription = 'x'\nversion.workspace = true\n\
        edition.workspace = true\nlicense = { workspace = true }\n[lints]\nworkspace = true\n";

    #[test]
    fn is_silent_on_a_crate_that_inherits() {
        assert!(failures_of(check, &[("crates/base/Cargo.toml", GOOD)]).is_empty());
    }

    #[test]
    fn fires_on_each_part_that_is_missing() {
        for (part, instead) in [
            ("[lints]\nworkspace = true\n", ""),
            ("description = 'x'\n", ""),
            ("version.workspace = true", "version = '1.0.0'"),
            ("license = { workspace = true }\n", ""),
        ] {
            let bad = GOOD.replace(part, instead);
            assert_eq!(
                failures_of(check, &[("crates/base/Cargo.toml", &bad)]).len(),
                1,
                "{part}"
            );
        }
    }

    #[test]
    fn the_unsafe_crate_may_repeat_the_lints_and_nothing_else() {
        let root = "[workspace.lints.rust]\nunsafe_code = 'forbid'\nmissing_docs = 'warn'\n";
        let repeated = "[lints.rust]\nunsafe_code = 'deny'\nmissing_docs = 'warn'\n";
        let failures = |path, lints| {
            let manifest = GOOD.replace("[lints]\nworkspace = true\n", lints);
            failures_of(check, &[("Cargo.toml", root), (path, &manifest)]).len()
        };
        assert_eq!(failures("crates/kernel/Cargo.toml", repeated), 0);
        assert_eq!(failures("crates/base/Cargo.toml", repeated), 1);
        for other in [
            "[lints.rust]\nunsafe_code = 'deny'\n",
            "[lints.rust]\nunsafe_code = 'allow'\nmissing_docs = 'warn'\n",
        ] {
            assert_eq!(failures("crates/kernel/Cargo.toml", other), 1, "{other}");
        }
    }
}
