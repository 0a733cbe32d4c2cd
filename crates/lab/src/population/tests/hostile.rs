//! Checkpoints that somebody changed: what is damaged is run again or refused, and the table is the same.

use std::fs;
use std::path::Path;

use tcplab_base::Random;

use super::*;
use crate::population::framed::entry;
use crate::population::{merge, of_folder};

/// Writes entries of these contents, with right checksums.
fn write(path: &Path, contents: &[Vec<u8>]) {
    let entries = contents.iter().flat_map(|content| entry(content).unwrap());
    fs::write(path, entries.collect::<Vec<u8>>()).unwrap();
}

/// The contents of the entries of a file.
fn contents(path: &Path) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    crate::population::framed::scan(&fs::File::open(path).unwrap(), |_, _, content| {
        all.push(content.to_vec());
        true
    })
    .unwrap();
    all
}

#[test]
fn mutated_groups_never_panic_and_are_of_their_run_or_refused() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("one");
    run_in(Some(&folder), 2, Shard::WHOLE);
    let path = folder.join("groups.bin");
    let whole = contents(&path);
    let mut random = Random::stream(1, "hostile");
    let mut refused = 0;
    for _ in 0..24 {
        let mut mutated = whole.clone();
        let at = random.below(mutated.len() as u64) as usize;
        let content = &mut mutated[at];
        let byte = random.below(content.len() as u64) as usize;
        match random.below(4) {
            0 => content[byte] ^= 1 << random.below(8),
            1 => content.truncate(byte),
            2 => content[byte] = 0xff,
            _ => {
                let again = mutated[at].clone();
                mutated.push(again);
            }
        }
        write(&path, &mutated);
        match merge(std::slice::from_ref(&folder), None) {
            Ok(document) => assert_eq!(document.connections, 3000),
            Err(e) => {
                let words = e.to_string();
                assert!(words.contains("groups.bin"), "{words}");
                refused += 1;
            }
        }
    }
    // A changed figure of a right form cannot be told from the true one; all else is.
    assert!(refused > 12, "{refused}");
}

#[test]
fn a_finished_folder_with_a_group_less_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("one");
    run_in(Some(&folder), 2, Shard::WHOLE);
    let path = folder.join("groups.bin");
    let mut all = contents(&path);
    all.remove(7);
    write(&path, &all);
    let refused = merge(std::slice::from_ref(&folder), None)
        .unwrap_err()
        .to_string();
    assert!(
        refused.contains("group 7 of the run is missing"),
        "{refused}"
    );
}

#[test]
fn manifests_that_no_run_wrote_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("one");
    run_in(Some(&folder), 2, Shard::one(1, 2).unwrap());
    let file = folder.join("manifest.json");
    let good: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
    for (key, value, error) in [
        (
            "shard",
            serde_json::json!([1, u32::MAX]),
            "there is no shard [1, 4294967295]",
        ),
        (
            "shard",
            serde_json::json!([0, 2]),
            "there is no shard [0, 2]",
        ),
        (
            "shard",
            serde_json::json!([3, 2]),
            "there is no shard [3, 2]",
        ),
        (
            "connections",
            serde_json::json!(u64::MAX),
            "connections: 1 to 1000000000000",
        ),
        ("schema", serde_json::json!("x"), "the schema must be"),
        (
            "population_sha256",
            serde_json::json!(""),
            "the hash differs from manifest.json",
        ),
    ] {
        let mut manifest = good.clone();
        manifest[key] = value;
        fs::write(&file, manifest.to_string()).unwrap();
        let refused = match key {
            "population_sha256" => of_folder(&folder).unwrap_err().to_string(),
            _ => merge(std::slice::from_ref(&folder), None)
                .unwrap_err()
                .to_string(),
        };
        assert!(refused.contains(error), "{key}: {refused}");
    }
}

#[test]
fn variants_are_no_paths() {
    let root = tempfile::tempdir().unwrap();
    let manifest = |names: &str| {
        let text = format!(
            r#"{{"schema": "tcplab.population-variants-manifest/1", "experiment": "x", "variants": {names}}}"#
        );
        fs::write(root.path().join("manifest.json"), text).unwrap();
        let folders = [root.path().to_owned()];
        let out = root.path().join("out");
        let refused = crate::population::variants::merge(&folders, Some(&out)).unwrap_err();
        assert!(!out.exists());
        refused.to_string()
    };
    for names in [r#"["../../x"]"#, r#"["/tmp"]"#, r#"[""]"#, r#"["a", "a"]"#] {
        let refused = manifest(names);
        assert!(
            refused.contains("unknown or duplicate name"),
            "{names}: {refused}"
        );
    }
}
