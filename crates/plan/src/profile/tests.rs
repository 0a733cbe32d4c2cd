//! Each field is in the registry, each word sets what it says.

use super::*;

#[test]
fn every_field_of_a_profile_is_a_behaviour() {
    let text = format!("{:#?}", Profile::default());
    let fields: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("    "))
        .filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()))
        .filter_map(|line| line.split(':').next())
        .filter(|name| !["name", "sysctl"].contains(name))
        .collect();
    let rows: Vec<&str> = BEHAVIOURS.iter().map(|row| row.name).collect();
    for field in &fields {
        assert!(rows.contains(field), "`{field}` has no row in registry.rs");
    }
    assert_eq!(fields.len(), rows.len());
}

#[test]
fn each_word_sets_the_value_that_it_names() {
    for row in BEHAVIOURS {
        let values: Vec<String> = match row.takes {
            Takes::Words(words) => words.iter().map(|&word| word.to_owned()).collect(),
            Takes::Number(min, max) => vec![min.to_string(), max.to_string()],
        };
        for value in values {
            let mut profile = Profile::default();
            assert_eq!(profile.set(row.name, &value).as_deref(), Ok(value.as_str()));
            assert_eq!(row.value(&profile), value, "{}", row.name);
        }
        let refused = Profile::default().set(row.name, "nonsense");
        assert!(matches!(refused, Err(BehaviourError::Value { .. })));
    }
    assert_eq!(
        Profile::default().set("no_such", "on"),
        Err(BehaviourError::Name("no_such".to_owned()))
    );
}

#[test]
fn profiles_carry_their_own_names_and_the_default_is_one() {
    for known in KNOWN {
        assert_eq!(known.profile().name, known.name);
    }
    assert_eq!(named("linux-6.1"), Some(Profile::default()));
    assert_eq!(named("linux-2.4"), None);
    let names: Vec<&str> = KNOWN.iter().map(|known| known.name).collect();
    assert_eq!(names.len(), 11);
}

#[test]
fn each_profile_differs_from_all_others() {
    for (i, a) in KNOWN.iter().enumerate() {
        for b in &KNOWN[i + 1..] {
            let (a, b) = (a.profile(), b.profile());
            let named_alike = Profile {
                name: a.name,
                ..b.clone()
            };
            assert_ne!(a, named_alike, "{} and {}", a.name, b.name);
        }
    }
}

#[test]
fn sysctls_changed_by_a_profile_have_a_6_1_value() {
    for known in KNOWN {
        for (name, value) in known.profile().sysctl {
            let usual = Profile::default().sysctl(name);
            assert!(usual.is_some_and(|usual| usual != *value), "{name}");
        }
    }
}

/// The mainline release of a row's commit: the newest of the form `6.4`; none: it is not known.
fn mainline(changed: &str) -> Option<(u32, u32)> {
    let words = changed.split(|c: char| !c.is_ascii_digit() && c != '.');
    let releases = words.filter_map(|word| {
        let mut parts = word.trim_end_matches('.').split('.').map(str::parse::<u32>);
        match (parts.next(), parts.next(), parts.next()) {
            (Some(Ok(major)), Some(Ok(minor)), None) => Some((major, minor)),
            _ => None,
        }
    });
    releases.max()
}

/// Profiles that no kernel was compared with are derived: what both neighbours do, and where these differ what the
/// release of the commit says.
#[test]
fn derived_profiles_follow_the_commits() {
    let of = |name: &str, row: &Behaviour| row.value(&named(name).unwrap());
    // Without stable kernels' backports.
    let (oldest, newest) = ("linux-5.10.46", "linux-7.2");
    let choices = ["hz", "tx_header", "tx_truesize"];
    for (name, release, before) in [
        ("linux-5.14", (5, 14), oldest),
        ("linux-6.18", (6, 18), "linux-6.12"),
    ] {
        for row in BEHAVIOURS.iter().filter(|row| !choices.contains(&row.name)) {
            let (old, new) = (of(before, row), of(newest, row));
            let wanted = match mainline(row.changed) {
                Some(since) if old != new && since <= release => new,
                _ => old,
            };
            let why = format!("{name}: {}: {}", row.name, row.changed);
            assert_eq!(of(name, row), wanted, "{why}");
        }
    }
}
