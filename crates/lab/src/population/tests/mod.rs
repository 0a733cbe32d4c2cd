//! Populations end to end: the same result however it was come by.

mod hostile;
mod stop;
mod unfinished;
mod variants;

use std::fs;
use std::path::Path;

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

pub(super) fn population() -> Population {
    Population::parse("test.toml", TEXT).unwrap()
}

fn run_in(out: Option<&Path>, jobs: usize, shard: Shard) -> PopulationDocument {
    run_with_rows(out, jobs, shard, None)
}

pub(super) fn run_with_rows(
    out: Option<&Path>,
    jobs: usize,
    shard: Shard,
    rows: Option<RowsTo<'_>>,
) -> PopulationDocument {
    let population = population();
    let request = Request {
        population: &population,
        text: TEXT,
        stack: "model",
        jobs,
        shard,
        out,
        rows,
    };
    let mut document = run(&request, &Stop::never(), &|_| {}).unwrap();
    document.cost = None;
    document
}

pub(super) fn bytes(folder: &Path) -> Vec<(String, Vec<u8>)> {
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
            run_in(Some(&folder), 2, Shard::one(number, 3).unwrap());
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
    // Neighbours first, then the parts: a tree.
    let part = merge_part(&order[..2], &at("wrong")).unwrap_err();
    assert!(part.to_string().contains("shard 2 of 3 is missing"));
    let part = merge_part(&order[1..], &at("part")).unwrap();
    assert_eq!(part.to_string(), "1..2/3");
    let parts = [shards[2].clone(), at("part")];
    assert_eq!(merge(&parts, Some(&at("tree"))).unwrap(), whole);
    assert_eq!(bytes(&at("tree")), expected);
    assert_eq!(merge_part(&parts, &at("all")).unwrap(), Shard::WHOLE);
    assert_eq!(bytes(&at("all")), expected);
    let missing = merge(&order[..2], None).unwrap_err().to_string();
    assert!(missing.contains("shard 2 of 3 is missing"), "{missing}");
    let twice = merge(&[shards[0].clone(), shards[0].clone()], None).unwrap_err();
    assert!(
        twice.to_string().contains("both contain shard 1 of 3"),
        "{twice}"
    );
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
            rows: None,
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
        runner.run(number, &mut sums, None).unwrap();
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
    assert!(wrong.contains("run on the model"), "{wrong}");
    let hz = model_of("model:linux-6.1@250").unwrap_err().to_string();
    assert!(hz.contains("`hz`"), "{hz}");
}
