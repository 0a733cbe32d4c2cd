//! An objection to arms that were run with other settings.

use std::collections::{BTreeMap, BTreeSet};

use super::Checked;
use super::rows::over;
use crate::comparison::{Flag, FlagKind};
use crate::metrics::Arm;

/// What names a run or describes its machine: it differs between arms on purpose.
const NAMES: [(&str, &str); 1] = [("fortio", "Labels")];
/// Formats whose settings describe the machine.
const MACHINES: [&str; 1] = ["kirk"];

/// By format and name: all values that an arm's sources tell.
type Told<'a> = BTreeMap<(&'a str, &'a str), BTreeSet<&'a str>>;

/// Settings that both arms tell, and that differ. Where they are what is compared, the reader knows.
pub(super) fn other_settings(checked: &Checked) -> Option<Flag> {
    let (before, after) = (told(checked.before), told(checked.after));
    let differ = before.iter().filter_map(|(name, was)| {
        let is = after.get(name).filter(|is| *is != was)?;
        Some(format!(
            "{} ({} before, {} after)",
            name.1,
            list(was),
            list(is)
        ))
    });
    over(
        FlagKind::OtherSettings,
        "the two sides ran with different settings: is that the change to compare?",
        differ.collect(),
    )
}

fn told(arm: &Arm) -> Told<'_> {
    let mut told = Told::new();
    for source in &arm.sources {
        let format = source.format.as_str();
        if MACHINES.contains(&format) {
            continue;
        }
        for (name, value) in &source.settings {
            if !NAMES.contains(&(format, name)) {
                told.entry((format, name)).or_default().insert(value);
            }
        }
    }
    told
}

fn list(values: &BTreeSet<&str>) -> String {
    let values: Vec<&str> = values.iter().copied().collect();
    values.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::Source;
    use crate::table::{Options, compare};

    fn flag(format: &str, before: &[(&str, &str)], after: &[(&str, &str)]) -> Option<Flag> {
        let arm = |settings: &[(&str, &str)]| {
            let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
            let mut arm = Arm::named("arm");
            arm.sources.push(Source {
                format: format.into(),
                settings: settings.iter().map(pair).collect(),
                ..Source::default()
            });
            arm
        };
        let found = compare(&arm(before), &arm(after), &Options::default());
        let is_it = |flag: &Flag| flag.kind == FlagKind::OtherSettings;
        found.flags.into_iter().find(is_it)
    }

    #[test]
    fn settings_that_differ_are_told_with_both_values() {
        let before = [("cpus", "pinned"), ("time_ms", "100"), ("tls", "full")];
        let after = [("cpus", "one"), ("time_ms", "100"), ("other", "x")];
        let flag = flag("tcplab bench", &before, &after).unwrap();
        assert_eq!(flag.rows, ["cpus (pinned before, one after)"]);
    }

    #[test]
    fn the_same_settings_names_and_machines_are_no_objection() {
        let [old, new] = [[("kernel", "6.1")], [("kernel", "6.6")]];
        assert_eq!(flag("kirk", &old, &new), None);
        assert!(flag("ab", &old, &new).is_some());
        assert_eq!(flag("ab", &old, &old), None);
        let [old, new] = [[("Labels", "a")], [("Labels", "b")]];
        assert_eq!(flag("fortio", &old, &new), None);
    }
}
