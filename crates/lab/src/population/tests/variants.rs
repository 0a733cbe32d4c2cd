//! Variants of a population: a result each, and a row from one to the next.

use std::fs;
use std::path::Path;

use tcplab_os::Stop;
use tcplab_plan::Population;
use tcplab_plan::population::{PopulationDocument, VariantsDocument};

use super::bytes;
use crate::population::{Request, Shard, of_folder, run, variants};

const VARIED: &str = r#"
[population]
connections = 2100
requests = "1"

[[arm]]
name = "B"

[[arm]]
name = "D"
behaviour = { rto_estimator = "rfc6298", rto_floor = "timeout", rto_floor_ms = 200 }

[[variant]]
name = "as-it-is"

[[variant]]
name = "no-spikes"
set = { "population.spikes.data" = "0%", "population.spikes.ack" = "0%" }
"#;

fn varied(out: Option<&Path>, jobs: usize, shard: Shard) -> VariantsDocument {
    let all = Population::variants("test.toml", VARIED).unwrap();
    let request = Request {
        population: &all[0],
        text: VARIED,
        stack: "model",
        jobs,
        shard,
        out,
        rows: None,
    };
    let mut document = variants::run(&all, &request, &Stop::never(), &|_| {}).unwrap();
    assert!(document.cost.take().is_some());
    document
}

fn tree(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for name in ["manifest.json", "summary.json"] {
        all.push((name.to_owned(), fs::read(folder.join(name)).unwrap()));
    }
    for variant in ["as-it-is", "no-spikes"] {
        all.extend(bytes(&folder.join(variant)));
    }
    assert_eq!(fs::read_dir(folder).unwrap().count(), 4);
    all
}

#[test]
fn each_variant_has_a_result_and_each_effect_a_cell_for_it() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    let whole = varied(Some(&at("one")), 2, Shard::WHOLE);
    let expected = tree(&at("one"));
    let [same, calm] = whole.variants.as_slice() else {
        panic!("{} variants", whole.variants.len())
    };
    // The first one is the population as it is written.
    let written = Population::parse("test.toml", VARIED).unwrap();
    let alone = Request {
        population: &written,
        text: VARIED,
        stack: "model",
        jobs: 2,
        shard: Shard::WHOLE,
        out: None,
        rows: None,
    };
    let mut alone = run(&alone, &Stop::never(), &|_| {}).unwrap();
    (alone.cost, alone.variant) = (None, Some("as-it-is".to_owned()));
    assert_eq!(*same, alone);
    let timeouts = |d: &PopulationDocument| d.arms[1].counters["TcpExtTCPTimeouts"];
    assert!(timeouts(calm) < timeouts(same));
    for effect in &whole.effects {
        let row = |d: &PopulationDocument| {
            let of = |r: &&tcplab_plan::population::Row| r.id == effect.id && r.arm == effect.arm;
            d.rows.iter().find(of).unwrap().percent
        };
        let cells: Vec<_> = effect.cells.iter().map(|c| c.percent).collect();
        assert_eq!(cells, [row(same), row(calm)], "{}", effect.id);
    }
    // A run that was killed in the second variant, and one right before its very end.
    let killed = at("killed");
    for variant in ["as-it-is", "no-spikes"] {
        fs::create_dir_all(killed.join(variant)).unwrap();
        for (name, content) in bytes(&at("one").join(variant)) {
            fs::write(killed.join(variant).join(name), content).unwrap();
        }
    }
    fs::copy(at("one/manifest.json"), killed.join("manifest.json")).unwrap();
    let groups = fs::read(killed.join("no-spikes/groups.bin")).unwrap();
    fs::write(
        killed.join("no-spikes/groups.part"),
        &groups[..groups.len() / 2],
    )
    .unwrap();
    for name in ["no-spikes/groups.bin", "no-spikes/summary.json"] {
        fs::remove_file(killed.join(name)).unwrap();
    }
    fs::remove_file(killed.join("as-it-is/summary.json")).unwrap();
    fs::write(killed.join("as-it-is/groups.part"), b"left").unwrap();
    assert_eq!(varied(Some(&killed), 1, Shard::WHOLE), whole);
    assert_eq!(tree(&killed), expected);
    // Shards.
    let shards: Vec<_> = (1..=2)
        .map(|number| {
            let folder = at(&format!("shard{number}"));
            varied(Some(&folder), 2, Shard::one(number, 2).unwrap());
            folder
        })
        .collect();
    assert_eq!(
        variants::merge(&shards, Some(&at("merged"))).unwrap(),
        whole
    );
    assert_eq!(tree(&at("merged")), expected);
    // Its folder says which variant it is.
    let calm = of_folder(&at("one").join("no-spikes")).unwrap();
    assert_eq!(calm.spikes.data_ppb, 0);
    assert!(variants::are_in(&at("one")) && !variants::are_in(&at("one").join("no-spikes")));
    let other = variants::merge(&[at("one"), at("one/no-spikes")], None).unwrap_err();
    assert!(
        other
            .to_string()
            .contains("not a result of a population's variants"),
        "{other}"
    );
}

#[test]
fn a_folder_of_other_variants_is_refused() {
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("points")).unwrap();
    let mut all = Population::variants("test.toml", VARIED).unwrap();
    for population in &mut all {
        population.connections = 1;
    }
    let run_in = |folder: &Path, which: &[Population]| {
        let request = Request {
            population: &which[0],
            text: VARIED,
            stack: "model",
            jobs: 1,
            shard: Shard::WHOLE,
            out: Some(folder),
            rows: None,
        };
        variants::run(which, &request, &Stop::never(), &|_| {})
    };
    let full = run_in(root.path(), &all).unwrap_err().to_string();
    assert!(full.contains("is not empty"), "{full}");
    let folder = root.path().join("own");
    run_in(&folder, &all).unwrap();
    let other = run_in(&folder, &all[..1]).unwrap_err().to_string();
    assert!(other.contains("other variants"), "{other}");
}
