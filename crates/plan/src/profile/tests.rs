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
fn sysctls_that_a_profile_changes_have_their_value_under_6_1() {
    for known in KNOWN {
        for (name, value) in known.profile().sysctl {
            let usual = Profile::default().sysctl(name);
            assert!(usual.is_some_and(|usual| usual != *value), "{name}");
        }
    }
}
