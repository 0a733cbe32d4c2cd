//! Populations end to end: the same result however it was come by.

use std::fs;
use std::path::Path;

use tcplab_plan::population::VariantsDocument;

use super::*;

const TEXT: &str = r#"
[population]
connections = 3000
seed = 5
requests = "2"

[[arm]]
name = "B"

[[arm]]
name = "D"
behaviour = { rto_estimator = "rfc6298", rto_floor = "timeout", rto_floor_ms = 200 }
"#;

fn population() -> Population {
    Population::parse("test.toml", TEXT).unwrap()
}

fn run_in(out: Option<&Path>, jobs: usize, shard: Shard) -> PopulationDocument {
    let population = population();
    let request = Request {
        population: &population,
        text: TEXT,
        stack: "model",
        jobs,
        shard,
        out,
    };
    let mut document = run(&request, &Stop::never(), &|_| {}).unwrap();
    document.cost = None;
    document
}

fn bytes(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read(path).unwrap())
        })
        .collect();
    all.sort();
    all
}

#[test]
fn threads_shards_and_what_was_there_change_no_byte() {
    let root = tempfile::tempdir().unwrap();
    let at = |name: &str| root.path().join(name);
    let whole = run_in(Some(&at("one")), 1, Shard::WHOLE);
    let expected = bytes(&at("one"));
    assert_eq!(whole.connections, 3000);
    assert!(
        whole.arms[0].counters["TcpRetransSegs"] > 0,
        "nothing was lost"
    );
    let names: Vec<&str> = expected.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "groups.bin",
            "manifest.json",
            "population.toml",
            "summary.json"
        ]
    );
    // Two threads.
    assert_eq!(run_in(Some(&at("two")), 2, Shard::WHOLE), whole);
    assert_eq!(bytes(&at("two")), expected);
    // Again over the finished folder.
    assert_eq!(run_in(Some(&at("two")), 2, Shard::WHOLE), whole);
    // A run that was killed: the groups of a shard, and half of an entry, are there.
    let shards: Vec<_> = (1..=3)
        .map(|number| {
            let folder = at(&format!("shard{number}"));
            run_in(Some(&folder), 2, Shard { number, of: 3 });
            folder
        })
        .collect();
    let killed = at("killed");
    fs::create_dir(&killed).unwrap();
    for name in ["manifest.json", "population.toml"] {
        fs::copy(at("one").join(name), killed.join(name)).unwrap();
    }
    let some = fs::read(shards[1].join("groups.bin")).unwrap();
    fs::write(killed.join("groups.part"), &some[..some.len() - 7]).unwrap();
    assert_eq!(run_in(Some(&killed), 2, Shard::WHOLE), whole);
    assert_eq!(bytes(&killed), expected);
    // Shards in any order.
    let order = [shards[2].clone(), shards[0].clone(), shards[1].clone()];
    assert_eq!(merge(&order, Some(&at("merged"))).unwrap(), whole);
    assert_eq!(bytes(&at("merged")), expected);
    let missing = merge(&order[..2], None).unwrap_err().to_string();
    assert!(missing.contains("shard 2 of 3 is missing"), "{missing}");
    let twice = merge(&[shards[0].clone(), shards[0].clone()], None).unwrap_err();
    assert!(twice.to_string().contains("are the same shard"), "{twice}");
}

#[test]
fn a_folder_of_another_run_is_refused() {
    let root = tempfile::tempdir().unwrap();
    let population = Population {
        connections: 1,
        ..population()
    };
    let with = |seed: u64| {
        let population = Population {
            seed,
            ..population.clone()
        };
        let request = Request {
            population: &population,
            text: TEXT,
            stack: "model",
            jobs: 1,
            shard: Shard::WHOLE,
            out: Some(root.path()),
        };
        run(&request, &Stop::never(), &|_| {})
    };
    with(1).unwrap();
    let refused = with(2).unwrap_err().to_string();
    assert!(refused.contains("another population, seed"), "{refused}");
}

/// A connection that is run alone, with captures and log, does what it did in the population.
#[test]
fn a_connection_alone_is_the_same() {
    let population = population();
    let (_, model) = model_of("model").unwrap();
    let mut runner = connection::Runner::new(&population, model.of_host().0).unwrap();
    let root = tempfile::tempdir().unwrap();
    let mut seen = 0;
    for number in 0..40 {
        let mut sums = vec![sums::Sums::default(); 2];
        runner.run(number, &mut sums).unwrap();
        for (arm, sums) in sums.iter().enumerate() {
            let point = arm_point(&population, number, arm, "model").unwrap();
            let folder = root.path().join(format!("{number}-{arm}"));
            fs::create_dir(&folder).unwrap();
            let alone = crate::model::run(&point, &model, &folder, &Stop::never()).unwrap();
            let counters = &alone.outcome.counters["server"];
            for (place, counter) in sums::COUNTERS.iter().enumerate() {
                let name = tcplab_tcp::COUNTERS
                    .iter()
                    .find(|(c, _)| c == counter)
                    .unwrap()
                    .1;
                let value = counters.get(name).copied().unwrap_or(0) as u64;
                assert_eq!(
                    value, sums.counters[place],
                    "connection {number}, arm {arm}: {name}"
                );
            }
            let each = [
                sums.recovery_us.len() as u64,
                sums.recovery_us.iter().map(|us| u64::from(*us)).sum(),
            ];
            let counted =
                ["TcpExtTCPRecovCnt", "TcpExtTCPRecovLat"].map(|name| counters[name] as u64);
            assert_eq!(each, counted, "connection {number}, arm {arm}: recoveries");
            seen += sums.counters[1];
        }
    }
    assert!(
        seen > 0,
        "no connection lost a segment: this compares nothing"
    );
}

#[test]
fn a_kernel_is_no_stack_for_a_population() {
    let wrong = model_of("uml:6.1").unwrap_err().to_string();
    assert!(wrong.contains("runs on the model"), "{wrong}");
    let hz = model_of("model:linux-6.1@250").unwrap_err().to_string();
    assert!(hz.contains("`hz`"), "{hz}");
}

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
fn variants_have_a_result_each_and_a_row_tells_what_becomes_of_it() {
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
            varied(Some(&folder), 2, Shard { number, of: 2 });
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
            .contains("no result of a population's variants"),
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
